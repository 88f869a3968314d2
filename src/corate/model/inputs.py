"""The input of a tagger: from the sentences that a user gives to the arrays that the engine reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Column, Corpus, Token, feature_lists, listed
from corate.corpus.attributes import OLD_JOINER, FeatureSentence, ItemSequence, as_before
from corate.display import counted
from corate.errors import DataError, FeatureError, ModelError
from corate.features.ready_made import (
    Bins,
    FeatureFunction,
    features_of,
    native_names,
    refuse_too_large_values,
    with_features,
)
from corate.features.vocabulary import Vocabulary, column_arrays, template_rows
from corate.model.graph_scores import NodeFeatures, joined_features
from corate.rows import Ragged, offsets_of, owners_of, take_rows
from corate.strings import StringTable
from corate.types import F32, F64, Csr, Offsets

__all__ = ["Inputs", "Sentence", "TokenFeatures"]

#: A sentence to tag: words, rows of columns, or ready-made features.
Sentence = Iterable[Token] | FeatureSentence


@dataclass(frozen=True, eq=False)
class TokenFeatures(Ragged):
    """The features of some tokens that the model knows, as a ragged array; their words, and the words' ids or -1."""

    ids: NDArray[np.int64]
    values: F64
    words: list[str | None]
    word_ids: NDArray[np.int64]

    ENTRIES: ClassVar[tuple[str, ...]] = ("ids", "values")


