"""The errors corate raises on purpose. Each says what is wrong, where, and what to do."""

from __future__ import annotations

__all__ = ["ConfigError", "CorateError", "DataError", "FeatureError", "FeatureTypeError", "ModelError"]


class CorateError(Exception):
    """Base of all errors raised by corate for reasons a user can act on."""


class DataError(CorateError, ValueError):
    """The data cannot be used as given: the message names the file, the line, the value and a remedy."""


class ConfigError(DataError):
    """An argument or an option is unknown, out of its range, or not for the method: the message names it.

    ``option`` is the name of the argument where the error is about one.
    """

    def __init__(self, message: str, *, option: str | None = None) -> None:
        super().__init__(message)
        self.option = option


class FeatureError(CorateError, ValueError):
    """A template or a feature value cannot be used as given."""


class FeatureTypeError(FeatureError, TypeError):
    """A ready-made feature has a name or a value of the wrong type, such as None or a tuple."""


class ModelError(CorateError, ValueError):
    """A model file is damaged, too new or of another program, or a model does not support what was asked."""
