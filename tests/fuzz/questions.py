"""Questions beyond the best labels, about any text: they end as the README says, and do not depend on threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import corate
from fuzz.commands import checked
from fuzz.materials import WORDS
from fuzz.mutations import mutated
from fuzz.worker import CaseFailedError

__all__ = ["Cases"]

_PIECES = (
    b"\n",
    b"\n\n",
    b"\t",
    b" ",
    b"_",
    b"\t_\n",
    b"#",
    b"O",
    b"B-X",
    b".",
    b"'",
    b"\x00",
    b"\xff",
    b"\xe2\x80\xae",
)
_SCHEMES = ("auto", "IOB1", "IOB2", "IOBES", "BILOU", "BMEWO", "BMES")


class Cases:
    def __init__(self, materials: Path) -> None:
        self.paths = [path for path in sorted((materials / "models").iterdir()) if "ready" not in path.name]
        self.taggers = [corate.load(path) for path in self.paths]

    def run(self, rng: Random, folder: Path) -> None:
        chosen = rng.randrange(len(self.paths))
        tagger, model = self.taggers[chosen], self.paths[chosen]
        width = len(tagger.columns) + rng.choice((0, 1, 1))
        data = _text(rng, width, [*WORDS[:12], "_", *tagger.labels[:3]])
        if rng.random() < 0.4:
            data = mutated(data, rng, _PIECES)
        path, page = folder / "text", folder / "page.html"
        path.write_bytes(data)
        line = data.decode("utf-8", "replace").replace("\n", " ").replace("\0", " ")[:60]
        command: Sequence[object] = rng.choice(
            (
                ("tag", model, path, *_asked(rng)),
                ("tag", model, path, *_asked(rng)),
                (
                    "tag",
                    model,
                    path,
                    "--format",
                    "raw",
                    *rng.choice(((), ("--only-sure", 0.5), ("--constrain", "auto"))),
                ),
                ("eval", model, path, "--calibration", "--errors", 2, "--least-sure", 2),
                (
                    "active",
                    model,
                    path,
                    "-n",
                    rng.choice((1, 3)),
                    "--strategy",
                    rng.choice(("entropy", "diverse", "least")),
                ),
                ("explain", model, "--token", rng.choice((0, 1, 5)), "--", line),
                ("inspect", model, path, "-o", page, "--explained", 2),
            )
        )
        one = checked(*command)
        if command[0] == "tag":
            other = checked(*command, "--threads", rng.choice((2, 5)))
            if (other.code, other.out) != (one.code, one.out):
                raise CaseFailedError(f"the answer depends on threads: {one}\n{other}")
        if command[0] == "inspect" and (one.code == 0) != page.exists():
            raise CaseFailedError(f"exit code {one.code}, but the page {'exists' if page.exists() else 'is missing'}")


def _text(rng: Random, width: int, words: Sequence[str]) -> bytes:
    words = [word for word in words if word and not set(word) & set(" \t\r\n")]
    rows = []
    for _ in range(rng.choice((1, 4, 15))):
        rows += ["\t".join(rng.choice(words) for _ in range(width)) for _ in range(rng.randrange(1, 5))]
        rows.append("")
    return "\n".join(rows).encode()


def _asked(rng: Random) -> list[object]:
    options: list[object] = []
    if rng.random() < 0.5:
        options += ["--nbest", rng.choice((1, 2, 50))]
    if rng.random() < 0.5:
        options += ["--scores"]
    if rng.random() < 0.4:
        options += ["--constrain", rng.choice(_SCHEMES)]
    if rng.random() < 0.3:
        options += ["--only-sure", rng.choice((0, 0.5, 1))]
    if rng.random() < 0.4:
        options += ["--fixed", rng.choice(("label", "1", "2", "9", "none"))]
    return options