@dataclass(frozen=True, eq=False)
class Inputs:
    """Reads sentences for a model with this vocabulary, which was trained on these columns."""

    vocabulary: Vocabulary
    columns: tuple[str, ...]
    bins: Bins | None
    function: FeatureFunction | None

    @cached_property
    def names(self) -> _native.AttributeNames | None:
        """The names of the ready-made features; None if the model has none."""
        try:
            return native_names(self.vocabulary, self.bins)
        except ValueError as error:
            raise ModelError(f"the model's ready-made features do not fit together: {error}; train it again") from None

    @cached_property
    def _only_features(self) -> bool:
        return not self.vocabulary.columns and self.function is None

    @cached_property
    def only_features(self) -> bool:
        """Whether a sentence is given as ready-made features, which the engine reads as they are."""
        return self._only_features and not self._old

    @cached_property
    def _old(self) -> bool:
        return self.vocabulary.joiner == OLD_JOINER

    # -- one sentence --------------------------------------------------------------------------------------------

    def sentence(self, tokens: Sentence) -> tuple[list[Any] | None, Any] | None:
        """The words and the features of one sentence for ``Engine.tag_sentence``.

        None if the engine takes such sentences only in batches.
        """
        if isinstance(tokens, ItemSequence):
            return (None, tokens.features) if self._only_features else None
        if not isinstance(tokens, list):
            tokens = list(listed(tokens, "a sentence", "tokens"))
        if self._only_features:
            return None, as_before([tokens])[0] if self._old else tokens
        if self.function is None:
            whole = len(self.vocabulary.columns) == 1 and self.vocabulary.attributes is None
            return (tokens, None) if whole else None
        if len(self.columns) > 1 or not all(type(token) is str for token in tokens):
            return None
        features = features_of(tokens, self.function)
        return tokens if self.vocabulary.columns else None, as_before([features])[0] if self._old else features

    # -- many sentences ------------------------------------------------------------------------------------------

    def batch(self, sentences: Corpus | Iterable[Sentence]) -> tuple[_native.Columns, Offsets, _native.Ready | None]:
        """The columns, the offsets of sentences, and the ready-made features with the ids of the model."""
        if self._only_features and self.names is not None and not isinstance(sentences, Corpus):
            given = feature_lists(sentences)
            offsets, tokens, ids, values = self.names.find(as_before(given) if self._old else given)
            return [], offsets, (tokens, ids, values)
        corpus = self._corpus(sentences)
        if self.names is None:
            return column_arrays(corpus, self.vocabulary.columns), corpus.offsets, None
        if self.function is not None:
            corpus = with_features(corpus, self.function, self.vocabulary.joiner)
        if corpus.attributes is None:
            raise FeatureError("the model was trained on ready-made features; give them, with Corpus.from_features")
        attributes = corpus.attributes.joined_by(self.vocabulary.joiner)
        if self.bins is None:
            refuse_too_large_values(corpus)
        else:
            attributes = self.bins.apply(attributes)
        known = self.names.match((attributes.names.data, attributes.names.offsets))
        ready = attributes.offsets, known[attributes.ids], attributes.values
        return column_arrays(corpus, self.vocabulary.columns), corpus.offsets, ready

    def node_features(self, corpus: Corpus) -> NodeFeatures:
        """The known features of the nodes of graphs."""
        columns, offsets, ready = self.batch(corpus)
        n, parts = corpus.n_tokens, list[tuple[Csr, F32 | None]]()
        if ready is not None:
            starts, ids, values = ready
            parts.append(((starts, ids), values))
        if columns and self.vocabulary.templates:
            parts.append((template_rows(self.vocabulary, self.vocabulary.map.transform(columns, offsets)[0]), None))
        nothing = (np.zeros(n + 1, np.int64), np.zeros(0, np.int32))
        rows, values = joined_features(parts, n) if parts else (nothing, None)
        return NodeFeatures(rows, values, int(self.vocabulary.bases[-1]), corpus.vectors)

    def token_features(
        self, sentences: Corpus | Iterable[Sentence], tokens: NDArray[np.int64], word_column: int = 0
    ) -> TokenFeatures:
        """The known features of some tokens, which are counted over all sentences."""
        columns, offsets, ready = self.batch(sentences)
        m = len(tokens)
        owners, ids, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
        words, word_ids = list[str | None]([None] * m), np.full(m, -1)
        if ready is not None:
            starts, names, numbers = ready
            rows, where = take_rows(starts, tokens)
            owners.append(owners_of(rows))
            ids.append(names[where].astype(np.int64))
            values.append(np.ones(len(where)) if numbers is None else numbers[where].astype(np.float64))
        if columns:
            features, strings = self.vocabulary.map.transform(columns, offsets)
            here = features[:, tokens].T.astype(np.int64)
            owners.append(np.repeat(np.arange(m), here.shape[1]))
            ids.append(np.where(here >= 0, here + self.vocabulary.bases[:-1], -1).ravel())
            values.append(np.ones(here.size))
            given, data, ends = columns[word_column]
            table = StringTable(data, ends)
            words = [table[i] for i in given[tokens].tolist()]
            word_ids = strings[word_column][tokens].astype(np.int64)
        owner, every = np.concatenate(owners), np.concatenate(ids)
        order = np.argsort(owner, kind="stable")
        order = order[every[order] >= 0]
        lengths = np.bincount(owner[order], minlength=m)
        return TokenFeatures(offsets_of(lengths), every[order], np.concatenate(values)[order], words, word_ids)

    def with_words(
        self, sentences: Corpus | Iterable[Sentence], name: Any
    ) -> tuple[Corpus | Iterable[Sentence], Column | None]:
        """The sentences for `batch`, and the column of their words; None if the model reads ready-made features only.

        ``name`` is the column of words in training. Without it, the first column has the words.
        """
        if self._only_features and not isinstance(sentences, Corpus):
            return sentences, None
        corpus = self._corpus(sentences)
        return corpus, next((c for c in corpus.columns if c.name == name), next(iter(corpus.columns), None))

    def _corpus(self, sentences: Corpus | Iterable[Any]) -> Corpus:
        if isinstance(sentences, Corpus):
            return sentences
        lists = [
            sentence if type(sentence) is list else list(listed(_without_features(sentence), f"sentence {s}", "tokens"))
            for s, sentence in enumerate(listed(sentences, "the sentences", "lists of tokens"))
        ]
        return Corpus.from_sentences(lists, columns=self._column_names(lists))

    def _column_names(self, sentences: list[list[Token]]) -> tuple[str, ...]:
        """The names of the columns of tokens given as Python objects."""
        first = next((token for sentence in sentences for token in sentence), None)
        if first is None:
            return self._needed
        if isinstance(first, str):
            if len(self._needed) > 1:
                raise DataError(
                    f"the model reads the columns {', '.join(self._needed)}; give each token as a tuple of them"
                )
            return self._needed
        if isinstance(first, Mapping) or not isinstance(first, Sequence):
            return self._needed
        if len(first) == len(self.columns):
            return self.columns
        if len(first) == len(self._needed):
            return self._needed
        raise DataError(
            f"a token has {counted(len(first), 'column')} ({first!r}); the model was trained on "
            f"{', '.join(self.columns)}"
        )

    @property
    def _needed(self) -> tuple[str, ...]:
        return self.columns if self.function is not None else self.vocabulary.columns


def _without_features(sentence: Any) -> Any:
    if isinstance(sentence, ItemSequence):
        raise FeatureError("the model reads words, not only ready-made features; give words, not an ItemSequence")
    return sentence
