"""The lexicons of the functions ``related_start`` and ``related_end``: the most frequent label of each training word.

An unknown word is often related to a known word, whose label and ending help to predict its label: a word that adds
``s`` to a known verb is probably another form of that verb. The rules are in ``native/features/related_words.h``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Column, Corpus, StringTable
from corate.features.lexicons import Lexicon
from corate.features.templates import Atom, Template, usual_name
from corate.features.word_functions import WordFunction
from corate.rows import owners_of, rows_of_keys, sums_by_key
from corate.types import Ids, Offsets

__all__ = ["learn_lexicons", "learned_lexicons", "usual_labels", "usual_labels_of_counts"]


def learn_lexicons(
    templates: Iterable[Template], corpus: Corpus, names: StringTable, labels: NDArray[np.int32]
) -> tuple[Template, ...]:
    """The templates with lexicons learned from a corpus; ``labels`` are ids, negative if unknown.

    >>> from corate.features.templates import parse
    >>> corpus = Corpus.from_sentences([[("they", "PRON"), ("lurk", "VERB")]])
    >>> column = corpus.require_labels()
    >>> (template,) = learn_lexicons([parse("related_start(word[0])")], corpus, column.strings, column.ids)
    >>> ids, values = template.atoms[0].function.apply(StringTable.intern(["lurks"])[0])
    >>> values[ids[0]]
    'l|VERB-+s'
    """
    templates = tuple(templates)
    lexicons = learned_lexicons((atom for t in templates for atom in t.atoms), corpus, names, labels)
    return tuple(t.with_lexicons(lexicons) for t in templates)


def learned_lexicons(
    atoms: Iterable[Atom], corpus: Corpus, names: StringTable, labels: NDArray[np.int32]
) -> dict[str, Lexicon]:
    """The lexicons that the atoms need, by name: the usual labels of the words of each column."""
    columns = dict.fromkeys(atom.column for atom in atoms if atom.function.learns)
    return {usual_name(column): usual_labels(corpus.column(column), names, labels) for column in columns}


def usual_labels(words: Column, names: StringTable, labels: NDArray[np.int32]) -> Lexicon:
    """The most frequent label of each lower-case word. Words are in descending frequency; ties put shorter words first.

    >>> words = Column.of("word", ["a", "Rose", "rose", "rose", "a"])
    >>> names = StringTable.intern(["DET", "NOUN", "VERB"])[0]
    >>> usual = usual_labels(words, names, np.array([0, 1, 2, 1, -1], np.int32))
    >>> usual.keys.to_list(), usual.get("rose")
    (['rose', 'a'], 'NOUN')
    """
    forms, lowered = WordFunction("lower").apply(words.strings)
    counted = _native.count_table(forms[words.ids], labels, len(lowered), len(names))
    return _most_frequent(words.name, lowered, counted, names)


def usual_labels_of_counts(
    column: str, words: StringTable, counts: tuple[Offsets, Ids, NDArray[np.int64]], names: StringTable
) -> Lexicon:
    """Like `usual_labels`, from the counts of each word: rows of labels, and how often each was seen.

    >>> words, names = StringTable.intern(["a", "Rose", "rose"])[0], StringTable.intern(["DET", "NOUN", "VERB"])[0]
    >>> counts = np.array([0, 1, 2, 4]), np.array([0, 1, 1, 2], np.int32), np.array([1, 1, 1, 1])
    >>> usual = usual_labels_of_counts("word", words, counts, names)
    >>> usual.keys.to_list(), usual.get("rose")
    (['rose', 'a'], 'NOUN')
    """
    forms, lowered = WordFunction("lower").apply(words)
    offsets, labels, times = counts
    keys, sums = sums_by_key([np.repeat(forms.astype(np.int64), np.diff(offsets)) * len(names) + labels], [times])
    return _most_frequent(column, lowered, (*rows_of_keys(keys, len(lowered), len(names)), sums), names)


def _most_frequent(
    column: str,
    lowered: StringTable,
    counted: tuple[Offsets, Ids, NDArray[np.integer[Any]]],
    names: StringTable,
) -> Lexicon:
    offsets, label, times = counted
    form = owners_of(offsets)
    total = np.bincount(form, times, minlength=len(lowered))
    by_times = np.lexsort((-times, form))  # within each form, the most frequent label first
    first = by_times[offsets[:-1][np.diff(offsets) > 0]]
    order = first[np.lexsort((np.diff(lowered.offsets)[form[first]], -total[form[first]]))]
    return Lexicon(usual_name(column), lowered.take(form[order]), label[order].astype(np.int32), names)
