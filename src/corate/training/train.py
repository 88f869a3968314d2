"""Training from beginning to end: `train`, `train_file` and `update`, and `train_on`, by which all methods are trained.

Text in a file that fits into the memory limit is read and trained on as by `train`. Larger text is read in pieces, and
stored on disk as ids (:mod:`corate.training.disk`). The model is the same.
"""

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
from typing import TYPE_CHECKING, Any

import numpy as np

from corate import formats
from corate.arguments import check_seed, check_threads
from corate.corpus import Corpus, check_corpus
from corate.corpus.attributes import JOINER
from corate.counting.counts import Counts
from corate.errors import Argument, ConfigError, DataError, FeatureError, InterruptedWarning, ModelError
from corate.features import FeatureSource, resolve
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.features.word_classes import RawText, class_templates
from corate.io.atomic import partial_of
from corate.model.archive import save_streamed
from corate.model.chain import ChainModel
from corate.model.constraints import with_scheme
from corate.model.graph_scores import NodeClassifier
from corate.model.tagger import Tagger
from corate.progress import OnProgress, ProgressEvent
from corate.training.choices import choose_preset, choose_scheme, refuse_labels, refuse_unusable_labels
from corate.training.empirical import rebuild
from corate.training.methods import Empirical, Method, Separate, check_init, refuse_on_graphs, resolve_method
from corate.training.source import (
    FittedModel,
    MemorySource,
    RunContext,
    Scaling,
    Source,
    TrainingData,
    filled_rows,
    ready_made,
)

if TYPE_CHECKING:
    from corate.corpus.stored_corpus import StoredCorpus
    from corate.training.disk import BackoffStreams

__all__ = [
    "Trained",
    "prepare",
    "reporter",
    "save_trained",
    "train",
    "train_completely",
    "train_file",
    "train_on",
    "train_stored",
    "update",
]


