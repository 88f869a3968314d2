"""The problem that separate training solves for its nodes: tokens as a maximum entropy model."""

from __future__ import annotations

from dataclasses import dataclass

from corate import _native
from corate.counting.counts import Tokens
from corate.counting.pooling import Candidates
from corate.types import F32, Csr, Ids

__all__ = ["Problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Tokens with their candidates, as a maximum entropy model over the slots of seen (feature, label) pairs."""

    tokens: Tokens
    candidates: Candidates
    nodes: _native.Nodes
    features: Csr
    values: F32 | None  # of the features, where some are not 1
    gold: Ids  # position of each token's label among its candidates
