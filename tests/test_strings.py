"""Tables of strings: from buffers as from Python strings, joined, and in the order of their bytes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.rows import offsets_of
from corate.strings import StringTable

texts = st.lists(st.text(alphabet="abé日", max_size=3), max_size=20)


@given(texts)
def test_a_buffer_is_interned_as_python_strings_are(strings: list[str]) -> None:
    encoded = [string.encode() for string in strings]
    data = np.frombuffer(b"".join(encoded), np.uint8)
    table, ids = StringTable.intern_buffer(data, offsets_of(np.array([len(e) for e in encoded], dtype=np.int64)))
    assert table.to_list() == list(dict.fromkeys(strings))
    assert [table[i] for i in ids.tolist()] == strings
    again = pickle.loads(pickle.dumps(table))
    assert again.to_list() == table.to_list()


@pytest.mark.parametrize("offsets", [[0, 1], [1, 2], [0, 2, 1, 2], []], ids=repr)
def test_offsets_that_do_not_fit_are_refused(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="strings and their offsets disagree"):
        StringTable.intern_buffer(np.frombuffer(b"ab", np.uint8), np.array(offsets, np.int64))


@given(texts, texts)
def test_joined_and_sorted(first: list[str], second: list[str]) -> None:
    tables = [StringTable.intern(strings)[0] for strings in (first, second)]
    table, places = StringTable.joined(tables)
    assert table.to_list() == list(dict.fromkeys([*first, *second]))
    assert [[table[i] for i in own.tolist()] for own in places] == [t.to_list() for t in tables]
    assert table.take(table.sorted()).to_list() == sorted({*first, *second}, key=str.encode)
