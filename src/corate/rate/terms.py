"""Terms: random variables, free or fixed to a value, and blocks of terms that form one joint variable."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple, TypeAlias

__all__ = ["Block", "BlockLike", "Sem", "Seq", "Term", "Value", "block", "term"]

Value: TypeAlias = int | float | str


class Term(NamedTuple):
    """A random variable with a ``name``. It is free if its ``value`` is None; otherwise it is fixed to the value.

    >>> print(Term("X"), Term("X", 0))
    X X=0
    """

    name: str
    value: Value | None = None

    def __str__(self) -> str:
        from corate.rate.writing import term_text

        return term_text(self)


class Block(tuple[Term, ...]):
    """A joint variable: a tuple of terms. A term that is repeated counts once. Made by :func:`Seq`."""

    __slots__ = ()

    def __new__(cls, terms: Iterable[Term]) -> Block:
        """The terms in their order, repeated ones dropped."""
        return super().__new__(cls, dict.fromkeys(terms))

    @property
    def key(self) -> Hashable:
        """A key that ignores the order of the terms."""
        return self[0] if len(self) == 1 else frozenset(self)

    def __str__(self) -> str:
        from corate.rate.writing import block_text

        return block_text(self)


BlockLike: TypeAlias = str | Term | Iterable[str | Term]


def term(given: str | Term) -> Term:
    """A variable by its name, or ``X=0`` for a fixed one."""
    if isinstance(given, Term):
        return given
    from corate.rate.parsing import parse_term

    return parse_term(given)


def block(given: BlockLike) -> Block:
    """One joint variable: a text such as ``"X1X2"``, a term, or several of them."""
    if isinstance(given, Block):
        return given
    if isinstance(given, Term):
        return Block([given])
    if isinstance(given, str):
        from corate.rate.parsing import parse_block

        return parse_block(given)
    return Block(map(term, given))


def Seq(*variables: str | Term) -> Block:  # noqa: N802
    """Join several variables to one joint variable, a block.

    >>> from corate.rate import CR
    >>> print(CR("X1", Seq("X2", "X3")))
    CR(X1; X2X3)
    """
    return Block(map(term, variables))


def Sem(*variables: str | Term) -> list[Block]:  # noqa: N802
    """Make a block of each variable; returns a list of blocks.

    >>> from corate.rate import CR
    >>> print(CR(*Sem("X1", "X2", "X3")))
    CR(X1; X2; X3)
    """
    return [Block([term(variable)]) for variable in variables]
