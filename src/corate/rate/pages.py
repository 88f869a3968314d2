"""Derivations as LaTeX and as HTML pages; formulas are MathML, which browsers render themselves."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from corate.rate.writing import latex, mathml

if TYPE_CHECKING:
    from corate.rate.derivation import Derivation

__all__ = ["derivation_html", "derivation_latex", "derivation_table"]

_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; }
td { padding: .35em .75em; vertical-align: middle; border-bottom: 1px solid #8883; }
td.why { color: #777; font-size: 85%; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } td.why { color: #999; } }
"""


def derivation_latex(derivation: Derivation) -> str:
    r"""The lines of a derivation, each with its reason, in an ``align*`` environment.

    >>> from corate.rate import Derivation, definition
    >>> print(derivation_latex(Derivation.begin("P(A, B)", "A-B").apply(definition)))
    \begin{align*}
    & P(A, B) \\
    &= \mathrm{CR}(A; B)\,P(A)\,P(B) && \text{definition}
    \end{align*}
    """
    rows = []
    for whole, step in derivation.lines():
        reason = "" if step is None else rf" && \text{{{_plain(step.reason)}}}"
        rows.append(f"&{'= ' if step else ' '}{latex(whole, short=True)}{reason}")
    rows += [f"& {latex(g, short=True)} = {latex(g.body)}" for g in derivation.groups()]
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def derivation_table(derivation: Derivation) -> str:
    """The lines of a derivation as an HTML table."""
    rows = []
    for whole, step in derivation.lines():
        equals = "<mo>=</mo>" if step else ""
        reason = escape(step.reason) if step else ""
        rows.append(f'<tr><td>{_math(equals + mathml(whole, short=True))}</td><td class="why">{reason}</td></tr>')
    for group in derivation.groups():
        shown = f"{mathml(group, short=True)}<mo>=</mo>{mathml(group.body)}"
        rows.append(f'<tr><td>{_math(shown)}</td><td class="why">where</td></tr>')
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def derivation_html(derivation: Derivation) -> str:
    """A self-contained page.

    >>> from corate.rate import factorise
    >>> page = factorise("A-B").derivation.html()
    >>> page.startswith("<!DOCTYPE html>"), "<math" in page
    (True, True)
    """
    title = escape(str(derivation.start))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>\n{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{derivation_table(derivation)}\n</body>\n</html>"
    )


def _math(inside: str) -> str:
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">{inside}</math>'


def _plain(text: str) -> str:
    return "".join(f"\\{c}" if c in "{}_#$%&" else c for c in text)
