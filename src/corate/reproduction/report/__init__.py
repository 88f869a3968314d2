"""The report of a reproduction: one page of HTML that needs nothing else, and the same in Markdown."""
