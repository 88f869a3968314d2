"""Data frames: checks of their columns, and the models that their workers use."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from corate.errors import ConfigError, DataError
from corate.model.archive import from_bytes, load, to_bytes
from corate.model.tagger import Tagger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SharedModel", "TokenColumns", "check_columns", "loaded", "named_columns", "reduce_partitions", "share"]

T = TypeVar("T")

#: Where the tokens are: a column of words, or the name of each column in the model with the column of the data frame.
TokenColumns = str | Mapping[str, str]


def loaded(model: Tagger | str | os.PathLike[str]) -> Tagger:
    """The tagger, or the one of a file."""
    return model if isinstance(model, Tagger) else load(model)


def named_columns(tokens: TokenColumns, needed: tuple[str, ...] = ("word",)) -> dict[str, str]:
    """The columns of the data frame, by their names in the model. A single column has the only name ``needed``."""
    if isinstance(tokens, str):
        if len(needed) != 1:
            raise ConfigError(
                f"the model reads the columns {', '.join(needed)}; name the column of each, as in "
                f"tokens={{{needed[0]!r}: {tokens!r}, ...}}",
                option="tokens",
            )
        return {needed[0]: tokens}
    missing = [name for name in needed if name not in tokens]
    if missing:
        raise ConfigError(f"the model reads the column {missing[0]!r}, and tokens does not name it", option="tokens")
    return dict(tokens)


def check_columns(df: DataFrame, columns: list[str]) -> None:
    """Raise DataError if one of the columns is missing or has no lists of strings."""
    from pyspark.sql.types import ArrayType, StringType

    types = {field.name: field.dataType for field in df.schema.fields}
    for name in columns:
        if name not in types:
            raise DataError(f"the data frame has no column {name!r}; it has {', '.join(types) or 'none'}")
        found = types[name]
        if not isinstance(found, ArrayType) or not isinstance(found.elementType, StringType):
            raise DataError(
                f"the column {name!r} must be array<string>, a list of tokens in each row, not "
                f"{found.simpleString()}; split text first, for example with pyspark.sql.functions.split"
            )


@dataclass(frozen=True)
class SharedModel:
    """A model in a broadcast variable: the bytes of its file, and its feature function, if it has one."""

    broadcast: Any
    digest: str

    def tagger(self) -> Tagger:
        """The tagger. A worker process reads the bytes once, and keeps the last model that it used."""
        if self.digest not in _taggers:
            _taggers.clear()
            data, function = self.broadcast.value
            _taggers[self.digest] = from_bytes(data, function)
        return _taggers[self.digest]


_taggers: dict[str, Tagger] = {}


def share(df: DataFrame, tagger: Tagger) -> SharedModel:
    """Send a model to the workers of a data frame's session, once."""
    data = to_bytes(replace(tagger, counts=None))
    digest = hashlib.blake2b(data).hexdigest()
    return SharedModel(df.sparkSession.sparkContext.broadcast((data, tagger.function)), digest)


@dataclass(frozen=True)
class _OneRow:
    """Makes one row of a partition: the pickled result of a function of its Arrow batches, unless that is None."""

    function: Callable[[Iterator[Any]], Any]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        found = self.function(batches)
        if found is not None:
            yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(found)], pa.binary())], ["found"])


def _unpickled(row: Any) -> Any:
    return pickle.loads(row[0])


def reduce_partitions(
    df: DataFrame, function: Callable[[Iterator[Any]], T | None], combine: Callable[[T, T], T]
) -> T | None:
    """Apply a function to the Arrow batches of each partition, and combine the results in a tree.

    Spark combines partitions in no fixed order. A function returns None for a partition without rows; the result is
    None if all partitions are without rows.
    """
    found = df.mapInArrow(_OneRow(function), "found binary").rdd.map(_unpickled)

    def either(a: T | None, b: T | None) -> T | None:
        return combine(a, b) if a is not None and b is not None else b if a is None else a

    result: T | None = found.treeAggregate(None, either, either)
    return result
