"""Distributions: tables, counts and Gaussians give the probabilities and rates that the definitions say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from corate import Corpus
from corate.errors import DataError
from corate.rate import (
    CR,
    Counts,
    Derivation,
    ExpressionError,
    Gaussian,
    P,
    Sum,
    Table,
    UndefinedRateError,
    interpretation,
    marginal,
    parse,
    random_gaussian,
    random_table,
)
from corate.rate.expressions import Expression
from reference.rates import Joint

EXPRESSIONS = [
    "P(A)",
    "P(A, C | B)",
    "P(A=1 | B)",
    "CR(A; B; C)",
    "CR(A; BC)",
    "CR(A; A; B)",
    "CR(AB; BC)",
    "CR(A; B=0 | C)",
    "CR(A; B | C=1)",
    "sum_B [CR(A; B) P(B | C)]",
    "sum_A [P(B)]",
    "sum_A [sum_B [P(A, B, C)^2]]",
    "P(A)^3 / (P(B)^2 CR(A; C))",
    "phi(A, B)[CR(A; B) / P(C)]",
    "P(C) sum_C [CR(A; C)^2 P(C)]",
    "1",
]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(EXPRESSIONS), st.integers(0, 2**32), st.lists(st.integers(2, 4), min_size=3, max_size=3))
def test_values_are_those_of_plain_sums(text: str, seed: int, shape: list[int]) -> None:
    weights = np.random.default_rng(seed).gamma(0.7, size=shape) + 1e-3
    joint, table, expression = Joint(weights, "ABC"), Table(weights, "ABC"), parse(text)
    names, logs = table.log_table(expression)
    assert set(names) == set(expression.free())
    for cell in joint.cells(names):
        want = joint.value(expression, cell)
        assert math.exp(logs[tuple(cell[name] for name in names)]) == pytest.approx(want, rel=1e-9)
        assert table.value(expression, cell) == pytest.approx(want, rel=1e-9)


def test_tables_work_in_logarithms() -> None:
    """Weights whose exponentials do not fit into a float."""
    table = Table([[-2000.0, -2001.0], [-2001.0, -2000.0]], "AB", log=True)
    share = 1 / (1 + math.exp(-1))
    assert table.value("P(A | B)", {"A": 0, "B": 0}) == pytest.approx(share)
    chain = Table([[[0.0, -3000.0], [-1.0, 0.0]], [[0.0, -1.0], [-2.0, -3000.0]]], "ABC", log=True)
    assert math.isfinite(chain.log_value("P(A, B, C)", {"A": 0, "B": 0, "C": 1}))


def test_states_may_have_names() -> None:
    table = Table([[3, 1], [1, 3]], ["sky", "ground"], states={"sky": ["sun", "rain"], "ground": ["dry", "wet"]})
    assert table.interpret("CR(sky; ground)", {"sky": "rain", "ground": "wet"}) == "attractive"
    assert table.interpret("CR(sky; ground)", {"sky": "rain", "ground": "dry"}) == "repulsive"
    with pytest.raises(ExpressionError, match="ground has no state 'damp'; it has dry, wet"):
        table.value("P(ground=damp)")


@pytest.mark.parametrize(
    ("rate", "word"), [(0.0, "repulsive"), (0.99, "repulsive"), (1.0, "independent"), (1.01, "attractive")]
)
def test_interpretation(rate: float, word: str) -> None:
    assert interpretation(math.log(rate) if rate else -math.inf) == word


@pytest.mark.parametrize("text", ["P(A)", "P(A | B)", "CR(A; B) P(A)", "1", "sum_A [CR(A; B) P(A)]"])
def test_only_rates_are_interpreted(text: str) -> None:
    for distribution in (Table([[1, 2], [3, 4]], "AB"), Gaussian(np.eye(2), "AB")):
        with pytest.raises(ExpressionError, match="is not a co-occurrence rate"):
            distribution.interpret(text, {"A": 0, "B": 1})


def test_independent_variables_have_a_rate_of_one() -> None:
    table = Table(np.outer([1, 2, 3], [5, 1]), "AB")
    assert table.interpret("CR(A; B)", {"A": 2, "B": 1}) == "independent"


# -- zeros ------------------------------------------------------------------------------------------------------------


def test_a_rate_is_undefined_where_a_single_probability_is_zero() -> None:
    table = Table([[1, 1], [0, 0]], "AB")
    assert table.value("CR(A; B)", {"A": 0, "B": 1}) == pytest.approx(1.0)
    with pytest.raises(UndefinedRateError, match=r"CR\(A=1; B=0\) is undefined: P\(A=1\) is zero"):
        table.value("CR(A; B)", {"A": 1, "B": 0})
    with pytest.raises(UndefinedRateError, match=r"P\(A=1\) is zero"):
        table.log_table("CR(A; B)")
    with pytest.raises(UndefinedRateError, match=r"P\(A=1\) is zero"):
        table.difference("CR(A; B)", "CR(B; A)")


def test_an_impossible_pair_of_possible_events_has_the_rate_zero() -> None:
    table = Table([[1, 1], [1, 0]], "AB")
    assert table.value("CR(A; B)", {"A": 1, "B": 1}) == 0.0
    assert table.difference("P(A, B)", "CR(A; B) P(A) P(B)") < 1e-12


def test_conditions_and_quotients_need_something_to_divide_by() -> None:
    table = Table([[1, 1], [0, 0]], "AB")
    for text in ("P(B | A)", "P(B) / P(A)", "sum_B [CR(A; B)]", "phi(A)[CR(A; B)]"):
        with pytest.raises(UndefinedRateError, match=r"P\(A=1\) is zero"):
            table.log_table(text)


def test_sides_of_which_one_is_impossible_differ() -> None:
    table = Table([[1, 0], [1, 1]], "AB")
    assert table.difference("P(A, B)", "P(A) P(B)") == math.inf


def test_marginals_entropies_and_mutual_information_are_sums() -> None:
    rng = np.random.default_rng(0)
    weights = rng.gamma(0.5, size=(2, 3, 4))
    weights[0, 1, :] = 0.0
    p = weights / weights.sum()
    table = Table(weights, "ABC", states={"C": list("wxyz")})
    margin = table.marginal(["C", "A"])
    assert (margin.variables, margin.states["C"]) == (("C", "A"), ("w", "x", "y", "z"))
    assert np.exp(margin.log_table("P(A, C)")[1]) == pytest.approx(p.sum(1).T)

    def entropy(q: np.ndarray) -> float:
        return float(-(q[q > 0] * np.log(q[q > 0])).sum())

    assert table.entropy() == pytest.approx(entropy(p))
    assert table.entropy("AB", given="C") == pytest.approx(entropy(p) - entropy(p.sum((0, 1))))
    both = entropy(p.sum((1, 2))) + entropy(p.sum(0)) - entropy(p)
    assert table.mutual_information("A", "BC") == pytest.approx(both)
    given = entropy(p.sum(1)) + entropy(p.sum(0)) - entropy(p) - entropy(p.sum((0, 1)))
    assert table.mutual_information("A", "B", given="C") == pytest.approx(given)
    counts = Counts.of_frame({"x": [0, 0, 1, 1], "y": [0, 0, 1, 0]})
    assert counts.mutual_information("x", "y") == pytest.approx(counts.table().mutual_information("x", "y"))
    for left, right in (("A", "A"), ("", "B"), ("A", "AB")):
        with pytest.raises(DataError, match="at least one variable on each side"):
            table.mutual_information(left, right)


def test_a_sum_leaves_out_what_is_impossible_and_nothing_else() -> None:
    """One rule for 0 / 0 in value, log_table, difference and check."""
    table = Table([[1, 1, 0], [1, 2, 0]], "AB")
    text = "sum_B [CR(A; B) P(B)]"
    assert table.value(text, {"A": 0}) == pytest.approx(1.0)
    assert np.exp(table.log_table(text)[1]) == pytest.approx([1.0, 1.0])
    assert table.difference(text, "CR(A)") < 1e-12
    assert Derivation.begin(text, "A-B").apply(marginal).check(table).holds
    other = Table([[1, 1, 0], [0, 0, 0]], "AB")
    for ask in (
        lambda: other.value(text, {"A": 1}),
        lambda: other.log_table(text),
        lambda: other.difference(text, "1"),
    ):
        with pytest.raises(UndefinedRateError, match=r"P\(A=1\) is zero"):
            ask()
    check = Derivation.begin(text, "A-B").apply(marginal).check(other)
    assert (check.holds, check.skipped) == (True, 1)
    assert other.value("sum_A [sum_B [CR(A; B) P(A) P(B)]]") == pytest.approx(1.0)


# -- bad input --------------------------------------------------------------------------------------------------------


def test_unknown_variables_and_missing_values_are_told() -> None:
    table = Table([[1, 2], [3, 4]], "AB")
    with pytest.raises(ExpressionError, match="no variable 'C' in the distribution; it has A, B"):
        table.value("P(C)", {"C": 0})
    with pytest.raises(ExpressionError, match="B has no value"):
        table.value("P(A, B)", {"A": 0})


@pytest.mark.parametrize(
    ("weights", "names"),
    [
        ([[1, 2]], "A"),
        ([1, 2], "AA"),
        ([-1, 2], "A"),
        ([0, 0], "A"),
        ([math.nan, 1], "A"),
        ([math.inf, 1], "A"),
        ([], "A"),
    ],
)
def test_weights_that_are_no_distribution_are_refused(weights: Any, names: str) -> None:
    with pytest.raises(DataError):
        Table(weights, list(names))


def test_tables_too_large_to_build_are_refused() -> None:
    counts = Counts(np.zeros((1, 4), int), "ABCD", {name: range(1000) for name in "ABCD"})
    assert counts.value("P(A, B, C, D)", dict.fromkeys("ABCD", 0)) == pytest.approx(1.0)
    with pytest.raises(DataError, match="1,000,000,000,000 cells"):
        counts.log_table("P(A, B, C, D)")
    with pytest.raises(DataError, match="1,000,000,000,000 cells"):
        counts.log_table("P(A, B) P(C, D)")


# -- counts -----------------------------------------------------------------------------------------------------------

ROWS = {
    "sky": ["sun", "sun", "rain", "rain", "rain"],
    "ground": ["dry", "dry", "wet", "wet", "dry"],
    "n": [1, 2, 1, 1, 2],
}


class Frame:
    """What a data frame has: columns, and a column by its name, whose values have ``tolist``."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = list(columns)
        self._data = {name: np.array(values) for name, values in columns.items()}

    def __getitem__(self, name: str) -> Any:
        return self._data[name]


