"""Data frames become the corpus of the same sentences, and bad frames give errors with the column and the row."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate import Corpus, DataError

KINDS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda data: pd.DataFrame(data, dtype=object),
    "pandas categories": lambda data: pd.DataFrame(data).astype({"label": "category"}),
    "polars": pl.DataFrame,
    "polars categories": lambda data: pl.DataFrame(data).with_columns(pl.col("label").cast(pl.Categorical)),
    "table": pa.table,
    "batch": pa.record_batch,
    "chunks": lambda data: pa.concat_tables([pa.table(data).slice(0, 2), pa.table(data).slice(2)]),
}
ROWS = {
    "document": ["a", "a", "b", "b", "b"],
    "id": [1, 1, 1, 2, 2],
    "token": ["Ann", "sings", "Bob", "sleeps", "."],
    "pos": ["N", "V", "N", "V", "P"],
    "label": ["B-PER", "O", "B-PER", "O", "O"],
}
LISTS = {"token": [["Ann", "sings"], [], ["Bob"]], "label": [["B-PER", "O"], [], ["B-PER"]], "n": [1, 2, 3]}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.sampled_from(["😀", "e\u0301", "\0", "a\nb"])
sentences = st.lists(st.lists(st.tuples(texts, texts), max_size=4), min_size=1, max_size=5)


def contents(corpus: Corpus) -> tuple[list[Any], list[list[str]] | None]:
    labels = None if corpus.labels is None else [corpus.labels_of(s) for s in range(len(corpus))]
    return list(corpus), labels


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_tokens(kind: str) -> None:
    frame = KINDS[kind](ROWS)
    corpus = Corpus.from_frame(frame, sentence=["document", "id"], token="token", label="label", columns=["pos"])
    assert [column.name for column in corpus.columns] == ["word", "pos"]
    assert contents(corpus) == (
        [[("Ann", "N"), ("sings", "V")], [("Bob", "N")], [("sleeps", "V"), (".", "P")]],
        [["B-PER", "O"], ["B-PER"], ["O", "O"]],
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, pa.record_batch])
def test_rows_of_lists(make: Callable[[Any], Any]) -> None:
    corpus = Corpus.from_frame(make(LISTS), token="token", label="label")
    assert contents(corpus) == ([[("Ann",), ("sings",)], [], [("Bob",)]], LISTS["label"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@given(labelled=sentences)
def test_a_frame_gives_the_corpus_of_its_sentences(make: Callable[[Any], Any], labelled: Any) -> None:
    expected = Corpus.from_sentences([[w for w, _ in s] for s in labelled], [[y for _, y in s] for s in labelled])
    lists = make({"w": [[w for w, _ in s] for s in labelled], "y": [[y for _, y in s] for s in labelled]})
    assert contents(Corpus.from_frame(lists, token="w", label="y")) == contents(expected)
    rows = [(s, w, y) for s, sentence in enumerate(labelled) for w, y in sentence]
    frame = make({"s": [r[0] for r in rows], "w": [r[1] for r in rows], "y": [r[2] for r in rows]})
    full = expected.take([s for s, sentence in enumerate(labelled) if sentence])
    assert contents(Corpus.from_frame(frame, sentence="s", token="w", label="y")) == contents(full)


def test_strings_are_numbered_as_in_files() -> None:
    categories = pd.Categorical(["b", "a", "b"], categories=["unused", "a", "b"])
    corpus = Corpus.from_frame(
        pd.DataFrame({"s": [1, 1, 1], "w": categories, "y": categories}), token="w", sentence="s"
    )
    assert corpus.columns[0].strings.to_list() == ["b", "a"]


def test_slices_and_renamed_columns() -> None:
    table = pa.table(ROWS).slice(2)
    corpus = Corpus.from_frame(table, sentence="id", token="token", columns={"tag": "pos"})
    assert contents(corpus) == ([[("Bob", "N")], [("sleeps", "V"), (".", "P")]], None)
    lists = pa.table(LISTS).slice(1)
    assert contents(Corpus.from_frame(lists, token="token")) == ([[], [("Bob",)]], None)


def test_other_types_of_arrow() -> None:
    fixed = pa.array([["a", "b"], ["c", "d"]], pa.list_(pa.string(), 2))
    assert Corpus.from_frame(pa.table({"w": fixed}), token="w").tokens(1) == ["c", "d"]
    view = pa.array(["a", "b"], pa.string_view())
    assert Corpus.from_frame(pa.table({"s": [True, False], "w": view}), token="w", sentence="s").tokens(1) == ["b"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_no_rows(make: Callable[[Any], Any]) -> None:
    empty = make({"s": [], "w": []})
    assert len(Corpus.from_frame(empty, token="w", sentence="s")) == 0
    assert len(Corpus.from_frame(empty, token="w")) == 0


BAD = [
    (
        {"token": "word"},
        {},
        "the frame has no column 'word'; its columns are 'document', 'id', 'token', 'pos', 'label'",
    ),
    ({"token": "id"}, {}, "column 'id' has values of the type int64, not text; convert it with .astype(str)"),
    ({}, {"token": ["a", None, "b", "c", "d"]}, "column 'token', row 1 (index 'y'): the value is missing; fill it in"),
    ({}, {"token": ["a", "b", 7, "c", "d"]}, "column 'token', row 2 (index 'z'): the int 7 is not text; convert it"),
    ({}, {"token": ["a", "b", "\ud800", "c", "d"]}, "column 'token', row 2 (index 'z'): the str '\\ud800' is not text"),
    ({}, {"token": [["a"], ["b"], ["c"], ["d"], []]}, "column 'token' has a list in each row; omit sentence= if each"),
    ({}, {"id": [1, 1, 2, 1, 3]}, "row 3 (index 'v'): the sentence with id = 1 comes back after other sentences; if"),
    (
        {},
        {"id": [1, None, 2, None, None]},
        "the sentence is missing; if only the first row of a sentence names it, fill",
    ),
    (
        {"sentence": None},
        {},
        "string, not lists; if each row is a token, name the column of the sentences with sentence=",
    ),
    ({"sentence": "i"}, {}, "its columns are 'document', 'id', 'token', 'pos', 'label'; it is in the index, so call"),
    ({"columns": ["word"]}, {}, "columns= names a column 'word' of the corpus; name it with token= or label="),
]


@pytest.mark.parametrize(("options", "values", "message"), BAD)
def test_bad_frames(options: dict[str, Any], values: dict[str, Any], message: str) -> None:
    index = pd.Index(["x", "y", "z", "v", "u"], name="i")
    made = {name: pd.Series(own, index=index, dtype=object) for name, own in values.items()}  # as they are given
    frame = pd.DataFrame({**ROWS, **made}, index=index)
    with pytest.raises(DataError) as caught:
        Corpus.from_frame(frame, **{"sentence": "id", "token": "token", "label": "label", **options})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([["a"], ["b", "c"]], "row 1: 2 values in column 'w', but 1 in column 'y'; each token needs one of each"),
        ([["a"], None], "column 'w', row 1: the value is missing"),
        ([["a"], [None]], "column 'w', row 1: a value of the list is missing"),
        ([[1], [2]], "column 'w' has lists of the type int64, not lists of text"),
        ([["a"], ["b", 1]], "column 'w', row 1: the list ['b', 1] is not text"),
    ],
)
def test_bad_lists(lists: list[Any], message: str) -> None:
    frame = pd.DataFrame({"w": lists, "y": [["Y"], ["Y"]]})
    with pytest.raises(DataError) as caught:
        Corpus.from_frame(frame, token="w", label="y")
    assert message in str(caught.value)


def test_arrow_strings_that_are_not_utf8() -> None:
    bad = _not_utf8()
    with pytest.raises(DataError, match="column 'w', row 1: the text is not UTF-8"):
        Corpus.from_frame(pa.table({"s": [1, 1], "w": bad}), token="w", sentence="s")


def _not_utf8() -> Any:
    buffers = [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff")]
    return pa.Array.from_buffers(pa.string(), 2, buffers)


def test_other_objects() -> None:
    with pytest.raises(DataError, match="a data frame of pandas or polars or an Arrow table is needed, not dict"):
        Corpus.from_frame(ROWS, token="token", sentence="id")
    with pytest.raises(DataError, match=r"LazyFrame.*call \.collect\(\) first"):
        Corpus.from_frame(pl.LazyFrame(ROWS), token="token", sentence="id")
    with pytest.raises(DataError, match="2 columns 'w'"):
        Corpus.from_frame(pd.DataFrame([["a", "b"]], columns=["w", "w"]), token="w", sentence="w")


def test_frames_are_imported_where_they_are_used() -> None:
    large = {"pandas", "polars", "pyarrow", "spacy"}
    code = f"import sys, corate; corate.Tagger, corate.train, corate.read; print(sorted({large} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "corate.corpus.frames.tables", raising=False)
    with pytest.raises(DataError, match=r"pip install corate\[frames\]"):
        Corpus.from_frame(pd.DataFrame(ROWS), token="token", sentence="id")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_label_is_unknown(missing: Any) -> None:
    frame = pd.DataFrame({"s": [1, 1, 2], "w": ["a", "b", "c"], "y": pd.Series(["X", missing, "Y"], dtype=object)})
    corpus = Corpus.from_frame(frame, sentence="s", token="w", label="y")
    assert [corpus.labels_of(s) for s in range(2)] == [["X", None], ["Y"]]
    frame["y"] = missing
    assert Corpus.from_frame(frame, sentence="s", token="w", label="y").labels_of(0) == [None, None]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_missing_label_in_a_list_is_unknown(make: Callable[[Any], Any]) -> None:
    rows = {"w": [["a", "b"], ["c"]], "y": [["X", None], ["Y"]]}
    corpus = Corpus.from_frame(make(rows), token="w", label="y")
    assert [corpus.labels_of(s) for s in range(2)] == [["X", None], ["Y"]]
    with pytest.raises(DataError, match="column 'y', row 1: the value is missing"):
        Corpus.from_frame(make(rows | {"y": [["X", None], None]}), token="w", label="y")
