"""Taggers from and to CRFsuite's model files. `corate.model.crfsuite.file` has their layout.

CRFsuite's weights have 64 bits, those of a tagger 32: they are rounded on reading.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import NoReturn

import numpy as np

from corate.corpus import StringTable
from corate.corpus.attributes import JOINER
from corate.errors import Argument, ModelError, placed
from corate.features.ready_made import FeatureFunction
from corate.features.vocabulary import Vocabulary
from corate.io import tensor_file
from corate.label_pairs import EdgeScores
from corate.model.chain import ChainModel
from corate.model.crfsuite import file as crfsuite_file
from corate.model.crfsuite.cqdb import FileBytes
from corate.model.crfsuite.file import MAGIC, CrfsuiteModel, Weights
from corate.model.tagger import Tagger
from corate.rows import SparseRows, offsets_of
from corate.types import F32, F64

__all__ = ["MAGIC", "from_bytes", "has_suffix", "header", "load", "model_of", "recognised", "save", "tagger_of"]


def has_suffix(path: str | os.PathLike[str]) -> bool:
    """Whether a model is saved as a CRFsuite file because of its path.

    >>> has_suffix("address.crfsuite"), has_suffix("address.corate")
    (True, False)
    """
    return os.fspath(path).lower().endswith(".crfsuite")


def recognised(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a CRFsuite model does."""
    if not os.path.isfile(path):  # opening a pipe would block
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def load(path: str | os.PathLike[str], function: FeatureFunction | None = None) -> Tagger:
    """Read the tagger of a CRFsuite file. Raises ModelError, with the path, if it cannot be used."""
    with placed(file=os.fspath(path)):
        try:
            with open(path, "rb") as file:
                model = crfsuite_file.decode(FileBytes(file))
        except OSError as error:
            raise ModelError(f"the model cannot be read ({error.strerror or error})") from error
        return tagger_of(model, function)


def from_bytes(data: bytes, function: FeatureFunction | None = None) -> Tagger:
    """The tagger in the bytes of a CRFsuite file. Raises ModelError if they cannot be used."""
    return tagger_of(crfsuite_file.decode(np.frombuffer(data, np.uint8)), function)


def header(model: str | bytes) -> dict[str, str] | None:
    """The header of a CRFsuite file, given by its path or its bytes, as text; None for other files.

    Raises OSError if the file cannot be read.
    """
    start = model[: crfsuite_file.HEADER_SIZE] if isinstance(model, bytes) else _start_of(model)
    complete = start.startswith(MAGIC) and len(start) == crfsuite_file.HEADER_SIZE
    return crfsuite_file.header_of(np.frombuffer(start, np.uint8)) if complete else None


def _start_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(crfsuite_file.HEADER_SIZE)


def save(tagger: Tagger, path: str | os.PathLike[str], bias: str | None = None) -> int:
    """Write a tagger to a CRFsuite file, completely or not at all; returns its size. See `Tagger.save`."""
    blocks = crfsuite_file.encode(model_of(tagger, bias))
    names = tagger.vocabulary.attributes
    if tagger.vocabulary.joiner != JOINER and names is not None:
        joiner = tagger.vocabulary.joiner
        example = next((name for name in names.to_list() if joiner in name), None)
        if example is not None:
            warnings.warn(
                f"features are written with the names that they have, as {example!r}; python-crfsuite joins the keys "
                f"and values of mappings with {JOINER!r}, so give it lists of names, or train the model again",
                stacklevel=3,
            )
    return tensor_file.write_blocks(path, [block.data for block in blocks])


