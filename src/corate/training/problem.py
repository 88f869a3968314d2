"""The node model of separate training: tokens as a maximum entropy model."""

from __future__ import annotations

from dataclasses import dataclass

from corate import _native
from corate.counting.counts import Tokens
from corate.counting.pooling import Candidates
from corate.types import F32, Csr, Ids

__all__ = ["Problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Tokens with their candidates, and a maximum entropy model with a weight for each seen (feature, label) pair."""

    tokens: Tokens
    candidates: Candidates
    nodes: _native.Nodes
    features: Csr
    values: F32 | None  # of the features; None: all are 1
    gold: Ids  # position of each token's label among its candidates
