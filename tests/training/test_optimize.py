"""Optimisers: they find optima, stop when asked, keep what they have reached, and repeat themselves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from corate.training.optimize import AdaGrad, lbfgs

F64 = NDArray[np.float64]
CENTRE = np.array([3.0, -1.0, 0.5])


def bowl(weights: F64) -> tuple[float, F64]:
    """sum (w - c)^4 + (w - c)^2, whose minimum is not found in one step."""
    far = weights - CENTRE
    return float((far**4 + far**2).sum()), 4 * far**3 + 2 * far


def test_lbfgs_finds_the_minimum_and_tells_how_it_goes() -> None:
    told: list[tuple[int, float, float]] = []

    def progress(step: int, value: float, norm: float) -> bool:
        told.append((step, value, norm))
        return True

    found = lbfgs(bowl, np.zeros(3), iterations=200, tolerance=1e-14, progress=progress)
    np.testing.assert_allclose(found, CENTRE, atol=1e-4)
    steps, values, norms = zip(*told, strict=True)
    assert steps == tuple(range(1, len(told) + 1))
    assert sorted(values, reverse=True) == list(values)
    assert norms[-1] < 1e-3 < norms[0]
    assert values[-1] == pytest.approx(bowl(found)[0], abs=1e-9)


def test_lbfgs_makes_no_more_iterations_than_asked_for() -> None:
    steps: list[int] = []
    lbfgs(bowl, np.zeros(3), iterations=2, progress=lambda step, value, norm: not steps.append(step))
    assert steps == [1, 2]


def trace(stop: int, how: type[BaseException] | None) -> tuple[F64, list[F64], list[str]]:
    """What is returned after a stop at an iteration, the weights where the objective was lowest before, and calls."""
    seen: list[F64] = []
    at = np.zeros(3)
    calls: list[str] = []

    def objective(weights: F64) -> tuple[float, F64]:
        at[:] = weights
        return bowl(weights)

    def progress(step: int, value: float, norm: float) -> bool:
        seen.append(at.copy())
        if step == stop and how is not None:
            raise how
        return step < stop

    found = lbfgs(objective, np.zeros(3), progress=progress, interrupted=lambda: calls.append("interrupted"))
    return found, seen, calls


@pytest.mark.parametrize("stop", [1, 3])
def test_lbfgs_stops_where_progress_says_so(stop: int) -> None:
    found, seen, calls = trace(stop, None)
    assert len(seen) == stop
    np.testing.assert_array_equal(found, seen[-1])
    assert calls == []


@pytest.mark.parametrize("stop", [1, 3])
def test_lbfgs_keeps_what_it_has_reached_when_interrupted(stop: int) -> None:
    found, seen, calls = trace(stop, KeyboardInterrupt)
    np.testing.assert_array_equal(found, seen[-1])
    assert calls == ["interrupted"]


def test_an_interrupt_between_iterations_keeps_the_last_one() -> None:
    reached: list[float] = []
    calls = 0

    def objective(weights: F64) -> tuple[float, F64]:
        nonlocal calls
        calls += 1
        if len(reached) == 2:
            raise KeyboardInterrupt
        return bowl(weights)

    found = lbfgs(objective, np.zeros(3), progress=lambda step, value, norm: not reached.append(value))
    assert bowl(found)[0] == reached[-1] < bowl(np.zeros(3))[0]


def test_an_interrupt_before_anything_is_reached_is_raised() -> None:
    def objective(weights: F64) -> tuple[float, F64]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lbfgs(objective, np.zeros(3), interrupted=lambda: pytest.fail("nothing was reached"))


class Recorded:
    """Steps that only write down what they were asked."""

    size = 2

    def __init__(self) -> None:
        self.visited: list[list[int]] = []

    def pass_over(self, state: NDArray, order: NDArray, decay: NDArray, rate: float, batch: int, threads: int) -> float:
        self.visited.append(order.tolist())
        state[::2] += 1
        return float(len(order))


def passes(n: int, *, items: int = 100, seed: int = 0, skip: int = 0) -> list[list[int]]:
    """The items of each pass in the order they were visited, after some passes that another run made."""
    steps = Recorded()
    run = AdaGrad.of(steps, np.zeros(1, np.float32), np.arange(items, dtype=np.int64), seed=seed)
    run.passes = skip
    found = []
    for _ in range(n):
        assert run.pass_once() == (1.0 if items else 0.0)
        found.append([i for part in steps.visited for i in part])
        steps.visited.clear()
    return found


@pytest.mark.parametrize("items", [0, 1, 7, 100])
def test_a_pass_visits_every_item_once(items: int) -> None:
    for order in passes(2, items=items):
        assert sorted(order) == list(range(items))


def test_the_order_depends_on_the_seed_and_the_pass_alone() -> None:
    first, second, third = passes(3)
    assert len({tuple(order) for order in (first, second, third)}) == 3
    assert passes(3) == [first, second, third]
    assert passes(1, skip=2) == [third]
    assert passes(1, seed=1) != [first]


def test_a_run_starts_from_given_weights() -> None:
    none = np.zeros(0, np.int64)
    run = AdaGrad.of(Recorded(), np.zeros(1, np.float32), none, start=np.array([1.0, 2.0], np.float32))
    assert run.weights.tolist() == [1.0, 2.0]
    assert (run.state[1::2] > 0).all()


def test_an_interrupted_pass_is_not_counted() -> None:
    run = AdaGrad.of(Recorded(), np.zeros(1, np.float32), np.arange(50, dtype=np.int64))

    def stop(done: float) -> None:
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.pass_once(stop)
    assert run.passes == 0
    run.pass_once()
    assert run.passes == 1
