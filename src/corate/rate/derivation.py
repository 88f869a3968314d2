"""Derivations: a start, and steps that replace a part by an equal one and name the theorem. A derivation can be checked
on any distribution.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from corate.display import counted
from corate.rate.errors import ExpressionError
from corate.rate.evaluation import Distribution, Evaluation, read
from corate.rate.expressions import Expression, Group, Probability, Sum, of_powers
from corate.rate.graphs import Graph, GraphLike
from corate.rate.independence import Independence, IndependenceTest
from corate.rate.writing import RunningText, latex, text

if TYPE_CHECKING:
    from corate.rate.counted import Counts

__all__ = ["Check", "Derivation", "Step", "rewrite"]

#: Graphs with more nodes are checked on random Gaussians instead of tables.
_MOST_TABLE_NODES = 14
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Step:
    """An equation that follows from a theorem: ``before = after``.

    Attributes:
        theorem: the name of the theorem.
        before: the expression on the left side.
        after: the expression on the right side.
        using: what the theorem was applied to, as text.
        independence: the :class:`Independence` that the step requires, or None.

    >>> from corate.rate import CR, partition
    >>> print(partition(CR("A; B; C"), "A"))
    CR(A; B; C)
      = CR(B; C) CR(A; BC)    (partition: {A} | {B, C})
    """

    theorem: str
    before: Expression
    after: Expression
    using: str = ""
    independence: Independence | None = None  # that the graph has, and the step needs

    @property
    def reason(self) -> str:
        """The theorem and what it was applied to, as text."""
        return f"{self.theorem}: {self.using}" if self.using else self.theorem

    def reversed(self) -> Step:
        """The same equation from right to left: ``before`` and ``after`` are exchanged."""
        return replace(self, before=self.after, after=self.before)

    def __str__(self) -> str:
        return f"{self.before}\n  = {self.after}    ({self.reason})"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {latex(self.before)} = {latex(self.after)}$"


@dataclass(frozen=True)
class Check:
    """The result of :meth:`Derivation.check`. It is true if all steps hold: ``if check: ...``.

    A difference is the largest absolute difference between the logarithms of both sides of an equation. If it is small,
    it is almost the relative error.

    Attributes:
        steps: the steps of the derivation.
        differences: the difference of each step.
        whole: the difference between the start and the result of the derivation.
        tolerance: the largest difference that is allowed.
        skipped: the number of combinations of values that were skipped, because a side is undefined there. They have
            the probability zero.
    """

    steps: tuple[Step, ...]
    differences: tuple[float, ...]
    whole: float
    tolerance: float
    skipped: int = 0

    @property
    def largest(self) -> float:
        """The largest of all differences."""
        return max((*self.differences, self.whole))

    @property
    def failed(self) -> list[Step]:
        """The steps whose difference is larger than the tolerance."""
        pairs = zip(self.steps, self.differences, strict=True)
        return [step for step, difference in pairs if not difference <= self.tolerance]

    @property
    def holds(self) -> bool:
        """Whether no difference is larger than the tolerance."""
        return self.largest <= self.tolerance

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.holds:
            skipped = f"; skipped {counted(self.skipped, 'value')} of probability zero" if self.skipped else ""
            return f"no error in {counted(len(self.steps), 'step')}; largest difference {self.largest:.1e}{skipped}"
        lines = [f"  {step.before} = {step.after}    ({step.reason})" for step in self.failed]
        return "\n".join([f"errors in {len(lines)} of {counted(len(self.steps), 'step')}:", *lines])

    __repr__ = __str__

    def worst(self, other: Check) -> Check:
        """A check with the larger differences of two checks of the same derivation."""
        pairs = zip(self.differences, other.differences, strict=True)
        differences, skipped = tuple(max(p) for p in pairs), max(self.skipped, other.skipped)
        return replace(self, differences=differences, whole=max(self.whole, other.whole), skipped=skipped)


@dataclass(frozen=True)
class Derivation:
    """An expression and the steps that transform it. Derivations are immutable: methods return new ones.

    Attributes:
        start: the expression before the first step.
        graph: the graph whose independences the steps can use.
        steps: the steps. Each replaces a part of the expression.

    >>> from corate.rate import P, CR, definition, partition, cit1
    >>> d = Derivation.begin("P(A, B, C)", "A-B B-C")
    >>> d = d.apply(definition).apply(partition, "CR(A; B; C)", "A").apply(cit1, "CR(A; BC)", "C")
    >>> print(d)
    P(A, B, C)
      = CR(A; B; C) P(A) P(B) P(C)         definition
      = CR(B; C) CR(A; BC) P(A) P(B) P(C)  partition: {A} | {B, C}
      = CR(B; C) CR(A; B) P(A) P(B) P(C)   first CIT: {A} and {C} are independent given {B}
    >>> d.check_random(seed=0).holds
    True
    """

    start: Expression
    graph: Graph
    steps: tuple[Step, ...] = ()

    @classmethod
    def begin(cls, start: str | Expression, graph: GraphLike) -> Derivation:
        """A derivation without steps, for an expression and a graph."""
        obeyed = Graph.of(graph)
        return cls(read(start, obeyed.nodes), obeyed)

    @cached_property
    def result(self) -> Expression:
        """The expression after the last step."""
        factors = _Factors(self.start)
        for step in self.steps:
            factors.apply(step)
        return factors.expression()

    def lines(self) -> Iterator[tuple[Expression, Step | None]]:
        """Pairs of an expression and a step: the start with None, then the whole expression after each step."""
        factors = _Factors(self.start)
        yield self.start, None
        for step in self.steps:
            factors.apply(step)
            yield factors.expression(), step

    def then(self, *steps: Step) -> Derivation:
        """Add steps; returns a new derivation.

        A step replaces a part as :func:`rewrite` does. But the reverse of the last step restores the expression before
        this step, and so on. Raises ExpressionError if the expression does not contain what a step replaces.

        >>> from corate.rate import definition
        >>> step = definition("CR(A; B)")
        >>> d = Derivation.begin("CR(A; B) P(A) P(B)", "A-B").then(step)
        >>> d.result, d.then(step.reversed()).result
        (P(A, B), CR(A; B) P(A) P(B))
        """
        longer = replace(self, steps=(*self.steps, *steps))
        _ = longer.result  # raises
        return longer

    def undo(self) -> Derivation:
        """The derivation without its last step. Raises ExpressionError if it has no step."""
        if not self.steps:
            raise ExpressionError("the derivation has no step to undo")
        return replace(self, steps=self.steps[:-1])

    def apply(
        self, theorem: Callable[..., Step], target: str | Expression | None = None, *args: Any, **options: Any
    ) -> Derivation:
        """Apply a theorem to a part of the result; returns a new derivation with one more step.

        Args:
            theorem: a function such as :func:`partition` or :func:`cit1`.
            target: the part of the result to replace, by default the whole result.
            *args: further arguments of the theorem.
            **options: keyword arguments of the theorem. If it has an argument ``graph``, the graph of the derivation is
                the default.

        Raises ExpressionError if the result does not contain the target, or if the theorem does not apply to it, and
        SeparationError if the graph does not have the independence that the theorem requires.
        """
        if "graph" in inspect.signature(theorem).parameters:
            options.setdefault("graph", self.graph)
        part = self.result if target is None else read(target, self.graph.nodes)
        return self.then(theorem(part, *args, **options))

    # -- checking ------------------------------------------------------------------------------------------------

    def check(self, distribution: Distribution, *, tolerance: float = TOLERANCE) -> Check:
        """Evaluate both sides of every step on a distribution, and compare them.

        For a table or counts, the sides are compared at all combinations of values. Those where a side is undefined
        are skipped, because it divides by the probability zero. For a Gaussian, the sides are compared at random
        points. ``tolerance`` is the largest difference of logarithms that is allowed, by default 1e-9.

        On a sample, independences never hold exactly; use :meth:`test` there. Raises UndefinedRateError if a step
        divides by zero where the probability is positive, as the form ``mrf`` may.

        >>> from corate.rate import Table, factorise
        >>> chain = factorise("A-B B-C").derivation
        >>> chain.check(Table([[[3, 1], [1, 2]], [[1, 2], [3, 1]]], ["A", "B", "C"]))
        errors in 1 of 3 steps:
          CR(AB; C) = CR(B; C)    (first CIT: {C} and {A} are independent given {B})
        """
        names = dict.fromkeys(name for step in self.steps for e in (step.before, step.after) for name in e.variables())
        evaluation = Evaluation(distribution, names | self.start.variables())
        compared = [evaluation.compare(step.before, step.after) for step in self.steps]
        whole, skipped = evaluation.compare(self.start, self.result)
        differences = tuple(difference for difference, _ in compared)
        return Check(self.steps, differences, whole, tolerance, max([skipped, *(n for _, n in compared)]))

    def test(self, counts: Counts) -> list[IndependenceTest]:
        """Test on counted data every independence that the steps use, each with a G-squared test.

        >>> from corate.rate import Counts, factorise
        >>> rows = {"A": [0, 0, 1, 1] * 50, "B": [0, 0, 1, 1] * 50, "C": [0, 1, 0, 1] * 50}
        >>> factorise("A-B B-C").derivation.test(Counts.of_frame(rows))
        [hypothesis: {C} and {A} are independent given {B}; G2 = 0.00, 0 degrees of freedom, p = 1]
        """
        used = dict.fromkeys(step.independence for step in self.steps if step.independence is not None)
        return [counts.test(*independence) for independence in used if independence.left and independence.right]

    def check_random(self, seed: int = 0, *, times: int = 3, tolerance: float = TOLERANCE) -> Check:
        """Check the derivation on ``times`` random distributions that satisfy the graph.

        The result has the largest differences of all these checks. The distributions are tables with random clique
        potentials, which are positive, or Gaussians if there are more than 14 variables.
        """
        found = None
        for k in range(times):
            now = self.check(self._random(seed * times + k), tolerance=tolerance)
            found = now if found is None else found.worst(now)
        if found is None:
            raise ExpressionError(f"times must be at least 1, not {times}")
        return found

    def _random(self, seed: int) -> Distribution:
        from corate.rate.models import random_gaussian, random_table

        if len(self.graph.nodes) > _MOST_TABLE_NODES:
            return random_gaussian(self.graph, seed)
        fixed: dict[str, dict[Any, None]] = {}
        for step in self.steps:
            for term in (*step.before.terms(), *step.after.terms()):
                if term.value is not None:
                    fixed.setdefault(term.name, {})[term.value] = None
        n = 2 + seed % 2
        states: Mapping[str, Any] = {
            name: list(values | dict.fromkeys(range(n)))[: max(n, len(values))] for name, values in fixed.items()
        }
        return random_table(self.graph, seed, states=states)

    # -- showing -------------------------------------------------------------------------------------------------

    def groups(self) -> list[Group]:
        """The named factors of the steps, such as the potentials of the form ``mrf``, in order of first occurrence."""
        found: dict[Group, None] = {}
        for step in self.steps:
            found |= dict.fromkeys(f for f in step.after.powers() if isinstance(f, Group))
        return list(found)

    def __str__(self) -> str:
        rows = [(line, "" if step is None else step.reason) for line, step in self._text_lines()]
        width = min(max((len(line) for line, _ in rows[1:]), default=0), 88)
        lines = [rows[0][0], *(f"  = {line:<{width}}  {reason}" for line, reason in rows[1:])]
        if groups := self.groups():
            lines += ["where", *(f"  {text(g, short=True)} = {g.body}" for g in groups)]
        return "\n".join(lines)

    def _text_lines(self) -> Iterator[tuple[str, Step | None]]:
        """As `lines`, with the text of each expression. Only the factors that a step changes are written again."""
        factors = _Factors(self.start)
        running = RunningText(factors.powers, factors.places)
        yield running.text() or text(self.start, short=True), None
        for step in self.steps:
            factors.changed.clear()
            factors.apply(step)
            running.update(factors.changed)
            yield running.text() or text(factors.expression(), short=True), step

    __repr__ = __str__

    def latex(self) -> str:
        """The derivation as a LaTeX ``align*`` environment."""
        from corate.rate.pages import derivation_latex

        return derivation_latex(self)

    def html(self, notes: Sequence[str] = ()) -> str:
        """The derivation as a web page with MathML. The page shows the ``notes`` below the derivation."""
        from corate.rate.pages import derivation_html

        return derivation_html(self, notes)

    def _repr_html_(self) -> str:
        from corate.rate.pages import derivation_table

        return derivation_table(self)


def rewrite(whole: Expression, before: Expression, after: Expression) -> Expression:
    """Replace the part ``before`` of the expression ``whole`` by ``after``, also within sums and potentials.

    Equal factors cancel, as P(A) does in the first example. If the expression contains the inverse of ``before``, which
    is in a denominator, the inverse of ``after`` replaces it. Some factors of ``before`` may be missing from the
    expression, because they have cancelled; the result is then divided by them. These are the probabilities, if
    ``before`` has a rate, and factors with fewer variables than others or in its denominator.
    Raises ExpressionError if another factor is missing.

    >>> from corate.rate import parse
    >>> rewrite(parse("P(C) sum_A [CR(A; B) P(A)]"), parse("CR(A; B)"), parse("P(A, B) / (P(A) P(B))"))
    P(C) sum_A [P(A, B) / P(B)]
    >>> rewrite(parse("P(A) / P(A, B)"), parse("P(A, B)"), parse("CR(A; B) P(A) P(B)"))
    1 / (CR(A; B) P(B))
    """
    factors = _Factors(whole)
    if not factors.replace(before, after):
        raise _missing(before, whole)
    return factors.expression()


def _missing(before: Expression, whole: Expression) -> ExpressionError:
    return ExpressionError(f"{whole} does not contain {before}")


#: A factor with its exponent (0 if it was missing) and its place before a step.
_Change: TypeAlias = "tuple[Expression, int, tuple[int, ...]]"


class _Factors:
    """A product that is being rewritten: new factors go where the first replaced factor was."""

    def __init__(self, whole: Expression) -> None:
        self.powers = dict(whole.powers())
        self.places: dict[Expression, tuple[int, ...]] = {factor: (i,) for i, factor in enumerate(self.powers)}
        self._changes: list[_Change] = []
        self._applied: list[tuple[Step, list[_Change]]] = []
        self.changed: dict[Expression, None] = {}  # since it was last cleared, as they were written last

    def expression(self) -> Expression:
        """The current product."""
        return of_powers({factor: self.powers[factor] for factor in sorted(self.powers, key=self.places.__getitem__)})

    def apply(self, step: Step) -> None:
        """Apply a step; the reverse of the last one restores what that changed. Raises ExpressionError."""
        if self._applied and (step.before, step.after) == (self._applied[-1][0].after, self._applied[-1][0].before):
            for factor, power, place in reversed(self._applied.pop()[1]):
                self._set(factor, power, place)
            return
        self._changes = []
        if not self.replace(step.before, step.after):
            raise _missing(step.before, self.expression())
        self._applied.append((step, self._changes))

    def replace(self, before: Expression, after: Expression) -> bool:
        """Replace ``before`` by ``after``, or else their inverses; returns False if ``before`` is missing."""
        wanted = before.powers()
        needed = {f: k for f, k in wanted.items() if not isinstance(f, Probability)} or dict(wanted)
        if any(self._replace(before, after, needed, sign) for sign in (1, -1)):
            return True
        leading = _leading(needed)
        return len(leading) < len(needed) and any(self._replace(before, after, leading, sign) for sign in (1, -1))

    def _replace(self, before: Expression, after: Expression, needed: Mapping[Expression, int], sign: int) -> bool:
        if not all(_holds(self.powers.get(factor, 0), sign * k) for factor, k in needed.items()):
            return self._replace_within(before, after, needed, sign)
        wanted = before.powers()
        place = min((self.places[factor] for factor in wanted if factor in self.places), default=(len(self.places),))
        for factor, k in wanted.items():
            self._multiply(factor, -sign * k, place)
        for i, (factor, k) in enumerate(after.powers().items()):
            self._multiply(factor, sign * k, (*place, i))
        return True

    def _multiply(self, factor: Expression, k: int, place: tuple[int, ...]) -> None:
        power, place = self.powers.get(factor, 0), self.places.get(factor, place)
        self._changes.append((factor, power, place))
        self._set(factor, power + k, place)

    def _set(self, factor: Expression, power: int, place: tuple[int, ...]) -> None:
        self.powers.pop(factor, None)  # so that the new factor is kept, which may be written in another order
        self.places.pop(factor, None)
        self.changed.pop(factor, None)
        self.changed[factor] = None
        if power:
            self.powers[factor], self.places[factor] = power, place

    def _replace_within(
        self, before: Expression, after: Expression, needed: Mapping[Expression, int], sign: int
    ) -> bool:
        for factor, k in list(self.powers.items()):
            if isinstance(factor, Sum | Group):
                inside = _Factors(factor.body)
                if inside._replace(before, after, needed, sign):
                    body, place = inside.expression(), self.places[factor]
                    self._multiply(factor, -k, place)
                    whole = factor.over if isinstance(factor, Sum) else factor.symbol
                    new = Sum(whole, body) if isinstance(factor, Sum) else Group(whole, factor.scope, body)
                    self._multiply(new, k, place)
                    return True
        return False


def _leading(factors: Mapping[Expression, int]) -> dict[Expression, int]:
    """The factors of the numerator, or else of the denominator, that have the most variables."""
    above = {factor: k for factor, k in factors.items() if k > 0} or factors
    most = max((len(factor.variables()) for factor in above), default=0)
    return {factor: k for factor, k in above.items() if len(factor.variables()) == most}


def _holds(have: int, want: int) -> bool:
    return abs(have) >= abs(want) and (have > 0) == (want > 0)
