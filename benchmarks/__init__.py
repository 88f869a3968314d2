"""One script a question; each prints a table measured side by side in one run and writes JSON."""
