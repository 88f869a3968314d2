"""Training and updating: the functions that users call."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_seed, check_threads
from corate.corpus import Corpus, check_corpus
from corate.counting.counts import Counts, label_ids
from corate.errors import Argument, ConfigError, FeatureError, InterruptedWarning, ModelError
from corate.features import FeatureSource, resolve
from corate.features.function_sample import function_sample
from corate.features.ready_made import FeatureFunction
from corate.features.vocabulary import Vocabulary
from corate.features.word_classes import RawText, class_templates
from corate.model.chain import ChainModel
from corate.model.constraints import with_scheme
from corate.model.pruning import without_idle, without_rare
from corate.model.tagger import Tagger
from corate.progress import OnProgress, ProgressEvent
from corate.training.chains import ChainTraining
from corate.training.checks import refuse_too_many_labels
from corate.training.defaults import choose_parts, choose_scheme, choose_start
from corate.training.empirical_model import rebuild
from corate.training.lattice_costs import LatticeCosts
from corate.training.options import (
    ChainMethod,
    Empirical,
    FittedMethod,
    Method,
    MethodName,
    Polish,
    Separate,
)
from corate.training.prepared import Prepared, default_features, prepare, ready_made
from corate.training.resolve import check_init, resolve_method
from corate.training.start import RunContext, Start
from corate.training.start_from_counts import StartFromCounts
from corate.training.start_from_model import StartFromModel

if TYPE_CHECKING:
    from corate.training.empirical import EmpiricalTraining
    from corate.training.separate import SeparateTraining

__all__ = ["Trained", "reporter", "train", "train_completely", "train_until_interrupted", "update"]

logger = logging.getLogger(__name__)


@overload
def train(
    corpus: Corpus,
    method: MethodName = "polish",
    *,
    features: FeatureSource = None,
    raw: RawText | None = None,
    raw_classes: int | Sequence[int] | None = None,
    held_out: Corpus | None = None,
    init: Tagger | str | os.PathLike[str] | None = None,
    calibrate: bool = False,
    constrain: str | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: OnProgress | None = None,
    **options: Any,
) -> Tagger: ...


@overload
def train(
    corpus: Corpus,
    method: Method,
    *,
    features: FeatureSource = None,
    raw: RawText | None = None,
    raw_classes: int | Sequence[int] | None = None,
    held_out: Corpus | None = None,
    init: Tagger | str | os.PathLike[str] | None = None,
    calibrate: bool = False,
    constrain: str | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Tagger: ...


@overload
def train(corpus: Corpus, method: str | Method = "polish", **arguments: Any) -> Tagger: ...


def train(
    corpus: Corpus,
    method: str | Method = "polish",
    *,
    features: FeatureSource = None,
    raw: RawText | None = None,
    raw_classes: int | Sequence[int] | None = None,
    held_out: Corpus | None = None,
    init: Tagger | str | os.PathLike[str] | None = None,
    calibrate: bool = False,
    constrain: str | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: OnProgress | None = None,
    **options: Any,
) -> Tagger:
    """Train a tagger on a labelled corpus, and return it.

    Args:
        corpus: sentences with labels.
        method: the name of a training method, or an object with its options: ``"polish"`` is the same as
            ``corate.Polish()``. The methods are ``"polish"`` (:class:`~corate.Polish`), ``"empirical"``
            (:class:`~corate.Empirical`), ``"separate"`` (:class:`~corate.Separate`), ``"standard"``
            (:class:`~corate.Standard`), ``"piecewise"`` (:class:`~corate.Piecewise`), ``"memm"``
            (:class:`~corate.MEMM`) and ``"perceptron"`` (:class:`~corate.Perceptron`).
        features: a preset (``"paper"``, ``"pos"``, ``"ner"``, ``"chunking"``), a template file, a list of templates, or
            a function that takes a sentence and a position and returns the features of that token. By default,
            ``"empirical"`` uses the words and their neighbours. If the labels mark spans, the other methods use
            ``"ner"``, or ``"chunking"`` if spans cover most tokens and there is a column of parts of speech. Otherwise
            they use ``"pos"``.
        raw: text without labels: a path, a corpus, or a list of these. Word classes are learned from it and from the
            words of the corpus. The classes of a word and of its neighbours are additional features.
        raw_classes: the number of word classes that are learned with ``raw``, or a list of numbers. By default, 32, 64,
            128 and 256.
        held_out: sentences for early stopping and for the tuning of counted scores. They are never trained on. Without
            them, there is no early stopping, and a part of the corpus is used for tuning before the model is trained on
            the whole corpus.
        init: a tagger, or the path of its file, to train further. Its features are kept, and training starts from its
            weights. The method must be polish, standard, piecewise or perceptron, and the tagger must not be one of the
            method memm.
        calibrate: divide all scores by a temperature, so that probabilities match the accuracy on held-out text. The
            labels stay the same. Without ``held_out``, another model is trained without a tenth of the sentences, and
            the temperature is fitted on these sentences. Not for the method memm.
        constrain: a label scheme: ``"IOB1"``, ``"IOB2"``, ``"IOBES"``, ``"BILOU"``, ``"BMEWO"``, ``"BMES"``, or
            ``"auto"`` for the scheme of the corpus. The tagger then only returns label sequences that are valid in the
            scheme.
        threads: the number of threads. The result does not depend on it.
        seed: the seed of the random numbers: which sentences are held out, and the order of the sentences in training.
        progress: a function that is called with a :class:`~corate.ProgressEvent` during training.
        **options: options of a method that is given by name, such as ``passes=5``. ``help(corate.Polish)`` lists those
            of the method polish. ``expert`` is a mapping of options that few users need, such as ``{"batch": 4}``.

    Ctrl-C after the first pass or iteration ends training early: the tagger has what was learned until then, its record
    has ``interrupted`` true, and a UserWarning says so. Earlier, Ctrl-C raises KeyboardInterrupt.

    Raises DataError if the corpus cannot be trained on, FeatureError for wrong ``features``, and ConfigError, which
    names the argument, for other wrong arguments.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]])
    >>> train(corpus).tag(["the", "cat"])
    ['DET', 'NOUN']
    >>> train(corpus, "standard", c2=0.1).record["settings"]["c2"]
    0.1
    """
    given: dict[str, Any] = {"raw": raw, "raw_classes": raw_classes, "init": init, "calibrate": calibrate}
    tagger = train_until_interrupted(
        corpus,
        resolve_method(method, options),
        features=features,
        held_out=held_out,
        constrain=constrain,
        threads=threads,
        seed=seed,
        progress=progress,
        **given,
    )
    if tagger.record.get("interrupted"):
        what = "calibrated" if calibrate else "complete"
        warnings.warn(InterruptedWarning(f"training was interrupted, so the model is not {what}"), stacklevel=2)
    return tagger


def train_completely(corpus: Corpus, method: str | Method, **arguments: Any) -> Tagger:
    """Like `train`, but raise KeyboardInterrupt if Ctrl-C ended training early."""
    tagger = train_until_interrupted(corpus, method, **arguments)
    if tagger.record.get("interrupted"):
        raise KeyboardInterrupt
    return tagger


def train_until_interrupted(
    corpus: Corpus,
    method: str | Method,
    *,
    features: FeatureSource = None,
    raw: RawText | None = None,
    raw_classes: int | Sequence[int] | None = None,
    held_out: Corpus | None = None,
    init: Tagger | str | os.PathLike[str] | None = None,
    calibrate: bool = False,
    constrain: str | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: OnProgress | None = None,
    **options: Any,
) -> Tagger:
    """Like `train`, but without a warning if Ctrl-C ended training early: only the record tells."""
    started = time.perf_counter()
    check_corpus(corpus)
    if held_out is not None:
        check_corpus(held_out)
    chosen = resolve_method(method, options)
    context = RunContext(check_threads(threads), check_seed(seed), reporter(progress))
    refuse_too_many_labels(corpus, chosen.name, chosen.many_labels)
    if raw_classes is not None and raw is None:
        raise ConfigError(
            f"raw_classes is the number of classes that {Argument('raw')} learns",
            f"give {Argument('raw')}",
            option="raw_classes",
        )
    if init is not None:
        check_init(chosen, features, raw)
    if calibrate:
        from corate.training.calibration import calibrated, check_calibrates

        check_calibrates(chosen.name)
    scheme = choose_scheme(constrain, corpus, getattr(chosen, "unknown", None))
    chosen, corpus = _without_weightless(chosen, corpus)
    about_raw: dict[str, Any] = {}
    if raw is not None and init is None:
        features, about_raw = _with_word_classes(chosen, features, corpus, raw, raw_classes, context)
    origin = _starting_model(chosen, init, corpus, features, context)
    scheme = scheme or (None if origin is None else origin.record.get("constrain"))
    prepared = prepare(chosen, corpus, features, held_out, origin)
    if isinstance(chosen, Empirical):
        trained = _train_empirical(chosen, prepared, context)
    elif isinstance(chosen, Separate):
        trained = _train_separate(chosen, prepared, context)
    else:
        assert isinstance(chosen, ChainMethod)
        trained = _train_chain(chosen, prepared, origin, context, fresh=init is None)
    source = {"label_source": corpus.label_source} if corpus.label_source else {}
    record: dict[str, Any] = {
        **trained.described(chosen, len(corpus), corpus.n_tokens, _layout(corpus), context.seed, source),
        **_describe_origin(origin),
        **about_raw,
        **_describe_function(corpus, prepared.function),
        **({"constrain": scheme} if scheme else {}),
        "seconds": round(time.perf_counter() - started, 4),
    }
    logger.info("%s: trained on %d tokens in %.2f s", chosen.name, corpus.n_tokens, record["seconds"])
    columns = tuple(c.name for c in corpus.columns)
    model = with_scheme(trained.model, scheme) if scheme else trained.model
    tagger = Tagger(trained.vocabulary, model, record, columns, trained.counts, prepared.bins, prepared.function)
    if calibrate:

        def train_again(part: Corpus, method: Method) -> Tagger:
            start = None if init is None else origin
            return train_completely(part, method, features=features, init=start, constrain=scheme, **vars(context))

        tagger = calibrated(tagger, chosen, corpus, held_out, train_again, context)
        tagger.record["seconds"] = round(time.perf_counter() - started, 4)
    return tagger


def reporter(progress: OnProgress | None) -> OnProgress:
    """Log every event, at level INFO if it has numbers, and pass it to ``progress``."""

    def report(event: ProgressEvent) -> None:
        logger.log(logging.INFO if event.measurements else logging.DEBUG, "%s", event)
        if progress is not None:
            progress(event)

    return report


def _with_word_classes(
    method: Method,
    features: FeatureSource,
    corpus: Corpus,
    raw: RawText,
    classes: int | Sequence[int] | None,
    context: RunContext,
) -> tuple[FeatureSource, dict[str, Any]]:
    """The features with templates of word classes, and the record's entry for them."""
    if callable(features):
        raise ConfigError("raw adds templates, which a feature function does not have; leave raw unset", option="raw")
    added, facts = class_templates(raw, corpus, classes=classes, threads=context.threads, progress=context.progress)
    templates, _ = resolve(default_features(method, features, corpus), [c.name for c in corpus.columns])
    return (*templates, *added), {"raw": facts}


