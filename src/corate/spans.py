"""The rules of spans (entities, phrases), with one label per token: IOB1, IOB2, IOBES, BILOU, BMEWO and BMES.

A span label is a prefix, a hyphen and a type (``B-LOC``), or only the prefix if there is one type. ``O`` is outside
every span.

    ======  ===================================================================================
    IOB1    ``I`` in a span; ``B`` only at the start of a span directly after one of its type
    IOB2    ``B`` at the start, ``I`` on the other tokens
    IOBES   ``B`` at the start, ``I`` inside, ``E`` at the end, ``S`` on a span of one token
    BILOU   as IOBES, with ``L`` for ``E`` and ``U`` for ``S``
    BMEWO   as IOBES, with ``M`` for ``I`` and ``W`` for ``S``
    BMES    as IOBES, with ``M`` for ``I``; usual in the segmentation of words
    ======  ===================================================================================

Spans are found as conlleval finds them, for every scheme, so a labelling that violates its scheme has spans, too. One
rule holds for all schemes, where the prefixes of each have the roles B, I, E and S of IOBES:

    a token continues the span of the token before it if both have the same type, the token before it is B or I (its
    span is open), and the token itself is I or E (it does not begin a span)

Only this module interprets span labels: `parse` splits a label, `are_spans` distinguishes span labels from plain tags,
and `SpanLabels` has the rule for arrays of label ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corate.errors import DataError
from corate.types import Ids

__all__ = [
    *("SCHEMES", "Span", "SpanLabels", "are_spans", "convert", "detect", "parse", "scheme_with", "spans"),
    "written",
]

#: The prefixes of each scheme: inside, start and, if the scheme has them, end and single token.
SCHEMES = {"IOB1": "IB", "IOB2": "IB", "IOBES": "IBES", "BILOU": "IBLU", "BMEWO": "MBEW", "BMES": "MBES"}

_SPAN_LABEL = re.compile(r"([BIESLUMW])(?:-(.*))?", re.DOTALL)
_EQUAL = {"L": "E", "U": "S", "M": "I", "W": "S"}
#: The roles that begin a span in any case, and those that end one; the roles that leave a span open, and those that
#: go on with it.
_OPENS, _CLOSES = ("B", "S"), ("E", "S")
_OPEN, _GOES_ON = ("B", "I"), ("I", "E")
#: Prefixes that can start a span. A set of labels without any of them has no spans.
_STARTS = ("B-", "I-", "S-", "U-", "W-")


class Span(NamedTuple):
    """A span: tokens ``start`` to ``stop`` (exclusive) and the type.

    >>> Span(2, 4, "LOC")
    Span(start=2, stop=4, type='LOC')
    """

    start: int
    stop: int
    type: str


@lru_cache(maxsize=1 << 16)
def parse(label: str) -> tuple[str, str]:
    """The role of a label (B, I, E or S; O outside; empty if it is not a span label) and its type, which may be empty.

    The prefixes of BILOU, BMEWO and BMES have the roles of the equivalent IOBES prefixes.

    >>> parse("B-LOC"), parse("W-LOC"), parse("O"), parse("NN")
    (('B', 'LOC'), ('S', 'LOC'), ('O', ''), ('', ''))
    """
    if label == "O":
        return "O", ""
    match = _SPAN_LABEL.fullmatch(label)
    if match is None:
        return "", ""
    return _EQUAL.get(match[1], match[1]), match[2] or ""


def _continues(before: tuple[str, str], after: tuple[str, str]) -> bool:
    """Whether a token continues the span of the token before it, given what `parse` says about their labels."""
    return before[0] in _OPEN and after[0] in _GOES_ON and before[1] == after[1]


@dataclass(frozen=True, eq=False)
class SpanLabels:
    """What labels say about spans, by label id.

    ``kind`` is the place of a label's type among the ``types``, -1 for labels outside all spans. ``opens`` marks the
    labels that begin a span in any case (B, S), ``closes`` those that end one (E, S).

    >>> labels = SpanLabels.of(["O", "B-LOC", "I-LOC", "S-PER"])
    >>> labels.types, labels.kind.tolist(), labels.opens.tolist(), labels.closes.tolist()
    (['LOC', 'PER'], [-1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 1])
    """

    types: list[str]
    kind: Ids
    opens: NDArray[np.uint8]
    closes: NDArray[np.uint8]

    @classmethod
    def of(cls, labels: Sequence[str], *, typed: bool = False) -> SpanLabels:
        """From the labels by id. Where spans must be ``typed``, a label without a type is outside, as in conlleval."""
        parsed = [parse(label) for label in labels]
        inside = [role not in ("", "O") and bool(type_ or not typed) for role, type_ in parsed]
        types = list(dict.fromkeys(type_ for (_, type_), own in zip(parsed, inside, strict=True) if own))
        places = {name: i for i, name in enumerate(types)}
        kind = [places[type_] if own else -1 for (_, type_), own in zip(parsed, inside, strict=True)]
        opens, closes = (
            np.array([own and role in found for (role, _), own in zip(parsed, inside, strict=True)], np.uint8)
            for found in (_OPENS, _CLOSES)
        )
        return cls(types, np.array(kind, np.int32), opens, closes)

    def arrays(self) -> tuple[Ids, NDArray[np.uint8], NDArray[np.uint8]]:
        """The arrays that the native code takes."""
        return self.kind, self.opens, self.closes

    def continues(self, before: NDArray[np.integer[Any]], after: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Whether tokens with labels ``after`` continue the spans of tokens with labels ``before``."""
        kind = self.kind[after]
        return np.asarray(
            (self.kind[before] == kind) & (kind >= 0) & (self.closes[before] == 0) & (self.opens[after] == 0)
        )

    def find(
        self, ids: NDArray[np.integer[Any]], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The spans of labelled sentences: first tokens, ends (one past the last), and types.

        >>> labels = SpanLabels.of(["O", "I-X", "B-X"])
        >>> [array.tolist() for array in labels.find(np.array([0, 1, 1, 2, 1]), np.array([0, 4, 5]))]
        [[1, 3, 4], [3, 4, 5], [0, 0, 0]]
        """
        inside = self.kind[ids] >= 0
        begins = inside.copy()
        begins[1:] &= ~self.continues(ids[:-1], ids[1:])
        firsts = offsets[:-1][offsets[:-1] < len(ids)]
        begins[firsts] = inside[firsts]
        ends = inside.copy()
        ends[:-1] &= begins[1:] | ~inside[1:]
        starts = np.flatnonzero(begins)
        return starts, np.flatnonzero(ends) + 1, self.kind[ids[starts]].astype(np.int64)

    def invalid(self, scheme: str) -> NDArray[np.bool_]:
        """The pairs of neighbouring labels that a scheme does not allow, (K + 1, K + 1).

        Label K is the boundary of a sentence. Labels that are not span labels count as ``O``.

        >>> SpanLabels.of(["O", "B-X", "I-X"]).invalid("IOB2").astype(int).tolist()
        [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
        """
        kind = np.append(self.kind, -1)
        opens, closes = np.append(self.opens, 0) > 0, np.append(self.closes, 0) > 0
        open_left, goes_on = (kind >= 0) & ~closes, (kind >= 0) & ~opens
        after_open = (kind[:, None] == kind) & open_left[:, None]
        if scheme in ("IOB1", "IOB2"):
            return np.asarray((opens if scheme == "IOB1" else goes_on) & ~after_open)
        return np.asarray((goes_on & ~after_open) | (open_left[:, None] & ~(after_open & goes_on)))


def are_spans(labels: Iterable[str], *, strict: bool = True) -> bool:
    """Whether labels mark spans: each is ``O`` or a prefix with a type, and one has a prefix that can start a span.

    Prefixes without a type (``B``, ``S``) do not count: many sets of plain tags have such names. With ``strict=False``,
    one label ``B-...`` or ``I-...`` is enough if at least half of the labels are ``O`` or have a prefix. Other labels
    (unknown ones, typos) are ignored, but ``I-`` may be the tag of interjections among other tags.

    >>> are_spans(["O", "B-NP", "I-NP"]), are_spans(["O", "W-PER"]), are_spans(["IN", "WP", "S-TL"])
    (True, True, False)
    >>> are_spans(["O", "B-NP", "?"]), are_spans(["O", "B-NP", "?"], strict=False)
    (False, True)
    >>> are_spans(["N-|---NSM", "V-|3AAI-S", "C-|-----", "I-|-----"], strict=False)
    False
    """
    names = list(labels)
    typed = sum(name == "O" or bool(parse(name)[1]) for name in names)
    if not strict and any(name.startswith(("B-", "I-")) for name in names):
        return 2 * typed >= len(names)
    return typed == len(names) and any(name.startswith(_STARTS) for name in names)


def spans(sequence: Sequence[str]) -> list[Span]:
    """The spans of a labelling, from left to right, exactly as conlleval counts them (``E`` and ``S`` as in seqeval).

    A span ends after ``E`` and ``S``, before ``B``, ``S`` and ``O``, and when the type changes. Any other label except
    ``O`` continues the span before it, or starts one. A label that is not a span label is outside.

    >>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [Span(start=0, stop=2, type='PER'), Span(start=3, stop=4, type='LOC'), Span(start=4, stop=5, type='LOC')]
    """
    found: list[Span] = []
    start, before = -1, ("O", "")  # start of the open span, or -1; role and type of the previous token
    for i, label in enumerate(sequence):
        here = parse(label)
        if start >= 0 and not _continues(before, here):
            found.append(Span(start, i, before[1]))
            start = -1
        if start < 0 and here[0] not in ("O", ""):
            start = i
        before = here
    if start >= 0:
        found.append(Span(start, len(sequence), before[1]))
    return found


def detect(labels: Iterable[Sequence[str]]) -> str | None:
    """The scheme of labelled sentences, one of `SCHEMES`, or None for plain tags.

    Every label must be a span label or ``O``. If only ``B`` and ``I`` occur, the scheme is IOB1 if more spans start
    with ``I`` than with a ``B`` that IOB1 does not use; so a few wrong sentences do not matter. Prefixes that
    no scheme has together give IOBES.

    >>> detect([["B-PER", "I-PER", "O"]]), detect([["I-PER", "I-PER", "O"]]), detect([["S-PER"]]), detect([["W-PER"]])
    ('IOB2', 'IOB1', 'IOBES', 'BMEWO')
    >>> detect([["B", "M", "E", "S"]])
    'BMES'
    >>> detect([["DT", "NN"]]) is None
    True
    """
    prefixes: set[str] = set()
    typed: set[bool] = set()
    by_i = by_b = 0
    for sequence in labels:
        before, kind = "O", ""
        for label in sequence:
            role, type_ = parse(label)
            if not role:
                return None
            if role != "O":
                prefixes.add(label[0])
                typed.add(bool(type_))
                adjacent = before != "O" and type_ == kind
                by_i += role == "I" and not adjacent
                by_b += role == "B" and not adjacent
            before, kind = role, type_
    if len(typed) != 1 or (typed == {False} and "B" not in prefixes):
        return None
    if prefixes <= set("BI"):
        return "IOB1" if by_i > by_b else "IOB2"
    return scheme_with(prefixes) or "IOBES"


def scheme_with(prefixes: Iterable[str]) -> str | None:
    """The first scheme, except IOB1 and IOB2, that has all these prefixes; None if there is none.

    >>> scheme_with("BMES"), scheme_with("BES"), scheme_with("BIM")
    ('BMES', 'IOBES', None)
    """
    ending = [scheme for scheme, letters in SCHEMES.items() if len(letters) == 4]
    return next((scheme for scheme in ending if set(prefixes) <= set(SCHEMES[scheme])), None)


def convert(sequence: Sequence[str], to: str, from_: str | None = None) -> list[str]:
    """The same spans in another scheme.

    With ``from_``, a label with a prefix of another scheme raises DataError. Without it, all prefixes are valid.

    >>> convert(["I-PER", "I-PER", "O", "I-LOC", "B-LOC"], "IOB2")
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-LOC']
    >>> convert(["B-PER", "I-PER", "O", "B-LOC"], "BMEWO")
    ['B-PER', 'E-PER', 'O', 'W-LOC']
    """
    _check_scheme(to)
    allowed = "OBIESLUMW" if from_ is None else "O" + _check_scheme(from_)
    for label in sequence:
        if not parse(label)[0] or label[0] not in allowed:
            raise DataError(f"the label {label!r} is not in {from_ or ', '.join(SCHEMES)}; plain tags have no spans")
    return written(spans(sequence), len(sequence), to)


def written(found: Iterable[Span], length: int, scheme: str = "IOB2") -> list[str]:
    """The labels of a sentence of so many tokens that mark these spans, which are given from left to right.

    >>> written([Span(0, 2, "PER"), Span(3, 4, "LOC")], 4)
    ['B-PER', 'I-PER', 'O', 'B-LOC']
    """
    labels = ["O"] * length
    stop_before, type_before = -1, ""
    for start, stop, type_ in found:
        follows = start == stop_before and type_ == type_before
        for i, prefix in enumerate(_prefixes(stop - start, scheme, follows=follows), start):
            labels[i] = f"{prefix}-{type_}" if type_ else prefix
        stop_before, type_before = stop, type_
    return labels


def _check_scheme(scheme: str) -> str:
    if scheme not in SCHEMES:
        raise DataError(f"unknown label scheme {scheme!r}; choose one of {', '.join(SCHEMES)}")
    return SCHEMES[scheme]


def _prefixes(length: int, scheme: str, *, follows: bool) -> str:
    """The prefixes of one span; ``follows`` means that a span of the same type ends directly before it."""
    if scheme == "IOB1":
        return ("B" if follows else "I") + "I" * (length - 1)
    if scheme == "IOB2":
        return "B" + "I" * (length - 1)
    inside, start, end, single = tuple(SCHEMES[scheme])
    return single if length == 1 else start + inside * (length - 2) + end
