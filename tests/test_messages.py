"""Messages quote little of long values, and keep what is around them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate.errors import (
    MOST_QUOTED,
    MOST_SHOWN,
    Argument,
    ConfigError,
    CorateError,
    CorateWarning,
    DataError,
    Excerpt,
    FeatureError,
    placed,
    shortened,
)

LONG = "x" * 1_000_000
SPACED = "x y " * 250_000


def short(error):
    """A message with at most 200 characters of a value, which it may quote twice, and with what it says around it."""
    message = str(error)
    assert len(message) <= MOST_SHOWN
    assert "x" * (MOST_QUOTED + 1) not in message
    assert message.count("x") <= 2 * MOST_QUOTED
    return True


#: A format, and text that its reader refuses.
REFUSED = [
    ("columns", f"a X\n{LONG} b c\n"),
    ("columns", f"a X\n{'x ' * 500_000}\n"),
    ("conllu", f"1\t{LONG}\n"),
    ("conllu", f"{LONG}\n"),
    ("slashed", f"a/X {LONG}\n"),
    ("items", f"X\t{LONG}:{LONG}\n"),
    ("items", f"X\t{SPACED}:{SPACED}\n"),
    ("jsonl", f"{LONG}\n"),
    ("jsonl", f'"{LONG}"\n'),
    ("jsonl", f'{{"{LONG}": "a"}}\n'),
    ("jsonl", f'{{"{SPACED}": "a"}}\n'),
    ("jsonl", f'{{"tokens": ["{LONG}"], "labels": []}}\n'),
    ("labelstudio", f'"{LONG}"'),
    ("labelstudio", f'[{{"id": "{LONG}", "data": {{"{SPACED}": 1}}}}]'),
    ("auto", f"{LONG} a\n{LONG}\nb\n"),
    (LONG, "a X\n"),
    (SPACED, "a X\n"),
]


@pytest.mark.parametrize(("format", "text"), REFUSED, ids=[f"{i}-{row[0][:8]}" for i, row in enumerate(REFUSED)])
def test_no_reader_quotes_a_megabyte(format, text):
    with pytest.raises(CorateError) as raised:
        corate.read(text.encode(), format=format)
    assert short(raised.value)


@pytest.mark.parametrize("value", [LONG, SPACED], ids=["long", "spaced"])
@pytest.mark.parametrize(
    "call",
    [
        lambda value: corate.read(value),
        lambda value: corate.read(b"a X\n", encoding=value),
        lambda value: corate.read(b"a X\n", separator=value),
        lambda value: corate.read(b"a X\n", docstart=value),
        lambda value: corate.read(b"1\ta" + b"\t_" * 8, label=value),
        lambda value: corate.read(b"a X\n", columns=[value, "label", "label"]),
        lambda value: corate.train(corate.read(b"a X\n"), value),
        lambda value: corate.train(corate.read(b"a X\n"), features=[value + "("]),
        lambda value: corate.train(corate.read(b"a X\n"), features=value),
        lambda value: corate.train(corate.read(b"a X\n"), base=value),
        lambda value: corate.load(value),
    ],
)
def test_no_argument_is_quoted_whole(call, value):
    with pytest.raises(CorateError) as raised:
        call(value)
    assert short(raised.value)


def test_short_messages_stay_as_they_are():
    message = "x.tsv, line 3: 'it''s' is not word/label; fix it\n  word[0\n        ^"
    assert str(DataError(message)) == message
    own = " ".join(["a sentence of our own words"] * 35)  # long, but without long values
    assert str(DataError(own)) == own


@given(st.text(alphabet="ab '\"\n\\.^", max_size=3000), st.text(max_size=20), st.text(max_size=20))
def test_messages_are_short_once_and_for_all(value, before, after):
    message = shortened(f"{before}{value!r}{after}")
    assert len(message) <= MOST_SHOWN
    assert shortened(message) == message


def test_the_place_that_a_caret_shows_is_kept():
    text = f"{'a|' * 5000}wrong{'|b' * 5000}"
    *_, line, caret = str(DataError("unknown", excerpt=Excerpt(text, text.index("wrong")))).split("\n")
    assert line[caret.index("^") :].startswith("wrong")
    assert len(line) <= MOST_QUOTED


def test_errors_with_long_values_can_be_pickled():
    for error in (DataError(LONG), ConfigError(LONG, option="base")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))


def test_errors_carry_their_place_and_remedy(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("Ann NAME\nsleeps\n")
    with pytest.raises(DataError) as raised:
        corate.read(path)
    error = pickle.loads(pickle.dumps(raised.value))
    assert (error.file, error.line, error.option) == (str(path), 2, None)
    assert error.problem == "1 column, but the rows before have 2"
    assert str(error).endswith("; fix the line, or omit such lines with skip_bad=True")
    assert error.worded(lambda argument: f"<{argument.name}>").endswith("with <skip_bad>")


def test_the_innermost_file_is_the_place_of_an_error():
    outer, inner = placed(file="b.jsonl", line=7), placed(file="a.json")
    with pytest.raises(DataError, match=r"^a\.json, line 3: bad$"), outer, inner:
        raise DataError("bad", line=3)
    with pytest.raises(FeatureError) as raised:
        corate.train(corate.read(b"a X\n"), features=["word[0]", "word[0"])
    assert raised.value.excerpt == Excerpt("word[0", 6)
    with pytest.raises(TypeError):
        DataError("bad", row=3)


@given(st.text(max_size=30))
def test_a_value_of_an_argument_comes_back(value):
    texts = [DataError(f"use {Argument('encoding', value)}"), CorateWarning(f"use {Argument('encoding', value)}")]
    found = []
    assert {text.worded(lambda argument: found.append(argument) or "it") for text in texts} == {"use it"}
    assert found == 2 * [Argument("encoding", value)]


def test_lines_of_pieces_count_from_the_start_of_a_file_with_a_long_name(tmp_path, monkeypatch):
    from corate.formats import read_pieces
    from corate.io import chunks

    monkeypatch.setattr(chunks, "BLOCK_BYTES", 100)
    folder = tmp_path / ("d" * 150) / ("e" * 150)
    folder.mkdir(parents=True)
    path = folder / "text.tsv"
    path.write_text("a\tX\n\n" * 50 + "a\n")
    with pytest.raises(DataError, match=r"text\.tsv, line 101: 1 column"):
        list(read_pieces(str(path)))
