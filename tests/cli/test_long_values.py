"""Errors of the command line quote little of long arguments, and advise what fits the command."""

import pytest

from command_line import one_line
from corate.errors import MOST_SHOWN

LONG = "x" * 50_000


@pytest.mark.parametrize(
    "arguments",
    [
        [LONG],
        [f"--{LONG}"],
        ["tag", LONG],
        ["eval", "{model}", LONG],
        ["train", "{train}", "-o", LONG],
        ["train", "{train}", "-o", "{out}", "--method", LONG],
        ["train", "{train}", "-o", "{out}", "--threads", LONG],
        ["train", "{train}", "-o", "{out}", f"--{LONG}"],
        ["train", "{train}", "-o", "{out}", "--memory", LONG],
        ["train", "{train}", "-o", "{out}", "--features", LONG],
        ["train", "{train}", "-o", "{out}", "--encoding", LONG],
        ["train", "{train}", "-o", "{out}", "--format", LONG],
        ["train", "{train}", "-o", "{out}", "--set", LONG],
        ["derive", LONG + "("],
        ["rates", LONG],
    ],
    ids=lambda given: " ".join(given)[:40],
)
def test_long_arguments_are_not_quoted_whole(corate, arguments, data, model, tmp_path):
    places = {"model": model, "train": data / "train.tsv", "out": tmp_path / "out.corate"}
    result = corate(*(argument.format(**places) for argument in arguments))
    assert result.code in (1, 2)
    assert len(result.err) <= MOST_SHOWN + 300  # the usage, and the advice to ask for help
    assert result.err.count("x" * 201) == 0


@pytest.mark.parametrize(
    ("command", "advice"),
    [("train", "train on fewer sentences"), ("tag", "tag the text in several files"), ("eval", "several files")],
)
def test_the_advice_for_too_little_memory_fits_the_command(corate, command, advice, data, model, tmp_path, monkeypatch):
    from corate.formats import detection

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(detection, "detect", no_memory)
    monkeypatch.setattr(detection, "by_suffix", no_memory)
    arguments = [data / "train.tsv", "-o", tmp_path / "m.corate"] if command == "train" else [model, data / "test.tsv"]
    result = corate(command, *arguments)
    assert one_line(result, "not enough memory", advice)
    assert ("train on" in result.err) == (command == "train")
