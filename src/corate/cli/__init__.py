"""The command line. One short module per command: it parses, calls the library and prints."""

import atexit
import gc
import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]


def main() -> None:
    """Run ``corate`` with the arguments of the process and exit with its code.

    Until all imports are done, Ctrl-C ends the process at once, so that no exception is raised in a partly imported
    module. Therefore this module itself imports only what is fast.
    """
    atexit.register(gc.freeze)  # do not search all objects for cycles at exit: that takes 20 ms
    current = signal.getsignal(signal.SIGINT)
    replaced = current is signal.default_int_handler and _try_to_handle(_leave)  # else ignored or handled by a caller
    try:
        from corate.cli.app import app  # SIGTERM and SIGHUP also end the process here: nothing to clean up yet
        from corate.cli.exits import complete_output, exit_codes, handle_interrupts, handle_signals
    except KeyboardInterrupt:
        _leave()

    with handle_signals(), complete_output(), exit_codes():
        if replaced:
            handle_interrupts()
        if os.environ.get("_CORATE_COMPLETE", "").startswith(("complete_", "source_")):
            from corate.cli.completion import answer

            raise SystemExit(answer(app))
        app(prog_name="corate")


def _try_to_handle(handler: "signal._HANDLER") -> bool:
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:  # only the main thread can set signal handlers
        return False
    return True


def _leave(*_: object) -> "NoReturn":
    try:
        os.write(2, b"corate: interrupted\n")
    finally:  # also if standard error is closed
        os._exit(130)
