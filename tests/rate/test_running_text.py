"""Derivations are written step by step, with the text of whole expressions but less work."""

from __future__ import annotations

import pytest

from corate.rate import FORMS, Derivation, definition, factorise, writing
from corate.rate.errors import ExpressionError
from corate.rate.writing import text

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


@pytest.mark.parametrize("write", [str, Derivation.latex, Derivation.html])
def test_each_rate_and_probability_of_a_long_derivation_is_written_once(write):
    kept = [writing._plain_text, writing._plain_latex, writing._plain_mathml]
    for cache in kept:
        cache.cache_clear()
    found = factorise(" ".join(f"x{i}-x{i + 1}" for i in range(30)))
    write(found.derivation)
    distinct = {factor for whole, _ in found.derivation.lines() for factor in whole.powers()}
    assert max(cache.cache_info().misses for cache in kept) <= len(distinct)
