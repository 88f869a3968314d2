"""The report of a reproduction: one self-contained HTML page, and the same in Markdown."""
