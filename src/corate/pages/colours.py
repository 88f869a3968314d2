"""The colours of labels."""

from __future__ import annotations

from collections.abc import Sequence

from corate.spans import are_spans, parse

__all__ = ["HUES", "hues"]

#: How many colours the style sheet has for types of labels.
HUES = 12


def hues(labels: Sequence[str]) -> list[int]:
    """The colour of each label: one for each type of span, none (-1) for ``O``.

    >>> hues(["O", "B-PER", "I-PER", "B-LOC"]), hues(["DET", "NOUN"])
    ([-1, 1, 1, 0], [0, 1])
    """
    if not are_spans(labels, strict=False):
        return [y % HUES for y in range(len(labels))]
    types = sorted({type_ for _, type_ in map(parse, labels) if type_})
    return [types.index(type_) % HUES if type_ else -1 for _, type_ in map(parse, labels)]
