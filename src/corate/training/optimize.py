"""Optimisers. They know weights, values and gradients, and nothing of what is being fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["AdaGrad", "Objective", "Perceptron", "Steps", "lbfgs", "owlqn"]

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


#: A smooth function to minimise: weights to value and gradient.
Objective = Callable[[F64], tuple[float, F64]]
#: Is told the iteration, the value, the norm of the gradient and the weights, and says whether to go on.
Progress = Callable[[int, float, float, F64], bool]


def lbfgs(
    objective: Objective,
    start: F64,
    *,
    iterations: int = 100,
    tolerance: float = 1e-5,
    progress: Progress = lambda step, value, norm, weights: True,
    interrupted: Callable[[], None] = lambda: None,
) -> F64:
    """Minimise by L-BFGS. ``progress`` gets the iteration, value, norm of the gradient and weights; False stops.

    Where ``progress`` stops it, or the user does with Ctrl-C, the weights reached so far are returned, after a call of
    ``interrupted`` in the second case. Before the first iteration is done there are none: KeyboardInterrupt is raised.
    """
    from scipy.optimize import minimize

    if iterations < 1:
        return start
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
        if not progress(step, last[0], last[1], best):
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


def owlqn(
    objective: Objective,
    start: F64,
    c1: float,
    *,
    iterations: int = 100,
    tolerance: float = 1e-5,
    memory: int = 6,
    progress: Progress = lambda step, value, norm, weights: True,
    interrupted: Callable[[], None] = lambda: None,
) -> F64:
    """Minimise ``objective(x) + c1 |x|_1``: L-BFGS that stays within an orthant in each step (Andrew and Gao 2007).

    Stops where ten iterations together gain less than ``tolerance`` of the value; else as :func:`lbfgs`.

    >>> found = owlqn(lambda x: (float(((x - [3.0, 0.5]) ** 2).sum() / 2), x - [3.0, 0.5]), np.zeros(2), 1.0)
    >>> found.round(6).tolist()
    [2.0, 0.0]
    """
    x: F64 = start.copy()
    value, gradient = objective(x)
    value += c1 * float(np.abs(x).sum())
    pairs: list[tuple[F64, F64, float]] = []
    past = [value]
    step = 0
    try:
        while step < iterations:
            slope = _pseudo_gradient(x, gradient, c1)
            norm = float(np.linalg.norm(slope))
            if norm == 0.0:
                break
            direction = _two_loops(-slope, pairs)
            direction[direction * slope >= 0] = 0.0
            orthant = np.where(x != 0, np.sign(x), -np.sign(slope))
            scale = 1.0 if pairs else 1.0 / norm
            for _ in range(40):
                moved = x + scale * direction
                moved[moved * orthant <= 0] = 0.0
                reached, there = objective(moved)
                reached += c1 * float(np.abs(moved).sum())
                if reached <= value + 1e-4 * float(slope @ (moved - x)):
                    break
                scale /= 2
            else:
                break
            s, y = moved - x, there - gradient
            if float(s @ y) > 1e-10:
                pairs = (
                    [*pairs[1 - memory :], (s, y, 1.0 / float(s @ y))] if memory > 1 else [(s, y, 1.0 / float(s @ y))]
                )
            x, value, gradient = moved, reached, there
            step += 1
            past.append(value)
            if not progress(step, value, norm, x):
                break
            if len(past) > 10 and (past[-11] - value) < tolerance * abs(value):
                break
    except KeyboardInterrupt:
        if step == 0:
            raise
        interrupted()
    return x


def _pseudo_gradient(x: F64, gradient: F64, c1: float) -> F64:
    """The gradient of objective + c1 |x|_1 where there is one; at zero the steepest slope down, if there is one."""
    right, left = gradient + c1, gradient - c1
    at_zero = np.where(left > 0, left, np.where(right < 0, right, 0.0))
    return np.where(x > 0, right, np.where(x < 0, left, at_zero))


def _two_loops(direction: F64, pairs: list[tuple[F64, F64, float]]) -> F64:
    """The inverse Hessian that pairs of steps and changes of the gradient tell of, times a direction."""
    if not pairs:
        return direction
    weights = []
    for s, y, rho in reversed(pairs):
        a = rho * float(s @ direction)
        direction = direction - a * y
        weights.append(a)
    s, y, rho = pairs[-1]
    direction = direction / (rho * float(y @ y))
    for (s, y, rho), a in zip(pairs, reversed(weights), strict=True):
        direction = direction + (a - rho * float(y @ direction)) * s
    return direction


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
    opening: float = np.inf  # mean loss before the first step, where somebody looked
    latest: float = np.inf  # mean loss of the last pass

    #: A pass is made in so many parts, so that progress shows and Ctrl-C is heard.
    PARTS = 20
    #: Items that tell the loss of weights.
    SOME = 1000

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

    def peek(self) -> float:
        """The mean loss of some items with the weights as they are."""
        some = np.random.default_rng(self.seed).permutation(self.items)[: self.SOME]
        loss = self.steps.pass_over(self.state.copy(), some, self.decay, 0.0, self.batch, self.threads)
        return loss / max(1, len(some))

    def take_back(self, state: F32) -> None:
        """Undo a pass that went too far, and halve the steps."""
        self.state[:] = state
        self.passes -= 1
        self.rate /= 2


class Mistakes(Protocol):
    """Sentences that a perceptron can step along."""

    def perceptron(self, state: F32, order: NDArray[np.int64], time: float, step: float) -> float:
        """Steps for the sentences in order, in place; returns the tokens mislabelled on the way."""
        ...


@dataclass
class Perceptron:
    """The averaged perceptron. ``state`` holds (weight, sum of its changes times when they were made) side by side.

    Times are counted in passes, so that a run can be taken up again and go on for longer.
    """

    steps: Mistakes
    items: NDArray[np.int64]
    state: F32
    seed: int = 0
    passes: int = 0

    PARTS = AdaGrad.PARTS

    @classmethod
    def of(cls, steps: Mistakes, items: NDArray[np.int64], start: F32, seed: int) -> Perceptron:
        """From weights ``start``."""
        state = np.zeros((len(start), 2), np.float32)
        state[:, 0] = start
        return cls(steps, items, state.ravel(), seed)

    @property
    def weights(self) -> F32:
        """The average of the weights after every sentence of all passes so far."""
        return np.ascontiguousarray(self.state[::2] - self.state[1::2] / np.float32(max(1, self.passes)))

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """One pass; returns the mean number of tokens mislabelled in a sentence."""
        order = self.items[np.random.default_rng([self.seed, self.passes]).permutation(len(self.items))]
        wrong, done = 0.0, 0
        step = 1.0 / max(1, len(order))
        for k, part in enumerate(np.array_split(order, min(self.PARTS, max(1, len(order))))):
            wrong += self.steps.perceptron(self.state, part, self.passes + step * done, step)
            done += len(part)
            progress((k + 1) / self.PARTS)
        self.passes += 1
        return wrong / max(1, len(order))
