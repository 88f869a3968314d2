"""A text that names several variables is read as in an expression, by every function; an unknown name is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from corate.errors import DataError
from corate.rate import (
    CR,
    Counts,
    ExpressionError,
    Gaussian,
    Graph,
    Group,
    P,
    Table,
    cit1,
    factorise,
    merge,
    order,
    parse,
    partition,
)

GRAPH = Graph.of("A-B B-rain rain-{AC} {AC}-{next label}")
COUNTS = Counts.of_frame({name: [0, 0, 1, 1, 0, 1] for name in GRAPH.nodes})

#: The names that each function reads in one of its arguments.
READERS: dict[str, Callable[[Any], Any]] = {
    "Graph.require": GRAPH.require,
    "Graph.ordered": GRAPH.ordered,
    "Graph.without": lambda names: set(GRAPH.nodes) - set(GRAPH.without(names).nodes),
    "Graph.blanket": GRAPH.blanket,
    "Graph.is_clique": GRAPH.is_clique,
    "Graph.path, sources": lambda names: GRAPH.path(names, ["next label"], []),
    "Graph.path, targets": lambda names: GRAPH.path(["next label"], names, []),
    "Graph.path, avoiding": lambda names: GRAPH.path(["A"], ["next label"], names),
    "Graph.of, given": lambda names: Graph.of(GRAPH, given=names),
    "factorise": lambda names: str(factorise(GRAPH, given=names)),
    "Counts.require": COUNTS.require,
    "Counts.table": lambda names: COUNTS.table(names).variables,
    "Counts.test, given": lambda names: COUNTS.test(["A"], ["B"], names).independence,
    "Counts.rates, given": lambda names: COUNTS.rates(["A", "B"], names, smooth=1),
    "Counts.of_frame": lambda names: Counts.of_frame({node: [0, 1] for node in GRAPH.nodes}, names).variables,
}
KNOWN = {"rain": ["rain"], "rain, AC": ["rain", "AC"], "rain AC": ["rain", "AC"], "next label": ["next label"]}
KNOWN |= {"{next label}": ["next label"], "{AC}, rain": ["AC", "rain"]}


@pytest.mark.parametrize("text", KNOWN)
@pytest.mark.parametrize("reader", READERS)
def test_a_text_is_read_like_the_list_of_its_names(reader: str, text: str) -> None:
    assert READERS[reader](text) == READERS[reader](KNOWN[text])


@pytest.mark.parametrize("names", ["AB", "A, B", "A B"])
def test_capital_letters_are_single_variables(names: str) -> None:
    assert GRAPH.require(names) == COUNTS.require(names) == ("A", "B")
    assert GRAPH.path(names, "rain", "") == ["B", "rain"]
    assert COUNTS.rates(names, smooth=1) == COUNTS.rates(["A", "B"], smooth=1)
    assert COUNTS.test(names, "rain").independence.left == ("A", "B")
    assert Graph.of("C-D", given=names).nodes == ("C", "D", "A", "B")
    assert str(factorise("C-D", given=names).derivation.start) == "P(C, D | A, B)"
    assert Table(np.ones((2, 2)), names).variables == Gaussian(np.eye(2), names).variables == ("A", "B")
    assert Group("phi", names, P("A, B")) == Group("phi", ["A", "B"], P("A, B"))


def test_no_word_is_split_into_letters() -> None:
    assert Graph.of("A-B", given="rain").nodes == ("A", "B", "rain")
    assert Table([1, 2], "rain").variables == Gaussian([[1.0]], "rain").variables == ("rain",)
    assert Counts(np.array([[0], [1]]), "rain", {"rain": [0, 1]}).variables == ("rain",)
    assert Counts.of_frame({"rain": [0, 1], "r": [0, 1]}, "rain").variables == ("rain",)
    assert Group("phi", "rain", P("rain")).scope == ("rain",)


@pytest.mark.parametrize("unknown", ["snow", "AZ", "A, snow", ["A", "snow"], ["BA"], [3], "A=0", ["A=0"]])
@pytest.mark.parametrize("reader", [name for name in READERS if name not in ("Graph.of, given", "factorise")])
def test_unknown_names_are_errors(reader: str, unknown: Any) -> None:
    with pytest.raises(DataError, match=r"snow|Z|BA|3|A=0"):
        READERS[reader](unknown)


@pytest.mark.parametrize("given", ["X=0", ["X=0"], [3], [""]])
def test_new_variables_need_valid_names_without_values(given: Any) -> None:
    for read in (Graph.of, factorise):
        with pytest.raises(ExpressionError):
            read("A-B", given=given)


def test_theorems_read_the_names_of_the_rate_and_of_the_graph() -> None:
    whole = parse("CR({AB}; C; D)")
    assert partition(whole, "AB") == partition(whole, ["AB"])
    assert merge(whole, "AB", "C") == merge(whole, ["AB"], ["C"])
    assert order(whole, "C, AB, D").after == whole
    graph = Graph.of("C-{AB}-D")
    assert cit1("CR(C; AB D)", "D", graph=graph).after == CR(["C"], ["AB"])
    with pytest.raises(ExpressionError, match="A is not one of the variables"):
        merge("CR(AB; C)", "A", "C")


def test_names_in_lists_may_have_any_characters() -> None:
    odd = Counts.of_frame({"a=b": [0, 0, 1, 1], "{c}": [0, 1, 0, 1]})
    assert odd.variables == ("a=b", "{c}")
    assert odd.test("a=b", "{c}") == odd.test(["a=b"], ["{c}"])
    assert odd.table(["{c}"]).variables == ("{c}",)
