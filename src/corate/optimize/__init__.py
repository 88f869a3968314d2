"""Optimisers. They use weights, values and gradients only, not labels or features."""
