"""A labelled corpus on disk, for text that is larger than memory.

The ids of tokens are in files, one for each column and one for the labels. Strings and sentence offsets are in memory:
they grow more slowly than the text. Sentences are read back as an ordinary corpus, a piece at a time.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus.corpus import Column, Corpus, word_column
from corate.display import counted
from corate.errors import Argument, DataError
from corate.memory import shown_memory
from corate.rows import cuts, offsets_of
from corate.strings import StringTable
from corate.types import Ids, Offsets

__all__ = ["StoredCorpus", "temporary_folder", "writing_to"]

_ITEM = np.dtype("<i4")
_COUNTED_TOKENS = 1 << 20  # tokens that are counted at a time


def temporary_folder(parent: str | Path | None = None) -> Path:
    """A new folder for temporary files. The caller removes it."""
    return Path(tempfile.mkdtemp(prefix="corate-", dir=parent))


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Raise DataError if a temporary file in the folder cannot be written, for example because the disk is full."""
    try:
        yield
    except OSError as error:
        parent = folder.parent
        free = f" ({shown_memory(shutil.disk_usage(parent).free)} free)" if parent.exists() else ""
        raise DataError(
            f"cannot write temporary files to {parent}: {error.strerror or error}{free}",
            f"name another folder with {Argument('temporary')}",
        ) from error


