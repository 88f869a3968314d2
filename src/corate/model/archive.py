"""Where the model file is checked, and what a tagger's pickle may name: the schema, saving and loading of taggers.

`SCHEMA` declares every tensor. A file with a correct hash but inconsistent content is refused. A pickle of a tagger
names `from_bytes` and its feature function, and has the bytes of the model file, so that the same checks apply.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
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
from corate.model.graph_scores import EdgeTable, GraphScores
from corate.model.tagger import Tagger
from corate.rows import SparseRows, offsets_of

__all__ = ["from_bytes", "load", "save", "save_streamed", "to_bytes"]

Tensors = dict[str, NDArray[Any]]

#: Entries of a record that every model has, and those that other code uses where a record has them.
_RECORDED = {"method": str, **dict.fromkeys(("sentences", "tokens", "labels", "features"), int)}
_KINDS = {
    **dict.fromkeys(("word", "lattice", "ladder", "constrain", "label_source", "edge_source"), str),
    **dict.fromkeys(("settings", "held_out"), dict),
    "temperature": float | int,
    "updates": int,
    "layout": list,
}
#: Entries of a record that are not stored, so that the same training gives the same file.
_NOT_STORED = ("seconds",)
#: All counts of a model together; sums of them fit in 64 bits.
_LARGEST_SUM = 2.0**62
#: The members that a header may have, those of its member ``model``, and of the member ``graph`` in it.
_HEADER = {
    *("order", "columns", "templates", "rungs", "needs_function", "bins", "record", "lexicons", "model", "counts"),
    "joiner",
}
_MODEL = {
    *("rungs", "rung_bases", "word_column", "all_labels", "floor", "edge_weight", "locally_normalised", "unseen"),
    *("parts", "by_features", "word_pairs", "graph"),
}
_GRAPH = {"symmetric", "given"}

_STRINGS, _PAIRS = {"data": "u1", "offsets": "i8"}, {"first": "u4", "second": "u4"}
_IDS, _SCORES = {"": "i4"}, {"": "f4"}
_ROWS = {"lengths": "i4", "labels": "i4", "scores": "f4"}
#: The tensors of a model file: each part, whose name may contain numbers (#), and its members with their dtypes in
#: memory. Integers are stored in the smallest unsigned dtype. The members after ``lengths`` are the entries of rows of
#: these lengths; in memory, ``lengths`` are offsets. A part with the member "" is a single tensor.
SCHEMA: dict[str, dict[str, str]] = {
    **dict.fromkeys(("labels", "parts", "attributes", "strings.#", "values.#", "edge_types"), _STRINGS),
    **dict.fromkeys(("lexicon.#.keys", "lexicon.#.classes"), _STRINGS),
    **dict.fromkeys(("lexicon.#.values", "attributes.heads"), _IDS),
    **dict.fromkeys(("prefixes.#", "keys.#"), _PAIRS),
    **dict.fromkeys(("edges", "rows", "weights", "edge_weights", "triples"), _ROWS),
    **dict.fromkeys(("edges.row", "edges.col", "bias", "vectors", "edges.#.table", "edges.#.weights"), _SCORES),
    "label_parts": {"lengths": "i4", "ids": "i4"},
    "word_pairs": {"first": "i4", "second": "i4", "lengths": "i4", "labels": "i4", "counts": "i8"},
    "counts": {"lengths": "i4", "labels": "i4", "counts": "i8"},
    "pairs": {"origin": "i4", "to": "i4", "counts": "i8"},
}
#: The format version of what older programs do not know: members of a header, and parts. A new one raises
#: `tensor_file.FORMAT_VERSION`; only files that have it are written in that version.
_SINCE = {
    **{"joiner": 2, "unseen": 2, "parts": 3, "by_features": 3},
    **dict.fromkeys(("graph", "edge_types", "vectors", "edges.#.table", "edges.#.weights"), 4),
}
#: Parts whose strings are distinct.
_DISTINCT = ("labels", "parts", "edge_types")
_NUMBER = re.compile(r"\d+")


def _members(part: str) -> list[tuple[str, str, str]]:
    """The members of a part: their names, their tensors and their dtypes.

    >>> _members("keys.7")
    [('first', 'keys.7.first', 'u4'), ('second', 'keys.7.second', 'u4')]
    """
    return [(name, f"{part}.{name}".rstrip("."), dtype) for name, dtype in SCHEMA[_NUMBER.sub("#", part)].items()]


_TENSORS = {tensor: part for part in SCHEMA for _, tensor, _ in _members(part)}


def save(tagger: Tagger, path: str | os.PathLike[str], *, counts: bool = True, half: bool = False) -> int:
    """Write a tagger to a file, completely or not at all; returns the size in bytes."""
    return save_streamed(tagger, path, {}, counts=counts, half=half)


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
    content: dict[str, Any] = {**tensors, **streamed}
    return tensor_file.write(path, content, header, _version(content, header))


def to_bytes(tagger: Tagger) -> bytes:
    """The bytes of a tagger's model file."""
    tensors, header = _content(tagger, counts=True, half=False)
    return b"".join(tensor_file.encode(tensors, header, _version(tensors, header)))


