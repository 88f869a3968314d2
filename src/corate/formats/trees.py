"""The trees of CoNLL-U: the head of each token, columns with the values of heads, and documents.

HEAD is the ID of the head, and 0 for a root. A sentence may have several roots.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Column
from corate.errors import Argument, DataError
from corate.rows import owners_of
from corate.strings import StringTable
from corate.types import Offsets

__all__ = ["NO_HEADS", "OF_HEAD", "document_offsets", "head_column", "heads_of", "token_line"]

#: The first part of the name of a column with values of the head: ``head.word`` is the head's FORM.
OF_HEAD = "head."
_EMPTY = "_"
_DOCUMENT = re.compile(rb"^#[ \t]*newdoc\b.*$", re.MULTILINE)
_TOKEN = re.compile(rb"[0-9]+\t[^\t]+(?:\t[^\t]*){8}\r*")

Tokens = NDArray[np.int64]

#: The heads of no tokens.
NO_HEADS = np.zeros(0, np.int64)


def heads_of(ids: Column, heads: Column, sentences: Offsets, fail: Callable[[int, str, str], DataError]) -> Tokens:
    """The token of each token's head, counted over all sentences, and -1 for a root.

    ``fail`` makes the error about a token, from a problem and a remedy. Its result is raised if HEAD is not the ID of a
    token of the sentence, or if heads form a cycle.

    >>> ids, heads = Column.of("id", "12312"), Column.of("head", "20220")
    >>> heads_of(ids, heads, np.array([0, 3, 5]), lambda token, *text: DataError(*text)).tolist()
    [1, -1, 1, 4, -1]
    """
    numbers, wanted = _numbers(ids), _numbers(heads)
    owners = owners_of(sentences)
    wrong = np.flatnonzero(wanted < 0)
    if len(wrong):
        raise _no_number(int(wrong[0]), heads, fail)
    starts = sentences[:-1][owners]
    if np.array_equal(numbers, np.arange(len(numbers)) - starts + 1):  # the usual case
        inside = wanted <= np.diff(sentences)[owners]
        found = starts + wanted - 1
    else:
        keys = owners * (1 << 31) + numbers
        order = np.argsort(keys, kind="stable")
        twice = order[1:][keys[order[1:]] == keys[order[:-1]]]
        if len(twice):
            token = int(twice.min())
            raise fail(token, f"the sentence has two tokens with the ID {numbers[token]}", "number the tokens from 1")
        places = np.searchsorted(keys[order], owners * (1 << 31) + wanted)
        found = order[np.minimum(places, len(order) - 1)]
        inside = keys[found] == owners * (1 << 31) + wanted
    wrong = np.flatnonzero(~inside & (wanted > 0))
    if len(wrong):
        token = int(wrong[0])
        own = numbers[owners == owners[token]]
        problem = f"HEAD is {wanted[token]}, but the sentence has the tokens {own.min()} to {own.max()}"
        raise fail(token, problem, "write the ID of the head, or 0 for a root")
    found = np.where(wanted == 0, -1, found)
    _refuse_cycles(found, numbers, int(np.diff(sentences).max(initial=0)), fail)
    return found


def _numbers(column: Column) -> Tokens:
    """The values as numbers below 10 ** 9, and -1 for others."""
    texts = column.strings.to_list()
    read = [int(text) if re.fullmatch("[0-9]{1,9}", text) else -1 for text in texts]
    return np.array(read, np.int64)[column.ids]


def _no_number(token: int, heads: Column, fail: Callable[[int, str, str], DataError]) -> DataError:
    value = heads.values(token, token + 1)[0]
    if value == _EMPTY:
        return fail(token, "HEAD is _, so there is no tree", f"parse the text first, or omit {Argument('edges')}")
    return fail(token, f"HEAD is {value[:40]!r}, which is not a number", "write the ID of the head, or 0 for a root")


def _refuse_cycles(heads: Tokens, numbers: Tokens, longest: int, fail: Callable[[int, str, str], DataError]) -> None:
    """Raise an error if some tokens are their own ancestors."""
    n = len(heads)
    above = np.append(np.where(heads < 0, n, heads), n)  # the ancestor some steps above; n above a root
    for _ in range(longest.bit_length()):
        above = above[above]
    lost = np.flatnonzero(above < n)
    if not len(lost):
        return
    token = int(above[lost].min())  # so many steps above that it is on the cycle
    cycle = [token]
    while (token := int(heads[token])) != cycle[0]:
        cycle.append(token)
    named = ", ".join(str(numbers[own]) for own in sorted(cycle)[:12])
    raise fail(
        min(cycle),
        f"the token {named} is its own head" if len(cycle) == 1 else f"the heads of the tokens {named} form a cycle",
        "a cycle is not a tree: correct HEAD, with 0 for a root",
    )


def head_column(column: Column, heads: Tokens, name: str) -> Column:
    """The values of the heads of tokens; ``_`` for a root.

    >>> head_column(Column.of("word", ["Ann", "sleeps"]), np.array([1, -1]), "head.word").values()
    ['sleeps', '_']
    """
    table, places = StringTable.joined([column.strings, StringTable.intern([_EMPTY])[0]])
    return Column(name, np.where(heads < 0, places[1], places[0][column.ids][heads]).astype(np.int32), table)


def document_offsets(data: bytes, sentences: Offsets) -> Offsets:
    r"""The first token of each document, which ``# newdoc`` begins. Without such comments, a sentence is a document.

    >>> row = b"1\tAnn" + b"\t_" * 8 + b"\n\n"
    >>> document_offsets(b"# newdoc id = 1\n" + row + row + b"# newdoc\n" + row, np.array([0, 1, 2, 3])).tolist()
    [0, 2, 3]
    """
    cuts = [found.start() for found in _DOCUMENT.finditer(data)]
    if not cuts:
        return sentences
    sizes = [len(_native.parse_conllu(data[a:b], [0], True)[0][0][0]) for a, b in pairwise([0, *cuts])]
    starts = np.searchsorted(sentences, np.cumsum(sizes))  # a comment within a sentence belongs to the next one
    return np.asarray(sentences[np.unique(np.concatenate([[0], starts, [len(sentences) - 1]]))])


def token_line(data: bytes, token: int) -> int:
    r"""The line of a token, counted from 1.

    >>> token_line(b"# text = Ann\n1\tAnn" + b"\t_" * 8, 0)
    2
    """
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        token -= _TOKEN.fullmatch(line) is not None
        if token < 0:
            return number
    raise IndexError("there are fewer tokens")
