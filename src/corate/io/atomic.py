"""Writing that loses nothing: a file appears complete or not at all, and a stream takes every byte."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

__all__ = ["buffered", "check_writable", "descriptor_of", "named", "partial_of", "replacing", "write_text"]

#: Linux follows as many links.
_MOST_LINKS = 40


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that replaces ``path`` only if the body succeeds. Until then an existing file is unchanged.

    The bytes are written to a temporary file in the same directory and flushed to disk; then the file is renamed.
    Any exception, including Ctrl-C, removes the temporary file. A replaced file keeps its mode and, if the system
    allows it, its owner and group. A new file gets the mode that the umask allows. Links are followed.

    Raises OSError, with ``path`` as its filename, if no regular file can be written there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/greeting") as file:
    ...         size = file.write(b"hello")
    ...     Path(folder, "greeting").read_text()
    'hello'
    """
    with named(path):
        target, old = _target(path)
        temporary = _temporary_for(target)
        try:
            with _writing_in(target.parent):
                file = open(temporary, "xb", opener=_open_private if old else None)  # noqa: SIM115
            with file:
                if old is not None:
                    _copy_mode_and_owner(temporary, old)
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        _flush_directory(target.parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8 with `replacing`."""
    with replacing(path) as file:
        file.write(text.encode())


def partial_of(output: str | os.PathLike[str]) -> str:
    """The path beside ``output`` for what an interrupted command has reached.

    >>> partial_of("address.corate")
    'address.corate.partial'
    """
    return f"{os.fspath(output)}.partial"


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError if no regular file can be written at ``path``. Call this before long work."""
    with named(path):
        trial = _temporary_for(_target(path)[0])
        try:
            with _writing_in(trial.parent):
                trial.touch(exist_ok=False)
        finally:
            trial.unlink(missing_ok=True)


def descriptor_of(path: str | os.PathLike[str]) -> int | None:
    """The number of the open file that a path such as ``/dev/stdout`` or ``/dev/fd/3`` names; None for other paths.

    Such a path must not be opened again to write: that would replace the file that it is connected to.
    """
    path = os.fspath(path)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(path)
        if name.isdecimal() and os.path.realpath(folder) in ("/dev/fd", f"/proc/{os.getpid()}/fd"):
            return int(name)
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


@contextmanager
def _writing_in(folder: Path) -> Iterator[None]:
    """Let an OSError say that nothing can be written in the folder."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot write in {folder} ({error.strerror})") from None


def _target(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """The file to write, with links resolved, and its status if it exists. Only a regular file is ever replaced."""
    if descriptor_of(path) is not None:
        raise OSError(errno.EINVAL, "this is a stream, which is not replaced; name a file")
    target = Path(os.path.realpath(path))
    try:
        old = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not target.parent.is_dir():
            raise OSError(errno.ENOENT, f"there is no directory {target.parent}; create it first") from None
        return target, None
    if stat.S_ISDIR(old.st_mode):
        raise OSError(errno.EISDIR, "this is a directory; name a file in it")
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "this is not a regular file; name one")
    if not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "the file exists and is not writable")
    return target, old


def _temporary_for(target: Path) -> Path:
    return target.with_name(f".corate-{os.urandom(8).hex()}.tmp")


def _open_private(path: str, flags: int) -> int:
    """Open a file that only its owner can read, until it gets the mode of the file that it replaces."""
    return os.open(path, flags, 0o600)


def _copy_mode_and_owner(path: Path, old: os.stat_result) -> None:
    if hasattr(os, "chown"):
        new = path.stat()
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with suppress(OSError):
                os.chown(path, old.st_uid if new.st_uid != old.st_uid else -1, old.st_gid)
    os.chmod(path, stat.S_IMODE(old.st_mode))


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Set the path as the filename of an OSError that has none (a full disk) or that names the temporary file."""
    try:
        yield
    except OSError as error:
        ours = isinstance(error.filename, str | os.PathLike) and Path(error.filename).name.startswith(".corate-")
        if (error.filename is None or ours) and not isinstance(error, BrokenPipeError):
            error.filename, error.filename2 = os.fspath(path), None
        raise


def _flush_directory(directory: Path) -> None:
    """Make the new name survive a power failure, if the system supports it (Windows cannot open a directory)."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def buffered(descriptor: int, name: str) -> io.BufferedWriter:
    """A stream that writes every byte to an open descriptor, or raises OSError with ``name`` as its filename.

    Python's own streams lose bytes without an error if they are unbuffered, and fail if the descriptor does not block.
    This one waits until the descriptor takes more. The descriptor stays open when the stream is closed.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     with buffered(file.fileno(), "a file") as stream:
    ...         size = stream.write(b"hello")
    ...     _ = file.seek(0)
    ...     file.read()
    b'hello'
    """
    with named(name):
        os.fstat(descriptor)
    return io.BufferedWriter(_Descriptor(descriptor, name))


class _Descriptor(io.FileIO):
    """An open descriptor. A write may be short, but writes at least one byte."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self.name = name

    def write(self, data: Any) -> int:
        with named(self.name):
            while (written := self._write(data)) is None:
                import select

                select.select((), (self,), ())
        return written

    def _write(self, data: Any) -> int | None:
        """The number of bytes written; None if the descriptor takes none now."""
        return super().write(data)