def _without_weightless(method: Method, corpus: Corpus) -> tuple[Method, Corpus]:
    """The method and the corpus without the sentences of weight 0, and so without their words and labels."""
    if method.sentence_weights is None:
        return method, corpus
    weights = np.asarray(method.sentence_weights, dtype=float)
    if weights.shape != (len(corpus),) or weights.all() or not weights.any():
        return method, corpus
    kept = np.flatnonzero(weights)
    return method.changed(sentence_weights=weights[kept].tolist()), corpus.take(kept)


def _starting_model(
    method: Method,
    init: Tagger | str | os.PathLike[str] | None,
    corpus: Corpus,
    features: FeatureSource,
    context: RunContext,
) -> Tagger | None:
    """The tagger to train further, None to start from counts."""
    if isinstance(method, Polish) and method.base == "separate":
        return train_completely(
            corpus,
            Separate(many_labels=method.many_labels),
            features=features,
            threads=context.threads,
            seed=context.seed,
            progress=context.progress,
        )
    if init is None or isinstance(init, Tagger):
        return init
    from corate.model.archive import load

    return load(init)


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a method: a model, its vocabulary, and a record of what was chosen and measured."""

    vocabulary: Vocabulary
    model: ChainModel
    record: dict[str, Any]
    n_features: int
    counts: Counts | None = None

    @classmethod
    def by_counting(cls, training: EmpiricalTraining) -> Trained:
        """The result of empirical training."""
        model, counts, record = training.train()
        return cls(counts.vocabulary, model, record, _n_rows(counts.table.offsets), counts)

    @classmethod
    def separately(cls, training: SeparateTraining) -> Trained:
        """The result of separate training."""
        model, record = training.train()
        return cls(training.counts.vocabulary, model, record, _n_rows(training.counts.table.offsets))

    @classmethod
    def on_chains(
        cls, training: ChainTraining, model: ChainModel, record: dict[str, Any], *, fresh: bool = True
    ) -> Trained:
        """The result of training on whole sentences, without rare and idle features."""
        vocabulary, cutoff = training.start.vocabulary, record["settings"]["cutoff"]
        if cutoff > 1 and fresh:
            model = without_rare(model, training.start.totals, cutoff)
        if record["settings"].get("c1", 0) > 0 or cutoff > 1:
            vocabulary, model = without_idle(vocabulary, model)
        return cls(vocabulary, model, record, _n_rows(model.weights.offsets))

    def described(
        self, method: Method, sentences: int, tokens: int, layout: list[str], seed: int, more: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The record of the model: the data, and what was chosen and measured."""
        from corate import __version__

        return {
            "method": method.name,
            "version": __version__,
            "sentences": sentences,
            "tokens": tokens,
            "labels": len(self.model.labels),
            "features": self.n_features,
            "layout": layout,
            **more,
            "seed": seed,
            "all_labels": method.all_labels,
            **self.record,
        }


