"""The errors corate raises on purpose. Each says what is wrong, where, and what to do."""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "CorateError",
    "DataError",
    "FeatureError",
    "FeatureTypeError",
    "InterruptedWarning",
    "ModelError",
]


class CorateError(Exception):
    """The base class of the errors that Corate raises for input that it cannot use.

    >>> import corate
    >>> try:
    ...     corate.read("no-such-file.tsv")
    ... except corate.CorateError as error:
    ...     print(error)
    no such file: no-such-file.tsv
    """


class DataError(CorateError, ValueError):
    """The data cannot be used as it is. The message names the file, the line, the value and a remedy, where they apply.

    >>> import corate
    >>> corate.read(b"Ann NAME\\nsleeps\\n")
    Traceback (most recent call last):
    corate.errors.DataError: the given bytes, line 2: 1 column, but the rows before have 2; ...
    """


class ConfigError(DataError):
    """An argument or an option is unknown, is out of its range, or does not apply to the method. The message names it.

    Attributes:
        option: the name of the argument; None if the error is not about a single one.

    >>> import corate
    >>> corate.Polish(passes=0)
    Traceback (most recent call last):
    corate.errors.ConfigError: passes must be ...
    """

    def __init__(self, message: str, *, option: str | None = None) -> None:
        super().__init__(message)
        self.option = option


class FeatureError(CorateError, ValueError):
    """A template, or the name or value of a feature, cannot be used as it is.

    >>> import corate
    >>> corate.train(corate.read(b"Ann NAME\\n"), features=["sufix(word[0], 3)"])
    Traceback (most recent call last):
    corate.errors.FeatureError: unknown function 'sufix'; did you mean 'suffix'? ...
    """


class FeatureTypeError(FeatureError, TypeError):
    """A ready-made feature has a name or a value of the wrong type, such as None or a tuple."""


class ModelError(CorateError, ValueError):
    """A model file cannot be read or written, or a model cannot do what was asked.

    A file cannot be read if it is missing, damaged, written by a newer version, or not a model.

    >>> import corate
    >>> corate.train(corate.read(b"Ann NAME\\n")).entities(["Ann"])
    Traceback (most recent call last):
    corate.errors.ModelError: ...
    """


class InterruptedWarning(UserWarning):
    """Ctrl-C ended training early. The tagger has what was learned until then."""
