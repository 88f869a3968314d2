"""Factorise an undirected graph: choose a form, derive it, and return its factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from corate.rate.derivation import Derivation
from corate.rate.errors import ExpressionError
from corate.rate.expressions import Expression, of_powers
from corate.rate.fields import field
from corate.rate.graphs import Graph, GraphLike
from corate.rate.junction import factors, junction
from corate.rate.loops import opened
from corate.rate.terms import NamesLike, Value, read_names
from corate.rate.trees import chain, interior, tree

__all__ = ["FORMS", "Factorisation", "factorise"]

#: The forms of a factorisation.
FORMS = ("auto", "chain", "joint-over-interior", "tree", "junction-tree", "mrf", "conditioning")


@dataclass(frozen=True)
class Factorisation:
    """The result of :func:`factorise`.

    Attributes:
        form: the form of the factorisation, such as ``"chain"``; never ``"auto"``.
        factors: the factors. Their product is the joint probability of the nodes, given the variables ``given``.
        derivation: the derivation of this product.
        added: the edges that triangulation added to the graph.
    """

    form: str
    factors: tuple[Expression, ...]
    derivation: Derivation
    added: tuple[tuple[str, str], ...] = ()

    @property
    def expression(self) -> Expression:
        """The product of the factors."""
        return self.derivation.result

    def __str__(self) -> str:
        return f"{self.derivation.start} = {self.expression}"

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.derivation.start.latex()} = {self.expression.latex()}$"


def factorise(
    graph: GraphLike,
    form: str = "auto",
    *,
    given: NamesLike = (),
    configuration: Mapping[str, Value] | None = None,
) -> Factorisation:
    """Factorise the joint probability of the nodes of a graph, and derive the result from the theorems.

    The forms are:

    - ``chain`` and ``tree``: the rates of adjacent nodes, times the probabilities of single nodes;
    - ``joint-over-interior``, for chains: the joint probabilities of adjacent nodes, divided by the probabilities of
      the interior nodes;
    - ``junction-tree``: the probabilities of the cliques, divided by those of the separators. A graph that is not
      triangulated is triangulated first;
    - ``mrf``, for at most 10 nodes: a potential for each maximal clique, as in a Markov random field;
    - ``conditioning``: rates, and sums over the values of nodes that break loops. No edge is added;
    - ``auto``: ``chain``, ``tree`` or ``junction-tree``, the first that is possible.

    Args:
        graph: a string such as ``"A-B B-C"``, a list of edges, or a networkx graph.
        form: one of the forms above.
        given: names of variables that every factor is conditioned on: nodes of the graph, or other variables that all
            nodes may depend on, such as the observation of a conditional random field. A list of names, or a string
            that is read as in an expression.
        configuration: for the form ``mrf``, the values to which the potentials fix variables, by default 0. They must
            have a positive probability together with any values of the other variables.

    Raises ExpressionError for an unknown form, or if the graph does not have the form.

    >>> factorise("Y1-Y2 Y2-Y3", given=["X"])
    P(Y1, Y2, Y3 | X) = CR(Y1; Y2 | X) CR(Y2; Y3 | X) P(Y1 | X) P(Y2 | X) P(Y3 | X)
    >>> factorise("A-B B-C C-A C-D").factors
    (P(A, B, C), P(C, D) / P(C))
    """
    if form not in FORMS:
        raise ExpressionError(f"unknown form {form!r}; there are {', '.join(FORMS)}")
    if configuration is not None and form != "mrf":
        raise ExpressionError(f"a configuration is for the form mrf; the form is {form}")
    plain = Graph.of(graph)
    conditions = read_names(given, plain.nodes)
    read = Graph.of(plain, given=conditions)
    inner = read.without(conditions)
    if not inner.nodes:
        raise ExpressionError("all variables are given, so there is nothing to factorise")
    chosen = _fitting(inner) if form == "auto" else form
    if chosen in ("chain", "joint-over-interior", "tree"):
        _check_shape(inner, chosen)
    if chosen == "junction-tree":
        derivation, found = junction(read, conditions)
        return Factorisation(chosen, factors(found, conditions), derivation, found.added)
    if chosen == "mrf":
        derivation = field(read, conditions, configuration)
    else:
        ways = {"chain": chain, "joint-over-interior": interior, "tree": tree, "conditioning": opened}
        derivation = ways[chosen](read, conditions)
    powers = derivation.result.powers()
    return Factorisation(chosen, tuple(of_powers({factor: k}) for factor, k in powers.items()), derivation)


def _fitting(graph: Graph) -> str:
    return "chain" if graph.is_chain() else "tree" if graph.is_forest() else "junction-tree"


def _check_shape(graph: Graph, form: str) -> None:
    if not graph.is_forest():
        raise ExpressionError(
            f"the graph has a loop, so it is not a {'tree' if form == 'tree' else 'chain'}; use the junction-tree "
            "form, or conditioning to break loops"
        )
    crowded = next((node for node in graph.nodes if len(graph.neighbours[node]) > 2), None)
    if form != "tree" and crowded is not None:
        others = ", ".join(graph.ordered(graph.neighbours[crowded]))
        raise ExpressionError(f"the graph is not a chain: {crowded} has the neighbours {others}; use the tree form")
