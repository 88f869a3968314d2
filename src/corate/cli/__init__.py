"""The command line. One module a command, each thin: it parses, calls the library and prints."""

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]


def main() -> None:
    """Run ``corate`` with the arguments of the process and exit with its code.

    Until all is imported, Ctrl-C ends the process at once: no exception can be lost or reported among half-imported
    modules. So this module imports nothing that takes time.
    """
    usual = signal.getsignal(signal.SIGINT)
    ours = usual is signal.default_int_handler and _try_to_handle(_leave)  # else ignored, or another program's
    try:
        from corate.cli.app import app  # SIGTERM and SIGHUP end the process here, too: there is nothing to tidy yet
        from corate.cli.exits import exit_codes, orderly
    except KeyboardInterrupt:
        _leave()

    with orderly(), exit_codes():
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        app(prog_name="corate")


def _try_to_handle(handler: "signal._HANDLER") -> bool:
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:  # signals belong to the main thread, and this is another
        return False
    return True


def _leave(*_: object) -> "NoReturn":
    try:
        os.write(2, b"corate: interrupted\n")
    finally:  # also where standard error is closed
        os._exit(130)
