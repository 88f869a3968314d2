"""Templates: data that describe which features a token has.

A template is a conjunction of atoms. An atom is a word function of a column at an offset::

    word[0]                    the word itself
    lower(word[-1])            the word before, in lower case
    suffix(word[0], 3)         its last three characters; nothing for shorter words
    word[-1]|word[0]           both words together (up to 8 atoms, offsets from -8 to 8)
    ends_with(word[0], ing)    a test: one feature if it is true, else none
    in(word[0], names.txt)     whether it is in a list of words
    map(word[0], groups.tsv)   its class in a file of words and classes; a third argument, lower, ignores case
    related_start(word[0])     the usual label of a known word with the same beginning, and both endings
    edge: word[0]              the same for pairs of labels; edge alone: the label pair without observations
    bias                       one feature that every token has

A template file has one template per line, with # comments, or is a CRF++ template file. The numbered columns of CRF++
are written ``#0[0]``, ``#1[-1]``, until :meth:`Template.bind` replaces them by the column names of a corpus.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from corate.errors import Argument, Excerpt, FeatureError
from corate.features.lexicons import FindLexicon, Lexicon, file_lexicons, held_lexicons, limited_bytes
from corate.features.word_functions import EXAMPLES, FUNCTIONS, RENAMED, WordFunction, unknown
from corate.formats import crfpp

__all__ = ["Atom", "Template", "WordFunction", "lexicons_of", "load_templates", "parse", "parse_list", "usual_name"]

MAX_ATOMS = 8
MAX_OFFSET = 8
_MOST_BYTES = 16_000_000  # of a template file

_COLUMN = re.compile(r'#[0-9]+|[^\s()\[\]|,:"#][^\s()\[\]|,:"]*')
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_COMMENT = re.compile(r"\s+#.*")
_BARE = re.compile(r'[^,)"]+')


@dataclass(frozen=True)
class Atom:
    """A word function of one column at an offset from the token: 0 the token, -1 the one before it."""

    function: WordFunction
    column: str
    offset: int

    def __post_init__(self) -> None:
        if not _COLUMN.fullmatch(self.column):
            raise FeatureError(f"{self.column!r} cannot name a column in a template; rename the column")
        if abs(self.offset) > MAX_OFFSET:
            raise FeatureError(f"the offset {self.offset} is out of range; it goes from -{MAX_OFFSET} to {MAX_OFFSET}")

    def __str__(self) -> str:
        cell = f"{self.column}[{self.offset}]"
        function = self.function
        takes = FUNCTIONS[function.name][1]
        arguments = [cell]
        if takes in ("text", "file"):
            arguments.append(_quote(function.text))
        if takes == "file" and function.number == 1:
            arguments.append("lower")
        if takes == "count" or (takes == "count?" and function.number):
            arguments.append(str(function.number))
        return cell if function.name == "identity" else f"{function.name}({', '.join(arguments)})"

    def with_lexicons(self, lexicons: Mapping[str, Lexicon]) -> Atom:
        """The atom with the lexicon of its column's usual labels, if its function needs one: see related_words.py."""
        if not self.function.learns or usual_name(self.column) not in lexicons:
            return self
        return replace(self, function=replace(self.function, table=lexicons[usual_name(self.column)]))


