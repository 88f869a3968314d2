"""Where the text of a training run is: a source answers facts about a labelled corpus, and counts it.

Choices of training depend on facts: labels, words by label, the costs of lattices. Each fact is found once.
:class:`MemorySource` has a corpus in memory, :class:`~corate.training.disk.DiskSource` a corpus on disk.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Attributes, Corpus, StringTable
from corate.counting.backoff import BackoffParameters, BackoffPreset
from corate.counting.counted_corpus import CountedCorpus, vocabulary_of
from corate.counting.counts import Counts, Table, label_ids
from corate.errors import DataError, FeatureError
from corate.features.function_sample import function_sample
from corate.features.lexicons import Lexicon
from corate.features.ready_made import Bins, FeatureFunction, refuse_too_large_values, with_features
from corate.features.related_words import usual_labels_of_counts
from corate.features.templates import Atom, Template, WordFunction, usual_name
from corate.features.vocabulary import Vocabulary
from corate.io.tensor_file import StreamedTensor
from corate.model.chain import ChainModel
from corate.training.items import IN_MEMORY, Storage
from corate.training.lattice_costs import LatticeCosts
from corate.training.start import RunContext
from corate.types import Ids

__all__ = ["MemorySource", "Presets", "Source", "Streams", "ready_made"]


#: The back-offs whose features are counted.
Presets = tuple[BackoffPreset, ...]


class Streams(Protocol):
    """Parts of a model file that are on disk."""

    @property
    def features(self) -> int:
        """The number of features that are on disk."""
        ...

    def tensors(self, *, counts: bool, half: bool) -> dict[str, StreamedTensor]:
        """The tensors by name; with the counts, and with 16 bits for a score if ``half``."""
        ...


class Source(ABC):
    """A labelled corpus to train on, wherever its tokens are."""

    columns: tuple[str, ...]  # without the labels
    word: str | None  # the column that holds the words
    sentences: int
    n_tokens: int
    labels: StringTable  # all labels of the data
    names: StringTable  # the labels of a model: those that occur, without the one that stands for unknown labels
    unknown: str | None  # the label that stands for unknown labels
    attributes: Attributes | None = None  # ready-made features
    layout: Sequence[str] = ()  # the columns of the file
    label_source: str = ""
    storage: Storage = IN_MEMORY  # of training items
    no_function = "a feature function needs the text in memory; give templates or a preset"

    @abstractmethod
    def strings(self, column: str) -> StringTable:
        """The strings of a column, of which some may not occur."""

    @abstractmethod
    def used(self, column: str) -> int:
        """The number of strings of a column that occur, or of labels for the column ``label``."""

    @abstractmethod
    def label_counts(self) -> NDArray[np.int64]:
        """The number of tokens of each of `labels`."""

    @abstractmethod
    def labels_by(self, column: str) -> Table:
        """How often each of `names` was seen with each string of a column."""

    @abstractmethod
    def label_sentences(self) -> Iterator[list[str]]:
        """The labels of each sentence."""

    @abstractmethod
    def all_known(self) -> bool:
        """Whether no token has the unknown label."""

    @abstractmethod
    def count(
        self, templates: Sequence[Template], presets: Presets, context: RunContext, held_out: Corpus | None = None
    ) -> CountedCorpus:
        """Count the features of templates, and what the back-offs need."""

    @cached_property
    def words(self) -> Table:
        """How often each of `names` was seen with each word."""
        assert self.word is not None
        return self.labels_by(self.word)

    def costs(self, order: int | None = None) -> LatticeCosts | None:
        """The costs of lattices; None without words. ``order`` is the one that is asked for, if any."""
        return None if self.word is None else LatticeCosts.of_words(self.words, len(self.names), order)

    def lexicons(self, atoms: Iterable[Atom]) -> dict[str, Lexicon]:
        """The lexicons that the atoms need, by name: the usual labels of the words of each column."""
        columns = dict.fromkeys(atom.column for atom in atoms if atom.function.learns)
        return {usual_name(column): self._usual_labels(column) for column in columns}

    def _usual_labels(self, column: str) -> Lexicon:
        table = self.words if column == self.word else self.labels_by(column)
        return usual_labels_of_counts(column, self.strings(column), table.arrays(), self.names)

    def with_features(
        self, function: FeatureFunction | None, joiner: str, bins: Bins | None = None, *, binned: bool
    ) -> tuple[Source, Bins | None]:
        """The source with the ready-made features of a function, and the bins of numeric features if ``binned``."""
        if function is not None:
            raise FeatureError(self.no_function)
        return self, None

    def with_attributes(self, attributes: Attributes | None) -> Source:
        """The source with other ready-made features."""
        return self

    def about_function(self, function: FeatureFunction | None) -> dict[str, Any]:
        """The record's entry about a feature function."""
        return {}

    def streamed(
        self, counted: CountedCorpus, preset: BackoffPreset, p: BackoffParameters, model: ChainModel
    ) -> Streams | None:
        """The parts of the file of a back-off's model that stay on disk; None if it is all in memory."""
        return None

    def described(self) -> dict[str, Any]:
        """The record's entries about the data. There is no layout if the data has only ready-made features."""
        names = list(self.layout) or list(self.columns)
        layout = names if "label" in names or not names else [*names, "label"]
        return {
            "layout": layout,
            **({"label_source": self.label_source} if self.label_source else {}),
        }


