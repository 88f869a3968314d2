"""Small sequences of feature dicts for the tests of corate.compat."""

from __future__ import annotations

from typing import Any

from corate.demo.addresses import addresses

Features = list[list[Any]]
Labels = list[list[str]]


def token_features(tokens: list[str], i: int) -> dict[str, Any]:
    """Nested features with strings, numbers and booleans, some of them False."""
    token = tokens[i]
    beside = {"word": tokens[i + 1].lower()} if i + 1 < len(tokens) else "end"
    return {"word": token.lower(), "title": token.istitle(), "digits": sum(map(str.isdigit, token)) / 2, "next": beside}


def address_features(n: int, seed: int = 0) -> tuple[Features, Labels]:
    """The features and labels of made-up addresses."""
    lines = list(addresses(n, seed))
    words = [[token for token, _ in line] for line in lines]
    features = [[token_features(tokens, i) for i in range(len(tokens))] for tokens in words]
    return features, [[label for _, label in line] for line in lines]
