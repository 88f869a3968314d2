"""Expressions: what is equal, what is refused, and that text says all there is to say."""

from __future__ import annotations

import pickle
import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.rate import CR, ONE, Counts, ExpressionError, Group, P, Sem, Seq, Sum, Term, parse, product
from corate.rate.expressions import Expression, Probability, Rate
from corate.rate.terms import Block
from corate.rate.writing import mathml

NAMES = ("A", "B", "X1", "X2", "Y'", "rain", "next_label")
terms = st.builds(
    Term, st.sampled_from(NAMES), st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["dry", "B-X"]))
)


@st.composite
def factors(draw: st.DrawFn) -> Expression:
    """A probability or a rate; every variable has one value in it, and stands on one side of the bar."""
    values = draw(st.dictionaries(st.sampled_from(NAMES), terms, min_size=1))
    chosen = [Term(name, t.value) for name, t in values.items()]
    given = Block(chosen[1:][: draw(st.integers(0, 2))])
    left = [t for t in chosen if t not in given]
    if draw(st.booleans()):
        return Probability(Block(left), given)
    return Rate(draw(st.lists(st.lists(st.sampled_from(left), min_size=1).map(Block), max_size=4)), given)


def more(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    powers = st.lists(st.tuples(inner, st.integers(-3, 3)), max_size=4).map(lambda items: product(*items))
    sums = st.builds(Sum, st.sampled_from(NAMES), inner)
    return st.one_of(powers, sums, st.builds(Group, st.sampled_from(["phi", "psi"]), st.just(["A", "rain"]), inner))


expressions = st.recursive(factors(), more, max_leaves=6)
unhurried = settings(deadline=None)


@unhurried
@given(expressions)
def test_text_reads_back(expression: Expression) -> None:
    again = parse(str(expression))
    assert again == expression
    assert hash(again) == hash(expression)
    assert str(again) == str(expression)


@unhurried
@given(expressions)
def test_expressions_survive_pickling_and_can_be_written(expression: Expression) -> None:
    assert pickle.loads(pickle.dumps(expression)) == expression
    latex = expression.latex()
    assert latex.count("{") == latex.count("}")
    assert expression._repr_latex_() == f"$\\displaystyle {latex}$"


@unhurried
@given(factors(), st.randoms(use_true_random=False))
def test_order_does_not_matter(expression: Expression, rng: object) -> None:
    def shuffled(items: tuple[object, ...]) -> list[object]:
        return rng.sample(items, len(items))  # type: ignore[attr-defined, no-any-return]

    given = Block(shuffled(expression.given))  # type: ignore[attr-defined]
    if isinstance(expression, Probability):
        other: Expression = Probability(Block(shuffled(expression.block)), given)  # type: ignore[arg-type]
    else:
        blocks = [Block(shuffled(block)) for block in shuffled(expression.blocks)]  # type: ignore[attr-defined, arg-type]
        other = Rate(blocks, given)
    assert other == expression
    assert hash(other) == hash(expression)
    assert len({other, expression}) == 1


def test_what_is_not_equal() -> None:
    assert CR("A; B") != CR("AB")
    assert CR("A; B; C") != CR("A; BC")
    assert CR("A; A") != CR("A")
    assert CR("A; A; B") != CR("A; B; B")
    assert CR("A; B | C") != CR("A; B")
    assert P("A | B") != P("A, B")
    assert P("A") != CR("A")
    assert P("A=0") != P("A")
    assert P("A=0") != P("A=1")
    assert Sum("A", P("A, B")) != Sum("B", P("A, B"))
    assert CR("A; B") != "CR(A; B)"


def test_products_collect_their_factors() -> None:
    a, b = P("A"), P("B")
    assert a * b == b * a
    assert a * a == a**2
    assert a * b / a == b
    assert a / a == ONE
    assert (a * b) ** 2 == a**2 * b**2
    assert a**0 == ONE
    assert str(ONE) == "1"
    assert str(ONE / a) == "1 / P(A)"
    assert str(a * b**2 / CR("A; B")) == "P(A) P(B)^2 / CR(A; B)"


def test_a_probability_counts_a_variable_once_and_of_none_is_one() -> None:
    assert P("A, A, B") == P("A, B")
    assert P() == ONE


def test_joint_variables_are_written_with_seq_and_single_ones_with_sem() -> None:
    assert CR("X1", Seq("X2", "X3")) == CR("X1; X2X3")
    assert CR(*Sem("X1", "X2", "X3")) == CR("X1; X2; X3")
    assert CR(*Sem("A"), Seq("B", "C"), given="D") == CR("A; BC | D")
    assert str(CR("rain; wet, slip")) == "CR(rain; wet slip)"


def test_names_of_capital_letters_are_one_variable_where_that_is_said() -> None:
    assert parse("P(AB)") == P("A, B")
    assert parse("P(AB)", names=["AB"]) == P(Term("AB"))


def test_expressions_cannot_be_changed() -> None:
    for expression in (P("A"), CR("A; B"), Sum("A", P("A")), P("A") * P("B")):
        with pytest.raises(AttributeError):
            expression.given = ()  # type: ignore[attr-defined]


def test_what_a_value_depends_on() -> None:
    expression = P("A | B") * CR("C=1; D") * Sum("E", P("E, A") * P("F"))
    assert set(expression.free()) == {"A", "B", "D", "F"}
    assert set(expression.variables()) == set("ABCDEF")
    assert Sum("A", P("A, B")).fixed({"A": 0, "B": 1}) == Sum("A", P("A, B=1"))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (P("A") * Sum("A", P("A, B")), "P(A) sum_A' [P(A', B)]"),
        (Sum("A", P("A, B")) * P("B"), "P(B) sum_A [P(A, B)]"),
        (P("A=0") * Sum("A", P("A, B")), "P(A=0) sum_A [P(A, B)]"),
        (P("A") * Sum("A", P("A") * Sum("A", P("A, B"))), "P(A) sum_A' [P(A') sum_A'' [P(A'', B)]]"),
        (P("A") / Sum("A", P("A, A'")), "P(A) / sum_A'' [P(A'', A')]"),
        (Sum("A'", P("A, A'")), "sum_{A'} [P(A, A')]"),
        (P("A'") * Sum("A'", P("A, A'")), "P(A') sum_{A'} [P(A, A')]"),
        (P(Term("AB")) * Sum("AB", P(Term("AB"), "C")), "P({AB}) sum_{AB}' [P({AB}', C)]"),
        (P("A") * Sum("B", Sum("A", P("A, B"))), "P(A) sum_B [sum_A' [P(A', B)]]"),
        (P("A") * Group("phi", ["B"], Sum("A", P("A, B"))), "phi(B)[sum_A' [P(A', B)]] P(A)"),
    ],
)
def test_a_summed_variable_is_written_with_primes_if_its_name_also_stands_outside(
    expression: Expression, text: str
) -> None:
    assert str(expression) == text
    assert parse(text) == expression


