"""Word functions map a word to one value or none. The loops are in native/features/word_functions.cpp.

============================  =========================================================================
identity, lower, folded       the word; in lower case; in lower case with every digit as 0
prefix, suffix (n)            its first or last n characters, none for a shorter word; also ``lower_``
shape, short_shape            ``Xx-dd``: X upper, x lower, d digit, a other letter; runs collapsed
letter_class                  case (l lower, u initial upper, U all upper, m mixed, o without case, n no
                              letters), then d with a digit, - with a hyphen, p if neither letter nor digit
ending (n)                    letter_class and the last n characters in lower case
spelling                      the paper's spelling tests as one value: ``upper+hyphen+ing``, or ``none``
length ([n])                  its number of characters, at most n
unseen_class                  letter_class of words that are not in the training data; none for the others
in, map (file)                its class in a lexicon
related_start                 letter_class, the usual label of a known word with the same beginning, and
                              both endings: ``l|vb-+s`` for *lurks* from *lurk*; see related_words.py
related_end                   the usual label of the longest known word at its end, and the text before:
                              a hyphen or up to four characters: ``-+nn`` for *guard-room*
starts_digit, starts_upper,   tests: ``1`` if true, else none. title: its only upper-case letter is its
has_hyphen, has_digit,        first character; all_upper: upper-case and no lower-case letters;
has_punct, all_upper,         punctuation includes symbols
all_digit, all_punct, title,
mixed_case
starts_with, ends_with (t)    tests for a text
============================  =========================================================================
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import StringTable
from corate.errors import FeatureError
from corate.features.lexicons import Lexicon

__all__ = ["FUNCTIONS", "WordFunction"]

#: Word functions: the number of each in native/features/word_functions.h, and its second argument: none, a number of
#: characters ("count"; "count?" if optional), a text, a file, or (implicit) the labels of the training words.
FUNCTIONS: dict[str, tuple[int, str]] = {
    "identity": (0, ""),
    "lower": (1, ""),
    "prefix": (2, "count"),
    "suffix": (3, "count"),
    "shape": (4, ""),
    "short_shape": (5, ""),
    "letter_class": (6, ""),
    "spelling": (7, ""),
    "ending": (8, "count"),
    "starts_digit": (9, ""),
    "starts_upper": (10, ""),
    "has_hyphen": (11, ""),
    "ends_with": (12, "text"),
    "length": (13, "count?"),
    "in": (14, "file"),
    "map": (14, "file"),
    "has_digit": (15, ""),
    "all_upper": (16, ""),
    "all_digit": (17, ""),
    "all_punct": (18, ""),
    "lower_prefix": (19, "count"),
    "lower_suffix": (20, "count"),
    "title": (21, ""),
    "mixed_case": (22, ""),
    "has_punct": (23, ""),
    "folded": (24, ""),
    "starts_with": (25, "text"),
    "unseen_class": (6, ""),
    "related_start": (26, "labels"),
    "related_end": (27, "labels"),
}

#: Names of functions in version 0.1, which templates and model files may contain, with their present names.
RENAMED = {"kin": "related_start", "tail": "related_end"}

#: An example of each kind of argument.
EXAMPLES = {"count": "(word[0], 3)", "text": "(word[0], ing)", "file": "(word[0], words.txt)"}


@dataclass(frozen=True)
class WordFunction:
    """A function from a word to one value or none.

    ``number`` is a count of characters (for ``in`` and ``map``: 1 to ignore case), ``text`` an ending, a beginning
    or a file name, ``table`` the content of the file, or the learned lexicon of related words.

    >>> table, _ = StringTable.intern(["Tax-paying", "sings"])
    >>> ids, values = WordFunction("suffix", 3).apply(table)
    >>> [values[i] for i in ids]
    ['ing', 'ngs']
    """

    name: str = "identity"
    number: int = 0
    text: str = ""
    table: Lexicon | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.name not in FUNCTIONS:
            raise FeatureError(unknown("function", self.name, list(FUNCTIONS)))
        takes = FUNCTIONS[self.name][1]
        if (takes == "count" and self.number < 1) or (takes == "count?" and self.number < 0):
            raise FeatureError(f"{self.name} takes a number of characters, 1 or more, as in {self.name}(word[0], 3)")
        if takes in ("text", "file") and not self.text:
            raise FeatureError(f"{self.name} takes a {takes}, as in {self.name}{EXAMPLES[takes]}")
        if takes == "file" and self.table is None:
            raise FeatureError(f"the file {self.text!r} has not been read", file=self.name)

    @property
    def kind(self) -> int:
        """The function's number in native/features/word_functions.h."""
        return FUNCTIONS[self.name][0]

    @property
    def unseen_only(self) -> bool:
        """Whether only words that are not in the training data have a value."""
        return self.name == "unseen_class"

    @property
    def learns(self) -> bool:
        """Whether its values depend on the labels of the training words."""
        return FUNCTIONS[self.name][1] == "labels"

    @property
    def native_table(self) -> _native.Lookup | None:
        """Its table for the native code. Raises FeatureError if the table is not learned yet."""
        if self.table is not None:
            return self.table.native_related if self.learns else self.table.native
        if self.learns:
            raise FeatureError(f"{self.name} learns from labelled words; use it in training templates")
        return None

    def apply(self, words: StringTable) -> tuple[NDArray[np.int32], StringTable]:
        """The id of each word's value, -1 if there is none, and the values."""
        arguments = self.kind, self.number, self.text, words.data, words.offsets, self.native_table
        ids, blob, offsets = _native.apply_function(*arguments)
        return ids, StringTable(blob, offsets)


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """A message that a name is unknown, with the known names and the most similar one."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {what} {name!r}; {hint}{what}s: {', '.join(known) or 'none'}"
