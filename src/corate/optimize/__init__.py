"""Optimisers: they know weights, values and gradients, and nothing of labels."""