def test_the_name_of_a_summed_variable_has_no_meaning() -> None:
    assert parse("sum_A' [P(A', B)]") == parse("sum_A'' [P(A'', B)]") == Sum("A", P("A, B"))
    written = P("A") * Sum("A", P("A, B"))
    assert written.latex() == r"P(A)\,\sum_{A'}\left[P(A', B)\right]"
    assert "<mi>A&#39;</mi></munder>" in mathml(written)


def test_variables_are_replaced_unless_they_are_summed_over() -> None:
    expression = CR("A; B | C=0") * Sum("A", P("A, B"))
    assert expression.substituted({"A": Term("D"), "C": Term("E")}) == CR("D; B | C=0") * Sum("A", P("A, B"))
    with pytest.raises(ExpressionError, match="B cannot be replaced by A"):
        expression.substituted({"B": Term("A")})


@pytest.mark.parametrize(
    ("text", "in_words"),
    [
        ("CR(A; B", "not closed"),
        ("sum_A' [P(A, A')]", "write the factors with A outside of the sum over A'"),
        ("sum_A' [sum_A'' [P(A') P(A'')]]", "A' cannot be replaced by A"),
        ("P(A))", "extra closing bracket"),
        ("(P(A)", "not closed"),
        ("P(A; B)", "by commas"),
        ("P(A |)", "followed by the condition"),
        ("P(A | B | C)", "one bar"),
        ("CR(A;; B)", "between two semicolons"),
        ("P(3)", "start with a variable name"),
        ("", "missing"),
        ("P(A) + P(B)", "cannot read this"),
        ("sum_Y P(Y)", "a [ is missing"),
        ("cr(A; B)", "cr is not known; write CR in capital letters"),
        ("P(A) p(B)", "p is not known; write P in capital letters"),
        ("phi(A)", "a [ is missing; a potential"),
        ("sum_Y [P(Y)", "not closed"),
        ("P(A, A=0)", "one value"),
        ("P(A | A)", "both sides of the bar"),
        ("P(A=0 | B=1, B=2)", "one condition"),
        ("P A", "a ( is missing"),
    ],
)
def test_texts_that_do_not_read_are_told_why(text: str, in_words: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(in_words)):
        parse(text)


