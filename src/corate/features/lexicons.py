"""Word lists and word-to-class files: gazetteers, clusterings, lexicons.

A word list has one word per line. A word-to-class file has a word and its class per line, separated by a tab or spaces.
Both are UTF-8. An entry is compared with a whole token, so an entry of several words matches no token.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import StringTable
from corate.display import counted
from corate.errors import FeatureError

__all__ = ["Lexicon", "file_lexicons", "held_lexicons", "limited_bytes", "read_word_classes", "read_word_list"]

#: Finds the lexicon of a function ("in" or "map"), a file name as in the template, and whether case is ignored.
FindLexicon = Callable[[str, str, bool], "Lexicon"]

#: The largest file of words, in bytes: some twenty million words.
MOST_BYTES = 256_000_000

_IGNORES_CASE = " lower"  # the end of the name of a lexicon that ignores case
_LOWER = 1  # the word function "lower" of native/features/word_functions.h


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words and their classes: word ``keys[i]`` has the class ``classes[values[i]]``.

    ``name`` is the function and the file, as in ``"map clusters.tsv"``. It ends with `` lower`` if case is ignored.

    >>> cities = Lexicon.of("in cities.txt", {"Delft": "1", "Leiden": "1"})
    >>> len(cities), cities.get("Delft"), cities.get("delft")
    (2, '1', None)
    """

    name: str
    keys: StringTable
    values: NDArray[np.int32]
    classes: StringTable

    @classmethod
    def of(cls, name: str, words: Mapping[str, str], *, lower: bool = False) -> Lexicon:
        """Build from a mapping of words to classes.

        With ``lower``, every word is also added in lower case, unless that is already an entry. Then a word can be
        looked up as written and, failing that, in lower case.

        >>> Lexicon.of("map c.tsv", {"Rose": "name", "rose": "flower", "Ann": "name"}, lower=True).keys.to_list()
        ['Rose', 'rose', 'Ann', 'ann']
        """
        keys, _ = StringTable.intern(words)
        if lower:
            both = dict(words)
            for word, lowered in zip(words, _lowered(keys), strict=True):
                both.setdefault(lowered, words[word])
            return cls.of(name, both)
        classes, values = StringTable.intern(words.values())
        return cls(name, keys, values, classes)

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"Lexicon({self.name!r}, {counted(len(self), 'word')}, {counted(len(self.classes), 'class')})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Lexicon, (self.name, self.keys, self.values, self.classes)  # without the native tables

    def get(self, word: str) -> str | None:
        """The class of a word, None if it has none.

        If the lexicon ignores case, a word that it does not contain as written is looked up in lower case.

        >>> [Lexicon.of(name, {"delft": "city"}).get("Delft") for name in ("map cities.tsv", "map cities.tsv lower")]
        [None, 'city']
        """
        written, _ = StringTable.intern([word])
        forms = [word, *_lowered(written)] if self.name.endswith(_IGNORES_CASE) else [word]
        found = [i for i in self.keys.find(StringTable.intern(forms)[0]).tolist() if i >= 0]
        return self.classes[int(self.values[found[0]])] if found else None

    @cached_property
    def native(self) -> _native.Lookup:
        """The table for the native functions, built once."""
        return self._native_lookup()

    @cached_property
    def native_related(self) -> _native.Lookup:
        """The same with an index of word beginnings, for related words; keys must be in order of frequency."""
        return self._native_lookup(related_words=True)

    def release(self) -> None:
        """Release the native tables. They are built again when they are needed."""
        for name in ("native", "native_related"):
            vars(self).pop(name, None)

    def _native_lookup(self, *, related_words: bool = False) -> _native.Lookup:
        keys, classes = self.keys, self.classes
        return _native.Lookup((keys.data, keys.offsets), self.values, (classes.data, classes.offsets), related_words)


def read_word_list(path: str | os.PathLike[str], *, name: str | None = None, lower: bool = False) -> Lexicon:
    """Read a list of words, one per line; every word has the class ``"1"``.

    Blank lines and space around a word are ignored. Raises FeatureError if the file cannot be read or is empty.
    """
    words = {word: "1" for _, line in _lines(path) if (word := line.strip())}
    return _check_not_empty(Lexicon.of(name or f"in {os.fspath(path)}", words, lower=lower), path)


