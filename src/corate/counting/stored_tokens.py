"""Tokens as ids on disk: a file for the features of each template, one for words and one for labels."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corate.counting.counts import Tokens
from corate.rows import cuts, offsets_of
from corate.types import Ids, Offsets

__all__ = ["PIECE_TOKENS", "StoredTokens"]

#: A corpus on disk is read in pieces of about this many tokens.
PIECE_TOKENS = 500_000


class StoredTokens:
    """Tokens in files of a new folder. They are added in order, then read by sentence or by column.

    >>> from corate.corpus.stored_corpus import temporary_folder
    >>> tokens = StoredTokens(temporary_folder() / "tokens", np.array([0, 2, 3]), templates=1)
    >>> tokens.add(np.array([[5, 6, 7]]), np.array([0, 1, 2]), np.array([0, 0, 1]))
    >>> found = tokens.take(np.array([1, 0]))
    >>> found.features.tolist(), found.words.tolist(), found.labels.tolist(), found.offsets.tolist()
    ([[7, 5, 6]], [2, 0, 1], [1, 0, 0], [0, 1, 3])
    >>> tokens.remove()
    """

    attributes: None = None

    def __init__(self, folder: Path, offsets: Offsets, templates: int) -> None:
        self.folder, self.offsets, self.templates = folder, offsets, templates
        self._paths = [folder / name for name in (*map(str, range(templates)), "words", "labels")]
        folder.mkdir()

    def add(self, features: Ids, words: Ids, labels: Ids) -> None:
        """Add tokens: (T, n) features, words and labels."""
        for path, ids in zip(self._paths, (*features, words, labels), strict=True):
            with path.open("ab") as file:
                file.write(np.ascontiguousarray(ids, np.int32).data)

    def column(self, template: int) -> Ids:
        """The features of a template, of all tokens."""
        return np.fromfile(self._paths[template], np.int32)

    def labels(self) -> Ids:
        """The labels of all tokens."""
        return np.fromfile(self._paths[-1], np.int32)

    def in_memory(self) -> Tokens:
        """All tokens, in memory."""
        return self.take(np.arange(len(self.offsets) - 1))

    def filled(self) -> NDArray[np.int64]:
        """The numbers of all sentences: tokens on disk have no weights."""
        return np.arange(len(self.offsets) - 1)

    def label_pieces(self) -> Iterator[Tokens]:
        """The labels of pieces of whole sentences, without features and words."""
        labels, offsets = self.labels(), self.offsets
        for first, end in cuts(offsets, PIECE_TOKENS):
            own = labels[int(offsets[first]) : int(offsets[end])]
            yield Tokens(np.zeros((0, len(own)), np.int32), None, own, offsets[first : end + 1] - offsets[first])

    def take(self, sentences: NDArray[np.int64]) -> Tokens:
        """The tokens of some sentences, in the given order. Neighbouring ones are read together."""
        offsets = offsets_of(np.diff(self.offsets)[sentences])
        runs = np.split(sentences, np.flatnonzero(np.diff(sentences) != 1) + 1) if len(sentences) else []
        places = [(int(self.offsets[run[0]]), int(self.offsets[run[-1] + 1])) for run in runs]
        found = np.empty((len(self._paths), int(offsets[-1])), np.int32)
        for path, row in zip(self._paths, found, strict=True):
            _read(path, places, row)
        return Tokens(found[: self.templates], found[-2], found[-1], offsets)

    def remove(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(path: Path, places: list[tuple[int, int]], out: Ids) -> None:
    """Fill an array with the ids at some places of a file: the first and the end of each."""
    size, left = out.itemsize, out.view(np.uint8).data
    with path.open("rb", buffering=0) as file:
        for start, stop in places:
            file.seek(size * start)
            end = size * (stop - start)
            here, left = left[:end], left[end:]
            while here:
                n = file.readinto(here)
                if not n:
                    raise OSError(f"{path} is shorter than it was written")
                here = here[n:]