class MemorySource(Source):
    """A corpus in memory. ``named`` are its labels and the ids of its tokens, if they are known.

    >>> source = MemorySource(Corpus.from_sentences([[("the", "DET"), ("dog", "?")]]), unknown="?")
    >>> source.names.to_list(), source.all_known(), source.words.counts.tolist()
    (['DET'], False, [1])
    >>> source.costs().choose_full
    True
    """

    def __init__(
        self, corpus: Corpus, unknown: str | None = None, *, named: tuple[StringTable, Ids] | None = None
    ) -> None:
        self.corpus, self.unknown = corpus, unknown
        self.columns = tuple(c.name for c in corpus.columns)
        self.word = None if corpus.word is None else corpus.word.name
        self.sentences, self.n_tokens = len(corpus), corpus.n_tokens
        self.labels, self.attributes = corpus.require_labels().strings, corpus.attributes
        self.layout, self.label_source = corpus.layout, corpus.label_source
        self.names, self.ids = named or label_ids(corpus, unknown)

    def strings(self, column: str) -> StringTable:
        """The strings of a column, of which some may not occur."""
        return self.corpus.column(column).strings

    def used(self, column: str) -> int:
        """The number of strings of a column that occur, or of labels for the column ``label``."""
        found = self.corpus.require_labels() if column == "label" else self.corpus.column(column)
        return int(np.count_nonzero(np.bincount(found.ids)))

    def label_counts(self) -> NDArray[np.int64]:
        """The number of tokens of each of `labels`."""
        return np.bincount(self.corpus.require_labels().ids, minlength=len(self.labels))

    def labels_by(self, column: str) -> Table:
        """How often each of `names` was seen with each string of a column."""
        words = self.corpus.column(column)
        return Table(*_native.count_table(words.ids, self.ids, len(words.strings), len(self.names)))

    def label_sentences(self) -> Iterator[list[str]]:
        """The labels of each sentence."""
        return (self.corpus.labels_of(s) for s in range(len(self.corpus)))

    def all_known(self) -> bool:
        """Whether no token has the unknown label."""
        return bool((self.ids >= 0).all())

    def count(
        self, templates: Sequence[Template], presets: Presets, context: RunContext, held_out: Corpus | None = None
    ) -> CountedCorpus:
        """Count the features of templates, and what the back-offs need if there are words."""
        if self.n_tokens == 0:
            raise DataError("there are no tokens to train on")
        if self.word is None and self.attributes is None:
            raise DataError("the data has labels but neither words nor features; give words or features")
        vocabulary = Vocabulary.of(templates)
        if self.word is not None:
            Atom(WordFunction(), self.word, 0)  # raises an error for a name that no template can contain
            vocabulary = vocabulary_of(templates, presets, self.word, self.lexicons)
        counts, tokens = Counts.of(self.corpus, vocabulary, self.word, (self.names, self.ids), context.threads)
        presets = presets if self.word is not None else ()
        return CountedCorpus(counts, tokens, self.word, presets, context.seed, held_out=held_out)

    def with_features(
        self, function: FeatureFunction | None, joiner: str, bins: Bins | None = None, *, binned: bool
    ) -> tuple[Source, Bins | None]:
        """The source with the ready-made features of a function, and the bins of numeric features if ``binned``."""
        corpus, bins = ready_made(self.corpus, function, joiner, bins, binned=binned)
        return MemorySource(corpus, self.unknown, named=(self.names, self.ids)), bins

    def about_function(self, function: FeatureFunction | None) -> dict[str, Any]:
        """The record's entry about a feature function."""
        sample = None if function is None else function_sample(self.corpus, function)
        return {} if sample is None else {"function_sample": sample}

    def with_attributes(self, attributes: Attributes | None) -> Source:
        """The source with other ready-made features."""
        corpus = replace(self.corpus, attributes=attributes)
        return MemorySource(corpus, self.unknown, named=(self.names, self.ids))


def ready_made(
    corpus: Corpus, function: FeatureFunction | None, joiner: str, bins: Bins | None = None, *, binned: bool = True
) -> tuple[Corpus, Bins | None]:
    """The corpus with the function's features, joined by ``joiner``; if ``binned``, numeric features are binned.

    If not, values that are too large for single precision are refused.
    """
    if function is not None:
        corpus = with_features(corpus, function, joiner)
    if corpus.attributes is None:
        return corpus, None
    corpus = replace(corpus, attributes=corpus.attributes.joined_by(joiner))
    if not binned:
        refuse_too_large_values(corpus, ", or use 'empirical', which bins them")
        return corpus, None
    assert corpus.attributes is not None
    bins = bins or Bins.of(corpus.attributes)
    return replace(corpus, attributes=bins.apply(corpus.attributes)), bins
