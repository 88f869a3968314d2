"""The layout of CRFsuite's model files: chains of the first order over ready-made attributes.

    score(y | x) = sum_j sum_a value_j(a) state(a, y_j) + sum_i transition(y_i, y_i+1)

A file has a header of 48 bytes and five chunks: the weights of both kinds that are not zero (FEAT), the labels and the
attributes (CQDB, see `corate.model.crfsuite.cqdb`), and for each label (LFRF) and each attribute (AFRF) the numbers
of its weights. All numbers are little-endian; places are 32-bit and count from the start of the file. There is no hash,
so every number is checked before it is used.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate.corpus import StringTable
from corate.display import counted
from corate.errors import ModelError
from corate.model.crfsuite import cqdb
from corate.model.crfsuite.cqdb import Bytes, FileBytes, check_size, chunk_at, refuse, words_at
from corate.rows import offsets_of
from corate.types import F64

__all__ = ["HEADER_SIZE", "MAGIC", "CrfsuiteModel", "Weights", "decode", "encode", "header_of"]

#: The first bytes of a file.
MAGIC = b"lCRF"
_KIND = b"FOMC"  # chains of the first order
_VERSION = 100
# Magic bytes, size of the file, kind, version, number of features (not used), of labels and of attributes; places of
# FEAT, of the labels, of the attributes, of LFRF and of AFRF.
_HEADER = struct.Struct("<4sI4s9I")
HEADER_SIZE = _HEADER.size
_CHUNK = struct.Struct("<4sII")  # name, size, number of entries
_WEIGHT = np.dtype([("kind", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])
_STATE, _TRANSITION = 0, 1
#: LFRF has two more rows than labels, for the ends of a sentence; they are empty.
_ENDS = 2


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of (source, label), ascending; the source is an attribute or the previous label."""

    sources: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: F64

    def offsets(self, n_sources: int) -> NDArray[np.int64]:
        """Where the weights of each source start, and the end of the last."""
        return offsets_of(np.bincount(self.sources, minlength=n_sources))


@dataclass(frozen=True, eq=False)
class CrfsuiteModel:
    """What a CRFsuite model file holds."""

    labels: StringTable
    attributes: StringTable
    states: Weights
    transitions: Weights


# -- reading ---------------------------------------------------------------------------------------------------------


def decode(content: Bytes | FileBytes) -> CrfsuiteModel:
    """The model in the bytes of a file. Raises ModelError if they are not one.

    The attributes of the model may be equal, which the tagger refuses.
    """
    if len(content) < _HEADER.size:
        refuse(f"it has only {counted(len(content), 'byte')}")
    magic, size, kind, version, _, n_labels, n_attributes, *places = _HEADER.unpack(content[: _HEADER.size].data)
    if magic != MAGIC:
        raise ModelError("not a CRFsuite model")
    if kind != _KIND or version != _VERSION:
        raise ModelError(
            f"the CRFsuite model has the kind {kind!r} and the version {version}; corate reads {_KIND!r}, {_VERSION}"
        )
    if size != len(content):
        refuse(f"it has {counted(len(content), 'byte')} where its header says {size}")
    records = _records(content, places[0])
    labels = cqdb.read(content, places[1], n_labels, "labels")
    attributes = cqdb.read(content, places[2], n_attributes, "attributes")
    if not n_labels:
        refuse("it has no labels")
    if not np.array_equal(labels.find(labels), np.arange(n_labels)):
        refuse("two of its labels are equal")
    states = _weights(records, _STATE, n_attributes, n_labels)
    transitions = _weights(records, _TRANSITION, n_labels, n_labels)
    _check_references(content, places[3], b"LFRF", n_labels + _ENDS, records, _TRANSITION)
    _check_references(content, places[4], b"AFRF", n_attributes, records, _STATE)
    return CrfsuiteModel(labels, attributes, states, transitions)


def header_of(content: Bytes) -> dict[str, str]:
    """The fields of a file's header as text, with the names that CRFsuite prints. Offsets are hexadecimal."""
    magic, size, kind, version, *numbers = _HEADER.unpack_from(content.data)
    counts = zip(("num_features", "num_labels", "num_attrs"), map(str, numbers[:3]), strict=True)
    names = ("off_features", "off_labels", "off_attrs", "off_labelrefs", "off_attrrefs")
    offsets = zip(names, (f"0x{place:X}" for place in numbers[3:]), strict=True)
    texts = {"magic": magic.decode("latin-1"), "size": str(size), "type": kind.decode("latin-1")}
    return {**texts, "version": str(version), **dict(counts), **dict(offsets)}


def _records(content: Bytes | FileBytes, start: int) -> NDArray[np.void]:
    chunk = chunk_at(content, start, b"FEAT", _CHUNK.size)
    _, size, count = _CHUNK.unpack_from(chunk.data)
    if size != _CHUNK.size + _WEIGHT.itemsize * count:
        refuse(f"its part FEAT of {counted(size, 'byte')} does not fit {counted(count, 'weight')}")
    records: NDArray[np.void] = chunk[_CHUNK.size :].view(_WEIGHT)
    if np.any(records["kind"] > _TRANSITION):
        refuse("a weight is of an unknown kind")
    if not np.isfinite(records["weight"]).all():
        refuse("a weight is not finite")
    return records


