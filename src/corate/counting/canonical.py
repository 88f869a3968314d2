"""Counts in a canonical order: the same bytes for any order of the sentences, and of the pieces that were merged.

Strings and labels are numbered by their bytes, values of word functions in the order of the strings that have them, and
the features of a template by the values of its atoms. The integers of counts do not depend on any order, so all that is
derived from canonical counts does not either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Column, Corpus
from corate.counting.counts import Counts, PairCounts, Table
from corate.errors import DataError
from corate.features.templates import Atom, Template
from corate.features.vocabulary import BOUNDARIES, Vocabulary
from corate.strings import StringTable
from corate.types import Ids

__all__ = ["canonical"]

Keys = NDArray[np.uint64]

_SHIFT, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def canonical(counts: Counts, levels: Sequence[Atom] = (), templates: Sequence[Template] = ()) -> Counts:
    """The counts with all ids in canonical order.

    ``levels`` are added to the vocabulary, and ``templates`` whose features are not counted.

    >>> from corate.features.templates import parse
    >>> def count(*sentences):
    ...     vocabulary = Vocabulary.of([parse("word[-1]|word[0]")])
    ...     return Counts.of(Corpus.from_sentences(sentences), vocabulary, "word")[0]
    >>> a, b = [("to", "TO"), ("be", "VB")], [("or", "CC"), ("be", "VB")]
    >>> first, second = canonical(count(a, b)), canonical(count(b).merged(count(a)))
    >>> first.labels.to_list(), first.vocabulary.strings("word").to_list()
    (['CC', 'TO', 'VB'], ['be', 'or', 'to'])
    >>> all((x == y).all() for x, y in zip(first.table.arrays(), second.table.arrays()))
    True
    """
    old = counts.vocabulary
    if old.attributes is not None:
        raise DataError("counts of ready-made features have no canonical order; count templates")
    vocabulary, features = _numbered(old, levels, templates)
    order = counts.labels.sorted()
    renamed = np.argsort(order).astype(np.int32)
    taken = counts.table.take(features)
    labels = renamed[taken.labels]
    sort = np.lexsort((labels, taken.owners))
    table = Table(taken.offsets, labels[sort], taken.counts[sort])
    extra = int(vocabulary.bases[-1]) - len(table)
    return replace(
        counts,
        vocabulary=vocabulary,
        labels=counts.labels.take(order),
        table=table.padded(len(table) + extra),
        pairs=_pairs(counts.pairs, renamed),
    )


def _numbered(
    old: Vocabulary, levels: Sequence[Atom], templates: Sequence[Template]
) -> tuple[Vocabulary, NDArray[np.int64]]:
    """The vocabulary in canonical order, and the old ids of its features in their new order."""
    fresh = Vocabulary.of([*old.templates, *templates], [*old.levels, *levels])
    strings = {column: old.strings(column) for column in old.columns}
    strings = {column: table.take(table.sorted()) for column, table in strings.items()}
    values = _values_of(fresh, strings)
    numbers, places = {f: i for i, f in enumerate(fresh.functions())}, []
    for f, function in enumerate(old.functions()):
        found = values[numbers[function]].find(StringTable(*old.map.values(f)))
        places.append(np.concatenate([np.arange(BOUNDARIES), BOUNDARIES + found.astype(np.int64)]))
    index = {function: f for f, function in enumerate(old.functions())}
    bases, keys, order = old.bases, [], []
    for t, template in enumerate(old.templates):
        maps = [places[index[atom.column, atom.function]] for atom in template.atoms]
        if len(maps) == 1:
            order.append(bases[t] + np.argsort(maps[0]))
            keys.append((np.zeros(0, np.uint64), np.zeros(0, np.uint64)))
            continue
        columns = [own[v] for own, v in zip(maps, _tuples(*old.map.keys(t), len(maps)), strict=True)]
        sort = np.lexsort(columns[::-1])
        keys.append(_keys([column[sort].astype(np.uint64) for column in columns]))
        order.append(bases[t] + sort)
    keys += [(np.zeros(0, np.uint64), np.zeros(0, np.uint64))] * len(templates)
    stored = [(strings[c].data, strings[c].offsets) for c in fresh.columns]
    fresh.map.restore(stored, [(table.data, table.offsets) for table in values], keys)
    return fresh, np.concatenate([np.zeros(0, np.int64), *order])


def _values_of(vocabulary: Vocabulary, strings: dict[str, StringTable]) -> list[StringTable]:
    """The values of each word function of a vocabulary, in the order of the strings that have them."""
    atoms = [*(atom for t in vocabulary.templates for atom in t.atoms), *vocabulary.levels]
    functions = Vocabulary.of((), atoms)
    n = max(map(len, strings.values()), default=0)
    columns = []
    for name in functions.columns:
        ids = np.zeros(n, np.int32)  # the first string is repeated in shorter columns
        ids[: len(strings[name])] = np.arange(len(strings[name]))
        columns.append(Column(name, ids, strings[name]))
    functions.fit(Corpus(tuple(columns), np.array([0, n], np.int64)))
    return [StringTable(*functions.map.values(f)) for f in range(len(functions.functions()))]


def _tuples(prefixes: Keys, finals: Keys, atoms: int) -> list[NDArray[np.int64]]:
    """The values of the atoms of each feature."""
    key, found = finals, [finals & _LOW]
    for _ in range(atoms - 2):
        key = prefixes[(key >> _SHIFT).astype(np.int64)]
        found.append(key & _LOW)
    return [values.astype(np.int64) for values in (key >> _SHIFT, *reversed(found))]


def _keys(columns: list[Keys]) -> tuple[Keys, Keys]:
    """The keys of prefixes and of features, for sorted tuples of values: see native/features/feature_map.h."""
    state, known = columns[0], np.zeros(0, np.uint64)
    for values in columns[1:-1]:
        key = state << _SHIFT | values
        known = np.concatenate([known, np.unique(key[_native.match_keys(known, key) < 0])])
        state = _native.match_keys(known, key).astype(np.uint64)
    return known, state << _SHIFT | columns[-1]


def _pairs(pairs: PairCounts, renamed: Ids) -> PairCounts:
    places = np.append(renamed, np.int32(len(renamed)))
    origin, to = places[pairs.origin], places[pairs.to]
    sort = np.lexsort((to, origin))
    return PairCounts(origin[sort], to[sort], pairs.counts[sort])
