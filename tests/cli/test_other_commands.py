"""Commands that other packages add with entry points."""

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from corate.cli import app

GROUP = "corate.commands"
CODE = """
import click

@click.command()
@click.argument("name")
def hello(name):
    "Greet."
    print("hello", name)
"""


@pytest.fixture
def register(monkeypatch):
    """Call with the entry points that are installed."""

    def registered(*entries):
        found = EntryPoints(EntryPoint(name=name, value=value, group=GROUP) for name, value in entries)
        monkeypatch.setattr(app, "_registered", lambda: found)

    return registered


def test_a_package_can_add_a_command(corate, register, tmp_path, monkeypatch):
    (tmp_path / "other_package.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    register(("hello", "other_package:hello"))
    assert "  hello      Greet.\n" in corate("--help").text
    assert corate("hello", "you").text == "hello you\n"
    assert corate("helo").err.rstrip().endswith("did you mean 'hello'?")


def test_a_package_cannot_replace_a_command(corate, register):
    register(("derive", "no_such_package:derive"))
    assert corate("derive", "A-B").code == 0


def test_a_command_that_is_not_installed_says_how_to_get_it(corate, register):
    register()
    result = corate("reproduce", "label-bias", "--quick")
    assert result.code == 1
    assert result.err.startswith("corate: error: corate reproduce is not available: it is not installed; ")
    assert "pip install ./reproduction" in result.err
    assert "pip install ./reproduction" in corate("reproduce", "--help").text.replace("\n  ", " ")


def test_a_command_that_cannot_be_loaded_does_not_break_the_others(corate, register):
    register(("hello", "no_such_package:hello"))
    assert corate("--help").code == 0
    result = corate("hello")
    assert result.code == 1
    assert "No module named 'no_such_package'" in result.err


def test_the_experiments_are_found_by_their_entry_point(corate):
    assert "  reproduce  Run the paper's experiments, and write a report.\n" in corate("--help").text
