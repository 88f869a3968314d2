"""A small rule-based tokeniser for text in any script that puts spaces between words.

Each character has a class, mostly from its Unicode category, and regular expressions over the classes find the tokens.
docs/formats.md lists the rules.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from corate.errors import DataError

__all__ = ["Token", "Tokenizer", "iterate_tokens", "place_tokens", "tokenize"]


class Token(NamedTuple):
    """A token with its place: characters ``start`` to ``stop`` (exclusive) of the text."""

    text: str
    start: int
    stop: int


#: A function that can replace `tokenize`: from a text to its tokens, as strings or with their places.
Tokenizer = Callable[[str], Iterable[str | Token]]

#: Abbreviations that keep their point, in lower case. Single letters with points (``U.S.``) need no list.
_ABBREVIATIONS = """
mr mrs ms dr prof st jr sr gen sen rep gov lt col sgt capt rev hon messrs mt ft
inc ltd corp co bros dept univ assn ave blvd rd
jan feb mar apr jun jul aug sep sept oct nov dec
etc vs cf approx est fig vol pp ed eds al
dhr mevr mw drs ing ir nr blz enz bijv
bzw usw hr fr ca evtl ggf inkl
mme mlle
"""
_KNOWN = frozenset(_ABBREVIATIONS.split())

#: Patterns are compiled at the first text: most programs that import this module have none.
_SPECIAL = r"""
    (?<!\w) (?: [a-z][a-z0-9+.-]{1,20}:// | www\. )         # a URL; brackets in pairs, no punctuation at its end
    (?: [^\s<>()"“”«»] | \([^\s<>()]*\) )*
    (?: [^\s<>()"“”«».,;:!?'\u2019\]}] | \([^\s<>()]*\) )
    | (?<![\w.+-]) [\w.+-]{1,64} @ [\w-]+ (?: \.[\w-]+ )+   # an e-mail address
    """

_ZERO_WIDTH_JOINER = "\u200d"
#: Characters with the class of another one: apostrophes, Hebrew and middle points, hyphens, zero width spaces.
_EQUAL = {
    **dict.fromkeys("\u2019\uff07\u05f3\u05f4\u00b7\u2027", "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
    **dict.fromkeys("\u200b\ufeff", " "),
}


class _Classes(dict[int, str]):
    """From a code point to its class.

    ``A`` is a capital letter, ``a`` another letter, ``m`` a mark or an invisible character, ``j`` the zero width
    joiner, ``0`` a digit, a space is white space, ``s`` a symbol and ``p`` punctuation. ASCII punctuation and symbols
    are classes of their own. `tokenize` adds ``u`` and ``v``: the first and the other characters of a URL.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if char in _EQUAL:
            found = _EQUAL[char]
        elif char.isspace() or category[0] == "Z":
            found = " "
        elif char == _ZERO_WIDTH_JOINER:
            found = "j"
        elif category in ("Lu", "Lt"):
            found = "A"
        elif category[0] in "LNM":
            found = {"L": "a", "N": "0", "M": "m"}[category[0]]
        elif category == "Cf":
            found = "m"
        elif char.isascii() and char.isprintable():
            found = char
        else:
            found = "p" if category[0] == "P" else "s"
        self[code] = found
        return found


_CLASSES = _Classes()
_TOKEN = r"""
    uv*
    | [Aa][mj]* (?: \.[Aa][mj]* )+ (?![Aa0mj]) \.?                      # U.S., e.g.
    | A[mj]* \. (?!\.) (?= [ ]*[^ ])                                    # an initial, if text follows
    | (?P<word> [Aa0][Aa0mj]* (?: (?: ['_-] | (?<=0)[.,:/](?=0) | \.(?=a) ) [Aa0][Aa0mj]* )* )
    | s[mj]* (?: (?<=j) s[mj]* )*                                       # a symbol, or several that are joined
    | (?P<run> [-.=*_!?'`~#] ) (?P=run)*
    | [^ ][mj]*
    """


def tokenize(text: str) -> list[Token]:
    """Split text into words, numbers, punctuation, URLs and e-mail addresses.

    Each token ``t`` has the attributes ``text``, ``start`` and ``stop``, with ``text[t.start:t.stop] == t.text``.
    White space and zero width spaces separate tokens and are not part of any. Raises DataError if ``text`` is not a
    string.

    >>> [token.text for token in tokenize("Mr. J. Smith doesn't live in Eindhoven.")]
    ['Mr.', 'J.', 'Smith', "doesn't", 'live', 'in', 'Eindhoven', '.']
    >>> tokenize("€1,234.50!")
    [Token(text='€', start=0, stop=1), Token(text='1,234.50', start=1, stop=9), Token(text='!', start=9, stop=10)]
    """
    return list(iterate_tokens(text))


def iterate_tokens(text: str) -> Iterator[Token]:
    """The tokens of `tokenize`, one at a time: those of a long text take many times its memory.

    >>> next(iterate_tokens("Ann sings.")).text
    'Ann'
    """
    if not isinstance(text, str):
        raise DataError(f"the text to tokenise must be a string, not {type(text).__name__}; decode bytes first")
    parts, at = [], 0
    classes = text.translate(_CLASSES)
    for special in re.finditer(_SPECIAL, text, re.VERBOSE | re.IGNORECASE):
        start, stop = special.span()
        parts += [classes[at:start], "u", "v" * (stop - start - 1)]
        at = stop
    classes = "".join([*parts, classes[at:]])
    at = 0
    token = re.compile(_TOKEN, re.VERBOSE)
    while match := token.search(classes, at):
        start, at = match.span()
        if match["word"] and _keeps_point(text, start, at):
            at += 1
        yield Token(text[start:at], start, at)


def _keeps_point(text: str, start: int, stop: int) -> bool:
    """Whether a word is an abbreviation with a point after it. The first of several points is part of an ellipsis."""
    point = text[stop : stop + 1] == "." and text[stop + 1 : stop + 2] != "."
    return point and text[start:stop].lower() in _KNOWN


def place_tokens(text: str, tokenizer: Tokenizer = tokenize) -> list[Token]:
    """The tokens of a text with their places. Tokens that are strings are looked up in the text, in order.

    Raises DataError for a token that the text does not have, after the token before it.

    >>> place_tokens("Ann sings.", str.split)
    [Token(text='Ann', start=0, stop=3), Token(text='sings.', start=4, stop=10)]
    """
    found, at = list[Token](), 0
    for token in tokenizer(text):
        if isinstance(token, str):
            start = text.find(token, at)
            placed = Token(token, start, start + len(token))
        else:
            placed = Token(*token)
        if placed.start < at or text[placed.start : placed.stop] != placed.text or not placed.text:
            raise DataError(
                f"the tokeniser returned {placed.text!r}, which is not in the text after character {at}; its tokens "
                f"must be parts of the text, in order"
            )
        found.append(placed)
        at = placed.stop
    return found