@pytest.mark.parametrize("frame", [ROWS, Frame(ROWS)], ids=["dict", "frame"])
def test_counts_of_a_frame_are_its_frequencies(frame: Any) -> None:
    counts = Counts.of_frame(frame)
    assert counts.variables == ("sky", "ground", "n")
    assert counts.value("P(sky)", {"sky": "rain"}) == pytest.approx(0.6)
    assert counts.value("P(ground | sky, n)", {"ground": "wet", "sky": "rain", "n": 1}) == pytest.approx(1.0)
    assert counts.value("CR(sky; ground)", {"sky": "rain", "ground": "wet"}) == pytest.approx(0.4 / (0.6 * 0.4))
    assert counts.difference("CR(sky; ground; n) P(sky) P(ground) P(n)", "P(sky, ground, n)") < 1e-12
    assert Counts.of_frame(frame, ["n", "sky"]).variables == ("n", "sky")


def test_counts_may_be_weighted() -> None:
    counts = Counts.of_frame({"x": ["a", "b"]}, weights=[3, 1])
    assert counts.value("P(x)", {"x": "a"}) == pytest.approx(0.75)


def test_counts_with_something_added_have_no_zeros() -> None:
    counts = Counts.of_frame(ROWS)
    with pytest.raises(UndefinedRateError, match=r"P\(sky=sun, ground=wet\) is zero.*add"):
        counts.difference("CR(sky; ground; n)", "CR(sky; ground) CR(sky ground; n)")
    table = counts.table(add=0.5)
    assert table.difference("CR(sky; ground; n)", "CR(sky; ground) CR(sky ground; n)") < 1e-12
    assert table.value("P(sky, ground, n)", {"sky": "sun", "ground": "wet", "n": 1}) == pytest.approx(0.5 / 9)
    assert counts.table(["sky"]).value("P(sky)", {"sky": "sun"}) == pytest.approx(0.4)
    with pytest.raises(ExpressionError, match="no variable 'moon'"):
        counts.table(["moon"])
    with pytest.raises(DataError, match="must not be negative"):
        counts.table(add=-1)


