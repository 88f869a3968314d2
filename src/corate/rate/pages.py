"""Derivations as LaTeX and as web pages; formulas are MathML, which browsers render themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from corate.pages.page import fragment, render, visible
from corate.rate.writing import latex, mathml

if TYPE_CHECKING:
    from corate.rate.derivation import Derivation

__all__ = ["derivation_html", "derivation_latex", "derivation_table"]


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


def derivation_html(derivation: Derivation, notes: Sequence[str] = ()) -> str:
    """A self-contained page, with notes below the derivation.

    >>> from corate.rate import factorise
    >>> page = factorise("A-B").derivation.html()
    >>> page.startswith("<!DOCTYPE html>"), "<math" in page
    (True, True)
    """
    title = visible(str(derivation.start))
    return render("derivation.html", style="derivation.css", title=title, lines=_lines(derivation), notes=notes)


def derivation_table(derivation: Derivation) -> str:
    """The lines of a derivation as a table, for a notebook."""
    return fragment("derivation_fragment.html", lines=_lines(derivation))


def _lines(derivation: Derivation) -> list[tuple[Markup, str]]:
    """The formulas of a derivation, each with its reason."""
    equals = Markup("<mo>=</mo>")
    lines = [
        (mathml(whole, short=True), "") if step is None else (equals + mathml(whole, short=True), step.reason)
        for whole, step in derivation.lines()
    ]
    return lines + [(mathml(g, short=True) + equals + mathml(g.body), "where") for g in derivation.groups()]


def _plain(text: str) -> str:
    return "".join(f"\\{c}" if c in "{}_#$%&" else c for c in text)
