"""Counts of a data frame: each partition is counted, and the counts are merged in a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus, StringTable
from corate.counting.canonical import canonical
from corate.counting.counted_corpus import CountedCorpus, counted_templates
from corate.counting.counts import Counts, Table
from corate.counting.held_out import first_slices
from corate.counting.sample import SentenceSample
from corate.errors import DataError
from corate.features.related_words import usual_labels_of_counts
from corate.features.templates import Template, lexicons_of, parse, usual_name
from corate.features.vocabulary import BOUNDARIES, Vocabulary
from corate.progress import ProgressEvent
from corate.spark.batches import read_batch
from corate.spark.frames import reduce_partitions
from corate.training.source import Presets, RunContext, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkSource", "Where", "partition_corpora"]

#: The tokens of the sample: held-out sentences, and those that the weights of a pool are fitted on.
SAMPLE_TOKENS = 75_000
#: A partition is counted in pieces of about this many tokens.
PIECE_TOKENS = 1_000_000


@dataclass(frozen=True)
class Where:
    """Where the sentences of a data frame are: a column for each column of the corpus, and one with the labels."""

    columns: dict[str, str]
    labels: str

    def selected(self, df: DataFrame) -> DataFrame:
        """The data frame without other columns."""
        return df.select(*dict.fromkeys([*self.columns.values(), self.labels]))


def partition_corpora(batches: Iterator[Any], source: Where, tokens: int = PIECE_TOKENS) -> Iterator[Corpus]:
    """The sentences of Arrow batches in pieces of about so many tokens, without empty ones.

    Raises DataError for a bad row, which the message shows.
    """
    pieces, n = list[Corpus](), 0
    for batch in batches:
        read = read_batch(batch, source.columns, source.labels)
        read.check()
        corpus = read.corpus
        filled = np.flatnonzero(np.diff(corpus.offsets))
        corpus = corpus if len(filled) == len(corpus) else corpus.take(filled)
        if corpus.n_tokens:
            pieces.append(corpus)
            n += corpus.n_tokens
        if n >= tokens:
            yield Corpus.joined(pieces)
            pieces, n = [], 0
    if pieces:
        yield Corpus.joined(pieces)


@dataclass(frozen=True)
class Counted:
    """The counts of some sentences, and a sample of them."""

    counts: Counts
    sample: SentenceSample

    def merged(self, other: Counted) -> Counted:
        """The counts and the sample of both."""
        return Counted(self.counts.merged(other.counts), self.sample.merged(other.sample))


@dataclass(frozen=True)
class _CountPartition:
    source: Where
    templates: tuple[Template, ...]
    seed: int

    def __call__(self, batches: Iterator[Any]) -> Counted | None:
        found: Counted | None = None
        for corpus in partition_corpora(batches, self.source):
            counts = Counts.of(corpus, Vocabulary.of(self.templates), None)[0]
            counted = Counted(counts, SentenceSample.of(corpus, SAMPLE_TOKENS, self.seed))
            found = counted if found is None else found.merged(counted)
        return found


def count(df: DataFrame, source: Where, templates: Sequence[Template], seed: int) -> tuple[Counts, Corpus]:
    """The counts of templates in canonical order, and the sample. They do not depend on partitions or their order."""
    found = reduce_partitions(source.selected(df), _CountPartition(source, tuple(templates), seed), Counted.merged)
    if found is None:
        raise DataError("there are no tokens to train on")
    return canonical(found.counts), found.sample.corpus()


class SparkSource(Source):
    """A data frame. The counts of its words answer facts; they take a pass over the data, when they are needed."""

    no_function = "Spark counts templates, not feature functions; give templates or a preset"
    unknown = None

    def __init__(self, df: DataFrame, where: Where, context: RunContext) -> None:
        self.df, self.where, self.context = df, where, context
        self.columns = tuple(where.columns)
        self.word: str = "word" if "word" in self.columns else self.columns[0]
        self._size: tuple[int, int] | None = None

    @cached_property
    def word_counts(self) -> Counts:
        """The counts of the words of each column."""
        self.context.progress(ProgressEvent("counting words"))
        return self._counted([_words(column) for column in self.columns])[0]

    def _counted(self, templates: Sequence[Template]) -> tuple[Counts, Corpus]:
        counts, sample = count(self.df, self.where, templates, self.context.seed)
        self._size = counts.sentences, counts.tokens
        return counts, sample

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of sentences and of tokens."""
        return self._size or (self.word_counts.sentences, self.word_counts.tokens)

    @cached_property
    def sentences(self) -> int:
        """The number of sentences."""
        return self.size[0]

    @cached_property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return self.size[1]

    @cached_property
    def labels(self) -> StringTable:
        """All labels of the data."""
        return self.word_counts.labels

    @cached_property
    def names(self) -> StringTable:
        """The labels of a model, which are all labels of the data."""
        return self.labels

    def strings(self, column: str) -> StringTable:
        """The strings of a column."""
        return self.word_counts.vocabulary.strings(column)

    def used(self, column: str) -> int:
        """The number of strings of a column, or of labels for the column ``label``."""
        return len(self.labels if column == "label" else self.strings(column))

    def labels_by(self, column: str) -> Table:
        """How often each label was seen with each string of a column."""
        return labels_by_word(self.word_counts, column)

    def label_counts(self) -> NDArray[np.int64]:
        """The number of tokens of each label."""
        found = np.zeros(len(self.labels), np.int64)
        np.add.at(found, self.words.labels, self.words.counts)
        return found

    def label_sentences(self) -> Iterator[list[str | Any]]:
        """Sentences stay on the workers."""
        raise NotImplementedError

    def all_known(self) -> bool:
        """All labels are known."""
        return True

    def count(
        self, templates: Sequence[Template], presets: Presets, context: RunContext, held_out: Corpus | None = None
    ) -> CountedCorpus:
        """Count the features of templates, and what the back-offs need. The counts are in canonical order."""
        wanted, derived, levels = counted_templates(templates, presets, self.word)
        counts, sentences = self._counted(wanted)
        known = lexicons_of(templates)
        for column in dict.fromkeys(atom.column for atom in levels if atom.function.learns):
            if usual_name(column) not in known:
                rows, strings = labels_by_word(counts, column), counts.vocabulary.strings(column)
                known[usual_name(column)] = usual_labels_of_counts(column, strings, rows.arrays(), counts.labels)
        counts = canonical(counts, [atom.with_lexicons(known) for atom in levels], derived)
        sample = counts.tokens_of(sentences, self.word)
        folds = first_slices(sample.offsets, counts.tokens, counts.sentences)
        return CountedCorpus(counts, sample, self.word, presets, self.context.seed, folds=folds)


def _words(column: str) -> Template:
    return parse(f"{column}[0]")


def labels_by_word(counts: Counts, column: str) -> Table:
    """How often each label was seen with each string of a column, whose words were counted."""
    table = counts.of_template(counts.vocabulary.templates.index(_words(column)))
    return table.between(BOUNDARIES, len(table))