@dataclass(eq=False)
class StoredCorpus:
    """A labelled corpus whose tokens are on disk. As a context manager, it removes its files at the end.

    >>> corpus = Corpus.from_sentences([[("to", "TO"), ("be", "VB")], [("or", "CC")], [("not", "RB")]])
    >>> with StoredCorpus.write([corpus[:2], corpus[2:]], temporary_folder()) as stored:
    ...     print(stored, stored.take(np.array([2, 0])).tokens(0), stored.sentences(1, 3).labels_of(0))
    StoredCorpus(3 sentences, 4 tokens, columns: word, 4 labels) ['not'] ['CC']
    """

    folder: Path
    columns: tuple[str, ...]
    strings: tuple[StringTable, ...]  # of the columns
    labels: StringTable
    offsets: Offsets
    layout: tuple[str, ...] = ()
    label_source: str = ""

    @classmethod
    def write(cls, pieces: Iterable[Corpus], folder: Path, most_strings: int | None = None) -> StoredCorpus:
        """Write the pieces of a labelled corpus, which have the same columns, to files in a folder.

        Strings and labels are numbered in order of first appearance. If there are more than ``most_strings``, DataError
        is raised. If anything fails, the folder is removed.
        """
        try:
            return cls._write(pieces, folder, most_strings)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    @classmethod
    def _write(cls, pieces: Iterable[Corpus], folder: Path, most_strings: int | None) -> StoredCorpus:
        first, interners, lengths = None, list[_native.StringInterner](), []
        with ExitStack() as stack:
            files = []
            for piece in pieces:
                if piece.attributes is not None:
                    raise DataError("ready-made features are not stored on disk; train them in memory")
                own = [*piece.columns, piece.require_labels()]
                if first is None:
                    first = piece
                    interners = [_native.StringInterner() for _ in own]
                    files = [stack.enter_context((folder / str(c)).open("wb")) for c in range(len(own))]
                if [c.name for c in piece.columns] != [c.name for c in first.columns]:
                    raise DataError("the pieces of a corpus must have the same columns")
                for column, strings, file in zip(own, interners, files, strict=True):
                    places = _used_places(column, strings)
                    file.write(np.ascontiguousarray(column.renumbered(places), _ITEM).data)
                lengths.append(np.diff(piece.offsets).astype(np.int32))
                _native.release_memory()
                if most_strings is not None and sum(map(len, interners)) > most_strings:
                    raise DataError(
                        f"after {sum(int(part.sum()) for part in lengths):,} tokens, the text has more than "
                        f"{most_strings:,} distinct strings, which exceed the memory limit; give more memory"
                    )
        if first is None:
            raise DataError("there are no sentences to train on")
        offsets = offsets_of(np.concatenate(lengths))
        lengths.clear()
        tables = []
        while interners:  # one after another, to have few strings twice in memory
            tables.append(StringTable(*interners.pop(0).table()))
        *columns, labels = tables
        names = tuple(column.name for column in first.columns)
        return cls(folder, names, tuple(columns), labels, offsets, first.layout, first.label_source)

    def __enter__(self) -> StoredCorpus:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def forget_strings(self) -> None:
        """Release the strings of the columns, if only ids are needed from here on."""
        none = StringTable.intern([])[0]
        self.strings = tuple(none for _ in self.strings)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return int(self.offsets[-1])

    def __repr__(self) -> str:
        return (
            f"StoredCorpus({counted(len(self), 'sentence')}, {counted(self.n_tokens, 'token')}, "
            f"columns: {' '.join(self.columns)}, {counted(len(self.labels), 'label')})"
        )

    @property
    def word(self) -> str:
        """The column that holds the words, as in a corpus."""
        return word_column(self.columns)

    def sentences(self, start: int, stop: int) -> Corpus:
        """The sentences from ``start`` to ``stop``."""
        a, b = int(self.offsets[start]), int(self.offsets[stop])
        return self._corpus(self.offsets[start : stop + 1] - a, [self._ids(c, a, b) for c in self._numbers])

    def take(self, sentences: NDArray[np.int64]) -> Corpus:
        """Some sentences, in the given order. Neighbouring ones are read together."""
        runs = np.split(sentences, np.flatnonzero(np.diff(sentences) != 1) + 1) if len(sentences) else []
        parts = [(int(self.offsets[run[0]]), int(self.offsets[run[-1] + 1])) for run in runs]
        none = [np.zeros(0, np.int32)]
        ids = [np.concatenate([*none, *(self._ids(c, a, b) for a, b in parts)]) for c in self._numbers]
        return self._corpus(offsets_of(np.diff(self.offsets)[sentences]), ids)

    def cuts(self, tokens: int) -> list[tuple[int, int]]:
        """The first sentence of each piece of about so many tokens, and the first one after it."""
        return cuts(self.offsets, tokens)

    def pieces(self, tokens: int) -> Iterator[Corpus]:
        """All sentences, in pieces of about so many tokens."""
        return (self.sentences(a, b) for a, b in self.cuts(tokens))

    def token_counts(self, column: int) -> NDArray[np.int64]:
        """The number of tokens of each string of a column."""
        found = np.zeros(len(self.strings[column]), np.int64)
        for start in range(0, self.n_tokens, _COUNTED_TOKENS):
            ids = self._ids(column, start, min(start + _COUNTED_TOKENS, self.n_tokens))
            np.add.at(found, ids, 1)
        return found

    @property
    def _numbers(self) -> range:
        return range(len(self.columns) + 1)

    def _ids(self, column: int, start: int, stop: int) -> Ids:
        path = self.folder / str(column)
        found = np.fromfile(path, _ITEM, count=stop - start, offset=start * _ITEM.itemsize)
        return found.astype(np.int32, copy=False)

    def _corpus(self, offsets: Offsets, ids: list[Ids]) -> Corpus:
        columns = [Column(*parts) for parts in zip(self.columns, ids, self.strings, strict=False)]
        labels = Column("label", ids[-1], self.labels)
        return Corpus(tuple(columns), offsets, labels, layout=self.layout, label_source=self.label_source)


def _used_places(column: Column, strings: _native.StringInterner) -> Ids:
    """The ids in ``strings`` of a column's strings, -1 for those that no token has."""
    used = np.zeros(len(column.strings), dtype=bool)
    used[column.ids if column.complete else column.ids[column.ids >= 0]] = True
    if used.all():
        return strings.add((column.strings.data, column.strings.offsets))
    places = np.full(len(used), -1, np.int32)
    kept = column.strings.take(np.flatnonzero(used))
    places[used] = strings.add((kept.data, kept.offsets))
    return places