def _weights(records: NDArray[np.void], kind: int, n_sources: int, n_labels: int) -> Weights:
    own = records["kind"] == kind
    sources, labels = records["source"][own].astype(np.int64), records["label"][own].astype(np.int64)
    if int(sources.max(initial=-1)) >= n_sources or int(labels.max(initial=-1)) >= n_labels:
        refuse("a weight belongs to no attribute or to no label")
    weights, keys = records["weight"][own].astype(np.float64, copy=False), sources * n_labels + labels
    if np.any(keys[1:] <= keys[:-1]):
        order = np.argsort(keys, kind="stable")
        sources, labels, weights, keys = sources[order], labels[order], weights[order], keys[order]
        if np.any(keys[1:] == keys[:-1]):
            refuse("a weight occurs twice")
    return Weights(sources, labels, weights)


def _check_references(
    content: Bytes | FileBytes, start: int, name: bytes, rows: int, records: NDArray[np.void], kind: int
) -> None:
    """Check that the numbers listed for each label or attribute are exactly those of its weights."""
    shown = name.decode()
    chunk = chunk_at(content, start, name, _CHUNK.size)
    _, size, count = _CHUNK.unpack_from(chunk.data)
    if count != rows or size < _CHUNK.size + 4 * rows:
        refuse(f"its part {shown} has {counted(count, 'row')} in {counted(size, 'byte')}, not {rows}")
    places = words_at(chunk, _CHUNK.size + 4 * np.arange(rows))
    used = np.flatnonzero(places)  # 0 stands for an empty row
    places = places[used] - start
    if int(places.min(initial=0)) < 0 or int(places.max(initial=0)) > size - 4:
        refuse(f"a row of its part {shown} is outside of it")
    lengths = words_at(chunk, places)
    own = records["kind"] == kind
    if int(lengths.sum()) != int(own.sum()) or np.any(places + 4 + 4 * lengths > size):
        refuse(f"the lengths of the rows of its part {shown} do not fit")
    offsets = offsets_of(lengths)
    ids = words_at(chunk, np.repeat(places + 4 - 4 * offsets[:-1], lengths) + 4 * np.arange(offsets[-1]))
    if int(ids.max(initial=-1)) >= len(records):
        refuse(f"its part {shown} refers to a weight that does not exist")
    listed = np.zeros(len(records), bool)
    listed[ids] = True
    if not np.array_equal(listed, own) or not np.array_equal(records["source"][ids], np.repeat(used, lengths)):
        refuse(f"its part {shown} refers to other weights than it should")


# -- writing ---------------------------------------------------------------------------------------------------------


def encode(model: CrfsuiteModel) -> list[Bytes]:
    """The bytes of a file, in blocks: those that CRFsuite writes for the same model.

    CRFsuite stores no weight that is zero, and only attributes that have a weight.
    """
    n_labels, n_attributes = len(model.labels), len(model.attributes)
    states, transitions = model.states, model.transitions
    records = np.zeros(len(states.weights) + len(transitions.weights), _WEIGHT)
    for kind, part, here in (
        (_STATE, states, records[: len(states.weights)]),
        (_TRANSITION, transitions, records[len(states.weights) :]),
    ):
        here["kind"], here["source"], here["label"] = kind, part.sources, part.labels
        here["weight"] = part.weights
    labels, attributes = cqdb.pack(model.labels), cqdb.pack(model.attributes)
    size = _CHUNK.size + records.nbytes
    places = [_HEADER.size, _HEADER.size + size]
    places += [places[-1] + len(labels)]
    padding = np.zeros(-(places[-1] + len(attributes)) % 4, np.uint8)
    places += [places[-1] + len(attributes) + len(padding)]
    by_label = _references(b"LFRF", places[-1], transitions.offsets(n_labels), len(states.weights), _ENDS)
    places += [places[-1] + len(by_label)]
    by_attribute = _references(b"AFRF", places[-1], states.offsets(n_attributes), 0, 0)
    total = places[-1] + len(by_attribute)
    check_size(total)
    header = _HEADER.pack(MAGIC, total, _KIND, _VERSION, 0, n_labels, n_attributes, *places)
    start = np.frombuffer(header + _CHUNK.pack(b"FEAT", size, len(records)), np.uint8)
    return [start, records.view(np.uint8), labels, attributes, padding, by_label, by_attribute]


def _references(name: bytes, start: int, offsets: NDArray[np.int64], first: int, empty: int) -> Bytes:
    """The chunk of the numbers of each row's weights, of which the first has the number ``first``."""
    lengths = np.diff(offsets)
    rows = len(lengths) + empty
    lists = np.insert(np.arange(first, first + int(offsets[-1])), offsets[:-1], lengths)
    body = start + _CHUNK.size + 4 * rows
    places = np.append(body + 4 * offsets_of(1 + lengths)[:-1], np.zeros(empty, np.int64))
    size = _CHUNK.size + 4 * (rows + len(lists))
    check_size(start + size)
    numbers = np.concatenate([places, lists]).astype("<u4")
    return np.concatenate([np.frombuffer(_CHUNK.pack(name, size, rows), np.uint8), numbers.view(np.uint8)])
