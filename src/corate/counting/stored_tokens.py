"""Tokens as ids on disk: a file for the features of each template, one for words and one for labels."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corate.counting.counts import Tokens
from corate.ragged import offsets_of
from corate.types import Ids, Offsets

__all__ = ["StoredTokens"]


class StoredTokens:
    """Tokens in files of a new folder. They are added in order, then read by sentence or by column."""

    def __init__(self, folder: Path, offsets: Offsets, templates: int) -> None:
        self.folder, self.offsets, self.templates = folder, offsets, templates
        folder.mkdir()
        self._open = ExitStack()
        names = [*map(str, range(templates)), "words", "labels"]
        self._files = [self._open.enter_context((folder / name).open("w+b", buffering=0)) for name in names]

    def add(self, features: Ids, words: Ids, labels: Ids) -> None:
        """Add tokens: (T, n) features, words and labels."""
        for file, ids in zip(self._files, (*features, words, labels), strict=True):
            left = np.ascontiguousarray(ids, np.int32).view(np.uint8).data
            while left:
                left = left[file.write(left) :]

    def column(self, template: int) -> Ids:
        """The features of a template, of all tokens."""
        return self._column(template)

    def labels(self) -> Ids:
        """The labels of all tokens."""
        return self._column(len(self._files) - 1)

    def _column(self, number: int) -> Ids:
        found = np.empty(int(self.offsets[-1]), np.int32)
        self._read(number, [(0, len(found))], found)
        return found

    def take(self, sentences: NDArray[np.int64]) -> Tokens:
        """The tokens of some sentences, in the given order. Neighbouring ones are read together."""
        offsets = offsets_of(np.diff(self.offsets)[sentences])
        runs = np.split(sentences, np.flatnonzero(np.diff(sentences) != 1) + 1) if len(sentences) else []
        places = [(int(self.offsets[run[0]]), int(self.offsets[run[-1] + 1])) for run in runs]
        found = np.empty((len(self._files), int(offsets[-1])), np.int32)
        for number, row in enumerate(found):
            self._read(number, places, row)
        return Tokens(found[: self.templates], found[-2], found[-1], offsets)

    def _read(self, number: int, places: list[tuple[int, int]], out: Ids) -> None:
        """Fill an array with the ids at some places of a file: (first, end) of each."""
        file, left = self._files[number], out.view(np.uint8).data
        for start, stop in places:
            file.seek(4 * start)
            end = 4 * (stop - start)
            here, left = left[:end], left[end:]
            while here:
                n = file.readinto(here)
                if not n:
                    raise OSError(f"{self.folder / str(number)} is shorter than it was written")
                here = here[n:]

    def remove(self) -> None:
        """Remove the files."""
        self._open.close()
        shutil.rmtree(self.folder, ignore_errors=True)
