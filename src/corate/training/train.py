"""Training, from text to a tagger: the functions that users call, and `train_on`, which all of them use."""

from __future__ import annotations

import logging
import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from corate import formats
from corate.arguments import check_seed, check_threads
from corate.corpus import Corpus, check_corpus
from corate.corpus.attributes import JOINER
from corate.counting.counts import Counts
from corate.display import counted
from corate.errors import Argument, ConfigError, CorateWarning, DataError, FeatureError, InterruptedWarning, ModelError
from corate.features import FeatureSource, resolve
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.features.word_classes import RawText, class_templates
from corate.io.atomic import partial_of
from corate.io.compression import compression_of
from corate.memory import free_memory, parse_memory, shown_memory
from corate.model.archive import save_streamed
from corate.model.chain import ChainModel
from corate.model.constraints import with_scheme
from corate.model.tagger import Tagger
from corate.optimize.pieces import cut_into_pieces
from corate.progress import OnProgress, ProgressEvent
from corate.training.choices import choose_preset, choose_scheme, refuse_too_many_labels
from corate.training.empirical import rebuild
from corate.training.options import Method, MethodName, Separate, check_init, resolve_method
from corate.training.source import (
    FittedModel,
    MemorySource,
    Prepared,
    RunContext,
    Scaling,
    Source,
    Streams,
    filled_rows,
    ready_made,
)

if TYPE_CHECKING:
    from corate.corpus.stored_corpus import StoredCorpus

__all__ = [
    "Trained",
    "beside",
    "count_stored",
    "default_features",
    "must_be_stored",
    "prepare",
    "reporter",
    "save_trained",
    "train",
    "train_completely",
    "train_file",
    "train_on",
    "train_stored",
    "train_until_interrupted",
    "update",
]


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
    source = MemorySource(corpus, chosen.unknown)
    refuse_too_many_labels(source, chosen.name, chosen.many_labels)
    if raw_classes is not None and raw is None:
        raise ConfigError(
            f"raw_classes is the number of classes that {Argument('raw')} learns",
            f"give {Argument('raw')}",
            option="raw_classes",
        )
    if init is not None:
        check_init(chosen, features, raw)
    if calibrate:
        from corate.training.held_out import calibrated, check_calibrates

        check_calibrates(chosen.name)
    scheme = choose_scheme(constrain, source)
    chosen, source = _without_weightless(chosen, source)
    about_raw: dict[str, Any] = {}
    if raw is not None and init is None:
        features, about_raw = _with_word_classes(chosen, features, source, raw, raw_classes, context)
    origin = _starting_model(chosen, init, source.corpus, features, context)
    scheme = scheme or (None if origin is None else origin.record.get("constrain"))
    given: dict[str, Any] = {"features": features, "held_out": held_out, "scheme": scheme, "about": about_raw}
    tagger = train_on(source, chosen, context, origin=origin, further=init is not None, **given).tagger
    if calibrate:

        def train_again(part: Corpus, method: Method) -> Tagger:
            start = None if init is None else origin
            return train_completely(part, method, features=features, init=start, constrain=scheme, **vars(context))

        tagger = calibrated(tagger, chosen, source.corpus, held_out, train_again, context)
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
    source: MemorySource,
    raw: RawText,
    classes: int | Sequence[int] | None,
    context: RunContext,
) -> tuple[FeatureSource, dict[str, Any]]:
    """The features with templates of word classes, and the record's entry for them."""
    if callable(features):
        raise ConfigError("raw adds templates, which a feature function does not have; leave raw unset", option="raw")
    options: dict[str, Any] = {"threads": context.threads, "progress": context.progress}
    added, facts = class_templates(raw, source.corpus, classes=classes, **options)
    templates, _ = resolve(default_features(method, features, source), source.columns)
    return (*templates, *added), {"raw": facts}


def _without_weightless(method: Method, source: MemorySource) -> tuple[Method, MemorySource]:
    """The method and the source without the sentences of weight 0, and so without their words and labels."""
    if method.sentence_weights is None:
        return method, source
    weights = np.asarray(method.sentence_weights, dtype=float)
    if weights.shape != (source.sentences,) or weights.all() or not weights.any():
        return method, source
    kept = np.flatnonzero(weights)
    method = method.changed(sentence_weights=weights[kept].tolist())
    return method, MemorySource(source.corpus.take(kept), source.unknown)


