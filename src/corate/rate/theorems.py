"""The paper's theorems as operations: each takes an expression and returns the step to the new one.

Operations also apply to conditional rates and probabilities; the condition is kept. Operations that need an
independence check it in a graph and raise SeparationError, which names the path that breaks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeVar

from corate.display import counted
from corate.rate.derivation import Step
from corate.rate.errors import ExpressionError, SeparationError
from corate.rate.evaluation import read
from corate.rate.expressions import ONE, Expression, Probability, Rate, Sum, probability, product, rate_or_one
from corate.rate.graphs import Graph, GraphLike, braced, require_separation
from corate.rate.independence import Independence
from corate.rate.terms import Block, BlockLike, Term, Value, block

__all__ = [
    "cit1",
    "cit2",
    "cit3",
    "conditioning",
    "definition",
    "duplicate",
    "independent_merge",
    "marginal",
    "merge",
    "order",
    "partition",
    "singleton",
    "unconnected",
]

Kind = TypeVar("Kind", bound=Expression)


def definition(expression: str | Expression) -> Step:
    """Definitions 1 to 3: write a rate as a quotient of probabilities, or a joint probability with a rate.

    The conditional probability of a single variable is written as a quotient of joint probabilities.

    >>> print(definition("P(A, B | C)"))
    P(A, B | C)
      = CR(A; B | C) P(A | C) P(B | C)    (definition)
    >>> print(definition("CR(A; BC)"))
    CR(A; BC)
      = P(A, B, C) / (P(A) P(B, C))    (definition)
    >>> print(definition("P(A | B)"))
    P(A | B)
      = P(A, B) / P(B)    (definition)
    """
    whole = read(expression)
    if isinstance(whole, Probability):
        blocks = [Block([t]) for t in whole.block]
        singles = [probability(b, whole.given) for b in blocks]
        if len(blocks) < 2:
            both = probability(Block((*whole.block, *whole.given)))
            return Step("definition", whole, both / probability(whole.given))
        return Step("definition", whole, product(Rate(blocks, whole.given), *singles))
    rate = _kind(whole, Rate, "a probability or a rate")
    joint = Block(t for b in rate.blocks for t in b)
    below = [(probability(b, rate.given), -1) for b in rate.blocks]
    return Step("definition", rate, product(probability(joint, rate.given), *below))


def singleton(expression: str | Expression) -> Step:
    """Definition 1: the rate of one variable, or of none, is 1.

    >>> print(singleton("CR(A | B)").after, singleton("CR()").after)
    1 1
    """
    rate = _rate(expression)
    if len(rate.blocks) > 1:
        raise ExpressionError(f"{rate} is not 1 by definition: it has {len(rate.blocks)} variables")
    return Step("definition", rate, ONE, "a rate of one variable, or of none, is 1")


def conditioning(expression: str | Expression, variable: BlockLike) -> Step:
    """Theorem 1: write a rate as a sum over the values of another variable, with rates that are conditioned on it.

    The variable may be a joint variable: ``"YZ"`` is Y and Z. If it also occurs outside of the sum, the one in the sum
    is printed with a prime.

    >>> from corate.rate import P
    >>> step = conditioning("CR(A; B)", "Y")
    >>> print(step.after)
    sum_Y [CR(A; B | Y) CR(A; Y) CR(B; Y) P(Y)]
    >>> print(step.after * P("Y"))
    P(Y) sum_Y' [CR(A; B | Y') CR(A; Y') CR(B; Y') P(Y')]
    >>> print(conditioning("CR(A; B)", "YZ").after)
    sum_Y [sum_Z [CR(A; B | Y, Z) CR(A; YZ) CR(B; YZ) P(Y, Z)]]
    """
    rate = _rate(expression)
    joint = _block(variable, rate)
    if not joint or any(t.value is not None or t.name in rate.variables() for t in joint):
        raise ExpressionError(
            f"{rate} cannot be conditioned on {joint or 'nothing'}: choose a variable that is not in it, and no value"
        )
    inside: Expression = product(
        rate_or_one(rate.blocks, Block([*joint, *rate.given])),
        *(Rate((b, joint), rate.given) for b in rate.blocks),
        Probability(joint, rate.given),
    )
    for t in reversed(joint):
        inside = Sum(t.name, inside)
    return Step("conditioning", rate, inside, f"on {joint}")


def marginal(expression: str | Expression) -> Step:
    """Theorem 2: sum a variable X out of a rate: sum_X [CR(...; X | Y) P(X | Y)] is the rate without X.

    X may be a joint variable, with a sum over each of its variables.

    >>> print(marginal("sum_C [CR(A; B; C) P(C)]").after, marginal("sum_A [CR(A) P(A)]").after)
    CR(A; B) CR()
    >>> print(marginal("sum_{C,D} [CR(A; B; CD) P(C, D)]").after)
    CR(A; B)
    """
    whole = _kind(read(expression), Sum, "a sum such as sum_C [CR(A; C) P(C)]")
    over, body = [whole.over], whole.body
    while isinstance(body, Sum):
        over.append(body.over)
        body = body.body
    joint = Block(map(Term, over))
    for factor in body.powers():
        own = [b for b in factor.blocks if b.key == joint.key] if isinstance(factor, Rate) else []
        if isinstance(factor, Rate) and own and len(joint) == len(over):
            rest = list(factor.blocks)
            rest.remove(own[0])
            left = Rate(rest, factor.given)
            if left.variables().keys() & set(over) or body != factor * Probability(joint, factor.given):
                break
            return Step("marginal CR", whole, left, f"over {joint}")
    raise ExpressionError(f"{whole} is not of the form sum_X [CR(...; X | Y) P(X | Y)]")


def order(expression: str | Expression, new: str | Iterable[BlockLike]) -> Step:
    """Theorem 3: write the variables of a rate in the order ``new``. Its value does not change.

    >>> print(order("CR(A; B; C)", "BCA"))
    CR(A; B; C)
      = CR(B; C; A)    (order independence)
    """
    rate = _rate(expression)
    after = Rate(_listed(new, rate), rate.given)
    if after != rate:
        raise ExpressionError(f"{after} does not have the same variables as {rate}")
    return Step("order independence", rate, after)


def partition(expression: str | Expression, left: str | Iterable[BlockLike]) -> Step:
    """Theorem 4: split the variables of a rate into two groups.

    The result is the product of the rate of the left group, the rate of the right group, and the rate of the two groups
    as joint variables. ``left`` has the left group: a list of blocks, or a string with single variables.

    >>> print(partition("CR(A; B; C; D | Y)", "AB").after)
    CR(A; B | Y) CR(C; D | Y) CR(AB; CD | Y)
    """
    rate = _rate(expression)
    chosen = _listed(left, rate)
    rest = _without(rate, chosen)
    if not chosen or not rest:
        raise ExpressionError(f"a partition of {rate} needs at least one variable on each side")
    cut = Rate((_joined(chosen), _joined(rest)), rate.given)
    after = product(rate_or_one(chosen, rate.given), rate_or_one(rest, rate.given), cut)
    return Step("partition", rate, after, f"{_braced(chosen)} | {_braced(rest)}")


def merge(expression: str | Expression, first: BlockLike, second: BlockLike) -> Step:
    """Theorem 5: join two variables of a rate to one joint variable. Their rate becomes a factor.

    >>> print(merge("CR(A; B; C)", "B", "C").after)
    CR(A; BC) CR(B; C)
    """
    rate = _rate(expression)
    a, b = _block(first, rate), _block(second, rate)
    after = product(_merged(rate, a, b), Rate((a, b), rate.given))
    return Step("merge", rate, after, f"{a} and {b}")


def independent_merge(expression: str | Expression, first: BlockLike, second: BlockLike, *, graph: GraphLike) -> Step:
    """Corollary 1: join two variables that are independent given the condition of the rate. Their rate is 1.

    Raises SeparationError if the graph does not have this independence.

    >>> print(independent_merge("CR(A; B; C | D)", "A", "B", graph="A-C A-D B-D").after)
    CR(AB; C | D)
    """
    read_graph = Graph.of(graph)
    rate = _rate(expression, read_graph)
    a, b = _block(first, rate), _block(second, rate)
    merged = _merged(rate, a, b)
    given = _names(rate.given)
    require_separation(read_graph, _names(a), _names(b), given)
    used = _independent(_names(a), _names(b), given)
    return Step("independent merge", rate, merged, str(used), used)


def duplicate(expression: str | Expression, *blocks: BlockLike) -> Step:
    """Theorem 6: repeat variables of a rate. The probability of each becomes a factor.

    >>> print(duplicate("CR(A; B | Y)", "B").after)
    CR(B; A; B | Y) P(B | Y)
    """
    rate = _rate(expression)
    twice = [_block(b, rate) for b in blocks]
    _without(rate, twice)
    if not twice:
        raise ExpressionError(f"{rate}: name at least one variable to duplicate")
    after = product(Rate((*twice, *rate.blocks), rate.given), *(Probability(b, rate.given) for b in twice))
    return Step("duplicate", rate, after, _braced(twice))


def cit1(expression: str | Expression, drop: BlockLike, *, graph: GraphLike) -> Step:
    """Theorem 7 (1): CR(X; YZ) = CR(X; Z) if X and Y are independent given Z; ``drop`` is Y.

    Raises SeparationError if the graph does not have this independence.

    >>> print(cit1("CR(A; BC)", "C", graph="A-B B-C").after)
    CR(A; B)
    """
    read_graph = Graph.of(graph)
    rate, (left, right) = _two_blocks(expression, read_graph)
    y = _block(drop, rate)
    if not y or not (set(y) <= set(right) or set(y) <= set(left)):
        raise ExpressionError(f"{y or 'nothing'} cannot be dropped from {rate}: name variables of one of its blocks")
    x, yz = (left, right) if set(y) <= set(right) else (right, left)
    dropped = set(y)
    z = Block(t for t in yz if t not in dropped)
    kept = _names((*z, *rate.given))
    require_separation(read_graph, _names(x), _names(y), kept)
    after = rate_or_one([b for b in ((x, z) if x is left else (z, x)) if b], rate.given)
    used = _independent(_names(t for t in x if t not in z), _names(y), kept)
    return Step("first CIT", rate, after, str(used), used)


def cit2(expression: str | Expression, split: BlockLike, *, graph: GraphLike) -> Step:
    """Theorem 7 (2): CR(XY; Z) = CR(X; Z) CR(Y; Z) / CR(X; Y) if X and Y are independent given Z; ``split`` is X.

    Raises SeparationError if the graph does not have this independence.

    >>> print(cit2("CR(AC; B)", "A", graph="A-B B-C").after)
    CR(A; B) CR(C; B) / CR(A; C)
    """
    read_graph = Graph.of(graph)
    rate, (left, right) = _two_blocks(expression, read_graph)
    x = _block(split, rate)
    if not x or not (set(x) < set(left) or set(x) < set(right)):
        raise ExpressionError(f"{x or 'nothing'} is not part of a block of {rate}; name some of its variables, not all")
    xy, z = (left, right) if set(x) < set(left) else (right, left)
    y = Block(t for t in xy if t not in x)
    given = _names((*z, *rate.given))
    require_separation(read_graph, _names(x), _names(y), given)
    after = product(Rate((x, z), rate.given), Rate((y, z), rate.given), (Rate((x, y), rate.given), -1))
    used = _independent(_names(x), _names(y), given)
    return Step("second CIT", rate, after, str(used), used)


def cit3(expression: str | Expression, *, graph: GraphLike) -> Step:
    """Theorem 7 (3): CR(XZ; YZ) = CR(Z; Z) = 1 / P(Z) if X and Y are independent given Z.

    Raises SeparationError if the graph does not have this independence.

    >>> print(cit3("CR(AB; BC)", graph="A-B B-C").after)
    1 / P(B)
    """
    read_graph = Graph.of(graph)
    rate, (left, right) = _two_blocks(expression, read_graph)
    within = set(right)
    z = Block(t for t in left if t in within)
    shared = set(z)
    x, y = Block(t for t in left if t not in within), Block(t for t in right if t not in shared)
    given = _names((*z, *rate.given))
    require_separation(read_graph, _names(x), _names(y), given)
    after = product((probability(z, rate.given), -1))
    used = _independent(_names(x), _names(y), given) if x and y else None
    return Step("third CIT", rate, after, str(used or ""), used)


def unconnected(expression: str | Expression, first: str, second: str, *, graph: GraphLike) -> Step:
    """Theorem 8: exchange the fixed values of two nodes, ``first`` and ``second``, that are not connected by an edge.

    The expression is the product of a rate in which both nodes are fixed, and of the same rate in which both are free.
    In the result, each of the two rates has one of the nodes fixed. The rates must contain all neighbours of the two
    nodes. Raises SeparationError if they do not, or if there is an edge between the two nodes.

    >>> print(unconnected("CR(A=0; B; C=0) CR(A; B; C)", "A", "C", graph="A-B B-C").after)
    CR(A=0; B; C) CR(A; B; C=0)
    """
    read_graph = Graph.of(graph)
    whole = read(expression, read_graph.nodes)
    rates = [f for f, k in whole.powers().items() for _ in range(k) if isinstance(f, Rate)]
    fixed = next((r for r in rates if all(_value(r, n) is not None for n in (first, second))), None)
    if fixed is None:
        raise ExpressionError(f"{whole}: no rate has both {first} and {second} fixed to a value")
    values = {name: _value(fixed, name) for name in (first, second)}
    bare = _free(fixed, (first, second))
    if whole != product(fixed, bare):
        raise ExpressionError(f"{whole} is not {product(fixed, bare)}: both fixed, times both free")
    if together := next((b for b in bare.blocks if {first, second} <= {t.name for t in b}), None):
        raise ExpressionError(
            f"{first} and {second} are in one block of {bare}, {together}; they must be in separate blocks"
        )
    require_unconnected(read_graph, first, second, [t.name for t in fixed.terms()])
    after = product(
        bare.fixed({first: values[first]}),  # type: ignore[dict-item]
        bare.fixed({second: values[second]}),  # type: ignore[dict-item]
    )
    return Step("unconnected nodes", whole, after, f"{first} and {second} are not connected")


def require_unconnected(graph: Graph, first: str, second: str, present: Sequence[str]) -> None:
    """Raise SeparationError if two nodes are connected, or have neighbours that are not present."""
    graph.require([first, second, *present])
    if second in graph.neighbours[first]:
        raise SeparationError(f"{first} and {second} are connected: {first} - {second}", [first, second])
    for name in (first, second):
        for other in graph.ordered(graph.neighbours[name]):
            if other not in present:
                raise SeparationError(
                    f"the Markov blanket of {braced([first, second])} must be in the rates, but {other} is not: "
                    f"{name} - {other}",
                    [name, other],
                )


def _rate(expression: str | Expression, graph: Graph | None = None) -> Rate:
    return _kind(read(expression, graph.nodes if graph else ()), Rate, "a rate such as CR(A; B)")


def _kind(expression: Expression, kind: type[Kind], called: str) -> Kind:
    if not isinstance(expression, kind):
        raise ExpressionError(f"{expression} is not {called}")
    return expression


def _two_blocks(expression: str | Expression, graph: Graph) -> tuple[Rate, tuple[Block, Block]]:
    rate = _rate(expression, graph)
    if len(rate.blocks) != 2:
        raise ExpressionError(
            f"{rate} has {counted(len(rate.blocks), 'variable')}; this theorem needs two (joint) variables"
        )
    return rate, (rate.blocks[0], rate.blocks[1])


def _block(given: BlockLike, rate: Rate) -> Block:
    """A joint variable; a word that is the name of a variable of the rate is that variable."""
    return given if isinstance(given, Block) else block(given, rate.variables())


def _listed(blocks: str | Iterable[BlockLike], rate: Rate) -> list[Block]:
    """Blocks as a list; a text names single variables."""
    if isinstance(blocks, str):
        return [Block([t]) for t in _block(blocks, rate)]
    return [_block(b, rate) for b in blocks]


def _without(rate: Rate, chosen: Sequence[Block]) -> list[Block]:
    """The blocks without some of them."""
    want = Counter([b[0] if len(b) == 1 else b.key for b in chosen])
    rest = []
    for one in rate.blocks:
        key = one[0] if len(one) == 1 else one.key
        if want.get(key):
            want[key] -= 1
        else:
            rest.append(one)
    if any(want.values()):
        missing = next(b for b in chosen if want[b[0] if len(b) == 1 else b.key])
        raise ExpressionError(f"{missing} is not one of the variables of {rate}")
    return rest


def _merged(rate: Rate, first: Block, second: Block) -> Expression:
    rest = _without(rate, [first, second])
    keys = [b.key for b in rate.blocks]
    rest.insert(min(keys.index(first.key), keys.index(second.key), len(rest)), _joined([first, second]))
    return rate_or_one(rest, rate.given)


def _joined(blocks: Iterable[Block]) -> Block:
    return Block(chain.from_iterable(blocks))


def _names(terms: Iterable[Term]) -> list[str]:
    return [t.name for t in terms]


def _braced(blocks: Sequence[Block]) -> str:
    return braced(blocks)


def _independent(left: Iterable[str], right: Iterable[str], given: Iterable[str]) -> Independence:
    return Independence(tuple(left), tuple(right), tuple(given))


def _value(rate: Rate, name: str) -> Value | None:
    return next((t.value for b in rate.blocks for t in b if t.name == name), None)


def _free(rate: Rate, names: Sequence[str]) -> Rate:
    blocks = (Block(Term(t.name) if t.name in names else t for t in b) for b in rate.blocks)
    return Rate(blocks, rate.given)
