"""CRFsuite model files with wrong numbers, altered bytes and other lengths: refused, or loaded without harm."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np

import corate
from fuzz.commands import checked
from fuzz.materials import labelled
from fuzz.mutations import mutated
from fuzz.worker import CaseFailedError
from reference.crfsuite import damaged

__all__ = ["Cases"]


class Cases:
    def __init__(self, materials: Path) -> None:
        self.models = [path.read_bytes() for path in sorted((materials / "crfsuite").iterdir())]
        sentences = [[w for w, _ in s] for s in [*labelled(4, Random(2)), [("Unseen", "N"), ("", "D")]]]
        self.features = [[{"w": w, "n": float(len(w)), "bias": 1} for w in words] for words in sentences]

    def run(self, rng: Random, folder: Path) -> None:
        path = folder / "model.crfsuite"
        model = rng.choice(self.models)
        path.write_bytes(mutated(model, rng) if rng.random() < 0.2 else damaged(model, rng))
        doing = rng.random()
        if doing < 0.02:
            checked("info", path, *rng.choice(([], ["--json"])))
        elif doing < 0.04:
            checked("convert", path, folder / rng.choice(("out.corate", "out.crfsuite")))
        elif doing < 0.05:
            checked("tag", path, "-f", "items", stdin=b"\tw:the\tbias\n\tw:dog\n\n")
        tagger = corate.load(path)
        labels = tagger.tag_all(self.features, threads=rng.choice((1, 2)))
        if list(map(len, labels)) != list(map(len, self.features)):
            raise CaseFailedError(f"labels are missing: {labels}")
        tagger.lattice(self.features).marginals()
        tagger.strongest(5)
        tagger.rates(5)
        for name in ("again.corate", "again.crfsuite"):
            tagger.save(folder / name)
            again = corate.load(folder / name)
            if again.tag_all(self.features) != labels:
                raise CaseFailedError(f"a saved model tags otherwise: {name}")
            if not np.array_equal(again.model.weights.scores[again.model.weights.scores != 0],
                                  tagger.model.weights.scores[tagger.model.weights.scores != 0]):  # fmt: skip
                raise CaseFailedError(f"a saved model has other weights: {name}")
