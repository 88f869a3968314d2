"""Edge features, with weights for label pairs: from ``edge:`` templates, or from templates with few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.counting.counts import Tokens
from corate.counting.pooling import Features
from corate.features.templates import Atom, Template
from corate.features.word_functions import WordFunction
from corate.label_pairs import LabelPairs
from corate.types import Csr

__all__ = ["edge_features", "edge_slots", "edge_templates"]

#: Templates with fewer than FEW_VALUES values also make edge features, if there are VALUE_TOKENS tokens for each value.
FEW_VALUES = 60
VALUE_TOKENS = 200
FIRST_WORDS = 1000


def edge_features(tokens: Tokens, bases: NDArray[np.int64], uses: NDArray[np.bool_]) -> Csr:
    """The edge features of tokens, for the templates marked in ``uses``."""
    return Features.of(replace(tokens, attributes=None), bases, uses).arrays()


def edge_slots(
    tokens: Tokens, n_labels: int, bases: NDArray[np.int64], uses: NDArray[np.bool_]
) -> tuple[Csr, Csr, NDArray[np.int64]] | None:
    """The label pairs seen with each edge feature, the features of tokens, and how often each feature occurs.

    None if there are no edge features, or if the label pairs are too many for 32-bit ids.
    """
    label_pairs = LabelPairs(n_labels)
    if not uses.any() or len(label_pairs) > np.iinfo(np.int32).max:
        return None
    offsets, ids = edge_features(tokens, bases, uses)
    pairs = np.repeat(label_pairs.along(tokens.labels, tokens.offsets), np.diff(offsets))
    rows = int(bases[-1])
    starts, seen, _ = _native.count_table(ids, pairs, rows, len(label_pairs))
    return (starts, seen), (offsets, ids), np.maximum(_native.occurrences(ids, rows), 1)


def edge_templates(templates: Sequence[Template], corpus: Corpus, *, few: bool = True) -> list[Template]:
    """Edge templates made from node templates with few values: each at both ends of an edge.

    If labels are not ``few``, the previous word replaces those made from templates of the word.

    >>> from corate.features.templates import parse
    >>> corpus = Corpus.from_sentences([[("a", "DET", "B"), ("dog", "NN", "I")]] * 500)
    >>> wanted = [parse(t) for t in ("word[0]", "suffix(word[0], 2)", "starts_upper(word[0])", "pos[0]")]
    >>> [str(t) for t in edge_templates(wanted[2:], corpus)]
    ['edge: starts_upper(word[0])', 'edge: starts_upper(word[-1])', 'edge: pos[0]', 'edge: pos[-1]']
    >>> [str(t) for t in edge_templates(wanted, corpus, few=False)]
    ['edge: word[-1]', 'edge: pos[0]', 'edge: pos[-1]']
    """
    if any(t.edge for t in templates):
        return []  # the user has chosen edge templates
    found = []
    word = None if few or corpus.word is None else corpus.word.name
    if any(word in t.columns for t in templates):
        found.append(Template((Atom(WordFunction(), str(word), -1),), edge=True))
    for template in templates:
        if len(template.atoms) != 1 or template.atoms[0].offset != 0 or template.atoms[0].column == word:
            continue
        atom = template.atoms[0]
        if not atom.function.learns and _has_few_values(
            atom.function, corpus.column(atom.column).strings, corpus.n_tokens
        ):
            found += [Template((replace(atom, offset=offset),), edge=True) for offset in (0, -1)]
    return found


def _has_few_values(function: WordFunction, words: StringTable, tokens: int) -> bool:
    """Whether a function has few values, with many tokens for each."""
    most = min(FEW_VALUES, tokens / VALUE_TOKENS)
    # The first words are checked first: for most functions they suffice to find many values.
    return all(int(function.apply(some)[0].max(initial=-1)) < most for some in (words.head(FIRST_WORDS), words))
