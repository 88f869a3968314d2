"""The model file: named tensors and a JSON header in one safetensors file with a hash. It is safe to open any file.

Any safetensors reader opens the file. Its JSON header always begins with the same bytes,

    {"__metadata__":{"format":"corate","format_version":"1","sha256":"<64 digits>","header":"<JSON>"},...

so that the hash has a fixed place. It is the SHA-256 of the whole file with those digits replaced by zeros. It covers
every byte: lengths, names, dtypes, shapes, header, padding and tensors. Later versions of the format keep this
beginning. This module writes the bytes itself, because the safetensors package writes metadata in no fixed order and
copies tensors on reading. Here equal content gives equal files, and tensors are views of one buffer.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import mmap
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from corate.display import counted
from corate.errors import ModelError
from corate.io.atomic import replacing
from corate.strings import StringTable

__all__ = [
    "FORMAT_VERSION",
    "StreamedTensor",
    "content_of",
    "decode",
    "encode",
    "narrow",
    "pack_table",
    "read",
    "unpack_table",
    "unsigned_dtype",
    "write",
    "write_blocks",
]

#: The newest version that can be read. A model is written in the oldest version that can hold it.
FORMAT_VERSION = 4

Array = NDArray[Any]
Bytes = NDArray[np.uint8]

_DTYPES = {
    name: np.dtype(code)
    for name, code in {
        "U8": "<u1", "I8": "<i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4",
        "U64": "<u8", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
    }.items()
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)

_NO_HASH = "0" * 64
_BEGINNING = re.compile(
    rb'\{"__metadata__":\{"format":"corate","format_version":"([0-9]{1,9})","sha256":"([0-9a-f]{64})","header":"'
)
_LONGEST_BEGINNING = 256
_LONGEST_HEADER = 100_000_000  # bytes; safetensors readers refuse a longer one
_MOST_DIMENSIONS = 32  # of a tensor: the limit of NumPy 1
_REMEDY = "give the path of a model that corate saved"

_MAGIC = (
    (b"\x80", "a Python pickle"),
    (b"PK", "a zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array file"),
    (b"lCRF", "a CRFsuite model"),
)


@dataclass(frozen=True)
class StreamedTensor:
    """A vector that is not in memory as a whole. ``parts`` returns its parts in order, each time it is called."""

    dtype: np.dtype[Any]
    size: int
    parts: Callable[[], Iterable[Array]]
    ndim = 1

    @property
    def shape(self) -> tuple[int]:
        """The shape, as of an array."""
        return (self.size,)

    @property
    def nbytes(self) -> int:
        """The number of bytes, as of an array."""
        return self.size * self.dtype.itemsize

    def checked_parts(self, name: str) -> Iterator[Array]:
        """The parts in the dtype of the tensor. Raises ModelError if they do not have ``size`` numbers."""
        found = 0
        for part in self.parts():
            found += len(part)
            yield np.ascontiguousarray(part, dtype=self.dtype)
        if found != self.size:
            raise ModelError(f"the parts of tensor {name!r} have {counted(found, 'number')} and not {self.size}")


def write(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Array | StreamedTensor],
    header: Mapping[str, Any],
    version: int = 1,
) -> int:
    """Write a model file and return its size in bytes. ``version`` is the oldest that can hold the content.

    After a failure (no space, an interrupt) an old model is unchanged: see `corate.io.atomic.replacing`.

    Raises ModelError if the path cannot be written, the dtype of a tensor is not one of u8 to u64, i8 to i64 and
    f16 to f64, or the header is not JSON.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = write(f"{folder}/model", {"weights": np.arange(3, dtype=np.float32)}, {"method": "empirical"})
    ...     tensors, header = read(f"{folder}/model")
    >>> size % 4, tensors["weights"].tolist(), header
    (0, [0.0, 1.0, 2.0], {'method': 'empirical'})
    """
    return write_blocks(path, _blocks(tensors, header, version))


def write_blocks(path: str | os.PathLike[str], blocks: Iterable[bytes | memoryview]) -> int:
    """Write the blocks of a model file, all or nothing, and return its size in bytes. Raises ModelError."""
    written = 0
    try:
        with replacing(path) as file:
            for block in blocks:
                file.write(block)
                written += len(block)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ModelError(
            f"the model cannot be written ({why})", "the previous file, if any, is unchanged", file=os.fspath(path)
        ) from error
    return written


def encode(tensors: Mapping[str, Array], header: Mapping[str, Any], version: int = 1) -> list[bytes | memoryview]:
    """The bytes of a model file, in pieces. Raises ModelError as `write` does."""
    return [*_blocks(tensors, header, version)]


def _blocks(
    tensors: Mapping[str, Array | StreamedTensor], header: Mapping[str, Any], version: int
) -> Iterator[bytes | memoryview]:
    flat = {name: _little_endian(name, tensor) for name, tensor in tensors.items()}
    # Wide items first, so that every tensor is aligned with no gaps between them; then by name.
    names = sorted(flat, key=lambda name: (-flat[name].dtype.itemsize, name))
    beginning = _encode_header(flat, names, header, version)

    def content() -> Iterator[memoryview]:
        for name in names:
            tensor = flat[name]
            for part in (tensor,) if isinstance(tensor, np.ndarray) else tensor.checked_parts(name):
                yield part.reshape(-1).view(np.uint8).data

    digest = _digest(itertools.chain([beginning], content()))
    yield beginning.replace(_NO_HASH.encode(), digest.encode(), 1)
    yield from content()


def read(
    path: str | os.PathLike[str], *, verify: bool = True, mmap: bool = False
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Read a model file: its tensors, read-only, and its header.

    The file is read into memory. ``mmap=True`` maps it instead, so that several processes share its memory. Then the
    file must not change while any tensor is in use: a program that writes into it in place changes the tensors, and one
    that makes it shorter ends this process with a bus error (SIGBUS). Saving another model over it is safe, because
    that makes a new file. Windows cannot replace a mapped file, so there the file is always read into memory.

    ``verify=False`` skips the check of the hash, but not of lengths, dtypes, shapes and offsets.

    Raises ModelError for a missing file, a directory, a damaged file, a file that is not a model, or a newer format.
    """
    shown = os.fspath(path)
    return decode(content_of(shown, mmap), shown, verify=verify)


