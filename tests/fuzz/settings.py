"""Odd values of every option, on the command line and in Python: accepted, or refused with a clear error."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import corate
from corate import Corpus
from corate.cli.method_options import option_of
from corate.training.methods import METHODS, options_of
from fuzz.commands import checked
from fuzz.materials import labelled
from fuzz.texts import ENCODINGS, SEPARATORS
from fuzz.worker import CaseFailedError
from options_given import given as as_arguments

__all__ = ["Cases"]

_VALUES: tuple[Any, ...] = (0, 1, 2, -1, 0.5, 1.5, 1e-300, 1e-9, 1e9, 1e30, 1e300, 5e-324, -1e30,
                            2**31, 2**32, 2**53, 2**63, 2**64, 2**70, math.nan, math.inf, -math.inf)  # fmt: skip
_WRITTEN = ("", "x", "1e", "0x10", "1_000", "\u0661", "1,5", "--", "1=2", "=", " 1 ", "1e400", "-0")
#: Large values of these options may legitimately take long.
_WORK = ("passes", "half_passes", "pair_passes", "iterations")
_THREADS = (1, 2, 3, 64, 1000, 100_000, 2**31 - 1, 2**31, 2**32, 2**63, 2**64, 0, -1)
_SEEDS = (0, 1, 2**31, 2**32, 2**63, 2**64, 2**128, -1)
_COLUMNS = ("word,label", "label,word", "word", "label", "_", "_,label", "", ",", "a,a,label", "word,pos,label",
            "é,label", "a b,label", "#0,label", "a[0],label", "word\n,label", "word,label,")  # fmt: skip
_COMMENTS = ("", "#", "é", "\n")
_TARGETS = ("columns", "jsonl", "items", "text", "x")
_CHOICES: dict[str, tuple[Any, ...]] = {
    "backoff": ("default", "paper", "pooled", "x", ""),
    "pairs": ("labels", "words", "x", ""),
    "base": ("default", "pooled", "paper", "none", "separate", "x"),
    "coupling": ("given-nodes", "joint", ""),
    "optimizer": ("adagrad", "lbfgs", "perceptron", "x"),
    "lattice": ("full", "pruned", "x"),
    "transitions": ("all", "seen", "x"),
    "order": (1, 2, 0, 3, -1, 2**40),
    "unknown": ("D", "?", ""),
}


def _names(method: str) -> list[str]:
    return [name for name, option in options_of(METHODS[method]).items() if option.range is not None]


def _settings(method: str, rng: Random) -> dict[str, Any]:
    found: dict[str, Any] = {"iterations": 3} if method in ("standard", "piecewise", "memm") else {}
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        name = (
            rng.choice([*_names(method), "nosuch"]) if rng.random() < 0.95 else rng.choice(("", "=", "é", "__class__"))
        )
        value = rng.choice(_VALUES)
        found[name] = rng.choice((-1, 0, 1, 2, 1.5, math.nan, -math.inf)) if name in _WORK else value
    return found


class Cases:
    def __init__(self, materials: Path) -> None:
        self.models = sorted((materials / "models").iterdir())
        self.corpus = Corpus.from_sentences(labelled(12, Random(5)))
        rows = (f"{word}\t{label}\n" for sentence in labelled(12, Random(5)) for word, label in [*sentence, ("", "")])
        self.text = "".join(rows).replace("\t\n", "\n").encode()

    def run(self, rng: Random, folder: Path) -> None:
        method = rng.choice(list(METHODS))
        settings = _settings(method, rng)
        choices = {name: rng.choice(values) for name, values in _CHOICES.items() if rng.random() < 0.08}
        threads = rng.choice(_THREADS) if rng.random() < 0.3 else 1
        seed = rng.choice(_SEEDS) if rng.random() < 0.3 else 0
        doing = rng.random()
        (folder / "arguments").write_text(f"{method} {settings} {choices} {threads} {seed}\n")
        if doing < 0.35:
            self._in_python(method, settings, choices, threads, seed, rng)
        elif doing < 0.7:
            old = rng.random() < 0.3
            written = [f"{f'--set={name}' if old else option_of(name)}="
                       f"{rng.choice(_WRITTEN) if rng.random() < 0.1 else value}"
                       for name, value in settings.items()]  # fmt: skip
            given = [f"--{name}={value}" for name, value in choices.items()]
            self._train(folder, method, *written, *given, f"--threads={threads}", f"--seed={seed}")
        else:
            self._others(folder, threads, seed, rng)

    def _in_python(
        self, method: str, settings: dict[str, Any], choices: dict[str, Any], threads: int, seed: int, rng: Random
    ) -> None:
        given: dict[str, Any] = {}
        if rng.random() < 0.1:
            given["label_weights"] = {rng.choice(("D", "x", "")): rng.choice(_VALUES)}
        if rng.random() < 0.1:
            given["sentence_weights"] = [rng.choice(_VALUES) for _ in range(rng.choice((0, 12, 12, 13)))]
        if rng.random() < 0.3:
            given["settings"] = settings
        else:
            given |= as_arguments(**{name: value for name, value in settings.items() if name.isidentifier()})
        tagger = corate.train(self.corpus, method, threads=threads, seed=seed, **choices, **given)
        if any(
            len(labels) != n
            for labels, n in zip(tagger.tag_all(self.corpus), np.diff(self.corpus.offsets), strict=True)
        ):
            raise CaseFailedError("labels are missing: after training")
        repr(tagger)

    def _train(self, folder: Path, method: str, *given: str) -> None:
        (folder / "train.tsv").write_bytes(self.text)
        (folder / "arguments").write_text(" ".join(("train", "--method", method, *given)))
        model = folder / "model.corate"
        result = checked("train", folder / "train.tsv", "-o", model, "--method", method, *given)
        if (result.code == 0) != model.exists():
            raise CaseFailedError(f"exit code {result.code}, and the model is there: {model.exists()}")
        if result.code == 0:
            checked("tag", model, folder / "train.tsv", "-f", "columns")
            checked("info", model)

    def _others(self, folder: Path, threads: int, seed: int, rng: Random) -> None:
        text = folder / "text.tsv"
        text.write_bytes(self.text)
        model = rng.choice(self.models)
        number = rng.choice((*_VALUES, *_WRITTEN))
        reading = [f"--{name}={rng.choice(values)}" for name, values in
                   (("columns", _COLUMNS), ("separator", SEPARATORS), ("encoding", ENCODINGS), ("comment", _COMMENTS))
                   if rng.random() < 0.3]  # fmt: skip
        command: list[object] = rng.choice((
            ["tag", model, text, f"--threads={threads}", *reading],
            ["tag", model, text, "-o", folder / "out", f"--to={rng.choice(_TARGETS)}", *reading],
            ["eval", model, text, f"--threads={threads}", *reading],
            ["train", text, "-o", folder / "m", "--method", "empirical", *reading],
            ["train", text, "-o", folder / "m", "--method", "empirical", f"--drop-rare={number}"],
            ["train", text, "-o", folder / "m", "--method", "perceptron", f"--label-weight=D={number}"],
            ["update", model, text, "-o", folder / "m", *reading],
            ["rates", text, *reading],
            ["info", model],
            ["derive", rng.choice(("A-B B-C", "A", "", "A-", "A-A", "A-B " * 40, "é-ß", "A-B;C"))],
            ["compare", text, "--test", text, "--methods", rng.choice(("empirical", "x", "")),
             f"--seeds={rng.choice((1, 2, 0, -1))}", f"--threads={threads}"],
        ))  # fmt: skip
        (folder / "arguments").write_text(" ".join(map(str, command)))
        checked(*command, encoding=rng.choice(("utf-8", "utf-8", "ascii", "latin-1", "cp1252", "utf-16")))
