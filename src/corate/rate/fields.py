"""Markov random fields: potentials of maximal cliques from rates with a global configuration.

    psi(sc) = prod over S in sc of CR(Sem S; Sem G without S = 0) ^ (-1)^(|sc| - |S|)

for every scope sc, a subset of the nodes. The product over all scopes is CR(Sem G), by the two binomial identities of
the paper's section "CR-F and MRF". A scope that is not a clique cancels by the unconnected nodes theorem; the others
are grouped into maximal cliques. There are 2^n scopes, so this is for small graphs.

Every rate in which a variable is fixed is in the denominator of some scope. So the steps need a positive probability of
the global configuration combined with any values of other variables. The potentials that are left divide by fewer
rates, those with the free variables of a part of a clique, and need only these to be positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from corate.rate.derivation import Derivation, Step
from corate.rate.errors import ExpressionError
from corate.rate.expressions import Expression, Group, Probability, Rate, of_powers, product
from corate.rate.graphs import Graph
from corate.rate.terms import Block, Seq, Term, Value
from corate.rate.theorems import require_unconnected
from corate.rate.trees import start

__all__ = ["MOST_NODES", "field"]

#: There are 2^n rates, which occur 3^n times.
MOST_NODES = 10

Scope = tuple[str, ...]


def field(graph: Graph, given: Sequence[str], configuration: Mapping[str, Value] | None = None) -> Derivation:
    """The derivation of the potentials of maximal cliques; variables not in ``configuration`` are fixed to 0.

    They are undefined on a distribution where the configuration has the probability zero, alone or combined with some
    values of other variables.
    """
    nodes = [node for node in graph.nodes if node not in given]
    if len(nodes) > MOST_NODES:
        raise ExpressionError(
            f"the MRF form of {len(nodes)} nodes needs {2 ** len(nodes):,} rates; at most {MOST_NODES} nodes "
            "are allowed. Use the junction-tree form, which has no such limit"
        )
    fixed: dict[str, Value] = dict.fromkeys(nodes, 0) | dict(configuration or {})
    graph.without(given).require(fixed)
    begun = start(graph, given)
    if len(nodes) == 1:
        return begun
    scopes = [scope for size in range(len(nodes) + 1) for scope in combinations(nodes, size)]
    psi = _scopes(nodes, scopes, fixed, Seq(*given))
    whole = Rate([Block([Term(node)]) for node in nodes], Seq(*given))
    steps = [Step("scopes and signs", whole, product(*psi.values()), "the two binomial identities")]
    steps += [_cancelled(graph, psi.pop(scope), nodes) for scope in scopes if not graph.is_clique(scope)]
    steps += _grouped(graph, nodes, given, psi)
    return Derivation(begun.start, graph, (*begun.steps, *steps))


def _scopes(
    nodes: Sequence[str], scopes: Sequence[Scope], fixed: Mapping[str, Value], given: Block
) -> dict[Scope, Group]:
    """psi of every scope."""
    rates = {
        scope: Rate([Block([Term(n, None if n in scope else fixed[n])]) for n in nodes], given) for scope in scopes
    }
    found = {}
    for scope in scopes:
        parts = [part for size in range(len(scope), -1, -1) for part in combinations(scope, size)]
        body = of_powers({rates[part]: (-1) ** (len(scope) - len(part)) for part in parts})
        found[scope] = Group("psi", scope, body)
    return found


def _cancelled(graph: Graph, psi: Group, nodes: Sequence[str]) -> Step:
    """The rates of a scope with two unconnected nodes cancel in groups of four, a group for each subset of the rest."""
    pairs = combinations(psi.scope, 2)
    first, second = next((a, b) for a, b in pairs if b not in graph.neighbours[a])
    present = {*nodes, *(term.name for term in psi.body.terms())}
    require_unconnected(graph, first, second, sorted(present))
    return Step("unconnected nodes", psi, product(), f"{first} and {second} are not connected")


def _grouped(graph: Graph, nodes: Sequence[str], given: Sequence[str], psi: dict[Scope, Group]) -> list[Step]:
    """Each maximal clique takes its scopes and single probabilities that no earlier clique has taken."""
    left: dict[Expression, frozenset[str]] = {group: frozenset(scope) for scope, group in psi.items()}
    left |= {Probability(Seq(node), Seq(*given)): frozenset([node]) for node in nodes}
    steps = []
    for clique in graph.without(given).cliques():
        mine = [factor for factor, scope in left.items() if scope <= set(clique)]
        body = product(*(factor.body if isinstance(factor, Group) else factor for factor in mine))
        after = Group("phi", clique, body)
        steps.append(Step("maximal clique", product(*mine), after, f"factors within {{{', '.join(clique)}}}"))
        for factor in mine:
            del left[factor]
    return steps
