"""Stochastic steps of weights of parts of labels, and arrays of parts that do not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corate import _native
from corate.label_parts import LabelParts
from reference.chain_problems import Problem, random_problem, slots_of, weights_for
from reference.chains import Token

PARTS = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 0]], bool)


@pytest.mark.parametrize("full", [True, False])
def test_weights_of_parts_take_half_the_step_and_four_times_the_decay(full: bool) -> None:
    token = Token({0: 0.5, 1: -0.25, 2: 0.0} if full else {0: 0.5, 2: 0.0}, 0, [(0, 0.5)])
    problem = Problem([[token]], np.ones((1, 6), bool), full=full, parts=PARTS)
    chains = problem.native("likelihood")
    weights = weights_for(chains)
    state = np.stack([weights, np.full(len(weights), 1e-4)], axis=1).astype(np.float32).ravel()
    chains.pass_over(state, np.array([0]), np.array([0.0, 0.01], np.float32), 0.2, 1, 1)
    nodes = slice(16, 22)
    gradient = chains.objective(weights, 0.0, 1, exact=True)[1][nodes]
    held = np.concatenate([np.isin(np.arange(3), list(token.base)), PARTS[list(token.base)].any(axis=0)])
    assert held.all() == full
    assert not gradient[~held].any()
    of_part = np.arange(6) >= 3
    pulled = gradient + 0.01 * np.where(of_part, 4.0, 1.0) * weights[nodes]
    step = 0.2 * np.where(of_part, 0.5, 1.0) * pulled / np.sqrt(1e-4 + pulled**2)
    expected = np.where(held, weights[nodes] - step, weights[nodes])
    np.testing.assert_allclose(state[::2][nodes], expected, rtol=1e-4, atol=1e-6)


def test_a_pass_has_the_same_bits_for_any_number_of_threads() -> None:
    lengths = tuple(np.random.default_rng(0).integers(1, 6, size=60).tolist())
    problem = random_problem(4, lengths=lengths, labels=5, parts=True)
    chains = problem.native("likelihood")
    found = []
    for threads in (1, 2, 3):
        state = np.full((chains.size, 2), 1e-4, np.float32)
        state[:, 0] = weights_for(chains)
        chains.pass_over(state.reshape(-1), np.arange(60), np.full(6, 1e-3, np.float32), 0.1, 16, threads)
        found.append(state.tobytes())
    assert found[0] == found[1] == found[2]


def test_rows_have_the_columns_of_all_parts_of_their_labels() -> None:
    labels = [f"{a}|{b}|{c}" for a in "XYZ" for b in "pqr" for c in "ij"]
    parts = LabelParts.of(labels)
    rng = np.random.default_rng(1)
    rows = rng.random((50, len(labels))) < 0.15
    held = np.array([[name in label.split("|") for name in parts.names.to_list()] for label in labels])
    expected = slots_of(np.concatenate([rows, rows @ held], axis=1))
    for found, wanted in zip(parts.with_columns(*slots_of(rows)), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "bad",
    [
        (np.array([0, 1, 2]), np.array([0, 1], np.int32), 3),  # fewer labels
        (np.array([0, 1, 2, 3]), np.array([0, 1, 3], np.int32), 3),  # a part out of range
        (np.array([0, 1, 2, 3]), np.array([0, 1, -1], np.int32), 3),
        (np.array([0, 2, 2, 3]), np.array([1, 0, 2], np.int32), 3),  # out of order
        (np.array([0, 2, 1, 3]), np.array([0, 1, 2], np.int32), 3),  # offsets that decrease
        (np.array([0, 1, 2, 4]), np.array([0, 1, 2], np.int32), 3),  # offsets too large
        (np.array([0, 1, 2, 3]), np.array([0, 1, 2], np.int32), 4),  # slots fit fewer parts
    ],
)
def test_parts_that_do_not_fit_are_refused(bad: tuple[object, ...]) -> None:
    problem = random_problem(3)
    arrays = replace(problem, seen=np.ones((5, 6), bool), parts=PARTS).arrays("likelihood")
    _native.Chains(**arrays)
    if bad[2] == 4:
        arrays["node_slots"] = (slots_of(np.ones((5, 8), bool)), arrays["node_slots"][1])  # type: ignore[index]
    with pytest.raises(ValueError, match=r"part|label"):
        _native.Chains(**arrays | {"parts": bad})
