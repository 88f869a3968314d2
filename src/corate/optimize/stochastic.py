"""Stochastic optimisers: AdaGrad, gradient descent, and learning from mistakes, such as the averaged perceptron."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from corate.errors import DataError
from corate.optimize.pieces import Pieces
from corate.types import F32

__all__ = ["AdaGrad", "AveragedPerceptron", "CorrectMistakes", "GradientDescent", "Run", "Steps"]

#: When a pass has diverged (see `AdaGrad.pass_within`), and how often it is repeated.
TOO_FAR, MOST_HALVINGS = 1.5, 40


class Steps(Protocol):
    """An objective that is a sum over items, with stochastic gradient steps."""

    @property
    def size(self) -> int:
        """Number of weights."""
        ...

    def pass_over(
        self, state: F32, order: NDArray[np.int64], decay: F32, rate: float, batch: int, threads: int
    ) -> float:
        """Make AdaGrad steps for the items in order, in place. Returns the sum of their losses before each step."""
        ...


@dataclass(kw_only=True)
class Run:
    """Stochastic passes over items, which can be stopped and resumed. Subclasses are optimisers.

    ``state`` has the weights and what the optimiser knows of each, side by side. A pass visits all items once, in an
    order that depends only on the seed and the number of the pass. With ``pieces``, it visits them piece by piece.
    """

    steps: Any
    items: NDArray[np.int64]
    state: F32
    seed: int = 0
    passes: int = 0
    pieces: Pieces | None = None

    #: A pass is made in this many parts, for progress reports and Ctrl-C.
    PARTS: ClassVar[int] = 20
    #: Attributes that are saved with the tensors.
    NUMBERS: ClassVar[tuple[str, ...]] = ()

    @property
    def weights(self) -> F32:
        """The weights that the passes so far give."""
        raise NotImplementedError

    @property
    def tensors(self) -> dict[str, F32]:
        """The state for a checkpoint."""
        return {"state": self.state}

    def resume(self, tensors: Mapping[str, NDArray[Any]], passes: int, numbers: Mapping[str, float] = {}) -> None:
        """Resume a run that has made this many passes."""
        self.state[:], self.passes = tensors["state"], passes
        for name, value in numbers.items():
            setattr(self, name, float(value))

    def accepts(self, tensors: Mapping[str, NDArray[Any]], numbers: Mapping[str, float]) -> bool:
        """Whether finite tensors of the right names are a state of this run."""
        return tensors["state"].shape == self.state.shape

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """Make a pass; returns its mean loss. An interrupt leaves the state between two steps."""
        raise NotImplementedError

    def pass_within(self, slack: float, progress: Callable[[float], None] = lambda done: None) -> float:
        """Make a pass; returns its loss. An optimiser whose passes can diverge repeats one that did."""
        return self.pass_once(progress)

    def parts(self) -> Iterable[tuple[Any, NDArray[np.int64]]]:
        """The parts of the next pass: what makes steps, and the items in order."""
        random = np.random.default_rng([self.seed, self.passes])
        if self.pieces is not None:
            return self.pieces.parts(random)
        order = self.items[random.permutation(len(self.items))]
        return [(self.steps, part) for part in np.array_split(order, min(self.PARTS, max(1, len(order))))]


@dataclass(kw_only=True)
class AdaGrad(Run):
    """AdaGrad: the step of each weight is scaled by its past gradients. Any number of threads gives the same bits.

    ``batch`` is the mini-batch size; 0 means a fixed share of the items, at most 256. ``state`` has (weight, sum of
    squared gradients) side by side. With ``averaging``, the weights are saved four times in each pass; the result is
    their mean, in which the k-th has the weight k^2. With ``begin``, passes are independent: each starts from these
    weights, and the result is the mean of all passes, which depends less on the order of the items.
    """

    steps: Steps
    decay: F32
    rate: float = 0.25
    batch: int = 0
    threads: int = 1
    latest: float = np.inf  # mean loss at the end of the last pass: of its last quarter, but at least of SOME items
    averaging: bool = False
    total: F32 = field(default_factory=lambda: np.zeros(0, np.float32))  # weighted sum of the saved weights
    moments: int = 0  # how often weights were saved
    begin: F32 | None = None

    NUMBERS: ClassVar[tuple[str, ...]] = ("rate", "latest")  # the rate may have been halved
    #: The number of times that weights are saved for the average in a pass.
    MOMENTS = 4
    #: The number of items that a loss is estimated on.
    SOME = 100

    @classmethod
    def of(
        cls, steps: Steps, decay: F32, items: NDArray[np.int64], *, start: F32 | None = None, **options: Any
    ) -> AdaGrad:
        """A run that starts from the weights ``start``, or from zero."""
        state = _state_of(np.zeros(steps.size, np.float32) if start is None else start)
        run = cls(steps=steps, decay=decay, items=items, state=state, **options)
        run.batch = run.batch or int(np.clip(len(items) // 200, 16, 256))
        return run

    @property
    def weights(self) -> F32:
        """The current weights, or their average."""
        if self.moments > 0:
            return np.asarray(self.total / np.float32(sum(self._share(k) for k in range(1, self.moments + 1))))
        return np.array(self.state[::2])

    @property
    def tensors(self) -> dict[str, F32]:
        """The state for a checkpoint."""
        return {"state": self.state, "total": self.total, "moments": np.array([self.moments], np.float32)}

    def resume(self, tensors: Mapping[str, NDArray[Any]], passes: int, numbers: Mapping[str, float] = {}) -> None:
        """Resume a run that has made this many passes."""
        super().resume(tensors, passes, numbers)
        self.total, self.moments = np.array(tensors["total"], dtype=np.float32), int(tensors["moments"][0])

    def accepts(self, tensors: Mapping[str, NDArray[Any]], numbers: Mapping[str, float]) -> bool:
        """Whether finite tensors of the right names are a state of this run."""
        moments, averaged = tensors["moments"], len(self.state) // 2
        if moments.shape != (1,) or not 0 <= moments[0] < 2**24 or moments[0] % 1 or numbers.get("rate", 1.0) < 0:
            return False
        if not super().accepts(tensors, numbers) or tensors["total"].shape != (averaged if moments[0] else 0,):
            return False
        return bool((tensors["state"][1::2] > 0).all())

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """Make a pass; returns its mean loss. An interrupt leaves the state between two steps."""
        n, losses, sizes = max(1, len(self.items)), list[float](), list[int]()
        if self.begin is not None:
            self.state[:] = _state_of(self.begin)
        for steps, part in self.parts():
            losses.append(steps.pass_over(self.state, part, self.decay, self.rate, self.batch, self.threads))
            sizes.append(len(part))
            if self.averaging and self._at_moment(sizes):
                self.remember()
            progress(sum(sizes) / n)
        self.passes += 1
        share = min(1.0, max(0.25, self.SOME / n))
        end = int((1.0 - share) * len(sizes))
        self.latest = sum(losses[end:]) / max(1, sum(sizes[end:]))
        return sum(losses) / n

    def _at_moment(self, sizes: list[int]) -> bool:
        """Whether weights are saved after the last part of the given sizes: after each quarter of a pass."""
        if self.pieces is None:
            return len(sizes) % (self.PARTS // self.MOMENTS) == 0
        done, n = sum(sizes), len(self.items)
        return self.MOMENTS * done // n > self.MOMENTS * (done - sizes[-1]) // n

    def remember(self) -> None:
        """Save the weights for the average."""
        self.moments += 1
        if self.moments == 1:
            self.total = np.zeros(len(self.state) // 2, np.float32)
        self.total += np.float32(self._share(self.moments)) * self.state[::2]

    def _share(self, moment: int) -> int:
        """The weight of a moment, counted from 1, in the average."""
        return moment**2 if self.begin is None else ((moment - 1) % self.MOMENTS + 1) ** 2

    def estimate(self) -> float:
        """The mean loss of some items with the current weights."""
        some = np.random.default_rng(self.seed).permutation(self.items)[: self.SOME]
        loss = self.steps.pass_over(self.state.copy(), some, self.decay, 0.0, self.batch, self.threads)
        return loss / max(1, len(some))

    def pass_within(self, slack: float, progress: Callable[[float], None] = lambda done: None) -> float:
        """Make a pass; returns the loss at its end. If it diverges, undo it and repeat it with half the step size.

        A pass has diverged if its loss exceeds TOO_FAR times the previous loss plus ``slack``.
        """
        if self.passes == 0:
            self.latest = self.estimate()
        limit = TOO_FAR * self.latest + slack
        for _ in range(MOST_HALVINGS):
            kept = self.kept()
            mean = self.pass_once(progress)
            # The mean loss of the pass can be low even if the loss at its end is high.
            loss = self.latest if math.isfinite(mean) else mean
            if loss <= limit:
                return loss
            self.take_back(kept)
            warnings.warn(
                f"the loss rose to {loss:.4g} with rate {2 * self.rate:g}; the pass is repeated with rate "
                f"{self.rate:g}",
                stacklevel=2,
            )
        raise DataError("training diverges even with a much smaller step size", "give a smaller rate")

    def kept(self) -> tuple[F32, F32, int, float]:
        """The state that :meth:`take_back` needs to undo the next pass."""
        return self.state.copy(), self.total.copy(), self.moments, self.latest

    def take_back(self, kept: tuple[F32, F32, int, float]) -> None:
        """Undo a pass that diverged, and halve the step size."""
        self.state[:], self.total, self.moments, self.latest = kept
        self.passes -= 1
        self.rate /= 2


def _state_of(weights: F32) -> F32:
    """The state of a run that has the weights, before its first step."""
    state = np.empty((len(weights), 2), np.float32)
    state[:, 0], state[:, 1] = weights, 1e-4
    return state.ravel()


@dataclass(kw_only=True)
class GradientDescent(Run):
    """Gradient descent, item by item. After t items, the step size is rate / (1 + shrink * rate * t).

    ``shrink`` is the share of the L2 term in an item. ``steps`` makes steps for items in order, in place: (state,
    order, shrink, rate, t); it returns the sum of their losses before each step.
    """

    steps: Callable[[F32, NDArray[np.int64], float, float, int], float]
    rate: float
    shrink: float
    done: int = 0  #: the number of items so far

    @property
    def weights(self) -> F32:
        """The current weights."""
        return np.array(self.state[::2])

    @property
    def last_rate(self) -> float:
        """The step size of the last item."""
        return self.rate / (1.0 + self.shrink * self.rate * (self.done - 1))

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """Make a pass; returns the mean loss of an item, with its share of the L2 term after the pass."""
        order = np.random.default_rng([self.seed, self.done]).permutation(self.items)
        loss = self.steps(self.state, order, self.shrink, self.rate, self.done)
        self.done, self.passes = self.done + len(order), self.passes + 1
        return loss / max(1, len(order)) + 0.5 * self.shrink * float(np.square(self.weights, dtype=np.float64).sum())


#: Makes steps for the sentences in order, in place: (state, order, time, step). Returns the loss of each sentence.
CorrectMistakes = Callable[[F32, NDArray[np.int64], float, float], F32]


@dataclass(kw_only=True)
class AveragedPerceptron(Run):
    """The averaged perceptron. ``state`` has (weight, sum of change times time of the change) side by side.

    Time is measured in passes, so that a run can be resumed and continued. Weights change much in the first pass, so
    with ``skip`` it is left out of the average from the second pass on. With ``begins``, the weights before the first
    sentence count as those after a sentence do, as in CRFsuite. Without ``averaging``, the last weights are the result.
    """

    steps: CorrectMistakes
    skip: bool = True
    begins: bool = False
    averaging: bool = True

    @classmethod
    def of(
        cls,
        steps: CorrectMistakes,
        items: NDArray[np.int64],
        start: F32,
        seed: int,
        *,
        skip: bool = True,
        pieces: Pieces | None = None,
    ) -> AveragedPerceptron:
        """A run that starts from the weights ``start``."""
        state = np.zeros((len(start), 2), np.float32)
        state[:, 0] = start
        return cls(steps=steps, items=items, state=state.ravel(), seed=seed, skip=skip, pieces=pieces)

    @property
    def weights(self) -> F32:
        """The average of the weights after every sentence of all passes that are not skipped, or the last weights."""
        if not self.averaging:
            return np.array(self.state[::2])
        time = max(1, self.passes - self.skip) + self._first
        return np.ascontiguousarray(self.state[::2] - self.state[1::2] / np.float32(time))

    @property
    def _first(self) -> float:
        """The time of the first sentence."""
        return self.begins / max(1, len(self.items))

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """Make a pass; returns the mean loss of a sentence, which is its number of mislabelled tokens."""
        wrong, done = 0.0, 0
        step = 1.0 / max(1, len(self.items))
        begun = max(0, self.passes - self.skip) + self._first
        if self.skip and self.passes == 1:
            self.state[1::2] = 0.0
        for steps, part in self.parts():
            wrong += float(steps(self.state, part, begun + step * done, step).sum(dtype=np.float64))
            done += len(part)
            progress(step * done)
        self.passes += 1
        return wrong / max(1, len(self.items))
