"""Damaged models, and models that are moved: one clear error, or the same labels."""

import os

import pytest

import corate as library
from command_line import one_line
from corate import ModelError
from small_corpora import TEXT


def test_every_flipped_byte(small, tmp_path):
    content = bytearray((small / "m.corate").read_bytes())
    path = tmp_path / "m"
    for place in range(len(content)):
        content[place] ^= 1 << place % 8
        path.write_bytes(content)
        with pytest.raises(ModelError, match="m: "):
            library.load(path)
        content[place] ^= 1 << place % 8
    path.write_bytes(content)
    assert library.load(path).tag(["the", "dog"]) == ["DET", "NOUN"]


def test_every_truncation(small, tmp_path):
    content = (small / "m.corate").read_bytes()
    path = tmp_path / "m"
    for length in [*range(0, len(content), 7), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ModelError, match="m: "):
            library.load(path)


@pytest.mark.parametrize("command", ["tag", "eval", "info", "update"])
def test_damage_is_one_line(corate, small, tmp_path, command):
    content = (small / "m.corate").read_bytes()
    path = tmp_path / "m"
    arguments = [] if command == "info" else [small / "train.tsv"]
    for damaged in (content[:-1], content[:1000], content[:-9] + b"?" + content[-8:], content + b"\n", b"", TEXT):
        path.write_bytes(damaged)
        result = corate(command, path, *arguments)
        assert one_line(result, str(path))
        assert result.out == b""
        assert path.read_bytes() == damaged


def test_a_model_works_wherever_it_is_moved(corate, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "animals.txt").write_text("dog\ncat\n")
    (tmp_path / "here" / "templates").write_text("word[0]\nin(word[0], animals.txt)\n")
    (tmp_path / "here" / "t.tsv").write_bytes(TEXT * 20)
    assert corate("train", "t.tsv", "-o", "m", "--features", "templates", "--method", "empirical", "-q").code == 0
    os.rename("m", tmp_path / "there" / "m")
    for name in ("animals.txt", "templates", "t.tsv"):
        os.remove(name)
    monkeypatch.chdir(tmp_path / "there")
    assert corate("tag", "m", "-f", "columns", stdin=b"the\ncat\n").text == "the\tDET\ncat\tNOUN\n"
    assert corate("update", "m", "-", "-q", stdin=TEXT).code == 0
