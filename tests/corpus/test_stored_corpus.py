"""A corpus on disk gives back the sentences of the corpus in memory, with the same ids, and removes its files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.corpus import Corpus
from corate.corpus.stored_corpus import StoredCorpus, temporary_folder
from corate.errors import DataError
from small_corpora import Labelled, corpus_of, random_sentences, some_sentences


def folder_in(parent: Path) -> Path:
    return temporary_folder(parent)


def content(corpus: Corpus) -> list[list[tuple[str, ...]]]:
    rows = [corpus.rows(s) for s in range(len(corpus))]
    return [[(*row, y) for row, y in zip(rows[s], corpus.labels_of(s), strict=True)] for s in range(len(corpus))]


@given(labelled=some_sentences, cuts=st.lists(st.integers(0, 8)), tokens=st.integers(1, 20), data=st.data())
def test_the_corpus_in_pieces(
    labelled: Labelled,
    cuts: list[int],
    tokens: int,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    whole = corpus_of(labelled)
    ends = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    pieces = [whole[a:b] for a, b in pairwise(ends)]
    with StoredCorpus.write(pieces, folder_in(tmp_path_factory.mktemp("stored"))) as stored:
        assert (len(stored), stored.n_tokens) == (len(whole), whole.n_tokens)
        assert [row for piece in stored.pieces(tokens) for row in content(piece)] == content(whole)
        chosen = np.array(data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=6)), np.int64)
        assert content(stored.take(chosen)) == content(whole.take(chosen))
        column = whole.columns[0]
        assert stored.strings[0].to_list() == column.strings.to_list()  # in order of first appearance


def test_files_are_removed(tmp_path: Path) -> None:
    with StoredCorpus.write([corpus_of(random_sentences(5))], folder_in(tmp_path)):
        assert [*tmp_path.iterdir()]
    assert not [*tmp_path.iterdir()]
    with pytest.raises(DataError, match="no labels"):
        StoredCorpus.write([Corpus.from_sentences([["a"]])], folder_in(tmp_path))
    with pytest.raises(DataError, match="no sentences"):
        StoredCorpus.write([], folder_in(tmp_path))
    with pytest.raises(DataError, match="ready-made"):
        StoredCorpus.write([Corpus.from_features([[{"w": "a"}]], [["X"]])], folder_in(tmp_path))
    other = Corpus.from_sentences([[("a", "DT", "X")]])
    with pytest.raises(DataError, match="same columns"):
        StoredCorpus.write([corpus_of(random_sentences(2)), other], folder_in(tmp_path))
    assert not [*tmp_path.iterdir()]
