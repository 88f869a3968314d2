"""Training: one module a method. :mod:`corate.training.api` has the functions that users call."""

from corate.training.api import ARGUMENTS, METHODS, settings_of, train, update

__all__ = ["ARGUMENTS", "METHODS", "settings_of", "train", "update"]
