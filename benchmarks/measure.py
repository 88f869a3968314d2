"""Measure whole processes from outside: wall seconds, CPU seconds, peak memory."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import ONE_THREAD
from benchmarks.corpora import ROOT

# On Linux a child started by fork and exec inherits the peak memory of its parent, so a large parent would be measured
# instead of the command. A launcher of a few megabytes starts the command.
LAUNCHER = """
import json, os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
wall = time.perf_counter() - begin
peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
with open(sys.argv[1], "w") as file:
    json.dump({"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak_bytes": peak}, file)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


@dataclass(frozen=True)
class Run:
    """One finished process; times in seconds, memory in bytes."""

    command: str
    wall: float
    cpu: float
    peak_bytes: int
    stdout: str

    @property
    def peak_mb(self) -> float:
        """Peak resident memory in megabytes (10^6 bytes)."""
        return self.peak_bytes / 1e6

    def json(self) -> dict[str, Any]:
        """The output of the command, parsed as JSON."""
        try:
            found: dict[str, Any] = json.loads(self.stdout)
        except json.JSONDecodeError as problem:
            raise SystemExit(f"not JSON ({problem}) from: {self.command}\n{self.stdout[:500]}") from None
        return found


def executable(name: str) -> str:
    """`corate` is the script installed with this Python; `python` is this Python; a path is returned unchanged."""
    if name == "python":
        return sys.executable
    if os.sep in name:
        return name
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise SystemExit(f"{name}: command not found; install the package first (pip install .)")
    return found


def from_root(path: Path) -> Path:
    """The path relative to the root of the checkout."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


class OverLimitError(Exception):
    """A command did not finish within its time limit."""


def finished(command: Sequence[str], limit: float | None, **streams: Any) -> int:
    """The exit code of a command. With the limit over, or interrupted, all its processes end first."""
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | ONE_THREAD, start_new_session=True, **streams)
    try:
        return process.wait(limit)
    except BaseException as problem:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(problem, subprocess.TimeoutExpired):
            raise OverLimitError(f"over {limit:g} s: {shlex.join(command)}") from None
        raise


def run(command: Sequence[str], stdout: Path | None = None, limit: float | None = None) -> Run:
    """Run a command at the root of the checkout with one thread; exit with its error output if it fails.

    With `stdout` the output goes into that file, else into the result. A command that takes more than `limit` seconds
    is ended, and OverLimitError raised.
    """
    shown = shlex.join(command) + (f" > {from_root(stdout)}" if stdout else "")
    with tempfile.TemporaryDirectory() as folder:
        report, output, errors = Path(folder, "report"), stdout or Path(folder, "stdout"), Path(folder, "stderr")
        with output.open("wb") as out, errors.open("wb") as err:
            full = [sys.executable, "-S", "-c", LAUNCHER, str(report), executable(command[0]), *command[1:]]
            code = finished(full, limit, stdout=out, stderr=err)
        if code:
            message = errors.read_text("utf-8", "replace")[-2000:]
            raise SystemExit(f"exit code {code} from: {shown}\n{message}")
        kept = "" if stdout else output.read_text("utf-8")
        return Run(command=shown, stdout=kept, **json.loads(report.read_text()))


def repeat(command: Sequence[str], times: int, stdout: Path | None = None) -> list[Run]:
    """The same command several times, one after the other."""
    return [run(command, stdout) for _ in range(times)]


def best_and_median(runs: Sequence[Run]) -> tuple[float, float]:
    """Wall seconds."""
    walls = [one.wall for one in runs]
    return min(walls), statistics.median(walls)


def installed(name: str) -> str:
    """Version of a package, with a warning if an editable install checks for a rebuild at each start."""
    try:
        package = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
    origin = json.loads(package.read_text("direct_url.json") or "{}")
    editable = origin.get("dir_info", {}).get("editable", False)
    return package.version + (" (EDITABLE install: start-up may include a rebuild check)" if editable else "")


def processor() -> str:
    """The processor's name, if the system provides it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def machine() -> dict[str, Any]:
    """The machine and the versions, to compare absolute numbers."""
    return {
        "corate": installed("corate"),
        "python-crfsuite": installed("python-crfsuite"),
        "numpy": installed("numpy"),
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load at start": round(os.getloadavg()[0], 2),
    }
