"""Checkpoints: the state of a stochastic run, so that it can be resumed after a stop. Callers say where it is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corate.display import counted
from corate.errors import ModelError, placed
from corate.optimize.stochastic import AdaGrad, AveragedPerceptron

__all__ = ["Checkpoint", "digest_of"]

#: Attributes of AdaGrad that are saved with its tensors: the rate may have been halved.
STEPS = ("rate", "latest")
#: Limits on a weight and on any number, so that sums stay finite in single precision.
_LARGEST_WEIGHT, _LARGEST = 1e20, 1e37


def digest_of(arrays: Iterable[NDArray[Any] | None]) -> str:
    """A hash of the arrays that a run depends on; an array may be None. Checkpoints of other arrays are refused."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(b"none" if array is None else np.ascontiguousarray(array).data)
    return digest.hexdigest()


class Store(Protocol):
    """Keeps tensors and what is known about them, for example in a file."""

    @property
    def name(self) -> str:
        """The name for messages."""
        ...

    def read(self) -> tuple[Mapping[str, NDArray[Any]], dict[str, Any]] | None:
        """What was written last, None if nothing was."""
        ...

    def write(self, tensors: Mapping[str, NDArray[Any]], header: dict[str, Any]) -> object:
        """Replace what was written before."""
        ...


class Checkpoint:
    """The weights and the number of passes of a run. It belongs to one set of data and settings."""

    def __init__(self, store: Store, fingerprint: dict[str, Any]) -> None:
        self.store, self.fingerprint = store, fingerprint

    def save(self, run: AdaGrad | AveragedPerceptron, top: float = -1.0, waited: int = 0) -> None:
        """Write the run's state, its best held-out accuracy so far (-1 without held-out data), and the passes since."""
        header: dict[str, Any] = {"kind": "checkpoint", "passes": run.passes, "accuracy": top, "waited": waited}
        if isinstance(run, AdaGrad):
            header |= {name: getattr(run, name) for name in STEPS if np.isfinite(getattr(run, name))}
        self.store.write(run.tensors, {**header, "of": self.fingerprint})

    def restore(self, run: AdaGrad | AveragedPerceptron, passes: int) -> tuple[float, int]:
        """Resume the run, and return the accuracy and passes saved with it; (-1, 0) if nothing was saved.

        Raises ModelError if the state belongs to another run, or has more than ``passes`` passes.
        """
        found = self.store.read()
        if found is None:
            return -1.0, 0
        tensors, header = found
        with placed(file=self.store.name):
            if header.get("kind") != "checkpoint" or header.get("of") != self.fingerprint:
                raise ModelError("the checkpoint is of other data or settings", "name another file or remove it")
            if not _fits(tensors, header, run):
                raise ModelError("the checkpoint does not fit this run", "remove it")
            if header["passes"] > passes:
                made = f"the checkpoint has made {counted(header['passes'], 'pass')}, this run makes {passes}"
                raise ModelError(made, "name another file or remove it")
        run.resume(tensors, header["passes"])
        for name in STEPS if isinstance(run, AdaGrad) else ():
            setattr(run, name, float(header.get(name, getattr(run, name))))
        return float(header["accuracy"]), header.get("waited", 0)


def _fits(tensors: Mapping[str, NDArray[Any]], header: dict[str, Any], run: AdaGrad | AveragedPerceptron) -> bool:
    """Whether the content of a file is a valid state of the run. The file is not trusted."""
    numbers = {"accuracy": header.get("accuracy"), **{name: header[name] for name in STEPS if name in header}}
    if set(tensors) != set(run.tensors) or tensors["state"].shape != run.state.shape:
        return False
    if not all(array.dtype == np.float32 and (np.abs(array) < _LARGEST).all() for array in tensors.values()):
        return False
    if not (np.abs(tensors["state"][::2]) < _LARGEST_WEIGHT).all():
        return False
    if not all(type(n) is int and 0 <= n < 2**31 for n in (header.get("passes"), header.get("waited", 0))):
        return False
    if not all(type(n) in (int, float) and abs(n) < 2**63 for n in numbers.values()):
        return False
    if isinstance(run, AveragedPerceptron):
        return True
    moments, averaged = tensors["moments"], len(run.state) // 2
    if moments.shape != (1,) or not 0 <= moments[0] < 2**24 or moments[0] % 1 or numbers.get("rate", 1.0) < 0:
        return False
    return tensors["total"].shape == (averaged if moments[0] else 0,) and bool((tensors["state"][1::2] > 0).all())
