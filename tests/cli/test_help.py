"""Help: the options of every day at first, and all of them when asked for."""

import re

import pytest

from corate.cli.app import COMMANDS

#: The commands with more options than one looks through.
MANY = ["train", "tag", "eval", "compare", "update", "inspect", "rates", "shrink"]


def options(text):
    """The options that a help text lists."""
    listed = text.partition("  Examples:")[0]
    return re.findall(r"^  (?:-\w, )?(--[a-z][\w-]*)", listed, re.MULTILINE)


@pytest.mark.parametrize("command", MANY)
def test_help_shows_everyday_options_examples_and_where_the_others_are(corate, command):
    few, every = corate(command, "--help"), corate(command, "--help-all")
    assert (few.code, every.code) == (0, 0)
    shown, listed = options(few.text), options(every.text)
    assert set(shown) < set(listed)
    assert 6 <= len(shown) <= 14
    assert len(few.text.splitlines()) <= 60
    assert f"  corate {command} " in few.text.partition("  Examples:")[2]
    assert few.text.rstrip().endswith(f"All {len(listed)} options: corate {command} --help-all")


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {*MANY, "graph"}))
def test_commands_with_few_options_show_all_of_them(corate, command):
    shown = corate(command, "--help").text
    assert len(options(shown)) <= 14
    assert options(corate(command, "--help-all").text) == options(shown)
    assert "--help-all" not in shown


def test_help_of_a_group_shows_the_options_of_its_commands_if_asked(corate):
    own, every = corate("graph", "--help"), corate("graph", "--help-all")
    assert (own.code, every.code) == (0, 0)
    assert options(own.text) == ["--help", "--help-all"]
    commands = ["fit", "learn", "query", "sample", "draw"]
    texts = [corate("graph", command, "--help").text for command in commands]
    assert every.text == "\n\n".join([own.text, *texts])
    assert texts == [corate("graph", command, "--help-all").text for command in commands]
    assert corate("graph", "--help").text == own.text  # asking for all does not last


def test_all_examples_of_training_are_in_its_full_help(corate):
    assert "--checkpoint large.checkpoint" not in corate("train", "--help").text
    assert "--checkpoint large.checkpoint" in corate("train", "--help-all").text
    assert "--checkpoint large.checkpoint" not in corate("train", "--help").text  # asking for all does not last


@pytest.mark.parametrize(("wrong", "meant"), [("--chekpoint", "--checkpoint"), ("--sigma", "--sigma2")])
def test_a_misspelt_option_is_looked_for_among_all(corate, wrong, meant):
    result = corate("train", "x.tsv", "-o", "x.corate", wrong, "1")
    assert result.code == 2
    assert meant in result.err
    assert meant not in corate("train", "--help").text
