"""Ready-made features of tokens: names and values, as python-crfsuite makes them from Python objects.

The objects are read by ``native/bindings/feature_objects.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.errors import DataError
from corate.rows import Ragged, offsets_of
from corate.strings import StringTable
from corate.types import F32, Ids, Offsets

__all__ = [
    "JOINER",
    "LARGEST_VALUE",
    "OLD_JOINER",
    "Attributes",
    "FeatureSentence",
    "ItemSequence",
    "TokenFeatures",
    "as_before",
    "merged_key_lengths",
    "too_large_value",
]

#: Stands between a key and its value in the name of a feature, as in CRFsuite.
JOINER = ":"
#: The same in models of corate 0.1.
OLD_JOINER = "="

#: The largest value of a numeric feature, in training and in tagging, unless values are binned. The squares of larger
#: values, summed, could overflow single precision. It is also ``kLargestValue`` in
#: ``native/features/attribute_names.h``.
LARGEST_VALUE = 1e15

#: The features of a token: a mapping, names, or an array of numbers.
TokenFeatures = Mapping[str, Any] | Iterable[str] | NDArray[Any]


class ItemSequence:
    """A sentence of ready-made features that is converted only once, for use in several calls.

    It stores names and values, so any model with ready-made features can label it. It replaces the class of the same
    name in python-crfsuite. ``sentence`` is a list of the features of each token, as for
    ``Corpus.from_features``. ``len`` is the number of tokens.

    >>> sentence = ItemSequence([{"w": "to", "title": False}, {"w": "be", "near": ["or", "not"]}])
    >>> sentence.items()
    [{'w:to': 1.0, 'title': 0.0}, {'w:be': 1.0, 'near:or': 1.0, 'near:not': 1.0}]
    >>> len(sentence)
    2
    """

    __slots__ = ("features",)
    features: _native.NamedFeatures

    def __init__(self, sentence: FeatureSentence) -> None:
        self.features = sentence.features if isinstance(sentence, ItemSequence) else _native.NamedFeatures(sentence)

    def items(self) -> list[dict[str, float]]:
        """A dict for each token, from the names of its features to their values.

        A name that a token has twice is in the dict once. Values are stored with 32 bits, and given as the shortest
        decimal number that stands for these: a value of up to six digits comes back as it was.

        >>> ItemSequence([{"a": -0.1}]).items()
        [{'a': -0.1}]
        """
        return [{name: _shortest(value) for name, value in token.items()} for token in self.features.items()]

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        return f"<ItemSequence of size {len(self)}>"


def _shortest(value: float) -> float:
    """The shortest decimal number that rounds to a value of single precision: 0.1 for 0.10000000149011612."""
    return float(str(np.float32(value)))


#: A sentence of ready-made features: the features of each token, or rows of an array of numbers.
FeatureSentence = Iterable[TokenFeatures] | ItemSequence


@dataclass(frozen=True, eq=False)
class Attributes(Ragged):
    """Ready-made features: token ``t`` has the ids ``ids[offsets[t]:offsets[t + 1]]``, optionally with values.

    ``key_lengths`` are the lengths in bytes of the keys in names that a value was joined to, -1 for other names. None
    means that no name has a joined value.
    """

    ids: Ids
    names: StringTable
    values: F32 | None = None
    key_lengths: Ids | None = None

    ENTRIES: ClassVar[tuple[str, ...]] = ("ids", "values")

    @classmethod
    def of(cls, tokens: Iterable[TokenFeatures]) -> Attributes:
        """Build from the features of each token: a mapping, a list or set of names, or an array of numbers.

        In a mapping, a string value is part of the name (``{"w": "the"}`` is ``w:the``), a number is the feature's
        value, and True is 1. False is 0, which is the same as no feature. Nested mappings and lists are joined to their
        key: ``{"a": {"b": "c"}}`` is ``a:b:c``. The names of an array's numbers are 0, 1, ..., joined to its key.

        >>> a = Attributes.of([["bias", "w:to"], {"w": "be", "upper": False, "length": 2.0}])
        >>> a.names.to_list(), a.offsets.tolist(), a.values.tolist()
        (['bias', 'w:to', 'w:be', 'length'], [0, 2, 4], [1.0, 1.0, 1.0, 2.0])
        """
        return cls.of_sentences([list(tokens)])[1]

    @classmethod
    def of_sentences(cls, sentences: list[Any], *, keep_false: bool = False) -> tuple[Offsets, Attributes]:
        """The offsets of sentences, and the attributes of their tokens.

        With ``keep_false``, a feature that is False has the value 0. Without it, it is left out.

        Raises FeatureError, which names the sentence and the token, for features that cannot be used.
        """
        (sentence_offsets, offsets, ids, values), table, key_lengths = _native.intern_features(sentences, keep_false)
        names = StringTable(*table)
        return sentence_offsets, cls(offsets, ids, names, values, key_lengths if (key_lengths >= 0).any() else None)

    @classmethod
    def joined(cls, parts: Sequence[Attributes]) -> Attributes:
        """The attributes of the tokens of all parts, one part after another.

        >>> both = Attributes.joined([Attributes.of([["a"], ["b"]]), Attributes.of([["b", "c"]])])
        >>> both.names.to_list(), both.offsets.tolist(), both.ids.tolist()
        (['a', 'b', 'c'], [0, 1, 2, 4], [0, 1, 1, 2])
        """
        offsets = offsets_of(np.concatenate([part.lengths for part in parts]))
        names, places = StringTable.joined([part.names for part in parts])
        ids = np.concatenate([place[part.ids] for place, part in zip(places, parts, strict=True)])
        values = key_lengths = None
        if any(part.values is not None for part in parts):
            given = [np.ones(len(part.ids), np.float32) if part.values is None else part.values for part in parts]
            values = np.concatenate(given)
        if any(part.key_lengths is not None for part in parts):
            key_lengths = merged_key_lengths(np.concatenate(places), *(part.known_key_lengths for part in parts))
        return cls(offsets, ids, names, values, key_lengths)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle; older ones call the lengths of keys ``heads``."""
        vars(self).update({"key_lengths" if name == "heads" else name: value for name, value in state.items()})

    @property
    def known_key_lengths(self) -> Ids:
        """The lengths of the keys of all names, -1 where there is none."""
        return np.full(len(self.names), -1, np.int32) if self.key_lengths is None else self.key_lengths

    def joined_by(self, joiner: str) -> Attributes:
        """The attributes with another joiner before joined values.

        >>> Attributes.of([{"w": "a:b"}, ["x:y"]]).joined_by("=").names.to_list()
        ['w=a:b', 'x:y']
        """
        if joiner == JOINER or self.key_lengths is None:
            return self
        data = self.names.data.copy()
        data[(self.names.offsets[:-1] + self.key_lengths)[self.key_lengths >= 0]] = ord(joiner)
        names, places = StringTable.intern(StringTable(data, self.names.offsets).to_list())
        return Attributes(self.offsets, places[self.ids], names, self.values)


