"""Checkpoints with altered bytes, tensors and headers: a run refuses them, or resumes from them and ends normally."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import corate
from corate import Corpus
from fuzz.materials import labelled
from fuzz.models import altered, parts_of

__all__ = ["Cases"]

_RUNS: dict[str, dict[str, Any]] = {
    "polish": {"features": ["word[0]", "word[-1]"], "passes": 2},
    "standard": {"features": ["word[0]"], "optimizer": "adagrad", "passes": 2},
    "perceptron": {"features": ["word[0]"], "passes": 2},
    "separate": {"features": ["word[0]"], "passes": 2},
}


class Cases:
    def __init__(self, materials: Path) -> None:
        self.corpus = Corpus.from_sentences(labelled(8, Random(4)))
        self.files = []
        for method, given in _RUNS.items():
            path = materials / f"{method}-{os.getpid()}.checkpoint"
            corate.train(self.corpus, method, checkpoint=path, **given)
            self.files.append((method, path.read_bytes(), parts_of(path)))
            path.unlink()

    def run(self, rng: Random, folder: Path) -> None:
        method, content, (tensors, header) = rng.choice(self.files)
        path = folder / "run.checkpoint"
        if rng.random() < 0.3:  # as if the run had been stopped after its first pass
            header = {**header, "passes": 1}
        if rng.random() < 0.2:
            header = {**header, rng.choice(("passes", "accuracy", "waited", "rate", "latest")): rng.choice(
                (-1, 0, 1, 1.5, 2**70, 1e300, "1", None, [], True, "nan", "inf")
            )}  # fmt: skip
        altered(content, (tensors, header), path, rng)
        tagger = corate.train(self.corpus, method, checkpoint=path, **_RUNS[method])
        tagger.tag_all(self.corpus)
        if not np.isfinite(tagger.lattice(self.corpus).marginals()[0]).all():
            return  # the checkpoint's weights were too large
        tagger.save(folder / "model.corate")
        corate.load(folder / "model.corate")
