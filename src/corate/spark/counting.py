"""Counts of a data frame: each partition is counted, and the counts are merged in a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from corate.corpus import Corpus
from corate.counting.canonical import canonical
from corate.counting.counts import Counts
from corate.counting.sample import SentenceSample
from corate.errors import DataError
from corate.features.lexicons import Lexicon
from corate.features.related_words import usual_labels_of_counts
from corate.features.templates import Atom, Template, parse, usual_name
from corate.features.vocabulary import BOUNDARIES, Vocabulary
from corate.spark.batches import read_batch
from corate.spark.frames import reduce_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Source", "count", "learned_from_counts", "partition_corpora"]

#: The tokens of the sample: held-out sentences, and those that the weights of a pool are fitted on.
SAMPLE_TOKENS = 75_000
#: A partition is counted in pieces of about this many tokens.
PIECE_TOKENS = 1_000_000


@dataclass(frozen=True)
class Source:
    """Where the sentences of a data frame are: a column for each column of the corpus, and one with the labels."""

    columns: dict[str, str]
    labels: str

    def selected(self, df: DataFrame) -> DataFrame:
        """The data frame without other columns."""
        return df.select(*dict.fromkeys([*self.columns.values(), self.labels]))


def partition_corpora(batches: Iterator[Any], source: Source, tokens: int = PIECE_TOKENS) -> Iterator[Corpus]:
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
    source: Source
    templates: tuple[Template, ...]
    seed: int

    def __call__(self, batches: Iterator[Any]) -> Counted | None:
        found: Counted | None = None
        for corpus in partition_corpora(batches, self.source):
            counts = Counts.of(corpus, Vocabulary.of(self.templates), None)[0]
            counted = Counted(counts, SentenceSample.of(corpus, SAMPLE_TOKENS, self.seed))
            found = counted if found is None else found.merged(counted)
        return found


def count(df: DataFrame, source: Source, templates: Sequence[Template], seed: int) -> tuple[Counts, Corpus]:
    """The counts of templates in canonical order, and the sample. They do not depend on partitions or their order."""
    found = reduce_partitions(source.selected(df), _CountPartition(source, tuple(templates), seed), Counted.merged)
    if found is None:
        raise DataError("there are no tokens to train on")
    return canonical(found.counts), found.sample.corpus()


def learned_from_counts(atoms: Sequence[Atom], counts: Counts, known: Mapping[str, Lexicon]) -> dict[str, Lexicon]:
    """The lexicons that the atoms need, with those that are known. The words of their columns must be counted."""
    found = dict(known)
    vocabulary = counts.vocabulary
    for column in dict.fromkeys(atom.column for atom in atoms if atom.function.learns):
        if usual_name(column) not in found:
            table = counts.of_template(vocabulary.templates.index(parse(f"{column}[0]")))
            rows = table.between(BOUNDARIES, len(table)).arrays()
            lexicon = usual_labels_of_counts(column, vocabulary.strings(column), rows, counts.labels)
            found[usual_name(column)] = lexicon
    return found
