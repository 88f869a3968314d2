"""Writes the log of a training line by line, in the form that CRFsuite has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from corate.compat.pycrfsuite.log_parser import NUMBERS
from corate.corpus import Corpus
from corate.model.tagger import Tagger
from corate.training.crfsuite import GeneratedFeatures, Iteration

__all__ = ["LogWriter"]

_TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}
#: Parameters that the log calls otherwise. CRFsuite prints num_memories before max_iterations.
_LOGGED = {"period": "stop", "max_linesearch": "linesearch.max_iterations"}
_ENDS = {
    ("lbfgs", "convergence"): "L-BFGS resulted in convergence",
    ("lbfgs", "criterion"): "L-BFGS terminated with the stopping criteria",
    ("lbfgs", "iterations"): "L-BFGS terminated with the maximum number of iterations",
    ("lbfgs", "search"): "L-BFGS terminated with error: the line search found no better weights",
    ("l2sgd", "criterion"): "SGD terminated with the stopping criteria",
    ("l2sgd", "iterations"): "SGD terminated with the maximum number of iterations",
    ("averaged-perceptron", "criterion"): "Terminated with the stopping criterion\n",
    ("passive-aggressive", "criterion"): "Terminated with the stopping criterion\n",
    ("arow", "criterion"): "Terminated with the stopping criterion\n",
}


class LogWriter:
    """Passes the lines of a log to a function, each with its line feed.

    >>> lines = []
    >>> LogWriter(lines.append).total_seconds(0.5)
    >>> lines
    ['Total seconds required for training: 0.500\\n', '\\n']
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def _lines(self, *lines: str) -> None:
        for line in lines:
            self._write(line + "\n")

    # -- before training -----------------------------------------------------------------------------------------

    def start(self, holdout: int) -> None:
        """The number of the held-out group, if there is one. CRFsuite counts groups from 1 here."""
        if holdout >= 0:
            self._lines(f"Holdout group: {holdout + 1}", "")

    def method(self, name: str, options: Mapping[str, Any]) -> None:
        """A method of corate, with the options that were set."""
        self._lines(f"Method: {name}", *(_parameter(*option) for option in options.items()), "")

    def features(self, parameters: Mapping[str, Any], generated: GeneratedFeatures) -> None:
        """How features were generated, and how many there are."""
        self._lines("Feature generation", "type: CRF1d")
        self._lines(*(_parameter(name, value) for name, value in parameters.items() if name.startswith("feature.")))
        for percent in range(0, 101, 2):
            self._write("." if percent % 10 else str(percent // 10))
        self._lines("", f"Number of features: {generated.features}", f"Seconds required: {generated.seconds:.3f}", "")

    def parameters(self, algorithm: str, parameters: Mapping[str, Any]) -> None:
        """The algorithm with its parameters."""
        names = [name for name in parameters if not name.startswith("feature.")]
        if algorithm == "lbfgs":
            names.sort(key=lambda name: {"c1": 0, "c2": 1, "num_memories": 2}.get(name, 3))
        logged = _LOGGED if algorithm == "lbfgs" else {}
        self._lines(_TITLES[algorithm], *(_parameter(logged.get(n, n), parameters[n]) for n in names), "")

    # -- training ------------------------------------------------------------------------------------------------

    def iteration(self, algorithm: str, found: Iteration, held_out: Corpus | None) -> None:
        """The numbers of an iteration, and how well held-out data is labelled after it."""
        sgd = algorithm == "l2sgd"
        self._numbers("Epoch" if sgd else "Iteration", found.number, vars(found), norm="L2-norm" if sgd else "norm")
        if held_out is not None and found.held_out is not None:
            self._performance(held_out, found.held_out)
        self._lines("")

    def method_iteration(self, number: int, loss: float, seconds: float) -> None:
        """An iteration of a method of corate, or a pass."""
        self._numbers("Iteration", number, {"loss": loss, "seconds": seconds})
        self._lines("")

    def _numbers(self, title: str, number: int, values: Mapping[str, Any], *, norm: str = "norm") -> None:
        self._lines(f"***** {title} #{number} *****")
        for name, attribute, form in NUMBERS:
            if values.get(attribute) is not None:
                self._lines(f"{name.replace('norm', norm)}: {values[attribute]:{form}}")

    def _performance(self, held_out: Corpus, predicted: Any) -> None:
        right = held_out.require_labels()
        names = right.strings.to_list()
        matches = right.ids == predicted
        match, model, ref = (
            np.bincount(ids, minlength=len(names)) for ids in (right.ids[matches], predicted, right.ids)
        )
        precision, recall = match / np.maximum(model, 1), match / np.maximum(ref, 1)
        f1 = 2 * match / np.maximum(model + ref, 1)
        self._lines("Performance by label (#match, #model, #ref) (precision, recall, F1):")
        for i, name in enumerate(names):
            ratios = f"{precision[i]:.4f}, {recall[i]:.4f}, {f1[i]:.4f}" if ref[i] else "******, ******, ******"
            self._lines(f"    {name}: ({match[i]}, {model[i]}, {ref[i]}) ({ratios})")
        means = ", ".join(f"{ratio.mean():.6f}" for ratio in (precision, recall, f1))
        wrong = np.concatenate([[0], np.cumsum(~matches)])[held_out.offsets]
        whole = int(np.sum(np.diff(wrong) == 0))
        self._lines(
            f"Macro-average precision, recall, F1: ({means})",
            _share("Item accuracy", int(matches.sum()), len(matches)),
            _share("Instance accuracy", whole, len(held_out)),
        )

    def end(self, algorithm: str, stopped: str, loss: float | None) -> None:
        """Why training ended."""
        if (algorithm, stopped) in _ENDS:
            self._lines(_ENDS[algorithm, stopped])
        if algorithm == "l2sgd" and loss is not None:
            self._lines(f"Loss: {loss:.6f}")

    def total_seconds(self, seconds: float) -> None:
        """How long all of training took."""
        self._lines(f"Total seconds required for training: {seconds:.3f}", "")

    # -- storing -------------------------------------------------------------------------------------------------

    def storing(self, tagger: Tagger, generated: GeneratedFeatures | None) -> None:
        """What the model has: the weights that are not 0, and of how many. The file is about to be written."""
        self._lines("Storing the model")
        if generated is None:
            return
        weights, edges = tagger.model.weights, tagger.model.edges
        used = weights.owners[weights.scores != 0]
        n_labels, active = len(tagger.labels), len(used) + int(np.count_nonzero(edges.scores))
        self._lines(
            f"Number of active features: {active} ({generated.features})",
            f"Number of active attributes: {len(np.unique(used))} ({generated.attributes})",
            f"Number of active labels: {n_labels} ({n_labels})",
        )

    def stored(self, seconds: float) -> None:
        """How long writing took."""
        self._lines(f"Seconds required: {seconds:.3f}", "")


def _parameter(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"{name}: {value:d}"
    return f"{name}: {value:.6f}" if isinstance(value, float) else f"{name}: {value}"


def _share(name: str, part: int, whole: int) -> str:
    return f"{name}: {part} / {whole} ({part / max(whole, 1):.4f})"