@dataclass(frozen=True)
class Template:
    """A conjunction of atoms, for one label or (``edge``) for a pair of labels.

    A feature exists if every atom has a value. ``name`` is for messages, such as the line of a CRF++ file.

    >>> str(parse("suffix( word[0] ,3 )|word[+1]"))
    'suffix(word[0], 3)|word[1]'
    """

    atoms: tuple[Atom, ...]
    edge: bool = False
    name: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if len(self.atoms) > MAX_ATOMS:
            raise FeatureError(f"a template has at most {MAX_ATOMS} parts, this one has {len(self.atoms)}")

    def __str__(self) -> str:
        joined = "|".join(str(atom) for atom in self.atoms)
        if self.edge:
            return f"edge: {joined}" if joined else "edge"
        return joined or "bias"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it uses, each once."""
        return tuple(dict.fromkeys(atom.column for atom in self.atoms))

    def bind(self, columns: Sequence[str]) -> Template:
        """The template with names for numbered columns (``#0``). Raises FeatureError if a column does not exist.

        >>> str(parse("#0[-1]|lower(#1[0])").bind(["word", "pos"]))
        'word[-1]|lower(pos[0])'
        """
        return replace(self, atoms=tuple(replace(a, column=self._named(a.column, columns)) for a in self.atoms))

    def with_lexicons(self, lexicons: Mapping[str, Lexicon]) -> Template:
        """The template with the lexicons that its atoms need."""
        return replace(self, atoms=tuple(atom.with_lexicons(lexicons) for atom in self.atoms))

    def _named(self, column: str, columns: Sequence[str]) -> str:
        if column in columns:
            return column
        have = ", ".join(columns) or "none"
        text = self.name or str(self)
        if re.fullmatch(r"#[0-9]+", column):
            position = int(column[1:])
            if position < len(columns):
                return columns[position]
            raise FeatureError(
                f"template {text!r} needs column number {position}, but the data has {len(columns)}, "
                f"counted from 0: {have}"
            )
        raise FeatureError(
            unknown("column", column, columns),
            f"name the columns with {Argument('columns')}",
            excerpt=Excerpt(text, max(text.find(f"{column}["), 0)),
        )


def parse(
    text: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    lexicons: Mapping[str, Lexicon] | None = None,
) -> Template:
    """Parse one template; ``str`` of it gives the text in its simplest form.

    Files of ``in`` and ``map`` are relative to ``folder``. With ``lexicons``, they are found there by name and
    no file is opened. Raises FeatureError with a caret under the error.

    >>> parse("pos[-1]|pos[0]").columns
    ('pos',)
    >>> parse("sufix(word[0], 3)")
    Traceback (most recent call last):
    corate.errors.FeatureError: unknown function 'sufix'; did you mean 'suffix'? ...
      sufix(word[0], 3)
      ^
    """
    return _Parser(text, _lexicon_finder(folder, lexicons)).template().with_lexicons(lexicons or {})


def parse_list(
    lines: Iterable[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    lexicons: Mapping[str, Lexicon] | None = None,
    source: str | None = None,
    presets: Mapping[str, Callable[[], tuple[Template, ...]]] | None = None,
) -> tuple[Template, ...]:
    """Parse one template per line, except blank lines and # comments. Errors name ``source`` and the line.

    A line may also be the name of one of the ``presets``. It stands for the templates of the preset, and templates that
    are there already are not repeated.

    >>> [str(t) for t in parse_list(["# the word and what is before it", "word[0]", "word[-1] # left"])]
    ['word[0]', 'word[-1]']
    """
    find = _lexicon_finder(folder, lexicons)
    templates: list[Template] = []
    extended = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or (text.startswith("#") and not re.match(r"#[0-9]+\[", text)):
            continue
        try:
            name = _COMMENT.sub("", text)
            if presets is not None and name in presets:
                extended = True
                templates.extend(presets[name]())
            else:
                templates.append(_Parser(text, find, comments=True).template().with_lexicons(lexicons or {}))
        except FeatureError as error:
            raise error.at(**({"template": number} if source is None else {"file": source, "line": number})) from None
    return tuple(dict.fromkeys(templates) if extended else templates)


def load_templates(
    path: str | os.PathLike[str], presets: Mapping[str, Callable[[], tuple[Template, ...]]] | None = None
) -> tuple[Template, ...]:
    """Read a template file: a list as in :func:`parse_list`, or a CRF++ template file, which uses ``%x[row,column]``.

    Files in templates are relative to the directory of the template file. CRF++ files number their columns: bind the
    templates to the columns of a corpus before use.
    """
    source = os.fspath(path)
    try:
        lines = limited_bytes(path, _MOST_BYTES).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise FeatureError(f"cannot read the template file {source}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FeatureError(f"the template file {source} is not UTF-8; convert it to UTF-8") from None
    if crfpp.is_crfpp(lines):
        return tuple(_from_crfpp(line, source) for line in crfpp.parse_lines(lines, source=source))
    templates = parse_list(lines, folder=Path(path).parent, source=source, presets=presets)
    if not templates:
        raise FeatureError(f"the template file {source} has no templates; write one per line, such as word[0]")
    return templates


def usual_name(column: str) -> str:
    """The name of the lexicon with the usual labels of a column's words."""
    return f"usual {column}"


def lexicons_of(templates: Iterable[Template], atoms: Iterable[Atom] = ()) -> dict[str, Lexicon]:
    """The lexicons that templates and other atoms use, by name, as for ``parse(..., lexicons=)``."""
    tables = (a.function.table for a in (*(a for t in templates for a in t.atoms), *atoms))
    return {table.name: table for table in tables if table is not None}


def _from_crfpp(line: crfpp.TemplateLine, source: str) -> Template:
    try:
        atoms = tuple(Atom(WordFunction(), f"#{column}", row) for row, column in line.cells)
        return Template(atoms, line.bigram, line.text)
    except FeatureError as error:
        error.excerpt = Excerpt(line.text)
        raise error.at(file=source, line=line.number) from None


class _Parser:
    """A parser of one template."""

    def __init__(self, text: str, find: FindLexicon, *, comments: bool = False) -> None:
        self.text = text
        self.find = find
        self.comments = comments
        self.at = 0

    def template(self) -> Template:
        self.skip()
        start = self.at
        word = self.match(_COLUMN)
        if word in ("edge", "bias") and self.ended():
            return Template((), word == "edge")
        edge = word == "edge" and self.accept(":")
        if not edge:
            self.at = start
        atoms = [self.atom()]
        while self.accept("|"):
            atoms.append(self.atom())
        if not self.ended():
            self.skip()
            raise self.error("expected | and another part, or the end of the template")
        with self.error_at(start):
            return Template(tuple(atoms), edge)

    def atom(self) -> Atom:
        self.skip()
        start = self.at
        name = self.match(_COLUMN)
        if name is None:
            raise self.error("expected a column with an offset (word[0]) or a function (suffix(word[0], 3))")
        if not self.accept("("):
            if name in FUNCTIONS and self.text[self.at : self.at + 1] != "[":
                raise self.error(f"expected ( after the function {name}, as in {name}(word[0])")
            self.at = start
            column, offset = self.cell()
            return Atom(WordFunction(), column, offset)
        name = RENAMED.get(name, name)
        names = [f for f in FUNCTIONS if f != "identity"]
        if name not in names:
            self.at = start
            raise self.error(unknown("function", name, names))
        column, offset = self.cell()
        function = self.function(name)
        if not self.accept(")"):
            raise self.error("expected )")
        return Atom(function, column, offset)

    def cell(self) -> tuple[str, int]:
        self.skip()
        column = self.match(_COLUMN)
        if column is None:
            raise self.error("expected a column with an offset, such as word[0]")
        if not self.accept("["):
            raise self.error(f"expected an offset after the column {column}, such as {column}[0]")
        self.skip()
        place = self.at
        offset = self.match(_INTEGER)
        if offset is None:
            raise self.error("expected an offset: 0 is the token, -1 the one before it, 1 the one after")
        if not self.accept("]"):
            raise self.error("expected ]")
        if abs(int(offset)) > MAX_OFFSET:
            self.at = place
            raise self.error(f"the offset {int(offset)} is out of range; it goes from -{MAX_OFFSET} to {MAX_OFFSET}")
        return column, int(offset)

    def function(self, name: str) -> WordFunction:
        """The arguments after the cell of a function, up to the closing bracket."""
        takes = FUNCTIONS[name][1]
        start = self.at
        if takes in ("", "labels") or (takes == "count?" and not self.accept(",")):
            return WordFunction(name)
        self.at = start
        if not self.accept(","):
            raise self.error(f"{name} takes a {takes.rstrip('?')}, as in {name}{EXAMPLES[takes.rstrip('?')]}")
        self.skip()
        place = self.at
        if takes in ("count", "count?"):
            count = self.match(_INTEGER)
            if count is None or int(count) < 1:
                self.at = place
                raise self.error(f"{name} takes a number of characters, 1 or more, as in {name}(word[0], 3)")
            return WordFunction(name, int(count))
        text = self.argument()
        if takes == "text":
            return WordFunction(name, 0, text)
        lower = self.accept(",") and self.option("lower")
        with self.error_at(place):
            return WordFunction(name, int(lower), text, self.find(name, text, lower))

    def argument(self) -> str:
        """A text argument: up to a comma or a bracket, or in double quotes with backslash escapes."""
        quoted = _QUOTED.match(self.text, self.at)
        if quoted is not None:
            self.at = quoted.end()
            value = re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL)
        else:
            value = (self.match(_BARE) or "").strip()
        if not value:
            raise self.error('expected a text; put a text with , ) " or space at its ends in double quotes')
        return value

    def option(self, name: str) -> bool:
        self.skip()
        start = self.at
        if self.match(_COLUMN) != name:
            self.at = start
            raise self.error(f"the only option here is {name}")
        return True

    # -- steps ---------------------------------------------------------------------------------------------------

    def skip(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1

    def match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def accept(self, mark: str) -> bool:
        start = self.at
        self.skip()
        if self.text.startswith(mark, self.at):
            self.at += len(mark)
            return True
        self.at = start
        return False

    def ended(self) -> bool:
        rest = self.text[self.at :].lstrip()
        return not rest or (self.comments and rest.startswith("#"))

    @contextmanager
    def error_at(self, at: int) -> Iterator[None]:
        """Put the caret of an error raised in the body at an earlier position."""
        try:
            yield
        except FeatureError as error:
            error.excerpt = Excerpt(self.text, at)
            raise

    def error(self, message: str) -> FeatureError:
        return FeatureError(message, excerpt=Excerpt(self.text, self.at))


def _lexicon_finder(folder: str | os.PathLike[str] | None, lexicons: Mapping[str, Lexicon] | None) -> FindLexicon:
    return file_lexicons(folder) if lexicons is None else held_lexicons(lexicons)


def _quote(text: str) -> str:
    if text == text.strip() and _BARE.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
