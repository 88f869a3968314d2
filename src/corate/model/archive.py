"""Saving and loading of taggers: the tensors of a tagger and their names in a model file.

Everything is checked on reading. A file with a correct hash but inconsistent content is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import StringTable
from corate.corpus.attributes import JOINER, OLD_JOINER
from corate.counting.counts import Counts, PairCounts, Table
from corate.counting.word_pairs import WordPairCounts
from corate.display import in_words
from corate.errors import Argument, FeatureError, ModelError, placed
from corate.features.function_sample import refuse_other_function
from corate.features.lexicons import Lexicon
from corate.features.ready_made import Bins, FeatureFunction
from corate.features.templates import lexicons_of, parse
from corate.features.vocabulary import Vocabulary
from corate.io import tensor_file
from corate.label_pairs import EdgeScores
from corate.label_parts import LabelParts
from corate.model import crfsuite
from corate.model.chain import ChainModel, UnseenRule, WordPairs
from corate.model.tagger import Tagger
from corate.rows import SparseRows, offsets_of

__all__ = ["from_bytes", "load", "save", "save_streamed", "to_bytes"]

Tensors = dict[str, NDArray[Any]]

#: Entries of a record that other code uses, where a record has them.
_KINDS = {
    **dict.fromkeys(("word", "lattice", "ladder", "constrain", "label_source"), str),
    **dict.fromkeys(("settings", "held_out"), dict),
    "temperature": float | int,
    "updates": int,
    "layout": list,
}
#: Entries of a record that are not stored, so that the same training gives the same file.
_NOT_STORED = ("seconds",)
#: All counts of a model together; sums of them fit in 64 bits.
_LARGEST_SUM = 2.0**62
#: The members that a header may have, the members of its member ``model``, and the names of tensors.
_HEADER = {
    *("order", "columns", "templates", "rungs", "needs_function", "bins", "record", "lexicons", "model", "counts"),
    "joiner",
}
_MODEL = {
    *("rungs", "rung_bases", "word_column", "all_labels", "floor", "edge_weight", "locally_normalised", "unseen"),
    *("parts", "by_features", "word_pairs"),
}
#: The arrays of the counts of pairs of words, without their lengths.
_WORD_PAIRS = ("first", "second", "labels", "counts")
_TENSOR = re.compile(
    r"(labels|parts|attributes|(strings|values)\.\d+|lexicon\.\d+\.(keys|classes))\.(data|offsets)|lexicon\.\d+\.values"
    r"|(prefixes|keys)\.\d+\.(first|second)|edges\.(row|col)|bias"
    r"|(edges|rows|weights|edge_weights|triples)\.(lengths|labels|scores)"
    r"|counts\.(lengths|labels|counts)|pairs\.(origin|to|counts)|attributes\.heads|label_parts\.(lengths|ids)"
    r"|word_pairs\.(first|second|lengths|labels|counts)"
)


def save(tagger: Tagger, path: str | os.PathLike[str], *, counts: bool = True, half: bool = False) -> int:
    """Write a tagger to a file, completely or not at all; returns the size in bytes."""
    tensors, header = _content(tagger, counts, half)
    return tensor_file.write(path, tensors, header, _version(header))


def save_streamed(
    tagger: Tagger,
    path: str | os.PathLike[str],
    streamed: Mapping[str, tensor_file.StreamedTensor],
    *,
    counts: bool = True,
    half: bool = False,
) -> int:
    """Like `save`, but the ``streamed`` tensors replace those of the tagger."""
    tensors, header = _content(tagger, counts, half)
    return tensor_file.write(path, {**tensors, **streamed}, header, _version(header))


def to_bytes(tagger: Tagger) -> bytes:
    """The bytes of a tagger's model file."""
    tensors, header = _content(tagger, counts=True, half=False)
    return b"".join(tensor_file.encode(tensors, header, _version(header)))


def from_bytes(data: bytes, features: FeatureFunction | None = None) -> Tagger:
    """A tagger from the bytes of its model file, checked as by `load`."""
    shown = "the bytes of the model"
    return _checked(*tensor_file.decode(np.frombuffer(data, np.uint8), shown), features, shown)


