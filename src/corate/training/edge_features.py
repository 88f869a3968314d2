"""Edge features, of pairs of neighbouring labels: from ``edge:`` templates, or from templates with few values."""

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
from corate.types import Csr, Ids

__all__ = ["edge_features", "edge_slots", "edge_templates"]

#: Templates with so few values also make edge features, if there are so many tokens for each value.
FEW_VALUES = 60
VALUE_TOKENS = 200
FIRST_WORDS = 1000


def edge_features(tokens: Tokens, bases: NDArray[np.int64], uses: NDArray[np.bool_]) -> Csr:
    """The edge features of tokens, by the templates that ``uses`` marks."""
    return Features.of(replace(tokens, attributes=None), bases, uses).arrays()


def edge_slots(
    tokens: Tokens, n_labels: int, bases: NDArray[np.int64], uses: NDArray[np.bool_]
) -> tuple[Csr, Csr, NDArray[np.int64]] | None:
    """The label pairs seen with each edge feature, the features of tokens, and how often each feature occurs.

    None where there are no edge features, or so many labels that their pairs cannot be numbered.
    """
    size = (n_labels + 1) ** 2
    if not uses.any() or size > np.iinfo(np.int32).max:
        return None
    offsets, ids = edge_features(tokens, bases, uses)
    pairs = np.repeat(_label_pairs(tokens, n_labels), np.diff(offsets))
    rows = int(bases[-1])
    starts, seen, _ = _native.count_table(ids, pairs, rows, size)
    return (starts, seen), (offsets, ids), np.maximum(_native.occurrences(ids, rows), 1)


def edge_templates(templates: Sequence[Template], corpus: Corpus, *, few: bool = True) -> list[Template]:
    """Edge templates that node templates with few values give: the same at both ends of an edge.

    Where labels are not ``few`` and a template looks at the word, the word before takes their place.

    >>> from corate.features.templates import parse
    >>> corpus = Corpus.from_sentences([[("a", "DET", "B"), ("dog", "NN", "I")]] * 500)
    >>> wanted = [parse(t) for t in ("word[0]", "suffix(word[0], 2)", "starts_upper(word[0])", "pos[0]")]
    >>> [str(t) for t in edge_templates(wanted[2:], corpus)]
    ['edge: starts_upper(word[0])', 'edge: starts_upper(word[-1])', 'edge: pos[0]', 'edge: pos[-1]']
    >>> [str(t) for t in edge_templates(wanted, corpus, few=False)]
    ['edge: word[-1]', 'edge: pos[0]', 'edge: pos[-1]']
    """
    if any(t.edge for t in templates):
        return []  # the user has chosen
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
    """Whether a function has few values, and there are many tokens for each."""
    most = min(FEW_VALUES, tokens / VALUE_TOKENS)
    # Of most functions the first words tell that they have more.
    return all(int(function.apply(some)[0].max(initial=-1)) < most for some in (words.head(FIRST_WORDS), words))


def _label_pairs(tokens: Tokens, n_labels: int) -> Ids:
    """The label before each token (K at the start of a sentence) and its own, as one number; -1 if one is unknown."""
    before = np.roll(tokens.labels, 1).astype(np.int64)
    starts = tokens.offsets[:-1][np.diff(tokens.offsets) > 0]
    before[starts] = n_labels
    pairs = before * (n_labels + 1) + tokens.labels
    return np.where((before < 0) | (tokens.labels < 0), -1, pairs).astype(np.int32)