def merged_key_lengths(ids: Ids, *key_lengths: Ids) -> Ids:
    """The key lengths of names of several tables, interned together with these ids. The first of a name counts."""
    merged = np.full(int(ids.max(initial=-1)) + 1, -1, np.int32)
    merged[ids[::-1]] = np.concatenate(key_lengths)[::-1]
    return merged


def as_before(sentences: Iterable[Any]) -> list[Any]:
    """Sentences of ready-made features for a model of corate 0.1: None was no feature, and keys could be any objects.

    >>> as_before([[{"w": "a", "x": None, 3: True}, ["b"]]])
    [[{'w': 'a', '3': True}, ['b']]]
    """

    def token(given: Any) -> Any:
        return {str(k): v for k, v in given.items() if v is not None} if isinstance(given, Mapping) else given

    return [s if isinstance(s, _native.NamedFeatures) else [token(t) for t in s] for s in sentences]


def too_large_value(name: str, value: float, token: int, sentence: int = -1, more: str = "") -> DataError:
    """The error about a value beyond `LARGEST_VALUE`. The native code raises it too.

    A sentence below 0 has no number. ``more`` is what else helps.
    """
    place = f"token {token}" if sentence < 0 else f"sentence {sentence}, token {token}"
    return DataError(
        f"{place}: the feature {name!r} has the value {value:g}; values go from {-LARGEST_VALUE:g} to "
        f"{LARGEST_VALUE:g}: scale them{more}"
    )
