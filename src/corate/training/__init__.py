"""Training: one module per method. :mod:`corate.training.api` has the functions that users call."""
