"""Processes that are killed or interrupted at any time: no output is lost or half-written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from random import Random

import corate
from corate.io import tensor_file
from fuzz.processes import PROGRAM, check_errors, outside
from fuzz.worker import CaseFailedError
from limited_output import BUFFERING, environment

__all__ = ["Interrupts", "Kills"]

OUT = "out"
_FEATURES = ["--features", "word[0], word[-1], suffix(word[0], 3)"]
#: Each command writes ``out``; ``old`` is what was there before.
COMMANDS: dict[str, tuple[list[str], str]] = {
    "train empirical": (["train", "train.tsv", "-o", OUT, "--method", "empirical"], "old.corate"),
    "train polish": (["train", "train.tsv", "-o", OUT, "--checkpoint", "checkpoint", *_FEATURES], "old.corate"),
    "train standard": (["train", "train.tsv", "-o", OUT, "--method", "standard", "--json", *_FEATURES], "old.corate"),
    "tag": (["tag", "old.corate", "test.tsv", "-o", OUT], "old.tsv"),
    "tag compressed": (["tag", "old.corate", "test.tsv", "-o", f"{OUT}.gz", "--threads", "2"], ""),
    "update": (["update", OUT, "test.tsv"], "old.corate"),
    "compare": (
        ["compare", "train.tsv", "--test", "test.tsv", "--methods", "empirical,perceptron", "--plot", f"{OUT}.svg",
         *_FEATURES],
        "",
    ),
}  # fmt: skip


class _Signals:
    """Start a command, send it a signal, and check the files that remain."""

    signals: tuple[signal.Signals, ...] = ()

    def __init__(self, materials: Path) -> None:
        self.data = materials / "data"
        own = materials / f"signals-{os.getpid()}"
        own.mkdir()
        self.old = own / "old.corate"
        corate.train(corate.read(self.data / "train.tsv"), "empirical").save(self.old)
        self.usual: dict[str, float] = {}  # seconds of each command without a signal
        self.whole: dict[str, bytes] = {}  # and its output

    def run(self, rng: Random, folder: Path) -> None:
        name = rng.choice(list(COMMANDS))
        sent = rng.choice(self.signals)
        early, near = rng.random(), rng.random()  # before measuring: cases do not depend on timings
        on_file = rng.random() < 0.3
        env = environment(rng.choice(BUFFERING))
        if name not in self.usual:
            self._alone(name, folder / "alone")
        work = folder / "work"
        self._place(name, work)
        process = self._started(name, work, folder, env)
        limit = self.usual[name]
        moment = limit * (early if near < 0.7 else 0.8 + 0.3 * early)
        self._wait(process, moment, work if on_file else None)
        if process.poll() is None:
            process.send_signal(sent)
        try:
            code = process.wait(30 + 10 * limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise CaseFailedError(f"a hang: {name} goes on after {sent.name}") from None
        errors = (folder / "stderr").read_text(errors="replace")
        (folder / "arguments").write_text(
            f"{name}, {sent.name} after {moment:.3f} s of {limit:.3f} s: exit code {code}\n"
        )
        self._check(name, sent, code, errors, work, (folder / "stdout").read_bytes())

    # -- running -----------------------------------------------------------------------------------------------------

    def _place(self, name: str, work: Path) -> None:
        work.mkdir(parents=True)
        for file in ("train.tsv", "test.tsv"):
            (work / file).symlink_to(self.data / file)
        shutil.copy(self.old, work / "old.corate")
        (work / "old.tsv").write_bytes(b"old\ttext\n")
        if COMMANDS[name][1]:
            shutil.copy(work / COMMANDS[name][1], work / OUT)

    def _started(
        self, name: str, work: Path, folder: Path, env: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            command = [PROGRAM, *COMMANDS[name][0]]
            return subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env)

    def _alone(self, name: str, folder: Path) -> None:
        """Run a command to its end, to record its time and its output."""
        self._place(name, folder / "work")
        start = time.monotonic()
        process = self._started(name, folder / "work", folder)
        if process.wait() != 0:
            raise CaseFailedError(f"{name} fails by itself: {(folder / 'stderr').read_text()}")
        self.usual[name] = time.monotonic() - start
        for written in (folder / "work").glob(f"{OUT}*"):
            self.whole[name] = written.read_bytes()

    @staticmethod
    def _wait(process: subprocess.Popen[bytes], moment: float, work: Path | None) -> None:
        """Wait for a time, or until a temporary file in the folder shows that output is being written."""
        stop = time.monotonic() + moment * (2 if work else 1)
        while time.monotonic() < stop and process.poll() is None:
            if work is not None and any(name.startswith(".") for name in os.listdir(work)):
                return
            time.sleep(0.001 if work else min(0.02, max(0.0, stop - time.monotonic())))

    # -- looking -----------------------------------------------------------------------------------------------------

    def _check(self, name: str, sent: signal.Signals, code: int, errors: str, work: Path, out: bytes) -> None:
        check_errors(errors)
        if code not in self.codes(sent, errors) and not outside(errors):
            raise CaseFailedError(f"exit code {code} after {sent.name}: {name}\n{errors}")
        left = [path.name for path in work.iterdir() if path.name.startswith(".")]
        if left and sent != signal.SIGKILL:
            raise CaseFailedError(f"a temporary file is left after {sent.name}: {left}, {name}")
        partial = work / f"{OUT}.partial"
        if partial.exists():
            corate.load(partial).tag(["12", "Oak", "St"])
            if code == 0 or sent != signal.SIGINT or not name.startswith("train"):
                raise CaseFailedError(f"a partial model after {sent.name}, exit code {code}: {name}\n{errors}")
        written = next((path for path in work.glob(f"{OUT}*") if path != partial), None)
        old = (work / COMMANDS[name][1]).read_bytes() if COMMANDS[name][1] else None
        content = None if written is None else written.read_bytes()
        if content == old:
            if code == 0 and content != self.whole.get(name):  # the same training writes the same bytes
                raise CaseFailedError(f"exit code 0 after {sent.name} and no new output: {name}\n{errors}")
        elif written is None or content is None:
            raise CaseFailedError(f"the old output is lost after {sent.name}: {name}")
        elif name.startswith("tag"):
            if content != self.whole[name]:
                raise CaseFailedError(f"the output is not whole after {sent.name}: {name}")
        elif name == "compare":
            if not content.rstrip().endswith(b"</svg>"):
                raise CaseFailedError(f"the output is not whole after {sent.name}: {name}")
        else:
            corate.load(written).tag(["12", "Oak", "St"])
        if (work / "checkpoint").exists():
            tensor_file.read(work / "checkpoint")
        if code == 0 and "--json" in COMMANDS[name][0]:
            json.loads(out)
        if (work / "old.corate").read_bytes() != self.old.read_bytes():
            raise CaseFailedError(f"the model is altered after {sent.name}: {name}")

    @staticmethod
    def codes(sent: signal.Signals, errors: str) -> tuple[int, ...]:
        """The exit codes that the README allows after a signal; 0 if the work was done before the signal.

        A process without any output may have ended before the interpreter started. Nothing handles SIGKILL.
        """
        if sent == signal.SIGKILL:
            return 0, -sent
        return (0, 128 + sent) if errors else (0, 128 + sent, -sent)


class Kills(_Signals):
    signals = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)


class Interrupts(_Signals):
    signals = (signal.SIGINT,)
