"""The layout of CRFsuite's model files: the bytes that CRFsuite writes, every name found, and damaged files refused."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corate
from corate.corpus import StringTable
from corate.errors import CorateError, ModelError
from corate.model.crfsuite import cqdb
from corate.model.crfsuite import file as crfsuite_file
from corate.model.crfsuite.file import CrfsuiteModel, Weights
from reference.crfsuite import chunk_places, damaged, find, lookup3

ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]
#: Names that C programs, text formats and hashes handle differently.
ODD_NAMES = ["", "a", "a\nb", "a\tb", "w=x:y", "été", "汉字", "🙂", "x" * 11, "x" * 12, "x" * 13, "x" * 4000, "\\", " "]


def table(names: list[str]) -> StringTable:
    return StringTable.intern(names)[0]


def random_model(rng: np.random.Generator, n_labels: int, n_attributes: int) -> CrfsuiteModel:
    """A model with about half of all possible weights, and at least one for each attribute."""

    def weights(n_sources: int, *, all_used: bool) -> Weights:
        taken = rng.random((n_sources, n_labels)) < 0.5
        if all_used:
            taken[np.arange(n_sources), rng.integers(n_labels, size=n_sources)] = True
        sources, labels = np.nonzero(taken)
        return Weights(sources, labels, rng.normal(scale=2.0, size=len(labels)))

    odd = [f"{name}{i // len(ODD_NAMES) or ''}" for i, name in enumerate(ODD_NAMES * (1 + n_attributes // 10))]
    return CrfsuiteModel(
        table([f"L{i}" for i in range(n_labels)]),
        table(list(dict.fromkeys(odd))[:n_attributes]),
        weights(n_attributes, all_used=True),
        weights(n_labels, all_used=False),
    )


def bytes_of(model: CrfsuiteModel) -> bytes:
    return b"".join(block.tobytes() for block in crfsuite_file.encode(model))


def read(data: bytes) -> CrfsuiteModel:
    return crfsuite_file.decode(np.frombuffer(data, np.uint8))


def trained(path: Path, algorithm: str = "lbfgs", **parameters: Any) -> bytes:
    """The file that CRFsuite writes after training on random items."""
    rng = Random(1)
    trainer = pycrfsuite.Trainer(algorithm, {"max_iterations": 10, **parameters}, verbose=False)
    for _ in range(40):
        words = [rng.choice("abcdefghij") for _ in range(rng.randrange(1, 8))]
        items = [
            {"w": w, "before": words[i - 1], "n": rng.random(), "odd\nname": w in "ace"} for i, w in enumerate(words)
        ]
        trainer.append(items, ["XYZ"[ord(w) % 3] for w in words])
    trainer.train(str(path))
    return path.read_bytes()


@pytest.fixture(scope="module")
def small() -> bytes:
    return bytes_of(random_model(np.random.default_rng(0), 3, 9))


# -- hashes --------------------------------------------------------------------------------------------------------


def test_the_hash_is_that_of_its_author() -> None:
    assert lookup3(b"") == 0xDEADBEEF
    assert lookup3(b"Four score and seven years ago") == 0x17770551


@given(st.lists(st.text(max_size=60), max_size=30, unique=True))
@settings(deadline=None)
def test_hashes_of_many_strings_are_those_of_each(names: list[str]) -> None:
    strings = table(names)
    assert cqdb.hash_strings(strings).tolist() == [lookup3(name.encode() + b"\0") for name in strings.to_list()]


@pytest.mark.parametrize("n", [0, 1, 2, 300, 5000])
def test_every_string_is_found_by_its_hash_and_no_other_is(n: int) -> None:
    names = [f"{name}{i or ''}" for i in range(n // len(ODD_NAMES) + 1) for name in ODD_NAMES][:n]
    chunk = cqdb.pack(table(names)).tobytes()
    assert [find(chunk, name.encode()) for name in names] == list(range(n))
    assert all(find(chunk, f"absent {i}".encode()) is None for i in range(200))


# -- round trips -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_bytes_are_those_that_crfsuite_writes(algorithm: str, tmp_path: Path) -> None:
    data = trained(tmp_path / "model", algorithm)
    assert bytes_of(read(data)) == data


def test_a_model_without_weights_is_written_as_crfsuite_does(tmp_path: Path) -> None:
    data = trained(tmp_path / "model", c1=1e6)
    assert len(read(data).attributes) == 0
    assert bytes_of(read(data)) == data


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_reads_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(rng, int(rng.integers(1, 9)), int(rng.integers(0, 60)))
    again = read(bytes_of(model))
    assert again.labels.to_list() == model.labels.to_list()
    assert again.attributes.to_list() == model.attributes.to_list()
    for a, b in ((again.states, model.states), (again.transitions, model.transitions)):
        assert (a.sources.tolist(), a.labels.tolist()) == (b.sources.tolist(), b.labels.tolist())
        assert a.weights.tobytes() == b.weights.tobytes()


def test_weights_in_any_order_are_read(small: bytes) -> None:
    """CRFsuite finds weights by their numbers, so another program may write them in another order."""
    model, features = read(small), chunk_places(small)[0] + 12
    n = len(model.states.weights) + len(model.transitions.weights)
    records = [small[features + 20 * i : features + 20 * (i + 1)] for i in range(n)]
    changed = bytearray(small)
    changed[features : features + 20 * n] = b"".join(reversed(records))
    for place in chunk_places(small)[3:]:
        rows = struct.unpack_from("<I", small, place + 8)[0]
        for at in struct.unpack_from(f"<{rows}I", small, place + 12):
            count = struct.unpack_from("<I", small, at)[0] if at else 0
            numbers = struct.unpack_from(f"<{count}I", small, at + 4)
            struct.pack_into(f"<{count}I", changed, at + 4, *(n - 1 - i for i in numbers))
    assert bytes_of(read(bytes(changed))) == small


def test_a_name_with_a_nul_cannot_be_written() -> None:
    with pytest.raises(ModelError, match="NUL"):
        cqdb.pack(table(["a\0b"]))


def test_a_model_beyond_4_gib_cannot_be_written() -> None:
    with pytest.raises(ModelError, match="4 GiB at most"):
        cqdb.check_size(2**32)


# -- damaged files ---------------------------------------------------------------------------------------------------


def put(at: int, number: int | float, form: str = "<I") -> Any:
    """Write a number at a place of the file."""

    def change(data: bytearray) -> None:
        struct.pack_into(form, data, at, number)

    return change


def in_chunk(chunk: int, at: int, number: int | float, form: str = "<I") -> Any:
    """Write a number at a place of one of the five chunks."""
    return lambda data: put(chunk_places(bytes(data))[chunk] + at, number, form)(data)


def in_record(at: int, number: int) -> Any:
    """Write a number into the record of the first attribute."""

    def change(data: bytearray) -> None:
        start = chunk_places(bytes(data))[2]
        (backward,) = struct.unpack_from("<I", data, start + 20)
        (record,) = struct.unpack_from("<I", data, start + backward)
        put(start + record + at, number, "<B")(data)

    return change


WRONG = {
    "size": (put(4, 99), "has .* bytes where its header says 99"),
    "kind": (put(8, 0), "the kind"),
    "version": (put(12, 101), "the version 101"),
    "fewer labels": (put(20, 2), "3 labels where its header says 2"),
    "more attributes": (put(24, 10), "9 attributes where its header says 10"),
    **{f"place of chunk {i}": (put(28 + 4 * i, 2**32 - 1), "starts at byte 4294967295") for i in range(5)},
    **{f"another place of chunk {i}": (put(28 + 4 * i, 49), "not the start of its part") for i in range(5)},
    **{f"size of chunk {i}": (in_chunk(i, 4, 2**32 - 1), "does not fit") for i in range(5)},
    **{f"small size of chunk {i}": (in_chunk(i, 4, 8), "does not fit") for i in range(5)},
    "number of weights": (in_chunk(0, 8, 2**32 - 1), "does not fit .* weights"),
    "kind of a weight": (in_chunk(0, 12, 2), "of an unknown kind"),
    "source of a weight": (in_chunk(0, 16, 9), "belongs to no attribute"),
    "label of a weight": (in_chunk(0, 20, 3), "belongs to no attribute or to no label"),
    "weight that is not a number": (in_chunk(0, 24, float("nan"), "<d"), "not finite"),
    "infinite weight": (in_chunk(0, 24, float("-inf"), "<d"), "not finite"),
    "byte order": (in_chunk(1, 12, 0x71534462), "byte order"),
    "number of strings": (in_chunk(2, 16, 2**32 - 1), "where its header says"),
    "place of the list of strings": (in_chunk(2, 20, 2**32 - 1), "outside of its part"),
    "id of a string": (in_record(0, 1), "not in order"),
    "length of a string": (in_record(7, 255), "lengths of its attributes do not fit"),
    "no length of a string": (in_record(4, 0), "do not fit|NUL"),
    "rows of LFRF": (in_chunk(3, 8, 3), "not 5"),
    "rows of AFRF": (in_chunk(4, 8, 2**32 - 1), "not 9"),
    "place of a row": (in_chunk(4, 12, 2**32 - 1), "outside of it"),
    "place of a row before the part": (in_chunk(4, 12, 4), "outside of it"),
    "no place of a row": (in_chunk(4, 12, 0), "do not fit"),
    "row of the end": (in_chunk(3, 12 + 4 * 3, 2**32 - 1), "outside of it"),
    "length of a row": (in_chunk(4, 12 + 4 * 9, 2**32 - 1), "do not fit"),
    "number of a weight": (in_chunk(4, 16 + 4 * 9, 2**32 - 1), "does not exist"),
    "number of another weight": (in_chunk(4, 16 + 4 * 9, 5), "other weights"),
}


@pytest.mark.parametrize("what", list(WRONG))
def test_a_wrong_number_is_refused_by_name(what: str, small: bytes) -> None:
    change, expected = WRONG[what]
    changed = bytearray(small)
    change(changed)
    assert bytes(changed) != small
    with pytest.raises(ModelError, match=expected):
        read(bytes(changed))


def test_no_beginning_of_a_file_is_a_model(small: bytes) -> None:
    for size in range(len(small)):
        with pytest.raises(ModelError):
            read(small[:size])
        if size >= 8:  # also with its own size in the header
            with pytest.raises(ModelError):
                read(small[:4] + struct.pack("<I", size) + small[8:size])


def test_equal_names_and_names_that_are_no_text_are_refused() -> None:
    model = random_model(np.random.default_rng(0), 2, 4)
    data = bytes_of(CrfsuiteModel(table(["aa", "bb"]), model.attributes, model.states, model.transitions))
    with pytest.raises(ModelError, match="two of its labels are equal"):
        read(data.replace(b"bb\0", b"aa\0"))
    with pytest.raises(ModelError, match="'labels' of the model is not UTF-8"):
        read(data.replace(b"bb\0", b"b\xff\0"))
    with pytest.raises(ModelError, match="first NUL"):
        read(data.replace(b"bb\0", b"b\0\0"))


def test_equal_attributes_are_refused_with_the_file(tmp_path: Path) -> None:
    model = random_model(np.random.default_rng(0), 2, 2)
    data = bytes_of(CrfsuiteModel(model.labels, table(["aa", "bb"]), model.states, model.transitions))
    (tmp_path / "m").write_bytes(data.replace(b"bb\0", b"aa\0"))
    with pytest.raises(ModelError, match=r"m: .*a name is given twice"):
        corate.load(tmp_path / "m")


def test_records_that_overlap_take_no_more_memory_than_the_file() -> None:
    """Long strings in each other would be large together."""
    n, names = 2000, [f"{i:07}" for i in range(2000)]
    chunk = bytearray(cqdb.pack(table(names)).tobytes())
    for i in range(n):
        at = struct.unpack_from("<I", chunk, len(chunk) - 4 * n + 4 * i)[0]
        struct.pack_into("<I", chunk, at + 4, len(chunk) - at - 8)
    with pytest.raises(ModelError, match="lengths"):
        cqdb.read(np.frombuffer(bytes(chunk), np.uint8), 0, n, "attributes")


def test_altered_files_are_refused_or_harmless(tmp_path: Path) -> None:
    originals = [trained(tmp_path / "model"), bytes_of(random_model(np.random.default_rng(3), 4, 30))]
    refused = used = 0
    for i in range(600):
        path = tmp_path / "altered"
        path.write_bytes(damaged(originals[i % 2], Random(i)))
        try:
            tagger = corate.load(path)
            tagger.tag_all([[["a", "w:b", "w=x:y"], {"w": "c", "n": 0.5}, []]])
            tagger.save(path, format="crfsuite")
            used += 1
        except CorateError:
            refused += 1
    assert refused > 300
    assert used > 20  # altered weights, names and hash tables
