"""Model files with altered bytes, tensors and headers, many with a correct hash: refused, or loaded without harm."""

from __future__ import annotations

import copy
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import corate
from corate import Corpus, Tagger
from corate.io import tensor_file
from fuzz.commands import checked
from fuzz.materials import graphs_of, labelled
from fuzz.mutations import mutated, with_right_hash
from fuzz.worker import CaseFailedError
from reference.damage import damaged_header, damaged_tensors

__all__ = ["Cases", "altered"]

_JSON = (b"[", b"{", b"[[[[[[", b"null", b"NaN", b"-1", b"1e999", b'""', b'"a":', b",", b"\\u0000", b"\\ud800",
         b"9" * 400, b'"U8"', b'"F64"', b'"I64"')  # fmt: skip


def altered(model: bytes, parts: tuple[dict[str, Any], dict[str, Any]], path: Path, rng: Random) -> None:
    """Write a copy of a model file with some changes."""
    kind = rng.random()
    numbers = np.random.default_rng(rng.getrandbits(64))
    tensors, header = parts
    if kind < 0.1:
        path.write_bytes(mutated(model, rng, _JSON))
    elif kind < 0.25:
        path.write_bytes(with_right_hash(mutated(model, rng, _JSON)))
    elif kind < 0.35:
        end = int.from_bytes(model[:8], "little") + 8
        path.write_bytes(with_right_hash(mutated(model[:end], rng, _JSON) + model[end:], length=True))
    elif kind < 0.75:
        tensor_file.write(path, damaged_tensors(tensors, numbers), header)
    elif kind < 0.95:
        tensor_file.write(path, tensors, damaged_header(header, numbers))
    else:
        tensor_file.write(path, damaged_tensors(tensors, numbers), damaged_header(header, numbers))


def parts_of(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Copies of the tensors and the header of a model file."""
    tensors, header = tensor_file.read(path)
    return {name: np.array(tensor) for name, tensor in tensors.items()}, copy.deepcopy(header)


class Cases:
    def __init__(self, materials: Path) -> None:
        paths = sorted((materials / "models").iterdir())
        self.models = [(path.stem, path.read_bytes(), parts_of(path)) for path in paths]
        sentences = [*labelled(4, Random(2)), [("Unseen", "N"), ("X-9", "V"), ("", "D")]]
        self.corpora = {
            "plain": Corpus.from_sentences(sentences),
            "pos": Corpus.from_sentences([[(w, w[:1], y) for w, y in s] for s in sentences]),
            "ready": Corpus.from_features(
                [[{"w": w, "n": float(len(w)), "new": 1} for w, _ in s] for s in sentences],
                [[y for _, y in s] for s in sentences],
            ),
            "graphs": graphs_of(sentences),
        }

    def run(self, rng: Random, folder: Path) -> None:
        name, model, parts = rng.choice(self.models)
        kinds = {"pooled": "pos", "polish-pos": "pos", "graphs": "graphs"}
        corpus = self.corpora["ready" if "ready" in name else kinds.get(name, "plain")]
        path = folder / "model.corate"
        if rng.random() < 0.003:
            self._overwritten(model, path, corpus, rng)
            return
        altered(model, parts, path, rng)
        tagger = corate.load(path)
        self._used(tagger, corpus, name, rng)
        doing = rng.random()
        if doing < 0.1:
            checked("info", path, *rng.choice(([], ["--json"])))
        elif doing < 0.15:
            checked("rates", path, *rng.choice(([], ["--json"])))
        elif doing < 0.2:
            checked("tag", path, "-f", rng.choice(("columns", "text")), stdin=b"the d\nUnseen U\n\n")
        elif doing < 0.25:
            tagger.save(folder / "again.corate", half=rng.random() < 0.5)
            corate.load(folder / "again.corate")
        elif doing < 0.28 and tagger.method != "empirical":
            corate.train(corpus, "standard", init=tagger, iterations=2)
        elif tagger.method == "empirical":
            tagger.update(corpus).tag_all(corpus)

    @staticmethod
    def _used(tagger: Tagger, corpus: Corpus, name: str, rng: Random) -> None:
        labels = tagger.tag_all(corpus, threads=rng.choice((1, 2)))
        if list(map(len, labels)) != np.diff(corpus.offsets).tolist():
            raise CaseFailedError(f"labels are missing: {labels}")
        tagger.lattice(corpus).marginals()
        repr(tagger)
        tagger.strongest(5)
        corate.evaluate(tagger, corpus)
        if name == "graphs":
            tagger.explain(corpus[0], 0)
            return
        tagger.rates()
        if "ready" not in name:
            tagger.tag_text(b"the d\nUnseen U\n", columns=["word", "pos"])

    @staticmethod
    def _overwritten(model: bytes, path: Path, corpus: Corpus, rng: Random) -> None:
        """Overwrite the file of a loaded model in place, as an interrupted copy would."""
        path.write_bytes(model)
        tagger = corate.load(path)
        with open(path, "r+b") as file:
            file.truncate(rng.randrange(len(model)))
        tagger.tag_all(corpus)
        tagger.strongest(5)
        tagger.save(path)
