"""Expressions as text, LaTeX and MathML.

Factors keep their order, but potentials come first, then rates, probabilities and sums; negative powers go into the
denominator. ``short`` writes only the name of a potential, for use where its definition is shown elsewhere. ``outer``
are the names that have a meaning outside of the expression; a sum over such a name is written with a primed one.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, TypeAlias, TypeVar, cast

from markupsafe import Markup

from corate.pages.page import visible
from corate.rate.expressions import Expression, Group, Probability, Rate, Sum
from corate.rate.parsing import is_one_name, is_plain_value, summed_names
from corate.rate.terms import Block, Term

__all__ = ["RunningText", "block_text", "latex", "mathml", "text"]

Names: TypeAlias = frozenset[str]
Written = TypeVar("Written", bound=str)

#: The order in which factors are written; others come last.
_RANKS: dict[type[Expression], int] = {Group: 0, Rate: 1, Probability: 2, Sum: 3}
#: A rank, a place, and the number of changes before, which sorts factors at one place.
_Key: TypeAlias = tuple[int, tuple[int, ...], int]

_SINGLE = re.compile(r"[A-Z]\d*'*")
_PARTS = re.compile(r"([^\W\d_]+)_?(\w*?)('*)")
_NOTHING = Markup("<mo>∅</mo>")
_GREEK = {"phi": "φ", "psi": "ψ"}


def _ranked(expression: Expression) -> tuple[list[tuple[Expression, int]], list[tuple[Expression, int]]]:
    """The factors of the numerator and of the denominator, with positive exponents."""
    factors = sorted(expression.powers().items(), key=lambda item: _RANKS.get(type(item[0]), 4))
    return [(f, k) for f, k in factors if k > 0], [(f, -k) for f, k in factors if k < 0]


def _bound(total: Sum, outer: Names) -> tuple[str, Expression, Names]:
    """The name that the variable of a sum is written with, the body with that name, and the names outside of the body.

    A name that ends with a prime itself is kept: A'' would be read as a copy of A, not of A'. A name that would be read
    as several, because it is not in the body, gets a prime, too.
    """
    name = total.over
    several = len(summed_names(name_text(name))) > 1 and name not in total.body.free()
    if (name in outer or several) and not name.endswith("'"):
        name += "'" if several else ""
        while name in outer | total.body.variables().keys():
            name += "'"
    return name, total.body.substituted({total.over: Term(name)}), outer | {name}


# -- text -------------------------------------------------------------------------------------------------------------


def text(expression: Expression, *, short: bool = False, outer: Names = frozenset()) -> str:
    """One line of plain text; :func:`corate.rate.parse` reads it back unless ``short``."""
    above, below = _ranked(expression)
    if not all(isinstance(factor, Probability | Rate) for factor, _ in above + below):
        outer = outer | expression.free().keys()
    if len(above) == 1 and above[0][1] == 1 and not below:
        return _factor_text(above[0][0], short, outer)
    over = _powers_text(above, short, outer) or "1"
    under = _powers_text(below, short, outer)
    if not under:
        return over
    return f"{over} / {under if len(below) == 1 else f'({under})'}"


class RunningText:
    """The text of a product that changes step by step, with potentials by their names only.

    ``powers`` and ``places`` are the exponents of its factors and what sorts them. Both may change.
    """

    def __init__(self, powers: Mapping[Expression, int], places: Mapping[Expression, tuple[int, ...]]) -> None:
        self._powers, self._places = powers, places
        self._keys: dict[Expression, _Key] = {}
        self._sides: tuple[_Side, _Side] = _Side(), _Side()  # numerator and denominator
        self._sums = 0  # their text depends on the names outside of them
        self._last = 0
        self.update(powers)

    def update(self, changed: Iterable[Expression]) -> None:
        """Write these factors again, which have another exponent or another place."""
        for factor in changed:
            if (old := self._keys.pop(factor, None)) is not None:
                self._sums -= old[0] >= _RANKS[Sum]
                for side in self._sides:
                    side.remove(old)
            if factor not in self._powers:
                continue
            k = self._powers[factor]
            self._last += 1
            key = _RANKS.get(type(factor), 4), self._places[factor], self._last
            self._keys[factor] = key
            self._sums += key[0] >= _RANKS[Sum]
            written = "" if key[0] >= _RANKS[Sum] else _factor_text(factor, short=True, outer=frozenset())
            self._sides[k < 0].insert(key, written + (f"^{abs(k)}" if abs(k) > 1 else ""))

    def text(self) -> str | None:
        """The text; None if it has a sum, whose names depend on the whole expression."""
        if self._sums:
            return None
        above, below = (side.texts for side in self._sides)
        under = " ".join(below)
        over = " ".join(above) or "1"
        return over if not below else f"{over} / {under if len(below) == 1 else f'({under})'}"


class _Side:
    """Texts of factors in the order of their keys."""

    def __init__(self) -> None:
        self.keys: list[_Key] = []
        self.texts: list[str] = []

    def insert(self, key: _Key, text: str) -> None:
        i = bisect_left(self.keys, key)
        self.keys.insert(i, key)
        self.texts.insert(i, text)

    def remove(self, key: _Key) -> None:
        i = bisect_left(self.keys, key)
        if i < len(self.keys) and self.keys[i] == key:
            del self.keys[i], self.texts[i]


def _powers_text(factors: Sequence[tuple[Expression, int]], short: bool, outer: Names) -> str:
    return " ".join(_factor_text(f, short, outer) + (f"^{k}" if k > 1 else "") for f, k in factors)


def _written_once(write: Callable[[Any], Written]) -> Callable[[Any], Written]:
    """Keep what is written of a rate or a probability: most lines of a derivation repeat those of the line before.

    It is kept with the object. An equal one may have another order, or the value 1 instead of True.
    """

    @wraps(write)
    def kept(factor: Probability | Rate) -> Written:
        try:
            texts = factor._written
        except AttributeError:
            texts = {}
            factor._set(_written=texts)
        if write.__name__ not in texts:
            texts[write.__name__] = write(factor)
        return cast(Written, texts[write.__name__])

    return kept


def _factor_text(factor: Expression, short: bool, outer: Names) -> str:
    if isinstance(factor, Probability | Rate):
        return _plain_text(factor)
    if isinstance(factor, Sum):
        name, body, names = _bound(factor, outer)
        own = name == factor.over and name.endswith("'")
        return f"sum_{f'{{{name}}}' if own else name_text(name)} [{text(body, short=short, outer=names)}]"
    if isinstance(factor, Group):
        name = f"{factor.symbol}({', '.join(map(name_text, factor.scope))})"
        return name if short else f"{name}[{text(factor.body, outer=outer)}]"
    return f"({text(factor, short=short, outer=outer)})"


@_written_once
def _plain_text(factor: Probability | Rate) -> str:
    if isinstance(factor, Probability):
        return f"P({', '.join(map(term_text, factor.block))}{_given_text(factor.given)})"
    return f"CR({'; '.join(map(block_text, factor.blocks))}{_given_text(factor.given)})"


def _given_text(given: Block) -> str:
    return f" | {', '.join(map(str, given))}" if given else ""


@lru_cache(maxsize=1 << 14)
def name_text(name: str) -> str:
    """The name of a variable, in braces if it would not be read as one name.

    >>> name_text("rain"), name_text("AB"), name_text("next label"), name_text("next label'")
    ('rain', '{AB}', '{next label}', "{next label}'")
    """
    if is_one_name(name):
        return name
    stem = name.rstrip("'") or name
    return f"{{{stem}}}{name[len(stem) :]}"


def term_text(term: Term) -> str:
    """A variable with its value, if it has one; a text that looks like something else is in quotes.

    >>> term_text(Term("X", 0)), term_text(Term("X", "0")), term_text(Term("X", "yes"))
    ('X=0', 'X="0"', 'X=yes')
    """
    if term.value is None:
        return name_text(term.name)
    plain = not isinstance(term.value, str) or is_plain_value(term.value)
    return f"{name_text(term.name)}={term.value if plain else json.dumps(term.value, ensure_ascii=False)}"


def block_text(block: Block) -> str:
    """A joint variable: ``X1X2`` if that is unambiguous, else with spaces.

    >>> from corate.rate import Seq
    >>> block_text(Seq("X1", "X2")), block_text(Seq("rain", "wet")), block_text(Seq("X1=0", "X2"))
    ('X1X2', 'rain wet', 'X1=0 X2')
    """
    if len(block) == 1:
        return term_text(block[0])
    plain = all(t.value is None and _SINGLE.fullmatch(t.name) for t in block)
    return ("" if plain else " ").join(map(term_text, block))


# -- LaTeX ------------------------------------------------------------------------------------------------------------


def latex(expression: Expression, *, short: bool = False, outer: Names = frozenset()) -> str:
    """For math mode."""
    above, below = _ranked(expression)
    outer = outer | expression.free().keys()
    over = _powers_latex(above, short, outer) or "1"
    return over if not below else rf"\frac{{{over}}}{{{_powers_latex(below, short, outer)}}}"


def _powers_latex(factors: Sequence[tuple[Expression, int]], short: bool, outer: Names) -> str:
    return r"\,".join(_factor_latex(f, short, outer) + (f"^{{{k}}}" if k > 1 else "") for f, k in factors)


def _factor_latex(factor: Expression, short: bool, outer: Names) -> str:
    if isinstance(factor, Probability | Rate):
        return _plain_latex(factor)
    if isinstance(factor, Sum):
        name, body, names = _bound(factor, outer)
        return rf"\sum_{{{name_latex(name)}}}\left[{latex(body, short=short, outer=names)}\right]"
    if isinstance(factor, Group):
        scope = ",".join(map(name_latex, factor.scope)) or r"\emptyset"
        name = rf"\{factor.symbol}" if factor.symbol in _GREEK else name_latex(factor.symbol)
        return rf"{name}_{{{scope}}}" if short else rf"{name}_{{{scope}}}\left[{latex(factor.body, outer=outer)}\right]"
    return rf"\left({latex(factor, short=short, outer=outer)}\right)"


@_written_once
def _plain_latex(factor: Probability | Rate) -> str:
    if isinstance(factor, Probability):
        return f"P({', '.join(map(_term_latex, factor.block))}{_given_latex(factor.given)})"
    blocks = "; ".join(r"\,".join(map(_term_latex, block)) for block in factor.blocks) or r"X_{\emptyset}"
    return rf"\mathrm{{CR}}({blocks}{_given_latex(factor.given)})"


def _given_latex(given: Block) -> str:
    return rf" \mid {', '.join(map(_term_latex, given))}" if given else ""


def name_latex(name: str) -> str:
    r"""The name of a variable: digits and the part after an underscore become subscripts.

    >>> name_latex("Y12"), name_latex("next_label"), name_latex("A'")
    ('Y_{12}', '\\mathit{next}_{\\mathit{label}}', "A'")
    """
    stem, index, primes = _name_parts(name)
    return _word_latex(stem) + (f"_{{{_word_latex(index)}}}" if index else "") + primes


def _word_latex(word: str) -> str:
    escaped = _escaped(word).replace(" ", r"\ ")
    return escaped if len(word) == 1 or word.isdigit() else rf"\mathit{{{escaped}}}"


def _name_parts(name: str) -> tuple[str, str, str]:
    found = _PARTS.fullmatch(name)
    return (found[1], found[2], found[3]) if found else (name, "", "")


def _term_latex(term: Term) -> str:
    if term.value is None:
        return name_latex(term.name)
    value = str(term.value)
    shown = rf"\text{{{_escaped(value)}}}" if isinstance(term.value, str) else value
    return f"{name_latex(term.name)}{{=}}{shown}"


def _escaped(value: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c, f"\\{c}" if c in "#$%&_{}" else c) for c in value)


# -- MathML -----------------------------------------------------------------------------------------------------------


def mathml(expression: Expression, *, short: bool = False, outer: Names = frozenset()) -> Markup:
    """The content of a ``math`` element."""
    above, below = _ranked(expression)
    outer = outer | expression.free().keys()
    over = _powers_mathml(above, short, outer) or Markup("<mn>1</mn>")
    return (
        Markup("<mfrac>{}{}</mfrac>").format(_row(over), _row(_powers_mathml(below, short, outer))) if below else over
    )


def _row(*inside: Markup) -> Markup:
    return Markup("<mrow>{}</mrow>").format(Markup().join(inside))


def _powers_mathml(factors: Sequence[tuple[Expression, int]], short: bool, outer: Names) -> Markup:
    written = []
    for factor, k in factors:
        if isinstance(factor, Probability | Rate):
            one = _plain_mathml(factor)
        else:
            one = _row(_factor_mathml(factor, short, outer))
        written.append(one if k == 1 else Markup("<msup>{}<mn>{}</mn></msup>").format(one, k))
    return Markup('<mspace width="0.25em"/>'.join(written))  # without escaping, as all of them are escaped


def _factor_mathml(factor: Expression, short: bool, outer: Names) -> Markup:
    if isinstance(factor, Sum):
        name, body, names = _bound(factor, outer)
        written = _row(mathml(body, short=short, outer=names))
        return Markup("<munder><mo>∑</mo>{}</munder><mo>[</mo>{}<mo>]</mo>").format(_name_mathml(name), written)
    if isinstance(factor, Group):
        scope = _row(_listed(factor.scope, ",", _name_mathml) or _NOTHING)
        symbol = Markup("<msub><mi>{}</mi>{}</msub>").format(_GREEK.get(factor.symbol, factor.symbol), scope)
        if short:
            return symbol
        return symbol + Markup("<mo>[</mo>{}<mo>]</mo>").format(_row(mathml(factor.body, outer=outer)))
    return Markup("<mo>(</mo>{}<mo>)</mo>").format(_row(mathml(factor, short=short, outer=outer)))


@_written_once
def _plain_mathml(factor: Probability | Rate) -> Markup:
    if isinstance(factor, Probability):
        inside = _listed(factor.block, ",", _term_mathml) + _given_mathml(factor.given)
        return _row(Markup("<mi>P</mi><mo>(</mo>{}<mo>)</mo>").format(inside))
    inside = _listed(factor.blocks, ";", lambda block: _row(*map(_term_mathml, block))) or _NOTHING
    return _row(Markup("<mi>CR</mi><mo>(</mo>{}<mo>)</mo>").format(inside + _given_mathml(factor.given)))


def _listed(items: Sequence[object], separator: str, write: Callable[..., Markup]) -> Markup:
    return Markup("<mo>{}</mo>").format(separator).join(write(item) for item in items)


def _given_mathml(given: Block) -> Markup:
    return Markup("<mo>|</mo>{}").format(_listed(given, ",", _term_mathml)) if given else Markup()


def _name_mathml(name: str) -> Markup:
    stem, index, primes = _name_parts(visible(name))
    inner = Markup("<mi>{}</mi>").format(stem + primes)
    return Markup("<msub>{}<mi>{}</mi></msub>").format(inner, index) if index else inner


def _term_mathml(term: Term) -> Markup:
    name = _name_mathml(term.name)
    if term.value is None:
        return name
    return _row(name, Markup("<mo>=</mo><mtext>{}</mtext>").format(visible(str(term.value))))
