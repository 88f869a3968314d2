"""Commands of other packages: found by an entry point, and without their package, how to get it."""

from __future__ import annotations

import importlib.metadata

import pytest


@pytest.fixture
def nothing_installed(monkeypatch):
    """No package has a command."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **chosen: ())


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize("arguments", [(), ("label-bias",), ("all", "--quick", "--data", "folder", "--threads", "2")])
def test_a_command_that_is_not_installed_says_how_to_get_it(corate, arguments):
    result = corate("reproduce", *arguments)
    assert (result.code, result.text) == (1, "")
    assert result.err.count("\n") == 1
    assert "'reproduce' is not installed" in result.err
    assert "pip install ./reproduction" in result.err


@pytest.mark.usefixtures("nothing_installed")
def test_help_lists_it_and_says_how_to_get_it(corate):
    assert "reproduce" in corate("--help").text
    assert "pip install ./reproduction" in " ".join(corate("reproduce", "--help").text.split())