def _n_rows(offsets: NDArray[np.int64]) -> int:
    """The number of rows of a ragged array that are not empty."""
    return int((offsets[1:] > offsets[:-1]).sum())


def _train_empirical(method: Empirical, data: Prepared, context: RunContext) -> Trained:
    from corate.training.empirical import EmpiricalTraining

    return Trained.by_counting(EmpiricalTraining(method, data.corpus, data.templates, data.held_out, context))


def _train_separate(method: Separate, data: Prepared, context: RunContext) -> Trained:
    from corate.training.separate import SeparateTraining

    return Trained.separately(
        SeparateTraining(method, _count(method, data, LatticeCosts.of_corpus(data.corpus), context), context)
    )


def _train_chain(
    method: ChainMethod, data: Prepared, origin: Tagger | None, context: RunContext, *, fresh: bool
) -> Trained:
    start = _start(method, data, origin, context)
    training = ChainTraining(method, start, context)
    model, record = training.train()
    if data.scaling is not None:
        model = data.scaling.undo(model)
    return Trained.on_chains(training, model, record, fresh=fresh)


def _start(method: ChainMethod, data: Prepared, origin: Tagger | None, context: RunContext) -> Start:
    """The base scores and initial weights of a method that trains on whole sentences."""
    unknown = getattr(method, "unknown", None)
    if origin is not None:
        return StartFromModel(origin, data.corpus, held_out=data.held_out, unknown=unknown)
    costs = LatticeCosts.of_corpus(data.corpus, unknown, getattr(method, "order", None))
    parts = choose_parts(method, label_ids(data.corpus, unknown)[0].to_list())
    return _count(method, data, costs, context, unknown=unknown, parts=parts)


