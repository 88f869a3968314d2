"""Processes with and without buffers in Python, and with standard outputs that become full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["BUFFERING", "environment", "run_limited"]

#: Values of ``PYTHONUNBUFFERED``: unset, as in most shells, and set, as in many containers.
BUFFERING = ("", "1")
#: The largest file that a process of `run_limited` can write.
_LARGEST_FILE = 1 << 26


def environment(unbuffered: str) -> dict[str, str]:
    """The environment of this process with one of `BUFFERING`."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return kept | ({"PYTHONUNBUFFERED": unbuffered} if unbuffered else {})


def run_limited(
    command: Sequence[str], size: int, output: Path, *, prepare: Callable[[], None] | None = None, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a process whose standard output has room for ``size`` bytes, like a file on a disk that is almost full.

    The limit is on the size of each file that the process writes, and standard output begins ``size`` bytes below it.
    So other files have room. ``output`` is a temporary file. ``prepare`` is called in the process before the program.
    """
    import resource

    start = _LARGEST_FILE - size

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
        if prepare is not None:
            prepare()

    options = {"stdin": subprocess.DEVNULL, **options}
    with open(output, "wb") as file:
        file.seek(start)
        ended = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, preexec_fn=limit, **options)
    with open(output, "rb") as file:
        file.seek(start)
        ended.stdout = file.read()
    output.unlink()
    return ended
