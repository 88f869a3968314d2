"""Plain Python twins of the native parsers: slow, short, and written from the description of the format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

SPACE = " \t\r"


@dataclass
class Parsed:
    columns: list[list[str]] = field(default_factory=list)
    sentences: list[int] = field(default_factory=lambda: [0])
    bad_line: int = -1
    bad_width: int = 0
    skipped: int = 0

    def end_sentence(self) -> None:
        tokens = len(self.columns[0]) if self.columns else 0
        if tokens > self.sentences[-1]:
            self.sentences.append(tokens)

    def bad(self, line: int, width: int) -> None:
        self.skipped += 1
        if self.bad_line < 0:
            self.bad_line, self.bad_width = line, width


def _lines(data: bytes) -> list[str]:
    return data.decode().removeprefix("\ufeff").split("\n")


def _nul(data: bytes) -> Parsed | None:
    if b"\0" not in data:
        return None
    return Parsed(bad_line=data[: data.index(b"\0")].count(b"\n") + 1, bad_width=-1)


def _tokens(line: str) -> list[str]:
    return [token for token in re.split(f"[{SPACE}]+", line) if token]


def parse_columns(data: bytes, separator: str, comment: str, width: int, skip_bad: bool, drop_docstart: bool) -> Parsed:
    parsed = _nul(data) or Parsed([[] for _ in range(width)])
    if parsed.bad_line >= 0:
        return parsed
    for number, raw in enumerate(_lines(data), 1):
        line = raw.rstrip(SPACE)
        if line == "":
            parsed.end_sentence()
        elif not (comment and line.startswith(comment)):
            row = line.split(separator) if separator else _tokens(line)
            if drop_docstart and row[0] == "-DOCSTART-":
                parsed.end_sentence()
                continue
            if not parsed.columns:
                parsed.columns = [[] for _ in row]
            if len(row) != len(parsed.columns):
                parsed.bad(number, len(row))
                if not skip_bad:
                    return parsed
                continue
            for column, value in zip(parsed.columns, row, strict=True):
                column.append(value)
    parsed.end_sentence()
    return parsed


def parse_conllu(data: bytes, fields: list[int], skip_bad: bool) -> Parsed:
    parsed = _nul(data) or Parsed([[] for _ in fields])
    if parsed.bad_line >= 0:
        return parsed
    for number, raw in enumerate(_lines(data), 1):
        row = raw.rstrip("\r").split("\t")
        if raw.strip(SPACE) == "":
            parsed.end_sentence()
        elif raw.startswith("#"):
            continue
        elif len(row) == 10 and re.fullmatch("[0-9]+", row[0]) and row[1]:
            for column, field_number in zip(parsed.columns, fields, strict=True):
                column.append(row[field_number])
        elif len(row) != 10 or not re.fullmatch("[0-9]+[-.][0-9]+", row[0]):
            parsed.bad(number, len(row))
            if not skip_bad:
                return parsed
    parsed.end_sentence()
    return parsed


def parse_lines(data: bytes, slashed: bool, comment: str, skip_bad: bool) -> Parsed:
    parsed = _nul(data) or Parsed([[], []] if slashed else [[]])
    if parsed.bad_line >= 0:
        return parsed
    for number, line in enumerate(_lines(data), 1):
        if comment and line.startswith(comment):
            continue
        for token in _tokens(line):
            word, _, label = token.rpartition("/")
            if not slashed:
                parsed.columns[0].append(token)
            elif word and label:
                parsed.columns[0].append(word)
                parsed.columns[1].append(label)
            else:
                parsed.bad(number, 1)
                if not skip_bad:
                    return parsed
        parsed.end_sentence()
    return parsed


class Item(NamedTuple):
    label: str
    attributes: list[tuple[str, str]]
    line: int


def parse_items(data: bytes, comment: str) -> list[list[Item]]:
    sentences: list[list[Item]] = [[]]
    for number, raw in enumerate(_lines(data), 1):
        line = raw.rstrip("\r")
        if line.strip(" ") == "":
            sentences.append([])
        elif not (comment and line.startswith(comment)):
            label, *fields = line.split("\t")
            sentences[-1].append(Item(_unescaped(label), [_attribute(f) for f in fields if f], number))
    return [sentence for sentence in sentences if sentence]


def _unescaped(text: str) -> str:
    return re.sub(r"\\([:\\])", r"\1", text)


def _attribute(text: str) -> tuple[str, str]:
    """The name and the text of the value, which starts at the first colon without a backslash."""
    match = re.match(r"((?:\\[:\\]|[^:])*)(.*)", text, re.DOTALL)
    assert match is not None
    return _unescaped(match[1]), match[2]
