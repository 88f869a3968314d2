"""Tagging and evaluation of data frames."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from corate.corpus.frames.arrow import decoded
from corate.errors import ConfigError, DataError, ModelError
from corate.evaluation.predictions import Predictions, predict
from corate.evaluation.report import Report, report_of
from corate.evaluation.tally import Tally
from corate.model.frames import columns_read
from corate.model.tagger import Tagger
from corate.rows import offsets_of
from corate.spans import are_spans, parse
from corate.spark.batches import Batch, read_batch
from corate.spark.frames import (
    SharedModel,
    TokenColumns,
    check_columns,
    loaded,
    named_columns,
    reduce_partitions,
    share,
)
from corate.strings import StringTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["evaluate", "tag"]


def tag(
    df: DataFrame,
    model: Tagger | str | os.PathLike[str],
    tokens: TokenColumns = "tokens",
    output: str = "labels",
    scores: bool | str = False,
    *,
    entities: bool | str = False,
    errors: str | None = None,
) -> DataFrame:
    """Label the sentences of a data frame. The result is a data frame with all columns of ``df`` and the new ones.

    As usual in Spark, rows are tagged only when the result is used. If the tokens of a row are null, its labels are
    null. If they are empty, its labels are empty.

    Args:
        df: a row for each sentence.
        model: a tagger, or the path of its file. The file is read by the driver and sent to the workers.
        tokens: the column of the tokens, ``array<string>``; for a model that reads several columns, a mapping from
            their names in the model to columns of ``df``.
        output: the name of the new column of labels, ``array<string>``.
        scores: True also adds a column ``"scores"`` with the probability of each label, ``array<double>``. A string is
            the name of this column.
        entities: True also adds a column ``"entities"`` with the spans of the labels, an array of structs with
            ``type``, ``start``, ``stop`` and ``probability``. ``start`` and ``stop`` (exclusive) count tokens from 0.
            A string is the name of this column.
        errors: the name of a new column, ``string``, for error messages. A bad row, such as one with a null among its
            tokens, gets a message and null labels; other rows have null here. By default, a bad row ends the job: Spark
            raises ``pyspark.errors.PythonException``, whose message shows the row.

    Raises DataError if a column is missing or has another type, ConfigError if a new column already exists or
    ``tokens`` lacks a column of the model, and ModelError if ``entities`` is set and the labels mark no spans.
    """
    from pyspark.sql.types import ArrayType, DoubleType, IntegerType, StringType, StructField, StructType

    tagger = loaded(model)
    columns = named_columns(tokens, columns_read(tagger))
    check_columns(df, list(columns.values()))
    if entities and not are_spans(tagger.labels):
        raise ModelError(f"the labels of the model ({', '.join(tagger.labels[:4])}, ...) mark no spans; omit entities")
    added = _Added(
        output,
        "scores" if scores is True else scores or None,
        "entities" if entities is True else entities or None,
        errors,
    )
    added.check(df.columns)
    span = StructType(
        [
            StructField("type", StringType()),
            StructField("start", IntegerType()),
            StructField("stop", IntegerType()),
            StructField("probability", DoubleType()),
        ]
    )
    types = [ArrayType(StringType()), ArrayType(DoubleType()), ArrayType(span), StringType()]
    fields = [StructField(name, kind) for name, kind in zip(added.names(), types, strict=True) if name is not None]
    schema = StructType([*df.schema.fields, *fields])
    return df.mapInArrow(_TagBatches(share(df, tagger), columns, added), schema)


def evaluate(
    df: DataFrame,
    model: Tagger | str | os.PathLike[str],
    tokens: TokenColumns = "tokens",
    labels: str = "labels",
) -> Report:
    """Tag a labelled data frame and compare the labels; returns the same report as :func:`corate.evaluate`.

    Args:
        df: a row for each sentence. Rows whose tokens are null are left out.
        model: a tagger, or the path of its file.
        tokens: the column or columns of the tokens, as in :func:`tag`.
        labels: the column of the correct labels, ``array<string>``, one label for each token.

    Raises DataError if a column is missing or has another type, or if there are no tokens. For a bad row, such as one
    whose labels are null, Spark raises ``pyspark.errors.PythonException``, whose message shows the row.
    """
    tagger = loaded(model)
    columns = named_columns(tokens, columns_read(tagger))
    check_columns(df, [*columns.values(), labels])
    count = _CountCorrect(share(df, tagger), columns, labels)
    found = reduce_partitions(df.select(*columns.values(), labels), count, Tally.plus)
    if found is None:
        raise DataError("the data has no tokens; give some to evaluate on")
    return report_of(found)


@dataclass(frozen=True)
class _Added:
    """The names of the new columns, None for those that are not asked for."""

    labels: str
    scores: str | None
    entities: str | None
    errors: str | None

    def names(self) -> tuple[str | None, ...]:
        return self.labels, self.scores, self.entities, self.errors

    def check(self, existing: list[str]) -> None:
        options = dict(zip(("output", "scores", "entities", "errors"), self.names(), strict=True))
        taken = {name.lower() for name in existing}  # Spark ignores case in the names of columns
        for option, name in options.items():
            if name is not None and name.lower() in taken:
                raise ConfigError(
                    f"there is already a column {name!r}; choose another name with {option}=", option=option
                )
            taken |= {name.lower()} if name is not None else set()


@dataclass(frozen=True)
class _TagBatches:
    """Adds the new columns to Arrow batches."""

    model: SharedModel
    columns: dict[str, str]
    added: _Added

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        tagger = self.model.tagger()
        for batch in batches:
            read = read_batch(batch, self.columns)
            if self.added.errors is None:
                read.check()
            new = dict(zip(self.added.names(), self._arrays(tagger, read), strict=False))
            wanted = [(name, array) for name, array in new.items() if name is not None]
            names = [*batch.schema.names, *(name for name, _ in wanted)]
            yield pa.RecordBatch.from_arrays([*batch.columns, *(array for _, array in wanted)], names)

    def _arrays(self, tagger: Tagger, read: Batch) -> list[Any]:
        """The arrays of the labels, scores, entities and errors."""
        messages = read.messages() if self.added.errors is not None else None
        if self.added.scores is None and self.added.entities is None:
            return [read.labels(tagger.tag_corpus(read.corpus)), None, None, messages]
        found = predict(tagger, read.corpus, spans=self.added.entities is not None)
        scores = read.lists(read.corpus.offsets, pa.array(found.probabilities))
        entities = None if self.added.entities is None else _entities(read, found)
        return [read.labels(found.labels), scores, entities, messages]


def _entities(read: Batch, found: Predictions) -> Any:
    """The spans of each row as an Arrow array of lists of structs."""
    assert found.starts is not None
    assert found.stops is not None
    offsets = read.corpus.offsets
    sentence = np.searchsorted(offsets, found.starts, side="right") - 1
    types, ids = StringTable.intern([parse(label)[1] for label in found.labels.strings.to_list()])
    spans = pa.StructArray.from_arrays(
        [
            decoded(ids[found.labels.ids[found.starts]], types),
            pa.array((found.starts - offsets[sentence]).astype(np.int32)),
            pa.array((found.stops - offsets[sentence]).astype(np.int32)),
            pa.array(found.span_probabilities),
        ],
        ["type", "start", "stop", "probability"],
    )
    return read.lists(offsets_of(np.bincount(sentence, minlength=len(read.corpus))), spans)


@dataclass(frozen=True)
class _CountCorrect:
    """Counts what a report needs in the Arrow batches of a partition."""

    model: SharedModel
    columns: dict[str, str]
    labels: str

    def __call__(self, batches: Iterator[Any]) -> Tally | None:
        tagger = self.model.tagger()
        known = tagger.words if len(tagger.words) else None
        found: Tally | None = None
        for batch in batches:
            read = read_batch(batch, self.columns, self.labels)
            read.check()
            if read.corpus.n_tokens:
                tally = Tally.of(read.corpus, tagger.tag_corpus(read.corpus), known)
                found = tally if found is None else found.plus(tally)
        return found
