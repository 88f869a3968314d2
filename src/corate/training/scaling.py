"""Numeric ready-made features in standard units, so that stochastic training does not depend on their units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from corate.corpus import Attributes, StringTable
from corate.model.chain import ChainModel
from corate.rows import owners_of
from corate.types import F64

__all__ = ["Scaling"]

#: An attribute with a smaller spread is not scaled: its weights could overflow.
LEAST_SPREAD = 1e-15


@dataclass(frozen=True, eq=False)
class Scaling:
    """The mean and the spread of attributes: a scaled value is ``(value - mean) / spread``.

    An attribute that some tokens do not have keeps 0 where it is, because there its value is 0: its mean is 0 and its
    spread is the root mean square. An attribute whose value is always 1 stays as it is.
    """

    names: StringTable
    mean: F64
    spread: F64

    @classmethod
    def of(cls, attributes: Attributes) -> Scaling:
        """The scaling of the attributes of a corpus.

        >>> scaling = Scaling.of(Attributes.of([{"w": "a", "x": 10.0, "y": 2.0}, {"w": "b", "x": 30.0}]))
        >>> scaling.names.to_list(), scaling.mean.tolist(), scaling.spread.tolist()
        (['w:a', 'x', 'y', 'w:b'], [0.0, 20.0, 0.0, 0.0], [1.0, 10.0, 2.0, 1.0])
        """
        n = len(attributes.names)
        mean, spread = np.zeros(n), np.ones(n)
        if attributes.values is not None:
            values = attributes.values.astype(np.float64)
            numeric = np.zeros(n, bool)
            numeric[attributes.ids[values != 1.0]] = True
            times = np.maximum(np.bincount(attributes.ids, minlength=n), 1)
            everywhere = numeric & (times == len(attributes.offsets) - 1)
            mean[everywhere] = (np.bincount(attributes.ids, values, n) / times)[everywhere]
            squares = np.bincount(attributes.ids, (values - mean[attributes.ids]) ** 2, n) / times
            constant = squares <= 1e-12 * mean**2  # its mean is not taken away: it would have no value left
            squares[constant] += mean[constant] ** 2
            mean[constant] = 0.0
            scaled = numeric & (squares > LEAST_SPREAD**2)
            spread[scaled] = np.sqrt(squares[scaled])
        return cls(attributes.names, mean, spread)

    def apply(self, attributes: Attributes) -> Attributes:
        """Attributes with scaled values. Unknown attributes keep their values."""
        if attributes.values is None:
            return attributes
        places = self.names.find(attributes.names)
        mean = np.where(places >= 0, self.mean[places], 0.0)[attributes.ids]
        spread = np.where(places >= 0, self.spread[places], 1.0)[attributes.ids]
        return replace(attributes, values=((attributes.values - mean) / spread).astype(np.float32))

    def undo(self, model: ChainModel) -> ChainModel:
        """The model that gives to unscaled values the scores that this one gives to scaled values."""
        rows, n = model.weights, len(self.names)
        end = int(rows.offsets[n])
        of_row = owners_of(rows.offsets[: n + 1])
        scores = rows.scores.astype(np.float64)
        scores[:end] /= self.spread[of_row]
        moved = np.bincount(rows.labels[:end], scores[:end] * self.mean[of_row], len(model.bias))
        weights = replace(rows, scores=scores.astype(np.float32))
        return replace(model, weights=weights, bias=(model.bias - moved).astype(np.float32))
