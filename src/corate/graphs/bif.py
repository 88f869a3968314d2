"""BIF, the Bayesian network interchange format: read and written.

A network becomes the product of its conditional tables, on the graph that connects each variable with its parents and
the parents with each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from corate.display import counted
from corate.errors import DataError
from corate.graphs.directed import Network, Table
from corate.types import F64

__all__ = ["read_bif", "write_bif"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r'"[^"\n]*"|[{}()\[\],;|]|[^\s{}()\[\],;|"]+')
_PLAIN = re.compile(r"[^\s{}()\[\],;|\"]+")
_MARKS = frozenset("{}()[],;|")
#: Larger tables are refused before they are allocated.
MOST_CELLS = 1 << 28


@dataclass
class _Reader:
    """Tokens of a file, and the place in them."""

    text: str
    tokens: list[str] = field(init=False)
    at: int = 0

    def __post_init__(self) -> None:
        # Comments become as many line ends as they have, so that lines keep their numbers.
        self.text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), self.text)
        self.tokens = _TOKEN.findall(self.text)

    def error(self, problem: str, at: int | None = None) -> DataError:
        place = self.at if at is None else at
        starts = [match.start() for match in _TOKEN.finditer(self.text)]
        line = self.text.count("\n", 0, starts[place] if place < len(starts) else len(self.text)) + 1
        return DataError(problem, line=line)

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise self.error("the file ends in the middle of a network; it may be truncated")
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, *wanted: str) -> None:
        for token in wanted:
            found = self.next()
            if found != token:
                raise self.error(f"{token!r} was expected here, not {found!r}", self.at - 1)

    def word(self) -> str:
        found = self.next()
        if found in "{}()[],;|":
            raise self.error(f"a name was expected here, not {found!r}", self.at - 1)
        return found.strip('"')

    def words_until(self, end: str, expected: int = 0) -> list[str]:
        """Words with commas between, up to a mark; quick if there are as many as expected."""
        stop = self.at + 2 * expected - 1
        if expected and self.tokens[stop : stop + 1] == [end]:
            found = self.tokens[self.at : stop : 2]
            commas = self.tokens[self.at + 1 : stop : 2]
            if commas.count(",") == expected - 1 and _MARKS.isdisjoint(found) and '"' not in "".join(found):
                self.at = stop + 1
                return found
        found = []
        while (token := self.next()) != end:
            if token in "{}()[];|":
                raise self.error(f"{end!r} or a name was expected here, not {token!r}", self.at - 1)
            if token != ",":
                found.append(token.strip('"'))
        return found

    def numbers(self, expected: int) -> list[float]:
        """Numbers up to the next semicolon."""
        start = self.at
        words = self.words_until(";", expected)
        try:
            found = list(map(float, words))
        except ValueError:
            raise self.error("a probability is not a number", start) from None
        if found and not (min(found) >= 0 and sum(found) < math.inf):  # also for NaN
            raise self.error("a probability is negative or not finite", start)
        return found

    def skip_statement(self) -> None:
        while self.next() != ";":
            pass


def read_bif(text: str) -> Network:
    """Read a network. Raises DataError with the line of what cannot be used.

    >>> text = "network x {} variable A { type discrete [ 2 ] { no, yes }; } probability ( A ) { table 0.9, 0.1; }"
    >>> read_bif(text).states
    {'A': ('no', 'yes')}
    """
    reader = _Reader(text)
    network = Network()
    while reader.at < len(reader.tokens):
        kind = reader.next()
        if kind == "network":
            while reader.next() != "{":
                pass
            while reader.next() != "}":
                pass
        elif kind == "variable":
            _read_variable(reader, network)
        elif kind == "probability":
            _read_probability(reader, network)
        else:
            raise reader.error(f"network, variable or probability was expected here, not {kind!r}", reader.at - 1)
    network.check()
    return network


def _read_variable(reader: _Reader, network: Network) -> None:
    name = reader.word()
    if name in network.states:
        raise reader.error(f"the variable {name} is declared twice", reader.at - 1)
    reader.expect("{")
    while (token := reader.next()) != "}":
        if token != "type":
            reader.skip_statement()
            continue
        reader.expect("discrete", "[")
        count = reader.word()
        reader.expect("]", "{")
        states = tuple(reader.words_until("}"))
        reader.expect(";")
        if str(len(states)) != count or not states or len(set(states)) != len(states):
            raise reader.error(f"{name} needs {count} different states, and has {len(states)}: {', '.join(states[:8])}")
        network.states[name] = states
    if name not in network.states:
        raise reader.error(f"the variable {name} has no states", reader.at - 1)


def _read_probability(reader: _Reader, network: Network) -> None:
    start = reader.at
    reader.expect("(")
    child = reader.word()
    mark = reader.next()
    parents = tuple(reader.words_until(")")) if mark == "|" else ()
    if mark not in "|)":
        raise reader.error(f"'|' or ')' was expected here, not {mark!r}", reader.at - 1)
    for name in (child, *parents):
        if name not in network.states:
            raise reader.error(f"the probability of {child} names {name}, which is not declared before", start)
    if len({child, *parents}) != 1 + len(parents):
        raise reader.error(f"the probability of {child} names a variable twice", start)
    if child in network.tables:
        raise reader.error(f"the probability of {child} is given twice", start)
    shape = [len(network.states[name]) for name in (*parents, child)]
    if math.prod(shape) > MOST_CELLS:
        raise reader.error(
            f"the table of {child} has {math.prod(shape):,} cells; at most {MOST_CELLS:,} can be read", start
        )
    if math.prod(shape) > len(reader.tokens) and not parents:
        raise reader.error(f"the table of {child} has fewer numbers than states; the file may be truncated", start)
    reader.expect("{")
    network.tables[child] = Table(parents, _read_rows(reader, network, child, parents, shape))


def _read_rows(reader: _Reader, network: Network, child: str, parents: Sequence[str], shape: list[int]) -> F64:
    """The table with an axis for each parent and one for the child, from rows of its entry."""
    place = [{state: i for i, state in enumerate(network.states[name])} for name in parents]
    rows: dict[tuple[int, ...], list[float]] = {}
    default: list[float] | None = None
    whole: list[float] | None = None
    while (token := reader.next()) != "}":
        at = reader.at
        if token == "(":
            states = reader.words_until(")", len(parents))
            try:
                row = tuple(of[state] for of, state in zip(place, states, strict=True))
            except (KeyError, ValueError):
                raise reader.error(f"({', '.join(states)}) are no states of {', '.join(parents)}", at) from None
            rows[row] = reader.numbers(shape[-1])
        elif token == "table":
            whole = reader.numbers(math.prod(shape))
        elif token == "default":
            default = reader.numbers(shape[-1])
        else:
            reader.skip_statement()
            continue
        wanted = math.prod(shape) if token == "table" else shape[-1]
        found = whole if token == "table" else default if token == "default" else rows[row]
        if found is None or len(found) != wanted:
            raise reader.error(f"the row of {child} has {counted(len(found or ()), 'number')}; it needs {wanted}", at)
    if whole is not None:
        # A whole table has the child's states slowest.
        return np.moveaxis(np.array(whole).reshape([shape[-1], *shape[:-1]]), 0, -1)
    if default is None and len(rows) != math.prod(shape[:-1]):
        raise reader.error(
            f"the table of {child} has {counted(len(rows), 'row')}; it needs {math.prod(shape[:-1]):,}", reader.at - 1
        )
    table = np.empty(shape)
    if default is not None:
        table[...] = default
    for row, values in rows.items():
        table[row] = values
    return table


def write_bif(network: Network) -> str:
    """The network as text."""
    lines = ["network unknown {", "}"]
    for name, states in network.states.items():
        listed = ", ".join(_quoted(str(state)) for state in states)
        lines += [f"variable {_quoted(name)} {{", f"  type discrete [ {len(states)} ] {{ {listed} }};", "}"]
    for child, (parents, table) in network.tables.items():
        given = f" | {', '.join(map(_quoted, parents))}" if parents else ""
        lines.append(f"probability ( {_quoted(child)}{given} ) {{")
        for row in np.ndindex(table.shape[:-1]):
            values = ", ".join(_quoted(str(network.states[p][i])) for p, i in zip(parents, row, strict=True))
            lines.append(f"  {f'({values})' if parents else 'table'} {', '.join(map(repr, table[row].tolist()))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    if '"' in name or "\n" in name:
        raise DataError(f"{name!r} cannot be written in BIF; rename it")
    return f'"{name}"'