def _starting_model(
    method: Method,
    init: Tagger | str | os.PathLike[str] | None,
    corpus: Corpus,
    features: FeatureSource,
    context: RunContext,
) -> Tagger | None:
    """The tagger to train further, None to start from counts."""
    if method.base == "separate":
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
    """A trained tagger, and the parts of its file that stay on disk; None if it is all in memory."""

    tagger: Tagger
    streams: Streams | None = None

    @property
    def record(self) -> dict[str, Any]:
        """The record of the tagger."""
        return self.tagger.record

    def save(self, path: str | os.PathLike[str], *, counts: bool = True, half: bool = False) -> int:
        """Write the model file and return its size in bytes."""
        if self.streams is None:
            return self.tagger.save(path, counts=counts, half=half)
        streamed = self.streams.tensors(counts=counts, half=half)
        return save_streamed(self.tagger, path, streamed, counts=counts, half=half)


def train_on(
    source: Source,
    method: Method,
    context: RunContext,
    *,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    origin: Tagger | None = None,
    further: bool = False,
    scheme: str | None = None,
    about: Mapping[str, Any] | None = None,
    fit: Callable[..., tuple[Any, ChainModel, dict[str, Any]]] | None = None,
) -> Trained:
    """Train a tagger on the corpus of a source: choose, count, fit, and record what was chosen.

    Args:
        source: where the corpus is.
        method: the options of the method.
        context: threads, the seed and the progress.
        features, held_out: as in `train`.
        origin: a tagger to train further. If not ``further``, it was made for this training.
        scheme: the label scheme that the tagger keeps to.
        about: more entries of the record.
        fit: fits methods on whole sentences; by default, on the items that the source stores.
    """
    from corate import __version__

    started = time.perf_counter()
    data = replace(prepare(method, source, features, held_out, origin), further=further, fit=fit)
    trained: FittedModel = import_module(method.trainer).fit(method, data, context)
    model = with_scheme(trained.model, scheme) if scheme else trained.model
    record: dict[str, Any] = {
        "method": method.name,
        "version": __version__,
        "sentences": source.sentences,
        "tokens": source.n_tokens,
        "labels": len(model.labels),
        "features": trained.n_features,
        **source.described(),
        "seed": context.seed,
        "all_labels": method.all_labels,
        **trained.record,
        **_describe_origin(origin),
        **(about or {}),
        **source.about_function(data.function),
        **({"constrain": scheme} if scheme else {}),
        "seconds": round(time.perf_counter() - started, 4),
    }
    logger.info("%s: trained on %d tokens in %.2f s", method.name, source.n_tokens, record["seconds"])
    tagger = Tagger(trained.vocabulary, model, record, source.columns, trained.counts, data.bins, data.function)
    return Trained(tagger, trained.streams)


def _describe_origin(tagger: Tagger | None) -> dict[str, Any]:
    """The record's entry for a model that was trained further."""
    if tagger is None:
        return {}
    return {"init": {name: tagger.record[name] for name in ("method", "sentences", "tokens") if name in tagger.record}}


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
        "features": filled_rows(counts.table.offsets),
        "seconds": round(time.perf_counter() - started, 4),
        "updates": tagger.record.get("updates", 0) + 1,
    }
    return replace(tagger, vocabulary=counts.vocabulary, model=model, counts=counts, record=record)


def prepare(
    method: Method, source: Source, features: FeatureSource, held_out: Corpus | None, origin: Tagger | None
) -> Prepared:
    """Resolve the features, or use those of the model to train further, and apply them to both corpora."""
    features = None if origin is not None else default_features(method, features, source)
    templates, function = resolve(features, source.columns)
    lexicons = source.lexicons(atom for t in templates for atom in t.atoms)
    templates = tuple(t.with_lexicons(lexicons) for t in templates)
    bins, joiner = None, JOINER
    if origin is not None:
        function, bins, joiner = origin.function, origin.bins, origin.vocabulary.joiner
    binned = method.counts_only or bins is not None
    ready, bins = source.with_features(function, joiner, bins, binned=binned)
    held = None if held_out is None else ready_made(held_out, function, joiner, bins, binned=binned)[0]
    scaling = None
    if method.refines_counts and origin is None and ready.attributes is not None:
        scaling = Scaling.of(ready.attributes)
        ready = ready.with_attributes(scaling.apply(ready.attributes))
        if held is not None and held.attributes is not None:
            held = replace(held, attributes=scaling.apply(held.attributes))
    used = _node_templates(templates) if method.counts_only else [t for t in templates if t.atoms]
    return Prepared(ready, held, used, bins, function, scaling, origin)


