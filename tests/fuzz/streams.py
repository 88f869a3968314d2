"""Processes whose standard streams are closed, full, cut off or in another encoding.

They end as the README says, with and without buffers in Python. Exit code 0 means that all output was written.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random
from typing import IO, Any

from fuzz.processes import PROGRAM, check_errors
from fuzz.worker import CaseFailedError
from limited_output import BUFFERING, environment, run_limited

__all__ = ["Cases"]

_LOCALES: tuple[dict[str, str], ...] = (
    {},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "cp1252"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)

#: Room for the output of every command, in bytes.
_ENOUGH = 1 << 20


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
        out = rng.choice(("file", "full" if os.path.exists("/dev/full") else "file", "small", "small", "cut off"))
        room = rng.choice((rng.randrange(100), rng.randrange(5000))) if out == "small" else _ENOUGH
        unbuffered = rng.choice(BUFFERING)
        env = environment(unbuffered) | rng.choice(_LOCALES)
        (folder / "arguments").write_text(
            f"{command} closed {closed}, output {out} of {room} bytes, PYTHONUNBUFFERED={unbuffered}\n"
        )
        self._check(command, closed, out, room, folder, env)

    def _check(
        self, command: list[str], closed: list[int], out: str, room: int, folder: Path, env: dict[str, str]
    ) -> None:
        code, written, errors = self._run(command, closed, out, room, folder, env)
        check_errors(errors)
        case = f"{command}, closed {closed}, output {out} of {room} bytes\n{errors}"
        if code not in (0, 1, 2):
            raise CaseFailedError(f"exit code {code}: {case}")
        if code == 1 and any(not line.startswith("corate: ") for line in errors.splitlines()):
            raise CaseFailedError(f"more than one line about an error: {case}")
        if code == 0 and out == "full":
            raise CaseFailedError(f"exit code 0, and the output is lost: {case}")
        if code == 0 and written == room:  # there may be more
            _, whole, _ = self._run(command, closed, "file", _ENOUGH, folder, env)
            if whole > room:
                raise CaseFailedError(f"exit code 0, and the output is cut: {case}")

    def _run(
        self, command: list[str], closed: list[int], out: str, room: int, folder: Path, env: dict[str, str]
    ) -> tuple[int, int, str]:
        """Run a command. Returns its exit code, the number of bytes on standard output, and standard error."""
        work = folder / "work"
        work.mkdir(exist_ok=True)
        options: dict[str, Any] = {"cwd": work, "env": env}

        def close() -> None:
            for fd in closed:
                os.close(fd)

        with open(self.text, "rb") as source:
            options["stdin"] = source
            if out in ("file", "small"):
                ended = run_limited([PROGRAM, *command], room, folder / "stdout", prepare=close, **options)
            else:
                with _cut_off() if out == "cut off" else open("/dev/full", "wb") as sink:
                    ended = subprocess.run(
                        [PROGRAM, *command], stdout=sink, stderr=subprocess.PIPE, preexec_fn=close, **options
                    )
        if list(work.glob(".*")):
            raise CaseFailedError(f"a temporary file is left: {list(work.glob('.*'))}")
        return ended.returncode, len(ended.stdout or b""), ended.stderr.decode(errors="replace")


def _cut_off() -> IO[bytes]:
    """A pipe without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    return open(writing, "wb")