def _version(header: dict[str, Any]) -> int:
    """The format version of a model: the oldest whose programs do not ignore anything in it and so tag wrongly."""
    if "parts" in header["model"] or "by_features" in header["model"]:
        return 3
    return 2 if "joiner" in header or "unseen" in header["model"] else 1


def _content(tagger: Tagger, counts: bool, half: bool) -> tuple[Tensors, dict[str, Any]]:
    """The tensors and the header of a tagger's model file."""
    tensors: Tensors = {}
    header: dict[str, Any] = {
        "order": tagger.model.order,
        "columns": list(tagger.columns),
        "templates": [str(t) for t in tagger.vocabulary.templates],
        "rungs": [str(a) for a in tagger.vocabulary.levels],
        "needs_function": tagger.function is not None,
        "bins": None if tagger.bins is None else {k: list(v) for k, v in tagger.bins.edges.items()},
        "record": {name: value for name, value in tagger.record.items() if name not in _NOT_STORED},
    }
    _put_vocabulary(tensors, header, tagger.vocabulary)
    _put_model(tensors, header, tagger.model, half)
    if counts and tagger.counts is not None:
        _put_counts(tensors, header, tagger.counts)
    return tensors, header


def load(path: str | os.PathLike[str], *, features: FeatureFunction | None = None, mmap: bool = False) -> Tagger:
    """Read a tagger from a model file of Corate or of CRFsuite.

    Args:
        path: the path of the file.
        features: the feature function that the tagger was trained with, if any. For a file of CRFsuite, a function that
            returns the features that the model knows; the tagger then accepts words.
        mmap: map the file into memory instead of reading it, so that processes that load the same model share the
            memory. The file must then not be overwritten in place while the tagger is in use. Otherwise, labels may
            change, or the process may end with a bus error (SIGBUS). ``Tagger.save`` never overwrites in place.

    Raises ModelError if there is no such file, if it is damaged or not a model of a tagger, if its format is newer than
    this version, or if ``features`` is missing, was not used in training, or returns other features than in training
    for the few tokens of the training data whose features the model has recorded.

    >>> import corate, tempfile
    >>> corpus = corate.Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = corate.train(corpus).save(f"{folder}/small.corate")
    ...     tagger = load(f"{folder}/small.corate")
    >>> tagger.tag(["the", "cat"])
    ['DET', 'NOUN']
    """
    if crfsuite.recognised(path):
        return crfsuite.load(path, features)
    return _checked(*tensor_file.read(path, mmap=mmap), features, os.fspath(path))


def _checked(tensors: Tensors, header: dict[str, Any], features: FeatureFunction | None, shown: str) -> Tagger:
    """The tagger of these tensors; raises ModelError, which names the file, if there is none."""
    if header.get("kind") == "graph":
        raise ModelError("this is a graph model, not a tagger", "load it with corate.GraphModel.load", file=shown)
    try:
        with placed(file=shown):
            _refuse_unknown(tensors, header)
            return _tagger(tensors, header, features)
    except ModelError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, FeatureError) as error:
        raise ModelError(
            f"the file contains no model that corate can use ({type(error).__name__}: {error})",
            "train it again",
            file=shown,
        ) from None


def _refuse_unknown(tensors: Tensors, header: dict[str, Any]) -> None:
    """Refuse a model with parts that this version does not support: it would give other labels without them."""
    unknown = sorted(
        {name for name in tensors if _TENSOR.fullmatch(name) is None}
        | (header.keys() - _HEADER)
        | (header["model"].keys() - _MODEL)
    )
    if unknown:
        raise ModelError(
            f"the model contains {unknown[0]!r}, which this version of corate does not support; upgrade corate"
        )


