"""Measure cells one after another, each within its budget, and store each outcome at once."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from corate.errors import CorateError
from corate_reproduction.cells import Cell, Outcome, Store, fingerprint, record
from corate_reproduction.corpora import Sentence, Splits, labels, write
from corate_reproduction.experiments import chosen_prior, cost
from corate_reproduction.peers import version
from corate_reproduction.worker import MARK

__all__ = ["CellError", "Data", "News", "Worker", "estimate", "run"]

#: Training stops after a sixth of its budget if it would need more than twice the budget.
_HOPELESS_SHARE = 6
_HOPELESS_TIMES = 2
#: Experiments whose trainings are short: they share a process.
_SHORT = ("label-bias", "label-bias-others", "memm-priors", "mu")


class CellError(CorateError):
    """A cell could not be measured."""


@dataclass(frozen=True)
class News:
    """The state of a run: finished cells, all cells, the finished share of the work, and seconds left."""

    cell: Cell
    done: int
    of: int
    share: float
    left: float | None
    stage: str = ""
    outcome: Outcome | None = None
    kept: bool = False  # the outcome comes from the store
    failure: str = ""


Report = Callable[[News], None]


class Data:
    """Splits written to a temporary folder for the workers; no text of a corpus is left behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.digests: dict[str, str] = {}
        self.tokens: dict[str, int] = {}
        self.labels: dict[str, int] = {}

    @classmethod
    @contextmanager
    def of(cls, splits: Splits) -> Iterator[Data]:
        """A temporary folder with some splits."""
        with tempfile.TemporaryDirectory(prefix="corate-") as folder:
            data = cls(Path(folder))
            for name, sentences in splits.items():
                data.add(name, sentences)
            yield data

    def add(self, name: str, sentences: Sequence[Sentence]) -> None:
        """Write one split."""
        path = self.folder / name
        write(sentences, path)
        self.digests[name] = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        self.tokens[name] = sum(map(len, sentences))
        self.labels[name] = len(labels(sentences))


