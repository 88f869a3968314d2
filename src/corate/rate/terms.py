"""Terms: random variables, free or fixed to a value, and blocks of terms that form one joint variable."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import NamedTuple, TypeAlias

from corate.rate.errors import ExpressionError

__all__ = ["Block", "BlockLike", "NamesLike", "Sem", "Seq", "Term", "Value", "block", "new_names", "read_names", "term"]

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
NamesLike: TypeAlias = str | Iterable[str]


def term(given: str | Term) -> Term:
    """A variable by its name, or ``X=0`` for a fixed one."""
    if isinstance(given, Term):
        return given
    from corate.rate.parsing import parse_term

    return parse_term(given)


def block(given: BlockLike, known: Collection[str] = ()) -> Block:
    """One joint variable: a text such as ``"X1X2"``, a term, or several of them."""
    return given if isinstance(given, Block) else Block(_terms(given, known))


def read_names(given: NamesLike, known: Collection[str] = ()) -> tuple[str, ...]:
    """The names of a set of variables: a text that is read as in an expression, or a list with a name in each element.

    A name or a word that is in ``known`` is one variable.

    >>> read_names("rain, AB"), read_names("AB", known=["AB"]), read_names(["AB", "next label"])
    (('rain', 'A', 'B'), ('AB',), ('AB', 'next label'))
    """
    if not isinstance(given, str):
        given = tuple(given)
        if all(isinstance(name, str) and name in known for name in given):  # the usual case, and fast
            return given
    found = _terms(given, known)
    if fixed := next((t for t in found if t.value is not None), None):
        raise ExpressionError(f"{fixed} has a value; write only the name of the variable, {fixed.name}")
    return tuple(t.name for t in found)


def new_names(given: NamesLike) -> tuple[str, ...]:
    """The names of new variables: as in :func:`read_names`, but the names in a list can have any characters.

    >>> new_names("rain, AB"), new_names(["a=b"])
    (('rain', 'A', 'B'), ('a=b',))
    """
    return read_names(given) if isinstance(given, str) else tuple(given)


def _terms(given: BlockLike, known: Collection[str]) -> list[Term]:
    """The terms in a text or a list. This is the only place that decides how a text with several variables is read."""
    if isinstance(given, Term):
        return [given]
    if isinstance(given, str):
        from corate.rate.parsing import parse_terms

        return [Term(given)] if given in known else list(parse_terms(given, known))
    return [Term(one) if isinstance(one, str) and one in known else term(one) for one in given]


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
