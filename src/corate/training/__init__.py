"""Training: one module a method. :mod:`corate.training.api` has the functions that users call."""
