"""Pickles of version 0.2 name this module; see `corate.corpus.attributes`."""

from corate.corpus.attributes import Attributes, ItemSequence

__all__ = ["Attributes", "ItemSequence"]