def _tagger(tensors: Tensors, header: dict[str, Any], function: FeatureFunction | None) -> Tagger:
    if header["order"] not in (1, 2):
        raise ModelError(
            f"the model has order {header['order']}, this version of corate supports 1 and 2; upgrade corate"
        )
    if header["needs_function"] and function is None:
        raise ModelError(
            "the model was trained with a Python function for features",
            f"load it with {Argument('features')}, the same function",
        )
    if function is not None and not header["needs_function"]:
        raise ModelError("the model was trained without a feature function", f"load it without {Argument('features')}")
    record = _get_record(header)
    if function is not None:
        refuse_other_function(record.get("function_sample", []), function)
    vocabulary = _get_vocabulary(tensors, header)
    model = _get_model(tensors, header)
    counts = _get_counts(tensors, header, vocabulary, model.labels) if "counts" in header else None
    if counts is not None and model.word_pairs is not None:
        counts = replace(counts, word_pairs=model.word_pairs.counts)
    tagger = Tagger(
        vocabulary,
        model,
        record,
        _get_texts(header, "columns"),
        counts,
        _get_bins(header, vocabulary.joiner),
        function,
    )
    if len(model.rows) and tagger.record.get("word") != vocabulary.columns[model.word_column]:
        raise ModelError("the model does not record which column contains its words; train it again")
    return tagger


def _get_record(header: dict[str, Any]) -> dict[str, Any]:
    record = header["record"]
    if not isinstance(record, dict) or not isinstance(record.get("method"), str):
        raise ModelError("the model does not record how it was trained; train it again")
    if not all(isinstance(record.get(n), int) for n in ("sentences", "tokens", "labels", "features")):
        raise ModelError("the model does not record what it was trained on; train it again")
    for name, kind in _KINDS.items():
        if not isinstance(record.get(name), kind | None):
            raise ModelError(
                f"the record of the training has {name} {in_words(record[name])[:80]!r}; train the model again"
            )
    return {name: value for name, value in record.items() if name not in _NOT_STORED}


def _get_texts(header: dict[str, Any], name: str) -> tuple[str, ...]:
    texts = header[name]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ModelError(f"the model's {name} are not a list of strings; train it again")
    return tuple(texts)


def _get_bins(header: dict[str, Any], joiner: str) -> Bins | None:
    if header["bins"] is None:
        return None
    bins = {name: np.array(edges, dtype=np.float64) for name, edges in header["bins"].items()}
    if not all(e.ndim == 1 and np.isfinite(e).all() and (np.diff(e) > 0).all() for e in bins.values()):
        raise ModelError("the model's bins of numeric features are not in ascending order; train it again")
    return Bins({name: tuple(edges.tolist()) for name, edges in bins.items()}, joiner)


# -- vocabulary ------------------------------------------------------------------------------------------------------


def _put_vocabulary(tensors: Tensors, header: dict[str, Any], vocabulary: Vocabulary) -> None:
    for i in range(len(vocabulary.columns)):
        _put_strings(tensors, f"strings.{i}", StringTable(*vocabulary.map.strings(i)))
    for i, (_, function) in enumerate(vocabulary.functions()):
        if function.name != "identity":
            _put_strings(tensors, f"values.{i}", StringTable(*vocabulary.map.values(i)))
    for i in range(len(vocabulary.templates)):
        prefixes, keys = vocabulary.map.keys(i)
        _put_keys(tensors, f"prefixes.{i}", prefixes)
        _put_keys(tensors, f"keys.{i}", keys)
    if vocabulary.attributes is not None:
        _put_strings(tensors, "attributes", vocabulary.attributes)
        if vocabulary.joiner != OLD_JOINER:
            header["joiner"] = vocabulary.joiner
    lexicons = lexicons_of(vocabulary.templates, vocabulary.levels)
    header["lexicons"] = list(lexicons)
    for i, lexicon in enumerate(lexicons.values()):
        _put_strings(tensors, f"lexicon.{i}.keys", lexicon.keys)
        _put_strings(tensors, f"lexicon.{i}.classes", lexicon.classes)
        tensors[f"lexicon.{i}.values"] = tensor_file.narrow(lexicon.values)