@unhurried
@given(st.text(alphabet="PCR(()AB1;|,=/^*[] -sum_Yphi").map(lambda text: text[:60]))
def test_any_text_reads_or_is_refused_as_an_expression(text: str) -> None:
    with suppress(ExpressionError):
        expression = parse(text)
        assert parse(str(expression)) == expression


def test_brackets_may_be_nested_too_deeply() -> None:
    assert parse("(" * 50 + "P(A)" + ")" * 50) == P("A")
    with pytest.raises(ExpressionError, match="too deeply"):
        parse("(" * 100_000)


def test_exponents_are_whole() -> None:
    with pytest.raises(ExpressionError, match="must be integers"):
        P("A") ** 0.5  # type: ignore[operator]


def test_latex_sets_indices_fractions_and_conditions() -> None:
    assert P("Y1, Y2 | X").latex() == r"P(Y_{1}, Y_{2} \mid X)"
    assert (P("A") / P("B")).latex() == r"\frac{P(A)}{P(B)}"
    assert CR().latex() == r"\mathrm{CR}(X_{\emptyset})"
    assert Sum("Y", P("Y")).latex() == r"\sum_{Y}\left[P(Y)\right]"
    assert P("label=B_X").latex() == r"P(\mathit{label}{=}\text{B\_X})"


def test_a_sum_over_several_variables_is_a_sum_over_each() -> None:
    both = Sum("A", Sum("B", P("A, B")))
    assert parse("sum_AB [P(A, B)]") == parse("sum_{A,B} [P(A, B)]") == parse("sum_{A, B} [P(A, B)]") == both
    assert parse("sum_AB [P(AB)]", names=["AB"]) == Sum("AB", P([Term("AB")]))
    for name in ("AB", "x, y"):
        for one in (Sum(name, P([Term(name)])), Sum(name, P("C")), P([Term(name)]) * Sum(name, P("C"))):
            assert parse(str(one)) == one


def test_no_sum_is_over_a_fixed_variable() -> None:
    with pytest.raises(ExpressionError, match="A=0 has a value, so there is no sum over it; write A"):
        Sum("A=0", P("A, B"))


def test_truth_values_are_values_that_read_back() -> None:
    for value in (True, False, "True", "False"):
        one = CR("A; B").fixed({"A": value})
        assert parse(str(one)) == one
        read = next(term.value for term in parse(str(one)).terms())
        assert (type(read), read) == (type(value), value)
    assert parse("CR(A=True; B)") == CR("A; B").fixed({"A": True})
    assert Counts.of_frame({"A": ["True", "False"]}).value("P(A=True)") == 0.5
