"""Folders, missing files, files that a command also reads, and a full disk: one clear error, and nothing is lost."""

import os
import subprocess

import pytest

import corate as library
from command_line import PROGRAM, one_line
from small_corpora import TEXT

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX's")


def test_places_that_cannot_be_read_or_written(corate, small, tmp_path):
    model, text, missing = small / "m.corate", small / "train.tsv", tmp_path / "missing"
    for command in (
        ["train", tmp_path, "-o", tmp_path / "m"],
        ["train", text, "-o", tmp_path],
        ["train", text, "-o", tmp_path / "m", "--features", tmp_path],
        ["tag", tmp_path, text],
        ["tag", model, tmp_path],
        ["tag", model, text, "-o", tmp_path],
        ["eval", model, tmp_path],
        ["update", model, text, "-o", tmp_path],
        ["info", tmp_path],
    ):
        assert one_line(corate(*command), str(tmp_path))
    for command in (
        ["train", missing, "-o", tmp_path / "m"],
        ["train", text, "-o", missing / "m"],
        ["train", text, "-o", tmp_path / "m", "--test", missing],
        ["tag", missing, text],
        ["tag", model, missing],
        ["tag", model, text, "-o", missing / "out"],
        ["eval", model, missing],
        ["update", model, missing],
        ["update", model, text, "-o", missing / "m"],
    ):
        assert one_line(corate(*command), str(missing))
    assert not list(tmp_path.iterdir())


def test_what_a_command_reads_is_never_what_it_writes(corate, small, tmp_path):
    model, text = tmp_path / "m", tmp_path / "t.tsv"
    model.write_bytes((small / "m.corate").read_bytes())
    text.write_bytes(TEXT)
    for command in (
        ["tag", model, text, "-o", model],
        ["train", text, "-o", text],
        ["train", small / "train.tsv", "-o", text, "--test", text],
        ["train", small / "train.tsv", "-o", text, "--held-out", text],
        ["update", model, text, "-o", text],
    ):
        result = corate(*command)
        assert result.code == 2
        assert "itself" in result.err
        assert model.read_bytes() == (small / "m.corate").read_bytes()
        assert text.read_bytes() == TEXT


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_may_not_be_written(corate, small, tmp_path):
    tmp_path.chmod(0o500)
    try:
        for command in (["train", small / "train.tsv"], ["tag", small / "m.corate", small / "train.tsv"]):
            assert one_line(corate(*command, "-o", tmp_path / "m"), str(tmp_path / "m"))
    finally:
        tmp_path.chmod(0o700)


@posix
@pytest.mark.parametrize("command", ["update", "tag"])
def test_a_full_disk(small, tmp_path, command):
    import resource

    (tmp_path / "m").write_bytes((small / "m.corate").read_bytes())
    (tmp_path / "out").write_bytes(b"old")
    arguments = {"update": ["update", "m", small / "train.tsv"], "tag": ["tag", "m", small / "train.tsv", "-o", "out"]}
    run = subprocess.run(
        [*PROGRAM, *arguments[command]],
        cwd=tmp_path,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900)),
    )
    assert run.returncode == 1
    assert run.stderr.startswith(b"corate: error: ")
    assert run.stderr.count(b"\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "out"]
    assert (tmp_path / "out").read_bytes() == b"old"
    assert library.load(tmp_path / "m").record["sentences"] == 40
