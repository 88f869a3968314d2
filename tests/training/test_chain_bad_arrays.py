"""Arrays of whole sentences that do not fit together are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from corate import _native
from reference.chain_cases import (
    decay_of,
)
from reference.chain_problems import random_problem

GOOD = random_problem(2, lengths=(2, 1), edges=True, weighted=True)
BAD_OFFSETS = [[], [0], [0, 99], [1, 3], [-1, 3], [0, 3, 2, 3], [0, 2**62, 3], [0, -(2**62), 3]]


def broken(name: str, value: object, part: int | None = None, inner: int | None = None) -> dict[str, object]:
    arrays = GOOD.arrays("likelihood")
    if part is not None:
        whole = list(arrays[name])  # type: ignore[call-overload]
        if inner is not None:
            pair = list(whole[part])
            pair[inner] = value
            value = tuple(pair)
        whole[part] = value
        value = tuple(whole)
    return arrays | {name: value}


@pytest.mark.parametrize("bad", BAD_OFFSETS, ids=str)
@pytest.mark.parametrize(
    "place",
    [("sentences",), ("candidates", 0), *((n, part, 0) for n in ("node_slots", "edge_slots") for part in (0, 1))],
    ids=str,
)
def test_offsets_that_lead_outside_are_refused(place: tuple[object, ...], bad: list[int]) -> None:
    name, *where = place
    with pytest.raises(ValueError, match=r"\w"):
        _native.Chains(**broken(name, np.array(bad, np.int64), *where))  # type: ignore[arg-type]


def shifted(array: object, by: int) -> NDArray[np.int32]:
    return (np.asarray(array) + by).astype(np.int32)


@pytest.mark.parametrize("by", [-100, 100, 2**30])
def test_ids_that_are_out_of_range_are_refused(by: int) -> None:
    good = GOOD.arrays("likelihood")
    for place in (
        ("gold",),
        ("candidates", 1),
        *((n, part, 1) for n in ("node_slots", "edge_slots") for part in (0, 1)),
    ):
        array: object = good[place[0]]  # type: ignore[index]
        for part in place[1:]:
            array = array[part]  # type: ignore[index]
        with pytest.raises(ValueError, match=r"\w"):
            _native.Chains(**broken(place[0], shifted(array, by), *place[1:]))  # type: ignore[arg-type]


@pytest.mark.parametrize("more", [-1, 1])
def test_arrays_of_another_length_are_refused(more: int) -> None:
    good = GOOD.arrays("likelihood")
    for name in ("values", "base", "gold", "sentence_weights", "free_pairs"):
        array = np.asarray(good[name])
        other = array[:more] if more < 0 else np.concatenate([array, array[:1]])
        with pytest.raises(ValueError, match=r"\w"):
            _native.Chains(**good | {name: other})


@pytest.mark.parametrize("bad", BAD_OFFSETS, ids=str)
def test_rows_of_triples_that_lead_outside_are_refused(bad: list[int]) -> None:
    arrays = replace(GOOD, triples=np.ones((4, 16), bool)).arrays("likelihood")
    pairs = arrays["triples"][1]  # type: ignore[index]
    _native.Chains(**arrays)
    with pytest.raises(ValueError, match="label triples disagree with the labels"):
        _native.Chains(**arrays | {"triples": (np.array(bad, np.int64), pairs)})


def test_triples_out_of_range_out_of_order_and_of_other_losses_are_refused() -> None:
    problem = replace(GOOD, triples=np.ones((4, 16), bool))
    arrays = problem.arrays("likelihood")
    rows, pairs = arrays["triples"]  # type: ignore[misc]
    for wrong in (shifted(pairs, 1), shifted(pairs, -1), shifted(pairs, 2**30), pairs[::-1].copy(), pairs * 0):
        with pytest.raises(ValueError, match="label triples are out of range or out of order"):
            _native.Chains(**arrays | {"triples": (rows, wrong)})
    for wrong in (pairs[:-1], np.append(pairs, pairs[:1])):
        with pytest.raises(ValueError, match="label triples disagree with the labels"):
            _native.Chains(**arrays | {"triples": (rows, wrong)})
    for loss in ("piecewise", "memm", "perceptron"):
        with pytest.raises(ValueError, match="label triples need the loss likelihood"):
            problem.native(loss)
    chains = problem.native("likelihood")
    state, order = np.zeros(2 * chains.size, np.float32), np.arange(2)
    for decay in (decay_of(problem, 0.0)[1:], np.append(decay_of(problem, 0.0), np.float32(0))):
        with pytest.raises(ValueError, match="decay and features disagree"):
            chains.pass_over(state, order, decay, 0.1, 1, 1)


def test_candidates_out_of_order_and_tokens_without_any_are_refused() -> None:
    good = random_problem(1, lengths=(2,), full=True)
    good.full = False
    starts, own = good.arrays("likelihood")["candidates"]  # type: ignore[misc]
    for bad in ((starts, own[::-1].copy()), (np.array([0, 0, 6]), own)):
        with pytest.raises(ValueError, match="candidate"):
            _native.Chains(**good.arrays("likelihood") | {"candidates": bad})


def test_other_losses_need_every_label_and_there_are_no_others() -> None:
    problem = random_problem(1, partial=True)
    assert problem.native("likelihood").size > 0
    for loss in ("piecewise", "memm", "perceptron"):
        with pytest.raises(ValueError, match="label"):
            problem.native(loss)
    with pytest.raises(ValueError, match="unknown loss"):
        GOOD.native("luck")
    with pytest.raises(ValueError, match=r"\w"):
        _native.Chains(**GOOD.arrays("likelihood") | {"n_labels": 0})


@pytest.mark.parametrize("size", [0, -1, 1])
def test_weights_and_states_of_another_size_are_refused(size: int) -> None:
    chains = GOOD.native("perceptron")
    n = max(0, chains.size + size) if size else 0
    decay, order = decay_of(GOOD, 0.0), np.arange(2)
    for call in (
        lambda: chains.objective(np.zeros(n), 0.0, 1),
        lambda: chains.best(np.zeros(n, np.float32), 1),
        lambda: chains.pass_over(np.zeros(2 * n, np.float32), order, decay, 0.1, 1, 1),
        lambda: chains.perceptron(np.zeros(2 * n, np.float32), order, 0.0, 0.1),
    ):
        with pytest.raises(ValueError, match="disagree"):
            call()


@pytest.mark.parametrize("order", [[2], [-1], [0, 2**62]])
def test_steps_for_sentences_that_are_not_there_are_refused(order: list[int]) -> None:
    chains = GOOD.native("perceptron")
    state = np.zeros(2 * chains.size, np.float32)
    for call in (
        lambda: chains.pass_over(state, np.array(order), decay_of(GOOD, 0.0), 0.1, 1, 1),
        lambda: chains.perceptron(state, np.array(order), 0.0, 0.1),
    ):
        with pytest.raises(ValueError, match="no such sentence"):
            call()
    good = np.arange(2)
    with pytest.raises(ValueError, match="disagree"):
        chains.pass_over(state, good, decay_of(GOOD, 0.0)[1:], 0.1, 1, 1)
    with pytest.raises(ValueError, match="disagree"):
        chains.pass_over(state, good, decay_of(GOOD, 0.0), 0.1, 0, 1)
