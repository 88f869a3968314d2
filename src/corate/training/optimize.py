"""Optimisers. They know weights, values and gradients, and nothing of what is being fitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.errors import DataError

__all__ = ["AdaGrad", "Objective", "Perceptron", "Steps", "lbfgs"]

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
    c1: float = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-5,
    progress: Progress = lambda step, value, norm, weights: True,
    interrupted: Callable[[], None] = lambda: None,
) -> F64:
    """Minimise ``objective(x) + c1 |x|_1`` by L-BFGS, which with ``c1`` keeps each step within an orthant.

    The second is called OWL-QN (Andrew and Gao 2007) and leaves many weights at zero. Stops where ten iterations
    together gain less than ``tolerance`` of the value, or where ``progress`` says so. On Ctrl-C it calls
    ``interrupted`` and returns what it has reached; before the first iteration is done, KeyboardInterrupt is raised.

    >>> def bowl(x):
    ...     return float(((x - [3.0, 0.5]) ** 2).sum() / 2), x - [3.0, 0.5]
    >>> lbfgs(bowl, np.zeros(2)).round(6).tolist(), lbfgs(bowl, np.zeros(2), c1=1.0).round(6).tolist()
    ([3.0, 0.5], [2.0, 0.0])
    """
    x: F64 = np.array(start, dtype=np.float64)
    value, gradient = objective(x)
    value += c1 * float(np.abs(x).sum())
    curvature = _Curvature(len(x))
    step, change = np.empty_like(x), np.empty_like(x)
    past = [value]
    try:
        while len(past) <= iterations:
            slope = gradient if c1 == 0 else _pseudo_gradient(x, gradient, c1)
            norm = math.sqrt(_native.dot(slope, slope))
            if not math.isfinite(norm):
                raise DataError("the gradient is not finite; scale the values of features and the weights of sentences")
            if norm <= 1e-12:
                break
            direction = curvature.solve(slope)
            np.negative(direction, out=direction)
            if c1 > 0:
                direction[direction * slope >= 0] = 0.0
            found = _search(objective, x, value, slope, direction, c1, 1.0 if curvature.pairs else min(1.0, 1.0 / norm))
            if found is None:
                break
            moved, value, there = found
            np.subtract(moved, x, out=step)
            np.subtract(there, gradient, out=change)
            curvature.learn(step, change)
            x, gradient = moved, there
            past.append(value)
            if not progress(len(past) - 1, value, norm, x):
                break
            if len(past) > 10 and past[-11] - value < tolerance * abs(value):
                break
    except KeyboardInterrupt:
        if len(past) == 1:
            raise
        interrupted()
    return x


def _search(
    objective: Objective, x: F64, value: float, slope: F64, direction: F64, c1: float, scale: float
) -> tuple[F64, float, F64] | None:
    """A step along the direction that gains enough: where it arrives, with value and gradient; None if none does."""
    orthant = None if c1 == 0 else np.where(x != 0, np.sign(x), -np.sign(slope))
    steepness = _native.dot(slope, direction)
    low, high = (0.0, value, steepness), None  # (scale, value, slope): the step sought lies between
    best: tuple[F64, float, F64] | None = None
    for _ in range(30):
        moved = scale * direction
        moved += x
        if orthant is not None:
            moved[moved * orthant <= 0] = 0.0
        reached, there = objective(moved)
        gained = scale * steepness
        if c1 > 0:
            reached += c1 * float(np.abs(moved).sum())
            gained = _native.dot(slope, moved - x)
        enough = math.isfinite(reached) and reached <= value + 1e-4 * gained
        if enough and (best is None or reached < best[1]):
            best = moved, reached, there
        if c1 > 0:
            if enough:
                break
            scale /= 2
            continue
        here = scale, reached, _native.dot(there, direction)
        if not enough or reached > low[1]:
            high = here
        elif here[2] < 0.9 * steepness:
            low = here  # it still goes down steeply: not far enough
        elif here[2] > -0.9 * steepness:
            high = here  # it goes up again steeply: too far
        else:
            break
        scale = 4.0 * low[0] if high is None else _between(low, high)
        if high is not None and abs(high[0] - low[0]) < 1e-3 * high[0] and best is not None:
            break
    return best


def _between(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """Where the cubic through two points with their slopes is lowest, kept away from both."""
    (a, at_a, slope_a), (b, at_b, slope_b) = low, high
    width = b - a
    middle = a + 0.5 * width
    bend = slope_a + slope_b - 3.0 * (at_b - at_a) / width
    root = bend * bend - slope_a * slope_b
    if not math.isfinite(root) or root < 0.0:
        return middle
    bottom = slope_b - slope_a + 2.0 * math.sqrt(root)
    if bottom == 0.0:
        return middle
    found = b - width * (slope_b + math.sqrt(root) - bend) / bottom
    return min(max(found, a + 0.1 * width), b - 0.1 * width) if math.isfinite(found) else middle


def _pseudo_gradient(x: F64, gradient: F64, c1: float) -> F64:
    """The gradient of objective + c1 |x|_1 where there is one; at zero the steepest slope down, if there is one."""
    right, left = gradient + c1, gradient - c1
    at_zero = np.where(left > 0, left, np.where(right < 0, right, 0.0))
    return np.where(x > 0, right, np.where(x < 0, left, at_zero))


class _Curvature:
    """The inverse Hessian that the last steps tell of: pairs of a step s and the change y of the gradient along it.

    The two loops of L-BFGS run on the inner products of the pairs, which are kept; long vectors are touched by two
    matrix products only.
    """

    MEMORY = 6

    def __init__(self, size: int) -> None:
        self.vectors = np.zeros((2 * self.MEMORY, size))  # s at 0 .. MEMORY - 1, its y MEMORY places on
        self.inner = np.zeros((2 * self.MEMORY, 2 * self.MEMORY))
        self.pairs: list[int] = []  # places of the pairs, oldest first
        self.fresh: list[int] = []  # places whose inner products are still to be taken

    def learn(self, s: F64, y: F64) -> None:
        """Remember a pair, in place of the oldest; one without curvature tells nothing."""
        if _native.dot(s, y) <= 1e-10 * _native.dot(y, y):
            return
        place = len(self.pairs) if len(self.pairs) < self.MEMORY else self.pairs.pop(0)
        self.pairs.append(place)
        self.vectors[place], self.vectors[place + self.MEMORY] = s, y
        self.fresh += [place, place + self.MEMORY]

    def solve(self, v: F64) -> F64:
        """The inverse Hessian times a vector."""
        if not self.pairs:
            return np.array(v)
        m, inner = self.MEMORY, self.inner
        # One way through the vectors, which are longer than any cache, for all that is asked of them.
        with_v, *with_fresh = _native.inner_products(self.vectors, v, self.fresh)
        for at, products in zip(self.fresh, with_fresh, strict=True):
            inner[at] = inner[:, at] = products
        self.fresh = []
        # The result is own * v plus the vectors weighted by `share`.
        own, share = 1.0, np.zeros(2 * m)
        first: dict[int, float] = {}
        for i in reversed(self.pairs):
            first[i] = (share @ inner[i] + own * with_v[i]) / inner[i, i + m]
            share[i + m] -= first[i]
        last = self.pairs[-1]
        scale = inner[last, last + m] / inner[last + m, last + m]
        own, share = own * scale, share * scale
        for i in self.pairs:
            second = (share @ inner[i + m] + own * with_v[i + m]) / inner[i, i + m]
            share[i] += first[i] - second
        return _native.combination(self.vectors, share, v, own)


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
    and the pass only, so that a run can be taken up again where it was left. With ``averaging`` the weights are a
    mean of those at four moments of each pass, the k-th of which counts k squared times: the last ones most.
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
    latest: float = np.inf  # mean loss met in the last pass
    averaging: bool = False
    total: F32 = field(default_factory=lambda: np.zeros(0, np.float32))  # of the weights at these moments
    moments: int = 0

    #: A pass is made in so many parts, so that progress shows and Ctrl-C is heard.
    PARTS = 20
    #: Items that tell the loss of weights.
    SOME = 300

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
        """The weights as they are now, or their average."""
        if self.moments > 0:
            k = self.moments
            return np.asarray(self.total / np.float32(k * (k + 1) * (2 * k + 1) / 6))
        return np.array(self.state[::2])

    @property
    def tensors(self) -> dict[str, F32]:
        """All that a checkpoint needs."""
        return {"state": self.state, "total": self.total, "moments": np.array([self.moments], np.float32)}

    def resume(self, tensors: Mapping[str, NDArray[Any]], passes: int) -> None:
        """Take up a run that had made so many passes."""
        self.state[:] = tensors["state"]
        self.total = np.array(tensors["total"], dtype=np.float32)
        self.moments, self.passes = int(tensors["moments"][0]), passes

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """One pass; returns the mean loss met on the way. Interrupted, it leaves the state between two steps."""
        order = self.items[np.random.default_rng([self.seed, self.passes]).permutation(len(self.items))]
        loss = 0.0
        for k, part in enumerate(np.array_split(order, min(self.PARTS, max(1, len(order))))):
            loss += self.steps.pass_over(self.state, part, self.decay, self.rate, self.batch, self.threads)
            if self.averaging and (k + 1) % (self.PARTS // 4) == 0:
                self._remember()
            progress((k + 1) / self.PARTS)
        self.passes += 1
        return loss / max(1, len(order))

    def _remember(self) -> None:
        self.moments += 1
        if self.moments == 1:
            self.total = np.zeros(len(self.state) // 2, np.float32)
        self.total += np.float32(self.moments**2) * self.state[::2]

    def peek(self) -> float:
        """The mean loss of some items with the weights as they are."""
        some = np.random.default_rng(self.seed).permutation(self.items)[: self.SOME]
        loss = self.steps.pass_over(self.state.copy(), some, self.decay, 0.0, self.batch, self.threads)
        return loss / max(1, len(some))

    def kept(self) -> tuple[F32, F32, int]:
        """What :meth:`take_back` needs to undo the next pass."""
        return self.state.copy(), self.total.copy(), self.moments

    def take_back(self, kept: tuple[F32, F32, int]) -> None:
        """Undo a pass that went too far, and halve the steps."""
        self.state[:], self.total, self.moments = kept
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

    Times are counted in passes, so that a run can be taken up again and go on for longer. The first pass, in which
    weights still move far, counts in the average only until the second begins.
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
        """The average of the weights after every sentence of the passes so far, the first left out."""
        return np.ascontiguousarray(self.state[::2] - self.state[1::2] / np.float32(max(1, self.passes - 1)))

    @property
    def tensors(self) -> dict[str, F32]:
        """All that a checkpoint needs."""
        return {"state": self.state}

    def resume(self, tensors: Mapping[str, NDArray[Any]], passes: int) -> None:
        """Take up a run that had made so many passes."""
        self.state[:], self.passes = tensors["state"], passes

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """One pass; returns the mean number of tokens mislabelled in a sentence."""
        order = self.items[np.random.default_rng([self.seed, self.passes]).permutation(len(self.items))]
        wrong, done = 0.0, 0
        step = 1.0 / max(1, len(order))
        begun = max(0, self.passes - 1)
        if self.passes == 1:
            self.state[1::2] = 0.0
        for k, part in enumerate(np.array_split(order, min(self.PARTS, max(1, len(order))))):
            wrong += self.steps.perceptron(self.state, part, begun + step * done, step)
            done += len(part)
            progress((k + 1) / self.PARTS)
        self.passes += 1
        return wrong / max(1, len(order))