def tagger_of(model: CrfsuiteModel, function: FeatureFunction | None = None) -> Tagger:
    """A tagger with the weights of a CRFsuite model. With a feature function, it reads words."""
    size, n = len(model.labels) + 1, len(model.attributes)
    states, transitions = model.states, model.transitions
    zeros = np.zeros(size, np.float32)
    edges = EdgeScores(
        transitions.offsets(size), transitions.labels.astype(np.int32), _rounded(transitions.weights), zeros, zeros
    )
    weights = SparseRows(states.offsets(n), states.labels.astype(np.int32), _rounded(states.weights))
    vocabulary = replace(Vocabulary.of([]), attributes=model.attributes, joiner=JOINER)
    record = {"method": "crfsuite", "sentences": 0, "tokens": 0, "labels": size - 1, "features": n}
    chain = ChainModel(model.labels, edges, weights, np.zeros(size - 1, np.float32), all_labels=True)
    return Tagger(vocabulary, chain, record, ("word",) if function else (), function=function)


def _rounded(weights: F64) -> F32:
    if np.any(np.abs(weights) > np.finfo(np.float32).max):
        raise ModelError("the CRFsuite model has weights beyond 3.4e38, which corate cannot hold; train it again")
    return weights.astype(np.float32)


def model_of(tagger: Tagger, bias: str | None = None) -> CrfsuiteModel:
    """The CRFsuite model that scores as a tagger does. Raises ModelError, with the reason, if there is none."""
    if tagger.model.graph is not None:
        _refuse("it labels the nodes of graphs; train a model on sentences")
    _check_features(tagger)
    _check_scores(tagger.model)
    names = tagger.vocabulary.attributes
    assert names is not None
    chain, rows = tagger.model, tagger.model.weights
    if chain.bias.any():
        if bias is None:
            remedy = f"name a feature that every token has with {Argument('bias')}"
            _refuse(f"it has weights for labels by themselves; {remedy}")
        names, places = StringTable.intern([*names.to_list(), bias])
        extra = np.zeros(len(names), np.int64)
        extra[places[-1]] = len(chain.bias)
        labels = np.arange(len(chain.bias), dtype=np.int32)
        rows = rows.padded(len(names)).plus(SparseRows(offsets_of(extra), labels, chain.bias))
    rows = rows.compacted()
    used = np.flatnonzero(rows.lengths)
    rows = rows.take(used)
    states = Weights(rows.owners, rows.labels.astype(np.int64), _wide(rows.scores))
    edges = SparseRows(chain.edges.offsets, chain.edges.to, chain.edges.scores).compacted()
    transitions = Weights(edges.owners, edges.labels.astype(np.int64), _wide(edges.scores))
    return CrfsuiteModel(chain.labels, names.take(used), states, transitions)


def _wide(scores: F32) -> F64:
    return scores.astype(np.float64)


def _check_features(tagger: Tagger) -> None:
    if tagger.vocabulary.attributes is None or tagger.vocabulary.columns:
        _refuse("its features come from templates; train it on ready-made features, with Corpus.from_features")
    if tagger.bins is not None and tagger.bins.edges:
        _refuse("it bins numbers; train it with the method 'standard'")


def _check_scores(model: ChainModel) -> None:
    if model.order != 1:
        _refuse("it has weights of three labels in a row; train it with order=1")
    if model.locally_normalised:
        _refuse("its scores are normalised at every position (memm); train it with the method 'standard'")
    if model.parts is not None:
        _refuse("it has weights of parts of labels; train it with parts=False")
    if len(model.rows):
        _refuse("it has base scores of words; train it with the method 'standard'")
    if model.by_features:
        _refuse("its features say which labels a token can have; train it with space='word'")
    if len(model.edge_weights.labels):
        _refuse("its weights of label pairs depend on features; train it with the method 'standard'")
    if model.edges.row.any() and model.edges.col.any():
        _refuse("it scores label pairs that were never seen; train it with the method 'standard'")

    edges, boundary = model.edges, len(model.labels)
    if edges.scores[edges.offsets[boundary] :].any() or edges.scores[edges.to == boundary].any():
        _refuse(
            f"it has weights for the start and the end of a sentence; train it with {Argument('boundaries', False)}"
        )


def _refuse(why: str) -> NoReturn:
    raise ModelError(f"a CRFsuite file cannot hold this model: {why}, or save it as .corate")
