"""Every theorem holds on random distributions, conditional or not, and is refused where its precondition fails."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corate import rate
from corate.rate import (
    CR,
    ONE,
    ExpressionError,
    Graph,
    P,
    Sem,
    SeparationError,
    Seq,
    Step,
    Sum,
    Table,
    cit1,
    cit2,
    cit3,
    conditioning,
    definition,
    duplicate,
    independent_merge,
    marginal,
    merge,
    order,
    partition,
    random_table,
    singleton,
    unconnected,
)
from corate.rate.terms import Block
from reference.rates import Joint

NAMES = ("A", "B", "C", "D", "E", "F")
TOLERANCE = 1e-9
few = settings(max_examples=100, deadline=None)


@dataclass(frozen=True)
class Case:
    """A random table, its variables cut into blocks, and what is given."""

    table: Table
    blocks: list[Block]
    given: Block


@st.composite
def cases(draw: st.DrawFn, blocks: int = 1) -> Case:
    """Two to six variables of two to four states; some are taken together, some given, some left out."""
    n = draw(st.integers(max(2, blocks), 6))
    names = NAMES[:n]
    shape = [draw(st.integers(2, 4)) for _ in names]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cut = draw(st.integers(blocks, n))
    n_given = draw(st.integers(0, n - cut))
    homes = [*range(blocks), *(draw(st.integers(0, n)) for _ in range(cut - blocks))]
    parts: dict[int, list[str]] = {}
    for name, home in zip(names, homes, strict=False):
        parts.setdefault(home, []).append(name)
    table = Table(rng.gamma(0.5, size=shape) + 1e-3, names)
    return Case(table, [Seq(*part) for part in parts.values()], Seq(*names[n - n_given :]))


def assert_holds(step: Step, table: Table) -> None:
    assert step.theorem
    assert table.difference(step.before, step.after) <= TOLERANCE


def left_out(case: Case) -> list[str]:
    used = {t.name for b in case.blocks for t in b} | {t.name for t in case.given}
    return [name for name in case.table.variables if name not in used]


# -- theorems that need no independence -----------------------------------------------------------------------------


@few
@given(cases())
def test_definitions(case: Case) -> None:
    cr = CR(*case.blocks, given=case.given)
    assert_holds(definition(cr), case.table)
    joint = P(*[t for b in case.blocks for t in b], given=case.given)
    step = definition(joint)
    assert_holds(step, case.table)
    if len({t for b in case.blocks for t in b}) > 1:
        assert step.after != step.before


@few
@given(cases())
def test_conditioning(case: Case) -> None:
    others = left_out(case)
    assume(others)
    step = conditioning(CR(*case.blocks, given=case.given), others[0])
    assert isinstance(step.after, Sum)
    assert_holds(step, case.table)


@few
@given(cases())
def test_marginal(case: Case) -> None:
    others = left_out(case)
    assume(others)
    x = others[0]
    left = CR(*case.blocks, given=case.given)
    step = marginal(Sum(x, CR(*case.blocks, x, given=case.given) * P(x, given=case.given)))
    assert step.after == left
    assert_holds(step, case.table)
    alone = marginal(Sum(x, CR(x, given=case.given) * P(x, given=case.given)))
    assert alone.after == CR(given=case.given)
    assert_holds(alone, case.table)
    assert_holds(singleton(alone.after), case.table)


@few
@given(cases())
def test_conditioning_on_a_joint_variable_and_summing_it_out(case: Case) -> None:
    others = left_out(case)
    assume(len(others) > 1)
    cr = CR(*case.blocks, given=case.given)
    step = conditioning(cr, others[:2])
    assert_holds(step, case.table)
    y, z = others[:2]
    joint = CR(*case.blocks, Seq(y, z), given=case.given) * P(y, z, given=case.given)
    for whole in (Sum(y, Sum(z, joint)), Sum(z, Sum(y, joint))):
        assert marginal(whole).after == cr
        assert_holds(marginal(whole), case.table)


def test_a_text_with_several_variables_is_a_joint_variable() -> None:
    assert conditioning("CR(A; B)", "YZ").after == conditioning("CR(A; B)", ["Y", "Z"]).after
    assert conditioning("CR(A; B)", "YZ").after.variables().keys() == {"A", "B", "Y", "Z"}
    assert marginal("sum_{C,D} [CR(A; CD) P(C, D)]").after == CR("A")
    with pytest.raises(ExpressionError, match="choose a variable that is not in it"):
        conditioning("CR(A; B)", "YA")
    with pytest.raises(ExpressionError, match="not of the form"):
        marginal("sum_{C,D} [CR(A; C; D) P(C) P(D)]")


def test_a_conditional_probability_is_a_quotient() -> None:
    assert definition("P(A | B)").after == P("A, B") / P("B")
    assert definition("P(A=1 | BC)").after == P("A=1, B, C") / P("B, C")
    assert_holds(definition("P(A | BC)"), random_table("A-B-C", 0))


def test_the_rate_of_nothing_is_one() -> None:
    assert marginal("sum_X [CR(X) P(X)]").after == CR()
    assert singleton(CR()).after == ONE
    assert Table([1, 3], ["X"]).value(CR()) == 1.0


@few
@given(cases(), st.randoms(use_true_random=False))
def test_order_independence(case: Case, rng: object) -> None:
    cr = CR(*case.blocks, given=case.given)
    other = rng.sample(cr.blocks, len(cr.blocks))  # type: ignore[attr-defined]
    step = order(cr, other)
    assert step.after == cr
    assert list(step.after.blocks) == other  # type: ignore[attr-defined]
    assert_holds(step, case.table)


@few
@given(cases(blocks=2), st.data())
def test_partition(case: Case, data: st.DataObject) -> None:
    cr = CR(*case.blocks, given=case.given)
    left = data.draw(st.lists(st.sampled_from(cr.blocks), min_size=1, max_size=len(cr.blocks) - 1, unique=True))
    step = partition(cr, left)
    assert_holds(step, case.table)
    right = [b for b in cr.blocks if b not in left]
    cut = CR(Block(t for b in left for t in b), Block(t for b in right for t in b), given=case.given)
    parts = [CR(*side, given=case.given) for side in (left, right) if len(side) > 1]
    assert step.after == rate.product(cut, *parts)


@few
@given(cases(blocks=2))
def test_merge(case: Case) -> None:
    cr = CR(*case.blocks, given=case.given)
    a, b, *rest = cr.blocks
    step = merge(cr, a, b)
    assert_holds(step, case.table)
    whole = [CR(Block([*a, *b]), *rest, given=case.given)] if rest else []
    assert step.after == rate.product(CR(a, b, given=case.given), *whole)


@few
@given(cases(), st.data())
def test_duplicate(case: Case, data: st.DataObject) -> None:
    cr = CR(*case.blocks, given=case.given)
    twice = data.draw(st.lists(st.sampled_from(cr.blocks), min_size=1, unique=True))
    step = duplicate(cr, *twice)
    assert_holds(step, case.table)
    assert step.after != step.before
    if len(twice) == 1:
        assert step.after == CR(*cr.blocks, twice[0], given=case.given) * P(*twice[0], given=case.given)


def test_a_step_holds_by_plain_sums_too() -> None:
    """The evaluation of both sides, once more, without the library's."""
    table = np.random.default_rng(3).gamma(0.5, size=(2, 3, 2, 2))
    joint = Joint(table, "ABCD")
    steps = [
        conditioning("CR(A; B | D)", "C"),
        marginal("sum_C [CR(AB; C | D) P(C | D)]"),
        partition("CR(A; B; C | D)", "A"),
        merge("CR(A; B; C | D)", "A", "B"),
        duplicate("CR(A; B; C | D)", "B"),
    ]
    for step in steps:
        for cell in joint.cells("ABCD"):
            assert joint.value(step.before, cell) == pytest.approx(joint.value(step.after, cell), rel=1e-9)


