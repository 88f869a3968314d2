"""Text in pieces: nothing is lost, no sentence is cut in two, whatever the blocks."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.errors import DataError
from corate.io.chunks import cut_at_blank_lines, cut_at_lines, open_blocks, refuse_nul
from corate.io.encodings import encoded, utf8

texts = st.lists(st.sampled_from([b"a", b"b c", b"\n", b"\n\n", b"\r\n", b"\r\n\r\n", "é".encode()])).map(b"".join)


def blocks_of(data, text):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]


@given(st.data(), texts)
def test_pieces_put_together_are_the_text_and_end_with_a_blank_line(data, text):
    pieces = list(cut_at_blank_lines(blocks_of(data, text)))
    assert b"".join(pieces) == text
    assert all(piece.endswith((b"\n\n", b"\n\r\n")) for piece in pieces[:-1])


@given(st.data(), texts)
def test_lines_are_never_cut(data, text):
    pieces = list(cut_at_lines(blocks_of(data, text)))
    assert b"".join(pieces) == text
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])


@given(st.data(), st.text(st.sampled_from("ab\n é€\ufeff😀")), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_characters_may_be_cut_by_blocks_but_never_in_what_comes_out(data, text, encoding):
    pieces = list(utf8(blocks_of(data, text.encode(encoding)), encoding, "x"))
    assert "".join(piece.decode() for piece in pieces) == text.removeprefix("\ufeff")


@given(st.data(), st.integers(0, 30))
def test_errors_name_the_same_place_whatever_the_blocks(data, before):
    text = b"ab\xc3\xa9\n" * before + b"ab\xff\n"
    with pytest.raises(DataError, match=rf"x, line {before + 1}: byte 0xff \(number 3 of the line\) is not utf-8"):
        list(utf8(blocks_of(data, text), "utf-8", "x"))
    with pytest.raises(DataError, match=rf"x, line {before + 1}: a NUL byte"):
        list(refuse_nul(blocks_of(data, text.replace(b"\xff", b"\0")), "x"))


def test_places_that_cannot_be_read(tmp_path, monkeypatch):
    for place, why in ((tmp_path, "is a directory"), (tmp_path / "absent", "no such file")):
        with pytest.raises(DataError, match=why), open_blocks(str(place)):
            pass
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed"), open_blocks("-"):
        pass


def test_an_encoding_with_states_ends_in_its_first():
    text = "日本"
    assert b"".join(encoded(text, "iso2022_jp", "x")) == text.encode("iso2022_jp")
    with pytest.raises(DataError, match="x, line 2: 'é' cannot be written in ascii"):
        list(encoded(["a\n", "bé"], "ascii", "x"))
