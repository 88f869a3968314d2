"""The errors of the algebra: invalid expressions, paths that break a separation, undefined rates."""

from __future__ import annotations

from collections.abc import Sequence

from corate.errors import DataError

__all__ = ["ExpressionError", "SeparationError", "UndefinedRateError"]


class ExpressionError(DataError):
    """An expression, a graph or a target of a theorem cannot be used as written."""


class SeparationError(DataError):
    """The graph lacks the independence that a theorem needs; ``path`` is the path that breaks it."""

    def __init__(self, message: str, path: Sequence[str]) -> None:
        super().__init__(message)
        self.path = tuple(path)

    def __reduce__(self) -> tuple[type[SeparationError], tuple[str, tuple[str, ...]]]:
        return type(self), (str(self), self.path)


class UndefinedRateError(DataError):
    """A co-occurrence rate or a quotient is undefined: a probability in a denominator is zero."""
