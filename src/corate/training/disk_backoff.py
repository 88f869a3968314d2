"""Empirical training on a corpus on disk: words are counted in memory, neighbour pairs on disk.

The model file is that of training in memory, tensor by tensor. It is written without having the neighbour pairs in
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corate import _native
from corate.corpus import Corpus
from corate.corpus.stored_corpus import StoredCorpus
from corate.counting.backoff import BackoffParameters, BackoffPreset
from corate.counting.counted_corpus import CountedCorpus
from corate.counting.stored_counts import Sizes, StoredCounts
from corate.counting.stored_pairs import StoredPairs
from corate.errors import FeatureError
from corate.features.templates import Template
from corate.io.tensor_file import Array, StreamedTensor, unsigned_dtype
from corate.model.chain import ChainModel
from corate.progress import ProgressEvent
from corate.rows import SparseRows
from corate.training.disk import DiskSource
from corate.training.source import Presets
from corate.training.start import RunContext

__all__ = ["BackoffSource", "BackoffStreams"]

#: The share of the memory limit for pieces and merges; words, their levels and rows have the rest.
WORKING_SHARE = 0.25


class BackoffSource(DiskSource):
    """A corpus on disk whose neighbour pairs are counted on disk, for back-offs.

    At most ``most_words`` words are counted: see `CountedWords`.
    """

    def __init__(self, stored: StoredCorpus, folder: Path, memory: int, most_words: int) -> None:
        super().__init__(stored, None, (), folder, memory)
        self.most_words = most_words

    def count(
        self, templates: Sequence[Template], presets: Presets, context: RunContext, held_out: Corpus | None = None
    ) -> CountedCorpus:
        """Count what the back-offs need. The strings of the corpus are released: only ids are needed from here on."""
        if templates or held_out is not None:
            raise FeatureError("features and held-out text are counted in memory; give more memory")
        return StoredCounts(
            self.stored,
            presets,
            self.folder,
            sizes=Sizes.within(int(WORKING_SHARE * self.memory), context.threads),
            most_words=self.most_words,
            seed=context.seed,
            threads=context.threads,
            progress=lambda done: context.progress(ProgressEvent("counting", done)),
        )

    def streamed(
        self, counted: CountedCorpus, preset: BackoffPreset, p: BackoffParameters, model: ChainModel
    ) -> BackoffStreams:
        """The parts of the model file that stay on disk, and the weights of neighbour pairs, which are written here."""
        assert isinstance(counted, StoredCounts)
        _native.release_memory()
        words = model.rows.between(0, model.level_bases[0])
        weights = [
            _StoredWeights.write(
                counted.weight_chunks(t, p, words) if preset.neighbours else iter(()),
                pairs.rows,
                self.folder,
                f"weights-{t}",
            )
            for t, pairs in enumerate(counted.pairs_on_disk, start=1)
        ]
        return BackoffStreams(model, counted, weights)


@dataclass(frozen=True, eq=False)
class BackoffStreams:
    """The tensors of a model file that are on disk: those of neighbour pairs, and those that contain them."""

    model: ChainModel  # all but the neighbour pairs
    counted: StoredCounts
    weights: list[_StoredWeights]

    @property
    def features(self) -> int:
        """The number of features that are on disk."""
        return sum(pairs.rows for pairs in self.counted.pairs_on_disk)

    def tensors(self, *, counts: bool, half: bool) -> dict[str, StreamedTensor]:
        """The tensors by name; with the counts, and with 16 bits for a score if ``half``."""
        _native.release_memory()
        found = self._keys() | self._weights(np.dtype(np.float16 if half else np.float32))
        return found | self._counts() if counts else found

    def _keys(self) -> dict[str, StreamedTensor]:
        found = {}
        for t, pairs in enumerate(self.counted.pairs_on_disk, start=1):
            for name, shift in (("first", 32), ("second", 0)):
                parts = _key_parts(pairs, self.counted.sizes.rows, np.uint64(shift))
                dtype = unsigned_dtype(pairs.largest[name])
                found[f"keys.{t}.{name}"] = StreamedTensor(dtype, pairs.rows, parts)
        return found

    def _weights(self, scores: np.dtype[Any]) -> dict[str, StreamedTensor]:
        """The weights: none of words, those of neighbour pairs, and those of the neighbours of unseen words."""
        own = self.model.weights
        n = len(self.counted.counts.table)
        rest = own.lengths[n:]
        largest = max([int(rest.max(initial=0)), *(w.longest for w in self.weights)])
        labels = max([int(own.labels.max(initial=0)), *(w.largest for w in self.weights)])
        rows = sum(w.rows for w in self.weights) + len(own)
        entries = sum(w.entries for w in self.weights) + len(own.labels)

        def parts(name: str, before: Array, after: Array) -> Callable[[], Iterator[Array]]:
            def read() -> Iterator[Array]:
                yield before
                for stored in self.weights:
                    yield from stored.read(name)
                yield after

            return read

        none = np.zeros(0, np.int32)
        return {
            "weights.lengths": StreamedTensor(
                unsigned_dtype(largest), rows, parts("lengths", np.zeros(n, np.int32), rest)
            ),
            "weights.labels": StreamedTensor(unsigned_dtype(labels), entries, parts("labels", none, own.labels)),
            "weights.scores": StreamedTensor(scores, entries, parts("scores", none, own.scores)),
        }

    def _counts(self) -> dict[str, StreamedTensor]:
        words, on_disk = self.counted.counts.table, self.counted.pairs_on_disk
        rest = int(self.counted.counts.vocabulary.bases[-1]) - len(words)
        rows = len(words) + sum(pairs.rows for pairs in on_disk) + rest
        entries = len(words.labels) + sum(pairs.entries for pairs in on_disk)

        def parts(name: str, before: Array, after: int = 0) -> Callable[[], Iterator[Array]]:
            def read() -> Iterator[Array]:
                yield before
                for pairs in on_disk:
                    for _, _, table in pairs.chunks(self.counted.sizes.rows):
                        yield table.lengths if name == "lengths" else getattr(table, name)
                yield np.zeros(after, np.int64)

            return read

        def dtype(name: str, own: Array) -> np.dtype[Any]:
            return unsigned_dtype(max([int(own.max(initial=0)), *(pairs.largest[name] for pairs in on_disk)]))

        lengths = words.lengths
        return {
            "counts.lengths": StreamedTensor(dtype("length", lengths), rows, parts("lengths", lengths, rest)),
            "counts.labels": StreamedTensor(dtype("label", words.labels), entries, parts("labels", words.labels)),
            "counts.counts": StreamedTensor(dtype("count", words.counts), entries, parts("counts", words.counts)),
        }


@dataclass(frozen=True)
class _StoredWeights:
    """The weights of neighbour pairs, in files. The last rows may have none."""

    folder: Path
    name: str
    rows: int
    entries: int
    longest: int  # row
    largest: int  # label

    @classmethod
    def write(cls, chunks: Iterator[SparseRows], rows: int, folder: Path, name: str) -> _StoredWeights:
        entries, longest, largest, written = 0, 0, 0, 0
        with ExitStack() as stack:
            names = ("lengths", "labels", "scores")
            files = [stack.enter_context((folder / f"{name}-{what}").open("wb")) for what in names]
            for chunk in chunks:
                lengths = chunk.lengths.astype(np.int32)
                for file, array in zip(files, (lengths, chunk.labels, chunk.scores), strict=True):
                    file.write(np.ascontiguousarray(array).data)
                entries, written = entries + len(chunk.labels), written + len(lengths)
                longest = max(longest, int(lengths.max(initial=0)))
                largest = max(largest, int(chunk.labels.max(initial=0)))
            files[0].write(np.zeros(rows - written, np.int32).data)
        return cls(folder, name, rows, entries, longest, largest)

    def read(self, name: str, numbers: int = 1 << 20) -> Iterator[Array]:
        dtype = np.float32 if name == "scores" else np.int32
        with (self.folder / f"{self.name}-{name}").open("rb", buffering=0) as file:
            while len(part := np.fromfile(file, dtype, count=numbers)):
                yield part


def _key_parts(pairs: StoredPairs, rows: int, shift: np.uint64) -> Callable[[], Iterator[Array]]:
    return lambda: (keys >> shift & np.uint64(0xFFFFFFFF) for _, keys, _ in pairs.chunks(rows))
