"""Text in pieces: nothing is lost, no sentence is cut in two, whatever the blocks."""

from hypothesis import given
from hypothesis import strategies as st

from corate.io.chunks import cut_at_blank_lines, cut_at_lines
from corate.io.encodings import utf8

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