def _count(
    method: FittedMethod, data: Prepared, costs: LatticeCosts | None, context: RunContext, **options: Any
) -> StartFromCounts:
    """The base scores and initial weights from counts."""
    templates, base = choose_start(method, data.corpus, data.templates, costs)
    return StartFromCounts(
        data.corpus,
        templates,
        base=base,
        held_out=data.held_out,
        all_labels=method.all_labels,
        costs=costs,
        context=context,
        **options,
    )


def _describe_origin(tagger: Tagger | None) -> dict[str, Any]:
    """The record's entry for a model that was trained further."""
    if tagger is None:
        return {}
    return {"init": {name: tagger.record[name] for name in ("method", "sentences", "tokens") if name in tagger.record}}


def _describe_function(corpus: Corpus, function: FeatureFunction | None) -> dict[str, Any]:
    """The record's entry about a feature function."""
    sample = None if function is None else function_sample(corpus, function)
    return {} if sample is None else {"function_sample": sample}


def _layout(corpus: Corpus) -> list[str]:
    """The columns of the data, including the label; empty if the data has only ready-made features."""
    names = list(corpus.layout) or [c.name for c in corpus.columns]
    return names if "label" in names or not names else [*names, "label"]


def update(tagger: Tagger, corpus: Corpus) -> Tagger:
    """A tagger that has also counted another corpus. Tuned settings do not change.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]])
    >>> more = Corpus.from_sentences([[("an", "DET"), ("emu", "NOUN")]])
    >>> update(train(corpus, "empirical"), more).record["sentences"]
    2
    """
    started = time.perf_counter()
    check_corpus(corpus)
    if tagger.method != "empirical":
        further = f"train it further on the new text, with {Argument('init')}"
        advice = "train it again on all the text" if tagger.model.locally_normalised else further
        raise ModelError(f"a model of the method {tagger.method!r} has no counts to add to; {advice}")
    if tagger.counts is None:
        raise ModelError(
            "this model was saved without its counts, so it cannot be updated; train it again and keep the counts"
        )
    ready, _ = ready_made(corpus, tagger.function, tagger.vocabulary.joiner, tagger.bins)
    old = tagger.vocabulary
    if ready.attributes is None and old.attributes is not None:
        raise FeatureError("the model was trained on ready-made features; give them, with Corpus.from_features")
    if old.attributes is None:
        ready = replace(ready, attributes=None)
    fresh, tokens = Counts.of(ready, Vocabulary.of(old.templates, old.rungs), tagger.record.get("word"))
    if tagger.counts.word_pairs is not None:
        fresh = fresh.with_word_pairs(tokens)
    counts = tagger.counts.merged(fresh)
    try:
        temperature = float(tagger.record.get("temperature", 1.0))
        model = rebuild(tagger.model.scaled(temperature), counts, tagger.record)
        if "constrain" in tagger.record:
            model = with_scheme(model, str(tagger.record["constrain"]))
        model = model.scaled(1 / temperature)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelError(f"the record of this model is incomplete ({error!r}); train it again") from error
    counts = replace(counts, table=counts.table.padded(int(counts.vocabulary.bases[-1])))
    record = tagger.record | {
        "sentences": counts.sentences,
        "tokens": counts.tokens,
        "labels": len(counts.labels),
        "features": _n_rows(counts.table.offsets),
        "seconds": round(time.perf_counter() - started, 4),
        "updates": tagger.record.get("updates", 0) + 1,
    }
    return replace(tagger, vocabulary=counts.vocabulary, model=model, counts=counts, record=record)
