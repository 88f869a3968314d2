"""Run commands in this process with streams of their own."""

from __future__ import annotations

import io
import signal
import sys
import threading
from dataclasses import dataclass
from unittest.mock import patch

__all__ = ["PROGRAM", "Result", "one_line", "run"]

#: The program in a process of its own.
PROGRAM = [sys.executable, "-m", "corate.cli"]


@dataclass(frozen=True)
class Result:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


class Screen(io.TextIOWrapper):
    """Standard output that a person looks at."""

    def isatty(self) -> bool:
        return True


def run(
    *args: object, stdin: bytes = b"", screen: bool = False, encoding: str = "utf-8", progress: bool = False
) -> Result:
    """Run ``corate`` with these arguments; ``encoding`` is that of standard output, a terminal if ``screen``.

    With ``progress``, lines of progress are on standard error from the start; without, there are none.
    """
    from corate.cli import main, terminal

    old = sys.stdin, sys.stdout, sys.stderr, sys.argv
    out = (Screen if screen else io.TextIOWrapper)(io.BytesIO(), encoding=encoding, write_through=True)
    err = io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), encoding="utf-8")
    sys.stdout, sys.stderr, sys.argv = out, err, ["corate", *map(str, args)]
    code: object = 0
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        shown = patch.dict("os.environ", CORATE_PROGRESS="1" if progress else "0")
        with patch.object(terminal, "_LINE_DELAY_SECONDS", 0.0), shown:
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.stdin, sys.stdout, sys.stderr, sys.argv = old
        if threading.current_thread() is threading.main_thread():  # after an interruption, the process usually ends
            for number, handler in handlers.items():
                signal.signal(number, handler)
    assert isinstance(code, int)
    return Result(code, out.buffer.getvalue(), err.getvalue())


def one_line(result: Result, *said: str) -> bool:
    """The command failed with one line that says these things."""
    assert result.code == 1
    assert result.err.startswith("corate: error: ")
    assert result.err.count("\n") == 1
    assert all(text in result.err for text in said), result.err
    return True
