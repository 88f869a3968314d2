"""The vocabulary: from a corpus to the ids of its features, and back to their names.

It contains the distinct strings of each column, the values of each word function and the features of each template, all
numbered by ``native/features/feature_map.cpp``. Feature ids begin with the ready-made attributes, if any. The templates
follow in order: the features of template ``t`` start at ``bases[t]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.corpus.attributes import JOINER
from corate.features.templates import Atom, Template
from corate.features.word_functions import WordFunction
from corate.rows import offsets_of
from corate.types import Csr, Ids

__all__ = ["BOUNDARIES", "Vocabulary", "column_arrays", "template_rows"]

#: Values 0 to 15 of every function are the positions before and after the sentence.
BOUNDARIES = 16
_HALF = BOUNDARIES // 2


def column_arrays(corpus: Corpus, columns: Iterable[str]) -> list[tuple[Ids, NDArray[np.uint8], NDArray[np.int64]]]:
    """The named columns for the native code. Raises DataError if one is missing."""
    found = (corpus.column(name) for name in columns)
    return [(c.ids, c.strings.data, c.strings.offsets) for c in found]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Templates, other word functions (the levels of a back-off), and the numbered features.

    ``attributes`` are the names of ready-made features. ``joiner`` stands between a key and its value in them: ``:`` as
    in CRFsuite, ``=`` in models of corate 0.1. ``key_lengths`` are those of `corate.corpus.Attributes`.
    """

    templates: tuple[Template, ...]
    levels: tuple[Atom, ...]
    columns: tuple[str, ...]
    map: _native.FeatureMap = field(repr=False)
    attributes: StringTable | None = None
    joiner: str = JOINER
    key_lengths: Ids | None = None

    @property
    def n_attributes(self) -> int:
        """Number of ready-made attributes."""
        return 0 if self.attributes is None else len(self.attributes)

    @property
    def known_key_lengths(self) -> Ids:
        """The lengths of the keys of the ready-made attributes, -1 where there is none."""
        return np.full(self.n_attributes, -1, np.int32) if self.key_lengths is None else self.key_lengths

    @classmethod
    def of(cls, templates: Sequence[Template], levels: Sequence[Atom] = ()) -> Vocabulary:
        """An empty vocabulary for these templates and levels.

        >>> from corate.features.templates import parse
        >>> vocabulary = Vocabulary.of([parse("word[0]"), parse("word[-1]|word[0]")])
        >>> ids, _ = vocabulary.fit(Corpus.from_sentences([["to", "be", "to", "be"]]))
        >>> ids.tolist(), vocabulary.name(17), vocabulary.name(20)
        ([[16, 17, 16, 17], [0, 1, 2, 1]], 'word[0]=be', 'word[-1]|word[0]=be|to')
        """
        atoms = [*(a for t in templates for a in t.atoms), *levels]
        columns = tuple(dict.fromkeys(a.column for a in atoms))
        functions = list(dict.fromkeys((a.column, a.function) for a in atoms))
        specs = [(columns.index(c), f.kind, f.number, f.text, f.native_table, f.unseen_only) for c, f in functions]
        paths = [[(functions.index((a.column, a.function)), a.offset) for a in t.atoms] for t in templates]
        return cls(tuple(templates), tuple(levels), columns, _native.FeatureMap(len(columns), specs, paths))

    # -- corpora -------------------------------------------------------------------------------------------------

    def fit(self, corpus: Corpus, threads: int = 1) -> tuple[Ids, dict[str, Ids]]:
        """Number the features of a corpus and add new ones. Returns (T, n) ids within each template, and string ids."""
        features, strings = self.map.fit(column_arrays(corpus, self.columns), corpus.offsets, threads)
        return features, dict(zip(self.columns, strings, strict=True))

    def transform(self, corpus: Corpus) -> tuple[Ids, dict[str, Ids]]:
        """Like `fit`, but add nothing: an unknown feature or string is -1."""
        features, strings = self.map.transform(column_arrays(corpus, self.columns), corpus.offsets)
        return features, dict(zip(self.columns, strings, strict=True))

    def copy(self) -> Vocabulary:
        """An independent copy."""
        return replace(self, map=self.map.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        strings = [self.map.strings(c) for c in range(len(self.columns))]
        values = [self.map.values(f) for f in range(len(self.functions()))]
        keys = [self.map.keys(t) for t in range(len(self.templates))]
        stored = (strings, values, keys)
        return _restored, (self.templates, self.levels, stored, self.attributes, self.joiner, self.key_lengths)

    def pruned(self, keep: NDArray[np.bool_]) -> tuple[Vocabulary, NDArray[np.int64]]:
        """A vocabulary with only the conjunctions in ``keep``, and the old ids of its features in order.

        Features of a single atom are always kept, because conjunctions refer to them.
        """
        fresh = Vocabulary.of(self.templates, self.levels)
        bases, kept, keys = self.bases, [np.arange(self.n_attributes)], []
        for t, template in enumerate(self.templates):
            here = np.arange(bases[t], bases[t + 1])
            prefixes, finals = self.map.keys(t)
            if len(template.atoms) > 1:
                here = here[keep[here]]
                finals = finals[here - bases[t]]
            kept.append(here)
            keys.append((prefixes, finals))
        strings = [self.map.strings(c) for c in range(len(self.columns))]
        values = [self.map.values(f) for f in range(len(self.functions()))]
        fresh.map.restore(strings, values, keys)
        named = replace(fresh, attributes=self.attributes, joiner=self.joiner, key_lengths=self.key_lengths)
        return named, np.concatenate(kept).astype(np.int64)

    # -- numbers and names ---------------------------------------------------------------------------------------

    @property
    def bases(self) -> NDArray[np.int64]:
        """(T + 1,) first feature id of each template, and the end of the last."""
        return self.n_attributes + offsets_of(self.map.sizes())

    def functions(self) -> list[tuple[str, WordFunction]]:
        """The word functions with their columns, in the order of the map."""
        atoms = [*(a for t in self.templates for a in t.atoms), *self.levels]
        return list(dict.fromkeys((a.column, a.function) for a in atoms))

    def function_index(self, atom: Atom) -> int:
        """The number of an atom's function in the map."""
        return self.functions().index((atom.column, atom.function))

    def strings(self, column: str) -> StringTable:
        """The known strings of a column."""
        return StringTable(*self.map.strings(self.columns.index(column)))

    def name(self, feature: int) -> str:
        """The name of a feature."""
        return self.names([feature])[0]

    def names(self, features: Sequence[int]) -> list[str]:
        """The names of features. One call for many features is faster than many calls.

        >>> from corate.features.templates import parse
        >>> vocabulary = Vocabulary.of([parse("word[0]"), parse("word[-1]|word[0]")])
        >>> ids, _ = vocabulary.fit(Corpus.from_sentences([["to", "be"]]))
        >>> vocabulary.names([17, 18])
        ['word[0]=be', 'word[-1]|word[0]=<start-1>|to']
        """
        bases, numbers = self.bases, {function: i for i, function in enumerate(self.functions())}
        keys_of = cache(self.map.keys)
        strings_of = cache(lambda function: StringTable(*self.map.values(function)))

        def value_name(atom: Atom, value: int) -> str:
            if value < _HALF:
                return f"<start-{value + 1}>"
            if value < BOUNDARIES:
                return f"<end+{value - _HALF + 1}>"
            return strings_of(numbers[atom.column, atom.function])[value - BOUNDARIES]

        def name(feature: int, t: int) -> str:
            if t < 0 and self.attributes is not None:
                return self.attributes[feature]
            atoms, value = self.templates[t].atoms, feature - int(bases[t])
            values = [value] if len(atoms) == 1 else _values(*keys_of(t), value, len(atoms))
            return f"{self.templates[t]}={'|'.join(map(value_name, atoms, values))}"

        templates = np.searchsorted(bases, np.asarray(features, dtype=np.int64), side="right") - 1
        return [name(int(feature), t) for feature, t in zip(features, templates.tolist(), strict=True)]


def template_rows(vocabulary: Vocabulary, features: Ids) -> Csr:
    """The features of templates as rows of ids of the vocabulary, -1 where one is unknown: ``features`` are (T, n)."""
    n_templates, n = features.shape
    ids = np.where(features >= 0, features + vocabulary.bases[:-1, None], -1).astype(np.int32)
    return np.arange(n + 1, dtype=np.int64) * n_templates, np.ascontiguousarray(ids.T).ravel()


def _restored(
    templates: Sequence[Template], levels: Sequence[Atom], stored: tuple[Any, Any, Any], *of_attributes: Any
) -> Vocabulary:
    """A vocabulary from its pickle."""
    found = Vocabulary.of(templates, levels)
    found.map.restore(*stored)
    return replace(found, **dict(zip(("attributes", "joiner", "key_lengths"), of_attributes, strict=True)))


def _values(prefixes: NDArray[np.uint64], keys: NDArray[np.uint64], local: int, atoms: int) -> list[int]:
    """The values of a conjunction's atoms. Each key is the number of the shorter conjunction and one more value."""
    key = int(keys[local])
    values = [key & 0xFFFFFFFF]
    for _ in range(atoms - 2):
        key = int(prefixes[key >> 32])
        values.append(key & 0xFFFFFFFF)
    return [*reversed([*values, key >> 32])]
