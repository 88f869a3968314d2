"""Text to tag: one output row for each input row, and the same labels for any number of threads and any chunking."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from unittest.mock import patch

import corate
from corate import CorateError, Tagger
from corate.io import chunks
from fuzz.commands import checked
from fuzz.materials import WORDS
from fuzz.mutations import mutated
from fuzz.worker import CaseFailedError

__all__ = ["Cases"]

_ENDS = ("\n", "\n", "\n", "\n", "\r\n", "\r\r\n", "\r", " \n", "\t\n")
_BLANKS = ("", "", "", " ", "\t", "\r", " \t ", "# comment", "#")
_PIECES = (b"\n", b"\n\n", b"\r", b"\r\n", b"\r\r\n", b"\t", b" ", b"\t\t", b"#", b"\n \n", b"\n\r\n", b"\xe2\x80\xa8")


class Cases:
    def __init__(self, materials: Path) -> None:
        self.paths = [path for path in sorted((materials / "models").iterdir()) if "ready" not in path.name]
        self.taggers = [corate.load(path) for path in self.paths]
        self.odd = ["odd" in path.name for path in self.paths]  # labels that columns cannot contain

    def run(self, rng: Random, folder: Path) -> None:
        chosen = rng.randrange(len(self.paths))
        tagger, model = self.taggers[chosen], self.paths[chosen]
        layout = rng.choice(("columns", "columns", "columns", "text"))
        data = _column_text(tagger, rng) if layout == "columns" else _plain_text(rng)
        altered = rng.random() < 0.4
        if altered:
            data = mutated(data, rng, _PIECES)
        path = folder / "text"
        path.write_bytes(data)
        options = ["--format", layout]
        comment = layout == "columns" and rng.random() < 0.3
        if comment:
            options += ["--comment", "#"]
        one = checked("tag", model, path, *options)
        usual = not altered and not self.odd[chosen] and not (b"\t" in data and b" " in data)
        if one.code and usual and len(tagger.vocabulary.columns) == 1:
            raise CaseFailedError(f"text is refused: {one.err}")
        how = rng.choice(("threads", "pieces", "standard input"))
        if how == "threads":
            other = checked("tag", model, path, *options, "--threads", rng.choice((2, 3, 8)))
        else:
            with patch.object(chunks, "BLOCK_BYTES", rng.choice((1, 3, 7, 64, 1000))):
                standard = how == "standard input"
                other = checked("tag", model, "-" if standard else path, *options, stdin=data if standard else b"")
        if other.code != one.code or (one.code == 0 and other.out != one.out):
            raise CaseFailedError(f"labels depend on {how}: {one}\n{other}")
        if one.code == 0 and layout == "columns":
            _rows_fit(tagger, data, one.out, comment)
            _as_when_read(tagger, data, one.out, comment)
        elif one.code == 0:
            _words_fit(data, one.out)


def _column_text(tagger: Tagger, rng: Random) -> bytes:
    end = rng.choice(_ENDS)
    between = rng.choice(("\t", "\t", " ", "  "))
    mixed = rng.random() < 0.2  # tabs in some rows, spaces in others
    n = len(tagger.columns) + (mixed or rng.choice((0, 0, 1)))
    words = [word for word in (WORDS[:10] if mixed else WORDS) if word and not set(word) & set(" \t\r\n")]
    rows = []
    for _ in range(rng.choice((1, 5, 30))):
        between = rng.choice(("\t", " ")) if mixed else between
        rows += [between.join(rng.choice(words) for _ in range(n)) for _ in range(rng.randrange(1, 6))]
        rows.append("" if mixed else rng.choice(_BLANKS))
    return (end.join(rows) + rng.choice(("", end, end + end))).encode()


def _plain_text(rng: Random) -> bytes:
    end = rng.choice(_ENDS)
    lines = [" ".join(rng.choice(WORDS) for _ in range(rng.randrange(0, 8))) for _ in range(rng.choice((1, 3, 20)))]
    return (rng.choice(("", "\ufeff")) + end.join(lines) + rng.choice(("", end))).encode()


def _rows_fit(tagger: Tagger, data: bytes, tagged: bytes, comment: bool) -> None:
    """Each output row is the input row followed by a label of the model; other lines are unchanged."""
    before = data.decode().removeprefix("\ufeff").split("\n")
    after = tagged.decode().split("\n")
    if before[-1] == "":
        before.pop()
    if after[-1] == "":
        after.pop()
    if len(before) != len(after):
        raise CaseFailedError(f"rows are lost or added: {len(before)} in, {len(after)} out")
    labels = set(tagger.labels)
    for row, out in zip(before, after, strict=True):
        text = row.rstrip("\r")
        if not text.strip(" \t\r") or (comment and text.startswith("#")):
            if out != row:
                raise CaseFailedError(f"a line without a token is altered: {row!r}, {out!r}")
        elif not out.startswith(text) or _label(out) not in labels:
            raise CaseFailedError(f"a row has no label: {row!r}, {out!r}")


def _label(row: str) -> str:
    return re.split("[ \t]", row.rstrip("\r"))[-1]


def _as_when_read(tagger: Tagger, data: bytes, tagged: bytes, comment: bool) -> None:
    """The labels equal those of the library for the same text; the library may refuse rows of other widths."""
    names = [name for name in tagger.layout if name != "label"]
    skipped = "#" if comment else None
    try:
        width = len(corate.read(data, format="columns", labelled=False, comment=skipped).columns)
        columns = [*names, *["_"] * (width - len(names))]
        corpus = corate.read(data, format="columns", labelled=False, comment=skipped, columns=columns)
        labels = [label for sentence in tagger.tag_all(corpus) for label in sentence]
    except CorateError:
        return
    rows = [row for row in tagged.decode().split("\n") if row.strip(" \t\r") and not (comment and row.startswith("#"))]
    found = [_label(row) for row in rows]
    if found != labels:
        raise CaseFailedError(f"the labels are not those of the text as it is read: {found}, {labels}")


def _words_fit(data: bytes, tagged: bytes) -> None:
    words = [word for word in re.split(rb"[ \t\r\n]", data.removeprefix("\ufeff".encode())) if word]
    rows = [row.split(b"\t")[0] for row in tagged.split(b"\n") if row]
    if words != rows:
        raise CaseFailedError(f"words are lost or added: {len(words)} in, {len(rows)} out")
