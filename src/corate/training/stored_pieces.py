"""Pieces of training items on disk: a file with the arrays of each piece, which stochastic passes read ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corate.counting.stored_tokens import StoredTokens
from corate.optimize.pieces import Numbers, order_of_pass, parts_of_piece

__all__ = ["PieceFiles", "StoredPieces"]


class PieceFiles:
    """The arrays of pieces in files of a new folder, one for each piece.

    >>> from corate.corpus.stored_corpus import temporary_folder
    >>> files = PieceFiles(temporary_folder() / "pieces")
    >>> files.add([np.array([1, 2]), None])
    >>> files.read(0)
    [array([1, 2]), None]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._contents: list[list[tuple[np.dtype[Any], int] | None]] = []  # type and length of each array
        folder.mkdir()

    def __len__(self) -> int:
        return len(self._contents)

    def add(self, arrays: Iterable[NDArray[Any] | None]) -> None:
        """Write the arrays of the next piece; an array may be None."""
        contents: list[tuple[np.dtype[Any], int] | None] = []
        with self._path(len(self)).open("wb") as file:
            for array in arrays:
                contents.append(None if array is None else (array.dtype, len(array)))
                if array is not None:
                    file.write(np.ascontiguousarray(array).data)
        self._contents.append(contents)

    def read(self, piece: int) -> list[Any]:
        """The arrays of a piece."""
        with self._path(piece).open("rb") as file:
            return [None if entry is None else _read(file, *entry) for entry in self._contents[piece]]

    def _path(self, piece: int) -> Path:
        return self.folder / str(piece)


@dataclass(frozen=True, eq=False)
class StoredPieces:
    """Pieces that are loaded from disk. Before the first pass, the tokens they were made from are removed."""

    tokens: StoredTokens
    pieces: Sequence[Sequence[int] | Numbers]  # the items of each piece, of which only the number is used
    load: Callable[[int], Any]  # returns what makes the steps of a piece

    def parts(self, random: np.random.Generator) -> Iterator[tuple[Any, Numbers]]:
        """The parts of a pass. While steps are made for one piece, the next one is read."""
        self.tokens.remove()
        plan = [*order_of_pass(self.pieces, random)]
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(self.load, plan[0][0])
            for n, (_, order) in enumerate(plan):
                steps = ahead.result()
                for k, part in enumerate(parts_of_piece(order)):
                    yield steps, part
                    if k == 0 and n + 1 < len(plan):  # now nothing refers to the piece before
                        ahead = reader.submit(self.load, plan[n + 1][0])


def _read(file: BinaryIO, dtype: np.dtype[Any], length: int) -> NDArray[Any]:
    found = np.fromfile(file, dtype, length)
    if len(found) < length:
        raise OSError(f"{file.name} is shorter than it was written")
    return found
