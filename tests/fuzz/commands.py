"""Run commands in the worker itself, and check their exit codes and one-line error messages."""

from __future__ import annotations

from command_line import Result, run
from fuzz.worker import CaseFailedError

__all__ = ["checked"]


def checked(*args: object, stdin: bytes = b"", encoding: str = "utf-8") -> Result:
    """Run a command; raises CaseFailedError if it does not end as the README says; other exceptions pass through."""
    result = run(*args, stdin=stdin, encoding=encoding)
    said = [line for line in result.err.splitlines() if not line.startswith("corate: warning: ")]
    command = " ".join(map(str, args))
    if result.code not in (0, 1, 2):
        raise CaseFailedError(f"exit code {result.code}: {command}\n{result.err}")
    if result.code == 1 and not (len(said) == 1 and said[0].startswith("corate: error: ")):
        raise CaseFailedError(f"exit code 1 without its one line: {command}\n{result.err}")
    if result.code == 0 and any(line.startswith("corate: error") for line in said):
        raise CaseFailedError(f"an error and exit code 0: {command}\n{result.err}")
    return result
