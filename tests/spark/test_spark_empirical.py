"""Empirical models that Spark trains have the same tensors for any partitions, order of rows and failed tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import corate
import corate.spark
from corate import ConfigError, Corpus, FeatureError
from corate.model.archive import _content
from small_corpora import random_sentences

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LABELLED = random_sentences(400, noise=0.3)
SCHEMA = "tokens array<string>, labels array<string>"


def frame(spark: SparkSession, labelled: list[Any], partitions: int) -> DataFrame:
    rows = [([word for word, _ in s], [label for _, label in s]) for s in labelled]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), SCHEMA)


def tensors(tagger: corate.Tagger) -> dict[str, tuple[str, bytes]]:
    """The type and the bytes of each tensor of the model file."""
    return {name: (str(t.dtype), t.tobytes()) for name, t in _content(tagger, counts=True, half=False)[0].items()}


def failing_once(df: DataFrame) -> DataFrame:
    """The same rows, after an error at the first attempt of the task of partition 0."""

    def passed_on(batches: Any) -> Any:  # pickled by value: workers do not find the modules of tests
        from pyspark import TaskContext

        context = TaskContext.get()
        yield next(batches)
        if context.partitionId() == 0 and context.attemptNumber() == 0:
            raise RuntimeError("the first attempt fails")
        yield from batches

    return df.mapInArrow(passed_on, SCHEMA)


def test_partitions_order_and_a_failed_task_leave_the_tensors_as_they_are(spark: SparkSession) -> None:
    one = corate.spark.train(frame(spark, LABELLED, 1))
    expected = tensors(one)
    shuffled = [LABELLED[i] for i in np.random.default_rng(1).permutation(len(LABELLED))]
    again = corate.spark.train(failing_once(frame(spark, shuffled, 7)))
    assert tensors(again) == expected
    assert {**again.record, "seconds": 0} == {**one.record, "seconds": 0}
    assert one.record["held_out"]["tokens"] > 0
    assert one.record["tokens"] == sum(map(len, LABELLED))


def test_the_counts_are_those_of_one_machine(spark: SparkSession) -> None:
    expert = {
        "word_k": 0.5,
        "lower_k": 0.25,
        "level_k": 4.0,
        "neighbour": 0.7,
        "context": 0.7,
        "oov": 1.0,
        "edge": 0.75,
    }
    fixed: dict[str, Any] = {"backoff": "default", "expert": expert}
    found = corate.spark.train(frame(spark, LABELLED, 3), **fixed)
    corpus = Corpus.from_sentences(LABELLED)
    usual = corate.train(corpus, "empirical", **fixed)
    sentences = [["the", "Cats", "x-1"], ["walks", "42", "é"], ["Dog", "."]]
    assert found.tag_all(sentences) == usual.tag_all(sentences)
    for sentence in sentences:
        for ours, theirs in zip(found.marginals(sentence), usual.marginals(sentence), strict=True):
            assert ours == pytest.approx(theirs, abs=1e-5)
    more = found.update(Corpus.from_sentences([[("emu", "N")]]))
    assert more.record["sentences"] == len(LABELLED) + 1


def test_bad_training_rows_and_methods_are_refused(spark: SparkSession) -> None:
    bad = spark.createDataFrame([(["a", "b"], ["X"]), (["c"], ["Y"])], SCHEMA)
    with pytest.raises(Exception, match=r"tokens = \['a', 'b'\], labels = \['X'\]: labels and tokens differ in length"):
        corate.spark.train(bad)
    with pytest.raises(Exception, match=r"tokens = \['a'\], labels = None: labels is null"):
        corate.spark.train(spark.createDataFrame([(["a"], None)], SCHEMA))
    with pytest.raises(corate.DataError, match="no tokens to train on"):
        corate.spark.train(spark.createDataFrame([([], []), (None, None)], SCHEMA))
    with pytest.raises(ConfigError, match="'memm'"):
        corate.spark.train(bad, "memm")
    with pytest.raises(ConfigError, match="pairs is not for training on Spark"):
        corate.spark.train(bad, "empirical", pairs="words")
    with pytest.raises(FeatureError, match="feature functions"):
        corate.spark.train(bad, features=lambda tokens, i: {"w": tokens[i]})
    with pytest.raises(FeatureError, match="the pooled back-off needs features"):
        corate.spark.train(bad, backoff="pooled")


def test_an_empty_label_is_refused(spark: SparkSession) -> None:
    df = spark.createDataFrame([(["a", "b"], ["X", ""])], "tokens array<string>, labels array<string>")
    with pytest.raises(Exception, match="labels has an empty label"):
        corate.spark.train(df, "empirical", tokens="tokens", labels="labels")
