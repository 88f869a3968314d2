"""Web pages: templates that escape by themselves, and everything that a page may contain."""
