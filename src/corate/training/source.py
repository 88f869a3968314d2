"""Where the text of a training run is: a source answers facts about a labelled corpus, and counts it.

Choices of training depend on facts: labels, words by label, the costs of lattices. Each fact is found once.
:class:`MemorySource` has a corpus in memory, :class:`~corate.training.disk.DiskSource` a corpus on disk.

`TrainingData` and `RunContext` are what the function ``fit`` of a method gets, `FittedModel` is what it returns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Attributes, Corpus, StringTable
from corate.corpus.corpus import first_token
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
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.progress import OnProgress, ignore_progress
from corate.rows import owners_of
from corate.training.choices import LatticeCosts
from corate.training.items import IN_MEMORY, Storage
from corate.types import F64, Ids

if TYPE_CHECKING:
    from corate.training.disk import BackoffStreams

__all__ = [
    "FittedModel",
    "MemorySource",
    "Presets",
    "ReadSource",
    "RunContext",
    "Scaling",
    "Source",
    "TrainingData",
    "filled_rows",
    "ready_made",
]


#: The back-offs whose features are counted.
Presets = tuple[BackoffPreset, ...]


class Source(ABC):
    """A labelled corpus to train on, wherever its tokens are."""

    columns: tuple[str, ...]  # without the labels
    word: str | None  # the column that holds the words
    unknown: str | None  # the label that stands for unknown labels
    attributes: Attributes | None = None  # ready-made features
    layout: Sequence[str] = ()  # the columns of the file
    label_source: str = ""
    edge_source: str = ""
    storage: Storage = IN_MEMORY  # of training items
    on_graphs: bool = False  # whether the corpus has typed edges
    no_function = "a feature function needs the text in memory; give templates or a preset"

    @property
    @abstractmethod
    def sentences(self) -> int:
        """The number of sentences."""

    @property
    @abstractmethod
    def n_tokens(self) -> int:
        """The number of tokens."""

    @property
    @abstractmethod
    def labels(self) -> StringTable:
        """All labels of the data."""

    @property
    @abstractmethod
    def names(self) -> StringTable:
        """The labels of a model: those that occur, without the one that stands for unknown labels."""

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
    def label_sentences(self) -> Iterator[list[str | Any]]:
        """The labels of each sentence, None for an unknown one."""

    @abstractmethod
    def all_known(self) -> bool:
        """Whether the label of every token is known."""

    def first_token(self, label: int) -> tuple[int, int] | None:
        """The first token with one of `names`, or -1 for an unknown label: its sentence and its place there, from 0.

        None if the tokens are elsewhere.
        """
        return None

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
    ) -> BackoffStreams | None:
        """The parts of the file of a back-off's model that stay on disk; None if it is all in memory."""
        return None

    def described(self) -> dict[str, Any]:
        """The record's entries about the data. There is no layout if the data has only ready-made features."""
        names = list(self.layout) or list(self.columns)
        layout = names if "label" in names or not names else [*names, "label"]
        return {
            "layout": layout,
            **({"label_source": self.label_source} if self.label_source else {}),
            **({"edge_source": self.edge_source} if self.edge_source else {}),
        }


class ReadSource(Source):
    """A corpus that has been read, in memory or on disk: its size and its labels are known."""

    sentences: int = 0
    n_tokens: int = 0
    labels: StringTable = StringTable.intern([])[0]
    names: StringTable = labels


class MemorySource(ReadSource):
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
        self.layout, self.label_source, self.edge_source = corpus.layout, corpus.label_source, corpus.edge_source
        self.on_graphs = corpus.edges is not None
        self.names, self.ids = named or label_ids(corpus, unknown)

    def strings(self, column: str) -> StringTable:
        """The strings of a column, of which some may not occur."""
        return self.corpus.column(column).strings

    def used(self, column: str) -> int:
        """The number of strings of a column that occur, or of labels for the column ``label``."""
        found = self.corpus.require_labels() if column == "label" else self.corpus.column(column)
        return int(np.count_nonzero(np.bincount(found.ids + 1)[1:]))

    def label_counts(self) -> NDArray[np.int64]:
        """The number of tokens of each of `labels`."""
        return np.bincount(self.corpus.require_labels().ids + 1, minlength=len(self.labels) + 1)[1:]

    def labels_by(self, column: str) -> Table:
        """How often each of `names` was seen with each string of a column."""
        words = self.corpus.column(column)
        return Table(*_native.count_table(words.ids, self.ids, len(words.strings), len(self.names)))

    def label_sentences(self) -> Iterator[list[str | Any]]:
        """The labels of each sentence, None for an unknown one."""
        return (self.corpus.labels_of(s) for s in range(len(self.corpus)))

    def all_known(self) -> bool:
        """Whether the label of every token is known."""
        return bool((self.ids >= 0).all())

    def first_token(self, label: int) -> tuple[int, int] | None:
        """The first token with one of `names`, or -1 for an unknown label: its sentence and its place there, from 0."""
        return first_token(self.ids, self.corpus.offsets, label)

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


