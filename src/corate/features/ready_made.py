"""Ready-made features: attributes of each token from a file or a Python function.

Counting needs names, not numbers, so numeric attributes are first binned by their quantiles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np

from corate import _native
from corate.corpus import Attributes, Corpus, StringTable
from corate.corpus.attributes import (
    JOINER,
    LARGEST_VALUE,
    OLD_JOINER,
    TokenFeatures,
    as_before,
    merged_key_lengths,
    too_large_value,
)
from corate.display import counted
from corate.errors import Argument, FeatureError
from corate.features.vocabulary import Vocabulary
from corate.types import Ids

__all__ = [
    "Bins",
    "FeatureFunction",
    "check_picklable",
    "features_of",
    "groups_of",
    "native_names",
    "refuse_too_large_values",
    "with_features",
]

#: Takes a sentence (a list of words, or of tuples if there are several columns) and a position. Returns the features of
#: that token: a list of names, or a mapping as in python-crfsuite.
FeatureFunction = Callable[[Sequence[Any], int], TokenFeatures]

#: Number of bins of a numeric attribute.
BINS = 8
#: With at most this many flags, which are names without a value, each is a separate expert; otherwise they share one.
MOST_FLAGS = 64


def with_features(corpus: Corpus, function: FeatureFunction, joiner: str = JOINER) -> Corpus:
    """The corpus with the attributes that a function returns for each token, added to its own attributes.

    With the joiner of corate 0.1, what the function returns is read as 0.1 read it, but joined as usual.

    >>> corpus = Corpus.from_sentences([["to", "be"]])
    >>> corpus = with_features(corpus, lambda words, i: {"next": i + 1 < len(words)})
    >>> corpus.attributes.names.to_list(), corpus.attributes.offsets.tolist()
    (['next'], [0, 1, 1])
    """
    found: list[list[TokenFeatures]] = []
    for s in range(len(corpus)):
        sentence: Sequence[Any] = corpus.rows(s) if len(corpus.columns) > 1 else corpus.tokens(s)
        found.append(features_of(sentence, function, s))
    if joiner == OLD_JOINER:
        found = as_before(found)
    _, attributes = Attributes.of_sentences(found)
    return replace(
        corpus, attributes=attributes if corpus.attributes is None else _joined(corpus.attributes, attributes)
    )


def features_of(
    sentence: Sequence[Any], function: FeatureFunction, number: int = 0, positions: Sequence[int] | None = None
) -> list[TokenFeatures]:
    """The features that a function returns for each token of a sentence, which has this number in messages.

    With ``positions``, only for the tokens at these positions. The function gets a copy of the sentence, so the
    sentence never changes.
    """
    found = []
    tokens = list(sentence)
    for i in range(len(sentence)) if positions is None else positions:
        try:
            found.append(function(tokens, i))
        except Exception as error:
            raise FeatureError(
                f"the feature function failed at sentence {number}, token {i} ({sentence[i]!r}): "
                f"{type(error).__name__}: {error}"
            ) from error
        if len(tokens) != len(sentence):
            raise FeatureError(
                f"the feature function changed its list of tokens at sentence {number}, token {i} ({sentence[i]!r}): "
                f"it had {counted(len(sentence), 'token')} and now has {len(tokens)}; change a copy, list(tokens)"
            )
    return found


def refuse_too_large_values(corpus: Corpus, more: str = "") -> None:
    """Raise DataError for a value beyond `LARGEST_VALUE`. ``more`` is added to the remedy."""
    ready = corpus.attributes
    if ready is None or ready.values is None:
        return
    if max(ready.values.max(initial=0.0), -ready.values.min(initial=0.0)) <= LARGEST_VALUE:
        return
    first = int(np.flatnonzero(np.abs(ready.values) > LARGEST_VALUE)[0])
    token = int(np.searchsorted(ready.offsets, first, side="right")) - 1
    sentence = int(np.searchsorted(corpus.offsets, token, side="right")) - 1
    name, value = ready.names[int(ready.ids[first])], float(ready.values[first])
    raise too_large_value(name, value, token - int(corpus.offsets[sentence]), sentence, more)


def check_picklable(function: FeatureFunction | None) -> None:
    """Raise FeatureError if pickle cannot find a function by its name, as a lambda or a function in a function.

    >>> check_picklable(lambda words, i: [words[i]])
    Traceback (most recent call last):
    corate.errors.FeatureError: a tagger is pickled with the name of its feature function, and '<lambda>' of the ...
    """
    if not isinstance(function, FunctionType):
        return
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not function:
        raise FeatureError(
            "a tagger is pickled with the name of its feature function, and "
            f"{function.__qualname__!r} of the module {function.__module__!r} cannot be imported by "
            "name",
            "define the function with def at the top level of a module, or save the tagger and "
            f"load it with {Argument('features')}",
        )


def _joined(a: Attributes, b: Attributes) -> Attributes:
    """The attributes of both, for each token."""
    in_turn = np.arange(2 * len(a)).reshape(2, -1).T.ravel()
    both = Attributes.joined([a, b]).take(in_turn)
    return replace(both, offsets=both.offsets[::2].copy())


@dataclass(frozen=True)
class Bins:
    """Bin edges of numeric attributes, by name: quantiles of the training values."""

    edges: dict[str, tuple[float, ...]]
    joiner: str = JOINER  # between the name of an attribute and its bin

    @classmethod
    def of(cls, attributes: Attributes) -> Bins:
        """The bins of every attribute that has a value other than 1.

        >>> a = Attributes.of([{"length": float(n), "word": "a"} for n in (1, 2, 3, 4, 5, 6, 7, 80)])
        >>> bins = Bins.of(a)
        >>> bins.apply(a).names.to_list()[:4]
        ['word:a', 'length:bin 0', 'length:bin 1', 'length:bin 2']
        """
        if attributes.values is None:
            return cls({})
        names = attributes.names.to_list()
        quantiles = np.linspace(0, 1, BINS + 1)[1:-1]
        edges = {}
        for i in np.unique(attributes.ids[attributes.values != 1.0]).tolist():
            values = attributes.values[attributes.ids == i].astype(np.float64)
            edges[names[i]] = tuple(np.unique(np.quantile(values, quantiles)).tolist())
        return cls(edges)

    def apply(self, attributes: Attributes) -> Attributes:
        """The attributes without values. Each numeric attribute is replaced by the name of its bin."""
        if not self.edges:
            return replace(attributes, values=None)
        names = attributes.names.to_list()
        values = np.ones(len(attributes.ids), np.float32) if attributes.values is None else attributes.values
        ids = attributes.ids.copy()
        added: list[str] = []
        key_lengths: list[int] = []
        for i, name in enumerate(names):
            if name not in self.edges:
                continue
            here = np.flatnonzero(attributes.ids == i)
            bins = np.searchsorted(self.edges[name], values[here], side="right")
            ids[here] = len(names) + len(added) + bins
            added += self.names(name)
            key_lengths += [len(name.encode())] * (len(self.edges[name]) + 1)
        table, places = StringTable.intern([*names, *added])  # a bin and an attribute may have the same name
        of_bins = np.array(key_lengths if self.joiner == JOINER else [-1] * len(key_lengths), np.int32)
        merged = merged_key_lengths(places, attributes.known_key_lengths, of_bins)
        return _without_unused(Attributes(attributes.offsets, places[ids], table, key_lengths=merged))

    def names(self, attribute: str) -> list[str]:
        """The names of an attribute's bins."""
        return [f"{attribute}{self.joiner}bin {b}" for b in range(len(self.edges[attribute]) + 1)]


