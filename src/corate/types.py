"""Array types that many modules use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["F32", "F64", "Csr", "Ids", "Offsets"]

#: Ids of labels, features, words or tokens.
Ids = NDArray[np.int32]
#: ``(rows + 1,)``: the start of each row of a ragged array, and the end of the last row.
Offsets = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
#: Rows of ids: row ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.
Csr = tuple[Offsets, Ids]