def test_counts_equal_the_table_of_the_same_counts() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, size=(200, 3))
    counts = Counts.of_frame({name: rows[:, i] for i, name in enumerate("ABC")})
    dense = np.zeros((3, 3, 3))
    np.add.at(dense, tuple(rows.T), 1)
    table = Table(dense, "ABC")
    for text in ("P(A, B, C)", "CR(A; BC)", "P(A | B)"):
        for cell in Joint(dense + 1, "ABC").cells("ABC"):
            at = {name: cell[name] for name in parse(text).free()}
            assert counts.log_value(text, at) == pytest.approx(table.log_value(text, at), abs=1e-9)


@pytest.mark.parametrize(
    ("frame", "columns", "in_words"),
    [
        ({"a": [1, 2], "b": [1]}, None, "different lengths: a 2, b 1"),
        ({"a": [1, None]}, None, "column 'a', row 1: the value is missing"),
        ({"a": [1.0, math.nan]}, None, "column 'a', row 1: the value is missing"),
        ({"a": [[1], [2]]}, None, "is not hashable"),
        ({"a": [1]}, ["b"], "no column 'b'"),
        ({}, None, "no columns"),
        ({"a": []}, None, "nothing to count"),
        ([1, 2], None, "named columns"),
    ],
)
def test_frames_that_cannot_be_counted_are_told_why(frame: Any, columns: list[str] | None, in_words: str) -> None:
    with pytest.raises(DataError, match=in_words):
        Counts.of_frame(frame, columns)


