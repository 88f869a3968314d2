"""Theorems applied at random, to random expressions on random graphs: no step that is given out may be wrong.

Each application is refused, or its two sides are compared by enumeration on a random distribution that obeys the graph.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest

from corate.rate import (
    CR,
    ONE,
    Derivation,
    Expression,
    ExpressionError,
    Graph,
    P,
    SeparationError,
    Step,
    Sum,
    Table,
    UndefinedRateError,
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
    parse,
    partition,
    random_table,
    singleton,
    unconnected,
)
from corate.rate.expressions import Probability, Rate, product
from corate.rate.terms import Block, Term
from reference.rates import Joint
from small_graphs import KINDS, random_graph

APPLICATIONS = 10_000
NODES = [
    ["A", "B", "C"],
    ["X1", "X2", "rain"],
    ["A'", "next_label", "B2"],
    ["AB", "next label", "0"],
    ["sum_x", "P", "CR"],
    ["a-b", "x, y; z | (w) [v]", "été"],
]
VALUES = (0, 1, -3, 0.5, "0", "yes", "", "a b", 'say "x"', "back\\slash", "(", "a|b;c", "{x}", "nan", "1e5", "=", "é")
TABLES = 40


def terms(rng: random.Random, nodes: list[str], n: int) -> list[Term]:
    """Some variables, a few of them fixed."""
    fixed = rng.choice((0.0, 0.0, 0.3, 0.8))
    return [Term(name, rng.randrange(2) if rng.random() < fixed else None) for name in rng.sample(nodes, n)]


def rate(rng: random.Random, nodes: list[str]) -> Rate:
    """Blocks of one or several variables, which may share some, with a condition or without."""
    chosen = terms(rng, nodes, rng.randint(1, len(nodes)))
    n_given = rng.choice((0, 0, 1, 2)) if len(chosen) > 2 else 0
    left, given = chosen[n_given:], chosen[:n_given]
    blocks: list[Block] = []
    while left:
        k = rng.choice((1, 1, 1, 2, 3))
        blocks.append(Block(left[:k]))
        left = left[k:]
    if rng.random() < 0.3:
        blocks.append(Block(rng.sample([t for b in blocks for t in b], 1)))
    if rng.random() < 0.3 and len(blocks) > 1:
        shared = rng.choice(rng.choice(blocks))
        blocks[-1] = Block([*blocks[-1], shared])
    return Rate(blocks, Block(given))


def expression(rng: random.Random, nodes: list[str], depth: int = 2) -> Expression:
    """Rates, probabilities, products, powers and sums."""
    kind = rng.random()
    if depth == 0 or kind < 0.45:
        return rate(rng, nodes)
    if kind < 0.6:
        chosen = terms(rng, nodes, rng.randint(1, len(nodes)))
        cut = rng.randint(1, len(chosen))
        return Probability(Block(chosen[:cut]), Block(chosen[cut:]))
    if kind < 0.75:
        return Sum(rng.choice(nodes), expression(rng, nodes, depth - 1))
    parts = [(expression(rng, nodes, depth - 1), rng.choice((1, 1, 2, -1))) for _ in range(rng.randint(1, 3))]
    return product(*parts)


def summed(rng: random.Random, nodes: list[str]) -> Expression:
    """Of the form that the marginal rate theorem is about, or nearly."""
    one = rate(rng, nodes)
    over = rng.choice([t.name for t in one.terms()])
    body = product(one, P(over, given=list(one.given)) if over not in {t.name for t in one.given} else ONE)
    return Sum(over, body if rng.random() < 0.8 else product(body, expression(rng, nodes, 1)))


def fixed_and_free(rng: random.Random, nodes: list[str], first: str, second: str) -> Expression:
    """Of the form that the theorem on unconnected nodes is about, or nearly."""
    one = rate(rng, nodes) if rng.random() < 0.4 else CR(*rng.sample(nodes, len(nodes)))
    both = {first: rng.randrange(2), second: rng.randrange(2)}
    free = Rate((Block(Term(t.name) if t.name in both else t for t in b) for b in one.blocks), one.given)
    return product(free.fixed(both), free) if rng.random() < 0.9 else product(free.fixed(both), one)


def parts(rng: random.Random, whole: Expression) -> list[Block]:
    """Some of the blocks of a rate, or of the variables in it."""
    if not isinstance(whole, Rate) or not whole.blocks or rng.random() < 0.2:
        return [Block([t]) for t in rng.sample(sorted(set(whole.terms()), key=str), 1)] if list(whole.terms()) else []
    return rng.sample(list(whole.blocks), rng.randint(1, len(whole.blocks)))


def part(rng: random.Random, whole: Expression) -> Block:
    """Some variables of one block."""
    blocks = [b for b in whole.blocks if b] if isinstance(whole, Rate) else []
    if not blocks:
        return Block([])
    inside = list(rng.choice(blocks))
    return Block(rng.sample(inside, rng.randint(1, len(inside))))


def applications(rng: random.Random, graph: Graph) -> tuple[str, Callable[[], Step]]:
    """A theorem and random arguments for it."""
    nodes = list(graph.nodes)
    a, b = rng.sample(nodes, 2)
    whole = expression(rng, nodes) if rng.random() < 0.1 else rate(rng, nodes)
    chosen = parts(rng, whole)
    two = (chosen * 2)[:2] if len(chosen) < 2 else chosen[:2]
    every: list[tuple[str, Callable[[], Step]]] = [
        ("definition", lambda: definition(expression(rng, nodes, 1))),
        ("singleton", lambda: singleton(whole)),
        ("conditioning", lambda: conditioning(whole, rng.choice(nodes))),
        ("marginal", lambda: marginal(summed(rng, nodes))),
        ("order", lambda: order(whole, rng.sample(chosen, len(chosen)))),
        ("partition", lambda: partition(whole, chosen)),
        ("merge", lambda: merge(whole, *two)),
        ("independent merge", lambda: independent_merge(whole, *two, graph=graph)),
        ("duplicate", lambda: duplicate(whole, *chosen)),
        ("first CIT", lambda: cit1(whole, part(rng, whole), graph=graph)),
        ("second CIT", lambda: cit2(whole, part(rng, whole), graph=graph)),
        ("third CIT", lambda: cit3(whole, graph=graph)),
        ("unconnected", lambda: unconnected(fixed_and_free(rng, nodes, a, b), a, b, graph=graph)),
    ]
    return rng.choice(every)


def enumerated(graph: Graph, seed: int) -> Joint:
    """A random distribution that obeys a graph."""
    table = random_table(graph, seed, states=2)
    names, logs = table.log_table(P(*graph.nodes))
    return Joint(np.exp(logs), names)


def difference(joint: Joint, step: Step, rng: random.Random) -> float:
    """The largest difference of the logarithms of both sides, at some values of all variables."""
    cells = joint.cells(joint.names)
    some = rng.sample(cells, min(len(cells), 6))
    return max(abs(math.log(joint.value(step.before, at)) - math.log(joint.value(step.after, at))) for at in some)


@pytest.mark.parametrize("seed", range(8))
def test_no_application_of_a_theorem_is_unsound(seed: int) -> None:
    rng = random.Random(seed)
    given_out: Counter[str] = Counter()
    for k in range(APPLICATIONS // 8):
        if k % TABLES == 0:
            graph = Graph.of(random_graph(rng.choice(KINDS), rng.randint(2, 4), rng.randrange(10**6)))
            joint = enumerated(graph, rng.randrange(10**6))
        name, apply = applications(rng, graph)
        try:
            step = apply()
        except (ExpressionError, SeparationError):
            continue
        given_out[name] += 1
        assert difference(joint, step, rng) < 1e-9, f"{' '.join('-'.join(e) for e in graph.edges)}: {step}"
    assert len(given_out) >= 12, "hardly a theorem was always refused"


def random_derivation(rng: random.Random, graph: Graph) -> Derivation:
    """Theorems at random parts of a random product, which has divisors. Some cancel what the first theorem adds."""
    nodes = list(graph.nodes)
    parts = [(rate(rng, nodes), rng.choice((1, 1, 2, -1))) for _ in range(rng.randint(1, 3))]
    first = definition(rate(rng, nodes))
    for _ in range(4):
        with suppress(ExpressionError, SeparationError):
            first = applications(rng, graph)[1]()
    cancelling = [(factor, -k) for factor, k in first.after.powers().items() if rng.random() < 0.4]
    derivation = Derivation.begin(product(first.before, *parts, *cancelling), graph)
    for step in [first] * (rng.random() < 0.8):
        with suppress(ExpressionError):
            derivation = derivation.then(step)
    for _ in range(8):
        factors = [f for f in parts_within(derivation.result) if isinstance(f, Rate | Probability)]
        with suppress(ExpressionError, SeparationError, IndexError):
            derivation = derivation.then(of_part(rng, graph, rng.choice(factors)))
    return derivation


def parts_within(whole: Expression) -> list[Expression]:
    """The factors of a product, and of the sums in it."""
    inside = [f for factor in whole.powers() if isinstance(factor, Sum) for f in parts_within(factor.body)]
    return [*whole.powers(), *inside]


def of_part(rng: random.Random, graph: Graph, whole: Expression) -> Step:
    """A theorem that is about a given rate or probability."""
    chosen = parts(rng, whole)
    every: list[Callable[[], Step]] = [
        lambda: definition(whole),
        lambda: conditioning(whole, [rng.choice(graph.nodes)]),
        lambda: order(whole, rng.sample(chosen, len(chosen))),
        lambda: partition(whole, chosen),
        lambda: merge(whole, chosen[0], chosen[-1]),
        lambda: duplicate(whole, *chosen),
        lambda: cit1(whole, part(rng, whole), graph=graph),
        lambda: cit2(whole, part(rng, whole), graph=graph),
        lambda: cit3(whole, graph=graph),
    ]
    return rng.choice(every)()


@pytest.mark.parametrize("part", range(8))
def test_a_step_and_its_reverse_give_back_the_expression(part: int) -> None:
    """And all steps with their reverses give back the start."""
    taken = 0
    for seed in range(part, APPLICATIONS, 8):
        rng = random.Random(seed)
        graph = Graph.of(random_graph(rng.choice(KINDS), rng.randint(2, 4), rng.randrange(10**6)))
        derivation = random_derivation(rng, graph)
        lines = [expression for expression, _ in derivation.lines()]
        back = derivation.then(*(step.reversed() for step in reversed(derivation.steps)))
        assert [expression for expression, _ in back.lines()] == [*lines, *lines[-2::-1]], seed
        taken += len(derivation.steps)
        if seed % 16 == part:
            shown = [line.removeprefix("  = ") for line in str(back).split("\n")]
            for line, (expression, _) in zip(shown, back.lines(), strict=True):
                assert line.startswith(str(expression))
    assert taken > 2 * APPLICATIONS / 8, "hardly a step was always refused"


def test_a_reversed_step_that_was_not_the_last_gives_an_equal_expression() -> None:
    """It is rewritten as any other step. It is refused only if the factors it is about have cancelled."""
    found: Counter[str] = Counter()
    for seed in range(APPLICATIONS // 20):
        rng = random.Random(seed)
        graph = Graph.of(random_graph(rng.choice(KINDS), rng.randint(2, 4), rng.randrange(10**6)))
        derivation = random_derivation(rng, graph)
        for (before, _), (after, step) in pairwise(derivation.lines()):
            assert step is not None
            try:
                alone = Derivation.begin(after, graph).then(step.reversed())
            except ExpressionError:
                found["refused"] += 1
                continue
            found["restored" if alone.result == before else "equal"] += 1
            if alone.result != before:
                assert alone.check_random(seed, times=1).holds, (seed, step)
    assert found["restored"] > 8 * found["refused"] > 0, found
    assert found["equal"] > 0


@pytest.mark.parametrize("seed", range(4))
def test_steps_hold_on_tables_with_zeros(seed: int) -> None:
    """Where both sides are defined, they are equal, although sums leave out values of probability zero."""
    rng = random.Random(seed)
    compared = skipped = 0
    for k in range(APPLICATIONS // 40):
        if k % TABLES == 0:
            graph = Graph.of(random_graph(rng.choice(KINDS), rng.randint(2, 4), rng.randrange(10**6)))
            sparse = with_zeros(random_table(graph, rng.randrange(10**6), states=2), graph, rng)
        try:
            step = applications(rng, graph)[1]()
        except (ExpressionError, SeparationError):
            continue
        try:
            check = Derivation.begin(step.before, graph).then(step).check(sparse)
        except UndefinedRateError:
            continue  # a variable is fixed to a value that has the probability zero
        assert check.holds, f"{' '.join('-'.join(e) for e in graph.edges)}: {step}"
        compared, skipped = compared + 1, skipped + (check.skipped > 0)
    assert compared > skipped > 0


def with_zeros(table: Table, graph: Graph, rng: random.Random) -> Table:
    """A distribution of the same graph: some cells of some of its edges become impossible."""
    names, logs = table.log_table(P(*graph.nodes))
    weights = np.exp(logs)
    for a, b in graph.edges:
        if rng.random() < 0.6:
            cell = {a: rng.randrange(2), b: rng.randrange(2)}
            index = tuple(cell.get(name, slice(None)) for name in names)
            if weights.sum() - weights[index].sum() > 1e-6:
                weights[index] = 0.0
    return Table(weights, names)


def test_what_is_printed_reads_back() -> None:
    rng = random.Random(1)
    for _ in range(APPLICATIONS):
        made = expression(rng, rng.choice(NODES))
        values = {name: rng.choice(VALUES) for name in made.free() if rng.random() < 0.3}
        made = made.fixed(values)
        assert parse(str(made)) == made, str(made)
        terms_read = sorted(map(repr, parse(str(made)).terms()))
        assert terms_read == sorted(map(repr, made.terms())), "values keep their type, too"


def test_a_graph_that_is_printed_reads_back() -> None:
    for nodes in NODES:
        graph = Graph.of([(nodes[0], nodes[1]), (nodes[1], nodes[2])])
        assert Graph.of(repr(graph).removeprefix('Graph("').removesuffix('")')) == graph
