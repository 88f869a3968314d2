"""UAI model files: MARKOV and BAYES networks as whitespace-separated numbers. Variables have numbers, not names."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from corate.display import counted
from corate.errors import DataError
from corate.types import F64

__all__ = ["read_uai", "write_uai"]

Factors = list[tuple[tuple[str, ...], F64]]


def read_uai(text: str) -> tuple[dict[str, range], Factors, list[str] | None]:
    """The states of the variables V0, V1, ..., the factors, and the child of every factor of a BAYES network.

    >>> states, factors, _ = read_uai("MARKOV 1 2 1 1 0 2 3 1")
    >>> states, factors[0][1].tolist()
    ({'V0': range(0, 2)}, [3.0, 1.0])
    """
    tokens = text.split()
    if not tokens or tokens[0].upper() not in ("MARKOV", "BAYES"):
        raise DataError(f"a UAI file begins with MARKOV or BAYES, not {tokens[0]!r}" if tokens else "the file is empty")
    numbers = _Numbers(tokens)
    count = numbers.whole("the number of variables", 1, len(tokens))
    sizes = [numbers.whole(f"the number of states of V{i}", 1, 2**31 - 1) for i in range(count)]
    scopes = []
    for f in range(numbers.whole("the number of factors", 0, len(tokens))):
        width = numbers.whole(f"the number of variables of factor {f}", 0, count)
        scope = tuple(numbers.whole(f"a variable of factor {f}", 0, count - 1) for _ in range(width))
        if len(set(scope)) != width:
            raise DataError(f"factor {f} names a variable twice")
        scopes.append(scope)
    factors: Factors = []
    for f, scope in enumerate(scopes):
        cells = math.prod(sizes[v] for v in scope)
        given = numbers.whole(f"the number of values of factor {f}", 0, 2**62)
        if given != cells:
            raise DataError(
                f"factor {f} has {counted(given, 'value')}", f"its variables have {counted(cells, 'joint state')}"
            )
        table = numbers.values(cells, f).reshape([sizes[v] for v in scope])
        factors.append((tuple(f"V{v}" for v in scope), table))
    if numbers.left():
        raise DataError(f"{counted(numbers.left(), 'number')} after the last factor", "is the file damaged?")
    states = {f"V{i}": range(size) for i, size in enumerate(sizes)}
    children = [scope[-1] for scope, _ in factors] if tokens[0].upper() == "BAYES" and all(scopes) else None
    return states, factors, children if children and sorted(children) == sorted(states) else None


class _Numbers:
    """The numbers of a file, one after the other."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 1

    def left(self) -> int:
        return len(self._tokens) - self._at

    def whole(self, what: str, least: int, most: int) -> int:
        if not self.left():
            raise DataError(f"the file ends where {what} was expected", "it may be truncated")
        text = self._tokens[self._at]
        self._at += 1
        if not (text.isascii() and text.isdigit()) or len(text) > 19 or not least <= int(text) <= most:
            raise DataError(f"{what} is {text[:20]!r}", f"it must be a whole number from {least} to {most}")
        return int(text)

    def values(self, n: int, factor: int) -> F64:
        if self.left() < n:
            raise DataError(f"factor {factor} needs {counted(n, 'value')}, and the file ends", "it may be truncated")
        try:
            found = np.array(self._tokens[self._at : self._at + n], dtype=np.float64)
        except ValueError:
            raise DataError(f"a value of factor {factor} is not a number") from None
        self._at += n
        return found


def write_uai(sizes: list[int], factors: Factors, numbers: dict[str, int]) -> str:
    """A MARKOV network."""
    return "\n".join(_lines(sizes, factors, numbers)) + "\n"


def _lines(sizes: list[int], factors: Factors, numbers: dict[str, int]) -> Iterator[str]:
    yield "MARKOV"
    yield str(len(sizes))
    yield " ".join(map(str, sizes))
    yield str(len(factors))
    for scope, _ in factors:
        yield " ".join(map(str, [len(scope), *(numbers[name] for name in scope)]))
    for _, table in factors:
        yield ""
        yield str(table.size)
        yield " ".join(map(repr, table.ravel().tolist()))
