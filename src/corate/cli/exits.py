"""Reliable exit codes, and one clear line for every error."""

from __future__ import annotations

import atexit
import errno
import io
import os
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from corate.cli.terminal import print_line, redirect_to_null
from corate.errors import Argument, CorateError, CorateWarning, InterruptedWarning
from corate.io.atomic import buffered

__all__ = [
    "EXIT_CODES",
    "MISSING",
    "UNUSABLE",
    "as_option",
    "complain",
    "complete_output",
    "exit_codes",
    "handle_interrupts",
    "handle_signals",
    "silence_warnings",
]

UNUSABLE = 1
MISSING = 3
INTERRUPTED = 130
#: A signal whose exception Python ignored is sent again after this time.
_AGAIN_SECONDS = 0.01

EXIT_CODES = """\
Exit codes: 0 success, also if the reader of a pipe closes it early; 1 the data, the model or a file cannot be used (one
line on standard error gives the reason); 2 wrong usage; 3 corpora for corate reproduce are missing (experiments
without corpora were run); 129 ended by SIGHUP; 130 interrupted with Ctrl-C; 143 ended by SIGTERM."""


#: Options that have another name than the argument of the library.
_SPELLED = {"boundaries": "no-boundaries", "label_weights": "label-weight"}


def as_option(argument: Argument) -> str:
    """An argument of the library as an option of the command line.

    >>> as_option(Argument("skip_bad", True)), as_option(Argument("encoding", "latin-1"))
    ('--skip-bad', '--encoding latin-1')
    """
    name = "to" if argument.of_output else _SPELLED.get(argument.name, argument.name.replace("_", "-"))
    return f"--{name}" + (f" {shlex.quote(argument.value)}" if isinstance(argument.value, str) else "")


def complain(problem: CorateError | str) -> None:
    """Write an error to standard error: on a terminal with the text that it is about, otherwise as one line.

    Scripts and logs get this text without the caret that points at a place in it. Terminal control characters are
    always escaped.
    """
    text, excerpt = (problem, None) if isinstance(problem, str) else (problem.worded(as_option), problem.excerpt)
    if sys.stderr.isatty():
        text += "" if excerpt is None else f"\n{excerpt}"
    else:
        text = " ".join(line.strip() for line in text.split("\n"))
        text += "" if excerpt is None else f" (in {str(excerpt).splitlines()[0].strip()})"
    print_line(f"error: {text}")


@contextmanager
def handle_signals() -> Iterator[None]:
    """Run the body with usable standard streams, and let SIGTERM and SIGHUP raise an exception.

    The exception, like that of Ctrl-C, causes temporary files to be removed. An ignored signal, as under nohup, stays
    ignored. After an exit code for a signal, the handlers are not put back: another signal ends the process at once.
    """
    _replace_closed_streams()
    before: dict[int, Any] = {signal.SIGINT: signal.default_int_handler}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, _end)
    usual, sys.unraisablehook = sys.unraisablehook, _deliver_again
    try:
        yield
    finally:
        sys.unraisablehook = usual
        for number, handler in before.items():
            if signal.getsignal(number) is _end:
                signal.signal(number, handler)


def handle_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt, within `handle_signals`."""
    signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: object) -> None:
    """Raise the exception of a signal. Ignore it while such an exception is handled, so that cleanup ends."""
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, (KeyboardInterrupt, _Terminated)):
            return
        error = error.__context__
    raise KeyboardInterrupt if number == signal.SIGINT else _Terminated(number)


def _deliver_again(unraisable: Any) -> None:
    """Send a signal again if Python ignored its exception, because it was raised in a destructor or a callback."""
    error = unraisable.exc_value
    if not isinstance(error, (KeyboardInterrupt, _Terminated)):
        sys.__unraisablehook__(unraisable)
        return
    number = error.number if isinstance(error, _Terminated) else signal.SIGINT
    # From another thread, it arrives after the callback has returned.
    threading.Timer(_AGAIN_SECONDS, _send_to_main_thread, [number]).start()


def _send_to_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:  # Windows
        signal.raise_signal(number)


class _Terminated(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _ClosedOutput(io.RawIOBase):
    """Replaces a closed standard output, so that writing to it is an error."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> NoReturn:
        raise OSError(errno.EBADF, "the stream is closed; open it, or write to a file", "standard output")


