"""Training: one module per method. :mod:`corate.training.train` has the functions that users call."""
