"""sklearn-crfsuite's estimator."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from corate.compat.pycrfsuite.dump import ParsedDump
from corate.compat.pycrfsuite.log_parser import TrainLogParser
from corate.compat.pycrfsuite.tagger import Tagger
from corate.compat.pycrfsuite.trainer import Trainer
from corate.compat.sklearn_crfsuite._fileresource import FileResource
from corate.compat.sklearn_crfsuite.trainer import LinePerIterationTrainer
from corate.corpus.attributes import FeatureSentence
from corate.sklearn.inputs import read_labels

__all__ = ["CRF"]

#: The arguments of `CRF` that are parameters of a trainer, and their names there.
_PARAMETERS = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    **{
        name: name
        for name in (
            "c1", "c2", "max_iterations", "num_memories", "epsilon", "period", "delta", "linesearch", "max_linesearch"
        )
    },
    **{f"calibration_{name}": f"calibration.{name}" for name in ("eta", "rate", "samples", "candidates", "max_trials")},
    "pa_type": "type",
    **{
        name: name
        for name in ("c", "error_sensitive", "averaging", "variance", "gamma", "label_weights", "sentence_weights")
    },
}  # fmt: skip


class CRF(BaseEstimator):
    """A conditional random field over ready-made features, as an estimator for scikit-learn.

    A parameter that is None has the default of the algorithm. `corate.compat.pycrfsuite.Trainer` has the parameters and
    their meaning: ``Trainer("lbfgs").get_params()``, ``Trainer("lbfgs").help("c1")``.

    Args:
        algorithm: ``"lbfgs"`` (the default), ``"l2sgd"``, ``"ap"`` or ``"pa"``, or a method of corate such as
            ``"polish"``.
        min_freq: features that occur fewer times are left out.
        all_possible_states: give every attribute a weight for every label.
        all_possible_transitions: give every pair of labels a weight.
        verbose: print the log of the training.
        model_filename: the file to write the model to. If it exists, its model can be used without training.
        keep_tempfiles: do not remove the temporary file that ``modelfile.name`` makes.
        trainer_cls: a subclass of `corate.compat.pycrfsuite.Trainer`.
        options: options of a method of corate by name, such as ``{"passes": 5}``.
        label_weights, sentence_weights: the same options of a method of corate: the weights of labels by name, and of
            the sequences of ``X``. CRFsuite's algorithms have none.
        threads: the number of threads. Neither the model nor labels depend on it.

    >>> crf = CRF(c2=0.1).fit([[{"w": "the"}, {"w": "dog"}], [{"w": "a"}]], [["DET", "NOUN"], ["DET"]])
    >>> crf.predict([[{"w": "a"}, {"w": "dog"}]]).tolist()
    [['DET', 'NOUN']]
    """

    algorithm: str | None
    verbose: bool
    model_filename: str | os.PathLike[str] | None
    keep_tempfiles: bool
    trainer_cls: type[Trainer] | None
    options: Mapping[str, Any] | None
    label_weights: Mapping[str, float] | None
    sentence_weights: Sequence[float] | None
    threads: int
    training_log_: TrainLogParser | None = None  #: The log of the last training.

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | os.PathLike[str] | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: type[Trainer] | None = None,
        options: Mapping[str, Any] | None = None,
        threads: int = 1,
        *,
        label_weights: Mapping[str, float] | None = None,
        sentence_weights: Sequence[float] | None = None,
    ) -> None:
        self.__dict__.update({name: value for name, value in locals().items() if name != "self"})

    # -- training ------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Iterable[FeatureSentence],
        y: Iterable[Iterable[str]],
        X_dev: Iterable[FeatureSentence] | None = None,
        y_dev: Iterable[Iterable[str]] | None = None,
    ) -> CRF:
        """Train a model; returns the estimator.

        Args:
            X: sequences; the features of each item as in python-crfsuite.
            y: the labels of each sequence.
            X_dev: held-out sequences. With ``verbose``, the log shows how well they are labelled after each iteration.
            y_dev: their labels.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data")
        trainer = self._trainer()
        trainer.extend(X, read_labels(y))
        if X_dev is not None:
            trainer.extend(X_dev, read_labels(y_dev, "y_dev"), 1)
        modelfile = FileResource(self.model_filename, self.keep_tempfiles)
        modelfile.keep(trainer.fit(-1 if X_dev is None else 1))
        self._modelfile = modelfile
        self.training_log_ = trainer.logparser
        return self

    def _trainer(self) -> Trainer:
        given = {name: getattr(self, own) for own, name in _PARAMETERS.items()}
        params = {name: value for name, value in given.items() if value is not None}
        trainer_class = self.trainer_cls or LinePerIterationTrainer
        trainer = trainer_class(
            algorithm=self.algorithm, params={**params, **(self.options or {})}, verbose=self.verbose
        )
        trainer.threads = self.threads
        return trainer

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict(self, X: Iterable[FeatureSentence]) -> NDArray[Any]:
        """The labels of each sequence: an array of lists, with two dimensions if all sequences have one length."""
        return np.array(self._fitted().model.tag_all(X, threads=self.threads), dtype=object)

    def predict_single(self, xseq: FeatureSentence) -> list[str]:
        """The labels of one sequence."""
        return self._fitted().tag(xseq)

    def predict_marginals(self, X: Iterable[FeatureSentence]) -> NDArray[Any]:
        """The probability of each label at each position of each sequence, as an array like that of `predict`."""
        model = self._fitted().model
        lattice = model.lattice(X)
        rows = [dict(zip(model.labels, row, strict=True)) for row in lattice.label_marginals().tolist()]
        return np.array([rows[a:b] for a, b in pairwise(lattice.sentences.tolist())], dtype=object)

    def predict_marginals_single(self, xseq: FeatureSentence) -> list[dict[str, float]]:
        """The probability of each label at each position of one sequence."""
        tagger = self._fitted()
        tagger.set(xseq)
        return tagger.marginals()

    def score(self, X: Iterable[FeatureSentence], y: Iterable[Iterable[str]]) -> float:
        """The share of items with the right label."""
        from corate.compat.sklearn_crfsuite.metrics import flat_accuracy_score

        return flat_accuracy_score(y, self.predict(X))

    # -- the model -----------------------------------------------------------------------------------------------

    @property
    def modelfile(self) -> FileResource:
        """The file of the model. Asking for its name writes one."""
        found: FileResource | None = self.__dict__.get("_modelfile")
        if found is None or (not found.trained and found.filename != self.model_filename):
            found = self._modelfile = FileResource(self.model_filename, self.keep_tempfiles)
        return found

    @property
    def tagger_(self) -> Tagger | None:
        """The tagger of the model, as in python-crfsuite; None if there is no model. So for the other attributes."""
        return self.modelfile.opened()

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def size_(self) -> int | None:
        """The size of the model file in bytes."""
        return None if self._info is None else int(self._info.header["size"])

    @property
    def num_attributes_(self) -> int | None:
        """The number of attributes that have a weight."""
        return None if self._info is None else len(self._info.attributes)

    @property
    def attributes_(self) -> list[str] | None:
        """The names of the attributes."""
        return None if self._info is None else list(self._info.attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """The weights of attributes with labels, by the two names."""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """The weights of pairs of labels, by the two labels."""
        return None if self._info is None else self._info.transitions

    @property
    def _info(self) -> ParsedDump | None:
        tagger = self.tagger_
        if tagger is None:
            return None
        if self.__dict__.get("_described", (None, None))[0] is not tagger:
            self._described = (tagger, tagger.info())
        return self._described[1]

    def _fitted(self) -> Tagger:
        tagger = self.tagger_
        if tagger is None:
            raise NotFittedError("this CRF has no model; call fit first, or give it the file of one (model_filename)")
        return tagger

    def __sklearn_is_fitted__(self) -> bool:
        return self.tagger_ is not None

    # -- pickling ------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_described"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore an estimator, also from a pickle of sklearn-crfsuite."""
        if "modelfile" in state:
            others = {"modelfile", "_tagger", "_info_cached"}
            own = {name: value for name, value in state.items() if name not in others}
            state = {"options": None, "threads": 1, **own, "_modelfile": state["modelfile"]}
        state = {"label_weights": None, "sentence_weights": None, **state}
        super().__setstate__(state)
