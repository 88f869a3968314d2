"""The input of a tagger: from the sentences that a user gives to the arrays that the engine reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from corate import _native
from corate.attributes import OLD_JOINER, FeatureSentence, ItemSequence, as_before
from corate.corpus import Column, Corpus, Token, feature_lists, listed
from corate.errors import DataError, FeatureError, ModelError
from corate.features.ready_made import Bins, FeatureFunction, features_of, native_names, with_features
from corate.features.vocabulary import Vocabulary, column_arrays
from corate.strings import StringTable
from corate.types import Offsets

__all__ = ["Inputs", "Sentence"]

#: A sentence to tag: words, rows of columns, or ready-made features.
Sentence = Iterable[Token] | FeatureSentence


@dataclass(frozen=True)
class TokenFeatures:
    """The features of one token that the model knows: ids, values and names; its word, and the word's id or -1."""

    ids: list[int]
    values: list[float]
    names: list[str]
    word: str | None
    word_id: int


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
            raise FeatureError("the model was trained on ready-made features; give them, or load it with features=")
        attributes = corpus.attributes.joined_by(self.vocabulary.joiner)
        if self.bins is not None:
            attributes = self.bins.apply(attributes)
        known = self.names.match(attributes.names.data, attributes.names.offsets)
        ready = attributes.offsets, known[attributes.ids], attributes.values
        return column_arrays(corpus, self.vocabulary.columns), corpus.offsets, ready

    def features_at(self, sentence: Sentence, position: int, word_column: int = 0) -> TokenFeatures:
        """The known features of one token of a sentence."""
        columns, offsets, ready = self.batch([sentence])
        found, word, word_id = list[tuple[int, float]](), None, -1
        if ready is not None:
            starts, names, numbers = ready
            here = slice(int(starts[position]), int(starts[position + 1]))
            ids = names[here].tolist()
            found += zip(ids, [1.0] * len(ids) if numbers is None else numbers[here].tolist(), strict=True)
        if columns:
            features, strings = self.vocabulary.map.transform(columns, offsets)
            bases = self.vocabulary.bases[:-1].tolist()
            places = zip(bases, features[:, position].tolist(), strict=True)
            found += [(base + feature if feature >= 0 else -1, 1.0) for base, feature in places]
            word_ids, data, ends = columns[word_column]
            word, word_id = StringTable(data, ends)[int(word_ids[position])], int(strings[word_column][position])
        found = [(feature, value) for feature, value in found if feature >= 0]
        ids = [feature for feature, _ in found]
        return TokenFeatures(ids, [value for _, value in found], self.vocabulary.names(ids), word, word_id)

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
            list(listed(_without_features(sentence), f"sentence {s}", "tokens"))
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
            f"a token has {len(first)} columns ({first!r}); the model was trained on {', '.join(self.columns)}"
        )

    @property
    def _needed(self) -> tuple[str, ...]:
        return self.columns if self.function is not None else self.vocabulary.columns


def _without_features(sentence: Any) -> Any:
    if isinstance(sentence, ItemSequence):
        raise FeatureError("the model reads words, not only ready-made features; give words, not an ItemSequence")
    return sentence
