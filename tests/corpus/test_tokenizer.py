"""The tokeniser: its rules, and what holds for every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate.corpus.tokenizer import Token, tokenize
from corate.errors import DataError

# Separated by a vertical bar: the tokens of the text without bars. Spaces around a bar are in the text.
EXAMPLES = """
Ann| lives| in| Eindhoven|.
Mr.| J.| Smith|,| Dr.| No|.
He| works| for| Acme| Inc.|,| not| for| Ann| B.| Lee|.
It| was| him| and| I|.
the| U.S.| and| the| U.S.A|,| e.g.| here|,| at| 9| a.m.
J.R.R.| Tolkien|;| J.|Smith
don't| stop| l'homme| aujourd\u2019hui|,| O'Brien|'
the| dogs|'| bones| and| '|quoted|'| words
1,234.50| and| 3.14|,| 12:30|,| 1/2|,| 5|%|,| €|7|,| -|3|.
in| 2024|.| Then| 3rd|,| B2B|,| A4
see| https://example.org/a_(b)?c=1&d=2|.
(|see| http://example.org/x|)|,| or| www.example.org|!
write| to| ann.lee+news@mail.example.org|,| Bob|.
well-known| e-mail| a|--|b| wait|...| what|?|!|?|!!!
(|(|a|)|)|[|b|]| |“|c|”| |«|d|»|…
notes.txt| on| example.com|.| Next
snake_case| __|init|__
bijv.| of| usw.| etc.
"""


@pytest.mark.parametrize("example", EXAMPLES.strip().split("\n"))
def test_examples(example: str) -> None:
    tokens = [part.strip() for part in example.split("|") if part.strip()]
    assert [token.text for token in tokenize(example.replace("|", ""))] == tokens


@pytest.mark.parametrize(
    "word",
    [
        "Zoe\u0308",  # a letter and a combining mark
        "हिन्दी",
        "עִבְרִית",
        "العَرَبِيَّة",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # with a zero width non-joiner
        "Donau\u00addampf",  # with a soft hyphen
        "ภาษาไทย",
        "👩\u200d👩\u200d👧",  # with zero width joiners
        "❤\ufe0f",
        "l·l",
    ],
)
def test_words_of_any_script_stay_whole(word: str) -> None:
    assert [token.text for token in tokenize(f"({word}, {word}!")] == ["(", word, ",", word, "!"]


def test_empty_text_has_no_tokens() -> None:
    assert tokenize("") == tokenize(" \t\u00a0\n") == []


def test_a_token_has_its_place() -> None:
    assert tokenize(" Ann!") == [Token("Ann", 1, 4), Token("!", 4, 5)]
    assert corate.tokenize is tokenize


def test_bytes_are_refused() -> None:
    with pytest.raises(DataError, match="decode"):
        tokenize(b"Ann")  # type: ignore[arg-type]


# Mixes of what the rules are about find more than random characters.
PIECES = st.sampled_from(
    [
        "a",
        "B",
        "é",
        "e\u0301",
        "ד",
        "ि",
        "7",
        ".",
        ",",
        "'",
        "\u2019",
        "-",
        "_",
        "/",
        ":",
        "(",
        ")",
        "@",
        "www.",
        "http://",
        " ",
        "\n",
        "\u00a0",
        "\u200b",
        "\u200d",
        "\ufeff",
        "Mr",
        "U.S",
        "!",
        "?",
        "…",
        "😀",
        "\ud800",
        "\x00",
        "\x85",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=40))
def test_tokens_and_white_space_make_up_every_text(text: str) -> None:
    at, between = 0, ""
    for token in tokenize(text):
        between += text[at : token.start]
        assert token.start >= at
        assert token.stop > token.start
        assert text[token.start : token.stop] == token.text
        assert not any(c.isspace() for c in token.text)
        at = token.stop
    assert all(c.isspace() or c in "\u200b\ufeff" for c in between + text[at:])


@given(st.text(alphabet="ab̃c7é", min_size=1))
def test_letters_digits_and_marks_are_never_split(text: str) -> None:
    tokens = tokenize("x" + text)
    assert [token.text for token in tokens] == ["x" + text]


def test_long_texts_take_no_more_than_linear_time_in_steps() -> None:
    # each would take hours if the expressions tried every start with every end
    for piece in ("a", "a.", "www.", "@", "(", "1,", "A. ", "-", "http://", "\u0301", "a@"):
        text = piece * (200_000 // len(piece))
        assert tokenize(text)[-1].stop == len(text.rstrip())