@dataclass(frozen=True)
class TensorFile:
    """A file of tensors that is read and written as a whole."""

    path: str | os.PathLike[str]

    @property
    def name(self) -> str:
        """The name for messages."""
        return os.fspath(self.path)

    def read(self) -> tuple[dict[str, Array], dict[str, Any]] | None:
        """The content as by `read`, None if there is no file."""
        return read(self.path) if os.path.exists(self.path) else None

    def write(self, tensors: Mapping[str, Array | StreamedTensor], header: Mapping[str, Any]) -> None:
        """Write the content as by `write`."""
        write(self.path, tensors, header)


def decode(content: Bytes, shown: str, *, verify: bool = True) -> tuple[dict[str, Array], dict[str, Any]]:
    """The tensors and the header of a model file from its bytes, checked as by `read`. ``shown`` is for messages."""
    version, hash_at, start = _check_beginning(shown, content)
    if verify and _digest_of(content, hash_at) != content[hash_at : hash_at + len(_NO_HASH)].tobytes().decode():
        raise ModelError(
            "the model is damaged: its content does not match its hash (an incomplete copy, or bytes were changed)",
            "copy it again, or train again",
            file=shown,
        )
    if version > FORMAT_VERSION:
        raise ModelError(
            f"the model has format version {version}, this version of corate reads versions up to {FORMAT_VERSION}",
            "upgrade corate",
            file=shown,
        )
    entries, header = _decode_header(shown, content[8:start].tobytes())
    return _views(shown, content[start:], entries), header


def pack_table(name: str, table: StringTable) -> dict[str, Array]:
    """The tensors of a string table: ``name.data`` (uint8) and ``name.offsets`` (int64).

    >>> {k: v.tolist() for k, v in pack_table("labels", StringTable.intern(["O", "B-X"])[0]).items()}
    {'labels.data': [79, 66, 45, 88], 'labels.offsets': [0, 1, 4]}
    """
    return {f"{name}.data": table.data, f"{name}.offsets": table.offsets}