def test_label_pairs_of_a_corpus() -> None:
    corpus = Corpus.from_sentences([["a", "b", "c"], ["d"], []], [["X", "Y", "X"], ["Z"], []])
    pairs = Counts.label_pairs(corpus)
    assert pairs.value("P(label, next)", {"label": "X", "next": "Y"}) == pytest.approx(1 / 6)
    assert pairs.value("P(label, next)", {"label": "<s>", "next": "Z"}) == pytest.approx(1 / 6)
    assert pairs.value("P(next)", {"next": "</s>"}) == pytest.approx(2 / 6)
    inner = Counts.label_pairs(corpus, boundaries=False)
    assert inner.states["label"] == ("X", "Y", "Z")
    assert inner.value("P(label, next)", {"label": "X", "next": "Y"}) == pytest.approx(0.5)


def test_labels_that_a_slice_does_not_have_are_no_states() -> None:
    corpus = Corpus.from_sentences([["a"], ["b"]], [["X"], ["Y"]])
    assert Counts.label_pairs(corpus[1:]).states["label"] == ("Y", "<s>")
    words = Counts.words(corpus[1:])
    assert (words.states["word"], words.states["label"]) == (("b",), ("Y",))


def test_words_of_a_corpus() -> None:
    corpus = Corpus.from_sentences([[("a", "D", "X"), ("b", "N", "Y")], [("a", "D", "Y")]])
    assert Counts.words(corpus).value("P(label | word)", {"label": "Y", "word": "a"}) == pytest.approx(0.5)
    assert Counts.words(corpus, "pos").value("P(label | pos)", {"label": "X", "pos": "D"}) == pytest.approx(0.5)


