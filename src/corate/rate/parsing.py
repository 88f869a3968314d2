"""Reading expressions and graphs from text, with errors that point at the position.

    expression = power [["/" | "*"] power] ...    factor = P(A, B | C) | CR(A; BC | D) | 1 | ( expression )
    power      = factor ["^" number]                       | sum_Y [ expression ] | phi(A, B)[ expression ]

A word of capital letters, each optionally with digits or primes, is several variables: ``X1X2`` is X1 and X2, ``AB`` is
A and B. Any other word is one variable (``rain``, ``next_label``), and so is a word listed in ``names``. Braces hold a
name with any other characters, ``{AB}`` or ``{next label}``, and double quotes a value, ``X="0"``.

``sum_A' [...]`` is a sum over the values of A, which is called A' in the brackets, so that it can stand beside the A
outside. A variable that itself is named A' is summed over with ``sum_{A'} [...]``. ``sum_AB [...]`` and
``sum_{A,B} [...]`` are sums over A and B, unless a variable in the brackets is named AB or {A,B}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from corate.rate.errors import ExpressionError
from corate.rate.expressions import ONE, Expression, Group, Rate, Sum, probability
from corate.rate.terms import Block, Term, Value

__all__ = ["parse"]

NAME = re.compile(r"[^\W\d]\w*'*")
_BRACED = r"\{[^{}]+\}'*"
WRITTEN_NAME = re.compile(rf"(?:{NAME.pattern}|{_BRACED})")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_SINGLE = re.compile(r"[A-Z]\d*'*")
_SEVERAL = re.compile(rf"(?:{_SINGLE.pattern})+")
_PLAIN_VALUE = re.compile(r"[^\s,;|()\[\]{}=\"]+")
_TERM = re.compile(rf"({WRITTEN_NAME.pattern})(?:\s*=\s*({_QUOTED}|{_PLAIN_VALUE.pattern}))?")
#: A quoted value, a name in braces, or any other character.
_PIECE = re.compile(rf"{_QUOTED}|{_BRACED}|.", re.DOTALL)
_TOKEN = re.compile(rf"\s*(?:(sum_)?({WRITTEN_NAME.pattern})|(\^)\s*(-?\d+)|([()\[\]/*]|\d+))")


def parse(text: str, names: Collection[str] = ()) -> Expression:
    """Read an expression from a string.

    In a word of capital letters, each letter with its digits is a variable: ``AB`` is A and B, ``X1X2`` is X1 and X2.
    Other words are one variable, such as ``rain``, and so are the words in ``names``. Braces enclose any other name,
    such as ``{next label}``. Raises ExpressionError, which shows the position, if the string cannot be read.

    >>> parse("P(A, B) / (P(A) P(B))")
    P(A, B) / (P(A) P(B))
    >>> parse("CR(A; B")
    Traceback (most recent call last):
        ...
    corate.rate.errors.ExpressionError: the bracket is not closed: CR(A; B <- here
    """
    reader = _Reader(text, names)
    try:
        found = reader.expression()
    except RecursionError:
        raise ExpressionError("the brackets are nested too deeply") from None
    reader.end()
    return found


class _Reader:
    """Reads one expression from left to right."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text, self.names, self.at = text, names, 0

    def fail(self, why: str) -> ExpressionError:
        return ExpressionError(f"{why}: {self.text[: self.at].strip()} <- here {self.text[self.at :].strip()}".rstrip())

    def peek(self) -> re.Match[str] | None:
        return _TOKEN.match(self.text, self.at)

    def takes(self, symbol: str) -> bool:
        found = self.peek()
        if found is None or found[5] != symbol:
            return False
        self.at = found.end()
        return True

    def end(self) -> None:
        if self.text[self.at :].strip():
            raise self.fail("extra closing bracket" if self.text[self.at :].strip()[0] in ")]" else "cannot read this")

    def expression(self) -> Expression:
        found = self.power()
        while True:
            if self.takes("/"):
                found = found / self.power()
            elif self.takes("*") or self.factor_ahead():
                found = found * self.power()
            else:
                return found

    def factor_ahead(self) -> bool:
        ahead = self.peek()
        return ahead is not None and bool(ahead[2] or ahead[5] == "(" or (ahead[5] or "").isdigit())

    def power(self) -> Expression:
        base = self.factor()
        found = self.peek()
        if found is not None and found[3]:
            self.at = found.end()
            return base ** int(found[4])
        return base

    def factor(self) -> Expression:
        if self.takes("("):
            inner = self.expression()
            if not self.takes(")"):
                raise self.fail("the bracket is not closed")
            return inner
        if self.takes("1"):
            return ONE
        found = self.peek()
        if found is None or not found[2]:
            raise self.fail("a factor such as P(A) or CR(A; B) is missing")
        self.at = found.end()
        if found[1]:
            return self.sum(found[2])
        inner_text = self.arguments()
        if found[2] == "P":
            return probability(*parse_probability(inner_text, self.names))
        if found[2] == "CR":
            return Rate(*parse_rate(inner_text, self.names))
        if found[2].upper() in ("P", "CR") and not self.text[self.at :].lstrip().startswith("["):
            raise self.fail(f"{found[2]} is not known; write {found[2].upper()} in capital letters")
        return Group(found[2], (t.name for t in parse_terms(inner_text, self.names)), self.bracketed())

    def sum(self, written: str) -> Expression:
        """A sum over a variable, over several, or over copies of them that are written with primes."""
        body = self.bracketed()
        single = bare_name(written) in body.free() or bare_name(written) in self.names
        for name in [written] if single else reversed(summed_names(written)):
            body = self.sum_over(name, body)
        return body

    def sum_over(self, written: str, body: Expression) -> Expression:
        over, name = bare_name(written.rstrip("'")), bare_name(written)
        if name == over:
            return Sum(over, body)
        if over in body.free():
            raise self.fail(f"{name} is a copy of {over}; write the factors with {over} outside of the sum over {name}")
        return Sum(over, body.substituted({name: Term(over)}))

    def bracketed(self) -> Expression:
        if not self.takes("["):
            raise self.fail("a [ is missing; a potential such as phi(A)[P(A)] has its factors in brackets")
        inner = self.expression()
        if not self.takes("]"):
            raise self.fail("the bracket is not closed")
        return inner

    def arguments(self) -> str:
        if not self.takes("("):
            raise self.fail("a ( is missing")
        start = self.at
        for piece in _PIECE.finditer(self.text, start):
            if piece[0] == ")":
                self.at = piece.end()
                return self.text[start : piece.start()]
            if piece[0] == "(":
                break
        self.at = len(self.text)
        raise self.fail("the bracket is not closed")


def parse_probability(text: str, names: Collection[str] = ()) -> tuple[Block, Block]:
    """Read the inside of P(...): the variables and the condition."""
    left, given = _sides(text)
    if len(_split(left, ";")) > 1:
        raise ExpressionError(f"P({text}): separate the variables of a probability by commas")
    return Block(parse_terms(left, names)), Block(parse_terms(given, names))


def parse_rate(text: str, names: Collection[str] = ()) -> tuple[list[Block], Block]:
    """Read the inside of CR(...): the blocks and the condition."""
    left, given = _sides(text)
    parts = _split(left, ";") if left.strip() else []
    blocks = [Block(parse_terms(part, names)) for part in parts]
    if not all(blocks):
        raise ExpressionError(f"CR({text}): a variable is missing between two semicolons")
    return blocks, Block(parse_terms(given, names))


def parse_values(text: str, names: Collection[str] = ()) -> dict[str, Value]:
    """Variables with their values; ``names`` are words to be read as one variable, such as AB.

    >>> parse_values("A=1, rain=yes")
    {'A': 1, 'rain': 'yes'}
    """
    found: dict[str, Value] = {}
    for term in parse_terms(text, names):
        if term.value is None or term.name in found:
            raise ExpressionError(f"{text!r}: give {term.name} one value, such as {term.name}=0")
        found[term.name] = term.value
    return found


def parse_term(text: str) -> Term:
    """One variable with any name, or ``X=0``.

    >>> parse_term("next label"), parse_term("{next label}=0")
    (Term(name='next label', value=None), Term(name='next label', value=0))
    """
    found = _TERM.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is not None:
        return Term(bare_name(found[1]), _value(found[2]))
    if not isinstance(text, str) or not text.strip() or re.search(r"[={}]", text):
        raise ExpressionError(f"{text!r} is not a variable; write a name such as X1, or X1=0 for a fixed value")
    return Term(text.strip())


def bare_name(written: str) -> str:
    """A name without the braces that it may be written in.

    >>> bare_name("A'"), bare_name("{next label}"), bare_name("{next label}'")
    ("A'", 'next label', "next label'")
    """
    return written[1:].replace("}", "") if written.startswith("{") else written


def summed_names(written: str) -> list[str]:
    """The variables of a sum, unless one of them is named as all together.

    >>> summed_names("AB'"), summed_names("{A, rain}"), summed_names("rain"), summed_names("{a b, c}")
    (['A', "B'"], ['A', 'rain'], ['rain'], ['{a b, c}'])
    """
    if _SEVERAL.fullmatch(written):
        return _SINGLE.findall(written)
    parts = [part.strip() for part in written.strip("{}").split(",")] if written.endswith("}") else []
    return parts if len(parts) > 1 and all(map(NAME.fullmatch, parts)) else [written]


def is_one_name(name: str) -> bool:
    """Whether a name is read as one variable without braces.

    >>> is_one_name("rain"), is_one_name("A1"), is_one_name("AB"), is_one_name("next label")
    (True, True, False, False)
    """
    several = _SEVERAL.fullmatch(name) and not _SINGLE.fullmatch(name)
    return NAME.fullmatch(name) is not None and not several


def is_plain_value(text: str) -> bool:
    """Whether a text is read as the same text without quotes.

    >>> is_plain_value("yes"), is_plain_value("0"), is_plain_value("a b")
    (True, False, False)
    """
    return _PLAIN_VALUE.fullmatch(text) is not None and _value(text) == text


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that are not in quotes or braces."""
    parts = [""]
    for piece in _PIECE.findall(text):
        if piece == separator:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _sides(text: str) -> tuple[str, str]:
    left, *given = _split(text, "|")
    if len(given) > 1 or (given and not given[0].strip()):
        raise ExpressionError(f"({text}): use one bar, followed by the condition")
    return left, given[0] if given else ""


def parse_terms(text: str, names: Collection[str] = ()) -> Iterator[Term]:
    """The variables in a text such as ``X1X2`` or ``rain, wet=1``; ``names`` are words to be read as one variable."""
    at = 0
    while rest := text[at:].lstrip(" \t\n,"):
        at = len(text) - len(rest)
        found = _TERM.match(text, at)
        if found is None:
            raise ExpressionError(f"{rest!r} does not start with a variable name")
        singles = [bare_name(found[1])]
        if found[1] not in names and _SEVERAL.fullmatch(found[1]):
            singles = _SINGLE.findall(found[1])
        yield from map(Term, singles[:-1])
        yield Term(singles[-1], _value(found[2]))
        at = found.end()


def _value(text: str | None) -> Value | None:
    """A number or a truth value if it looks like one, else text; what is in quotes is text."""
    if text is None:
        return None
    if text in ("True", "False"):
        return text == "True"
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            raise ExpressionError(
                f"{text} is not a quoted value; escape a quote and a backslash with a backslash"
            ) from None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
