"""Share the time among the kinds, run their cases in worker processes, and report what went wrong."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.kinds import Kind
from fuzz.sanitizers import REPORTS, environment

__all__ = ["Finding", "Report", "Run", "table"]

#: A sanitizer makes everything slower.
SLOWER = 4
STARTING = 120.0  # seconds that a worker may take to start
SAVED = 3  # examples of the same defect that are saved
TESTS = Path(__file__).resolve().parents[1]
_NUMBERS = re.compile(r"==\d+==|0x[0-9a-f]+")  # differ from run to run


@dataclass(frozen=True)
class Finding:
    """One case that went wrong, and where its input and its report are."""

    kind: str
    case: int
    where: str
    text: str
    folder: Path | None


@dataclass
class Report:
    """The results of one kind."""

    cases: int = 0
    refused: int = 0
    seconds: float = 0.0
    bad: int = 0
    findings: list[Finding] = field(default_factory=list)  # a few examples of each defect


class WorkerDiedError(Exception):
    """A worker died or had to be killed."""


class Worker:
    """A process that runs cases of one kind."""

    def __init__(self, command: list[str], env: Mapping[str, str], log: Path) -> None:
        self.log = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=dict(env),
                start_new_session=True,  # so that its children can be killed with it
            )
        self.held = b""
        self.reply(STARTING)

    def ask(self, case: int, limit: float) -> dict[str, Any]:
        """Run one case; raises WorkerDiedError."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b"%d\n" % case)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise WorkerDiedError(self._why()) from None
        return self.reply(limit)

    def reply(self, limit: float) -> dict[str, Any]:
        """The next line of the worker; raises WorkerDiedError if none comes in time."""
        assert self.process.stdout is not None
        stop = time.monotonic() + limit
        while b"\n" not in self.held:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, stop - time.monotonic()))
            if not ready:
                self.process.send_signal(signal.SIGABRT)  # faulthandler prints where it hangs
                time.sleep(0.2)
                self.end()
                raise WorkerDiedError(f"a hang: no answer in {limit:.0f} s\n{self._errors()}")
            block = os.read(self.process.stdout.fileno(), 1 << 16)
            if not block:
                raise WorkerDiedError(self._why())
            self.held += block
        line, _, self.held = self.held.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> None:
        """End the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _why(self) -> str:
        code = self.process.wait()
        how = f"a death by {signal.Signals(-code).name}" if code < 0 else f"an end with exit code {code}"
        errors = self._errors()
        in_words = next((line for line in errors.splitlines() if any(report in line for report in REPORTS)), "")
        return f"{how}: {_NUMBERS.sub('...', in_words)}\n{errors}"

    def _errors(self) -> str:
        return self.log.read_text(errors="replace")[-20_000:]


class Run:
    """One run of the fuzzer; ``report`` is filled during the run."""

    def __init__(
        self,
        kinds: Mapping[str, Kind],
        *,
        seed: int = 0,
        seconds: float | None = None,
        cases: Callable[[Kind], Iterator[int]] | None = None,
        workers: int = 2,
        sanitizer: str = "none",
        findings: Path,
        materials: Path | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self.kinds, self.seed, self.seconds, self.n_workers = kinds, seed, seconds, workers
        self.cases = cases or (lambda kind: iter(range(sys.maxsize)))
        self.sanitizer, self.findings, self.say = sanitizer, findings, say
        self.materials = materials
        self.report = {name: Report() for name in kinds}
        self._lock = threading.Lock()

    def __call__(self) -> dict[str, Report]:
        """Run all kinds, one after another, each on all workers."""
        env = os.environ | {
            "PYTHONPATH": str(TESTS),
            "PYTHONFAULTHANDLER": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **environment(self.sanitizer),
        }
        total = sum(kind.weight for kind in self.kinds.values())
        with tempfile.TemporaryDirectory(prefix="corate-fuzz-") as scratch:
            folder = Path(scratch)
            materials = self.materials or folder / "materials"
            if self.materials is None:
                subprocess.run([sys.executable, "-m", "fuzz.materials", materials], env=env, check=True)
            for name, kind in self.kinds.items():
                start = time.monotonic()
                stop = start + self.seconds * kind.weight / total if self.seconds is not None else float("inf")
                self._run_kind(name, kind, env, materials, folder, stop)
                self.report[name].seconds = time.monotonic() - start
        return self.report

    def _run_kind(
        self, name: str, kind: Kind, env: Mapping[str, str], materials: Path, scratch: Path, stop: float
    ) -> None:
        """Run one kind on all workers."""
        numbers = self.cases(kind)
        failed: list[BaseException] = []

        def serve(index: int) -> None:
            try:
                self._serve(name, kind, env, materials, scratch, index, numbers, stop)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=serve, args=(i,)) for i in range(self.n_workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def _serve(
        self,
        name: str,
        kind: Kind,
        env: Mapping[str, str],
        materials: Path,
        scratch: Path,
        index: int,
        numbers: Iterator[int],
        stop: float,
    ) -> None:
        folder = scratch / f"{name}-{index}"
        command = [sys.executable, "-m", "fuzz.worker", name, kind.cases, str(self.seed), str(materials),
                   str(folder), self.sanitizer]  # fmt: skip
        limit = kind.limit * (1 if self.sanitizer == "none" else SLOWER)
        worker: Worker | None = None
        try:
            while time.monotonic() < stop:
                with self._lock:
                    case = next(numbers, None)
                if case is None:
                    return
                worker = worker or Worker(command, env, scratch / f"{name}-{index}.log")
                try:
                    outcome = worker.ask(case, limit)
                except WorkerDiedError as death:
                    outcome = {"bad": str(death), "where": str(death).split("\n")[0], "refused": False}
                if outcome["bad"] and (worker.process.poll() is not None or outcome["where"] == "memory"):
                    worker.end()
                    worker = None
                self._note(name, case, outcome, folder)
        finally:
            if worker is not None:
                worker.end()

    def _note(self, name: str, case: int, outcome: Mapping[str, Any], folder: Path) -> None:
        with self._lock:
            report = self.report[name]
            report.cases += 1
            report.refused += bool(outcome["refused"])
            if not outcome["bad"]:
                return
            report.bad += 1
            alike = sum(found.where == outcome["where"] for found in report.findings)
            if alike >= SAVED:
                return
            finding = Finding(name, case, outcome["where"], outcome["bad"], self._save(name, case, outcome, folder))
            report.findings.append(finding)
            if not alike:
                self.say(self._told(finding))

    def _save(self, name: str, case: int, outcome: Mapping[str, Any], folder: Path) -> Path:
        saved = self.findings / f"{name}-{self.seed}-{case}"
        shutil.rmtree(saved, ignore_errors=True)
        if folder.exists():
            shutil.copytree(folder, saved, symlinks=True)
        else:
            saved.mkdir(parents=True)
        (saved / "report.txt").write_text(f"{outcome['bad']}\nrepeat: {self._repeat(name, case)}\n")
        return saved

    def _repeat(self, name: str, case: int) -> str:
        sanitizer = "" if self.sanitizer == "none" else f" --sanitizer {self.sanitizer}"
        return f"PYTHONPATH=tests {sys.executable} -m fuzz --seed {self.seed} --only {name} --case {case}{sanitizer}"

    def _told(self, finding: Finding) -> str:
        text = "\n".join(f"    {line}" for line in finding.text.strip().splitlines()[-12:])
        return (
            f"BAD {finding.kind}, case {finding.case}: {finding.where}\n{text}\n"
            f"    input: {finding.folder}\n    repeat: {self._repeat(finding.kind, finding.case)}"
        )


def table(report: Mapping[str, Report]) -> str:
    """The counts of each kind, as a table."""
    lines = [f"{'kind':<12}{'cases':>10}{'refused':>10}{'seconds':>10}{'bad':>8}"]
    for name, found in report.items():
        bad = "none ran" if not found.cases else str(found.bad)
        lines.append(f"{name:<12}{found.cases:>10,}{found.refused:>10,}{found.seconds:>10.1f}{bad:>8}")
    return "\n".join(lines)
