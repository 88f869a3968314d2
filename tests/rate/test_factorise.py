"""Factorisations equal the joint probability of the graph's distributions, and every step of them holds."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from corate.rate import (
    CR,
    FORMS,
    Derivation,
    ExpressionError,
    Graph,
    Group,
    Sum,
    Table,
    UndefinedRateError,
    factorise,
    independent_merge,
    parse,
    product,
    random_gaussian,
    random_table,
)
from corate.rate.expressions import Expression, Probability, Rate
from corate.rate.fields import MOST_NODES
from small_graphs import KINDS, random_graph

TOLERANCE = 1e-8
#: Forms for each kind, and up to how many nodes.
FITTING = {
    "tree": {"tree": 8, "junction-tree": 8, "mrf": 6, "conditioning": 8, "auto": 8},
    "chordal": {"junction-tree": 8, "mrf": 6, "conditioning": 7, "auto": 8},
    "arbitrary": {"junction-tree": 8, "mrf": 6, "conditioning": 7, "auto": 8},
}


def log_joint(table: Any, nodes: tuple[str, ...]) -> np.ndarray:
    names, logs = table.log_table("P(" + ", ".join(nodes) + ")")
    assert names == table.variables
    return logs


@pytest.mark.parametrize("kind", KINDS)
def test_the_product_of_factors_is_the_joint_probability(kind: str) -> None:
    """Of 67 random graphs of each kind, 201 in all."""
    for seed in range(67):
        n = 2 + seed % 7
        graph = Graph.of(random_graph(kind, n, seed))
        table = random_table(graph, seed, states=2 + seed % 2 if n < 8 else 2)
        joint = log_joint(table, graph.nodes)
        for form, most in FITTING[kind].items():
            if n > most:
                continue
            found = factorise(graph, form)
            assert product(*found.factors) == found.expression
            names, logs = table.log_table(found.expression)
            assert names == table.variables
            np.testing.assert_allclose(logs, joint, rtol=0, atol=TOLERANCE, err_msg=f"{kind} {seed} {form}")
            assert found.derivation.check(table).holds


@pytest.mark.parametrize("kind", KINDS)
def test_cliques_over_separators_by_plain_sums(kind: str) -> None:
    """The same, but probabilities are summed here and not by the library."""
    for seed in range(10):
        graph = Graph.of(random_graph(kind, 6, 100 + seed))
        joint = np.exp(log_joint(random_table(graph, seed), graph.nodes))
        result = np.ones_like(joint)
        for factor, exponent in factorise(graph, "junction-tree").expression.powers().items():
            assert isinstance(factor, Probability)
            others = tuple(i for i, node in enumerate(graph.nodes) if node not in factor.variables())
            result = result * joint.sum(axis=others, keepdims=True) ** exponent
        np.testing.assert_allclose(result, joint, rtol=TOLERANCE)


@pytest.mark.parametrize("form", ["chain", "joint-over-interior", "tree", "junction-tree", "mrf", "conditioning"])
def test_conditional_factorisations_hold(form: str) -> None:
    found = factorise("Y1-Y2 Y2-Y3 Y3-Y4", form, given=["X"])
    assert all("X" in factor.variables() for factor in found.factors)
    for seed in range(3):
        table = random_table(found.derivation.graph, seed)
        assert table.difference("P(Y1, Y2, Y3, Y4 | X)", found.expression) < TOLERANCE
        assert found.derivation.check(table).holds


def test_nodes_of_the_graph_may_be_given() -> None:
    found = factorise("A-B B-C C-D D-A", given=["A"])
    assert found.form == "chain"
    assert found.expression == parse("CR(B; C | A) CR(C; D | A) P(B | A) P(C | A) P(D | A)")
    assert found.derivation.check_random(1).holds


# -- the forms as the paper has them --------------------------------------------------------------------------------


def test_a_chain_is_rates_of_neighbours_times_single_probabilities() -> None:
    assert factorise("Y1-Y2 Y2-Y3", given="X").expression == parse(
        "CR(Y1; Y2 | X) CR(Y2; Y3 | X) P(Y1 | X) P(Y2 | X) P(Y3 | X)"
    )
    assert factorise("Y1-Y2 Y2-Y3 Y3-Y4", "joint-over-interior").expression == parse(
        "P(Y1, Y2) P(Y2, Y3) P(Y3, Y4) / (P(Y2) P(Y3))"
    )


def test_a_tree_has_a_rate_for_each_edge() -> None:
    assert factorise("A-B A-C A-D").expression == parse("CR(A; B) CR(A; C) CR(A; D) P(A) P(B) P(C) P(D)")


def test_a_junction_tree_has_cliques_over_separators_and_the_papers_steps() -> None:
    found = factorise("A-B B-C C-A B-D C-D", "junction-tree")
    assert found.expression == parse("P(A, B, C) P(B, C, D) / P(B, C)")
    theorems = [step.theorem for step in found.derivation.steps]
    assert theorems == ["definition", "duplicate", "partition", "third CIT", "definition", "definition"]
    assert found.factors == (parse("P(A, B, C)"), parse("P(B, C, D) / P(B, C)"))


def test_an_mrf_has_a_potential_for_each_maximal_clique_that_depends_on_it_alone() -> None:
    for kind in KINDS:
        for seed in range(6):
            graph = Graph.of(random_graph(kind, 5, seed))
            found = factorise(graph, "mrf")
            scopes = [factor.scope for factor in found.factors if isinstance(factor, Group)]
            assert sorted(map(sorted, scopes)) == sorted(map(sorted, graph.cliques()))
            for factor in found.factors:
                assert set(factor.free()) <= set(factor.scope)  # type: ignore[attr-defined]


def test_scopes_that_are_no_cliques_cancel() -> None:
    steps = factorise("A-B B-C", "mrf").derivation.steps
    gone = [step.before.scope for step in steps if step.theorem == "unconnected nodes"]  # type: ignore[attr-defined]
    assert gone == [("A", "C"), ("A", "B", "C")]


def test_any_global_configuration_will_do() -> None:
    found = factorise("A-B B-C C-D D-A", "mrf", configuration={"A": 1, "C": "wet"})
    assert found.derivation.check_random(2).holds
    table = random_table("A-B B-C C-D D-A", 0, states={"A": [0, 1], "C": ["dry", "wet"]})
    assert table.difference("P(A, B, C, D)", found.expression) < TOLERANCE
    with pytest.raises(ExpressionError, match="no node 'E'"):
        factorise("A-B", "mrf", configuration={"E": 1})
    with pytest.raises(ExpressionError, match="a configuration is for the form mrf; the form is chain"):
        factorise("A-B", "chain", configuration={"A": 1})


def test_the_mrf_form_refuses_large_graphs() -> None:
    with pytest.raises(ExpressionError, match=f"2,048 rates; at most {MOST_NODES} nodes are allowed"):
        factorise(nx.path_graph(MOST_NODES + 1), "mrf")


def chain_with_impossible_pair() -> Table:
    """A chain A-B-C in which B=1 and C=0 exclude each other."""
    b_given_a, c_given_b = np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.0, 1.0]])
    return Table(np.array([0.4, 0.6])[:, None, None] * b_given_a[:, :, None] * c_given_b, "ABC")


def test_the_mrf_form_needs_a_positive_probability_of_its_configuration_with_other_values() -> None:
    table = chain_with_impossible_pair()
    zero = re.escape("P(A=0, B=1, C=0) is zero; choose another configuration")
    found = factorise("A-B B-C", "mrf")
    for undefined in (
        lambda: found.derivation.check(table),
        lambda: table.log_table(found.expression),
        lambda: table.difference(found.expression, "P(A, B, C)"),
        lambda: table.value(found.expression, {"A": 1, "B": 1, "C": 1}),
    ):
        with pytest.raises(UndefinedRateError, match=zero):
            undefined()


def test_another_configuration_of_positive_probability_will_do() -> None:
    table = chain_with_impossible_pair()
    found = factorise("A-B B-C", "mrf", configuration={"C": 1})
    assert table.difference(found.expression, "P(A, B, C)") < TOLERANCE
    check = found.derivation.check(table)
    assert (check.holds, check.skipped) == (True, 2)
    for form in ("chain", "junction-tree", "conditioning"):
        assert factorise("A-B B-C", form).derivation.check(table).holds


def test_independences_without_positivity_need_not_give_potentials() -> None:
    """Moussouris: a loop of four with eight equally probable values has its independences, but no potentials."""
    weights = np.zeros((2, 2, 2, 2))
    for values in ("0000", "1000", "1100", "1110", "1111", "0111", "0011", "0001"):
        weights[tuple(map(int, values))] = 1
    table, loop = Table(weights, "ABCD"), "A-B B-C C-D D-A"
    for a, b, given in (("A", "C", "BD"), ("B", "D", "AC")):
        assert Derivation.begin(CR(a, b, given=given), loop).apply(independent_merge, None, a, b).check(table).holds
    for form in ("junction-tree", "conditioning"):
        assert factorise(loop, form).derivation.check(table).holds
    for values in np.ndindex(2, 2, 2, 2):
        configuration = dict(zip("ABCD", values, strict=True))
        with pytest.raises(UndefinedRateError, match="choose another configuration"):
            table.log_table(factorise(loop, "mrf", configuration=configuration).expression)


# -- loops ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [*(nx.cycle_graph(n) for n in range(4, 9)), nx.grid_2d_graph(3, 3)], ids=str)
def test_loops_are_broken_by_conditioning_and_the_product_stays_exact(graph: Any) -> None:
    found = factorise(graph, "conditioning")
    read = found.derivation.graph
    assert any(isinstance(factor, Sum) for factor in found.factors)
    assert found.added == ()
    assert "conditioning" in {step.theorem for step in found.derivation.steps}
    for seed in range(3):
        table = random_table(read, seed, states=2 if len(read.nodes) > 6 else 3)
        joint = np.exp(log_joint(table, read.nodes))
        assert joint.sum() == pytest.approx(1.0)
        _, logs = table.log_table(found.expression)
        np.testing.assert_allclose(np.exp(logs), joint, rtol=TOLERANCE)
        assert found.derivation.check(table).holds


def test_a_loop_is_broken_as_the_paper_says() -> None:
    found = factorise("A-B B-C C-D D-A", "conditioning")
    assert str(found.expression) == (
        "CR(A; BD) P(A) P(B) P(C) P(D) sum_A' [CR(B; C | A') CR(C; D | A') CR(B; A') CR(C; A') CR(D; A') P(A')]"
    )
    assert parse(str(found.expression)) == found.expression


def test_the_copy_of_a_node_has_another_name_than_all_nodes() -> None:
    found = factorise("A-B B-A' A'-D D-A", "conditioning")
    assert "sum_A'' [CR(B; A' | A'')" in str(found)
    assert parse(str(found.expression)) == found.expression
    assert found.derivation.check_random(0).holds


def rates_within(expression: Expression) -> list[Rate]:
    found = []
    for factor in expression.powers():
        if isinstance(factor, Sum):
            found += rates_within(factor.body)
        elif isinstance(factor, Rate):
            found.append(factor)
    return found


@pytest.mark.parametrize("n", range(4, 9))
def test_no_rate_of_an_opened_loop_has_more_than_a_node_and_its_two_neighbours(n: int) -> None:
    rates = rates_within(factorise(nx.cycle_graph(n), "conditioning").expression)
    assert max(len(rate.variables()) for rate in rates) == 3


@pytest.mark.parametrize("seed", range(12))
def test_graphs_whose_loops_are_cliques_need_no_sum(seed: int) -> None:
    graph = Graph.of(random_graph("chordal", 6, seed))
    found = factorise(graph, "conditioning")
    assert not any(isinstance(factor, Sum) for factor in found.factors)
    for rate in rates_within(found.expression):
        assert graph.is_clique(rate.variables())
    assert found.derivation.check_random(seed).holds


def test_no_loop_no_sum() -> None:
    assert factorise("A-B B-C", "conditioning").expression == factorise("A-B B-C").expression


# -- Gaussians ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 6, 12])
def test_gaussians_factorise_and_their_precision_is_cliques_minus_separators(n: int) -> None:
    for seed in range(15):
        graph = Graph.of(random_graph("chordal", n, seed))
        gaussian = random_gaussian(graph, seed)
        found = factorise(graph, "junction-tree")
        assert found.added == ()
        form = gaussian.form(found.expression)
        assert form.names == graph.nodes
        precision = np.linalg.inv(gaussian.covariance)
        np.testing.assert_allclose(form.matrix, precision, atol=1e-8)
        points = gaussian.sample(5, seed) * 2
        want = multivariate_normal.logpdf(points, gaussian.mean, gaussian.covariance)
        for x, density in zip(points, np.atleast_1d(want), strict=True):
            at = dict(zip(graph.nodes, x.tolist(), strict=True))
            assert gaussian.log_value(found.expression, at) == pytest.approx(density, abs=1e-8)
        assert found.derivation.check(gaussian, tolerance=1e-8).holds


def test_other_forms_hold_for_gaussians_too() -> None:
    for form in ("conditioning", "mrf", "junction-tree"):
        found = factorise("A-B B-C C-D D-A", form)
        assert found.derivation.check(random_gaussian("A-B B-C C-D D-A", 4), tolerance=1e-8).holds


# -- shapes and sizes -----------------------------------------------------------------------------------------------


def test_auto_takes_the_simplest_form() -> None:
    forms = [factorise(graph).form for graph in ("A-B", "A-B A-C A-D", "A-B B-C C-A", "A-B B-C C-D D-A", "A B")]
    assert forms == ["chain", "tree", "junction-tree", "junction-tree", "chain"]


def test_parts_that_are_not_connected_are_factors_of_their_own() -> None:
    apart: dict[str, Expression] = {
        "chain": parse("CR(A; B) P(A) P(B) CR(C; D) P(C) P(D) P(E)"),
        "joint-over-interior": parse("P(A, B) P(C, D) P(E)"),
        "junction-tree": parse("P(A, B) P(C, D) P(E)"),
    }
    for form, want in apart.items():
        assert factorise("A-B C-D E", form).expression == want
    for form in FORMS:
        assert factorise("A-B C-D E", form).derivation.check_random(3).holds


def test_one_node_is_its_own_factor() -> None:
    for form in FORMS:
        assert factorise("A", form).factors == (parse("P(A)"),)


@pytest.mark.parametrize(
    ("graph", "form", "in_words"),
    [
        ("A-B B-C C-A", "chain", "has a loop"),
        ("A-B B-C C-A", "tree", "has a loop"),
        ("A-B A-C A-D", "chain", "A has the neighbours B, C, D"),
        ("A-B A-C A-D", "joint-over-interior", "A has the neighbours B, C, D"),
        ("A-B", "ring", "unknown form 'ring'; there are auto, chain"),
        ("", "auto", "empty"),
        ("A-A", "auto", "edge to itself"),
    ],
)
def test_graphs_that_do_not_fit_are_told_why(graph: str, form: str, in_words: str) -> None:
    with pytest.raises(ExpressionError, match=in_words):
        factorise(graph, form)


def test_something_must_be_left_to_factorise() -> None:
    with pytest.raises(ExpressionError, match="all variables are given"):
        factorise("A-B", given=["A", "B"])


def test_hundreds_of_nodes_need_no_table() -> None:
    """A chain of overlapping cliques of six, treewidth 5."""
    n = 200
    graph = nx.Graph([(i, j) for i in range(n) for j in range(max(0, i - 5), i)])
    found = factorise(graph)
    assert len(found.factors) == n - 5
    assert found.added == ()
    assert all(len(factor.free()) == 6 for factor in found.factors)
    assert product(*found.factors) == found.expression