# -- Gaussians --------------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_densities_are_those_of_scipy(seed: int) -> None:
    gaussian = random_gaussian("A-B B-C C-D D-A", seed)
    x = gaussian.sample(1, seed % 1000)[0]
    at = dict(zip("ABCD", x.tolist(), strict=True))

    def log_density(names: str) -> float:
        where = ["ABCD".index(name) for name in names]
        return float(
            multivariate_normal.logpdf(x[where], gaussian.mean[where], gaussian.covariance[np.ix_(where, where)])
        )

    d = log_density
    wanted: list[tuple[Expression, float]] = [
        (P("A, B, C, D"), d("ABCD")),
        (P("A, B | C"), d("ABC") - d("C")),
        (CR("A; B; D"), d("ABD") - d("A") - d("B") - d("D")),
        (CR("AB; BC"), d("ABC") - d("AB") - d("BC")),
        (CR("A; A"), -d("A")),
        (CR("A; B | D"), d("ABD") + d("D") - d("AD") - d("BD")),
        (P("A") ** 2 / P("B"), 2 * d("A") - d("B")),
        (Sum("D", P("A, B, D")), d("AB")),
        (Sum("C", CR("A; C") * P("C")), 0.0),
    ]
    for expression, want in wanted:
        here = {name: at[name] for name in expression.free()}
        assert gaussian.log_value(expression, here) == pytest.approx(want, abs=1e-8)
        fixed = expression.fixed({"A": at["A"], "B": at["B"]})
        assert gaussian.log_value(fixed, {n: at[n] for n in fixed.free()}) == pytest.approx(want, abs=1e-8)


def test_gaussians_refuse_what_is_no_density() -> None:
    with pytest.raises(DataError, match="not positive definite"):
        Gaussian([[1.0, 1.0], [1.0, 1.0]], "AB")
    with pytest.raises(DataError, match="not symmetric"):
        Gaussian([[1.0, 0.5], [0.0, 1.0]], "AB")
    with pytest.raises(DataError, match="2 by 2"):
        Gaussian([[1.0]], "AB")
    two = Gaussian(np.eye(2), "AB")
    with pytest.raises(ExpressionError, match="must be a number, not 'wet'"):
        two.value("P(A=wet)")
    with pytest.raises(ExpressionError, match="B has no value"):
        two.value("P(A, B)", {"A": 0.0})
    with pytest.raises(UndefinedRateError, match="integral over A does not converge"):
        two.value("sum_A [CR(A; B)]", {"B": 0.0})


# -- random models ----------------------------------------------------------------------------------------------------


def test_random_models_are_positive_and_depend_on_the_seed() -> None:
    one, again, other = (random_table("A-B B-C", seed) for seed in (1, 1, 2))
    assert one.difference("P(A)", "P(A)") == 0.0
    assert np.isfinite(one.log_table("P(A, B, C)")[1]).all()
    np.testing.assert_array_equal(one.log_table("P(A, B, C)")[1], again.log_table("P(A, B, C)")[1])
    assert not np.array_equal(one.log_table("P(A)")[1], other.log_table("P(A)")[1][: len(one.states["A"])])
    assert random_table("A-B", states=4).states["B"] == (0, 1, 2, 3)
    assert random_gaussian("A-B", 1).difference("P(A)", "P(B)") > 1e-3


def test_variables_with_capital_names_can_be_asked_for() -> None:
    table = Table([[3, 1], [1, 3]], ["AB", "C"])
    assert table.difference("CR(AB; C) P(AB) P(C)", "P(AB, C)") < 1e-12


def test_states_are_found_by_how_they_are_written() -> None:
    """A number in the text of an expression also means the state that is a text, and the other way round."""
    counts = Counts.of_frame({"A": ["x", "y", "x"], "B": ["0", "1", "0"], "C": [0, 1, 1]})
    assert counts.value("P(B=0)") == counts.value('P(B="0")') == pytest.approx(2 / 3)
    assert counts.value('P(C="1")') == pytest.approx(2 / 3)
    with pytest.raises(ExpressionError, match="B has no state 2; it has 0, 1"):
        counts.value("P(B=2)")


def test_columns_may_have_numbers_and_spaces_for_names() -> None:
    counts = Counts.of_frame({0: ["x", "y"], "next label": ["x", "y"]})
    assert counts.value("CR({0}=x; {next label}=x)") == pytest.approx(2.0)
    assert Counts.of_frame({0: ["x", "y"], 1: [1, 2]}, [1]).variables == ("1",)


def test_states_of_unknown_variables_are_errors() -> None:
    with pytest.raises(ExpressionError, match="no node 'Z'"):
        random_table("A-B", states={"A": [0, 1], "Z": [0, 1]})
    with pytest.raises(ExpressionError, match="no variable 'Z'"):
        Table([[1, 2], [3, 4]], "AB", states={"Z": [0, 1]})
