"""Parts of labels: the fields of ``NOUN|Case=Gen|Number=Sing``, and the prefix and the type of ``B-PER``.

Labels that share a part share its weights, so a feature also says something about labels that it was not seen with.
Columns of weights are labels, then parts: part p is column K + p. ``native/core/label_parts.h`` has the formulas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.rows import offsets_of, owners_of
from corate.spans import are_spans
from corate.strings import StringTable
from corate.types import F32, Csr, Ids

__all__ = ["LabelParts", "split_label"]


def split_label(label: str, *, spans: bool = False) -> tuple[str, ...]:
    """The parts of a label, each once. With ``spans``, labels such as B-PER are split at the hyphen.

    >>> split_label("NOUN|Case=Gen|Number=Sing"), split_label("B-PER", spans=True)
    (('NOUN', 'Case=Gen', 'Number=Sing'), ('B-', '-PER'))
    """
    if spans and label[1:2] == "-":
        return (label[:2], label[1:])
    return tuple(dict.fromkeys(label.split("|")))


@dataclass(frozen=True, eq=False)
class LabelParts:
    """The parts that labels share: label ``y`` has the parts ``ids[offsets[y]:offsets[y + 1]]``, ascending."""

    names: StringTable
    offsets: NDArray[np.int64]
    ids: Ids

    @classmethod
    def of(cls, labels: Sequence[str], earlier: Sequence[str] = ()) -> LabelParts:
        """The ``earlier`` parts, and then those that at least two of the labels have.

        >>> parts = LabelParts.of(["NOUN|Case=Gen", "NOUN|Case=Nom", "ADJ|Case=Gen"])
        >>> parts.names.to_list(), parts.offsets.tolist(), parts.ids.tolist()
        (['NOUN', 'Case=Gen'], [0, 2, 3, 4], [0, 1, 0, 1])
        """
        spans = are_spans(labels, strict=False)
        split = [split_label(label, spans=spans) for label in labels]
        counts = Counter(part for parts in split for part in parts)
        names = list(dict.fromkeys([*earlier, *(part for part, n in counts.items() if n > 1)]))
        places = {part: i for i, part in enumerate(names)}
        rows = [sorted(places[part] for part in parts if part in places) for parts in split]
        return cls(
            StringTable.intern(names)[0],
            offsets_of(np.array([len(row) for row in rows], dtype=np.int64)),
            np.array([i for row in rows for i in row], dtype=np.int32),
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.offsets) - 1

    def arrays(self) -> tuple[NDArray[np.int64], Ids, int]:
        """What the native code takes: the parts of each label, and the number of parts."""
        return self.offsets, self.ids, len(self)

    def with_columns(self, offsets: NDArray[np.int64], labels: Ids) -> Csr:
        """Rows of labels with the columns of their parts added.

        >>> parts = LabelParts.of(["N|Gen", "N|Nom", "A|Gen"])
        >>> [a.tolist() for a in parts.with_columns(np.array([0, 1, 3]), np.array([2, 0, 1], np.int32))]
        [[0, 2, 6], [2, 4, 0, 1, 3, 4]]
        """
        return _native.with_part_columns((offsets, labels), self.arrays())

    def folded(self, scores: F32) -> F32:
        """Scores of labels from scores of columns: the scores of its parts are added to that of a label.

        >>> LabelParts.of(["N|Gen", "N|Nom", "A|Gen"]).folded(np.array([1, 2, 3, 10, 20], np.float32)).tolist()
        [31.0, 12.0, 23.0]
        """
        k = self.n_labels
        return np.asarray(
            scores[:k] + np.bincount(owners_of(self.offsets), scores[k + self.ids], minlength=k), dtype=np.float32
        )
