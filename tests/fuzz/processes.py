"""Real `corate` processes: how to start them, and what their standard error must not contain."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import corate
from fuzz.sanitizers import REPORTS
from fuzz.worker import CaseFailedError

__all__ = ["PROGRAM", "check_errors", "outside"]

#: The program installed with this Python, as users start it.
PROGRAM = str(Path(sys.executable).with_name("corate"))

_FRAME = re.compile(r'File "([^"]+)", line \d+, in (\S+)')
_PACKAGE = os.path.dirname(corate.__file__) + os.sep
#: Imported before the program can handle signals.
_FIRST = tuple(_PACKAGE + name for name in ("__init__.py", "errors.py", os.path.join("cli", "__init__.py")))


def check_errors(errors: str) -> None:
    """Raise CaseFailedError if a process crashed: a traceback, or a report of a sanitizer."""
    for report in REPORTS:
        if report in errors:
            raise CaseFailedError(f"{report}: {errors}")
    if "Traceback" in errors and not outside(errors):
        last = next((line for line in reversed(errors.strip().splitlines()) if line[:1] not in " ^"), "")
        raise CaseFailedError(f"a traceback, {last.split(':')[0]}: {errors}")


def outside(errors: str) -> bool:
    """Whether a traceback comes from the interpreter: it has no frame of the program.

    The script that pip writes and the first imports of the package run before the program can handle a signal, so
    Ctrl-C there counts as the interpreter's. Any other exception there counts as the program's.
    """
    files = [(file, name) for file, name in _FRAME.findall(errors) if file.startswith(_PACKAGE)]
    if errors.rstrip().endswith("KeyboardInterrupt"):
        files = [(file, name) for file, name in files if not (file in _FIRST and name == "<module>")]
    return "Traceback" in errors and not files