# -- theorems that need an independence -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Separated:
    """X and Y separated by Z and what is given, in a graph, and a table that obeys it."""

    graph: Graph
    table: Table
    x: Block
    y: Block
    z: Block
    given: Block


@st.composite
def separated(draw: st.DrawFn, z: int = 1) -> Separated:
    """Each of X, Y has one or two variables, Z at least ``z``; what is given may be nothing."""
    n = draw(st.integers(2 + z, 6))
    homes = ["x", "y", *"z" * z, *(draw(st.sampled_from("xyzg")) for _ in range(n - 2 - z))]
    names = dict(zip(NAMES, homes, strict=False))
    allowed = [(a, b) for a, b in combinations(names, 2) if {names[a], names[b]} != {"x", "y"}]
    edges = [edge for edge in allowed if draw(st.integers(0, 3))]
    graph = Graph(tuple(names), tuple(edges))
    states = {name: range(draw(st.integers(2, 4))) for name in names}
    table = random_table(graph, draw(st.integers(0, 2**32)), states=states)
    part = {home: Seq(*(name for name in names if names[name] == home)) for home in "xyzg"}
    return Separated(graph, table, part["x"], part["y"], part["z"], part["g"])


@few
@given(separated(z=0))
def test_independent_merge(s: Separated) -> None:
    given = [*s.z, *s.given]
    step = independent_merge(CR(s.x, s.y, given=given), s.x, s.y, graph=s.graph)
    assert step.after == ONE
    assert_holds(step, s.table)


