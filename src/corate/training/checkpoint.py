"""Checkpoints: the state of a stochastic run on disk, so that it can be taken up again after a stop."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from corate import storage
from corate.errors import ModelError
from corate.training.optimize import AdaGrad, Perceptron

__all__ = ["Checkpoint"]

#: What later steps of AdaGrad depend on beside the state: the rate may have been halved on the way.
STEPS = ("rate", "latest")


class Checkpoint:
    """A file that holds a run's weights and passes; it belongs to one set of data and settings."""

    def __init__(self, path: str | os.PathLike[str], fingerprint: dict[str, Any]) -> None:
        self.path, self.fingerprint = path, fingerprint

    def save(self, run: AdaGrad | Perceptron, top: float = -1.0, waited: int = 0) -> None:
        """Write the run's state, all or nothing, with its best held-out accuracy so far and the passes since then.

        Where nobody looked, the accuracy is -1.
        """
        header: dict[str, Any] = {"kind": "checkpoint", "passes": run.passes, "accuracy": top, "waited": waited}
        if isinstance(run, AdaGrad):
            header |= {name: getattr(run, name) for name in STEPS if np.isfinite(getattr(run, name))}
        header["of"] = self.fingerprint
        storage.write(self.path, run.tensors, header)

    def restore(self, run: AdaGrad | Perceptron, passes: int) -> tuple[float, int]:
        """Take up the run where the file left it, and return what was saved with it; (-1, 0) without a file.

        Raises ModelError where the file is of another run, or of more passes than are wanted.
        """
        if not os.path.exists(self.path):
            return -1.0, 0
        tensors, header = storage.read(self.path)
        if header.get("kind") != "checkpoint" or header.get("of") != self.fingerprint:
            raise ModelError(
                f"{os.fspath(self.path)}: the checkpoint is of other data or settings; name another file or remove it"
            )
        if tensors["state"].shape != run.state.shape:
            raise ModelError(f"{os.fspath(self.path)}: the checkpoint does not fit this run; remove it")
        if int(header["passes"]) > passes:
            raise ModelError(
                f"{os.fspath(self.path)}: it has made {header['passes']} passes, and only {passes} are asked for; "
                "name another file or remove it"
            )
        run.resume(tensors, int(header["passes"]))
        for name in STEPS if isinstance(run, AdaGrad) else ():
            setattr(run, name, float(header.get(name, getattr(run, name))))
        return float(header["accuracy"]), int(header.get("waited", 0))
