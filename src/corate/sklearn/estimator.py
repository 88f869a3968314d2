"""The estimator: parameters, training, predictions and scores."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
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
from corate.training.methods import FORMER, METHODS, OPTIONS, Method, renamed, resolve_method, warn_renamed
from corate.training.train import train, update

__all__ = ["LabelLists", "SequenceTagger"]

#: What `SequenceTagger.score` can measure.
_SCORES = ("accuracy", "f1")
#: The options that are parameters, of which None means the default of the method. ``fit`` takes the sentence weights.
_PARAMETERS = {name: option for name, option in OPTIONS.items() if option.flag and not option.expert}
#: Options of the first call of ``partial_fit``: a model that is trained further keeps what they chose.
_FIRST_ONLY = tuple(name for name, option in OPTIONS.items() if "init" in option.refused)


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
    if estimator.method not in METHODS:  # fit says which methods there are
        return
    method = METHODS[estimator.method]
    if "partial_fit" not in method.places:
        able = ", ".join(name for name, other in METHODS.items() if "partial_fit" in other.places)
        raise AttributeError(f"the method {method.name!r} has no partial_fit; these have it: {able}")
    with suppress(ConfigError):  # fit says which options are wrong
        if estimator._method().refused("partial_fit") is not None:
            raise AttributeError(f"{method.name!r} has partial_fit only with stochastic steps; set optimizer='adagrad'")


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
        expert: options of the method that few users need, as a dict.
    """

    def __init__(
        self,
        method: str = "polish",
        *,
        features: FeatureSource = None,
        raw: RawText | None = None,
        raw_classes: int | Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
        init: Tagger | str | os.PathLike[str] | None = None,
        calibrate: bool = False,
        constrain: str | None = None,
        threads: int = 1,
        seed: int = 0,
        scoring: str = "accuracy",
        expert: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.method, self.features, self.raw, self.raw_classes = method, features, raw, raw_classes
        self.columns, self.init, self.calibrate, self.constrain = columns, init, calibrate, constrain
        self.threads, self.seed, self.scoring, self.expert = threads, seed, scoring, expert
        options = renamed(options, stacklevel=3)
        unknown = options.keys() - OPTIONS.keys() | options.keys() & {"sentence_weights"}
        if unknown:
            raise TypeError(f"SequenceTagger got an unexpected keyword argument {min(unknown)!r}")
        for name in OPTIONS:
            if name in _PARAMETERS or options.get(name) is not None:
                setattr(self, name, options.get(name))

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
        tagger = update(self.tagger_, corpus) if method.counts_only else self._train(corpus, method, init=self.tagger_)
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

    def _method(self, sample_weight: ArrayLike | None = None, left_out: Sequence[str] = ()) -> Method:
        """The options of the training method. Sentences are weighted by ``sample_weight``."""
        if not isinstance(self.method, str):
            raise ConfigError(
                f"method must be the name of a method, such as 'polish', not {self.method!r}; its options are "
                "parameters of SequenceTagger",
                option="method",
            )
        given = {name: getattr(self, name) for name in _PARAMETERS if name not in left_out}
        method = resolve_method(self.method, given | {"expert": self.expert})
        if sample_weight is None:
            return method
        if not method.has("sentence_weights"):
            raise ConfigError(
                f"the method {method.name!r} takes no sample_weight; use another method", option="sample_weight"
            )
        return method.changed(sentence_weights=np.asarray(sample_weight, dtype=float).tolist())

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
        gold = np.array(corpus.require_labels().values(), dtype=object)
        known, right = gold != None, np.array(predicted.values(), dtype=object) == gold  # noqa: E711
        return float(np.average(right[known], weights=np.repeat(weights, np.diff(corpus.offsets))[known]))

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

    def set_params(self, **params: Any) -> SequenceTagger:
        """Set parameters; returns the estimator."""
        params = renamed(params, stacklevel=3)
        for name in [name for name in params if name in OPTIONS and OPTIONS[name].expert]:
            setattr(self, name, params.pop(name))
        super().set_params(**params)
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle; before version 0.3, expert options were attributes, and some had other names."""
        state = {FORMER.get(name, name): value for name, value in state.items()}
        old = {name: value for name, value in state.items() if name in OPTIONS and OPTIONS[name].expert}
        expert = {name: value for name, value in old.items() if value is not None}
        kept = {name: value for name, value in state.items() if name not in old}
        super().__setstate__({"expert": expert or None, **kept})

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


# -- the options as parameters -----------------------------------------------------------------------------------------


class _ExpertAttribute:
    """An expert option as an attribute, which it was before version 0.3: it is kept in ``expert``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, estimator: SequenceTagger | None, owner: type | None = None) -> Any:
        return self if estimator is None else (estimator.expert or {}).get(self.name)

    def __set__(self, estimator: SequenceTagger, value: Any) -> None:
        warnings.warn(
            f"{self.name} is deprecated, and will be removed in version 0.4; set expert={{{self.name!r}: {value!r}}}",
            DeprecationWarning,
            stacklevel=3,
        )
        estimator.expert = {**(estimator.expert or {}), self.name: value}


class _FormerAttribute:
    """An option by its former name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, estimator: SequenceTagger | None, owner: type | None = None) -> Any:
        return self if estimator is None else getattr(estimator, FORMER[self.name])

    def __set__(self, estimator: SequenceTagger, value: Any) -> None:
        warn_renamed(self.name, 3)
        setattr(estimator, FORMER[self.name], value)


def _with_options(estimator: type[SequenceTagger]) -> None:
    """Add the options of the methods to the signature and the docstring."""
    for name, option in OPTIONS.items():
        if option.expert:
            setattr(estimator, name, _ExpertAttribute(name))
    for name in FORMER:
        setattr(estimator, name, _FormerAttribute(name))
    signature = inspect.signature(estimator.__init__)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _PARAMETERS]
    # scikit-learn reads the names of the parameters from this signature.
    estimator.__init__.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    lines = [f"    {name}: {option.help} ({', '.join(option.methods)})" for name, option in _PARAMETERS.items()]
    title = "Options of the training methods, with the methods that have them. None means the default of the method:"
    estimator.__doc__ = "\n".join([inspect.cleandoc(estimator.__doc__ or ""), "", title, *lines])


_with_options(SequenceTagger)
