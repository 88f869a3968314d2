"""Processes whose standard streams are closed, full, cut off or in another encoding: they end as the README says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random

from fuzz.processes import PROGRAM, check_errors
from fuzz.worker import CaseFailedError

__all__ = ["Cases"]

_LOCALES: tuple[dict[str, str], ...] = (
    {},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "cp1252"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)


class Cases:
    def __init__(self, materials: Path) -> None:
        self.models = [path for path in sorted((materials / "models").iterdir()) if "ready" not in path.name]
        self.text = materials / "data" / "test.tsv"
        self.train = materials / "data" / "train.tsv"

    def run(self, rng: Random, folder: Path) -> None:
        model = str(rng.choice(self.models))
        text = str(self.text)
        command = rng.choice((
            ["tag", model, "-f", "text"],
            ["tag", model, text, "-f", "columns", "--columns", "word,pos"],
            ["eval", model, "-", "--columns", "word,label", "-f", "columns"],
            ["train", "-", "-o", "model.corate", "--method", "empirical"],
            ["train", str(self.train), "-o", "model.corate", "--method", "empirical", "--json"],
            ["info", model],
            ["info", model, "--json"],
            ["rates", text],
            ["--help"],
            ["--version"],
            ["derive", "A-B B-C"],
        ))  # fmt: skip
        closed = [fd for fd in range(3) if rng.random() < 0.3]
        out = rng.choice(("file", "file", "full" if os.path.exists("/dev/full") else "file", "cut off"))
        env = os.environ | rng.choice(_LOCALES)
        (folder / "arguments").write_text(f"{command} closed {closed}, output {out}\n")
        errors = self._run(command, closed, out, folder, env)
        check_errors(errors)

    def _run(self, command: list[str], closed: list[int], out: str, folder: Path, env: dict[str, str]) -> str:
        reading, writing = os.pipe()
        os.close(reading)  # no reader: the output is cut off
        errors = folder / "stderr"
        target = {"file": folder / "stdout", "full": "/dev/full", "cut off": os.devnull}[out]
        work = folder / "work"
        work.mkdir()
        with open(errors, "wb") as err, open(target, "wb") as sink, open(self.text, "rb") as source:
            code = subprocess.run(
                [PROGRAM, *command],
                stdin=source,
                stdout=writing if out == "cut off" else sink,
                stderr=err,
                cwd=work,
                env=env,
                preexec_fn=lambda: [os.close(fd) for fd in closed] and None,
            ).returncode
        os.close(writing)
        said = errors.read_text(errors="replace")
        if code not in (0, 1, 2):
            check_errors(said)
            raise CaseFailedError(f"exit code {code}: {command}, closed {closed}, output {out}\n{said}")
        if list(work.glob(".*")):
            raise CaseFailedError(f"a temporary file is left: {list(work.glob('.*'))}")
        return said
