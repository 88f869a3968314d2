"""Optimisers. They know weights, values and gradients, and nothing of what is being fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["AdaGrad", "Objective", "Steps", "lbfgs"]

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


#: A smooth function to minimise: weights to value and gradient.
Objective = Callable[[F64], tuple[float, F64]]


def lbfgs(
    objective: Objective,
    start: F64,
    *,
    iterations: int = 100,
    tolerance: float = 1e-5,
    progress: Callable[[int, float, float], bool] = lambda step, value, norm: True,
    interrupted: Callable[[], None] = lambda: None,
) -> F64:
    """Minimise by L-BFGS. ``progress`` gets the iteration, the value and the gradient's norm; False from it stops.

    Where ``progress`` stops it, or the user does with Ctrl-C, the weights reached so far are returned, after a call of
    ``interrupted`` in the second case. Before the first iteration is done there are none: KeyboardInterrupt is raised.
    """
    from scipy.optimize import minimize

    best = start
    last = [np.inf, np.inf]
    step = 0

    def measured(weights: F64) -> tuple[float, F64]:
        value, gradient = objective(weights)
        last[:] = [value, float(np.linalg.norm(gradient))]
        return value, gradient

    def tick(weights: F64) -> None:
        nonlocal best, step
        best, step = weights.copy(), step + 1
        if not progress(step, last[0], last[1]):
            raise StopIteration

    options = {"maxiter": iterations, "ftol": tolerance, "maxcor": 6}
    try:
        found = minimize(measured, start, jac=True, method="L-BFGS-B", callback=tick, options=options)
    except StopIteration:
        return best
    except KeyboardInterrupt:
        if step == 0:
            raise
        interrupted()
        return best
    return np.asarray(found.x)


class Steps(Protocol):
    """A sum over items whose gradient can be stepped along item by item."""

    @property
    def size(self) -> int:
        """Number of weights."""
        ...

    def pass_over(
        self, state: F32, order: NDArray[np.int64], decay: F32, rate: float, batch: int, threads: int
    ) -> float:
        """AdaGrad steps for the items in order, in place; returns the loss met on the way."""
        ...


@dataclass
class AdaGrad:
    """Stochastic steps, each weight's scaled by what its gradients have been; the same bits for any number of threads.

    A batch is a fixed share of the items, at most 256 of them, whose gradients are of the same weights. ``state`` holds
    (weight, sum of squared gradients) side by side. A pass visits all items once in an order that depends on the seed
    and the pass only, so that a run can be taken up again where it was left.
    """

    steps: Steps
    decay: F32
    items: NDArray[np.int64]
    state: F32
    rate: float = 0.25
    batch: int = 0
    threads: int = 1
    seed: int = 0
    passes: int = 0

    #: A pass is made in so many parts, so that progress shows and Ctrl-C is heard.
    PARTS = 20

    @classmethod
    def of(
        cls, steps: Steps, decay: F32, items: NDArray[np.int64], *, start: F32 | None = None, **options: float
    ) -> AdaGrad:
        """From weights ``start``, or from zero."""
        state = np.zeros((steps.size, 2), np.float32)
        state[:, 1] = 1e-4
        if start is not None:
            state[:, 0] = start
        run = cls(steps, decay, items, state.ravel(), **options)  # type: ignore[arg-type]
        run.batch = run.batch or int(np.clip(len(items) // 200, 16, 256))
        return run

    @property
    def weights(self) -> F32:
        """The weights as they are now."""
        return np.ascontiguousarray(self.state[::2])

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """One pass; returns the mean loss met on the way. Interrupted, it leaves the state between two steps."""
        order = self.items[np.random.default_rng([self.seed, self.passes]).permutation(len(self.items))]
        loss = 0.0
        for k, part in enumerate(np.array_split(order, min(self.PARTS, max(1, len(order))))):
            loss += self.steps.pass_over(self.state, part, self.decay, self.rate, self.batch, self.threads)
            progress((k + 1) / self.PARTS)
        self.passes += 1
        return loss / max(1, len(order))
