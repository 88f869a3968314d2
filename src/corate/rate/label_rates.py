"""The co-occurrence rates of neighbouring labels in a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corate import _native
from corate.corpus import Corpus
from corate.counting.counts import PairCounts, label_ids
from corate.counting.rates import edge_scores
from corate.rate.counted import Counts
from corate.rate.heatmap import HeatMap
from corate.types import F64

__all__ = ["LabelRates"]


@dataclass(frozen=True, eq=False)
class LabelRates:
    """The logarithms of the rates of all label pairs, also of unseen ones, and of the probabilities by chance."""

    heat: HeatMap
    chance: F64

    @classmethod
    def of(cls, corpus: Corpus, smooth: float = 0.5) -> LabelRates:
        """Count a text; ``smooth`` is added to the observed and the expected count.

        >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]] * 3)
        >>> LabelRates.of(corpus, 0).ordered()[0]
        ('DET', 'NOUN', 1.0986122886681098, 3.0000000000000004)
        """
        counts = Counts.label_pairs(corpus)
        if smooth > 0:
            table, ids = label_ids(corpus)
            counted = PairCounts(*_native.count_pairs(ids, corpus.offsets, len(table)))
            logs = edge_scores(counted, len(table), smooth).dense().astype(np.float64)
        else:
            logs = counts.log_table("CR(label; next)")[1]
        labels = [str(label) for label in counts.states["label"][:-1]]
        return cls(HeatMap.of_labels(labels, logs), counts.log_table("P(label) P(next)")[1])

    def ordered(self) -> list[tuple[str, str, float, float]]:
        """All pairs, each with its log-rate and its rate, the highest first; of unseen pairs, likely ones are last."""
        logs, rows, columns = self.heat.logs.ravel()[:-1].astype(np.float64), self.heat.rows, self.heat.columns
        order = np.lexsort((self.chance.ravel()[:-1], -logs))
        numbers = zip(order.tolist(), logs[order].tolist(), np.exp(logs[order]).tolist(), strict=True)
        return [(rows[k // len(columns)], columns[k % len(columns)], log, rate) for k, log, rate in numbers]
