"""Empirical training on a corpus on disk: words are counted in memory, neighbour pairs on disk.

The model file is that of `empirical`, tensor by tensor. It is written without having the neighbour pairs in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from corate import _native
from corate.corpus.stored_corpus import StoredCorpus
from corate.counting.counts import Counts
from corate.counting.ladder import LadderPreset
from corate.counting.ladder_tuning import TunedLadder, tune_ladder
from corate.counting.stored_counts import Sizes, StoredCounts
from corate.counting.stored_pairs import StoredPairs
from corate.errors import FeatureError
from corate.io.tensor_file import Array, StreamedTensor, unsigned_dtype
from corate.model.archive import save_streamed
from corate.model.constraints import with_scheme
from corate.model.tagger import Tagger
from corate.progress import ProgressEvent
from corate.rows import SparseRows
from corate.training.api import Trained
from corate.training.empirical import PRESETS_OF_LADDERS
from corate.training.empirical_model import given_parameters, ladder_model
from corate.training.options import Empirical
from corate.training.start import RunContext

__all__ = ["StoredEmpirical"]

#: The share of the memory limit for pieces and merges; words, their rungs and rows have the rest.
WORKING_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class StoredEmpirical:
    """A model trained by counting, whose neighbour pairs are on disk."""

    tagger: Tagger  # all but the neighbour pairs
    counted: StoredCounts
    weights: list[_StoredWeights]

    @classmethod
    def train(
        cls, method: Empirical, stored: StoredCorpus, folder: Path, memory: int, most_words: int, context: RunContext
    ) -> StoredEmpirical:
        """Count, tune and build. ``memory`` is the limit in bytes, ``folder`` is for temporary files.

        At most ``most_words`` words are counted: see `CountedWords`.
        """
        if method.ladder == "pooled":
            raise FeatureError("the pooled ladder needs features, which are counted in memory; give more memory")
        counted = StoredCounts(
            stored,
            PRESETS_OF_LADDERS[method.ladder],
            folder,
            sizes=Sizes.within(int(WORKING_SHARE * memory), context.threads),
            most_words=most_words,
            seed=context.seed,
            threads=context.threads,
            progress=lambda done: context.progress(ProgressEvent("counting", done)),
        )
        given = given_parameters(method)
        tuned = {preset: tune_ladder(counted, preset, given, context.progress) for preset in counted.presets}
        preset, best = min(tuned.items(), key=lambda item: _loss(item[1]))
        held_out_tokens = sum(len(h.tokens.labels) for h in counted.held_out)
        counted.release_held_out()
        context.progress(ProgressEvent("building the model"))
        p, word = best.parameters, stored.word
        model = ladder_model(counted.counts, preset, p, word, method.all_labels, counted.all_tables(preset))
        _native.release_memory()
        words = model.rows.between(0, model.rung_bases[0])
        weights = [
            _StoredWeights.write(
                counted.weight_chunks(t, p, words) if preset.neighbours else iter(()),
                pairs.rows,
                folder,
                f"weights-{t}",
            )
            for t, pairs in enumerate(counted.pairs_on_disk, start=1)
        ]
        counts = replace(counted.counts, table=counted.counts.table.padded(int(counted.counts.vocabulary.bases[-1])))
        record: dict[str, Any] = {
            "ladder": preset.name,
            "word": word,
            "settings": asdict(p),
            "held_out": {"tokens": held_out_tokens, "ladders": _measured(tuned)},
        }
        if counted.words.left_out:
            record["words_left_out"] = counted.words.left_out
        trained = Trained(counts.vocabulary, model, record, _n_features(counted), counts)
        layout = list(stored.layout) or [*stored.columns, "label"]
        source = {"label_source": stored.label_source} if stored.label_source else {}
        described = trained.described(method, len(stored), stored.n_tokens, layout, context.seed, source)
        return cls(Tagger(counts.vocabulary, model, described, stored.columns, counts), counted, weights)

    def constrained(self, scheme: str) -> StoredEmpirical:
        """The model with only label sequences that are valid in a scheme."""
        tagger = self.tagger
        model, record = with_scheme(tagger.model, scheme), tagger.record | {"constrain": scheme}
        return replace(self, tagger=replace(tagger, model=model, record=record))

    def save(self, path: str | os.PathLike[str], *, counts: bool = True, half: bool = False) -> int:
        """Write the model file and return its size in bytes."""
        _native.release_memory()
        streamed = self._keys() | self._weights(np.dtype(np.float16 if half else np.float32))
        if counts:
            streamed |= self._counts()
        return save_streamed(self.tagger, path, streamed, counts=counts, half=half)

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
        own = self.tagger.model.weights
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


def _n_features(counted: StoredCounts) -> int:
    counts: Counts = counted.counts
    return int((counts.table.lengths > 0).sum()) + sum(pairs.rows for pairs in counted.pairs_on_disk)


def _loss(tuned: TunedLadder) -> float:
    return np.inf if tuned.log_loss is None else tuned.log_loss


def _measured(tuned: dict[LadderPreset, TunedLadder]) -> dict[str, Any]:
    return {
        preset.name: {"accuracy": found.accuracy, "log_loss": found.log_loss}
        for preset, found in tuned.items()
        if found.accuracy is not None
    }