def _get_vocabulary(tensors: Tensors, header: dict[str, Any]) -> Vocabulary:
    lexicons = {
        name: Lexicon(
            name,
            _get_strings(tensors, f"lexicon.{i}.keys"),
            _ids(tensors, f"lexicon.{i}.values", np.int32),
            _get_strings(tensors, f"lexicon.{i}.classes"),
        )
        for i, name in enumerate(_get_texts(header, "lexicons"))
    }
    templates = [parse(text, lexicons=lexicons) for text in _get_texts(header, "templates")]
    levels = [parse(text, lexicons=lexicons).atoms[0] for text in _get_texts(header, "rungs")]
    vocabulary = Vocabulary.of(templates, levels)
    none = StringTable.intern([])[0]
    values = [
        none if function.name == "identity" else _get_strings(tensors, f"values.{i}")
        for i, (_, function) in enumerate(vocabulary.functions())
    ]
    strings = [_get_strings(tensors, f"strings.{i}") for i in range(len(vocabulary.columns))]
    vocabulary.map.restore(
        [(s.data, s.offsets) for s in strings],
        [(v.data, v.offsets) for v in values],
        [(_get_keys(tensors, f"prefixes.{i}"), _get_keys(tensors, f"keys.{i}")) for i in range(len(templates))],
    )
    if "attributes.data" not in tensors:
        return vocabulary
    joiner = header.get("joiner", OLD_JOINER)
    if joiner not in (JOINER, OLD_JOINER):
        raise ModelError(f"the model joins names with {joiner!r}, which this version does not support; upgrade corate")
    names = _get_strings(tensors, "attributes")
    heads = _get_heads(tensors, names) if "joiner" in header and "counts" in header else None
    return replace(vocabulary, attributes=names, joiner=joiner, heads=heads)


def _get_heads(tensors: Tensors, names: StringTable) -> NDArray[np.int32]:
    heads: NDArray[np.int32] = _ids(tensors, "attributes.heads", np.int32) - np.int32(1)
    if len(heads) != len(names) or (heads >= np.diff(names.offsets)).any():
        raise ModelError("the model's names of ready-made features do not fit together; train it again")
    return heads


# -- model -----------------------------------------------------------------------------------------------------------


def _put_model(tensors: Tensors, header: dict[str, Any], model: ChainModel, half: bool) -> None:
    header["model"] = {
        "rungs": list(model.levels),
        "rung_bases": list(model.level_bases),
        "word_column": model.word_column,
        "all_labels": model.all_labels,
        "floor": model.floor,
        "edge_weight": model.edges.weight,
        **({"locally_normalised": True} if model.locally_normalised else {}),
        **({} if model.unseen is None else {"unseen": asdict(model.unseen)}),
        **({} if model.parts is None else {"parts": True}),
        **({} if model.word_pairs is None else {"word_pairs": model.word_pairs.scale}),
        **({"by_features": True} if model.by_features else {}),
    }
    _put_strings(tensors, "labels", model.labels)
    edges = model.edges
    _put_rows(tensors, "edges", SparseRows(edges.offsets, edges.to, edges.scores), half)
    tensors["edges.row"], tensors["edges.col"] = edges.row, edges.col
    _put_rows(tensors, "rows", model.rows, half)
    _put_rows(tensors, "weights", model.weights, half)
    if len(model.edge_weights):
        _put_rows(tensors, "edge_weights", model.edge_weights, half)
    if len(edges.triples):
        _put_rows(tensors, "triples", edges.triples, half)
    tensors["bias"] = model.bias
    if model.parts is not None:
        _put_strings(tensors, "parts", model.parts.names)
        tensors["label_parts.lengths"] = tensor_file.narrow(np.diff(model.parts.offsets))
        tensors["label_parts.ids"] = tensor_file.narrow(model.parts.ids)
    if model.word_pairs is not None:
        counts = model.word_pairs.counts
        tensors["word_pairs.lengths"] = tensor_file.narrow(np.diff(counts.offsets))
        for name in _WORD_PAIRS:
            tensors[f"word_pairs.{name}"] = tensor_file.narrow(getattr(counts, name))


