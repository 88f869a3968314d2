"""The interface of sklearn-crfsuite 0.5, with training and tagging by corate.

It needs scikit-learn (the extra ``sklearn``), which is imported with the first use of `CRF`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from corate.compat.sklearn_crfsuite.estimator import CRF

__all__ = ["CRF"]

if find_spec("sklearn") is None:
    raise ModuleNotFoundError(
        "corate.compat.sklearn_crfsuite needs scikit-learn; install it with: pip install 'corate[sklearn]'",
        name="sklearn",
    )

_MODULES = ("compat", "estimator", "metrics", "scorers", "trainer", "utils")


def __getattr__(name: str) -> Any:
    if name == "CRF":
        return import_module(f"{__name__}.estimator").CRF
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
