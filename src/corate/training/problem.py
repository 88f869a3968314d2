"""What separate training is given and can be tuned by: its settings, and tokens as a maximum entropy problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from corate import _native
from corate.counting.counts import Tokens
from corate.counting.pooling import Candidates
from corate.types import F32, Csr, Ids

__all__ = ["Problem", "SeparateParameters"]

#: The usual weight of each base.
SEPARATE_TEMPERS = {"default": 0.4, "pooled": 0.7, "paper": 0.7, "none": 0.0}
#: With fewer tokens more passes are made.
FEW_TOKENS = 100_000

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class SeparateParameters:
    """What separate training can be tuned by."""

    sigma2: float = 1.0  # variance of the Gaussian prior of the weights
    edge_sigma2: float = 1.0  # the same for pairs
    rate: float = 0.15  # first step of AdaGrad
    passes: int = 0  # over the nodes; 0: three, and more where there are few tokens
    half_passes: int = 0  # over each half, for the nodes that the pairs are fitted on; 0: two, or more
    pair_passes: int = 0  # over the pairs; 0: three, or more
    temper: float = -1.0  # weight of the empirical scores that the nodes start from; below 0: that of the base
    cutoff: int = 1  # features seen less often are left out
    coupling: float = 0.8  # weight of the edges; tuned

    def completed(self, tokens: int, base: str) -> SeparateParameters:
        """With what was not chosen: passes, so many that small corpora are seen often enough, and the base's weight."""
        more = int(np.clip(np.sqrt(FEW_TOKENS / max(1, tokens)), 1, 3))
        usual = {"passes": 3 * more, "half_passes": 2 * more, "pair_passes": 3 * more}
        chosen = replace(self, **{name: n for name, n in usual.items() if getattr(self, name) == 0})
        return replace(chosen, temper=SEPARATE_TEMPERS[base]) if self.temper < 0 or base == "none" else chosen


@dataclass(frozen=True, eq=False)
class Problem:
    """Tokens with their candidates, as a maximum entropy model over the slots of seen (feature, label) pairs."""

    tokens: Tokens
    candidates: Candidates
    nodes: _native.Nodes
    features: Csr
    values: F32 | None  # of the features, where some are not 1
    gold: Ids  # position of each token's label among its candidates