def _get_model(tensors: Tensors, header: dict[str, Any]) -> ChainModel:
    about = header["model"]
    edges = _get_rows(tensors, "edges")
    row, col = _floats(tensors, "edges.row"), _floats(tensors, "edges.col")
    if len(edges) != len(row) or len(row) != len(col) or int(edges.labels.max(initial=0)) >= max(1, len(row)):
        raise ModelError("the model's edge scores do not fit together; train it again")
    return ChainModel(
        _get_distinct(tensors, "labels"),
        EdgeScores(
            *edges.arrays(),
            row,
            col,
            float(about["edge_weight"]),
            bool(about.get("locally_normalised", False)),
            _get_rows(tensors, "triples") if header["order"] == 2 else SparseRows(),
        ),
        _get_rows(tensors, "weights"),
        _floats(tensors, "bias"),
        _get_rows(tensors, "rows"),
        tuple(int(r) for r in about["rungs"]),
        tuple(int(b) for b in about["rung_bases"]),
        int(about["word_column"]),
        bool(about["all_labels"]),
        float(about["floor"]),
        _get_rows(tensors, "edge_weights") if "edge_weights.lengths" in tensors else SparseRows(),
        _get_unseen(about["unseen"]) if "unseen" in about else None,
        _get_parts(tensors) if "parts" in about else None,
        bool(about.get("by_features", False)),
        _get_word_pairs(tensors, float(about["word_pairs"])) if "word_pairs" in about else None,
    )


def _get_parts(tensors: Tensors) -> LabelParts:
    offsets, ids = _offsets(tensors, "label_parts.lengths"), _ids(tensors, "label_parts.ids", np.int32)
    if int(offsets[-1]) != len(ids):
        raise ModelError("the model's parts of labels do not fit together; train it again")
    return LabelParts(_get_distinct(tensors, "parts"), offsets, ids)


def _get_word_pairs(tensors: Tensors, scale: float) -> WordPairs:
    """The pairs of words; whether their ids fit the vocabulary and the labels is checked when they are used."""
    first, second, labels = (_ids(tensors, f"word_pairs.{name}", np.int32) for name in _WORD_PAIRS[:3])
    offsets, counts = _offsets(tensors, "word_pairs.lengths"), _ids(tensors, "word_pairs.counts", np.int64)
    if int(offsets[-1]) != len(labels) or float(counts.sum(dtype=np.float64)) >= _LARGEST_SUM:
        raise ModelError("the model's pairs of words do not fit together; train it again")
    return WordPairs(WordPairCounts(first, second, offsets, labels, counts), scale)


def _get_unseen(rule: dict[str, Any]) -> UnseenRule:
    k = tuple(float(value) for value in rule["k"])
    return UnseenRule(k, float(rule["scale"]), float(rule["shift"]), float(rule["threshold"]), int(rule["cap"]))


# -- counts ----------------------------------------------------------------------------------------------------------


def _put_counts(tensors: Tensors, header: dict[str, Any], counts: Counts) -> None:
    header["counts"] = {"sentences": counts.sentences, "tokens": counts.tokens}
    if "joiner" in header:  # an update needs the heads of names to know the experts
        tensors["attributes.heads"] = tensor_file.narrow(counts.vocabulary.known_heads + 1)
    table = counts.table
    tensors["counts.lengths"] = tensor_file.narrow(table.lengths)
    tensors["counts.labels"] = tensor_file.narrow(table.labels)
    tensors["counts.counts"] = tensor_file.narrow(table.counts)
    for name, array in asdict(counts.pairs).items():
        tensors[f"pairs.{name}"] = tensor_file.narrow(array)


