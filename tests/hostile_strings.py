"""Strings that strangers may put into tokens, labels, names of features and names of files."""

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onfocus=alert(1) autofocus='",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "<!--",
    "<!--<script>",
    "]]>",
    "{{7*7}}",
    "{% raw %}",
    "$x$",
    "javascript:alert(1)",
    "&lt;b&gt;&amp;",
    "\u202eback\u2066",
    "a\x00b",
    "\x1b[31m\x85",
    "\ud800",
    "line\u2028line\u2029",
    "__proto__",
    "constructor",
)
