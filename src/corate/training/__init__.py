"""Training: one module a method. :mod:`corate.training.api` has the functions that users call."""

from corate.training.api import train, update
from corate.training.methods import ARGUMENTS, METHODS, settings_of

__all__ = ["ARGUMENTS", "METHODS", "settings_of", "train", "update"]