@dataclass(frozen=True)
class RunContext:
    """What all training runs have: threads, a seed, and a function that receives progress events."""

    threads: int = 1
    seed: int = 0
    progress: OnProgress = ignore_progress


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data of a training run: a source and held-out sentences with ready-made features, and templates.

    Attributes:
        origin: the tagger to train further, None to start from counts. If not ``further``, it was made for this run.
        fit: fits methods on whole sentences, in place of the usual passes and iterations: it gets the method, the start
            and the context, and returns the training, its model and the entries of its record.
    """

    source: Source
    held_out: Corpus | None
    templates: list[Template]
    bins: Bins | None
    function: FeatureFunction | None
    scaling: Scaling | None = None
    origin: Tagger | None = None
    further: bool = False
    fit: Callable[..., tuple[Any, ChainModel, dict[str, Any]]] | None = None


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The result of a method: a model, its vocabulary, and a record of what was chosen and measured."""

    vocabulary: Vocabulary
    model: ChainModel
    record: dict[str, Any]
    n_features: int
    counts: Counts | None = None
    streams: BackoffStreams | None = None


def filled_rows(offsets: NDArray[np.int64]) -> int:
    """The number of rows of a ragged array that are not empty."""
    return int((offsets[1:] > offsets[:-1]).sum())


#: An attribute with a smaller spread is not scaled: its weights could overflow.
LEAST_SPREAD = 1e-15


@dataclass(frozen=True, eq=False)
class Scaling:
    """The mean and the spread of attributes: a scaled value is ``(value - mean) / spread``.

    An attribute that some tokens do not have keeps 0 where it is, because there its value is 0: its mean is 0 and its
    spread is the root mean square. An attribute whose value is always 1 stays as it is.
    """

    names: StringTable
    mean: F64
    spread: F64

    @classmethod
    def of(cls, attributes: Attributes) -> Scaling:
        """The scaling of the attributes of a corpus.

        >>> scaling = Scaling.of(Attributes.of([{"w": "a", "x": 10.0, "y": 2.0}, {"w": "b", "x": 30.0}]))
        >>> scaling.names.to_list(), scaling.mean.tolist(), scaling.spread.tolist()
        (['w:a', 'x', 'y', 'w:b'], [0.0, 20.0, 0.0, 0.0], [1.0, 10.0, 2.0, 1.0])
        """
        n = len(attributes.names)
        mean, spread = np.zeros(n), np.ones(n)
        if attributes.values is not None:
            values = attributes.values.astype(np.float64)
            numeric = np.zeros(n, bool)
            numeric[attributes.ids[values != 1.0]] = True
            times = np.maximum(np.bincount(attributes.ids, minlength=n), 1)
            everywhere = numeric & (times == len(attributes.offsets) - 1)
            mean[everywhere] = (np.bincount(attributes.ids, values, n) / times)[everywhere]
            squares = np.bincount(attributes.ids, (values - mean[attributes.ids]) ** 2, n) / times
            constant = squares <= 1e-12 * mean**2  # its mean is not taken away: it would have no value left
            squares[constant] += mean[constant] ** 2
            mean[constant] = 0.0
            scaled = numeric & (squares > LEAST_SPREAD**2)
            spread[scaled] = np.sqrt(squares[scaled])
        return cls(attributes.names, mean, spread)

    def apply(self, attributes: Attributes) -> Attributes:
        """Attributes with scaled values. Unknown attributes keep their values."""
        if attributes.values is None:
            return attributes
        places = self.names.find(attributes.names)
        mean = np.where(places >= 0, self.mean[places], 0.0)[attributes.ids]
        spread = np.where(places >= 0, self.spread[places], 1.0)[attributes.ids]
        return replace(attributes, values=((attributes.values - mean) / spread).astype(np.float32))

    def undo(self, model: ChainModel) -> ChainModel:
        """The model that gives to unscaled values the scores that this one gives to scaled values."""
        rows, n = model.weights, len(self.names)
        end = int(rows.offsets[n])
        of_row = owners_of(rows.offsets[: n + 1])
        scores = rows.scores.astype(np.float64)
        scores[:end] /= self.spread[of_row]
        moved = np.bincount(rows.labels[:end], scores[:end] * self.mean[of_row], len(model.bias))
        weights = replace(rows, scores=scores.astype(np.float32))
        return replace(model, weights=weights, bias=(model.bias - moved).astype(np.float32))
