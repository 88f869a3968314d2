"""Answers of random fields from arrays of scores: arrays in, arrays out. Names, states and files are elsewhere."""
