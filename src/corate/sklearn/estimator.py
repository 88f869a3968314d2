"""The estimator: parameters, training, predictions and scores."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from corate.corpus import Corpus
from corate.display import counted
from corate.errors import ConfigError, DataError
from corate.evaluation.report import compare_labels
from corate.features import FeatureSource
from corate.features.word_classes import RawText
from corate.model.tagger import Tagger
from corate.sklearn.inputs import read_labels, read_like, read_sentences
from corate.spans import are_spans
from corate.training.api import train, update
from corate.training.options import METHODS, OPTION_METHODS, Empirical, FittedMethod, Method, options_of
from corate.training.resolve import resolve_method

__all__ = ["LabelLists", "SequenceTagger"]

#: What `SequenceTagger.score` can measure.
_SCORES = ("accuracy", "f1")
#: Options of the first call of ``partial_fit``: a model that is trained further keeps what they chose.
_FIRST_ONLY = ("all_labels", "base", "parts", "tune")


class LabelLists(list[list[str]]):
    """Lists of labels, one for each sentence. NumPy makes a one-dimensional array of lists from them.

    scikit-learn can thus join the predictions of several folds, even if sentences have different lengths.

    >>> np.concatenate([LabelLists([["A", "B"]]), LabelLists([["A"]])])
    array([list(['A', 'B']), list(['A'])], dtype=object)
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.fromiter(self, dtype=object, count=len(self))


class _LearnsMore:
    """A method of estimators whose training method can learn more; other estimators do not have the attribute.

    It is scikit-learn's ``available_if``, except that the message of the AttributeError has the reason.
    """

    def __init__(self, function: Callable[..., SequenceTagger]) -> None:
        self.function = function

    def __get__(self, estimator: SequenceTagger | None, owner: type | None = None) -> Callable[..., SequenceTagger]:
        if estimator is None:
            return self.function
        _check_learns_more(estimator)
        return MethodType(self.function, estimator)


def _check_learns_more(estimator: SequenceTagger) -> None:
    """Raise AttributeError if there is no ``partial_fit``.

    L-BFGS goes to the optimum of the new sentences, and forgets the old ones.
    """
    method = METHODS.get(str(estimator.method))
    if method is None:  # fit says which methods there are
        return
    if method is not Empirical and not method.takes_init:
        able = ", ".join(name for name, other in METHODS.items() if other is Empirical or other.takes_init)
        raise AttributeError(f"the method {method.name!r} has no partial_fit; these have it: {able}")
    if (estimator.optimizer or getattr(method, "optimizer", None)) == "lbfgs":
        raise AttributeError(f"{method.name!r} has partial_fit only with stochastic steps; set optimizer='adagrad'")


