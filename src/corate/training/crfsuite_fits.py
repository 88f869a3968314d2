"""CRFsuite's training algorithms: from a problem and parameters to weights, with a report of every iteration."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import portable
from corate.optimize.lbfgs import Search, Step, lbfgs
from corate.optimize.penalty import L2
from corate.optimize.stochastic import AveragedPerceptron, CorrectMistakes
from corate.training.crfsuite_options import UNLIMITED
from corate.training.crfsuite_problem import CrfsuiteProblem
from corate.types import F32, F64, Ids

__all__ = ["FITS", "Iteration", "Report"]

#: If this many iterations of L-BFGS together gain less than LEAST_GAIN of the loss, single precision is exhausted.
STALL, LEAST_GAIN = 10, 1e-6

SEARCHES: dict[str, Search] = {
    "MoreThuente": "interpolation",
    "Backtracking": "weak backtracking",
    "StrongBacktracking": "backtracking",
}


@dataclass(frozen=True, eq=False)
class Iteration:
    """An iteration of an algorithm. What the algorithm does not have is None.

    ``loss`` is the objective of lbfgs and l2sgd, the sum of the shares of wrong labels of averaged-perceptron, and the
    sum of the costs of passive-aggressive. ``held_out`` has the best label of each held-out token.
    """

    number: int
    loss: float
    feature_norm: float
    seconds: float
    error_norm: float | None = None
    active_features: int | None = None
    linesearch_trials: int | None = None
    linesearch_step: float | None = None
    improvement: float | None = None
    learning_rate: float | None = None
    updates: int | None = None
    held_out: Ids | None = None


@dataclass
class Report:
    """Tells about iterations."""

    on_iteration: Callable[[Iteration], None] | None
    labels_of: Callable[[F32], Ids] | None
    number: int = 0
    loss: float = 0.0
    begun: float = field(default_factory=time.perf_counter)

    def __call__(self, loss: float, weights: F32 | F64, **numbers: Any) -> None:
        """An iteration is done."""
        self.number, self.loss = self.number + 1, loss
        if self.on_iteration is None:
            return
        seconds = time.perf_counter() - self.begun
        norm = math.sqrt(portable.dot(weights, weights))
        if "error_norm" in numbers:
            numbers["active_features"] = int(np.count_nonzero(weights))
        held_out = None if self.labels_of is None else self.labels_of(weights.astype(np.float32, copy=False))
        self.on_iteration(Iteration(self.number, loss, norm, seconds, held_out=held_out, **numbers))
        self.begun = time.perf_counter()


def _fit_lbfgs(problem: CrfsuiteProblem, p: Mapping[str, Any], seed: int, report: Report) -> tuple[F32, str]:
    """Minimise the objective in single precision and, if that is not enough to stop, from there in double precision."""
    weights, limit, penalty = np.zeros(problem.chains.size), p["max_iterations"] or UNLIMITED, L2(2.0 * p["c2"])
    for exact in (False, True):
        losses: list[float] = []

        def objective(weights: F64, exact: bool = exact) -> tuple[float, F64]:
            return problem.chains.objective(weights, penalty.strength, problem.threads, exact)

        def progress(step: Step, exact: bool = exact, losses: list[float] = losses) -> bool:
            losses.append(step.value)
            search = {"linesearch_trials": step.trials, "linesearch_step": step.scale}
            report(step.value, step.weights, error_norm=step.gradient_norm, **search)
            return exact or len(losses) <= STALL or losses[-1 - STALL] - step.value > LEAST_GAIN * step.value

        found = lbfgs(
            objective,
            weights,
            c1=p["c1"],
            iterations=limit - report.number,
            tolerance=p["delta"],
            period=p["period"],
            epsilon=p["epsilon"],
            memory=p["num_memories"],
            search=SEARCHES[p["linesearch"]],
            trials=p["max_linesearch"],
            progress=progress,
        )
        weights, report.loss = found.weights, found.value
        if found.stopped not in ("progress", "search"):
            break
    reasons = {"gradient": "convergence", "improvement": "criterion"}
    return weights.astype(np.float32), reasons.get(found.stopped, found.stopped)


#: One pass: its loss, the weights after it, and what else is told about it.
_Pass = Callable[[], tuple[float, F32, dict[str, Any]]]


def _fit_passes(
    problem: CrfsuiteProblem, one_pass: _Pass, passes: int, enough: Callable[[float], bool], report: Report
) -> tuple[F32, str]:
    """Make passes until the loss of one is enough. Ctrl-C keeps the weights of the last complete pass."""
    weights = np.zeros(problem.chains.size, np.float32)
    try:
        while report.number < passes:
            loss, weights, numbers = one_pass()
            report(loss, weights, **numbers)
            if enough(loss):
                return weights, "criterion"
    except KeyboardInterrupt:
        if report.number == 0:
            raise
        return weights, "interrupted"
    return weights, "iterations"


class _Descent:
    """Stochastic gradient descent. After t of n sentences, the step size is rate / (1 + 2 c2 / n * rate * t).

    As in CRFsuite, all weights shrink before a sentence is scored.
    """

    def __init__(self, problem: CrfsuiteProblem, c2: float, seed: int, rate: float) -> None:
        self.chains, self.seed, self.rate = problem.chains, seed, rate
        self.shrink = float(L2(2.0 * c2).per_visit(len(problem.sentences)))
        self.state, self.done = np.zeros(2 * problem.chains.size, np.float32), 0

    @property
    def last_rate(self) -> float:
        """The step size of the last sentence."""
        return self.rate / (1.0 + self.shrink * self.rate * (self.done - 1))

    @property
    def weights(self) -> F32:
        """The current weights."""
        return np.array(self.state[::2])

    def make_pass(self, sentences: NDArray[np.int64]) -> float:
        """Make steps for sentences. Returns the objective: the sum of their losses before each step, and the prior."""
        order = np.random.default_rng([self.seed, self.done]).permutation(sentences)
        loss = self.chains.descend(self.state, order, self.shrink, self.rate, self.done)
        self.done += len(order)
        norm = float(np.square(self.state[::2], dtype=np.float64).sum())
        return loss + 0.5 * self.shrink * len(order) * norm


def _fit_l2sgd(problem: CrfsuiteProblem, p: Mapping[str, Any], seed: int, report: Report) -> tuple[F32, str]:
    """The weights after the pass with the lowest loss."""
    period = p["period"]
    run = _Descent(problem, p["c2"], seed, _calibrated_rate(problem, p, seed))
    losses: list[float] = []
    best = np.inf, run.weights

    def one_pass() -> tuple[float, F32, dict[str, Any]]:
        nonlocal best
        loss, weights = run.make_pass(problem.sentences), run.weights
        losses.append(loss)
        best = (loss, weights) if loss < best[0] else best
        numbers = {"learning_rate": run.last_rate, "updates": run.done}
        if len(losses) > period:
            numbers["improvement"] = (losses[-1 - period] - loss) / loss
        return loss, weights, numbers

    def enough(loss: float) -> bool:
        return len(losses) > period and bool(losses[-1 - period] - loss < p["delta"] * loss)

    _, stopped = _fit_passes(problem, one_pass, p["max_iterations"], enough, report)
    report.loss = best[0]
    return best[1], stopped


def _calibrated_rate(problem: CrfsuiteProblem, p: Mapping[str, Any], seed: int) -> float:
    """The step size with the lowest loss in a pass over some sentences.

    A candidate has a lower loss than no step at all. The step size grows until one is no candidate, and then shrinks.
    """
    sample = np.random.default_rng(seed).permutation(problem.sentences)[: max(1, int(p["calibration.samples"]))]

    def loss_of(rate: float) -> float:
        return _Descent(problem, p["c2"], seed, rate).make_pass(sample)

    first, factor, trials = p["calibration.eta"], p["calibration.rate"], p["calibration.max_trials"]
    initial, best = loss_of(0.0), (np.inf, first)
    for rate, change in ((first, factor), (first / factor, 1 / factor)):
        candidates = p["calibration.candidates"]
        while trials > 0 and candidates > 0:
            loss, trials = loss_of(rate), trials - 1
            best = min(best, (loss, rate))
            if loss < initial:
                candidates -= 1
            elif change > 1:
                break
            rate *= change
    return float(best[1])


def _fit_perceptron(problem: CrfsuiteProblem, p: Mapping[str, Any], seed: int, report: Report) -> tuple[F32, str]:
    lengths = np.diff(problem.offsets).astype(np.float32)

    def steps(state: F32, order: NDArray[np.int64], time: float, step: float) -> F32:
        return problem.chains.perceptron(state, order, time, step) / lengths[order]

    return _fit_mistakes(problem, p, steps, seed, report)


def _fit_passive_aggressive(
    problem: CrfsuiteProblem, p: Mapping[str, Any], seed: int, report: Report
) -> tuple[F32, str]:
    rule = p["type"], p["c"], p["error_sensitive"]

    def steps(state: F32, order: NDArray[np.int64], time: float, step: float) -> F32:
        return problem.chains.passive_aggressive(state, order, time, step, *rule)

    return _fit_mistakes(problem, p, steps, seed, report)


def _fit_mistakes(
    problem: CrfsuiteProblem, p: Mapping[str, Any], steps: CorrectMistakes, seed: int, report: Report
) -> tuple[F32, str]:
    n = len(problem.sentences)
    run = AveragedPerceptron.of(steps, problem.sentences, np.zeros(problem.chains.size, np.float32), seed, skip=False)

    def one_pass() -> tuple[float, F32, dict[str, Any]]:
        loss = run.pass_once() * n
        return loss, run.weights if p.get("averaging", True) else run.state[::2].copy(), {}

    return _fit_passes(problem, one_pass, p["max_iterations"], lambda loss: loss < p["epsilon"] * n, report)


FITS: dict[str, Callable[[CrfsuiteProblem, Mapping[str, Any], int, Report], tuple[F32, str]]] = {
    "lbfgs": _fit_lbfgs,
    "l2sgd": _fit_l2sgd,
    "averaged-perceptron": _fit_perceptron,
    "passive-aggressive": _fit_passive_aggressive,
}
