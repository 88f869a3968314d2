"""What the functions ``kin`` and ``tail`` know: the label that each word of a training corpus usually has.

A word that training has not seen often has relatives that it has, and their labels with the endings say much of its
own: a word that adds ``s`` to a usual verb is a verb of another form. The rules stand in ``native/kin.h``.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Column, Corpus, StringTable
from corate.features.lexicons import Lexicon
from corate.features.templates import Template, usual_name
from corate.features.word_functions import WordFunction

__all__ = ["taught", "usual_labels"]


def taught(
    templates: Iterable[Template], corpus: Corpus, names: StringTable, labels: NDArray[np.int32]
) -> tuple[Template, ...]:
    """Templates whose functions have learned what they need from a corpus; ``labels`` are ids, below 0 where unknown.

    >>> from corate.features.templates import parse
    >>> corpus = Corpus.from_sentences([[("they", "PRON"), ("lurk", "VERB")]])
    >>> column = corpus.require_labels()
    >>> (template,) = taught([parse("kin(word[0])")], corpus, column.strings, column.ids)
    >>> ids, values = template.atoms[0].function.apply(StringTable.intern(["lurks"])[0])
    >>> values[ids[0]]
    'l|VERB-+s'
    """
    templates = tuple(templates)
    columns = dict.fromkeys(a.column for t in templates for a in t.atoms if a.function.learns and not a.function.table)
    lexicons = {usual_name(column): usual_labels(corpus.column(column), names, labels) for column in columns}
    return tuple(t.taught(lexicons) for t in templates) if lexicons else templates


def usual_labels(words: Column, names: StringTable, labels: NDArray[np.int32]) -> Lexicon:
    """The most frequent label of each word in lower case, the most frequent word first, of equals the shortest.

    >>> words = Column.of("word", ["a", "Rose", "rose", "rose", "a"])
    >>> names = StringTable.intern(["DET", "NOUN", "VERB"])[0]
    >>> usual = usual_labels(words, names, np.array([0, 1, 2, 1, -1], np.int32))
    >>> usual.keys.to_list(), usual.get("rose")
    (['rose', 'a'], 'NOUN')
    """
    forms, lowered = WordFunction("lower").apply(words.strings)
    offsets, label, times = _native.count_table(forms[words.ids], labels, len(lowered), len(names))
    form = np.repeat(np.arange(len(lowered)), np.diff(offsets))
    total = np.bincount(form, times, minlength=len(lowered))
    by_times = np.lexsort((-times, form))  # of each form its most frequent label first
    first = by_times[offsets[:-1][np.diff(offsets) > 0]]
    order = first[np.lexsort((np.diff(lowered.offsets)[form[first]], -total[form[first]]))]
    return Lexicon(usual_name(words.name), _taken(lowered, form[order]), label[order].astype(np.int32), names)


def _taken(strings: StringTable, ids: NDArray[np.int64]) -> StringTable:
    sizes = np.diff(strings.offsets)[ids]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.repeat(strings.offsets[ids] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return StringTable(strings.data[places], offsets)
