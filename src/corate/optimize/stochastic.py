"""Stochastic optimisers, AdaGrad and the averaged perceptron. They know weights, and nothing of what is fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corate.types import F32

__all__ = ["AdaGrad", "AveragedPerceptron", "Steps"]


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
class AveragedPerceptron:
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
    def of(cls, steps: Mistakes, items: NDArray[np.int64], start: F32, seed: int) -> AveragedPerceptron:
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
