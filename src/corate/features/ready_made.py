"""Ready-made features: attributes of each token from a file or a Python function.

Counting needs names, not numbers, so numeric attributes are first binned by their quantiles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import JOINER, Attributes, Corpus, StringTable
from corate.errors import FeatureError
from corate.ragged import offsets_of

__all__ = ["Bins", "FeatureFunction", "check_joiner", "check_picklable", "groups_of", "with_features"]

#: Takes a sentence (a list of words, or of tuples if there are several columns) and a position. Returns the features of
#: that token: a list of names, or a mapping as in python-crfsuite.
FeatureFunction = Callable[[Sequence[Any], int], "Iterable[str] | Mapping[str, Any]"]

#: Number of bins of a numeric attribute.
BINS = 8
#: With at most this many names without a joiner, each is a separate expert; otherwise they share one.
MOST_FLAGS = 64


def check_joiner(attributes: Attributes | None, joiner: str) -> None:
    """Raise FeatureError if the names of attributes were joined in another way than those of a model.

    >>> check_joiner(Attributes.of([{"w": "the"}]), ":")
    Traceback (most recent call last):
    corate.errors.FeatureError: the features are named like 'key=value', but ... like 'key:value'; make the corpus ...
    """
    if attributes is not None and attributes.joiner not in (None, joiner):
        raise FeatureError(
            f"the features are named like 'key{attributes.joiner}value', but those of the model like "
            f"'key{joiner}value'; make the corpus with Corpus.from_features(..., joiner={joiner!r})"
        )


def with_features(corpus: Corpus, function: FeatureFunction, joiner: str = JOINER) -> Corpus:
    """The corpus with the attributes that a function returns for each token, added to its own attributes.

    ``joiner`` joins the keys and the strings of mappings.

    >>> corpus = Corpus.from_sentences([["to", "be"]])
    >>> corpus = with_features(corpus, lambda words, i: {"next": i + 1 < len(words)})
    >>> corpus.attributes.names.to_list(), corpus.attributes.offsets.tolist()
    (['next'], [0, 1, 1])
    """
    found: list[Iterable[str] | Mapping[str, Any]] = []
    for s in range(len(corpus)):
        sentence: Sequence[Any] = corpus.rows(s) if len(corpus.columns) > 1 else corpus.tokens(s)
        for i in range(len(sentence)):
            try:
                found.append(function(sentence, i))
            except Exception as error:
                raise FeatureError(
                    f"the feature function failed at sentence {s}, token {i} ({sentence[i]!r}): "
                    f"{type(error).__name__}: {error}"
                ) from error
    attributes = Attributes.of(found, joiner)
    return replace(
        corpus, attributes=attributes if corpus.attributes is None else _joined(corpus.attributes, attributes)
    )


def check_picklable(function: FeatureFunction | None) -> None:
    """Raise FeatureError if pickle cannot find a function by its name, as a lambda or a function in a function.

    >>> check_picklable(lambda words, i: [words[i]])
    Traceback (most recent call last):
    corate.errors.FeatureError: a tagger is pickled with the name of its feature function, and '<lambda>' of the ...
    """
    if not isinstance(function, FunctionType):
        return
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not function:
        raise FeatureError(
            f"a tagger is pickled with the name of its feature function, and {function.__qualname__!r} of the module "
            f"{function.__module__!r} cannot be imported by name; define the function with def at the top level of a "
            "module, or save the tagger and load it with features="
        )


def _joined(a: Attributes, b: Attributes) -> Attributes:
    """The attributes of both, for each token."""
    names, ids = StringTable.intern([*a.names.to_list(), *b.names.to_list()])
    widths = np.stack([np.diff(a.offsets), np.diff(b.offsets)], axis=1)
    offsets = offsets_of(widths.sum(axis=1))
    mine = np.repeat(offsets[:-1] - a.offsets[:-1], widths[:, 0]) + np.arange(len(a.ids))
    theirs = np.repeat(offsets[1:] - b.offsets[1:], widths[:, 1]) + np.arange(len(b.ids))
    out = np.empty(int(offsets[-1]), np.int32)
    out[mine], out[theirs] = ids[a.ids], ids[len(a.names) + b.ids]
    values = None
    if a.values is not None or b.values is not None:
        values = np.ones(len(out), np.float32)
        values[mine] = 1.0 if a.values is None else a.values
        values[theirs] = 1.0 if b.values is None else b.values
    return Attributes(offsets, out, names, values, b.joiner or a.joiner)


@dataclass(frozen=True)
class Bins:
    """Bin edges of numeric attributes, by name: quantiles of the training values."""

    edges: dict[str, tuple[float, ...]]

    @classmethod
    def of(cls, attributes: Attributes) -> Bins:
        """The bins of every attribute that has a value other than 1.

        >>> a = Attributes.of([{"length": float(n), "word": "a"} for n in (1, 2, 3, 4, 5, 6, 7, 80)])
        >>> bins = Bins.of(a)
        >>> bins.apply(a).names.to_list()[:4]
        ['word=a', 'length=bin 0', 'length=bin 1', 'length=bin 2']
        """
        if attributes.values is None:
            return cls({})
        names = attributes.names.to_list()
        quantiles = np.linspace(0, 1, BINS + 1)[1:-1]
        edges = {}
        for i in np.unique(attributes.ids[attributes.values != 1.0]).tolist():
            values = attributes.values[attributes.ids == i].astype(np.float64)
            edges[names[i]] = tuple(np.unique(np.quantile(values, quantiles)).tolist())
        return cls(edges)

    def apply(self, attributes: Attributes) -> Attributes:
        """The attributes without values. Each numeric attribute is replaced by the name of its bin."""
        if not self.edges:
            return replace(attributes, values=None)
        names = attributes.names.to_list()
        values = np.ones(len(attributes.ids), np.float32) if attributes.values is None else attributes.values
        ids = attributes.ids.copy()
        added: list[str] = []
        for i, name in enumerate(names):
            if name not in self.edges:
                continue
            here = np.flatnonzero(attributes.ids == i)
            bins = np.searchsorted(self.edges[name], values[here], side="right")
            ids[here] = len(names) + len(added) + bins
            added += [f"{name}=bin {b}" for b in range(len(self.edges[name]) + 1)]
        table, places = StringTable.intern([*names, *added])  # a bin and an attribute may have the same name
        return _without_unused(Attributes(attributes.offsets, places[ids], table, joiner=attributes.joiner))


def _without_unused(attributes: Attributes) -> Attributes:
    """The attributes without the names that no token uses."""
    used = np.zeros(len(attributes.names), dtype=bool)
    used[attributes.ids] = True
    names = attributes.names.to_list()
    table, _ = StringTable.intern([names[i] for i in np.flatnonzero(used)])
    return replace(attributes, ids=(np.cumsum(used) - 1).astype(np.int32)[attributes.ids], names=table)


def groups_of(names: StringTable, joiner: str = JOINER) -> tuple[NDArray[np.int32], list[str]]:
    """The expert of each attribute: the text before its "=", or another joiner, which is treated like a template.

    >>> groups_of(StringTable.intern(["w=to", "w=be", "bias"])[0])
    (array([0, 0, 1], dtype=int32), ['w', 'bias'])
    """
    texts = names.to_list()
    flags = sum(joiner not in name for name in texts)
    heads = [name.split(joiner, 1)[0] if joiner in name or flags <= MOST_FLAGS else "(others)" for name in texts]
    table, ids = StringTable.intern(heads)
    return ids, table.to_list()
