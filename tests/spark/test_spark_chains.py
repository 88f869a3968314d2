"""Polish and standard on Spark: mixed weights are about as good as those of one machine, summed gradients equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import corate
import corate.spark
from corate import ConfigError, Corpus
from small_corpora import random_sentences

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.slow

SCHEMA = "tokens array<string>, labels array<string>"
LABELLED = random_sentences(300, noise=0.2)
TEST = Corpus.from_sentences(random_sentences(200, seed=9, noise=0.2))


def frame(spark: SparkSession, labelled: list[Any], partitions: int) -> DataFrame:
    rows = [([word for word, _ in s], [label for _, label in s]) for s in labelled]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), SCHEMA)


def weights_by_name(tagger: corate.Tagger) -> dict[tuple[str, str], float]:
    """The weights of features, whatever their ids are."""
    rows = tagger.model.weights
    features = np.repeat(np.arange(len(rows)), np.diff(rows.offsets)).tolist()
    names = tagger.vocabulary.names(features)
    labels = [tagger.labels[y] for y in rows.labels.tolist()]
    return dict(zip(zip(names, labels, strict=True), rows.scores.tolist(), strict=True))


def test_standard_has_the_weights_of_one_machine(spark: SparkSession) -> None:
    # Few iterations: rounding errors grow with each. With more, both go to the same optimum.
    options: dict[str, Any] = {"iterations": 8, "features": ["word[0]", "word[-1]|word[0]", "suffix(word[0], 1)"]}
    one = corate.train(Corpus.from_sentences(LABELLED), "standard", **options)
    found = corate.spark.train(frame(spark, LABELLED, 3), "standard", **options)
    ours, theirs = weights_by_name(found), weights_by_name(one)
    assert ours.keys() == theirs.keys()
    assert [ours[key] for key in theirs] == pytest.approx([*theirs.values()], abs=2e-3)
    assert found.tag_all(TEST) == one.tag_all(TEST)
    settings = ("method", "sentences", "tokens", "labels", "features", "settings", "order", "lattice")
    assert {name: found.record[name] for name in settings} == {name: one.record[name] for name in settings}


@pytest.mark.parametrize("partitions", [1, 3])
def test_polish_is_about_as_accurate_as_on_one_machine(spark: SparkSession, partitions: int) -> None:
    one = corate.train(Corpus.from_sentences(LABELLED))
    found = corate.spark.train(frame(spark, LABELLED, partitions), "polish")
    best, mixed = corate.evaluate(one, TEST).accuracy, corate.evaluate(found, TEST).accuracy
    assert mixed > best - 0.02
    assert mixed > corate.evaluate(corate.train(Corpus.from_sentences(LABELLED), "empirical"), TEST).accuracy - 0.02
    assert found.record["base"] == one.record["base"]
    assert found.record["rounds"] == one.record["settings"]["passes"]


def test_many_labels_with_triples_and_edge_features(spark: SparkSession, tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    labelled = [[(f"w{i}", f"L{i % 30}") for i in rng.integers(60, size=6).tolist()] for _ in range(200)]
    tagger = corate.spark.train(frame(spark, labelled, 2), features=["word[0]", "edge: word[0]"], method="polish")
    assert tagger.record["order"] == 2
    assert len(tagger.model.edge_weights)
    assert corate.evaluate(tagger, Corpus.from_sentences(labelled)).accuracy > 0.95
    tagger.save(tmp_path / "m.corate")
    assert corate.load(tmp_path / "m.corate").tag(["w1", "w31"]) == ["L1", "L1"]


def test_empirical_features_and_several_columns(spark: SparkSession) -> None:
    from test_spark_empirical import tensors

    rows = [([w for w, _ in s], [w[:1] for w, _ in s], [y for _, y in s]) for s in LABELLED]
    schema = "words array<string>, initials array<string>, labels array<string>"
    options: dict[str, Any] = {"tokens": {"word": "words", "pos": "initials"}, "backoff": "pooled"}
    options["features"] = ["word[0]", "pos[-1]|pos[0]", "pos[-1]|pos[0]|pos[1]", "related_start(word[0])"]
    one, four = (
        corate.spark.train(spark.createDataFrame(spark.sparkContext.parallelize(given, n), schema), **options)
        for given, n in ((rows, 1), (rows[::-1], 4))
    )
    assert one.record["ladder"] == "pooled"
    assert tensors(one) == tensors(four)


@pytest.mark.parametrize("partitions", [7, 64])
def test_many_partitions_leave_the_tensors_as_they_are(spark: SparkSession, partitions: int) -> None:
    from test_spark_empirical import failing_once, tensors

    labelled = random_sentences(1500, noise=0.3)
    expected = tensors(corate.spark.train(frame(spark, labelled, 1)))
    mixed = [labelled[i] for i in np.random.default_rng(partitions).permutation(len(labelled))]
    assert tensors(corate.spark.train(failing_once(frame(spark, mixed, partitions)))) == expected


def test_options_that_are_not_for_spark_are_refused(spark: SparkSession) -> None:
    df = frame(spark, LABELLED[:2], 1)
    for method, name, value in (
        ("polish", "tune", True),
        ("polish", "checkpoint", "c"),
        ("standard", "sentence_weights", [1.0, 1.0]),
        ("polish", "base", "separate"),
        ("standard", "optimizer", "adagrad"),
        ("standard", "rounds", 2),
        ("polish", "rounds", 0),
    ):
        with pytest.raises(ConfigError, match=name if name != "base" else "separate"):
            corate.spark.train(df, method, **{name: value})
