"""Files that appear whole or not at all: never a half-written file under the name asked for."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = ["check_writable", "named", "replacing", "write_text"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that gets its name only when the body has ended well; until then an old file stays as it was.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and then take the name. On any
    exception, Ctrl-C too, the temporary file is removed. A file that was there keeps its mode and, where the system
    allows it, its owner and group; the mode of a new one follows the umask. Links are followed.

    Raises OSError, with ``path`` as its filename, where no plain file can be written there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/greeting") as file:
    ...         size = file.write(b"hello")
    ...     Path(folder, "greeting").read_text()
    'hello'
    """
    with named(path):
        target, old = _target(path)
        temporary = _beside(target)
        try:
            with open(temporary, "xb", opener=_private if old else None) as file:
                if old is not None:
                    _take_after(temporary, old)
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        _flush_folder(target.parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8, as `replacing` does."""
    with replacing(path) as file:
        file.write(text.encode())


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError now, not after the work is done, if no plain file can be written at ``path``."""
    with named(path):
        trial = _beside(_target(path)[0])
        try:
            trial.touch(exist_ok=False)
        except OSError as error:
            raise OSError(error.errno, f"cannot write in {trial.parent} ({error.strerror})", os.fspath(path)) from None
        finally:
            trial.unlink(missing_ok=True)


def _target(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """The file to write, links followed, and what there is of it. Only a plain file is ever replaced."""
    target = Path(os.path.realpath(path))
    try:
        old = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not target.parent.is_dir():
            raise OSError(errno.ENOENT, f"there is no directory {target.parent}; make it first") from None
        return target, None
    if stat.S_ISDIR(old.st_mode):
        raise OSError(errno.EISDIR, "this is a directory; name a file in it")
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "this is no plain file; name one")
    if not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "the file is there and may not be written")
    return target, old


def _beside(target: Path) -> Path:
    return target.with_name(f".corate-{secrets.token_hex(8)}.tmp")


def _private(path: str, flags: int) -> int:
    """Open a file that no one else may read before it has the mode of the file it replaces."""
    return os.open(path, flags, 0o600)


def _take_after(path: Path, old: os.stat_result) -> None:
    if hasattr(os, "chown"):
        new = path.stat()
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with suppress(OSError):
                os.chown(path, old.st_uid if new.st_uid != old.st_uid else -1, old.st_gid)
    os.chmod(path, stat.S_IMODE(old.st_mode))


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the path into errors that name none, such as a full disk's, or that name the temporary file."""
    try:
        yield
    except OSError as error:
        ours = isinstance(error.filename, str | os.PathLike) and Path(error.filename).name.startswith(".corate-")
        if (error.filename is None or ours) and not isinstance(error, BrokenPipeError):
            error.filename, error.filename2 = os.fspath(path), None
        raise


def _flush_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can (Windows cannot open a folder)."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