logger = logging.getLogger(__name__)


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
    nodes: Any = None,
    threads: int = 1,
    seed: int = 0,
    progress: OnProgress | None = None,
    **options: Any,
) -> Tagger:
    """Train a tagger on a labelled corpus of sentences or graphs, and return it.

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
        nodes: for graphs, what gives the probabilities of the labels of a node without its edges. By default, a
            regression on its features. A classifier with ``fit`` and ``predict_proba``, such as those of scikit-learn,
            takes its place; it is not saved with the model. ``"given"``: the corpus has ``node_log_probs``.
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
    given: dict[str, Any] = {
        "raw": raw,
        "raw_classes": raw_classes,
        "init": init,
        "calibrate": calibrate,
    }
    tagger = train_until_interrupted(
        corpus,
        resolve_method(method, options),
        features=features,
        held_out=held_out,
        constrain=constrain,
        nodes=nodes,
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
    nodes: Any = None,
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
    if corpus.edges is not None:
        for_sentences = {"raw": raw, "init": init, "calibrate": calibrate, "constrain": constrain, "held_out": held_out}
        refuse_on_graphs(chosen, for_sentences)
    corpus, classifier = _scored_by(corpus, nodes, context)
    source = MemorySource(corpus, chosen.unknown)
    refuse_labels(source, chosen)
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
    return tagger if classifier is None else replace(tagger, classifier=classifier)


def _scored_by(corpus: Corpus, nodes: Any, context: RunContext) -> tuple[Corpus, NodeClassifier | None]:
    """The corpus with the probabilities of a classifier of nodes, and this classifier, if there is one."""
    if nodes is None:
        return corpus, None
    from corate.training.graph_classifiers import with_classifier

    return with_classifier(corpus, nodes, context.seed)


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
    streams: BackoffStreams | None = None

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
    import corate

    started = time.perf_counter()
    data = replace(prepare(method, source, features, held_out, origin), further=further, fit=fit)
    trainer = "corate.training.graphs" if source.on_graphs else method.trainer
    trained: FittedModel = import_module(trainer).fit(method, data, context)
    model = with_scheme(trained.model, scheme) if scheme else trained.model
    record: dict[str, Any] = {
        "method": method.name,
        "version": corate.__version__,
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
    if not tagger.counted:
        further = f"train it further on the new text, with {Argument('init')}"
        advice = "train it again on all the text" if tagger.model.locally_normalised else further
        raise ModelError(f"a model of the method {tagger.method!r} has no counts to add to; {advice}")
    if tagger.counts is None:
        raise ModelError(
            "this model was saved without its counts, so it cannot be updated; train it again and keep the counts"
        )
    refuse_unusable_labels(MemorySource(corpus), Empirical())
    ready, _ = ready_made(corpus, tagger.function, tagger.vocabulary.joiner, tagger.bins)
    old = tagger.vocabulary
    if ready.attributes is None and old.attributes is not None:
        raise FeatureError("the model was trained on ready-made features; give them, with Corpus.from_features")
    if old.attributes is None:
        ready = replace(ready, attributes=None)
    fresh, tokens = Counts.of(ready, Vocabulary.of(old.templates, old.levels), tagger.record.get("word"))
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
    counts = counts.padded()
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
) -> TrainingData:
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
    return TrainingData(ready, held, used, bins, function, scaling, origin)


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
    """The features, or if there are none and the method needs templates, a preset.

    Nodes of graphs that are not made of text have no spelling and no order: their features are their columns.
    """
    if features is None and source.on_graphs and not source.edge_source:
        return [f"{name}[0]" for name in source.columns if name not in ("node", "graph")]
    if features is None and not method.counts_only and source.columns:
        return choose_preset(source)
    return features


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
    given: dict[str, Any] = {"features": features, "held_out": held_out}
    saving: dict[str, Any] = {"keep_partial": keep_partial, "counts": counts, "half": half}
    from corate.training.disk import limit_passed, most_strings

    limit = limit_passed(path, chosen, memory, **given, edges=(reading or {}).get("edges"))
    if limit is None:
        corpus = formats.read(path, **dict(reading or {}))
        tagger = train_until_interrupted(corpus, chosen, constrain=constrain, **given, **vars(context))
        save_trained(tagger, output, **saving)
        return _warned(tagger.record, output)
    from corate.corpus.stored_corpus import StoredCorpus
    from corate.io.ahead import one_ahead

    with _work_folder(temporary, output) as folder:

        def reported(done: float | None) -> None:
            context.progress(ProgressEvent("reading", done or 0.0))

        pieces = formats.read_pieces(path, progress=reported, **dict(reading or {}))
        if context.threads > 1:
            pieces = one_ahead(pieces)
        with StoredCorpus.write(pieces, _subfolder(folder, "corpus"), most_strings(limit)) as stored:
            work = _subfolder(folder, "work")
            trained = train_stored(stored, chosen, work, limit, context, **given, constrain=constrain)
            context.progress(ProgressEvent("saving"))
            save_trained(trained, output, **saving)
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


def train_stored(
    stored: StoredCorpus,
    method: Method,
    folder: Path,
    memory: int,
    context: RunContext,
    *,
    constrain: str | None = None,
    **given: Any,
) -> Trained:
    """Train a tagger on a corpus on disk. The model is that of :func:`corate.train`.

    Temporary files are in ``folder``. A small corpus is trained in memory, if it is not only counted. Raises DataError
    if the vocabulary and the weights need more than ``memory`` bytes.
    """
    from corate.training import disk

    if stored.n_tokens == 0:
        raise DataError("there are no tokens to train on")
    if not method.counts_only and disk.pieces_of(stored, context.seed) is None:
        disk.check_corpus_fits(stored.n_tokens, memory)
        corpus = stored.sentences(0, len(stored))
        return Trained(train_until_interrupted(corpus, method, constrain=constrain, **given, **vars(context)))
    source = disk.source_on_disk(stored, method, folder, memory, context.seed)
    scheme = choose_scheme(constrain, source)
    refuse_labels(source, method)
    return train_on(source, method, context, scheme=scheme, **given)


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
