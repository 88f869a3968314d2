"""Texts of every format, malformed, compressed and in odd encodings, for the library and for the commands."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import corate
from corate import Corpus, formats
from fuzz import texts
from fuzz.commands import checked
from fuzz.worker import CaseFailedError

__all__ = ["Cases"]


class Cases:
    def __init__(self, materials: Path) -> None:
        self.models = sorted((materials / "models").iterdir())
        self.default = materials / "models" / "default.corate"

    def run(self, rng: Random, folder: Path) -> None:
        format = rng.choice(list(texts.FORMATS))
        options = texts.options(rng, format)
        data = texts.text(rng, format)
        if rng.random() < 0.1:
            data = _recoded(data, options.get("encoding", rng.choice(texts.ENCODINGS)))
        data, suffix = texts.packed(data, rng)
        path = folder / f"text{suffix}"
        path.write_bytes(data)
        doing = rng.random()
        if doing < 0.15:
            self._commands(path, options, rng, folder)
            return
        corpus = corate.read(path, labelled=rng.random() < 0.8, **options)
        _check(corpus)
        if doing < 0.5:
            _written_and_read(corpus, rng)
        elif doing < 0.65 and corpus.labels is not None:
            _trained(corpus, rng)

    def _commands(self, path: Path, options: dict[str, Any], rng: Random, folder: Path) -> None:
        given = [f"--{name.replace('_', '-')}" if value is True else f"--{name.replace('_', '-')}={value}"
                 for name, value in options.items()]  # fmt: skip
        model = rng.choice(self.models)
        out = folder / "out"
        command = rng.choice(("train", "tag", "eval", "update", "rates", "stdin"))
        if command == "train":
            method = rng.choice(("empirical", "empirical", "perceptron", "polish"))
            checked("train", path, "-o", out, "--method", method, *given)
        elif command == "update":
            checked("update", self.default, path, "-o", out, *given)
        elif command == "eval":
            checked("eval", model, path, *rng.choice(([], ["--json"], ["--confusion"])), *given)
        elif command == "rates":
            checked("rates", path, *given)
        else:
            known = [g for g in given if not g.startswith(("--docstart", "--skip-bad"))]
            to = rng.choice(([], [], [f"--to={rng.choice(list(texts.FORMATS))}"]))
            if command == "tag":
                checked("tag", model, path, "-o", out, *to, *known)
            else:
                checked("tag", model, "-", *to, *known, stdin=path.read_bytes())


def _recoded(data: bytes, encoding: str) -> bytes:
    try:
        return data.decode("utf-8", "replace").encode(encoding, "replace")
    except (LookupError, UnicodeError, ValueError, TypeError):
        return data


def _check(corpus: Corpus) -> None:
    """Check that the arrays of a corpus are consistent."""
    n = corpus.n_tokens
    ends = corpus.offsets
    if ends[0] != 0 or ends[-1] != n or np.any(np.diff(ends) < 0):
        raise CaseFailedError(f"offsets do not fit: {ends}, {n} tokens")
    for column in (*corpus.columns, *([corpus.labels] if corpus.labels is not None else [])):
        if len(column.ids) != n or (n and not 0 <= column.ids.min() <= column.ids.max() < len(column.strings)):
            raise CaseFailedError(f"ids do not fit: column {column.name}")
        column.values()
    repr(corpus)


def _written_and_read(corpus: Corpus, rng: Random) -> None:
    """Check that a written corpus reads back unchanged."""
    format = rng.choice(list(texts.FORMATS))
    out = io.BytesIO()
    formats.write(corpus, out, format=format)
    kept = np.flatnonzero(np.diff(corpus.offsets))
    if (
        not len(kept)
        or format in ("items", "labelstudio")
        or (format in ("slashed", "text") and len(corpus.columns) != 1)
    ):
        return
    labelled = corpus.labels is not None and format != "text"
    names = [column.name for column in corpus.columns] + ["label"] * labelled
    again = corate.read(out.getvalue(), format=format, columns=None if format == "jsonl" else names, labelled=labelled)
    for i, s in enumerate(kept.tolist()):
        if again.rows(i) != corpus.rows(s):
            raise CaseFailedError(
                f"written as {format} it reads back as something else: {corpus.rows(s)} {again.rows(i)}"
            )
    if labelled and again.require_labels().values() != corpus.require_labels().values():
        raise CaseFailedError(f"written as {format} the labels read back as others")


def _trained(corpus: Corpus, rng: Random) -> None:
    """Check that a tagger can be trained on it and used."""
    numbers = corpus.attributes is not None and corpus.attributes.values is not None
    method = rng.choice(("standard",) if numbers else ("empirical", "empirical", "perceptron", "standard", "polish"))
    few = {"iterations": 3} if method == "standard" else {}
    tagger = corate.train(corpus, method, **few)
    labels = tagger.tag_all(corpus)
    if list(map(len, labels)) != np.diff(corpus.offsets).tolist():
        raise CaseFailedError("labels are missing: after training")
    report = corate.evaluate(tagger, corpus)
    if not 0 <= report.accuracy <= 1:
        raise CaseFailedError(f"the accuracy is {report.accuracy}")
