"""Pair factors of separate training: the weights of label pairs, and of edge features, as maximum entropy models.

    given the nodes    P(y, y' | x) proportional to P(y | x) P(y' | x) exp(T(y, y') + U g(y, y'))
    joint              P(y, y' | x) = softmax(A f_i + B f_i+1 + T + U g), which knows nothing of the nodes

The kernel is ``native/training/pairs.cpp``. Edge features g come from ``edge:`` templates, or from templates with few
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.counting.counts import PairCounts, Table, Tokens
from corate.counting.pooling import Candidates, Features, fit_edges
from corate.errors import FeatureError
from corate.features.templates import Atom, Template
from corate.features.word_functions import WordFunction
from corate.label_scores import SparseRows
from corate.optimize.stochastic import AdaGrad
from corate.training.problem import Problem, Progress, SeparateParameters
from corate.types import F32, Csr, Ids

__all__ = ["PairFactors", "edge_features", "edge_slots", "edge_templates"]

#: Templates with so few values also make edge features, if there are so many tokens for each value.
FEW_VALUES = 60
VALUE_TOKENS = 200
FIRST_WORDS = 1000


@dataclass(frozen=True, eq=False)
class PairFactors:
    """Fits what connects neighbouring labels. ``uses`` says which templates make edge features."""

    n_labels: int
    bases: NDArray[np.int64]
    uses: NDArray[np.bool_]
    p: SeparateParameters
    threads: int
    seed: int
    progress: Progress

    def given_nodes(
        self, tokens: Tokens, candidates: Candidates, scores: F32
    ) -> tuple[NDArray[np.float32], SparseRows]:
        """T and U, from sentences with log-probabilities of nodes that have not seen them."""
        self.progress("fitting the pairs", 0.0)
        observed = PairCounts(*_native.count_pairs(tokens.labels, tokens.offsets, self.n_labels))
        edges = fit_edges(observed, tokens.offsets, candidates, np.exp(scores), k=0.5, rounds=3)
        return self._fit_edge_features(tokens, candidates, scores, edges)

    def _fit_edge_features(
        self, tokens: Tokens, candidates: Candidates, scores: F32, start: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], SparseRows]:
        """T and the weights of edge features together, stochastically, from T alone."""
        found = edge_slots(tokens, self.n_labels, self.bases, self.uses)
        if found is None:
            return start, SparseRows()
        (offsets, labels), features, visits = found
        size = start.size
        gold = (candidates.find(tokens.labels) - candidates.offsets[:-1]).astype(np.int32)
        model = _native.Pairs(
            self.n_labels,
            tokens.offsets,
            candidates.arrays(),
            scores,
            scores,
            gold,
            None,
            ((offsets, labels), features),
            tokens.weights,
        )
        decay = np.concatenate([[0.0], 1.0 / (self.p.edge_sigma2 * visits)]).astype(np.float32)
        first = np.zeros(model.size, np.float32)
        first[:size] = start.ravel()
        edges = np.arange(model.n_edges, dtype=np.int64)
        run = AdaGrad.of(model, decay, edges, start=first, rate=0.1, threads=self.threads, seed=self.seed)
        for n in range(self.p.pair_passes):
            run.pass_once(lambda done, n=n: self.progress("fitting the pairs", (n + done) / self.p.pair_passes))  # type: ignore[misc]
        weights = run.weights
        return weights[:size].reshape(start.shape), SparseRows(offsets, labels, weights[size:])

    def joint(self, problem: Problem, slots: Table, nodes: F32) -> tuple[F32, NDArray[np.float32], SparseRows]:
        """The paper's pair model, softmax(A f_i + B f_i+1 + T + U g); the node score is A f + B f - W f."""
        size = (self.n_labels + 1) ** 2
        observed = edge_slots(problem.tokens, self.n_labels, self.bases, self.uses)
        if problem.values is not None:
            raise FeatureError("joint coupling takes no numbers as features; use given-nodes, or bin them")
        zero = np.zeros(len(problem.candidates.labels), np.float32)
        model = _native.Pairs(
            self.n_labels,
            problem.tokens.offsets,
            problem.candidates.arrays(),
            zero,
            zero,
            problem.gold,
            ((slots.offsets, slots.labels), problem.features),
            None if observed is None else observed[:2],
            problem.tokens.weights,
        )
        visits = np.maximum(_native.occurrences(problem.features[1], len(slots)), 1)
        shrink = 1.0 / (self.p.sigma2 * visits)
        shrink[-1] = 0.0
        of_edges: Any = [] if observed is None else 1.0 / (self.p.edge_sigma2 * observed[2])
        decay = np.concatenate([[0.0], of_edges, shrink]).astype(np.float32)
        edges = np.arange(model.n_edges, dtype=np.int64)
        run = AdaGrad.of(model, decay, edges, rate=self.p.rate, threads=self.threads, seed=self.seed)
        for n in range(self.p.passes):
            run.pass_once(lambda done, n=n: self.progress("fitting the pairs", (n + done) / self.p.passes))  # type: ignore[misc]
        table, u, a, b = np.split(run.weights, np.cumsum([size, model.size - size - 2 * len(nodes), len(nodes)]))
        extra = SparseRows() if observed is None else SparseRows(*observed[0], u)
        return a + b - nodes, table.reshape(self.n_labels + 1, -1), extra


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
