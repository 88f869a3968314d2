"""python-crfsuite's tagger."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corate.corpus.attributes import FeatureSentence, ItemSequence

# The model is imported when a file is opened, so that programs which import this class start quickly.
if TYPE_CHECKING:
    from corate.compat.pycrfsuite.dump import ParsedDump
    from corate.model.lattice import Lattice
    from corate.model.tagger import Tagger as Model

__all__ = ["Tagger"]


#: A file that changed less than so many seconds ago may change again without a later time.
_SETTLED = 2.0

#: The model of the file that was opened last, and what tells whether the file is still the same.
_last: tuple[tuple[Any, ...], Model] | None = None


def _model_of(path: str) -> Model:
    """The model of a file. That of the last file is kept, for programs that open it again for each sentence."""
    global _last
    from corate.model import archive

    found = os.stat(path)
    same = (os.path.abspath(path), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if _last is not None and _last[0] == same:
        return _last[1]
    settled = time.time() - max(found.st_mtime, found.st_ctime) > _SETTLED
    model = archive.load(path)
    _last = (same, model) if settled else None
    return model


class Tagger:
    """Labels sequences with the model of a file: CRFsuite's or corate's.

    Threads may share a tagger for ``tag(xseq)``. The methods that use the current sequence, `tag` without an argument,
    `probability` and `marginal`, are for one thread at a time. A tagger can be pickled.
    """

    _model: Model | None = None
    _header: dict[str, str] | None = None
    _current: _Sequence | ItemSequence | list[Any] | None = None
    _label_ids: dict[str, int]

    # -- opening -------------------------------------------------------------------------------------------------

    def open(self, name: str | os.PathLike[str]) -> closing[Tagger]:
        """Open a model file; returns a context manager that closes it.

        Raises OSError if the file cannot be read, and ValueError if it is no model or a damaged one.
        """
        from corate.model import crfsuite

        path = os.fspath(name)
        header = crfsuite.header(path)
        return self._opened(_model_of(path), header)

    def open_inmemory(self, value: bytes) -> closing[Tagger]:
        """Open a model that is given as the bytes of its file."""
        if not isinstance(value, bytes):
            raise TypeError(f"the model must be given as bytes, not as {type(value).__name__}")
        from corate.model import archive, crfsuite

        return self._opened(archive.from_bytes(value), crfsuite.header(value))

    @classmethod
    def of_file(cls, file: str | os.PathLike[str] | bytes) -> Tagger:
        """An open tagger of the model in a file, which is given by its path or as its bytes."""
        tagger = cls()
        if isinstance(file, bytes):
            tagger.open_inmemory(file)
        else:
            tagger.open(file)
        return tagger

    @classmethod
    def of(cls, model: Model) -> Tagger:
        """An open tagger of a model that is in memory."""
        tagger = cls()
        tagger._opened(model, None)
        return tagger

    def _opened(self, model: Model, header: dict[str, str] | None) -> closing[Tagger]:
        self._model, self._header, self._current = model, header, None
        self._label_ids = {name: i for i, name in enumerate(model.labels)}
        return closing(self)

    def close(self) -> None:
        """Close the model."""
        self._model = self._header = self._current = None

    @property
    def model(self) -> Model:
        """The model as a `corate.Tagger`."""
        if self._model is None:
            raise ValueError("The tagger is not opened")
        return self._model

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_current"}

    # -- tagging -------------------------------------------------------------------------------------------------

    def labels(self) -> list[str]:
        """The labels of the model."""
        return list(self.model.labels)

    def tag(self, xseq: FeatureSentence | None = None) -> list[str]:
        """The best labels of a sequence, which becomes the current one; without it, those of the current one."""
        model = self._model
        if model is None:
            raise ValueError("The tagger is not opened")
        tag = model._tag_features
        if type(xseq) is list and tag is not None:  # as below, with less work under the interpreter lock
            labels = tag(xseq)
            self._current = xseq
            return labels
        if xseq is None:
            return [] if self._current is None else self._sequence().best()
        tokens = xseq if isinstance(xseq, ItemSequence) else list(xseq)
        labels = model.tag(tokens)
        self._current = tokens
        return labels

    def set(self, xseq: FeatureSentence) -> None:
        """Make a sequence the current one."""
        model = self.model
        current = _Sequence(model, xseq if isinstance(xseq, ItemSequence) else list(xseq))
        _ = current.lattice  # what the caller changes later is not seen
        self._current = current

    def probability(self, yseq: Sequence[str]) -> float:
        """P(yseq | the current sequence)."""
        current, known = self._sequence(), self._label_ids
        if len(yseq) != len(current):
            raise ValueError(f"The numbers of items and labels differ: |x| = {len(current)}, |y| = {len(yseq)}")
        return current.probability([_label_id(known, label) for label in yseq])

    def marginal(self, y: str, pos: int) -> float:
        """The probability of the label ``y`` at a position of the current sequence."""
        current, known = self._sequence(), self._label_ids
        if not 0 <= pos < len(current):
            raise ValueError(f"The position, {pos} is out of range of {len(current)}")
        return current.marginals[pos][_label_id(known, y)]

    def marginals(self) -> list[dict[str, float]]:
        """The probability of each label at each position of the current sequence."""
        current, names = self._sequence(), self.model.labels
        return [dict(zip(names, row, strict=True)) for row in current.marginals]

    def _sequence(self) -> _Sequence:
        model = self.model
        if self._current is None:
            return _Sequence(model, [])
        if not isinstance(self._current, _Sequence):
            self._current = _Sequence(model, self._current)
        return self._current

    # -- looking -------------------------------------------------------------------------------------------------

    def info(self) -> ParsedDump:
        """The labels, attributes and weights of the model."""
        from corate.compat.pycrfsuite.dump import parsed_dump

        if self._model is None:
            raise RuntimeError("Tagger is closed")
        return parsed_dump(self._model, self._header)

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write the content of the model as text to a file, or to standard output."""
        from corate.compat.pycrfsuite.dump import dump_lines
        from corate.io.atomic import replacing

        lines = dump_lines(self.info())
        if filename is None:
            sys.stdout.writelines(lines)
            return
        with replacing(filename) as file:
            file.writelines(line.encode() for line in lines)


class _Sequence:
    """The current sequence: its scores are computed once, when they are first needed."""

    def __init__(self, model: Model, tokens: Any) -> None:
        self._model = model
        self._tokens = tokens

    @cached_property
    def lattice(self) -> Lattice:
        return self._model.lattice([self._tokens])

    def __len__(self) -> int:
        return int(self.lattice.sentences[1])

    def best(self) -> list[str]:
        names = self._model.labels
        return [names[i] for i in self.lattice.best()[0].tolist()]

    @cached_property
    def marginals(self) -> list[list[float]]:
        """The probability of each label at each position."""
        rows: list[list[float]] = self.lattice.label_marginals().tolist()
        return rows

    @cached_property
    def _log_z(self) -> float:
        return float(self.lattice.marginals()[0][0])

    def probability(self, labels: list[int]) -> float:
        score = self.lattice.path_score(0, np.array(labels, dtype=np.int32))
        return math.exp(min(score - self._log_z, 0.0))


def _label_id(known: dict[str, int], label: str) -> int:
    if label not in known:
        raise RuntimeError(f"Failed to convert into label identifier: {label}")
    return known[label]