def _get_counts(tensors: Tensors, header: dict[str, Any], vocabulary: Vocabulary, labels: StringTable) -> Counts:
    offsets = _offsets(tensors, "counts.lengths")
    table = Table(offsets, _ids(tensors, "counts.labels", np.int32), _ids(tensors, "counts.counts", np.int64))
    pairs = PairCounts(
        _ids(tensors, "pairs.origin", np.int32),
        _ids(tensors, "pairs.to", np.int32),
        _ids(tensors, "pairs.counts", np.int64),
    )
    fits = (
        len(table) == int(vocabulary.bases[-1])
        and int(offsets[-1]) == len(table.labels) == len(table.counts)
        and int(table.labels.max(initial=0)) < len(labels)
        and float(table.counts.sum(dtype=np.float64)) < _LARGEST_SUM
        and len(pairs.origin) == len(pairs.to) == len(pairs.counts)
        and max(int(pairs.origin.max(initial=0)), int(pairs.to.max(initial=0))) <= len(labels)
    )
    if not fits:
        raise ModelError("the model's counts do not fit its features; train it again")
    about = header["counts"]
    return Counts(vocabulary, labels, table, pairs, int(about["sentences"]), int(about["tokens"]))


# -- parts -----------------------------------------------------------------------------------------------------------


def _put_strings(tensors: Tensors, name: str, table: StringTable) -> None:
    tensors[f"{name}.data"] = table.data
    tensors[f"{name}.offsets"] = tensor_file.narrow(table.offsets)


def _get_strings(tensors: Tensors, name: str) -> StringTable:
    return tensor_file.unpack_table(name, tensors)


def _get_distinct(tensors: Tensors, name: str) -> StringTable:
    table = _get_strings(tensors, name)
    if not np.array_equal(table.find(table), np.arange(len(table))):
        raise ModelError(f"the model's {name} contain a string twice; train it again")
    return table


def _put_rows(tensors: Tensors, name: str, rows: SparseRows, half: bool) -> None:
    tensors[f"{name}.lengths"] = tensor_file.narrow(rows.lengths)
    tensors[f"{name}.labels"] = tensor_file.narrow(rows.labels)
    if half and np.abs(rows.scores).max(initial=0) > float(np.finfo(np.float16).max):
        raise ModelError("the model has scores that do not fit in 16 bits; save it without half")
    tensors[f"{name}.scores"] = rows.scores.astype(np.float16) if half else rows.scores


def _get_rows(tensors: Tensors, name: str) -> SparseRows:
    offsets = _offsets(tensors, f"{name}.lengths")
    labels, scores = _ids(tensors, f"{name}.labels", np.int32), _floats(tensors, f"{name}.scores")
    if not int(offsets[-1]) == len(labels) == len(scores):
        raise ModelError(f"the model's {name} do not fit together; train it again")
    return SparseRows(offsets, labels, scores)


def _put_keys(tensors: Tensors, name: str, keys: NDArray[np.uint64]) -> None:
    """Store pairs of ids as two arrays, each in the smallest dtype that holds its ids."""
    tensors[f"{name}.first"] = tensor_file.narrow(keys >> np.uint64(32))
    tensors[f"{name}.second"] = tensor_file.narrow(keys & np.uint64(0xFFFFFFFF))


def _get_keys(tensors: Tensors, name: str) -> NDArray[np.uint64]:
    first, second = _ids(tensors, f"{name}.first", np.uint32), _ids(tensors, f"{name}.second", np.uint32)
    if len(first) != len(second):
        raise ModelError(f"the model's {name} do not fit together; train it again")
    return np.asarray(first.astype(np.uint64) << np.uint64(32) | second)


def _ids(tensors: Tensors, name: str, dtype: Any) -> NDArray[Any]:
    """A vector of nonnegative integers that fit the dtype."""
    array = tensors[name]
    if array.ndim != 1 or array.dtype.kind != "u" or int(array.max(initial=0)) > np.iinfo(dtype).max:
        raise ModelError(f"the model's tensor {name} has the wrong shape, dtype or size; train it again")
    return np.ascontiguousarray(array, dtype=dtype)


def _floats(tensors: Tensors, name: str) -> NDArray[np.float32]:
    array = tensors[name]
    if array.ndim != 1 or array.dtype not in (np.float16, np.float32):
        raise ModelError(f"the model's tensor {name} has the wrong shape or dtype; train it again")
    return np.ascontiguousarray(array, dtype=np.float32)


def _offsets(tensors: Tensors, name: str) -> NDArray[np.int64]:
    return offsets_of(_ids(tensors, name, np.int32))
