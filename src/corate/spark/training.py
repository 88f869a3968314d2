"""Training on data frames."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corate.arguments import check_seed, check_whole
from corate.corpus import Corpus
from corate.counting.canonical import canonical
from corate.counting.counted_corpus import CountedCorpus, counted_templates
from corate.counting.counts import Counts
from corate.counting.ladder import LadderPreset
from corate.errors import ConfigError, FeatureError
from corate.features import FeatureSource, resolve
from corate.features.lexicons import Lexicon
from corate.features.templates import Template, lexicons_of, parse
from corate.model.tagger import Tagger
from corate.progress import OnProgress, ProgressEvent
from corate.spark.chains import Cluster, MixedTraining, SharedStart, fit_by_gradients, fit_by_mixing, layout_of
from corate.spark.counting import Source, count, learned_from_counts
from corate.spark.frames import TokenColumns, check_columns, named_columns
from corate.training.api import Trained, reporter
from corate.training.checks import refuse_too_many_labels
from corate.training.defaults import choose_parts, choose_start
from corate.training.empirical import PRESETS_OF_LADDERS, EmpiricalTraining
from corate.training.lattice_costs import LatticeCosts
from corate.training.options import METHODS, Empirical, Method, Polish, Standard
from corate.training.prepared import corpus_summary, default_features
from corate.training.resolve import resolve_method
from corate.training.start import RunContext
from corate.training.start_from_counts import StartFromCounts, preset_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["train"]


def train(
    df: DataFrame,
    method: str | Method = "empirical",
    *,
    tokens: TokenColumns = "tokens",
    labels: str = "labels",
    features: FeatureSource = None,
    rounds: int | None = None,
    seed: int = 0,
    progress: OnProgress | None = None,
    **options: Any,
) -> Tagger:
    """Train a tagger on the labelled sentences of a data frame. There are three methods:

    - ``"empirical"`` counts each partition and adds up the counts. The tensors of the model are the same, byte for
      byte, for any partitions, order of rows and number of executors. Settings are tuned on a sample of sentences,
      which is chosen by a hash of their tokens.
    - ``"polish"`` makes a stochastic pass over each partition, all from the same weights, and then averages the weights
      of the partitions. This is a round. The weights depend on the partitions. Accuracy is close to that of training
      on one machine.
    - ``"standard"`` uses L-BFGS, with gradients that are summed over the partitions. The model is the same as on one
      machine, up to rounding.

    Args:
        df: a row for each sentence. Rows whose tokens are null or empty are left out.
        method: the name of the method, or its options, such as ``corate.Polish(c2=0.1)``.
        tokens: the column of the tokens, ``array<string>``; for several columns, a mapping from their names in
            templates to columns of ``df``, such as ``{"word": "tokens", "pos": "tags"}``.
        labels: the column of the labels, ``array<string>``, one label for each token.
        features: as in :func:`corate.train`, without feature functions.
        rounds: the number of rounds of ``"polish"``; by default, the number of passes that it makes on one machine.
        seed: the random seed. It determines which sentences are held out, and the order of stochastic steps.
        progress: a function that is called with a :class:`~corate.ProgressEvent` during training.
        **options: options of a method that is given by name. Some are not available on Spark.

    Raises ConfigError for a method or an option that is not available on Spark, FeatureError for a feature function,
    and DataError if a column is missing or has another type, or if there are no tokens. If the labels of a row are
    null, or differ in number from its tokens, Spark raises ``pyspark.errors.PythonException``, whose message shows the
    row.
    """
    started = time.perf_counter()
    chosen = resolve_method(method, options)
    _check(chosen, rounds)
    columns = named_columns(tokens, ("word",) if isinstance(tokens, str) else ())
    check_columns(df, [*columns.values(), labels])
    source = Source(columns, labels)
    context = RunContext(1, check_seed(seed), reporter(progress))
    templates, function = resolve(features, list(columns))
    if function is not None:
        raise FeatureError("Spark counts templates, not feature functions; give templates or a preset")
    if isinstance(chosen, Empirical):
        used = [t for t in templates if t.atoms and not t.edge]
        trained, counts = _train_empirical(df, source, chosen, used, context)
    else:
        assert isinstance(chosen, Polish | Standard)
        trained, counts = _train_chains(df, source, chosen, features, rounds, context)
    layout = [*columns, "label"]
    record = trained.described(chosen, counts.sentences, counts.tokens, layout, context.seed, {})
    record["seconds"] = round(time.perf_counter() - started, 4)
    return Tagger(trained.vocabulary, trained.model, record, tuple(columns), trained.counts)


def _train_empirical(
    df: DataFrame, source: Source, method: Empirical, templates: list[Template], context: RunContext
) -> tuple[Trained, Counts]:
    ladder = method.ladder
    if ladder == "pooled" and not templates:
        raise FeatureError("the pooled ladder needs features; choose a preset or give templates")
    pooled = bool(templates) if ladder is None else ladder == "pooled"
    counted = count_ladders(df, source, templates if pooled else [], PRESETS_OF_LADDERS[ladder], context)
    training = EmpiricalTraining.of_counted(method, counted, context, pooled=pooled)
    return Trained.by_counting(training), counted.counts


def _check(method: Method, rounds: int | None) -> None:
    """Raise ConfigError for methods and options that are not for Spark."""
    if "spark" not in method.places:
        able = [repr(name) for name, other in METHODS.items() if "spark" in other.places]
        raise ConfigError(
            f"Spark trains the methods {', '.join(able[:-1])} and {able[-1]}, not {method.name!r}", option="method"
        )
    if rounds is not None:
        if not method.in_passes:
            raise ConfigError("rounds is for the method 'polish'", option="rounds")
        check_whole("rounds", rounds, 1)
    refused = method.refused("spark")
    if refused is not None:
        raise ConfigError(
            f"{refused.what} is not for training on Spark; leave {refused.option} unset", option=refused.option
        )


def _train_chains(
    df: DataFrame,
    source: Source,
    method: Polish | Standard,
    features: FeatureSource,
    rounds: int | None,
    context: RunContext,
) -> tuple[Trained, Counts]:
    """Polish or standard: count words, count features, find the layout of the weights, then fit."""
    data = source.selected(df).persist()
    try:
        context.progress(ProgressEvent("counting words"))
        words, _ = count(data, source, [parse(f"{column}[0]") for column in source.columns], context.seed)
        summary = _summary(words, list(source.columns))
        refuse_too_many_labels(summary, method.name, method.many_labels)
        found, _ = resolve(default_features(method, features, summary), list(source.columns))
        atoms = [atom for t in found for atom in t.atoms]
        lexicons = learned_from_counts(atoms, words, lexicons_of(found))
        place = list(source.columns).index(_word_column(source))
        costs = LatticeCosts.of_words(words.of_template(place), len(words.labels), method.order)
        templates, base = choose_start(method, summary, [t.with_lexicons(lexicons) for t in found if t.atoms], costs)
        counted = count_ladders(data, source, templates, (preset_of(base),), context)
        parts = choose_parts(method, words.labels.to_list())
        options: dict[str, Any] = {"base": base, "parts": parts, "costs": costs}
        start = StartFromCounts.of_counted(counted, templates, all_labels=method.all_labels, context=context, **options)
        fitted = start.ladder, start.pool
        shared = SharedStart(
            method, counted.counts, counted.word or "", tuple(templates), fitted=fitted, seed=context.seed, **options
        )
        context.progress(ProgressEvent("counting label pairs"))
        cluster = Cluster.of(data, source, shared)
        layout = layout_of(cluster)
        cluster = cluster.with_layout(layout)
        training = MixedTraining(method, start, context, counted.counts.tokens, layout)
        if isinstance(method, Polish):
            rounds = rounds or training.p.passes
            weights = fit_by_mixing(cluster, training, rounds)
        else:
            weights = fit_by_gradients(cluster, training)
        cluster.close()
    finally:
        data.unpersist()
    model, record = training.finished(weights)
    record |= {} if rounds is None else {"rounds": rounds}
    return Trained.on_chains(training, model, record), counted.counts


def _summary(counts: Counts, columns: Sequence[str]) -> Corpus:
    totals = np.zeros(len(counts.labels), np.int64)
    table = counts.of_template(0)
    np.add.at(totals, table.labels, table.counts)
    return corpus_summary({name: counts.vocabulary.strings(name) for name in columns}, counts.labels, totals)


def _word_column(source: Source) -> str:
    return "word" if "word" in source.columns else next(iter(source.columns))


def count_ladders(
    df: DataFrame, source: Source, templates: Sequence[Template], presets: tuple[LadderPreset, ...], context: RunContext
) -> CountedCorpus:
    """Count the templates, and what ladders need. Templates that learn from labels need another pass, before."""
    word = _word_column(source)
    wanted, derived, rungs = counted_templates(templates, presets, word)
    lexicons = lexicons_of(templates)
    if any(atom.function.table is None for t in wanted for atom in t.atoms if atom.function.learns):
        lexicons = _lexicons_of_words(df, source, wanted, lexicons, context)
    context.progress(ProgressEvent("counting"))
    counts, sample = count(df, source, [t.with_lexicons(lexicons) for t in wanted], context.seed)
    lexicons = learned_from_counts(rungs, counts, lexicons)
    counts = canonical(counts, [atom.with_lexicons(lexicons) for atom in rungs], derived)
    return CountedCorpus.of_counts(counts, counts.tokens_of(sample, word), word, presets, context.seed)


def _lexicons_of_words(
    df: DataFrame, source: Source, templates: Sequence[Template], known: dict[str, Lexicon], context: RunContext
) -> dict[str, Lexicon]:
    """The lexicons that templates learn, from a pass that counts words."""
    context.progress(ProgressEvent("counting words"))
    atoms = [atom for t in templates for atom in t.atoms]
    learning = dict.fromkeys(atom.column for atom in atoms if atom.function.learns)
    counts, _ = count(df, source, [parse(f"{column}[0]") for column in learning], context.seed)
    return learned_from_counts(atoms, counts, known)