def read_word_classes(path: str | os.PathLike[str], *, name: str | None = None, lower: bool = False) -> Lexicon:
    """Read words and their classes, one pair per line, separated by a tab or else by spaces.

    Several classes of a word are joined in file order: ``run NN`` and ``run VB`` give ``NN+VB``.
    Raises FeatureError, with the file and the line, if a line does not have exactly two columns.
    """
    classes: dict[str, dict[str, None]] = {}
    for number, line in _lines(path):
        if not line.strip():
            continue
        fields = [f.strip() for f in line.split("\t")] if "\t" in line else line.split()
        if len(fields) != 2 or not all(fields):
            raise FeatureError(
                f"{line!r} does not have two columns",
                "write a word and its class, separated by a tab or a space",
                file=os.fspath(path),
                line=number,
            )
        classes.setdefault(fields[0], {})[fields[1]] = None
    joined = {word: "+".join(kinds) for word, kinds in classes.items()}
    return _check_not_empty(Lexicon.of(name or f"map {os.fspath(path)}", joined, lower=lower), path)


def file_lexicons(folder: str | os.PathLike[str] | None = None) -> FindLexicon:
    """A finder that reads each file once. File names are relative to ``folder`` or to the current directory."""
    base = Path(folder) if folder is not None else Path()
    found: dict[str, Lexicon] = {}

    def find(function: str, file: str, lower: bool) -> Lexicon:
        name = lexicon_name(function, file, lower)
        if name not in found:
            read = read_word_list if function == "in" else read_word_classes
            found[name] = read(base / file, name=name, lower=lower)
        return found[name]

    return find


def held_lexicons(lexicons: Mapping[str, Lexicon]) -> FindLexicon:
    """A finder that uses only the given lexicons, by name, and opens no file. For templates in a model."""

    def find(function: str, file: str, lower: bool) -> Lexicon:
        name = lexicon_name(function, file, lower)
        if name not in lexicons:
            raise FeatureError(f"no lexicon {name!r} (lexicons: {', '.join(sorted(lexicons)) or 'none'})")
        return lexicons[name]

    return find


def lexicon_name(function: str, file: str, lower: bool) -> str:
    """The name of the lexicon of a template's function and file."""
    return f"{function} {file}" + (_IGNORES_CASE if lower else "")


def _lowered(words: StringTable) -> list[str]:
    """The words in lower case."""
    ids, blob, offsets = _native.apply_function(_LOWER, 0, "", words.data, words.offsets)
    lowered = StringTable(blob, offsets).to_list()
    return [lowered[i] for i in ids.tolist()]


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        data = io.BytesIO(limited_bytes(path, MOST_BYTES))
        for number, line in enumerate(io.TextIOWrapper(data, encoding="utf-8-sig"), 1):
            yield number, line.rstrip("\n")
    except OSError as error:
        raise FeatureError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FeatureError(f"{os.fspath(path)} is not UTF-8 after line {number}; convert it to UTF-8") from None
    except ValueError as error:  # an invalid file name
        raise FeatureError(f"cannot read {os.fspath(path)!r}: {error}") from None


def limited_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """The bytes of a file, or of a pipe such as ``/dev/fd/63``, which is read to its end.

    Raises OSError if there are more than ``most``, and for a device or a directory, of which some never end.
    """
    about = os.stat(path)
    if not (stat.S_ISREG(about.st_mode) or stat.S_ISFIFO(about.st_mode)):
        raise OSError(f"it is a {'directory' if stat.S_ISDIR(about.st_mode) else 'device'}; give a text file")
    too_large = OSError(f"it has more than {counted(most, 'byte')}; give a smaller file")
    if about.st_size > most:
        raise too_large
    data = bytearray()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            data += block
            if len(data) > most:
                raise too_large
    return bytes(data)


def _check_not_empty(lexicon: Lexicon, path: str | os.PathLike[str]) -> Lexicon:
    if len(lexicon) == 0:
        raise FeatureError(f"{os.fspath(path)} has no words; write one per line")
    return lexicon
