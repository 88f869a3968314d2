"""Expressions of the algebra: probabilities, co-occurrence rates, their products and powers, sums over a variable.

    CR(X_1; ...; X_n | Y) = P(X_1, ..., X_n | Y) / (P(X_1 | Y) ... P(X_n | Y)),     CR of nothing = 1

An X_i may be a joint variable (``Seq``, X1X2 in the paper) or a single one (``Sem``, X1;X2). A variable may be fixed
to a value (X=0). Expressions are immutable. They keep the order in which they were written; equality ignores it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar

from corate.rate.errors import ExpressionError
from corate.rate.terms import Block, BlockLike, NamesLike, Term, Value, block, new_names, term

__all__ = [
    "CR",
    "ONE",
    "Expression",
    "Group",
    "P",
    "Probability",
    "Product",
    "Rate",
    "Sum",
    "product",
]


class Expression:
    """An expression of the algebra. ``*``, ``/`` and ``**`` make products, quotients and powers with integer exponents.

    Expressions are immutable and hashable. Two expressions that differ only in the order of their parts are equal.

    >>> print(P("A, B") / (P("A") * P("B")) ** 2)
    P(A, B) / (P(A)^2 P(B)^2)
    """

    __slots__ = ("_hash", "_key", "_written")
    _fields: ClassVar[tuple[str, ...]] = ()
    _hash: int
    _key: Hashable
    _written: dict[
        str, Any
    ]  # the texts of rates and probabilities, by the name of the function in `corate.rate.writing`

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"expressions are immutable: cannot set {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self._fields)

    def _make_key(self) -> Hashable:
        raise NotImplementedError

    @property
    def key(self) -> Hashable:
        """A key that is equal for expressions that differ only in order."""
        try:
            return self._key
        except AttributeError:
            self._set(_key=self._make_key())
            return self._key

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._set(_hash=hash((type(self).__name__, self.key)))
            return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Expression):
            return NotImplemented
        return type(self) is type(other) and hash(self) == hash(other) and self.key == other.key

    def powers(self) -> Mapping[Expression, int]:
        """A mapping from factors to their exponents. An expression that is not a product is its only factor."""
        return {self: 1}

    def terms(self) -> Iterator[Term]:
        """All terms of the expression, including variables that are summed over."""
        raise NotImplementedError

    def variables(self) -> dict[str, None]:
        """The names of all variables, in order of first occurrence (as the keys of a dict)."""
        return dict.fromkeys(t.name for t in self.terms())

    def free(self) -> dict[str, None]:
        """The names of the free variables, which are neither fixed nor summed over (as the keys of a dict)."""
        return dict.fromkeys(t.name for t in self.terms() if t.value is None)

    def fixed(self, at: Mapping[str, Value]) -> Expression:
        """The expression with free variables fixed to the values ``at``. Names that do not occur are ignored.

        >>> print(CR("A; B").fixed({"B": 0}))
        CR(A; B=0)
        """
        return self.substituted({name: Term(name, value) for name, value in at.items()})

    def substituted(self, terms: Mapping[str, Term]) -> Expression:
        """The expression with free variables replaced by other terms.

        >>> print(CR("A; B").substituted({"B": Term("C")}))
        CR(A; C)
        """
        raise NotImplementedError

    def __mul__(self, other: Expression) -> Expression:
        return product(self, other) if isinstance(other, Expression) else NotImplemented

    def __truediv__(self, other: Expression) -> Expression:
        return product(self, (other, -1)) if isinstance(other, Expression) else NotImplemented

    def __pow__(self, exponent: int) -> Expression:
        return product((self, exponent))

    def __str__(self) -> str:
        from corate.rate.writing import text

        return text(self)

    __repr__ = __str__

    def latex(self) -> str:
        r"""The expression as LaTeX.

        >>> CR("A1; B | C").latex()
        '\\mathrm{CR}(A_{1}; B \\mid C)'
        """
        from corate.rate.writing import latex

        return latex(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


class Probability(Expression):
    """P(X_1, ..., X_n | Y); a variable written twice counts once. Made by :func:`P`."""

    __slots__ = ("block", "given")
    _fields = ("block", "given")
    block: Block
    given: Block

    def __init__(self, block: Block, given: Block = Block(())) -> None:  # noqa: B008
        self._set(block=block, given=given)
        _check_terms(block, given)

    def _make_key(self) -> Hashable:
        return self.block.key, frozenset(self.given)

    def terms(self) -> Iterator[Term]:
        """Its variables, then those of its condition."""
        yield from self.block
        yield from self.given

    def substituted(self, terms: Mapping[str, Term]) -> Expression:
        """The same with free variables replaced by other terms."""
        return Probability(_substituted(self.block, terms), _substituted(self.given, terms))


class Rate(Expression):
    """CR(X_1; ...; X_n | Y), each X_i a block; a block may be repeated. Made by :func:`CR`."""

    __slots__ = ("blocks", "given")
    _fields = ("blocks", "given")
    blocks: tuple[Block, ...]
    given: Block

    def __init__(self, blocks: Iterable[Block], given: Block = Block(())) -> None:  # noqa: B008
        self._set(blocks=tuple(blocks), given=given)
        _check_terms(chain.from_iterable(self.blocks), given)

    def _make_key(self) -> Hashable:
        keys = [b[0] if len(b) == 1 else b.key for b in self.blocks]
        distinct = frozenset(keys)
        again: list[Hashable] = []
        if len(distinct) < len(keys):
            seen: set[Hashable] = set()
            again = [key for key in keys if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
        return distinct, frozenset(Counter(again).items()), frozenset(self.given)

    def terms(self) -> Iterator[Term]:
        """The variables of its blocks, then those of its condition."""
        for part in self.blocks:
            yield from part
        yield from self.given

    def substituted(self, terms: Mapping[str, Term]) -> Expression:
        """The same with free variables replaced by other terms."""
        return Rate((_substituted(b, terms) for b in self.blocks), _substituted(self.given, terms))


class Product(Expression):
    """A product of factors with exponents. Without factors, it is ``ONE``. Made by :func:`product`, ``*`` and ``/``."""

    __slots__ = ("_powers",)
    _fields = ("_powers",)
    _powers: dict[Expression, int]

    def __init__(self, powers: Mapping[Expression, int]) -> None:
        self._set(_powers=dict(powers))

    def _make_key(self) -> Hashable:
        return frozenset(self._powers.items())

    def powers(self) -> Mapping[Expression, int]:
        """The factors with their exponents."""
        return self._powers

    def terms(self) -> Iterator[Term]:
        """The terms of all factors."""
        for factor in self._powers:
            yield from factor.terms()

    def free(self) -> dict[str, None]:
        """The names that some factor depends on."""
        return dict.fromkeys(name for factor in self._powers for name in factor.free())

    def substituted(self, terms: Mapping[str, Term]) -> Expression:
        """The same with free variables replaced by other terms."""
        return product(*((factor.substituted(terms), k) for factor, k in self._powers.items()))


class Sum(Expression):
    """The sum of ``body`` over all values of the variable ``over``. For densities, it is the integral.

    The variable is bound: it is unrelated to a variable of the same name outside of the sum. If both occur, the one in
    the sum is printed with a prime. ``over`` is the name of one variable; a sum over several is a sum of sums.

    >>> e = Sum("Y", CR("X; Y") * P("Y"))
    >>> print(e, list(e.free()))
    sum_Y [CR(X; Y) P(Y)] ['X']
    >>> print(P("Y") * e)
    P(Y) sum_Y' [CR(X; Y') P(Y')]
    """

    __slots__ = ("body", "over")
    _fields = ("over", "body")
    over: str
    body: Expression

    def __init__(self, over: str, body: Expression) -> None:
        summed = term(over)
        if summed.value is not None:
            raise ExpressionError(f"{summed} has a value, so there is no sum over it; write {Term(summed.name)}")
        self._set(over=summed.name, body=body)

    def _make_key(self) -> Hashable:
        return self.over, self.body

    def terms(self) -> Iterator[Term]:
        """The terms of the body."""
        yield Term(self.over)
        yield from self.body.terms()

    def free(self) -> dict[str, None]:
        """The names the body depends on, except the one summed over."""
        return {name: None for name in self.body.free() if name != self.over}

    def substituted(self, terms: Mapping[str, Term]) -> Expression:
        """The same with free variables replaced by other terms; the one summed over is not free."""
        free = self.free()
        inside = {name: new for name, new in terms.items() if name in free}
        for name, new in inside.items():
            if new.name == self.over and name != new.name:
                raise ExpressionError(f"{name} cannot be replaced by {new} in {self}, which sums over {self.over}")
        return Sum(self.over, self.body.substituted(inside))


class Group(Expression):
    """A product with a name, such as a potential phi(A, B). Its factors do not cancel with the factors around it.

    Args:
        symbol: the name.
        scope: the names of its variables: a list, or a string that is read as in an expression.
        body: the product.

    >>> e = Group("phi", ["A", "B"], CR("A; B") * P("A"))
    >>> print(e)
    phi(A, B)[CR(A; B) P(A)]
    """

    __slots__ = ("body", "scope", "symbol")
    _fields = ("symbol", "scope", "body")
    symbol: str
    scope: tuple[str, ...]
    body: Expression

    def __init__(self, symbol: str, scope: NamesLike, body: Expression) -> None:
        self._set(symbol=symbol, scope=new_names(scope), body=body)

    def _make_key(self) -> Hashable:
        return self.symbol, frozenset(self.scope), self.body

    def terms(self) -> Iterator[Term]:
        """The terms of the body."""
        return self.body.terms()

    def free(self) -> dict[str, None]:
        """The names the body depends on."""
        return self.body.free()

    def substituted(self, terms: Mapping[str, Term]) -> Expression:
        """The body with free variables replaced by other terms."""
        return Group(self.symbol, self.scope, self.body.substituted(terms))


#: The empty product.
ONE = Product({})


def product(*factors: Expression | tuple[Expression, int]) -> Expression:
    """The product of expressions, or of (expression, exponent) pairs. Equal factors are combined.

    Raises ExpressionError for an exponent that is not an integer.

    >>> product(P("A"), P("B"), (P("A"), -1)) == P("B")
    True
    """
    powers: dict[Expression, int] = {}
    for given in factors:
        whole, exponent = given if isinstance(given, tuple) else (given, 1)
        if not isinstance(exponent, int):
            raise ExpressionError(f"exponents must be integers, not {exponent!r}")
        for factor, k in whole.powers().items():
            powers[factor] = powers.get(factor, 0) + k * exponent
    return of_powers(powers)


def of_powers(powers: Mapping[Expression, int]) -> Expression:
    """The product of factors with exponents; factors with exponent 0 are dropped."""
    kept = {factor: k for factor, k in powers.items() if k}
    if len(kept) == 1:
        ((factor, k),) = kept.items()
        if k == 1:
            return factor
    return Product(kept) if kept else ONE


def P(*variables: BlockLike, given: BlockLike = ()) -> Expression:  # noqa: N802
    """The joint probability of variables, given the variables ``given``. Without variables, it is 1.

    A single string can have several variables and a condition.

    >>> P("A, B | C") == P("B", "A", given="C")
    True
    >>> P() == ONE
    True
    """
    if len(variables) == 1 and isinstance(variables[0], str):
        from corate.rate.parsing import parse_probability

        left, condition = parse_probability(variables[0])
        return probability(left, Block([*condition, *block(given)]))
    return probability(Block(t for part in variables for t in block(part)), block(given))


def probability(left: Block, given: Block = Block(())) -> Expression:  # noqa: B008
    """P(left | given), or 1 if ``left`` is empty."""
    return Probability(left, given) if left else ONE


def CR(*blocks: BlockLike, given: BlockLike = ()) -> Rate:  # noqa: N802
    """The co-occurrence rate of blocks, given the variables ``given``. A block is one variable or a joint variable.

    A single string can have several blocks, separated by semicolons, and a condition.

    >>> CR("A; BC | D") == CR(["C", "B"], "A", given="D")
    True
    >>> print(CR())
    CR()
    """
    if len(blocks) == 1 and isinstance(blocks[0], str):
        from corate.rate.parsing import parse_rate

        found, condition = parse_rate(blocks[0])
        return Rate(found, Block([*condition, *block(given)]))
    return Rate(map(block, blocks), block(given))


def rate_or_one(blocks: Iterable[Block], given: Block) -> Expression:
    """The rate of blocks; 1 for fewer than two blocks, by definition."""
    found = tuple(blocks)
    return Rate(found, given) if len(found) > 1 else ONE


def _substituted(block: Block, terms: Mapping[str, Term]) -> Block:
    return Block(terms.get(t.name, t) if t.value is None else t for t in block)


def _check_terms(left: Iterable[Term], given: Block) -> None:
    """Raise ExpressionError if a variable is free and fixed, has two values, or is on both sides of the bar."""
    terms = set(left)
    names = {t[0] for t in terms}
    if len(names) < len(terms):
        raise ExpressionError(f"{_two_values(terms)} are in one factor; a variable can have only one value")
    if given:
        condition = {t.name for t in given}
        if both := names & condition:
            raise ExpressionError(f"{min(both)} is on both sides of the bar; remove it from the left side")
        if len(condition) < len(given):
            raise ExpressionError(f"{_two_values(given)} are in one condition; a variable can have only one value")


def _two_values(terms: Iterable[Term]) -> str:
    """Two terms of one variable."""
    found: dict[str, list[str]] = {}
    for t in terms:
        found.setdefault(t.name, []).append(str(t))
    return " and ".join(sorted(next(texts for texts in found.values() if len(texts) > 1))[:2])