def unpack_table(name: str, tensors: Mapping[str, Array]) -> StringTable:
    """The string table that `pack_table` packed under this name; offsets may have any integer dtype.

    Raises ModelError if tensors are missing, offsets do not fit the data, or a string is not UTF-8.

    >>> unpack_table("labels", pack_table("labels", StringTable.intern(["O", "B-X"])[0])).to_list()
    ['O', 'B-X']
    """
    try:
        data, offsets = tensors[f"{name}.data"], tensors[f"{name}.offsets"]
    except KeyError as missing:
        raise ModelError(f"the model has no tensor {missing}, which the string table {name!r} needs") from None
    if data.dtype != np.uint8 or data.ndim != 1 or offsets.dtype.kind not in "ui" or offsets.ndim != 1:
        raise ModelError(f"the string table {name!r} of the model has tensors of the wrong dtype or shape")
    ends = offsets.astype(np.int64, copy=False)
    if not len(ends) or ends[0] != 0 or ends[-1] != len(data) or np.any(ends[1:] < ends[:-1]):
        raise ModelError(
            f"the string table {name!r} of the model has offsets that do not fit its {counted(len(data), 'byte')}"
        )
    try:
        data.tobytes().decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"the string table {name!r} of the model is not UTF-8 at byte {error.start}") from None
    if np.any(data[ends[ends < len(data)]] & 0xC0 == 0x80):  # 10xxxxxx continues a character
        raise ModelError(f"the string table {name!r} of the model has an offset inside a character")
    return StringTable(data, ends)


def narrow(array: NDArray[np.integer[Any]]) -> NDArray[np.unsignedinteger[Any]]:
    """The array in the smallest unsigned dtype that can hold it. Raises ModelError for negative numbers.

    >>> narrow(np.array([0, 255])).dtype, narrow(np.array([0, 256])).dtype
    (dtype('uint8'), dtype('uint16'))
    """
    if array.dtype.kind not in "ui":
        raise ModelError(f"only integers can be narrowed, not {array.dtype}")
    if array.size and array.min() < 0:
        raise ModelError(f"only nonnegative integers can be narrowed, not {array.min()}")
    return array.astype(unsigned_dtype(int(array.max()) if array.size else 0))


def unsigned_dtype(largest: int) -> np.dtype[Any]:
    """The smallest unsigned dtype that can hold a number."""
    return np.dtype(next(d for d in _UNSIGNED if largest <= np.iinfo(d).max))


# -- writing ---------------------------------------------------------------------------------------------------------


def _little_endian(name: str, tensor: Array | StreamedTensor) -> Array | StreamedTensor:
    dtype = tensor.dtype.newbyteorder("<")
    if dtype not in _NAMES or tensor.ndim > _MOST_DIMENSIONS:
        allowed = ", ".join(str(d) for d in _NAMES)
        raise ModelError(
            f"tensor {name!r} has the dtype {tensor.dtype} and {tensor.ndim} dimensions; a model file can have "
            f"{allowed} in at most {_MOST_DIMENSIONS} dimensions"
        )
    return replace(tensor, dtype=dtype) if isinstance(tensor, StreamedTensor) else np.asarray(tensor, dtype, order="C")


def _encode_header(
    tensors: Mapping[str, Array | StreamedTensor], names: Iterable[str], header: Mapping[str, Any], version: int
) -> bytes:
    """The length and the padded JSON header of the file, with zeros in place of the hash."""
    entries: dict[str, Any] = {
        "__metadata__": {
            "format": "corate",
            "format_version": str(version),
            "sha256": _NO_HASH,
            "header": _header_json(header),
        }
    }
    stop = 0
    for name in names:
        if name == "__metadata__" or not _is_text(name):
            raise ModelError(f"a tensor cannot have the name {name!r}")
        tensor = tensors[name]
        start, stop = stop, stop + tensor.nbytes
        entries[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, stop],
        }
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _LONGEST_HEADER:
        raise ModelError(f"the header of the model has {len(text)} bytes, at most {_LONGEST_HEADER} are allowed")
    return len(text).to_bytes(8, "little") + text


def _header_json(header: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(dict(header), separators=(",", ":"), allow_nan=False)
        if json.loads(text) != _as_json(header):
            raise TypeError("keys must be strings")
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"the header of the model must be plain JSON: {error}") from error
    return text


