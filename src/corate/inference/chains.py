"""Sums over all labellings of chains, and the best labelling, from arrays of scores.

    score(y) = sum_j nodes[j, y_j] + sum_j>0 edges[y_j-1, y_j],     P(y) = exp(score(y)) / Z

This is a linear-chain conditional random field without features: scores may come from anywhere, for example from a
neural network. The gradient of ``log Z`` is the marginals. `native/chain/shapes/full_group.h` has the equations.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corate import _native
from corate.arguments import check_threads

__all__ = ["ChainExpectations", "EdgesBy", "best_labels", "chain_expectations"]

#: Whose edges a block of label pairs is: of all sentences, of one sentence each, or of the edge to one position each.
EdgesBy = Literal["all", "sentence", "position"]
_KINDS: dict[EdgesBy, int] = {"all": 0, "sentence": 1, "position": 2}


class ChainExpectations(NamedTuple):
    """The sums over all labellings.

    Attributes:
        log_z: log Z of each sentence, ``(S,)`` float64: 0 for an empty sentence, minus infinity if no labelling is
            allowed. Then all probabilities of the sentence are 0.
        nodes: the probability of each label at each position, ``(n, c)``.
        edges: the probabilities of pairs of neighbouring labels: for each block of edge scores the sum over its edges,
            in the shape of the scores; or by position, ``(n, c, c)``, with zeros at the first position of a sentence.
    """

    log_z: NDArray[np.float64]
    nodes: NDArray[Any]
    edges: NDArray[Any]


def chain_expectations(
    nodes: ArrayLike,
    edges: ArrayLike,
    offsets: ArrayLike,
    *,
    by: EdgesBy | None = None,
    weights: ArrayLike | None = None,
    by_position: bool = False,
    threads: int = 1,
) -> ChainExpectations:
    """Return log Z of each sentence and the marginals of nodes and edges.

    Args:
        nodes: the score of each label at each position of all sentences, ``(n, c)``. If nodes and edges are float32,
            so are the marginals, with an error of about 1e-6; otherwise, all is float64.
        edges: the scores of pairs of labels, by the earlier label and then by the later one: ``(c, c)`` for all
            sentences, ``(S, c, c)`` for one each, or ``(n, c, c)`` for the edge to each position. The block of the
            first position of a sentence is not used. Minus infinity forbids a label or a pair.
        offsets: where the positions of each sentence begin, ``(S + 1,)``. Sentences may be empty.
        by: what the blocks of edges belong to. By default, the shape tells.
        weights: what the marginals of each sentence are multiplied by, ``(S,)``; for gradients.
        by_position: return the marginals of edges by position, not their sums.
        threads: the number of threads; results do not depend on it.

    Raises:
        ValueError: if shapes disagree, or if a score is NaN or infinity.

    >>> nodes = np.log([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    >>> found = chain_expectations(nodes, np.log([[3.0, 1.0], [1.0, 3.0]]), [0, 2, 3])
    >>> found.log_z.round(3).tolist(), found.nodes.round(3).tolist()
    ([0.693, 0.0], [[0.7, 0.3], [0.9, 0.1], [0.2, 0.8]])
    >>> found.edges.round(3).tolist()
    [[0.675, 0.025], [0.225, 0.075]]
    """
    own, blocks, kind, ends = _checked(nodes, edges, offsets, by)
    factors = None if weights is None else np.ascontiguousarray(weights, own.dtype)
    log_z, p, pairs = _native.chain_expectations(
        own, blocks.reshape(-1), kind, ends, factors, by_position, check_threads(threads)
    )
    size = own.shape[1]
    shape = (len(own), size, size) if by_position else blocks.shape
    return ChainExpectations(log_z, p.reshape(own.shape), pairs.reshape(shape))


def best_labels(
    nodes: ArrayLike, edges: ArrayLike, offsets: ArrayLike, *, by: EdgesBy | None = None, threads: int = 1
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the best label of each position, ``(n,)``, and the score of each sentence's best labelling, ``(S,)``.

    The arguments are those of :func:`chain_expectations`. Ties go to the first label. The score is minus infinity if no
    labelling is allowed.

    >>> nodes = np.log([[0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
    >>> labels, scores = best_labels(nodes, np.log([[0.1, 1.0], [1.0, 3.0]]), [0, 2, 3])
    >>> labels.tolist(), scores.round(3).tolist()
    ([1, 1, 1], [-0.511, -0.223])
    """
    own, blocks, kind, ends = _checked(nodes, edges, offsets, by)
    return _native.best_labels(own, blocks.reshape(-1), kind, ends, check_threads(threads))


def _checked(
    nodes: ArrayLike, edges: ArrayLike, offsets: ArrayLike, by: EdgesBy | None
) -> tuple[NDArray[Any], NDArray[Any], int, NDArray[np.int64]]:
    single = all(getattr(given, "dtype", None) == np.float32 for given in (nodes, edges))
    own, blocks = (np.ascontiguousarray(given, np.float32 if single else np.float64) for given in (nodes, edges))
    ends = np.ascontiguousarray(offsets, np.int64)
    if own.ndim != 2 or ends.ndim != 1 or len(ends) == 0:
        raise ValueError(f"nodes must be (n, c) and offsets (S + 1,), not {own.shape} and {ends.shape}")
    counts: dict[EdgesBy, int | None] = {"all": None, "sentence": len(ends) - 1, "position": len(own)}
    size = (own.shape[1],) * 2
    fitting = [kind for kind, n in counts.items() if blocks.shape == (size if n is None else (n, *size))]
    if by is None and len(fitting) > 1:
        raise ValueError(f"there are as many sentences as positions, {len(own)}: say by='sentence' or by='position'")
    kind = by if by is not None else fitting[0] if fitting else None
    if kind is None or kind not in fitting:
        raise ValueError(
            f"edges must be {size}, {(counts['sentence'], *size)} or {(counts['position'], *size)}, not {blocks.shape}"
        )
    return own, blocks, _KINDS[kind], ends
