"""Tagging and evaluation on Spark give what one machine gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import corate
import corate.spark
from corate import ConfigError, Corpus, DataError, ModelError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRAINING = [
    [("Ann", "B-PER"), ("Lee", "I-PER"), ("sleeps", "O")],
    [("Bob", "B-PER"), ("lives", "O"), ("in", "O"), ("Delft", "B-LOC")],
    [("Żółć", "B-LOC"), ("is", "O"), ("far", "O")],
] * 4
SENTENCES = [["Ann", "lives", "in", "Żółć"], [], None, ["日本"], ["Bob", "Lee", "", "sleeps"]] * 3


@pytest.fixture(scope="module")
def tagger() -> corate.Tagger:
    return corate.train(Corpus.from_sentences(TRAINING))


def rows_of(spark: SparkSession, rows: list[Any], schema: str = "id int, tokens array<string>") -> Any:
    return spark.createDataFrame(rows, schema)


def test_labels_scores_and_entities_are_those_of_one_machine(spark: SparkSession, tagger: corate.Tagger) -> None:
    df = rows_of(spark, list(enumerate(SENTENCES))).repartition(3)
    found = {row.id: row for row in corate.spark.tag(df, tagger, scores=True, entities="spans").collect()}
    assert len(found) == len(SENTENCES)
    for i, words in enumerate(SENTENCES):
        row = found[i]
        assert row.tokens == words
        if words is None:
            assert (row.labels, row.scores, row.spans) == (None, None, None)
            continue
        labels = tagger.tag(words) if words else []
        assert row.labels == labels
        marginals = tagger.marginals(words) if words else []
        expected = [p[label] for p, label in zip(marginals, labels, strict=True)]
        assert row.scores == pytest.approx(expected, abs=1e-5)
        entities = tagger.entities(words) if words else []
        assert [(e.type, e.start, e.stop) for e in row.spans] == [(e.type, e.start, e.stop) for e in entities]
        assert [e.probability for e in row.spans] == pytest.approx([e.probability for e in entities], abs=1e-5)


def test_a_model_file_and_several_columns(spark: SparkSession, tmp_path: Any) -> None:
    rows = [[("the", "DT", "O"), ("dog", "NN", "B")], [("a", "DT", "O"), ("cat", "NN", "B")]]
    tagger = corate.train(
        Corpus.from_sentences(rows, columns=["word", "pos", "label"]), features=["word[0]", "pos[0]|pos[-1]"]
    )
    tagger.save(tmp_path / "m.corate")
    df = rows_of(spark, [(["the", "emu"], ["DT", "NN"])], "words array<string>, tags array<string>")
    found = corate.spark.tag(df, tmp_path / "m.corate", tokens={"word": "words", "pos": "tags"}).collect()
    assert found[0].labels == tagger.tag([("the", "DT"), ("emu", "NN")])
    with pytest.raises(ConfigError, match="the model reads the columns word, pos"):
        corate.spark.tag(df, tagger, tokens="words")
    bad = rows_of(spark, [(["the", "emu"], ["DT"])], "words array<string>, tags array<string>")
    (row,) = corate.spark.tag(bad, tagger, tokens={"word": "words", "pos": "tags"}, errors="why").collect()
    assert row.labels is None
    assert row.why == "the row with words = ['the', 'emu'], tags = ['DT']: tags and words differ in length"


def test_a_bad_row_is_named_or_goes_to_a_column(spark: SparkSession, tagger: corate.Tagger) -> None:
    from pyspark.sql import functions as f

    df = rows_of(spark, [(0, ["Ann"]), (1, ["Bob", None]), (2, None)])
    with pytest.raises(Exception, match=r"the row with tokens = \['Bob', None\]: tokens has a null"):
        corate.spark.tag(df, tagger).collect()
    found = {row.id: row for row in corate.spark.tag(df, tagger, errors="problem").collect()}
    assert found[0].labels == ["B-PER"]
    assert found[0].problem is None
    assert found[1].labels is None
    assert "tokens has a null" in found[1].problem
    assert (found[2].labels, found[2].problem) == (None, None)
    broken = df.where("id = 0").withColumn("tokens", f.array(f.expr("cast(unhex('ff61') as string)")))
    (row,) = corate.spark.tag(broken, tagger, errors="problem").collect()
    assert "is not UTF-8" in row.problem


def test_columns_that_do_not_fit_are_refused_before_any_job(spark: SparkSession, tagger: corate.Tagger) -> None:
    df = spark.createDataFrame([("Ann sleeps", ["O"])], "tokens string, labels array<string>")
    with pytest.raises(DataError, match=r"'tokens' must be array<string>.* not string; split text first"):
        corate.spark.tag(df, tagger)
    with pytest.raises(DataError, match="no column 'words'; it has tokens, labels"):
        corate.spark.tag(df, tagger, tokens="words")
    with pytest.raises(ConfigError, match="already a column 'labels'; choose another name with output="):
        corate.spark.tag(df, tagger, tokens="labels")
    plain = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
    with pytest.raises(ModelError, match="mark no spans"):
        corate.spark.tag(df, plain, tokens="labels", output="new", entities=True)


def test_evaluation_is_that_of_one_machine(spark: SparkSession, tagger: corate.Tagger) -> None:
    gold = [*TRAINING, [("Ann", "O"), ("in", "B-LOC"), ("Rome", "I-LOC")], [("Ann", "B-PER")]]
    rows = [([word for word, _ in s], [label for _, label in s]) for s in gold]
    df = spark.createDataFrame([*rows, ([], [])], "tokens array<string>, labels array<string>").repartition(5)
    report = corate.spark.evaluate(df, tagger)
    expected = corate.evaluate(tagger, Corpus.from_sentences([*gold, []]))
    assert report.to_dict() == expected.to_dict()
    assert report.confusion.matrix().tolist() == expected.confusion.matrix().tolist()
    with pytest.raises(DataError, match="no tokens"):
        corate.spark.evaluate(df.where("size(tokens) > 99"), tagger)
