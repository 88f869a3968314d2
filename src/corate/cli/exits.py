"""Exit codes that scripts can trust, and one clear line for whatever goes wrong."""

from __future__ import annotations

import errno
import io
import os
import re
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from corate.cli.terminal import escaped
from corate.errors import CorateError

__all__ = ["EXIT_CODES", "MISSING", "UNUSABLE", "as_options", "complain", "exit_codes", "hush", "orderly"]

UNUSABLE = 1
MISSING = 3
INTERRUPTED = 130

EXIT_CODES = """\
Exit codes: 0 all is well, also where the reader of a pipe closed it early; 1 the data, the model or a file cannot be
used (one line on standard error says why); 2 wrong usage; 3 corpora that corate reproduce needs are not here, and what
needs none was run; 129 ended by SIGHUP; 130 interrupted with Ctrl-C; 143 ended by SIGTERM."""


#: Arguments of the library that the command line has an option for.
_ARGUMENTS = "columns|comment|encoding|features|format|held_out|init|many_labels|separator|skip_bad|threads"
_ARGUMENT = re.compile(rf"\b({_ARGUMENTS})=(?:(True\b)|('[^']*'))?")


def as_options(message: str) -> str:
    """A message of the library, with its arguments as options of the command line.

    >>> as_options("name the columns with columns=, or leave out such lines with skip_bad=True")
    'name the columns with --columns, or leave out such lines with --skip-bad'
    >>> as_options("name its encoding, say with encoding='latin-1'")
    'name its encoding, say with --encoding latin-1'
    """

    def spelled(match: re.Match[str]) -> str:
        value = (match[3] or "").removeprefix("'").removesuffix("'")
        return f"--{match[1].replace('_', '-')}" + (f" {shlex.quote(value)}" if value else "")

    return _ARGUMENT.sub(spelled, message).replace("use the format 'jsonl'", "use --to jsonl")


def complain(message: str) -> None:
    """Write one line to standard error; where a person looks, a message of several lines as it is.

    Elsewhere they are joined, without the line whose caret points at a fault, so that scripts and logs see one line.
    What would steer a terminal is escaped wherever it goes.
    """
    if not sys.stderr.isatty():
        message = " ".join(line.strip() for line in message.split("\n") if line.strip() != "^")
    _say(f"error: {as_options(message)}")


@contextmanager
def orderly() -> Iterator[None]:
    """Run the body with standard streams that can be used, and end it in order on SIGTERM and SIGHUP.

    These signals raise an exception, as Ctrl-C does, so that temporary files are removed. A signal that is ignored, as
    under nohup, stays ignored.
    """
    _stand_in_for_closed_streams()
    before: dict[int, Any] = {}

    def end(number: int, frame: object) -> NoReturn:
        for other in before:
            signal.signal(other, signal.SIG_IGN)  # nothing disturbs the tidying
        raise _Ended(number)

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Ended(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _ClosedOutput(io.RawIOBase):
    """Stands for a standard output that is closed: nothing may be lost in silence."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed; open it, or write to a file", "standard output")


def _stand_in_for_closed_streams() -> None:
    """Python has None for a standard stream that is closed; print would take standard output for standard error."""
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            with suppress(OSError):
                _occupy(number)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_ClosedOutput(), encoding="utf-8", write_through=True)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _occupy(number: int) -> None:
    """Keep the number of a closed standard stream from the next file that is opened."""
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what the body raises into an exit code; errors corate does not know of keep their traceback."""
    _escape_what_cannot_be_written()
    try:
        with warnings.catch_warnings():
            for category in (UserWarning, FutureWarning):
                warnings.simplefilter("always", category)
            warnings.showwarning = _warn
            yield
        sys.stdout.flush()
    except BrokenPipeError:
        _forget(sys.stdout)
        raise SystemExit(0) from None
    except (KeyboardInterrupt, _Ended) as end:
        _leave(end)
    except RuntimeError as error:
        if isinstance(error.__cause__, (KeyboardInterrupt, _Ended)):  # Python 3.11 wraps it while a class is made
            _leave(error.__cause__)
        raise
    except CorateError as error:
        complain(str(error))
        raise SystemExit(UNUSABLE) from None
    except MemoryError:
        complain("not enough memory; train on fewer sentences or with fewer templates")
        raise SystemExit(UNUSABLE) from None
    except OSError as error:
        complain(_describe(error))
        raise SystemExit(UNUSABLE) from None


def _leave(end: BaseException) -> NoReturn:
    """Exit as Ctrl-C or a signal asks."""
    if isinstance(end, _Ended):
        _say(f"ended by {signal.Signals(end.number).name}")
        raise SystemExit(128 + end.number) from None
    _say("interrupted")
    raise SystemExit(INTERRUPTED) from None


def _escape_what_cannot_be_written() -> None:
    """Have characters that the encoding of standard output lacks escaped, as Python does on standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="backslashreplace")


def hush() -> None:
    """Keep warnings for people to oneself, as ``--quiet`` asks."""
    for category in (UserWarning, FutureWarning):
        warnings.simplefilter("ignore", category)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    _say(f"warning: {as_options(' '.join(str(message).split(chr(10))))}")


def _say(message: str) -> None:
    """A line on standard error, if it can be written: a terminal that hung up, say, no longer takes any."""
    try:
        print("corate:", escaped(message), file=sys.stderr)
    except OSError:
        _forget(sys.stderr)


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename not in (None, "") else reason


def _forget(stream: Any) -> None:
    """Point a standard stream nowhere, so that the interpreter's last flush does not fail once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
