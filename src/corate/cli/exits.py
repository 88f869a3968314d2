"""Exit codes that scripts can trust, and one clear line for whatever goes wrong."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from corate.errors import CorateError

__all__ = ["EXIT_CODES", "INTERRUPTED", "MISSING", "UNUSABLE", "complain", "exit_codes", "hush"]

UNUSABLE = 1
MISSING = 3
INTERRUPTED = 130

EXIT_CODES = """\
Exit codes: 0 all is well, also where the reader of a pipe closed it early; 1 the data, the model or a file cannot be
used (one line on standard error says why); 2 wrong usage; 3 corpora that corate reproduce needs are not here, and what
needs none was run; 130 interrupted with Ctrl-C."""


def complain(message: str) -> None:
    """Write one line to standard error; where a person looks, a message of several lines as it is.

    Elsewhere they are joined, without the line whose caret points at a fault, so that scripts and logs see one line.
    """
    if not sys.stderr.isatty():
        message = " ".join(line.strip() for line in message.split("\n") if line.strip() != "^")
    print("corate: error:", message, file=sys.stderr)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what the body raises into an exit code; errors corate does not know of keep their traceback."""
    _escape_what_cannot_be_written()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _warn
            yield
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        print("corate: interrupted", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except CorateError as error:
        complain(str(error))
        raise SystemExit(UNUSABLE) from None
    except MemoryError:
        complain("not enough memory; train on fewer sentences or with fewer templates")
        raise SystemExit(UNUSABLE) from None
    except OSError as error:
        complain(_describe(error))
        raise SystemExit(UNUSABLE) from None


def _escape_what_cannot_be_written() -> None:
    """Have characters that the encoding of standard output lacks escaped, as Python does on standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="backslashreplace")


def hush() -> None:
    """Keep warnings for people to oneself, as ``--quiet`` asks."""
    warnings.simplefilter("ignore", UserWarning)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print("corate: warning:", " ".join(str(message).split("\n")), file=sys.stderr)


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename not in (None, "") else reason


def _forget_output() -> None:
    """Point standard output nowhere, so that the interpreter's last flush does not fail once more."""
    try:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
