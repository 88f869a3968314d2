"""The comparison of methods is in `corate.evaluation.comparison`; this name of it goes with version 0.4."""

from __future__ import annotations

import warnings
from typing import Any

from corate.evaluation import comparison


def __getattr__(name: str) -> Any:
    value = getattr(comparison, name)
    warnings.warn("corate.comparison is now corate.evaluation.comparison", FutureWarning, stacklevel=2)
    return value