def test_independent_merge_beside_others() -> None:
    graph = Graph.of("A-C B-D C-E")
    step = independent_merge("CR(A; B; C)", "A", "B", graph=graph)
    assert step.after == CR("AB; C")
    assert_holds(step, random_table(graph, 1))
    step = independent_merge("CR(A; B; C | D)", "A", "B", graph="A-C C-B A-D B-D".replace("C-B", "C-D"))
    assert step.after == CR("AB; C | D")


@few
@given(separated())
def test_first_cit(s: Separated) -> None:
    step = cit1(CR(s.x, Block([*s.y, *s.z]), given=s.given), s.y, graph=s.graph)
    assert step.after == CR(s.x, s.z, given=s.given)
    assert_holds(step, s.table)
    other_side = cit1(CR(Block([*s.z, *s.y]), s.x, given=s.given), s.y, graph=s.graph)
    assert other_side.after == step.after


@few
@given(separated())
def test_second_cit(s: Separated) -> None:
    step = cit2(CR(Block([*s.x, *s.y]), s.z, given=s.given), s.x, graph=s.graph)
    pairs = [CR(a, b, given=s.given) for a, b in ((s.x, s.z), (s.y, s.z), (s.x, s.y))]
    assert step.after == pairs[0] * pairs[1] / pairs[2]
    assert_holds(step, s.table)


@few
@given(separated())
def test_third_cit(s: Separated) -> None:
    step = cit3(CR(Block([*s.x, *s.z]), Block([*s.y, *s.z]), given=s.given), graph=s.graph)
    assert step.after == ONE / P(*s.z, given=s.given)
    assert_holds(step, s.table)
    assert s.table.difference(CR(s.z, s.z, given=s.given), step.after) <= TOLERANCE


@few
@given(separated())
def test_a_path_round_the_separator_is_named(s: Separated) -> None:
    """One more edge between X and Y, and no theorem that needs the separation can be applied."""
    x, y = s.x[-1].name, s.y[0].name
    joined = Graph(s.graph.nodes, (*s.graph.edges, (x, y)))
    given = s.given
    refused = [
        lambda: cit1(CR(s.x, Block([*s.y, *s.z]), given=given), s.y, graph=joined),
        lambda: cit2(CR(Block([*s.x, *s.y]), s.z, given=given), s.x, graph=joined),
        lambda: cit3(CR(Block([*s.x, *s.z]), Block([*s.y, *s.z]), given=given), graph=joined),
        lambda: independent_merge(CR(s.x, s.y, given=[*s.z, *given]), s.x, s.y, graph=joined),
    ]
    for apply in refused:
        with pytest.raises(SeparationError) as error:
            apply()
        path = error.value.path
        assert {path[0], path[-1]} & {t.name for t in s.x}
        assert {path[0], path[-1]} & {t.name for t in s.y}
        assert not set(path) & {t.name for t in (*s.z, *given)}
        assert all(b in joined.neighbours[a] for a, b in pairwise(path))
        assert " - ".join(path) in str(error.value)


@st.composite
def unconnected_cases(draw: st.DrawFn) -> tuple[Graph, Table, list[str], dict[str, int], Block]:
    """A graph in which A and B are not connected; W, S and the condition contain the neighbours of both."""
    n = draw(st.integers(2, 6))
    names = NAMES[:n]
    edges = [edge for edge in combinations(names, 2) if edge != ("A", "B") and draw(st.booleans())]
    graph = Graph(names, tuple(edges))
    table = random_table(graph, draw(st.integers(0, 2**32)), states={m: range(draw(st.integers(2, 4))) for m in names})
    homes = {name: draw(st.sampled_from("wsg")) for name in names[2:]}
    away = [name for name in names[2:] if name not in graph.blanket("AB") and draw(st.booleans())]
    free = [name for name, home in homes.items() if home == "w" and name not in away]
    fixed = {name: draw(st.integers(0, 1)) for name, home in homes.items() if home == "s" and name not in away}
    given = Seq(*(name for name, home in homes.items() if home == "g" and name not in away))
    return graph, table, free, fixed, given


