"""Evaluation of predicted labels."""
