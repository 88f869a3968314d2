"""Derivations: steps are recorded, rewrite what is there, check themselves, and can be shown."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from corate.errors import DataError
from corate.rate import (
    Counts,
    Derivation,
    ExpressionError,
    P,
    SeparationError,
    Step,
    Table,
    cit1,
    cit2,
    cit3,
    conditioning,
    definition,
    duplicate,
    factorise,
    merge,
    parse,
    partition,
    random_table,
    rewrite,
)
from corate.rate.independence import chi_squared_tail

FORMS = ["chain", "joint-over-interior", "junction-tree", "mrf", "conditioning"]


def test_theorems_can_be_applied_one_by_one() -> None:
    d = Derivation.begin("P(A, B, C)", "A-B B-C").apply(definition)
    d = d.apply(duplicate, "CR(A; B; C)", "B")
    d = d.apply(partition, "CR(A; B; B; C)", "AB").apply(cit3, "CR(AB; BC)")
    assert d.result == parse("CR(A; B) CR(B; C) P(A) P(B) P(C)")
    assert [step.theorem for step in d.steps] == ["definition", "duplicate", "partition", "third CIT"]
    assert d.steps[2].using == "{A, B} | {B, C}"
    assert d.check_random(0).holds


def test_a_derivation_is_not_changed_by_its_next_step() -> None:
    start = Derivation.begin("CR(A; B; C)", "A-B B-C")
    start.apply(merge, None, "A", "B")
    assert start.steps == ()
    assert start.result == parse("CR(A; B; C)")


def test_steps_are_used_in_both_directions() -> None:
    step = merge("CR(A; B; C)", "B", "C")
    back = Derivation.begin("CR(A; BC) CR(B; C) P(A)", "A-B-C").then(step.reversed())
    assert back.result == parse("CR(A; B; C) P(A)")


def test_a_step_replaces_what_is_there_and_nothing_else() -> None:
    d = Derivation.begin("CR(A; B) P(C)", "A-B B-C")
    with pytest.raises(ExpressionError, match=r"CR\(A; B\) P\(C\) does not contain CR\(A; C\)"):
        d.apply(conditioning, "CR(A; C)", "B")
    with pytest.raises(SeparationError):
        Derivation.begin("CR(A; BC)", "A-B B-C C-A").apply(cit1, "CR(A; BC)", "C")


@pytest.mark.parametrize(
    ("whole", "before", "after", "result"),
    [
        ("P(A) P(B)", "P(A)", "P(C)", "P(C) P(B)"),
        ("P(A)^2", "P(A)", "P(B)", "P(A) P(B)"),
        ("1 / CR(A; B)", "1 / CR(A; B)", "P(A)", "P(A)"),
        ("sum_A [P(A) P(B)] P(A)", "P(A) P(B)", "P(C)", "sum_A [P(C)] P(A)"),
        ("phi(A)[P(A) sum_B [P(B)]]", "P(B)", "P(C)", "phi(A)[P(A) sum_B [P(C)]]"),
        ("CR(A; B) P(A)", "CR(A; B) P(A) P(B)", "P(A, B)", "P(A, B) / P(B)"),
        ("CR(A; B)", "CR(A; B)", "1", "1"),
        ("1 / P(A)", "P(A)", "P(B)", "1 / P(B)"),
        ("P(A) / CR(A; B)^2", "CR(A; B)", "P(B)", "P(A) / (CR(A; B) P(B))"),
        ("1 / sum_A [P(B) / P(A)]", "P(A)", "P(C)", "1 / sum_A [P(B) / P(C)]"),
        ("P(A, B)", "P(A, B) / (P(A) P(B))", "CR(A; B)", "CR(A; B) P(A) P(B)"),
        ("CR(AB; C)", "CR(A; B) CR(AB; C)", "CR(A; B; C)", "CR(A; B; C) / CR(A; B)"),
    ],
)
def test_rewriting(whole: str, before: str, after: str, result: str) -> None:
    assert rewrite(parse(whole), parse(before), parse(after)) == parse(result)


@pytest.mark.parametrize(
    ("whole", "before"),
    [
        ("P(A)", "P(B)"),
        ("1 / P(A)", "P(A)^2"),
        ("P(A)", "P(A)^2"),
        ("P(A)", "P(A) P(B)"),
        ("CR(A; B)", "CR(A; B) CR(B; C)"),
    ],
)
def test_what_is_not_there_is_not_rewritten(whole: str, before: str) -> None:
    with pytest.raises(ExpressionError, match="does not contain"):
        rewrite(parse(whole), parse(before), parse("1"))


def test_a_factor_of_the_numerator_is_replaced_before_one_of_the_denominator() -> None:
    whole = parse("sum_A [P(A)] / P(A)")
    assert rewrite(whole, parse("P(A)"), parse("P(B)")) == parse("sum_A [P(B)] / P(A)")


def test_a_rate_in_a_denominator_is_replaced() -> None:
    d = Derivation.begin("P(A) / CR(A; B)", "A-B").apply(definition, "CR(A; B)")
    assert d.result == parse("P(A)^2 P(B) / P(A, B)")
    assert d.check_random(0).holds


@pytest.mark.parametrize("graph", ["A-B B-C C-A B-D C-D", "A-B B-C C-D D-A", "A-B-C-D-E B-E F-A"])
def test_a_junction_tree_is_turned_back_into_rates(graph: str) -> None:
    """Cliques and separators, of which the latter are in the denominator; then the whole derivation in reverse."""
    forwards = factorise(graph, "junction-tree").derivation
    d = forwards
    joint = [factor for factor in forwards.result.powers() if len(factor.variables()) > 1]
    for factor in joint:
        d = d.apply(definition, factor)
    assert not d.result.powers().keys() & set(joint)
    assert d.check_random(0).holds
    back = d.then(*(step.reversed() for step in reversed(d.steps)))
    assert back.result == forwards.start
    assert back.check_random(0).holds


def test_a_reversed_step_is_found_after_cancelling() -> None:
    step = definition("CR(A; B)")
    d = Derivation.begin("CR(A; B) P(A) P(B)", "A-B").then(step)
    assert d.result == parse("P(A, B)")
    assert d.then(step.reversed()).result == d.start
    assert Derivation.begin("P(A, B)", "A-B").then(step.reversed()).result == d.start
    everything_cancels = cit2("CR(AC; B)", "A", graph="A-B-C")
    d = Derivation.begin("CR(AC; B) CR(A; C) / (CR(A; B) CR(C; B))", "A-B-C").then(everything_cancels)
    assert d.result == parse("1")
    assert d.then(everything_cancels.reversed()).result == d.start


def test_the_last_step_is_undone() -> None:
    start = Derivation.begin("CR(A; B) P(A) P(B)", "A-B")
    longer = start.apply(definition, "CR(A; B)")
    assert longer.undo() == start
    with pytest.raises(ExpressionError, match="no step to undo"):
        start.undo()


def test_bayes_rule_is_derived() -> None:
    d = Derivation.begin("P(A | B)", "A-B").apply(definition).then(definition("P(B | A)").reversed())
    assert d.result == parse("P(B | A) P(A) / P(B)")
    assert d.check_random(0).holds


# -- checking ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_step_is_found(form: str) -> None:
    """Any step of a derivation, made wrong, is named by the check, and no other is."""
    good = factorise("A-B B-C C-D", form).derivation
    assert good.check_random(5).holds
    for i, step in enumerate(good.steps):
        wrong = replace(step, after=step.after * parse("P(A)"))
        bad = replace(good, steps=(*good.steps[:i], wrong, *good.steps[i + 1 :]))
        try:
            check = bad.check_random(5)
        except ExpressionError:
            continue  # what the next step replaces is not there any more
        assert not check.holds
        assert not check
        assert check.failed == [wrong]
        assert "1 of" in str(check)


def test_a_distribution_that_does_not_obey_the_graph_fails_where_independence_was_used() -> None:
    derivation = factorise("A-B B-C").derivation
    check = derivation.check(random_table("A-B B-C C-A", 3))
    assert [step.theorem for step in check.failed] == ["first CIT"]
    assert check.whole > 0.01


def test_checks_tell_the_largest_difference() -> None:
    check = factorise("A-B B-C").derivation.check_random(1)
    assert 0 <= check.largest < 1e-12
    assert str(check).startswith("no error in 3 steps; largest difference")
    assert len(check.differences) == 3


def test_checks_need_the_variables() -> None:
    derivation = factorise("A-B B-C").derivation
    with pytest.raises(ExpressionError, match="no variable 'B'"):
        derivation.check(Table([1, 2], ["A"]))
    with pytest.raises(ExpressionError, match="times must be at least 1"):
        derivation.check_random(0, times=0)


@pytest.mark.parametrize("form", ["tree", "junction-tree", "conditioning"])
@pytest.mark.parametrize("graph", ["A-B B-C", "A-B B-C C-D D-A"])
def test_values_of_probability_zero_are_skipped_and_counted(graph: str, form: str) -> None:
    """B copies A, so half of their values are impossible; the steps hold on the others."""
    if form == "tree" and "D" in graph:
        return
    table = random_table(graph, 1, states=2)
    names, logs = table.log_table(P(*table.variables))
    copied = np.exp(logs)
    copied[0, 1] = copied[1, 0] = 0.0
    check = factorise(graph, form).derivation.check(Table(copied, names))
    assert check.holds
    assert check.skipped == copied.size // 2
    assert f"skipped {copied.size // 2} values of probability zero" in str(check)


@pytest.mark.parametrize("weights", [[[1, 0], [0, 1]], [[1, 1], [1, 0]]])
def test_a_false_step_fails_where_only_the_joint_probability_is_zero(weights: list[list[float]]) -> None:
    """P(A, B) = P(A) is right at all values of A and B that are possible on the first table."""
    false = Step("false", parse("P(A, B)"), parse("P(A)"))
    check = Derivation.begin("P(A, B)", "A-B").then(false).check(Table(weights, "AB"))
    assert not check.holds
    assert check.skipped == 0


def test_a_step_that_fails_where_it_is_possible_fails_in_spite_of_zeros() -> None:
    weights = np.arange(1.0, 9.0).reshape(2, 2, 2)
    weights[0, 0, 0] = 0.0
    check = factorise("A-B B-C").derivation.check(Table(weights, "ABC"))
    assert not check.holds
    assert [step.theorem for step in check.failed] == ["first CIT"]


def test_independences_are_tested_on_samples() -> None:
    """G2 and its p-value are SciPy's; what holds is seldom rejected, and what does not hold is."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 2000)
    b = (a + (rng.random(2000) < 0.3)) % 3
    c = (b + (rng.random(2000) < 0.3)) % 3
    counts = Counts.of_frame({"A": a, "B": b, "C": c})
    (test,) = factorise("A-B B-C").derivation.test(counts)
    assert test.degrees == sum((len(set(a[b == k])) - 1) * (len(set(c[b == k])) - 1) for k in range(3))
    assert test.p_value > 0.001
    unrelated = counts.test("A", "C")
    observed = np.zeros((3, 3))
    np.add.at(observed, (a, c), 1)
    expected = stats.chi2_contingency(observed, correction=False, lambda_="log-likelihood")
    assert unrelated.statistic == pytest.approx(expected.statistic)
    assert (unrelated.degrees, unrelated.p_value < 1e-12) == (expected.dof, True)
    for statistic, degrees in [(0.1, 1), (3.0, 2), (30.0, 40), (80.0, 40), (500.0, 300), (1e-9, 7)]:
        assert chi_squared_tail(statistic, degrees) == pytest.approx(stats.chi2.sf(statistic, degrees), rel=1e-10)
    for sides in (("A", ()), ("A", "A"), ((), "B")):
        with pytest.raises(DataError, match="at least one variable on each side"):
            counts.test(*sides)


