"""Edge features, with weights for label pairs: from ``edge:`` templates, or from templates with few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import StringTable
from corate.counting.counts import Tokens, TokenStore
from corate.counting.pooling import Features
from corate.features.templates import Atom, Template
from corate.features.vocabulary import Vocabulary
from corate.features.word_functions import WordFunction
from corate.label_pairs import LabelPairs
from corate.rows import SparseRows, offsets_of
from corate.training.source import Source
from corate.types import Csr

__all__ = ["edge_features", "edge_rows", "edge_slots", "edge_templates"]

#: Templates with fewer than FEW_VALUES values also make edge features, if there are VALUE_TOKENS tokens for each value.
FEW_VALUES = 60
VALUE_TOKENS = 200
FIRST_WORDS = 1000


def edge_features(tokens: Tokens, bases: NDArray[np.int64], uses: NDArray[np.bool_]) -> Csr:
    """The edge features of tokens, for the templates marked in ``uses``."""
    return Features.of(replace(tokens, attributes=None), bases, uses).arrays()


def edge_rows(tokens: TokenStore, vocabulary: Vocabulary, uses: NDArray[np.bool_], n_labels: int) -> SparseRows:
    """Rows with a slot for every label pair seen with each edge feature, of the templates marked in ``uses``.

    There are no rows without such templates, or if the label pairs are too many for 32-bit ids.
    """
    label_pairs = LabelPairs(n_labels)
    if not uses.any() or len(label_pairs) > np.iinfo(np.int32).max:
        return SparseRows()
    pairs = np.concatenate([label_pairs.along(piece.labels, piece.offsets) for piece in tokens.label_pieces()])
    lengths, seen = [np.zeros(vocabulary.n_attributes, np.int64)], [np.zeros(0, np.int32)]
    for t, rows in enumerate(vocabulary.map.sizes().tolist()):
        if uses[t]:
            starts, labels, _ = _native.count_table(tokens.column(t), pairs, rows, len(label_pairs))
            lengths.append(np.diff(starts))
            seen.append(labels)
        else:
            lengths.append(np.zeros(rows, np.int64))
    return SparseRows.zeros((offsets_of(np.concatenate(lengths)), np.concatenate(seen)))


def edge_slots(
    tokens: Tokens, vocabulary: Vocabulary, uses: NDArray[np.bool_], n_labels: int
) -> tuple[Csr, Csr, NDArray[np.int64]] | None:
    """The label pairs seen with each edge feature, the features of tokens, and how often each feature occurs.

    None if there are no edge features.
    """
    rows = edge_rows(tokens, vocabulary, uses, n_labels)
    if not len(rows):
        return None
    offsets, ids = edge_features(tokens, vocabulary.bases, uses)
    return rows.csr, (offsets, ids), np.maximum(_native.occurrences(ids, len(rows)), 1)


def edge_templates(templates: Sequence[Template], source: Source, *, few: bool = True) -> list[Template]:
    """Edge templates made from node templates with few values: each at both ends of an edge.

    If labels are not ``few``, the previous word replaces those made from templates of the word.

    >>> from corate.features.templates import parse
    >>> from corate.corpus import Corpus
    >>> from corate.training.source import MemorySource
    >>> sentences = [[("a", "DET", "B"), ("dog", "NN", "I")]] * 500
    >>> source = MemorySource(Corpus.from_sentences(sentences))
    >>> wanted = [parse(t) for t in ("word[0]", "suffix(word[0], 2)", "starts_upper(word[0])", "pos[0]")]
    >>> [str(t) for t in edge_templates(wanted[2:], source)]
    ['edge: starts_upper(word[0])', 'edge: starts_upper(word[-1])', 'edge: pos[0]', 'edge: pos[-1]']
    >>> [str(t) for t in edge_templates(wanted, source, few=False)]
    ['edge: word[-1]', 'edge: pos[0]', 'edge: pos[-1]']
    """
    if any(t.edge for t in templates):
        return []  # the user has chosen edge templates
    found = []
    word = None if few else source.word
    if any(word in t.columns for t in templates):
        found.append(Template((Atom(WordFunction(), str(word), -1),), edge=True))
    for template in templates:
        if len(template.atoms) != 1 or template.atoms[0].offset != 0 or template.atoms[0].column == word:
            continue
        atom = template.atoms[0]
        if not atom.function.learns and _has_few_values(atom.function, source.strings(atom.column), source.n_tokens):
            found += [Template((replace(atom, offset=offset),), edge=True) for offset in (0, -1)]
    return found


def _has_few_values(function: WordFunction, words: StringTable, tokens: int) -> bool:
    """Whether a function has few values, with many tokens for each."""
    most = min(FEW_VALUES, tokens / VALUE_TOKENS)
    # The first words are checked first: for most functions they suffice to find many values.
    return all(int(function.apply(some)[0].max(initial=-1)) < most for some in (words.head(FIRST_WORDS), words))
