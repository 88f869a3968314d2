"""The errors of the algebra: invalid expressions, paths that break a separation, undefined rates."""

from __future__ import annotations

from collections.abc import Sequence

from corate.errors import DataError

__all__ = ["ExpressionError", "SeparationError", "UndefinedRateError"]


class ExpressionError(DataError):
    """An expression or a graph cannot be read, or a theorem does not apply to an expression."""


class SeparationError(DataError):
    """The graph does not have the independence that a theorem requires.

    ``path`` has the nodes of a path between the variables that should be independent.
    """

    def __init__(self, message: str, path: Sequence[str]) -> None:
        super().__init__(message)
        self.path = tuple(path)

    def __reduce__(self) -> tuple[type[SeparationError], tuple[str, tuple[str, ...]]]:
        return type(self), (str(self), self.path)


class UndefinedRateError(DataError):
    """The value of an expression is undefined, because a probability in a denominator is zero."""
