"""``python -m fuzz``: see ``make fuzz`` in CONTRIBUTING.md."""

from __future__ import annotations

import argparse
import signal
import sys
from functools import partial
from pathlib import Path

from fuzz.driver import Run, table
from fuzz.kinds import KINDS

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Look for crashes, hangs and lost output.")
    parser.add_argument("--seconds", type=float, help="how long to go on, shared among the kinds by their weights")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other cases")
    parser.add_argument("--only", choices=KINDS, action="append", help="only this kind; may be repeated")
    parser.add_argument("--case", type=int, help="only the case of this number, to repeat it")
    parser.add_argument("--cases", type=int, help="so many cases of each kind, in place of a time")
    parser.add_argument("--workers", type=int, default=2, help="how many processes run cases")
    parser.add_argument("--sanitizer", choices=["address", "thread"], help="what the native module was built with")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz/findings"), help="where inputs are saved")
    given = parser.parse_args()
    if given.seconds is None and given.case is None and given.cases is None:
        parser.error("say how long: --seconds, --cases or --case")
    # A shell has its background jobs ignore Ctrl-C, and so would the programs that are started and interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    numbers = None
    if given.case is not None:
        numbers = lambda kind: iter([given.case])  # noqa: E731
    elif given.cases is not None:
        numbers = lambda kind: iter(range(given.cases))  # noqa: E731
    report = Run(
        {name: KINDS[name] for name in given.only or KINDS},
        seed=given.seed,
        seconds=given.seconds,
        cases=numbers,
        workers=1 if given.case is not None else given.workers,
        sanitizer=given.sanitizer,
        findings=given.findings.resolve(),
        say=partial(print, flush=True),
    )()
    print(f"seed {given.seed}, sanitizer {given.sanitizer or 'none'}\n{table(report)}")
    sys.exit(any(found.bad or not found.cases for found in report.values()))