def test_the_text_of_a_test_is_a_hypothesis_for_any_p_value() -> None:
    counts = Counts.of_frame({"A": [0, 0, 1, 1] * 50, "B": [0, 0, 1, 1] * 50, "C": [0, 1, 0, 1] * 50})
    related, unrelated = counts.test("A", "B"), counts.test("A", "C")
    assert related.p_value < 1e-6 < 0.5 < unrelated.p_value
    for test in (related, unrelated):
        assert str(test).startswith(f"hypothesis: {test.independence}; G2 = ")


def test_large_graphs_are_checked_on_gaussians() -> None:
    edges = [(f"X{i}", f"X{j}") for i in range(24) for j in range(max(0, i - 2), i)]
    assert factorise(edges).derivation.check_random(0, times=1, tolerance=1e-8).holds


# -- showing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_every_line_is_shown_with_its_theorem(form: str) -> None:
    derivation = factorise("A-B B-C", form, given=["X"]).derivation
    in_words = str(derivation)
    for _, step in derivation.lines():
        assert step is None or step.reason in in_words
    assert in_words.split("\n")[0] == "P(A, B, C | X)"
    lines = [expression for expression, _ in derivation.lines()]
    assert lines[-1] == derivation.result
    assert len(lines) == len(derivation.steps) + 1
    latex = derivation.latex()
    assert latex.startswith("\\begin{align*}")
    assert latex.count("{") == latex.count("}")
    assert latex.count("&=") == len(derivation.steps)


@pytest.mark.parametrize("form", FORMS)
def test_pages_are_well_formed(form: str) -> None:
    derivation = factorise("A-B B-C", form).derivation
    page = derivation.html(["a < b"])
    for text in (re.sub(r"<(meta [^>]*)>", r"<\1/>", page.removeprefix("<!DOCTYPE html>\n")), derivation._repr_html_()):
        rows = ET.fromstring(text).findall(".//tr")
        assert len(rows) == len(derivation.steps) + 1 + len(derivation.groups())
        assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert "a &lt; b" in page


def test_a_step_is_shown_as_an_equation() -> None:
    step = Step("definition", parse("CR(A; B)"), parse("P(A, B) / (P(A) P(B))"))
    assert str(step) == "CR(A; B)\n  = P(A, B) / (P(A) P(B))    (definition)"
    assert step._repr_latex_().startswith("$")