def _without_unused(attributes: Attributes) -> Attributes:
    """The attributes without the names that no token uses."""
    used = np.zeros(len(attributes.names), dtype=bool)
    used[attributes.ids] = True
    names = attributes.names.to_list()
    table, _ = StringTable.intern([names[i] for i in np.flatnonzero(used)])
    key_lengths = None if attributes.key_lengths is None else attributes.key_lengths[used]
    return replace(
        attributes, ids=(np.cumsum(used) - 1).astype(np.int32)[attributes.ids], names=table, key_lengths=key_lengths
    )


def groups_of(names: StringTable, key_lengths: Ids | None = None) -> tuple[Ids, list[str]]:
    """The expert of each attribute, which is treated like a template: the keys before a joined value.

    Other names may have the form ``key=value``; those that have not are flags.

    >>> attributes = Attributes.of([{"w": "to", "last": {"w": "be"}}, ["w=be", "bias"]])
    >>> groups_of(attributes.names, attributes.key_lengths)
    (array([0, 1, 0, 2], dtype=int32), ['w', 'last:w', 'bias'])
    """
    texts = names.to_list()
    lengths = [-1] * len(texts) if key_lengths is None else key_lengths.tolist()
    keys = [
        text.encode()[:length].decode() if length >= 0 else text.split("=", 1)[0] if "=" in text else None
        for text, length in zip(texts, lengths, strict=True)
    ]
    flags = texts if keys.count(None) <= MOST_FLAGS else ["(others)"] * len(texts)
    table, ids = StringTable.intern(flag if key is None else key for key, flag in zip(keys, flags, strict=True))
    return ids, table.to_list()


def native_names(vocabulary: Vocabulary, bins: Bins | None) -> _native.AttributeNames | None:
    """The names of a vocabulary's ready-made features for the native code; None without ready-made features."""
    names = vocabulary.attributes
    if names is None:
        return None
    binned = None
    if bins is not None:
        binned = [(name, np.array(edges, np.float64), bins.names(name)) for name, edges in bins.edges.items()]
    return _native.AttributeNames((names.data, names.offsets), vocabulary.joiner, binned)
