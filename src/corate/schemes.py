"""Label schemes: chunks (entities, phrases) written as one label a token, in IOB1, IOB2 or IOBES.

A chunk label is a letter, a hyphen and a type (``B-LOC``), or the letter alone where there is one type; ``O`` is
outside every chunk.

    ======  ===================================================================================
    IOB1    ``I`` in a chunk; ``B`` only at the start of one that follows another of its type
    IOB2    ``B`` at the start, ``I`` on the rest
    IOBES   ``B`` at the start, ``I`` inside, ``E`` at the end, ``S`` on a chunk of one token
    ======  ===================================================================================

The letters of BILOU (``L``, ``U``) and BMEWO (``M``, ``W``) are read as their IOBES equals. Chunks are found as
conlleval finds them, whatever the scheme, so a labelling that breaks its scheme has chunks too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus
from corate.errors import DataError

__all__ = ["SCHEMES", "Span", "convert", "convert_corpus", "detect", "spans"]

#: The letters of each scheme, besides O.
SCHEMES = {"IOB1": "IB", "IOB2": "IB", "IOBES": "IBES"}

_CHUNK_LABEL = re.compile(r"([BIESLUMW])(?:-(.*))?", re.DOTALL)
_EQUAL = {"L": "E", "U": "S", "M": "I", "W": "S"}


class Span(NamedTuple):
    """A chunk: tokens ``start`` to ``stop`` (not with it) and the type.

    >>> Span(2, 4, "LOC")
    Span(start=2, stop=4, type='LOC')
    """

    start: int
    stop: int
    type: str


@lru_cache(maxsize=1 << 16)
def _parse(label: str) -> tuple[str, str]:
    """The letter and the type of a label; ``("O", "")`` outside, ``("", "")`` if it is no chunk label."""
    if label == "O":
        return "O", ""
    match = _CHUNK_LABEL.fullmatch(label)
    if match is None:
        return "", ""
    letter = match[1]
    return _EQUAL.get(letter, letter), match[2] or ""


def spans(sequence: Sequence[str]) -> list[Span]:
    """The chunks of a labelling, from left to right, exactly as conlleval counts them (``E`` and ``S`` as in seqeval).

    A chunk ends after ``E`` and ``S``, before ``B``, ``S`` and ``O``, and where the type changes; any other label
    but ``O`` goes on with the chunk before it, or starts one. A label of no scheme is outside.

    >>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [Span(start=0, stop=2, type='PER'), Span(start=3, stop=4, type='LOC'), Span(start=4, stop=5, type='LOC')]
    """
    found: list[Span] = []
    start, before, kind = -1, "O", ""  # start of the open chunk, or -1; letter and type of the token before
    for i, label in enumerate(sequence):
        letter, type_ = _parse(label)
        goes_on = start >= 0 and letter in ("I", "E") and type_ == kind and before in ("B", "I")
        if start >= 0 and not goes_on:
            found.append(Span(start, i, kind))
            start = -1
        if start < 0 and letter not in ("O", ""):
            start = i
        before, kind = letter, type_
    if start >= 0:
        found.append(Span(start, len(sequence), kind))
    return found


def detect(labels: Iterable[Sequence[str]]) -> str | None:
    """The scheme of labelled sentences, None for plain tags: ``"IOB1"``, ``"IOB2"`` or ``"IOBES"``.

    Every label must be a chunk label or ``O``. Where only ``B`` and ``I`` occur, it is IOB1 if more chunks start
    with ``I`` than start with a ``B`` that IOB1 would not write; so a few broken sentences do not matter.

    >>> detect([["B-PER", "I-PER", "O"]]), detect([["I-PER", "I-PER", "O"]]), detect([["S-PER"]])
    ('IOB2', 'IOB1', 'IOBES')
    >>> detect([["DT", "NN"]]) is None
    True
    """
    letters: set[str] = set()
    typed: set[bool] = set()
    by_i = by_b = 0
    for sequence in labels:
        before, kind = "O", ""
        for label in sequence:
            letter, type_ = _parse(label)
            if not letter:
                return None
            if letter != "O":
                typed.add(bool(type_))
                adjacent = before != "O" and type_ == kind
                by_i += letter == "I" and not adjacent
                by_b += letter == "B" and not adjacent
            letters.add(letter)
            before, kind = letter, type_
    if len(typed) != 1 or (typed == {False} and "B" not in letters):
        return None
    if letters & {"E", "S"}:
        return "IOBES"
    return "IOB1" if by_i > by_b else "IOB2"


def convert(sequence: Sequence[str], to: str, from_: str | None = None) -> list[str]:
    """The same chunks in another scheme.

    ``from_`` is the scheme the labels must be in; a label of another is then an error. Without it any will do.

    >>> convert(["I-PER", "I-PER", "O", "I-LOC", "B-LOC"], "IOB2")
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-LOC']
    >>> convert(["B-PER", "I-PER", "O", "B-LOC"], "IOBES")
    ['B-PER', 'E-PER', 'O', 'S-LOC']
    """
    _check_scheme(to)
    letters = "IBES" if from_ is None else _check_scheme(from_)
    for label in sequence:
        letter = _parse(label)[0]
        if not letter or letter not in "O" + letters:
            raise DataError(
                f"the label {label!r} is none of {from_ or 'IOB1, IOB2 or IOBES'}; plain tags have no chunks"
            )
    labels = ["O"] * len(sequence)
    stop_before, type_before = -1, ""
    for start, stop, type_ in spans(sequence):
        follows = start == stop_before and type_ == type_before
        for i, letter in enumerate(_letters(stop - start, to, follows=follows), start):
            labels[i] = f"{letter}-{type_}" if type_ else letter
        stop_before, type_before = stop, type_
    return labels


def _check_scheme(scheme: str) -> str:
    if scheme not in SCHEMES:
        raise DataError(f"unknown label scheme {scheme!r}; there are {', '.join(SCHEMES)}")
    return SCHEMES[scheme]


def _letters(length: int, scheme: str, *, follows: bool) -> str:
    """The letters of one chunk; ``follows`` says that one of its type ends just before it."""
    if scheme == "IOB1":
        return ("B" if follows else "I") + "I" * (length - 1)
    if scheme == "IOB2":
        return "B" + "I" * (length - 1)
    return "S" if length == 1 else "B" + "I" * (length - 2) + "E"


def convert_corpus(corpus: Corpus, to: str) -> Corpus:
    """A corpus with its labels in another scheme; an error if they are plain tags.

    >>> corpus = Corpus.from_sentences([[("Ann", "I-PER"), ("sleeps", "O")]])
    >>> convert_corpus(corpus, "IOBES").labels_of(0)
    ['S-PER', 'O']
    """
    labels = corpus.require_labels()
    strings = labels.strings.to_list()
    numbers: dict[str, int] = {}
    done: dict[bytes, NDArray[np.int32]] = {}
    parts: list[NDArray[np.int32]] = []
    bounds = corpus.offsets.tolist()
    for start, stop in itertools.pairwise(bounds):
        ids = labels.ids[start:stop]
        key = ids.tobytes()
        if key not in done:
            converted = convert([strings[i] for i in ids.tolist()], to)
            done[key] = np.asarray([numbers.setdefault(x, len(numbers)) for x in converted], dtype=np.int32)
        parts.append(done[key])
    table = Column.of(labels.name, numbers).strings
    ids = np.concatenate(parts) if parts else labels.ids
    return Corpus(corpus.columns, corpus.offsets, Column(labels.name, ids, table), corpus.attributes)
