"""The process that measures cells: ``python -m corate_reproduction.worker FOLDER`` reads one cell per line.

A separate process can be stopped when its budget is spent, even inside native code. It writes messages to standard
output, one JSON object per line after a mark: training starts, iterations done, the outcome.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from corate_reproduction.cells import Cell, Outcome

__all__ = ["MARK", "main", "measured"]

#: The start of each message.
MARK = "@ "

Say = Callable[..., None]


def measured(cell: Cell, folder: Path, say: Say = lambda **message: None) -> Outcome:
    """Train and test one cell on the splits in a folder."""
    from corate.formats import read

    columns = cell.columns.split(",")
    train, test = (read(folder / name, format="columns", columns=columns, separator="\t") for name in cell.files[:2])
    sizes: dict[str, Any] = {"sentences": len(train), "tokens": train.n_tokens}
    sizes["labels"] = len(train.require_labels().strings)
    iterations: list[int] = []
    started = time.perf_counter()  # reset when training starts

    def begin() -> None:
        nonlocal started
        say(event="training")
        started = time.perf_counter()

    def iterated(done: int, of: int) -> None:
        iterations.append(done)
        say(event="iteration", done=done, of=of, seconds=time.perf_counter() - started)

    if cell.library:
        return _peer(cell, train, test, sizes, say, begin, iterated, iterations)
    return _ours(cell, folder, train, test, sizes, say, begin, iterated, iterations)


def _ours(
    cell: Cell,
    folder: Path,
    train: Any,
    test: Any,
    sizes: dict[str, Any],
    say: Say,
    begin: Callable[[], None],
    iterated: Callable[[int, int], None],
    iterations: list[int],
) -> Outcome:
    import corate
    from corate.formats import read
    from corate.training.methods import METHODS, OPTIONS

    options = {"method": "polish", **cell.options}
    if cell.held_out:
        columns = cell.columns.split(",")
        options["held_out"] = read(folder / cell.held_out, format="columns", columns=columns, separator="\t")
    limit = options.get("iterations")

    def progress(event: corate.ProgressEvent) -> None:
        # SP2 makes iterations over the nodes, then over the pairs, which take longer.
        if limit and event.objective is not None and event.stage != "fitting the nodes":
            iterated(round((event.fraction or 0.0) * limit), int(limit))
        else:
            say(event="stage", stage=str(event), done=event.fraction)

    method = METHODS[options.pop("method")](**{name: options.pop(name) for name in OPTIONS.keys() & options.keys()})
    begin()
    started = time.perf_counter()
    tagger = corate.train(train, method, seed=cell.seed, threads=cell.threads, progress=progress, **options)
    seconds = time.perf_counter() - started
    say(event="trained", seconds=seconds)
    report = corate.evaluate(tagger, test)
    return _outcome(report, seconds, sizes, iterations)


def _peer(
    cell: Cell,
    train: Any,
    test: Any,
    sizes: dict[str, Any],
    say: Say,
    begin: Callable[[], None],
    iterated: Callable[[int, int], None],
    iterations: list[int],
) -> Outcome:
    from corate.evaluation.report import compare_labels
    from corate_reproduction.peers import fit

    options = cell.options
    seconds, predicted = fit(cell.library, dict(options["settings"]), train, test, options["features"], begin, iterated)
    say(event="trained", seconds=seconds)
    return _outcome(compare_labels(test, predicted, train.column("word").strings), seconds, sizes, iterations)


def _outcome(report: Any, seconds: float, sizes: dict[str, Any], iterations: list[int]) -> Outcome:
    scores = {name: getattr(report, name) for name in ("accuracy", "accuracy_known", "accuracy_oov", "f1")}
    done = max(iterations, default=None)
    each = seconds / done if done else None
    return Outcome(round(seconds, 4), iterations=done, seconds_per_iteration=each, **scores, **sizes)


def main(folder: str) -> None:
    """Measure the cells from standard input. The end of standard input ends the process, even during a cell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted cell is not an outcome
    warnings.simplefilter("ignore", UserWarning)
    output = sys.stdout

    def say(**message: Any) -> None:
        output.write(f"{MARK}{json.dumps(message)}\n")
        output.flush()

    sys.stdout = sys.stderr  # prints of libraries are not messages
    for line in _requests():
        try:
            outcome = measured(Cell(**json.loads(line)), Path(folder), say)
        except Exception as error:  # report the failure and continue with the next cell
            say(event="failed", message=f"{type(error).__name__}: {error}")
        else:
            say(event="done", outcome=asdict(outcome))


def _requests() -> Iterator[str]:
    """The lines of standard input, read in a thread; the end of input ends the process at once."""
    lines: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield lines.get()


if __name__ == "__main__":
    main(sys.argv[1])
