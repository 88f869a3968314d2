"""Drawn problems, the losses and orders that tests run with, and the state of stochastic passes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

from corate import _native
from reference.chain_problems import Problem, random_problem, weights_for
from reference.chains import LOSSES


def drawn_problems(triples: bool) -> st.SearchStrategy[Problem]:
    return st.builds(
        random_problem,
        st.integers(0, 10_000),
        lengths=st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple),
        labels=st.sampled_from([1, 2, 3]),
        full=st.booleans(),
        edges=st.booleans(),
        weighted=st.booleans(),
        valued=st.booleans(),
        triples=st.just(triples),
        parts=st.booleans(),
    )


problems, second_order = drawn_problems(False), drawn_problems(True)
losses = st.sampled_from(list(LOSSES))
every_loss = pytest.mark.parametrize("loss", list(LOSSES))
#: Triples are for the likelihood alone.
every_loss_and_order = pytest.mark.parametrize(
    ("loss", "triples"), [*((loss, False) for loss in LOSSES), ("likelihood", True)]
)
either_order = pytest.mark.parametrize("triples", [False, True], ids=["first order", "second order"])


def fresh_state(chains: _native.Chains, seed: int = 1) -> NDArray[np.float32]:
    state = np.full((chains.size, 2), 1e-4, np.float32)
    state[:, 0] = weights_for(chains, seed)
    return state.ravel()


def decay_of(problem: Problem, amount: float) -> NDArray[np.float32]:
    features = 0 if problem.edges is None else len(problem.edges)
    three = problem.triples is not None and bool(problem.triples.any())
    return np.full(1 + features + len(problem.seen) + three, amount, np.float32)
