"""``python -m fuzz``: see ``make fuzz`` in CONTRIBUTING.md."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from fuzz.driver import Run, table
from fuzz.kinds import KINDS, Kind
from fuzz.sanitizers import NAMES


def main(arguments: Sequence[str], kinds: Mapping[str, Kind] = KINDS, materials: Path | None = None) -> int:
    """Run the fuzzer and print its table; returns 1 if a case was bad or a kind ran no cases, else 0."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Look for crashes, hangs and lost output.")
    parser.add_argument("--seconds", type=float, help="how long to run, shared among the kinds by their weights")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other cases")
    parser.add_argument("--only", choices=kinds, action="append", help="only this kind; may be repeated")
    parser.add_argument("--case", type=int, help="only the case with this number, to repeat it")
    parser.add_argument("--cases", type=int, help="number of cases of each kind, instead of a time")
    parser.add_argument("--workers", type=int, default=2, help="how many processes run cases")
    parser.add_argument("--sanitizer", choices=NAMES, default="none", help="what the native module was built with")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz/findings"), help="where inputs are saved")
    given = parser.parse_args(arguments)
    if given.seconds is None and given.case is None and given.cases is None:
        parser.error("give --seconds, --cases or --case")
    first = given.case or 0
    stop = first + 1 if given.case is not None else given.cases
    report = Run(
        {name: kinds[name] for name in given.only or kinds},
        seed=given.seed,
        seconds=given.seconds,
        cases=None if stop is None else lambda kind: iter(range(first, stop)),
        workers=1 if given.case is not None else given.workers,
        sanitizer=given.sanitizer,
        findings=given.findings.resolve(),
        materials=materials,
        say=partial(print, flush=True),
    )()
    print(f"seed {given.seed}, sanitizer {given.sanitizer}\n{table(report)}")
    return int(any(found.bad or not found.cases for found in report.values()))


if __name__ == "__main__":
    # Background jobs of a shell ignore Ctrl-C, and so would the programs that the fuzzer starts and interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
