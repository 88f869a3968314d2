"""Counts, and what is derived from them. Every training method uses this package."""