def _as_json(value: Any) -> Any:
    """The value as JSON returns it: tuples become lists."""
    if isinstance(value, Mapping):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, (list, tuple)) else value


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _digest(blocks: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


# -- reading ---------------------------------------------------------------------------------------------------------


def content_of(path: str, mapped: bool) -> Bytes:
    """The bytes of a file, read-only. It is not mapped on Windows, which cannot replace a mapped file.

    Raises ModelError if there is no such file, or if it cannot be read.
    """
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):  # opening a pipe would block
            what = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
            raise ModelError(f"not a corate model: this is {what}", _REMEDY, file=path)
        with open(path, "rb") as file:
            if mapped and os.name != "nt" and os.fstat(file.fileno()).st_size > 0:
                content = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
            else:
                content = np.fromfile(file, dtype=np.uint8)
    except FileNotFoundError:
        raise ModelError("no such file", _REMEDY, file=path) from None
    except OSError as error:
        raise ModelError(f"the model cannot be read ({error.strerror or error})", file=path) from error
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path!r}: the model cannot be read ({error})") from error
    content.flags.writeable = False
    return content


def _check_beginning(path: str, content: Bytes) -> tuple[int, int, int]:
    """The format version, the place of the hash and the place of the first tensor byte."""
    first = content[:_LONGEST_BEGINNING].tobytes()
    match = _BEGINNING.match(first, 8)
    if match is None:
        raise ModelError(
            f"not a corate model: it looks like {_looks_like(first)}, or a badly damaged model", _REMEDY, file=path
        )
    start = 8 + int.from_bytes(first[:8], "little")
    if start > min(len(content), _LONGEST_HEADER + 8) or start % 8:
        raise ModelError(
            f"the model is damaged: its header ends at byte {start}, the file has {counted(len(content), 'byte')}",
            "copy it again, or train again",
            file=path,
        )
    return int(match[1]), match.start(2), start


def _looks_like(first: bytes) -> str:
    if not first:
        return "an empty file"
    for magic, name in _MAGIC:
        if first.startswith(magic):
            return name
    if first[8:9] == b"{" and int.from_bytes(first[:8], "little") <= _LONGEST_HEADER:
        return "a safetensors file that another program wrote"
    text = first.decode("utf-8", errors="ignore")
    if "\0" not in first.decode("latin-1") and len(text.encode()) >= len(first) - 3:  # a character may be cut
        return "a text file"
    return "a binary file of another kind"


def _digest_of(content: Bytes, hash_at: int) -> str:
    return _digest([content[:hash_at].data, _NO_HASH.encode(), content[hash_at + len(_NO_HASH) :].data])


def _refuse(path: str, why: str) -> NoReturn:
    raise ModelError(f"the model cannot be used: {why}", "copy it again, or train again", file=path)


def _decode_header(path: str, text: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensor entries and the header. Nothing in the JSON is trusted."""
    try:
        entries = json.loads(text.decode(), object_pairs_hook=_distinct)
        header = json.loads(entries.pop("__metadata__")["header"], object_pairs_hook=_distinct)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        _refuse(path, f"its header is not the JSON that was expected ({error})")
    if not isinstance(header, dict):
        _refuse(path, "its header is not a JSON object")
    return entries, header


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name occurs twice")
    return values


def _views(path: str, data: Bytes, entries: Mapping[str, Any]) -> dict[str, Array]:
    """A view of the data for every entry. The views must cover the data in order and without gaps."""
    tensors: dict[str, Array] = {}
    end = 0
    for name, entry in entries.items():
        try:
            dtype = _DTYPES[entry["dtype"]]
            shape, (start, stop) = entry["shape"], entry["data_offsets"]
        except (KeyError, TypeError, ValueError):
            _refuse(path, f"tensor {name!r} has an invalid description")
        if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS:
            _refuse(path, f"tensor {name!r} has no shape, or more than {_MOST_DIMENSIONS} dimensions")
        if any(type(size) is not int or not 0 <= size < 2**63 for size in (start, stop, *shape)):
            _refuse(path, f"tensor {name!r} has an invalid size or offset")
        if start != end or stop - start != math.prod(shape) * dtype.itemsize or stop > len(data):
            _refuse(path, f"tensor {name!r} does not fit its place in the file")
        if start % dtype.itemsize:
            _refuse(path, f"tensor {name!r} is not aligned")
        try:
            tensors[name] = data[start:stop].view(dtype).reshape(shape)
        except ValueError as error:
            _refuse(path, f"tensor {name!r} has the shape {shape} ({error})")
        end = stop
    if end != len(data):
        _refuse(path, f"no tensor has the last {counted(len(data) - end, 'byte')}")
    return tensors
