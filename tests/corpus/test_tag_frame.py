"""Labels come back as a column of the same kind of frame, next to the rows that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import corate
from corate import ConfigError, Corpus, ModelError
from corate.model import lattice
from small_corpora import corpus_of, random_sentences

LABELLED = random_sentences(40)
TAGGER = corate.train(corpus_of(LABELLED), "empirical")
WORDS = [[w for w, _ in sentence] for sentence in LABELLED]
EXPECTED = TAGGER.tag_all(WORDS)
FLAT = [y for labels in EXPECTED for y in labels]
ROWS = {
    "s": [s for s, words in enumerate(WORDS) for _ in words],
    "w": [w for words in WORDS for w in words],
}
MAKERS = [pd.DataFrame, pl.DataFrame, pa.table, pa.record_batch]


def listed(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


@pytest.mark.parametrize("make", MAKERS)
def test_a_column_of_labels_and_scores(make: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "_TOKENS_AT_ONCE", 50)
    frame = make(ROWS)
    tagged = TAGGER.tag_frame(frame, sentence="s", token="w", output="y", scores="p")
    assert type(tagged) is type(frame)
    assert listed(tagged["w"]) == ROWS["w"]
    assert listed(tagged["y"]) == FLAT
    expected = [
        m[y]
        for words, ys in zip(WORDS, EXPECTED, strict=True)
        for m, y in zip(TAGGER.marginals(words), ys, strict=True)
    ]
    assert listed(tagged["p"]) == pytest.approx(expected, abs=1e-5)
    assert "y" not in getattr(frame, "columns", [])
    assert listed(TAGGER.tag_frame(frame, sentence="s", token="w")["label"]) == FLAT


@pytest.mark.parametrize("make", MAKERS)
def test_a_column_of_lists(make: Callable[[Any], Any]) -> None:
    frame = make({"w": WORDS, "n": list(range(len(WORDS)))})
    tagged = TAGGER.tag_frame(frame, token="w", scores=True, threads=2)
    assert type(tagged) is type(frame)
    assert list(map(list, listed(tagged["label"]))) == EXPECTED
    assert list(map(len, listed(tagged["scores"]))) == list(map(len, WORDS))


def test_the_index_of_pandas_is_kept() -> None:
    index = pd.MultiIndex.from_tuples([("a", i) for i in range(len(ROWS["w"]))], names=["k", "i"])
    frame = pd.DataFrame(ROWS, index=index)
    tagged = TAGGER.tag_frame(frame, sentence="s", token="w")
    assert tagged.index.equals(index)
    assert tagged["label"].tolist() == FLAT
    again = frame.set_axis([0] * len(frame))
    assert TAGGER.tag_frame(again, sentence="s", token="w")["label"].tolist() == FLAT
    some = frame[frame["s"] % 2 == 0]
    assert TAGGER.tag_frame(some, sentence="s", token="w")["label"].tolist() == [
        y for labels in EXPECTED[::2] for y in labels
    ]


@pytest.mark.parametrize("make", MAKERS)
def test_no_rows(make: Callable[[Any], Any]) -> None:
    tagged = TAGGER.tag_frame(make({"s": [], "w": []}), sentence="s", token="w", scores=True)
    assert listed(tagged["label"]) == listed(tagged["scores"]) == []


def test_models_of_several_columns() -> None:
    corpus = Corpus.from_sentences([[("a", "D", "X"), ("b", "N", "Y")], [("b", "D", "X")]])
    tagger = corate.train(corpus, features=["word[0]", "pos[0]"])
    frame = pd.DataFrame({"s": [0, 0], "w": ["a", "b"], "pos": ["D", "N"]})
    assert tagger.tag_frame(frame, sentence="s", token="w")["label"].tolist() == ["X", "Y"]
    other = frame.rename(columns={"pos": "tag"})
    assert tagger.tag_frame(other, sentence="s", token="w", columns={"pos": "tag"})["label"].tolist() == ["X", "Y"]
    with pytest.raises(ConfigError, match="reads the column 'pos', which the frame does not have"):
        tagger.tag_frame(other, sentence="s", token="w")


def test_names_that_are_taken() -> None:
    frame = pd.DataFrame(ROWS)
    with pytest.raises(ConfigError, match="there is already a column 'w'; choose another name with output="):
        TAGGER.tag_frame(frame, sentence="s", token="w", output="w")
    with pytest.raises(ConfigError, match="there is already a column 'label'; choose another name with scores="):
        TAGGER.tag_frame(frame, sentence="s", token="w", scores="label")


def test_models_of_ready_made_features() -> None:
    tagger = corate.train(Corpus.from_features([[{"a": 1}, {"b": 1}]], [["X", "Y"]]))
    with pytest.raises(ModelError, match="ready-made features"):
        tagger.tag_frame(pd.DataFrame(ROWS), sentence="s", token="w")
