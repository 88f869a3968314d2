"""The native parsers agree with their plain Python twins on any text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from corate import _native
from corate.corpus import StringTable
from reference import columns as twin

PIECES = ["a", "bc", "é", "\u00a0", "\u2028", "日本", "#", "-DOCSTART-", "/", "\\", ":", "0.5", "="]
SPACES = [" ", "\t", "\r", "\n", "\r\n", "\n\n", "  ", "\t\t", " \n", "\f"]


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Text full of what parsers trip over, sometimes with a byte order mark or a NUL byte."""
    parts = draw(st.lists(st.sampled_from(PIECES + SPACES), max_size=60))
    text = draw(st.sampled_from(["", "", "\ufeff"])) + "".join(parts)
    if draw(st.integers(0, 15)) == 0:
        text += "\0" + draw(st.sampled_from(SPACES))
    return text.encode()


def strings(column: tuple) -> list[str]:
    ids, blob, offsets = column
    table = StringTable(blob, offsets).to_list()
    assert len(set(table)) == len(table)
    return [table[i] for i in ids]


def check(native: tuple, plain: twin.Parsed, skip_bad: bool) -> None:
    columns, sentences, bad_line, bad_width, skipped = native
    assert (bad_line, bad_width) == (plain.bad_line, plain.bad_width)
    if bad_line < 0 or (skip_bad and bad_width >= 0):
        assert [strings(c) for c in columns] == plain.columns
        assert sentences.tolist() == plain.sentences
        assert skipped == plain.skipped
        assert all(a < b for a, b in pairwise(plain.sentences))


@given(
    texts(),
    st.sampled_from(["", "\t", " ", "/"]),
    st.sampled_from(["", "#", "a", "é"]),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)
def test_columns(data: bytes, separator: str, comment: str, width: int, skip_bad: bool, docstart: bool) -> None:
    native = _native.parse_columns(data, separator, comment, width, skip_bad, docstart)
    check(native, twin.parse_columns(data, separator, comment, width, skip_bad, docstart), skip_bad)


@st.composite
def conllu_texts(draw: st.DrawFn) -> bytes:
    """CoNLL-U with odd rows between good ones."""
    ids = st.sampled_from(["1", "12", "3-4", "3.1", "3-", ".1", "x", ""])
    values = st.sampled_from(["_", "a", "é b", "", "# c", "K=v|L=w"])
    rows = st.builds(lambda i, rest: "\t".join([i, *rest]), ids, st.lists(values, min_size=9, max_size=9))
    lines = st.one_of(rows, st.sampled_from(["", "# text = a", " \t", "1\ta", "#"]), texts().map(bytes.decode))
    ends = st.sampled_from(["\n", "\n", "\r\n", "\n\n"])
    text = "".join(draw(st.lists(st.builds(str.__add__, lines, ends), max_size=12)))
    return (draw(st.sampled_from(["", "", "\ufeff"])) + text.removesuffix("\n")).encode()


@given(conllu_texts(), st.lists(st.integers(0, 9), min_size=1, max_size=3), st.booleans())
def test_conllu(data: bytes, fields: list[int], skip_bad: bool) -> None:
    native = _native.parse_conllu(data, fields, skip_bad)
    check(native, twin.parse_conllu(data, fields, skip_bad), skip_bad)


@given(texts(), st.booleans(), st.sampled_from(["", "#"]), st.booleans())
def test_lines(data: bytes, slashed: bool, comment: str, skip_bad: bool) -> None:
    native = _native.parse_lines(data, slashed, comment, skip_bad)
    check(native, twin.parse_lines(data, slashed, comment, skip_bad), skip_bad)


@given(texts(), st.sampled_from(["", "#"]))
def test_items(data: bytes, comment: str) -> None:
    parsed, ends, lines = _native.parse_items(data, comment)
    if b"\0" in data:
        assert parsed[3] == -1
        return
    sentences = twin.parse_items(data, comment)
    items = [item for sentence in sentences for item in sentence]
    labels, names, values = (strings(c) for c in parsed[0])
    assert labels == [item.label for item in items]
    assert list(zip(names, values, strict=True)) == [a for item in items for a in item.attributes]
    assert [b - a for a, b in pairwise(ends.tolist())] == [len(item.attributes) for item in items]
    assert lines.tolist() == [item.line for item in items]
    assert [b - a for a, b in pairwise(parsed[1].tolist())] == [len(sentence) for sentence in sentences]
