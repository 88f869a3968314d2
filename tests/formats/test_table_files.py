"""Tables with named columns: what the csv module writes reads back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.errors import DataError
from corate.formats.tables import read_table

values = st.text("aé,;|\"' \n\t", min_size=1)


@given(st.lists(st.tuples(values, values), min_size=1), st.sampled_from(",;\t|"))
def test_what_is_written_reads_back(rows: list[tuple[str, str]], separator: str) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("first", "second"), *rows])
    found = read_table(file.getvalue().encode(), ["second", "first"], separator=separator)
    assert list(zip(found["first"], found["second"], strict=True)) == rows
    assert list(found) == ["second", "first"]


def test_the_separator_is_found_in_the_header_row() -> None:
    for separator in ",;\t":
        table = f"a{separator}b\n1{separator}2\n".encode()
        assert read_table(table, ["a", "b"]) == {"a": ["1"], "b": ["2"]}
    assert read_table(b"a\n1,5\n", ["a"], separator=";") == {"a": ["1,5"]}
    with pytest.raises(DataError, match="no column 'a'; it has 'a b'"):
        read_table(b"a b\n1 2\n", ["a"])
