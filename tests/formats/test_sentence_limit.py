"""A sentence that is too long is refused while it is read, with its first line, whatever the blocks of the text."""

import gzip
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate.errors import DataError
from corate.formats import read_pieces, sentence_limit
from corate.formats.sentence_limit import limited

#: Text of three sentences, the second of which, of three tokens, begins at the given line.
TEXTS = {
    "columns": (b"a X\n \t\r\nb X\nc Y\nd Z\n\r\ne X\n", 3),
    "conllu": (
        b"# one\n1\ta"
        + b"\t_" * 8
        + b"\n\n# two\n"
        + b"".join(b"%d\tb%b\n" % (i, b"\t_" * 8) for i in (1, 2, 3))
        + b"\n",
        4,
    ),
    "items": (b"X\ta\n\nX\tb\n\t\nY\td\n \nX\te\n", 3),
    "slashed": (b"a/X\nb/X  c/Y\td/Z\ne/X", 2),
    "text": (b"a a\n b b\tb \r\nc", 2),
    "raw": (b"a\nb b.\nc", 2),
    "jsonl": (b'{"tokens": ["a"]}\n\n["b", "b", "b"]\n', 3),
}
formats = pytest.mark.parametrize("format", TEXTS)


def read(data, format, most):
    labelled = format in ("columns", "slashed")
    return corate.read(data, format=format, labelled=labelled, max_sentence=most)


@formats
def test_the_limit_is_exact_and_names_the_first_line(format):
    text, line = TEXTS[format]
    if format == "jsonl":
        text = text.replace(b'{"tokens": ["a"]}', b'["a"]')
    assert read(text, format, 3).n_tokens >= 4
    with pytest.raises(
        DataError, match=rf"^the given bytes, line {line}: a sentence of more than 2 tokens; .*max_sentence="
    ):
        read(text, format, 2)


def test_tasks_of_label_studio_are_limited():
    task = b'[{"id": 7, "data": {"text": "a b c"}, "annotations": [{"result": []}]}]'
    assert corate.read(task, max_sentence=3).n_tokens == 3
    with pytest.raises(DataError, match=r"task 7: a sentence of more than 2 tokens"):
        corate.read(task, max_sentence=2)


def test_texts_of_label_studio_are_limited_in_bytes(monkeypatch):
    monkeypatch.setattr(sentence_limit, "MOST_BYTES", 100)
    task = b'[{"id": 7,\n"data": {"text": "%b"}, "annotations": []}]'
    for size in (60, 101):
        data = task % (b"b" * size)
        for width in (1, 30, 1000):
            blocks = [data[start : start + width] for start in range(0, len(data), width)]
            if size <= 100 or width == 1000:  # texts within a block are short in comparison
                assert list(limited(blocks, "x", "labelstudio")) == blocks
            else:
                with pytest.raises(DataError, match=r"^x, line 2: a text of more than 0 MB; "):
                    list(limited(blocks, "x", "labelstudio"))
                assert list(limited(blocks, "x", "labelstudio", most=2_000_000)) == blocks


@pytest.mark.parametrize("format", ["raw", "labelstudio"])
def test_no_more_tokens_are_made_than_the_limit(format):
    made = []

    def split(text):
        for i in range(len(text)):
            made.append(i)
            yield text[i]

    text = "a" * 1000
    if format == "labelstudio":
        text = json.dumps([{"data": {"text": text}, "annotations": [{"result": []}]}])
    with pytest.raises(DataError, match="a sentence of more than 20 tokens"):
        corate.read(text.encode(), format=format, labelled=format != "raw", tokenize=split, max_sentence=20)
    assert len(made) == 21


def first_too_long(text, format, most):
    """The first line of the first sentence with too many tokens, by the definition of the format; None if all fit."""
    start, rows = 1, 0
    for number, line in enumerate(text.split(b"\n"), 1):
        if format == "text":
            start, rows = number, len(line.split())
        elif not line.strip():
            start, rows = number + 1, 0
        else:
            rows += not line.startswith(b"#")
        if rows > most and not (format == "text" and line.startswith(b"#")):
            return start
    return None


@given(
    lines=st.lists(st.sampled_from([b"", b"\r", b" \t", b"a", b"a b", b"# c", b"a b c d e", b"#"]), max_size=30),
    most=st.integers(1, 4),
    format=st.sampled_from(["columns", "text"]),
    data=st.data(),
)
def test_blocks_and_windows_of_any_size(lines, most, format, data):
    text = b"\n".join(lines) + data.draw(st.sampled_from([b"", b"\n"]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    blocks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    expected = first_too_long(text, format, most)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sentence_limit, "_WINDOW", data.draw(st.integers(1, 20)))
        passed = limited(blocks, "x", format, most, comment="#")
        if expected is None:
            assert list(passed) == blocks
        else:
            with pytest.raises(DataError, match=rf"^x, line {expected}: "):
                list(passed)


@formats
def test_the_bytes_of_a_sentence_are_limited(format, monkeypatch):
    monkeypatch.setattr(sentence_limit, "MOST_BYTES", 100_000)
    blocks = [b"a/a X\n\n", *[b"b" * 50_000] * 5]
    with pytest.raises(DataError, match=r"^x, line 3: a sentence of more than 0 MB; "):
        list(limited(blocks, "x", format))
    assert list(limited(blocks, "x", format, most=3_000_000)) == blocks


@pytest.mark.parametrize("most", [0, True, "9", None])
def test_wrong_limits(most):
    with pytest.raises(DataError, match="max_sentence must be a whole number, 1 or more"):
        corate.read(b"a X\n", max_sentence=most)


def test_pieces_name_the_line_of_the_file(tmp_path):
    path = tmp_path / "big.tsv"
    path.write_bytes(b"a\tX\n\n" * 10 + b"a\tX\n" * 6)
    with pytest.raises(DataError, match=r"big\.tsv, line 21: a sentence of more than 5 tokens"):
        list(read_pieces(str(path), max_sentence=5))


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    """A small file with 400 MB of text in one sentence, after a short one."""
    path = tmp_path_factory.mktemp("bomb") / "bomb.tsv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a\tX\n\n")
        for _ in range(100):
            file.write(b"a\tX\n" * 1_000_000)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.corate"
    corate.train(corate.read(b"a\tX\nb\tY\n\n" * 5), "empirical").save(path)
    return path


@pytest.mark.parametrize("command", ["train", "stored", "eval", "tag", "inspect", "active"])
def test_a_small_compressed_file_cannot_fill_the_memory(command, bomb, model, tmp_path):
    out = str(tmp_path / "out")
    arguments = {
        "train": ["train", bomb, "-o", out],
        "stored": ["train", bomb, "-o", out, "--memory", "300M"],
        "eval": ["eval", model, bomb],
        "tag": ["tag", model, bomb],
        "inspect": ["inspect", model, bomb, "-o", out + ".html"],
        "active": ["active", model, bomb],
    }
    own = 600 << 20  # of the program and its libraries, far less than the text and its tokens take

    resource = pytest.importorskip("resource", reason="limits of memory are POSIX's")

    def limit_memory():
        resource.setrlimit(resource.RLIMIT_DATA, (own, own))

    program = [sys.executable, "-m", "corate.cli", *map(str, arguments[command])]
    ended = subprocess.run(program, capture_output=True, text=True, preexec_fn=limit_memory, check=False)
    assert ended.returncode == 1
    assert f"{bomb}, line 3: a sentence of more than 1,000,000 tokens" in ended.stderr
    assert "--max-sentence" in ended.stderr