@dataclass(eq=False, repr=False)
class SequenceTagger(BaseEstimator):
    """A scikit-learn estimator that labels sequences, such as the tokens of sentences.

    ``X`` is a list of sentences. A sentence is a list of tokens, which are all of one kind:

    - strings are words;
    - tuples of strings are rows of columns. So are lists and mappings of strings, if ``columns`` or ``features`` is
      given;
    - other mappings and lists of strings are ready-made features, as in python-crfsuite.

    A sentence can also be an array of numbers of shape (tokens, features).

    ``y`` has a list of labels for each sentence. Labels are strings. ``X`` and ``y`` can also be generators, but
    cross-validation requires lists.

    Attributes:
        tagger_: the trained :class:`corate.Tagger`.
        classes_: an array of the labels, sorted.
        n_features_in_: the number of features of a token; only if the sentences are arrays.

    >>> X = [["Ann", "sleeps"], ["Bob", "sings"]]
    >>> y = [["NAME", "VERB"], ["NAME", "VERB"]]
    >>> estimator = SequenceTagger("standard", c2=0.1).fit(X, y)
    >>> estimator.predict([["Ann", "sings"], ["Bob"]])
    [['NAME', 'VERB'], ['NAME']]
    >>> estimator
    SequenceTagger(c2=0.1, method='standard')

    Args:
        method: the name of the training method.
        features: a preset, a template file, a list of templates or a function, as in :func:`corate.train`. By default,
            the method chooses.
        raw: unlabelled text to learn word classes from, as in :func:`corate.train`.
        raw_classes: the number of word classes, or several numbers, as in :func:`corate.train`.
        columns: the names of the columns, if tokens are rows of columns. By default ``word``, ``pos``, ``column2``,
            ``column3`` and so on.
        init: a tagger, or the path of a model file, to train further. By default, a new tagger is trained.
        calibrate: whether to fit a temperature, so that probabilities match accuracy, as in :func:`corate.train`.
        constrain: a label scheme such as ``"IOB2"``, or ``"auto"``. The tagger then returns only label sequences that
            are valid in it, as in :func:`corate.train`. By default, all sequences are allowed.
        threads: the number of threads of ``fit``, ``predict`` and ``score``. The result does not depend on it.
        seed: the random seed. It determines which sentences are held out, and the order of stochastic steps.
        scoring: what :meth:`score` returns: ``"accuracy"`` of tokens, or ``"f1"`` of spans.
    """

    method: str = "polish"
    _: KW_ONLY
    features: FeatureSource = None
    raw: RawText | None = None
    raw_classes: int | Sequence[int] | None = None
    columns: Sequence[str] | None = None
    init: Tagger | str | os.PathLike[str] | None = None
    calibrate: bool = False
    constrain: str | None = None
    threads: int = 1
    seed: int = 0
    scoring: str = "accuracy"
    # The options of the methods, in the order of corate.training.options. None means the default of the method.
    all_labels: bool | None = None
    many_labels: bool | None = None
    tune: bool | None = None
    checkpoint: str | os.PathLike[str] | None = None
    label_weights: Mapping[str, float] | None = None
    cutoff: int | None = None
    lattice: str | None = None
    transitions: str | None = None
    boundaries: bool | None = None
    parts: bool | None = None
    order: int | None = None
    unknown: str | None = None
    base: str | None = None
    optimizer: str | None = None
    c2: float | None = None
    rate: float | None = None
    passes: int | None = None
    batch: int | None = None
    temper: float | None = None
    edge: float | None = None
    ladder: str | None = None
    pairs: str | None = None
    word_k: float | None = None
    lower_k: float | None = None
    rung_k: float | None = None
    rare: int | None = None
    pair_k: float | None = None
    class_k: float | None = None
    neighbour: float | None = None
    context: float | None = None
    oov: float | None = None
    oov_constant: float | None = None
    edge_k: float | None = None
    threshold: float | None = None
    cap: int | None = None
    coupling: str | None = None
    space: str | None = None
    iterations: int | None = None
    sigma2: float | None = None
    edge_sigma2: float | None = None
    half_passes: int | None = None
    pair_passes: int | None = None
    coupling_weight: float | None = None
    c1: float | None = None

    # -- training ------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Iterable[str]],
        sample_weight: ArrayLike | None = None,
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Iterable[str]] | None = None,
    ) -> SequenceTagger:
        """Train a tagger; returns the estimator.

        Args:
            X: the sentences.
            y: the labels of each sentence.
            sample_weight: a weight for each sentence, by default 1. The method ``"empirical"`` does not support it.
            X_dev: held-out sentences for tuning and early stopping, which are never trained on: ``held_out`` of
                :func:`corate.train`.
            y_dev: the labels of ``X_dev``. Give both or none.

        Raises ConfigError for a parameter that the method does not have or whose value is out of range, and DataError
        for sentences or labels that cannot be used.
        """
        self._check_scoring()
        method = self._method(sample_weight)
        corpus, n_features = read_sentences(X, read_labels(y), self.columns, rows=self.features is not None)
        held_out = None
        if X_dev is None and y_dev is not None:
            raise DataError("X_dev is missing: y_dev has the labels of its sentences; give both or none")
        if X_dev is not None:
            held_out = read_like(X_dev, read_labels(y_dev, "y_dev"), [c.name for c in corpus.columns], n_features)
        text = {"raw": self.raw, "raw_classes": self.raw_classes}
        arguments = {"features": self.features, "init": self.init, "held_out": held_out, **text}
        return self._learned(self._train(corpus, method, **arguments), n_features)

    @_LearnsMore
    def partial_fit(
        self, X: Iterable[Any], y: Iterable[Iterable[str]], sample_weight: ArrayLike | None = None
    ) -> SequenceTagger:
        """Train the tagger further on more sentences, or train a new one if there is none; returns the estimator.

        The sentences may have new words, features and labels. ``"empirical"`` adds their counts, and keeps the values
        that were tuned in the first call. ``"polish"`` and ``"perceptron"`` make ``passes`` passes over them, starting
        from the current weights. So do ``"standard"`` and ``"piecewise"`` with ``optimizer="adagrad"``. The other
        methods have no ``partial_fit``: using it raises AttributeError.
        """
        if not hasattr(self, "tagger_"):
            return self.fit(X, y, sample_weight)
        method = self._method(sample_weight, left_out=_FIRST_ONLY)
        corpus = self._corpus(X, read_labels(y))
        empirical = method.name == "empirical"
        tagger = update(self.tagger_, corpus) if empirical else self._train(corpus, method, init=self.tagger_)
        return self._learned(tagger, getattr(self, "n_features_in_", None))

    def _train(self, corpus: Corpus, method: Method, **arguments: Any) -> Tagger:
        shared = {name: getattr(self, name) for name in ("calibrate", "constrain", "threads", "seed")}
        return train(corpus, method, **shared, **arguments)

    def _learned(self, tagger: Tagger, n_features: int | None) -> SequenceTagger:
        self.tagger_ = tagger
        self.classes_ = np.array(sorted(tagger.labels), dtype=object)
        if n_features is not None:
            self.n_features_in_ = n_features
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_
        return self

    def _method(self, sample_weight: ArrayLike | None, left_out: Sequence[str] = ()) -> Method:
        """The options of the training method. Sentences are weighted by ``sample_weight``."""
        if not isinstance(self.method, str):
            raise ConfigError(
                f"method must be the name of a method, such as 'polish', not {self.method!r}; its options are "
                "parameters of SequenceTagger",
                option="method",
            )
        left_out = ("sentence_weights", *left_out)
        given = {name: getattr(self, name) for name in OPTION_METHODS if name not in left_out}
        method = resolve_method(self.method, given)
        if sample_weight is None:
            return method
        if not isinstance(method, FittedMethod):
            raise ConfigError(
                f"the method {method.name!r} takes no sample_weight; use another method", option="sample_weight"
            )
        return replace(method, sentence_weights=np.asarray(sample_weight, dtype=float).tolist())

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict(self, X: Iterable[Any]) -> LabelLists:
        """The labels of many sentences: a list for each. Raises scikit-learn's NotFittedError before ``fit``."""
        return LabelLists(self._fitted().tag_all(self._corpus(X), threads=self.threads))

    def predict_single(self, xseq: Iterable[Any]) -> list[str]:
        """The labels of one sentence, as a list."""
        return self.predict([xseq])[0]

    def predict_proba(self, X: Iterable[Any]) -> list[NDArray[np.float64]]:
        """The marginal probability of each label at each token: an array of shape (tokens, labels) for each sentence.

        The columns are in the order of ``classes_``. Labels that are not candidates of a token have the probability 0.
        """
        tagger = self._fitted()
        lattice = tagger.lattice(self._corpus(X))
        order = sorted(range(len(tagger.labels)), key=tagger.labels.__getitem__)
        dense = lattice.label_marginals()[:, order]
        return np.split(dense, lattice.sentences[1:-1]) if len(lattice.sentences) > 1 else []

    def predict_marginals(self, X: Iterable[Any]) -> list[list[dict[str, float]]]:
        """The probabilities of :meth:`predict_proba` as dicts: for each sentence, a list with a dict for each token."""
        sentences = self.predict_proba(X)
        names = self.classes_.tolist()
        return [[dict(zip(names, row, strict=True)) for row in rows.tolist()] for rows in sentences]

    def predict_marginals_single(self, xseq: Iterable[Any]) -> list[dict[str, float]]:
        """The probabilities of the labels of one sentence: a dict from label to probability for each token."""
        return self.predict_marginals([xseq])[0]

    def score(self, X: Iterable[Any], y: Iterable[Iterable[str]], sample_weight: ArrayLike | None = None) -> float:
        """The accuracy: the fraction of tokens whose label is right.

        With ``scoring="f1"``, it is the F1 of spans, such as entities, in IOB1, IOB2, IOBES, BILOU, BMEWO or BMES. A
        span is correct if its type and both its boundaries are correct. Labels that mark no spans then raise DataError.
        ``sample_weight`` has a weight for each sentence. Only the accuracy can be weighted.
        """
        self._check_scoring()
        tagger = self._fitted()
        corpus = self._corpus(X, read_labels(y))
        predicted = tagger.tag_corpus(corpus, threads=self.threads)
        report = compare_labels(corpus, predicted)
        if sample_weight is None:
            return report.accuracy if self.scoring == "accuracy" else self._f1(report.f1)
        if self.scoring != "accuracy":
            raise ConfigError("only the accuracy can be weighted; leave sample_weight out", option="sample_weight")
        weights = np.asarray(sample_weight, dtype=float)
        if weights.shape != (len(corpus),) or not weights.sum() > 0:
            raise DataError(
                f"sample_weight must be {counted(len(corpus), 'number')}, one for each sentence, with a sum above 0"
            )
        right = np.array(predicted.values(), dtype=object) == np.array(corpus.require_labels().values(), dtype=object)
        return float(np.average(right, weights=np.repeat(weights, np.diff(corpus.offsets))))

    def _f1(self, measured: float | None) -> float:
        """The F1 of spans, 0 if there are none; raises DataError if the labels cannot mark any."""
        if measured is None and not are_spans(self.classes_.tolist()):
            raise DataError(
                "scoring='f1' needs labels that mark spans, such as B-PER, I-PER and O; use scoring='accuracy'"
            )
        return measured or 0.0

    def _check_scoring(self) -> None:
        if self.scoring not in _SCORES:
            raise ConfigError(f"unknown scoring {self.scoring!r}; there are {', '.join(_SCORES)}", option="scoring")

    def _fitted(self) -> Tagger:
        check_is_fitted(self, "tagger_")
        tagger: Tagger = self.tagger_
        return tagger

    def _corpus(self, X: Iterable[Any], y: Iterable[Iterable[str]] | None = None) -> Corpus:
        """Sentences of the same kind as those that the tagger was trained on."""
        return read_like(X, y, self._fitted().columns, getattr(self, "n_features_in_", None))

    # -- what scikit-learn asks for --------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        tags.input_tags.dict = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The tags of scikit-learn before 1.6."""
        return {"X_types": ["3darray", "string", "dict"], "requires_y": True}


# -- the options in the docstring --------------------------------------------------------------------------------------


def _option_help(name: str) -> str:
    """The help text of an option, with its methods; several texts if methods differ."""
    methods: dict[str, list[str]] = {}
    for method in OPTION_METHODS[name]:
        methods.setdefault(options_of(METHODS[method])[name].help, []).append(method)
    return " ".join(f"{text} ({', '.join(owners)})" for text, owners in methods.items())


SequenceTagger.__doc__ = "\n".join(
    [
        inspect.cleandoc(SequenceTagger.__doc__ or ""),
        "",
        "Options of the training methods, with the methods that have them. None means the default of the method:",
        *(f"    {name}: {_option_help(name)}" for name in OPTION_METHODS if name != "sentence_weights"),
    ]
)