@few
@given(unconnected_cases(), st.integers(0, 1), st.integers(0, 1))
def test_unconnected_nodes(case: tuple[Graph, Table, list[str], dict[str, int], Block], a: int, b: int) -> None:
    graph, table, free, fixed, given = case
    held = [rate.Term(name, value) for name, value in fixed.items()]

    def cr(*pair: rate.Term) -> rate.Expression:
        return CR(*Sem(*free), *Sem(*pair), *Sem(*held), given=given)

    first, second = rate.Term("A"), rate.Term("B")
    first_fixed, second_fixed = rate.Term("A", a), rate.Term("B", b)
    step = unconnected(cr(first_fixed, second_fixed) * cr(first, second), "A", "B", graph=graph)
    assert step.after == cr(first_fixed, second) * cr(first, second_fixed)
    assert_holds(step, table)


def test_unconnected_nodes_must_be_unconnected_and_their_neighbours_there() -> None:
    both = "CR(A=0; B; C=0) CR(A; B; C)"
    with pytest.raises(SeparationError, match="A - C") as error:
        unconnected(both, "A", "C", graph="A-B B-C C-A")
    assert error.value.path == ("A", "C")
    with pytest.raises(SeparationError, match=r"Markov blanket.*D is not: C - D"):
        unconnected(both, "A", "C", graph="A-B B-C C-D")
    assert unconnected("CR(A=0; B; C=0 | D) CR(A; B; C | D)", "A", "C", graph="A-B B-C C-D").theorem
    for wrong in ("CR(A; B; C)", "CR(A=0; B; C=0)", "CR(A=0; B; C=0) CR(A; B; D)", "CR(A=0; B; C=0)^2"):
        with pytest.raises(ExpressionError):
            unconnected(wrong, "A", "C", graph="A-B B-C D")


# -- preconditions ----------------------------------------------------------------------------------------------------


def test_a_theorem_refuses_what_it_is_not_about() -> None:
    graph = "A-B B-C"
    refused = [
        (lambda: conditioning("CR(A; B)", "B"), "choose a variable that is not in it"),
        (lambda: conditioning("P(A)", "B"), "not a rate"),
        (lambda: marginal("sum_C [CR(A; C) P(A)]"), "not of the form"),
        (lambda: marginal("sum_C [CR(A; C; C) P(C)]"), "not of the form"),
        (lambda: marginal("sum_C [CR(A; C | B) P(C)]"), "not of the form"),
        (lambda: marginal("CR(A; B)"), "not a sum"),
        (lambda: order("CR(A; B)", "AC"), "not have the same variables"),
        (lambda: partition("CR(A; B)", "C"), "not one of the variables"),
        (lambda: partition("CR(A; B)", "AB"), "each side"),
        (lambda: partition("CR(A; BC)", "B"), "not one of the variables"),
        (lambda: merge("CR(A; B)", "A", "C"), "not one of the variables"),
        (lambda: merge("CR(A; B)", "A", "A"), "not one of the variables"),
        (lambda: duplicate("CR(A; B)", "C"), "not one of the variables"),
        (lambda: duplicate("CR(A; B)"), "name at least one variable"),
        (lambda: singleton("CR(A; B)"), "not 1 by definition"),
        (lambda: cit1("CR(A; B; C)", "C", graph=graph), "needs two"),
        (lambda: cit1("CR(A; BC)", "D", graph=graph), "cannot be dropped"),
        (lambda: cit2("CR(AC; B)", "AC", graph=graph), "not all"),
        (lambda: cit1("CR(A; BD)", "D", graph=graph), "no node 'D'"),
        (lambda: definition("sum_A [P(A)]"), "not a probability or a rate"),
    ]
    for apply, in_words in refused:
        with pytest.raises(ExpressionError, match=in_words):
            apply()


def test_separation_counts_what_is_given() -> None:
    loop = "A-B B-C C-D D-A"
    with pytest.raises(SeparationError) as error:
        cit1("CR(A; BC)", "C", graph=loop)
    assert error.value.path == ("A", "D", "C")
    assert cit1("CR(A; BC | D)", "C", graph=loop).after == CR("A; B | D")
