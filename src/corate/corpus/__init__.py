"""Labelled sentences: columns of interned strings, ready-made features, data frames, tokenizing, and text on disk."""

from __future__ import annotations

from corate.corpus.corpus import (
    Attributes,
    Column,
    Corpus,
    StringTable,
    Token,
    check_corpus,
    default_names,
    feature_lists,
    listed,
    word_column,
)

__all__ = [
    "Attributes",
    "Column",
    "Corpus",
    "StringTable",
    "Token",
    "check_corpus",
    "default_names",
    "feature_lists",
    "listed",
    "word_column",
]
