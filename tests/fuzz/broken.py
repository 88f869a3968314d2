"""Kinds that fail on purpose, each in another way, to test that the fuzzer notices."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from random import Random

from fuzz.processes import check_errors
from fuzz.worker import CaseFailedError


class Harmless:
    def __init__(self, materials: Path) -> None:
        pass

    def run(self, rng: Random, folder: Path) -> None:
        (folder / "input").write_text(str(rng.random()))
        if rng.random() < 0.5:
            self.fail()

    def fail(self) -> None:
        pass


class Raises(Harmless):
    def fail(self) -> None:
        [][0]


class Refuses(Harmless):
    def fail(self) -> None:
        from corate import DataError

        raise DataError("as it should")


class Dies(Harmless):
    def fail(self) -> None:
        print("ERROR: AddressSanitizer: made up", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGSEGV)


class Hangs(Harmless):
    def fail(self) -> None:
        while True:
            signal.pause()


class Hoards(Harmless):
    def fail(self) -> None:
        bytearray(1200 << 20)[::4096] = b"x" * (1200 << 8)


class Loses(Harmless):
    def fail(self) -> None:
        raise CaseFailedError("the old output is lost: in jest")


class Traces(Harmless):
    def fail(self) -> None:
        import corate

        check_errors(f'Traceback (most recent call last):\n  File "{corate.__file__}", line 1, in x\nKeyError: 1\n')
