"""The command line. One module a command, each thin: it parses, calls the library and prints."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["main"]


def main() -> None:
    """Run ``corate`` with the arguments of the process and exit with its code."""
    with _left_at_once():
        from corate.cli.exits import exit_codes, orderly

        with orderly(), exit_codes():
            from corate.cli.app import app
    with orderly(), exit_codes():
        app(prog_name="corate")


@contextmanager
def _left_at_once() -> Iterator[None]:
    """Have Ctrl-C end the process in the body: no exception can be lost or reported among half-imported modules."""
    usual = signal.getsignal(signal.SIGINT)
    main_thread = threading.current_thread() is threading.main_thread()
    if usual is not signal.default_int_handler or not main_thread:  # ignored, or in the hands of another program
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _leave(*_: object) -> None:
    os.write(2, b"corate: interrupted\n")
    os._exit(130)
