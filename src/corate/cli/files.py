"""Output that appears whole or not at all: never a half-written file under the name asked for."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from corate.cli.packing import packed

__all__ = ["check_writable", "named", "open_output"]


def check_writable(path: str) -> None:
    """Raise OSError now, not after the work is done, if no plain file can be written at ``path``."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a directory; name a file in it", path)
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "this is no plain file; name one", path)
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is there and may not be written", path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no directory {target.parent}; make it first", path)
    trial = _beside(target)
    try:
        trial.touch(exist_ok=False)
        trial.unlink()
    except OSError as error:
        raise OSError(error.errno, f"cannot write in {target.parent} ({error.strerror})", path) from None


@contextmanager
def open_output(path: str | None) -> Iterator[IO[bytes]]:
    """Standard output for None or ``-``; else a file that gets its name only when the body has ended well.

    A path that ends in .gz, .bz2, .xz or .zst is packed. Devices and pipes are written to as they are.
    """
    if path is None or path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        with named(path), open(path, "wb") as stream:
            yield stream
    else:
        check_writable(path)
        with named(path), _replaced(Path(os.path.realpath(path))) as stream:
            yield stream


@contextmanager
def _replaced(target: Path) -> Iterator[IO[bytes]]:
    partial = _beside(target)
    try:
        with open(partial, "xb") as raw:
            with packed(raw, target.suffix.lower(), "wb") as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        if target.exists():
            os.chmod(partial, stat.S_IMODE(target.stat().st_mode))
        os.replace(partial, target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


@contextmanager
def named(path: str) -> Iterator[None]:
    """Put the path into errors that name none, such as a full disk's."""
    try:
        yield
    except OSError as error:
        if error.filename is None and not isinstance(error, BrokenPipeError):
            error.filename = path
        raise


def _beside(target: Path) -> Path:
    return target.with_name(f".corate-{secrets.token_hex(8)}.tmp")