def from_bytes(data: bytes, features: FeatureFunction | None = None) -> Tagger:
    """A tagger from the bytes of its model file, Corate's or CRFsuite's, checked as by `load`."""
    if data.startswith(crfsuite.MAGIC):
        return crfsuite.from_bytes(data, features)
    shown = "the bytes of the model"
    return _checked(*tensor_file.decode(np.frombuffer(data, np.uint8), shown), features, shown)


def _version(tensors: Iterable[str], header: dict[str, Any]) -> int:
    """The format version of a model: the oldest that has all its parts, so that no older program tags wrongly."""
    parts = (_TENSORS[_NUMBER.sub("#", name)] for name in tensors)
    return max([1, *(_SINCE.get(name, 1) for name in (*header, *header["model"], *parts))])


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
        {name for name in tensors if _NUMBER.sub("#", name) not in _TENSORS}
        | (header.keys() - _HEADER)
        | (header["model"].keys() - _MODEL)
        | (header["model"].get("graph", {}).keys() - _GRAPH)
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
    if not isinstance(record, dict) or not all(isinstance(record.get(n), kind) for n, kind in _RECORDED.items()):
        raise ModelError("the model does not record how and on what it was trained; train it again")
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
        _put(tensors, f"strings.{i}", *vocabulary.map.strings(i))
    for i, (_, function) in enumerate(vocabulary.functions()):
        if function.name != "identity":
            _put(tensors, f"values.{i}", *vocabulary.map.values(i))
    for i in range(len(vocabulary.templates)):
        for part, pairs in zip(("prefixes", "keys"), vocabulary.map.keys(i), strict=True):
            _put(tensors, f"{part}.{i}", pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF))
    if vocabulary.attributes is not None:
        _put_strings(tensors, "attributes", vocabulary.attributes)
        if vocabulary.joiner != OLD_JOINER:
            header["joiner"] = vocabulary.joiner
    lexicons = lexicons_of(vocabulary.templates, vocabulary.levels)
    header["lexicons"] = list(lexicons)
    for i, lexicon in enumerate(lexicons.values()):
        _put_strings(tensors, f"lexicon.{i}.keys", lexicon.keys)
        _put_strings(tensors, f"lexicon.{i}.classes", lexicon.classes)
        _put(tensors, f"lexicon.{i}.values", lexicon.values)