def _replace_closed_streams() -> None:
    """Replace closed standard streams, which are None in Python: print(file=None) would write to standard output."""
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            with suppress(OSError):
                _reserve_descriptor(number)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_ClosedOutput(), encoding="utf-8", write_through=True)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _reserve_descriptor(number: int) -> None:
    """Reserve the number of a closed standard stream, so that no other file gets it."""
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


@contextmanager
def complete_output() -> Iterator[None]:
    """Run the body with a standard output that takes all that is written, or raises OSError.

    Without a buffer (``PYTHONUNBUFFERED``), Python writes only what a full disk still takes, without an error. Lines
    still appear at once then.
    """
    before = sys.stdout
    stream = getattr(before, "buffer", None)
    raw = getattr(stream, "raw", stream)
    if isinstance(before, io.TextIOWrapper) and isinstance(raw, io.FileIO):
        sys.stdout = io.TextIOWrapper(
            buffered(raw.fileno(), "standard output"),
            encoding=before.encoding,
            errors=before.errors,
            line_buffering=before.line_buffering or before.write_through,
        )
    try:
        yield
    finally:
        sys.stdout = before


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn exceptions of the body into exit codes; unexpected exceptions keep their traceback."""
    _escape_unencodable()
    try:
        with warnings.catch_warnings():
            for category in (UserWarning, FutureWarning):
                warnings.simplefilter("always", category)
            warnings.simplefilter("ignore", InterruptedWarning)  # commands say so themselves, also with --quiet
            warnings.showwarning = _warn
            yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise SystemExit(0) from None
    except (KeyboardInterrupt, _Terminated) as end:
        _exit_after(end)
    except RuntimeError as error:
        if isinstance(error.__cause__, (KeyboardInterrupt, _Terminated)):  # wrapped by Python 3.11 in a class body
            _exit_after(error.__cause__)
        raise
    except CorateError as error:
        complain(error)
        raise SystemExit(UNUSABLE) from None
    except MemoryError:
        complain("not enough memory; use less data or fewer threads")
        raise SystemExit(UNUSABLE) from None
    except OSError as error:
        complain(_describe(error))
        raise SystemExit(UNUSABLE) from None
    finally:
        _empty_output()


def _empty_output() -> None:
    """Write what is still in the buffer of standard output; drop it if that fails, as it then failed before."""
    try:
        sys.stdout.flush()
    except (OSError, KeyboardInterrupt, _Terminated):
        redirect_to_null(sys.stdout)


def _exit_after(end: BaseException) -> NoReturn:
    """Exit after Ctrl-C or a signal. Another signal then ends the process at once, with the same code and silently."""
    if isinstance(end, _Terminated):
        code = 128 + end.number
        print_line(f"ended by {signal.Signals(end.number).name}")
    else:
        code = INTERRUPTED
        print_line(f"interrupted: {end}" if str(end) else "interrupted")
    handled = [number for number in signal.valid_signals() if signal.getsignal(number) is _end]
    for number in handled:
        signal.signal(number, lambda *_: os._exit(code))
    atexit.register(_ignore, handled)
    raise SystemExit(code) from None


def _ignore(numbers: Iterable[int]) -> None:
    """Ignore signals for the last moments of the process, when Python would put their default actions back."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def _escape_unencodable() -> None:
    """Escape characters that standard output cannot encode, as Python does on standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="backslashreplace")


def silence_warnings() -> None:
    """Show no warnings, for ``--quiet``."""
    for category in (UserWarning, FutureWarning):
        warnings.simplefilter("ignore", category)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    text = message.worded(as_option) if isinstance(message, CorateWarning) else str(message)
    print_line(f"warning: {' '.join(text.split(chr(10)))}")


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename not in (None, "") else reason
