"""Edge scores from counted label pairs: the logarithm of their co-occurrence rate (definition 1 of the paper).

    CR(y; y') = P(y, y') / (P(y) P(y')) = n(y, y') / e(y, y'),    e(y, y') = n(y, .) n(., y') / n

n(y, y') is the observed count and e(y, y') the count expected of independent labels. A constant k, added to both, pulls
the rate of a rare pair towards 1. A pair that was never seen scores low only if it was expected:

    edge(y, y') = weight * log((n(y, y') + k) / (e(y, y') + k))
"""

from __future__ import annotations

import numpy as np

from corate import portable_math
from corate.counting.counts import PairCounts
from corate.label_pairs import EdgeScores, LabelPairs

__all__ = ["edge_scores"]


def edge_scores(pairs: PairCounts, n_labels: int, k: float, weight: float = 1.0) -> EdgeScores:
    """Weighted log co-occurrence rates, smoothed with ``k``.

    >>> pairs = PairCounts(*(np.array(a) for a in ([0, 1, 2], [1, 2, 0], [2, 2, 2])))  # 0 1, 0 1 as sentences
    >>> edges = edge_scores(pairs, 2, k=0.5).dense()
    >>> bool(edges[0, 1] > 0 > edges[1, 0])
    True
    """
    size = n_labels + 1
    row = np.bincount(pairs.origin, weights=pairs.counts, minlength=size)
    col = np.bincount(pairs.to, weights=pairs.counts, minlength=size)
    total = max(float(row.sum()), 1.0)
    expected = row[pairs.origin] * col[pairs.to] / total
    scores = weight * portable_math.log((pairs.counts + k) / (expected + k))
    scale = np.sqrt(total * k)
    return EdgeScores(
        LabelPairs(n_labels).offsets(pairs.origin),
        pairs.to,
        scores.astype(np.float32),
        (row / scale).astype(np.float32),
        (col / scale).astype(np.float32),
        weight,
    )