def _get_vocabulary(tensors: Tensors, header: dict[str, Any]) -> Vocabulary:
    lexicons = {
        name: Lexicon(
            name,
            _get_strings(tensors, f"lexicon.{i}.keys"),
            _get(tensors, f"lexicon.{i}.values")[0],
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
        [(_get_pairs(tensors, f"prefixes.{i}"), _get_pairs(tensors, f"keys.{i}")) for i in range(len(templates))],
    )
    if "attributes.data" not in tensors:
        return vocabulary
    joiner = header.get("joiner", OLD_JOINER)
    if joiner not in (JOINER, OLD_JOINER):
        raise ModelError(f"the model joins names with {joiner!r}, which this version does not support; upgrade corate")
    names, key_lengths = _get_strings(tensors, "attributes"), None
    if "joiner" in header and "counts" in header:
        key_lengths = _get(tensors, "attributes.heads")[0] - np.int32(1)
        if len(key_lengths) != len(names) or (key_lengths >= np.diff(names.offsets)).any():
            raise _misfit("names of ready-made features")
    return replace(vocabulary, attributes=names, joiner=joiner, key_lengths=key_lengths)


def _get_pairs(tensors: Tensors, part: str) -> NDArray[np.uint64]:
    """Pairs of ids, which are stored as two arrays, each in the smallest dtype that holds its ids."""
    first, second = _get(tensors, part)
    return np.asarray(first.astype(np.uint64) << np.uint64(32) | second)


# -- model -----------------------------------------------------------------------------------------------------------


def _put_model(tensors: Tensors, header: dict[str, Any], model: ChainModel, half: bool) -> None:
    if model.graph is not None:
        _put_graph_model(tensors, header, model, model.graph, half)
        return
    edges, parts, pairs = model.edges, model.parts, model.word_pairs
    header["model"] = {
        "rungs": list(model.levels),
        "rung_bases": list(model.level_bases),
        "word_column": model.word_column,
        "all_labels": model.all_labels,
        "floor": model.floor,
        "edge_weight": edges.weight,
        **({"locally_normalised": True} if model.locally_normalised else {}),
        **({} if model.unseen is None else {"unseen": asdict(model.unseen)}),
        **({} if parts is None else {"parts": True}),
        **({} if pairs is None else {"word_pairs": pairs.scale}),
        **({"by_features": True} if model.by_features else {}),
    }
    _put_strings(tensors, "labels", model.labels)
    _put(tensors, "edges", edges.offsets, edges.to, edges.scores, half=half)
    _put(tensors, "rows", *model.rows.arrays(), half=half)
    _put(tensors, "weights", *model.weights.arrays(), half=half)
    if len(model.edge_weights):
        _put(tensors, "edge_weights", *model.edge_weights.arrays(), half=half)
    if len(edges.triples):
        _put(tensors, "triples", *edges.triples.arrays(), half=half)
    for part, scores in (("edges.row", edges.row), ("edges.col", edges.col), ("bias", model.bias)):
        _put(tensors, part, scores)
    if parts is not None:
        _put_strings(tensors, "parts", parts.names)
        _put(tensors, "label_parts", parts.offsets, parts.ids)
    if pairs is not None:
        counts = pairs.counts
        _put(tensors, "word_pairs", counts.first, counts.second, counts.offsets, counts.labels, counts.counts)


def _get_model(tensors: Tensors, header: dict[str, Any]) -> ChainModel:
    about = header["model"]
    if "graph" in about:
        return _get_graph_model(tensors, header)
    edges = SparseRows(*_get(tensors, "edges"))
    ((row,), (col,), (bias,)) = (_get(tensors, part) for part in ("edges.row", "edges.col", "bias"))
    if len(edges) != len(row) or len(row) != len(col) or int(edges.labels.max(initial=0)) >= max(1, len(row)):
        raise _misfit("edge scores")
    triples = SparseRows(*_get(tensors, "triples")) if header["order"] == 2 else SparseRows()
    local = bool(about.get("locally_normalised", False))
    return ChainModel(
        _get_strings(tensors, "labels"),
        EdgeScores(*edges.arrays(), row, col, float(about["edge_weight"]), local, triples),
        SparseRows(*_get(tensors, "weights")),
        bias,
        SparseRows(*_get(tensors, "rows")),
        tuple(int(r) for r in about["rungs"]),
        tuple(int(b) for b in about["rung_bases"]),
        int(about["word_column"]),
        bool(about["all_labels"]),
        float(about["floor"]),
        SparseRows(*_get(tensors, "edge_weights")) if "edge_weights.lengths" in tensors else SparseRows(),
        _unseen_rule(about["unseen"]) if "unseen" in about else None,
        LabelParts(_get_strings(tensors, "parts"), *_get(tensors, "label_parts")) if "parts" in about else None,
        bool(about.get("by_features", False)),
        # Whether the ids of pairs of words fit the vocabulary and the labels is checked when they are used.
        WordPairs(WordPairCounts(*_get(tensors, "word_pairs")), float(about["word_pairs"]))
        if "word_pairs" in about
        else None,
    )


def _unseen_rule(rule: dict[str, Any]) -> UnseenRule:
    k = tuple(float(value) for value in rule["k"])
    return UnseenRule(k, float(rule["scale"]), float(rule["shift"]), float(rule["threshold"]), int(rule["cap"]))


def _put_graph_model(
    tensors: Tensors, header: dict[str, Any], model: ChainModel, graph: GraphScores, half: bool
) -> None:
    symmetric = [own.symmetric for own in graph.edges]
    header["model"] = {"graph": {"symmetric": symmetric, "given": graph.given}}
    _put_strings(tensors, "labels", model.labels)
    _put_strings(tensors, "edge_types", StringTable.intern([own.type for own in graph.edges])[0])
    _put(tensors, "weights", *model.weights.arrays(), half=half)
    _put(tensors, "vectors", graph.vectors.ravel(), half=half)
    _put(tensors, "bias", model.bias)
    for i, own in enumerate(graph.edges):
        _put(tensors, f"edges.{i}.table", own.table.ravel(), half=half)
        _put(tensors, f"edges.{i}.weights", own.weights.ravel(), half=half)


def _get_graph_model(tensors: Tensors, header: dict[str, Any]) -> ChainModel:
    about, labels = header["model"]["graph"], _get_strings(tensors, "labels")
    k, given, symmetric = len(labels), about["given"], about["symmetric"]
    if not k or header["order"] != 1 or "counts" in header:
        raise _misfit("labels and edges")
    types, edges = _get_strings(tensors, "edge_types").to_list(), []
    if len(symmetric) != len(types) or not all(type(flag) is bool for flag in [given, *symmetric]):
        raise _misfit("types of edges")
    for i, (name, tied) in enumerate(zip(types, symmetric, strict=True)):
        ((table,), (weights,)) = (_get(tensors, f"edges.{i}.{member}") for member in ("table", "weights"))
        edges.append(EdgeTable(name, tied, table.reshape(k, k), weights.reshape(-1, k, k)))
    ((vectors,), (bias,)) = (_get(tensors, part) for part in ("vectors", "bias"))
    graph = GraphScores(tuple(edges), vectors.reshape(-1, k), given)
    return ChainModel.of_graphs(labels, SparseRows(*_get(tensors, "weights")), bias, graph)


# -- counts ----------------------------------------------------------------------------------------------------------


def _put_counts(tensors: Tensors, header: dict[str, Any], counts: Counts) -> None:
    header["counts"] = {"sentences": counts.sentences, "tokens": counts.tokens}
    if "joiner" in header:  # an update needs the lengths of keys to know the experts
        _put(tensors, "attributes.heads", counts.vocabulary.known_key_lengths + 1)
    _put(tensors, "counts", *counts.table.arrays())
    _put(tensors, "pairs", *asdict(counts.pairs).values())


def _get_counts(tensors: Tensors, header: dict[str, Any], vocabulary: Vocabulary, labels: StringTable) -> Counts:
    table, pairs, about = Table(*_get(tensors, "counts")), PairCounts(*_get(tensors, "pairs")), header["counts"]
    if (
        len(table) != int(vocabulary.bases[-1])
        or int(table.labels.max(initial=0)) >= len(labels)
        or max(int(pairs.origin.max(initial=0)), int(pairs.to.max(initial=0))) > len(labels)
    ):
        raise _misfit("counts and features")
    return Counts(vocabulary, labels, table, pairs, int(about["sentences"]), int(about["tokens"]))


# -- parts -----------------------------------------------------------------------------------------------------------


def _put(tensors: Tensors, part: str, *arrays: NDArray[Any], half: bool = False) -> None:
    """Store a part: its arrays in the order of the schema."""
    for (member, tensor, dtype), array in zip(_members(part), arrays, strict=True):
        if dtype == "f4" and half and np.abs(array).max(initial=0) > float(np.finfo(np.float16).max):
            raise ModelError("the model has scores that do not fit in 16 bits; save it without half")
        if dtype in ("f4", "u1"):
            tensors[tensor] = array.astype(np.float16) if half else array
        else:
            tensors[tensor] = tensor_file.narrow(np.diff(array) if member == "lengths" else array)


def _get(tensors: Tensors, part: str) -> list[NDArray[Any]]:
    """The arrays of a part in the order of the schema. Raises ModelError if they do not fit it, or each other."""
    found, size = list[NDArray[Any]](), None
    for member, tensor, dtype in _members(part):
        array = tensors[tensor]
        fits = array.dtype in (np.float16, np.float32) if dtype == "f4" else array.dtype.kind == "u"
        if array.ndim != 1 or not fits or (dtype != "f4" and int(array.max(initial=0)) > np.iinfo(dtype).max):
            raise ModelError(f"the model's tensor {tensor} has the wrong shape, dtype or size; train it again")
        if size not in (None, len(array)) or (dtype == "i8" and float(array.sum(dtype=np.float64)) >= _LARGEST_SUM):
            raise _misfit(part)
        array = np.ascontiguousarray(array, dtype=dtype)
        found.append(offsets_of(array) if member == "lengths" else array)
        size = int(found[-1][-1]) if member == "lengths" else len(array)
    return found


def _put_strings(tensors: Tensors, part: str, table: StringTable) -> None:
    _put(tensors, part, table.data, table.offsets)


def _get_strings(tensors: Tensors, part: str) -> StringTable:
    table = tensor_file.unpack_table(part, tensors)
    if part in _DISTINCT and not np.array_equal(table.find(table), np.arange(len(table))):
        raise ModelError(f"the model's {part} contain a string twice; train it again")
    return table


def _misfit(what: str) -> ModelError:
    return ModelError(f"the model's {what} do not fit together; train it again")