class Worker:
    """A process that measures cells; a new one is started after a cell is stopped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: Any = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout, self._errors):
                if stream is not None:
                    stream.close()
        self._process = None

    def _start(self) -> subprocess.Popen[str]:
        environment = dict(os.environ)
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.folder))  # a killed process leaves files
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
        self._lines = queue.Queue()
        process = subprocess.Popen(
            [sys.executable, "-m", "corate_reproduction.worker", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            env=environment,
            start_new_session=True,  # Ctrl-C must not reach the worker: an interrupted cell is not an outcome
        )
        threading.Thread(target=_listen, args=(process, self._lines), daemon=True).start()
        return process

    def measure(self, cell: Cell, budget: float, report: Callable[[str], None] = lambda stage: None) -> Outcome:
        """Train and test one cell; the outcome is estimated if training does not end within the budget.

        Raises CellError if the cell cannot be measured.
        """
        if self._process is None:
            self._process = self._start()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(cell)) + "\n")
        self._process.stdin.flush()
        budget = min(budget, cell.most_seconds)
        watch = _Watch(budget)
        try:
            while True:
                message = self._next(watch.left())
                if message is None:
                    raise CellError(f"{cell.name}: the process ended: {self._last_error()}")
                if message["event"] == "done":
                    return replace(Outcome(**message["outcome"]), budget=budget)
                if message["event"] == "failed":
                    raise CellError(f"{cell.name}: {message['message']}")
                report(watch.see(message))
                if watch.over() or watch.hopeless():
                    break
        except queue.Empty:
            pass
        except BaseException:
            self.stop()
            raise
        self.stop()
        return watch.estimate()

    def _next(self, seconds: float | None) -> dict[str, Any] | None:
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            line = self._lines.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            if line is None:
                return None
            if line.startswith(MARK):  # anything else was printed by a library
                found: dict[str, Any] = json.loads(line[len(MARK) :])
                return found

    def _last_error(self) -> str:
        assert self._process is not None
        code = self._process.wait()
        self._errors.seek(0)
        text = self._errors.read().decode("utf-8", "replace").strip()
        return text.rpartition("\n")[2] or f"exit code {code}"


def _listen(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.put(line)
    except ValueError:
        pass  # the stream was closed during reading
    lines.put(None)


@dataclass
class _Watch:
    """The clock of one cell; it runs during training."""

    budget: float
    started: float | None = None
    times: list[tuple[int, float]] = field(default_factory=list)  # iterations done, seconds
    limit: int = 0

    def left(self) -> float | None:
        """Seconds left; None before and after training."""
        return None if self.started is None else max(0.0, self.budget - (time.monotonic() - self.started))

    def see(self, message: Mapping[str, Any]) -> str:
        """Record a message of the worker; returns the text to show."""
        if message["event"] == "training":
            self.started = time.monotonic()
            return "training"
        if message["event"] == "trained":
            self.started = None
            return "testing"
        if message["event"] == "iteration" and self.started is not None:
            self.limit = message["of"]
            self.times.append((message["done"], message["seconds"]))
            return f"iteration {message['done']} of at most {self.limit}"
        return str(message.get("stage", ""))

    def over(self) -> bool:
        """Whether the worker reports that the budget is spent; its clock does not include the delay of messages."""
        return self.started is not None and bool(self.times) and self.times[-1][1] >= self.budget

    def hopeless(self) -> bool:
        """Whether a sixth of the budget is spent and training would need more than twice the budget."""
        if self.started is None or len(self.times) < 3:
            return False
        spent = self.times[-1][1] >= self.budget / _HOPELESS_SHARE
        total, _ = estimate(self.times, self.limit)
        return spent and total > _HOPELESS_TIMES * self.budget

    def estimate(self) -> Outcome:
        """The estimated outcome of a stopped training."""
        if not self.times:
            return Outcome(None, estimated=True, budget=self.budget)
        total, each = estimate(self.times, self.limit)
        done = self.times[-1][0]
        return Outcome(total, estimated=True, iterations=done, seconds_per_iteration=each, budget=self.budget)


def estimate(times: Sequence[tuple[int, float]], limit: int) -> tuple[float, float]:
    """Estimated seconds of all iterations and of one, from (iterations done, seconds) so far.

    >>> estimate([(1, 5.0), (2, 7.0), (3, 9.0)], limit=10)
    (23.0, 2.0)
    """
    (first, begin), (last, end) = times[0], times[-1]
    each = (end - begin) / (last - first) if last > first else end / max(1, last)
    return end + each * max(0, limit - last), each


def run(
    cells: Sequence[Cell],
    data: Data,
    store: Store,
    *,
    budget: float,
    fresh: bool = False,
    report: Report = lambda news: None,
) -> list[dict[str, Any]]:
    """Measure the cells that are not stored; returns the records of all measured cells, in order."""
    from corate import __version__

    clock = _Progress([cost(c, data.tokens[c.train], data.labels[c.train], budget) for c in cells])
    found: list[dict[str, Any]] = []
    with Worker(data.folder) as worker:
        for i, planned in enumerate(cells):
            cell = chosen_prior(planned, found) if planned.prior else planned
            print_ = fingerprint(cell, data.digests, version(cell.library) if cell.library else __version__)
            outcome = None if fresh else store.find(cell, print_, min(budget, cell.most_seconds))
            kept, failure = outcome is not None, ""
            clock.begin(i)
            if outcome is None:
                try:
                    outcome = worker.measure(cell, budget, lambda stage: report(clock.news(cell, stage=stage)))  # noqa: B023
                    store.save(cell, print_, outcome)
                except CellError as error:
                    failure = str(error)
                if cell.experiment not in _SHORT:
                    worker.stop()  # a new process for each training, except the short ones
            clock.end(i, kept)
            report(clock.news(cell, outcome=outcome, kept=kept, failure=failure))
            if outcome is not None:
                found.append(record(cell, outcome))
    return found


class _Progress:
    """The finished share of the work and the time left, from the expected and the actual time of each cell."""

    def __init__(self, costs: Sequence[float]) -> None:
        self.costs = costs
        self.done = self.spent = self.expected = 0.0
        self.cells = 0
        self.started = time.monotonic()

    def begin(self, i: int) -> None:
        self.started = time.monotonic()

    def end(self, i: int, kept: bool) -> None:
        self.cells = i + 1
        self.done += self.costs[i]
        if not kept:
            self.spent += time.monotonic() - self.started
            self.expected += self.costs[i]

    def news(self, cell: Cell, **more: Any) -> News:
        total = sum(self.costs)
        pace = self.spent / self.expected if self.expected > 0 else None
        left = None if pace is None else pace * (total - self.done)
        return News(cell, self.cells, len(self.costs), self.done / total if total else 1.0, left, **more)
