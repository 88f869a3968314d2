"""Derivations are written step by step, with the text of whole expressions but less work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from corate.rate import FORMS, Derivation, definition, factorise, parse, writing
from corate.rate.errors import ExpressionError
from corate.rate.writing import mathml, text

GRAPHS = ["A-B", "A-B B-C C-D", "A-B B-C C-A C-D", "A-B B-C C-D D-A", "A B C", "A-B A-C A-D D-E", "A-{next label} D"]


def whole_lines(derivation: Derivation) -> list[str]:
    return [text(whole, short=True) for whole, _ in derivation.lines()]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("given", ["", "X"])
def test_each_line_is_the_text_of_its_expression(graph: str, form: str, given: str) -> None:
    try:
        derivation = factorise(graph, form, given=given).derivation
    except ExpressionError:
        return  # the graph does not have this form
    lines = str(derivation).split("\nwhere\n")[0].split("\n")
    for line, expected in zip(lines, whole_lines(derivation), strict=True):
        assert line.removeprefix("  = ").startswith(expected)


def test_cancelled_factors_denominators_and_sums() -> None:
    """Probabilities that the expression lacks, powers, and a sum beside a product."""
    for start, target in [
        ("P(C) sum_A [CR(A; B) P(A)]", "CR(A; B)"),
        ("CR(A; B)", "CR(A; B)"),
        ("CR(A; B)^2", "CR(A; B)"),
    ]:
        derivation = Derivation.begin(start, "A-B B-C").apply(definition, target)
        expected = whole_lines(derivation)
        assert str(derivation).split("\n")[0] == expected[0]
        assert str(derivation).split("\n")[1].removeprefix("  = ").startswith(expected[1])


def test_a_long_path_is_written_with_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line has hundreds of factors, and a step changes a few of them."""
    derivation = factorise(" ".join(f"A{i}-A{i + 1}" for i in range(100))).derivation
    written, original = [], writing._factor_text

    def counting(*args: object, **options: object) -> str:
        written.append(args[0])
        return original(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(writing, "_factor_text", counting)
    shown = str(derivation)
    assert len(written) < 8 * len(derivation.steps)
    monkeypatch.undo()
    assert shown.split("\n")[-1].removeprefix("  = ").startswith(text(derivation.result))


@pytest.mark.parametrize(
    ("write", "of_condition"),
    [(str, "_given_text"), (Derivation.latex, "_given_latex"), (Derivation.html, "_given_mathml")],
)
def test_each_rate_and_probability_of_a_long_derivation_is_written_once(
    write: Callable[[Derivation], str], of_condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, original = [], getattr(writing, of_condition)

    def counting(given: object) -> str:
        written.append(given)
        return original(given)  # type: ignore[no-any-return]

    monkeypatch.setattr(writing, of_condition, counting)
    found = factorise(" ".join(f"x{i}-x{i + 1}" for i in range(30)))
    write(found.derivation)
    distinct = {factor for whole, _ in found.derivation.lines() for factor in whole.powers()}
    assert 0 < len(written) <= len(distinct)


@pytest.mark.parametrize(
    ("first", "second"), [("CR(A; B)", "CR(B; A)"), ("P(A=1)", "P(A=True)"), ("P(A=1)", "P(A=1.0)")]
)
def test_equal_factors_are_written_as_they_are(first: str, second: str) -> None:
    """In another order, or with an equal value of another type, whichever is written first."""
    one, other = parse(first), parse(second)
    assert one == other
    assert [str(one), str(other)] == [first, second]
    assert one.latex() != other.latex()
    assert mathml(one) != mathml(other)
