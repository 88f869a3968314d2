"""How much more work do two threads do than one?

Other work on a machine takes processors away, and with them the gain of a second thread. So the rounds are short, and
the fastest round of each counts. A control says what the machine has to give: checksums, which never hold the
interpreter lock.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass

#: The length of a round on one thread, in seconds. Starting a thread takes far less.
ROUND = 0.01
#: What the control works on: its calls are long, so the interpreter lock is free nearly all the time.
CONTROL = bytes(4_000_000)

Work = Callable[[], object]


@dataclass(frozen=True)
class Speedup:
    """Work on two threads, as a multiple of the work on one thread in the same time."""

    seconds: float  # of one call on one thread
    times: float
    control: float

    @property
    def note(self) -> str:
        """What to say beside the number."""
        return f"fastest rounds; work without the interpreter lock: {self.control:.2f}"


def two_threads(work: Work, seconds: float) -> Speedup:
    """Let one thread and two threads call a function in turns, for about this time."""
    calls = [repeated(call) for call in (work, lambda: zlib.crc32(CONTROL))]
    best = [[float("inf")] * 2 for _ in calls]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for found, (call, _) in zip(best, calls, strict=True):
            for n in (1, 2):
                found[n - 1] = min(found[n - 1], on_threads(n, call))
    ratios = [2 * one / two for one, two in best]
    return Speedup(best[0][0] / calls[0][1], ratios[0], ratios[1])


def repeated(work: Work) -> tuple[Work, int]:
    """A function that calls another one often enough for a round, and how often."""
    work()
    times = max(1, round(ROUND / on_threads(1, work)))

    def repeat() -> None:
        for _ in range(times):
            work()

    return repeat, times


def on_threads(n: int, work: Work) -> float:
    """Seconds until each of `n` threads has done the work."""
    threads = [threading.Thread(target=work) for _ in range(n)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin
