from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from corate.corpus import StringTable
from corate.errors import ModelError
from corate.io import tensor_file

DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]
SMALL = {"weights": np.array([[1.5, -2.0]], dtype=np.float32), "ids": np.array([3, 4, 5], dtype=np.uint8)}

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(lambda name: name != "__metadata__")
arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def by_hand(
    entries: dict[str, Any] | str, data: bytes, header: Any = "{}", version: str = "1", format: str = "corate"
) -> bytes:
    """A file with a right hash and whatever is asked for within, laid out independently of the writer."""
    metadata = {"format": format, "format_version": version, "sha256": "0" * 64, "header": header}
    if isinstance(entries, dict):
        text = json.dumps({"__metadata__": metadata, **entries}, separators=(",", ":"))
    else:
        text = json.dumps({"__metadata__": metadata}, separators=(",", ":"))[:-1] + entries
    raw = text.encode()
    raw += b" " * (-len(raw) % 8)
    file = len(raw).to_bytes(8, "little") + raw + data
    return file.replace(b"0" * 64, hashlib.sha256(file).hexdigest().encode(), 1)


def entry(dtype: Any, shape: Any, *offsets: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": list(offsets)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    tensor_file.write(tmp_path / "model", SMALL, {"method": "empirical"})
    return tmp_path / "model"


def assert_small(path: Path) -> None:
    tensors, header = tensor_file.read(path)
    assert header == {"method": "empirical"}
    assert {name: t.tolist() for name, t in tensors.items()} == {name: t.tolist() for name, t in SMALL.items()}


# -- what is written comes back ----------------------------------------------------------------------------------------


@given(st.dictionaries(names, arrays, max_size=4), st.dictionaries(st.text(max_size=5), json_values, max_size=4))
@settings(deadline=None)
def test_any_tensors_and_header_come_back(folder: Path, tensors: dict[str, Any], header: dict[str, Any]) -> None:
    size = tensor_file.write(folder / "any", tensors, header)
    assert size == (folder / "any").stat().st_size
    read, read_header = tensor_file.read(folder / "any")
    assert read_header == header
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert (read[name].dtype, read[name].shape) == (tensor.dtype, tensor.shape)
        assert read[name].tobytes() == tensor.tobytes()
        assert read[name].flags.aligned


@given(st.dictionaries(names, arrays, max_size=4))
@settings(deadline=None)
def test_any_safetensors_reader_opens_the_file(folder: Path, tensors: dict[str, Any]) -> None:
    tensor_file.write(folder / "peer", tensors, {"key": "é"})
    read = safetensors.numpy.load((folder / "peer").read_bytes())
    assert {name: (t.dtype, t.shape, t.tobytes()) for name, t in read.items()} == {
        name: (t.dtype, t.shape, t.tobytes()) for name, t in tensors.items()
    }
    with safetensors.safe_open(folder / "peer", "numpy") as file:
        assert file.metadata()["format"] == "corate"
        assert json.loads(file.metadata()["header"]) == {"key": "é"}


def test_the_layout_of_version_1_stays(saved: Path) -> None:
    data = SMALL["weights"].tobytes() + SMALL["ids"].tobytes()
    entries = {"weights": entry("F32", [1, 2], 0, 8), "ids": entry("U8", [3], 8, 11)}
    assert saved.read_bytes() == by_hand(entries, data, '{"method":"empirical"}')


def test_equal_content_gives_equal_files(tmp_path: Path) -> None:
    tensor_file.write(tmp_path / "a", SMALL, {})
    tensor_file.write(tmp_path / "b", dict(reversed(SMALL.items())), {})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_strided_and_big_endian_tensors_are_stored_by_value(tmp_path: Path) -> None:
    square = np.arange(9, dtype=np.int32).reshape(3, 3)
    tensor_file.write(tmp_path / "m", {"t": square.T, "b": square.astype(">i4"), "s": square[:, 1]}, {})
    tensors, _ = tensor_file.read(tmp_path / "m")
    assert np.array_equal(tensors["t"], square.T)
    assert np.array_equal(tensors["b"], square)
    assert np.array_equal(tensors["s"], square[:, 1])


def test_tensors_are_read_only_and_outlive_the_path(saved: Path) -> None:
    tensors, _ = tensor_file.read(saved)
    weights = tensors.pop("weights")
    del tensors
    saved.unlink()
    assert weights.tolist() == [[1.5, -2.0]]
    with pytest.raises(ValueError, match="read-only"):
        weights[0, 0] = 1.0


@pytest.mark.skipif(os.name == "nt", reason="files are read into memory on Windows")
@pytest.mark.parametrize("mmap", [False, True])
def test_reading_copies_no_tensor(saved: Path, mmap: bool) -> None:
    tensors, _ = tensor_file.read(saved, mmap=mmap)
    assert len({id(_root(t)) for t in tensors.values()}) == 1
    assert (type(_root(tensors["ids"])).__name__ == "mmap") == mmap


def test_a_file_overwritten_in_place_changes_no_tensor(saved: Path) -> None:
    tensors, _ = tensor_file.read(saved)
    with saved.open("r+b") as file:
        file.write(bytes(saved.stat().st_size))
    assert tensors["weights"].tolist() == [[1.5, -2.0]]


def _root(array: Any) -> Any:
    while (below := getattr(array, "obj", getattr(array, "base", None))) is not None:
        array = below
    return array


def test_a_read_model_is_not_disturbed_by_saving_another_in_its_place(saved: Path) -> None:
    tensors, _ = tensor_file.read(saved)
    tensor_file.write(saved, {"weights": np.zeros(100_000)}, {})
    assert tensors["weights"].tolist() == [[1.5, -2.0]]


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [0x01, 0x02, 0x10, 0x20, 0x80, 0xFF])
def test_every_flipped_byte_is_noticed(saved: Path, mask: int) -> None:
    content = bytearray(saved.read_bytes())
    for at in range(len(content)):
        content[at] ^= mask
        saved.write_bytes(content)
        with pytest.raises(ModelError, match="model"):
            tensor_file.read(saved)
        content[at] ^= mask
    saved.write_bytes(content)
    assert_small(saved)


def test_every_truncation_is_noticed(saved: Path) -> None:
    content = saved.read_bytes()
    for length in range(len(content)):
        saved.write_bytes(content[:length])
        with pytest.raises(ModelError, match="model"):
            tensor_file.read(saved)
        with pytest.raises(ModelError, match="model"):
            tensor_file.read(saved, verify=False)


@pytest.mark.parametrize("extra", [b"\0", b" ", b"\n", b"x" * 1000])
@pytest.mark.parametrize("verify", [True, False])
def test_appended_bytes_are_noticed(saved: Path, extra: bytes, verify: bool) -> None:
    saved.write_bytes(saved.read_bytes() + extra)
    with pytest.raises(ModelError, match="model"):
        tensor_file.read(saved, verify=verify)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=6), st.booleans())
@settings(deadline=None, max_examples=300)
def test_bytes_changed_at_random_never_crash(folder: Path, changes: list[tuple[int, int]], verify: bool) -> None:
    path = folder / "random"
    size = tensor_file.write(path, SMALL, {"method": "empirical"})
    original = path.read_bytes()
    content = bytearray(original)
    for at, value in changes:
        content[at % size] = value
    path.write_bytes(content)
    if bytes(content) == original:
        assert_small(path)
    elif verify:
        with pytest.raises(ModelError):
            tensor_file.read(path)
    else:
        try:
            tensors, _ = tensor_file.read(path, verify=False)
        except ModelError:
            return
        assert sum(t.nbytes for t in tensors.values()) == 11


@pytest.mark.parametrize(
    ("entries", "data"),
    [
        ({"a": entry("F32", [2], 0, 16)}, b"x" * 8),  # past the end
        ({"a": entry("F32", [2], 0, 8)}, b"x" * 16),  # bytes left over
        ({"a": entry("F32", [3], 0, 8)}, b"x" * 8),  # shape and offsets disagree
        ({"a": entry("U8", [4], 4, 8)}, b"x" * 8),  # a gap before
        ({"a": entry("U8", [4], 0, 4), "b": entry("U8", [6], 2, 8)}, b"x" * 8),  # overlap
        ({"a": entry("U8", [8], 0, 8), "b": entry("U8", [8], 0, 8)}, b"x" * 8),  # the same bytes twice
        ({"a": entry("U8", [4], 8, 4)}, b"x" * 8),  # backwards
        ({"a": entry("U8", [-8], 0, -8)}, b"x" * 8),
        ({"a": entry("U8", [-1, -8], 0, 8)}, b"x" * 8),
        ({"a": entry("U8", [8.0], 0, 8)}, b"x" * 8),
        ({"a": entry("U8", [True], 0, 1)}, b"x"),
        ({"a": entry("U8", 8, 0, 8)}, b"x" * 8),
        ({"a": entry("U8", "8", 0, 8)}, b"x" * 8),
        ({"a": entry("U8", [0, 2**70], 0, 0)}, b""),
        ({"a": entry("U8", [0, 2**62, 2**62], 0, 0)}, b""),
        ({"a": entry("U8", [1] * 1000, 0, 1)}, b"x"),
        ({"a": entry("U8", [2**62] * 100_000, 0, 1)}, b"x"),
        ({"a": entry("U8", [1], 0, 1), "b": entry("F64", [1], 1, 9)}, b"x" * 9),  # not aligned
        ({"a": entry("BF16", [4], 0, 8)}, b"x" * 8),
        ({"a": entry("O", [1], 0, 8)}, b"x" * 8),
        ({"a": entry(["F32"], [1], 0, 4)}, b"x" * 4),
        ({"a": entry("U8", [8], 0)}, b"x" * 8),
        ({"a": entry("U8", [8], "0", "8")}, b"x" * 8),
        ({"a": {"dtype": "U8"}}, b""),
        ({"a": 3}, b""),
        ({"a": None}, b""),
        (2 * ',"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' + "}", b""),  # a name twice
        (',"__metadata__":{"header":"{}"}}', b""),
        (',"a":' + "[" * 200_000, b""),
        (',"a":' + "9" * 10_000 + "}", b""),
        ("}}}", b""),
        ("", b""),
        ("\0}", b""),
    ],
)  # fmt: skip
def test_a_malicious_file_with_a_right_hash_is_refused(tmp_path: Path, entries: Any, data: bytes) -> None:
    (tmp_path / "model").write_bytes(by_hand(entries, data))
    with pytest.raises(ModelError, match="the model cannot be used"):
        tensor_file.read(tmp_path / "model")


@pytest.mark.parametrize("header", ["", "{", "[]", "3", "null", "[" * 200_000, '{"a":1,"a":2}'])
def test_a_header_that_is_no_json_object_is_refused(tmp_path: Path, header: str) -> None:
    (tmp_path / "model").write_bytes(by_hand({}, b"", header))
    with pytest.raises(ModelError, match="header"):
        tensor_file.read(tmp_path / "model")


def test_a_header_length_that_would_shift_the_tensors_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for length in (0, 2**63, 2**64 - 1, len(content), int.from_bytes(content[:8], "little") - 1):
        saved.write_bytes(length.to_bytes(8, "little") + content[8:])
        with pytest.raises(ModelError, match=r"damaged|cannot be used"):
            tensor_file.read(saved, verify=False)


def test_a_newer_format_says_to_upgrade(tmp_path: Path) -> None:
    newer = tensor_file.FORMAT_VERSION + 1
    (tmp_path / "model").write_bytes(by_hand({"a": "unheard of"}, b"", version=str(newer)))
    with pytest.raises(ModelError, match=rf"model: .* format version {newer}, .* upgrade corate"):
        tensor_file.read(tmp_path / "model")


# -- files that are no models ------------------------------------------------------------------------------------------


def foreign(tmp_path: Path, kind: str) -> Path:
    path = tmp_path / "foreign"
    if kind == "an empty file":
        path.write_bytes(b"")
    elif kind == "a text file":
        path.write_text("Dit is geen model, maar een café\n" * 30, encoding="utf-8")
    elif kind == "a Python pickle":
        path.write_bytes(pickle.dumps({"weights": [1.0]}))
    elif kind == "a zip archive":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("weights", "1")
    elif kind == "another program wrote":
        safetensors.numpy.save_file({"a": np.zeros(3)}, path, {"format": "pt"})
    elif kind == "a directory":
        path.mkdir()
    elif kind == "a binary file":
        path.write_bytes(bytes(range(3, 255)) * 4)
    return path


@pytest.mark.parametrize(
    "kind",
    [
        "an empty file", "a text file", "a Python pickle", "a zip archive", "another program wrote", "a directory",
        "a binary file", "no such file",
    ],
)  # fmt: skip
def test_foreign_files_are_named_for_what_they_are(tmp_path: Path, kind: str) -> None:
    path = foreign(tmp_path, kind)
    with pytest.raises(ModelError, match=kind) as caught:
        tensor_file.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="not a regular file"):
        tensor_file.read(tmp_path / "pipe")
    with pytest.raises(ModelError, match="not a regular file"):
        tensor_file.write(tmp_path / "pipe", SMALL, {})


def test_a_path_with_a_nul_is_refused() -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        tensor_file.read("a\0b")
    with pytest.raises(ModelError, match="cannot be written"):
        tensor_file.write("a\0b", SMALL, {})


# -- writing is whole or not at all ------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space"), PermissionError(errno.EACCES, "No right"), KeyboardInterrupt()]
)
def test_a_failed_save_leaves_the_old_model_and_nothing_else(
    saved: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    def fail(*_: Any) -> None:
        raise failure

    monkeypatch.setattr(os, step, fail)
    expected = ModelError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        tensor_file.write(saved, {"weights": np.ones(1000)}, {"method": "other"})
    monkeypatch.undo()
    if isinstance(failure, OSError):
        assert str(saved) in str(caught.value)
        assert failure.strerror in str(caught.value)
    assert_small(saved)
    assert [p.name for p in saved.parent.iterdir()] == ["model"]


def test_a_directory_or_a_missing_folder_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="directory; name a file"):
        tensor_file.write(tmp_path, SMALL, {})
    with pytest.raises(ModelError, match="cannot be written"):
        tensor_file.write(tmp_path / "missing" / "model", SMALL, {})
    (tmp_path / "file").write_text("text")
    with pytest.raises(ModelError, match="cannot be written"):
        tensor_file.write(tmp_path / "file" / "model", SMALL, {})
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_an_unwritable_folder_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ModelError, match="cannot be written"):
            tensor_file.write(tmp_path / "model", SMALL, {})
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(os.name == "nt", reason="devices have other names on Windows")
def test_a_device_is_never_replaced() -> None:
    with pytest.raises(ModelError, match="not a regular file"):
        tensor_file.write("/dev/null", SMALL, {})
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_keeps_pointing_to_the_model(saved: Path) -> None:
    link = saved.with_name("latest")
    link.symlink_to(saved.name)
    tensor_file.write(link, {}, {"method": "new"})
    assert link.is_symlink()
    assert tensor_file.read(saved)[1] == {"method": "new"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_new_model_is_as_readable_as_any_new_file(saved: Path) -> None:
    (saved.parent / "other").write_bytes(b"")
    assert saved.stat().st_mode == (saved.parent / "other").stat().st_mode


@pytest.mark.parametrize(
    "header", [{"a": float("nan")}, {"a": {1: 2}}, {"a": object()}, {"a": {1, 2}}, {"a": np.float32(1)}]
)
def test_a_header_that_json_would_change_is_refused(tmp_path: Path, header: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="JSON"):
        tensor_file.write(tmp_path / "model", {}, header)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("tensor", [np.array(["a"]), np.array([None]), np.array([True]), np.array([1j])])
def test_other_dtypes_are_refused(tmp_path: Path, tensor: Any) -> None:
    with pytest.raises(ModelError, match=r"tensor 'a' has the dtype"):
        tensor_file.write(tmp_path / "model", {"a": tensor}, {})


@pytest.mark.parametrize("name", ["__metadata__", "\ud800"])
def test_names_the_format_cannot_hold_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="name"):
        tensor_file.write(tmp_path / "model", {name: np.zeros(1)}, {})


# -- string tables and narrow integers ---------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), unique=True, max_size=20))
@settings(deadline=None)
def test_string_tables_come_back_and_still_find(folder: Path, strings: list[str]) -> None:
    table, ids = StringTable.intern(strings)
    tensor_file.write(folder / "table", tensor_file.pack_table("words", table), {})
    read = tensor_file.unpack_table("words", tensor_file.read(folder / "table")[0])
    assert read.to_list() == strings
    assert read.find(table).tolist() == ids.tolist()
    narrowed = tensor_file.pack_table("words", table)
    narrowed["words.offsets"] = tensor_file.narrow(table.offsets)
    assert tensor_file.unpack_table("words", narrowed).to_list() == strings


@pytest.mark.parametrize(
    ("data", "offsets"),
    [
        (b"abc", [0, 2]), (b"abc", [1, 3]), (b"abc", [0, 4]), (b"abc", [0, 3, 2, 3]), (b"abc", []),
        (b"abc", [0, -1, 3]), ("é".encode(), [0, 1, 2]), (b"\xff", [0, 1]), (b"abc", [[0, 3]]), (b"abc", [0.0, 3.0]),
        (b"abc", np.array([0, 2**64 - 1, 3], dtype=np.uint64)),
    ],
)  # fmt: skip
def test_a_string_table_that_does_not_fit_is_refused(data: bytes, offsets: Any) -> None:
    tensors = {"t.data": np.frombuffer(data, dtype=np.uint8), "t.offsets": np.asarray(offsets)}
    with pytest.raises(ModelError, match="string table 't'"):
        tensor_file.unpack_table("t", tensors)


def test_a_missing_string_table_is_named() -> None:
    with pytest.raises(ModelError, match=r"'t\.data'"):
        tensor_file.unpack_table("t", {})


@given(hnp.arrays(np.uint64, st.integers(0, 5), elements=st.integers(0, 2**64 - 1)))
def test_narrow_holds_the_same_numbers_in_the_fewest_bytes(array: Any) -> None:
    narrowed = tensor_file.narrow(array)
    assert narrowed.tolist() == array.tolist()
    assert narrowed.dtype == np.min_scalar_type(max(array.tolist(), default=0))


@pytest.mark.parametrize("array", [np.array([-1]), np.array([0.5]), np.array([True])])
def test_narrow_refuses_what_is_not_a_nonnegative_integer(array: Any) -> None:
    with pytest.raises(ModelError, match="narrow"):
        tensor_file.narrow(array)