def _node_templates(templates: Sequence[Template]) -> list[Template]:
    left_out = [str(t) for t in templates if t.edge and t.atoms]
    if left_out:
        warnings.warn(
            f"empirical training has no features of label pairs; these edge templates are left out: "
            f"{', '.join(left_out)}",
            stacklevel=5,
        )
    return [t for t in templates if t.atoms and not t.edge]


def default_features(method: Method, features: FeatureSource, source: Source) -> FeatureSource:
    """The features, or a preset if there are none and the method needs templates."""
    if features is None and not method.counts_only and source.columns:
        return choose_preset(source)
    return features


#: The memory that training in memory takes, by itself and for each byte of text in columns, measured on text of
#: benchmarks/growth.py and on conll2000: empirical, and other methods.
EMPIRICAL, OTHERS = (80_000_000, 14), (200_000_000, 46)

#: The memory that storing text on disk takes, by itself and for each distinct string.
STORED_TEXT = (100_000_000, 100)

#: The memory that counting on disk takes, by itself and for each distinct word; up to a tenth more is accepted.
STORED_EMPIRICAL = (100_000_000, 420)

#: With fewer words, a model would be of little use.
FEWEST_WORDS = 10_000


def train_file(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    method: str | Method = "polish",
    *,
    memory: int | str | None = None,
    temporary: str | os.PathLike[str] | None = None,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    constrain: str | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: OnProgress | None = None,
    counts: bool = True,
    half: bool = False,
    keep_partial: bool = False,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Train on a file, which may be larger than memory, and write the model file.

    If training would need more memory than the limit, the text is read in pieces and stored in temporary files. The
    model is the same.

    Args:
        source: the path of a file with labelled text; ``"-"`` is standard input.
        output: the path of the model file to write.
        method: as for :func:`corate.train`. These can train on text larger than memory: ``"polish"``, except with the
            base separate; ``"empirical"`` without ``features`` and ``held_out``; ``"separate"`` with the default
            coupling; ``"perceptron"``; and the other methods with the optimizer adagrad.
        memory: the most memory to use: a number of bytes, or a string with a unit, such as ``"2G"``. By default, half
            of the free memory. The weights must fit into it, except for ``"empirical"``.
        temporary: the folder for temporary files. By default, the folder of ``output``.
        features, held_out, constrain, threads, seed, progress: as for :func:`corate.train`.
        counts, half: as for :meth:`corate.Tagger.save`.
        keep_partial: if Ctrl-C ends training after the first pass or iteration, write the model reached so far to
            ``output``. By default, it is written to a file beside it, with ``.partial`` after its name, ``output`` is
            not changed, and KeyboardInterrupt is raised.
        reading: arguments for :func:`corate.read`, such as ``{"columns": "word,label"}``.
        **options: options of a method that is given by name, as for :func:`corate.train`.

    Returns:
        The record of the model, a dict like ``Tagger.record``. If ``interrupted`` is true, as is possible with
        ``keep_partial``, there is also a UserWarning.

    Raises ConfigError if the text does not fit into ``memory`` and the method or an argument needs the text in memory.
    If ``memory`` is None, there is a warning instead, and training takes the memory that it needs.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = Path(folder, "train.tsv")
    ...     size = text.write_text("the\\tDET\\ndog\\tNOUN\\n\\n" * 20)
    ...     record = train_file(text, Path(folder, "model.corate"), "empirical", memory="200M")
    >>> record["tokens"]
    40
    """
    started = time.perf_counter()
    chosen = resolve_method(method, options)
    context = RunContext(check_threads(threads), check_seed(seed), reporter(progress))
    path = os.fspath(source)
    limit = _limit(memory)
    given: dict[str, Any]
    if not must_be_stored(path, chosen, memory, features=features, held_out=held_out):
        corpus = formats.read(path, **dict(reading or {}))
        given = {"features": features, "held_out": held_out, "constrain": constrain}
        tagger = train_until_interrupted(corpus, chosen, **given, **vars(context))
        save_trained(tagger, output, keep_partial=keep_partial, counts=counts, half=half)
        return _warned(tagger.record, output)
    from corate.corpus.stored_corpus import StoredCorpus
    from corate.io.ahead import one_ahead

    assert limit is not None
    with _work_folder(temporary, output) as folder:

        def reported(done: float | None) -> None:
            context.progress(ProgressEvent("reading", done or 0.0))

        pieces = formats.read_pieces(path, progress=reported, **dict(reading or {}))
        if context.threads > 1:
            pieces = one_ahead(pieces)
        with StoredCorpus.write(pieces, _subfolder(folder, "corpus"), _most_strings(limit)) as stored:
            given = {"features": features, "held_out": held_out, "constrain": constrain}
            train = count_stored if chosen.counts_only else train_stored
            with beside(stored.folder) as work:
                trained = train(stored, chosen, work, limit, context, **given)
                context.progress(ProgressEvent("saving"))
                save_trained(trained, output, keep_partial=keep_partial, counts=counts, half=half)
    record = trained.record
    record["seconds"] = round(time.perf_counter() - started, 4)
    return _warned(record, output)


def save_trained(tagger: Tagger | Trained, output: str | os.PathLike[str], *, keep_partial: bool, **how: Any) -> None:
    """Save a tagger. If its training was interrupted, save it beside ``output`` and raise KeyboardInterrupt.

    With ``keep_partial``, it is saved to ``output`` in any case. ``how`` are arguments of :meth:`corate.Tagger.save`.
    """
    if keep_partial or not tagger.record.get("interrupted"):
        tagger.save(output, **how)
        return
    partial = partial_of(output)
    tagger.save(partial, **how)
    raise KeyboardInterrupt(f"{partial} contains the model reached so far; {os.fspath(output)} was not written")


def _warned(record: dict[str, Any], output: str | os.PathLike[str]) -> dict[str, Any]:
    """The record of the model; a warning says that its training was interrupted."""
    if record.get("interrupted"):
        message = f"training was interrupted; {os.fspath(output)} contains the model reached so far"
        warnings.warn(InterruptedWarning(message), stacklevel=3)
    return record


def must_be_stored(
    path: str,
    method: Method,
    memory: int | str | None,
    *,
    features: FeatureSource = None,
    held_out: object = None,
    **others: object,
) -> bool:
    """Whether training on a file would take more memory than the limit, and so has to store the text on disk.

    Standard input and compressed files have no known size: they are stored if a limit is given. ``others`` are
    arguments that need the text in memory. If a limit is given, they raise ConfigError; without a limit, training takes
    the memory that it needs.
    """
    limit, size = _limit(memory), _size(path)
    if limit is None or (size is None and memory is None):
        return False
    program, each = EMPIRICAL if method.counts_only else OTHERS
    need = None if size is None else program + size * each
    if need is not None and need <= limit:
        return False
    problem = _unsupported(method, features, held_out, others)
    if problem is None:
        return True
    about = "" if need is None else f" (about {shown_memory(need)})"
    if memory is not None:
        other = _stochastic(method)
        able = other is not None and _unsupported(other, features, held_out, others) is None
        stochastic = f"use {Argument('optimizer', 'adagrad')}, " if able else ""
        advice = f"give more memory{about}, {stochastic}or use polish or empirical alone"
        raise ConfigError(problem, advice, option="memory")
    warning = CorateWarning(f"{problem}, so training takes the memory that it needs{about}")
    warnings.warn(warning, stacklevel=3)
    return False


def _stochastic(method: Method) -> Method | None:
    """The method with stochastic passes instead of L-BFGS; None if it already has them, or cannot have them."""
    if method.counts_only or method.in_passes:
        return None
    try:
        return method.changed(optimizer="adagrad")
    except ConfigError:  # with c1
        return None


def _unsupported(method: Method, features: FeatureSource, held_out: object, others: Mapping[str, object]) -> str | None:
    """Why text cannot be trained on from disk, None if it can."""
    named = next((name for name, value in others.items() if value), None)
    if named is not None:
        return f"{Argument(named)} needs the text in memory"
    refused = method.refused("disk", features=features, held_out=held_out)
    if refused is not None:
        return f"{refused.as_argument} needs the text in memory"
    return "a feature function needs the text in memory" if callable(features) else None


def _limit(memory: int | str | None) -> int | None:
    """The limit in bytes, None if there is none."""
    if memory is not None:
        return parse_memory(memory)
    free = free_memory()
    return None if free is None else free // 2


def _size(path: str) -> int | None:
    """The size of the text of a file, None if it is not known."""
    if path == "-" or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return None if compression_of(path, file.read(16)) is not None else os.stat(path).st_size


def train_stored(
    stored: StoredCorpus,
    method: Method,
    folder: Path,
    memory: int,
    context: RunContext,
    *,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    constrain: str | None = None,
) -> Trained:
    """Train a tagger on a corpus on disk, with stochastic passes. The model is that of :func:`corate.train`.

    Temporary files are in ``folder``. A small corpus is trained in memory. Raises DataError if the vocabulary and the
    weights need more than ``memory`` bytes.
    """
    from corate.training.disk import DiskSource, check_corpus_fits, check_counting_fits

    given: dict[str, Any] = {"features": features, "held_out": held_out}
    if stored.n_tokens == 0:
        raise DataError("there are no tokens to train on")
    lengths = np.diff(stored.offsets)
    filled = np.flatnonzero(lengths)
    pieces = cut_into_pieces(filled, lengths[filled], context.seed)
    if pieces is None:
        check_corpus_fits(stored.n_tokens, memory)
        corpus = stored.sentences(0, len(stored))
        return Trained(train_until_interrupted(corpus, method, constrain=constrain, **given, **vars(context)))
    _check_options(method)
    check_counting_fits(stored.n_tokens, memory)
    source = DiskSource(stored, method.unknown, pieces, folder, memory)
    scheme = choose_scheme(constrain, source)
    refuse_too_many_labels(source, method.name, method.many_labels)
    return train_on(source, method, context, scheme=scheme, **given)


def count_stored(
    stored: StoredCorpus,
    method: Method,
    folder: Path,
    memory: int,
    context: RunContext,
    *,
    constrain: str | None = None,
    **given: Any,
) -> Trained:
    """Train a tagger on a corpus on disk by counting. Temporary files are in ``folder``.

    Rare words are left out if all words need more than ``memory`` bytes.
    """
    from corate.training.disk import LadderSource

    words = len(stored.strings[stored.columns.index(stored.word)])
    source = LadderSource(stored, folder, memory, _most_words(words, memory))
    refuse_too_many_labels(source, method.name, method.many_labels)
    scheme = choose_scheme(constrain, source)
    return train_on(source, method, context, scheme=scheme, **given)


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """A new folder for temporary files, which is removed at the end, beside a folder."""
    from corate.corpus.stored_corpus import temporary_folder, writing_to

    with writing_to(folder):
        found = temporary_folder(folder.parent)
    try:
        yield found
    finally:
        shutil.rmtree(found, ignore_errors=True)


def _check_options(method: Method) -> None:
    """Raise ConfigError for options that are only for training in memory."""
    refused = method.refused("disk")
    if refused is not None:
        raise ConfigError(
            f"{refused.what} is only for training in memory; {refused.remedy}, or give no memory limit",
            option=refused.option,
        )


def _most_strings(memory: int) -> int:
    """The number of distinct strings of a text that can be stored on disk within the limit."""
    program, each = STORED_TEXT
    if memory <= program:
        what = f"a memory limit of {shown_memory(memory)} is too small for any text"
        raise ConfigError(f"{what}; give more than {shown_memory(program)}", option="memory")
    return (memory - program) // each


def _most_words(words: int, memory: int) -> int:
    """The number of words that empirical training can count within the limit, given the number of distinct words."""
    program, each = STORED_EMPIRICAL
    need, most = program + each * words, max(0, memory - program) // max(1, each)
    if need <= 1.1 * memory:
        return words
    if most < min(words, FEWEST_WORDS):
        what = f"counting {counted(words, 'distinct word')} needs about {shown_memory(need)}"
        raise DataError(f"{what}, more than the limit of {shown_memory(memory)}; give more memory")
    warnings.warn(
        f"{most:,} of {words:,} distinct words fit in {shown_memory(memory)}; the others, which are rare, are "
        f"left out and will be labelled like unseen words; about {shown_memory(need)} of memory would keep them all",
        stacklevel=2,
    )
    return most


@contextmanager
def _work_folder(temporary: str | os.PathLike[str] | None, output: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder for temporary files, which is removed at the end. Errors of the disk name it, and the remedy."""
    from corate.corpus.stored_corpus import temporary_folder, writing_to

    parent = Path(temporary) if temporary is not None else Path(output).absolute().parent
    with writing_to(parent / "temporary"):
        folder = temporary_folder(parent)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _subfolder(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name
