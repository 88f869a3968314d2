"""Options from corate.toml or pyproject.toml: found upwards, named, overridden by the command line, and checked."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch, data):
    """An empty current folder, two levels deep, beside the training text."""
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "project" / "train.tsv").write_bytes((data / "train.tsv").read_bytes())
    monkeypatch.chdir(inner)
    return tmp_path / "project"


def trained(corate, *more):
    """The record of a small model that the command trains, and what it says on standard error."""
    result = corate("train", "../train.tsv", "-o", "m.corate", "--method", "separate", "--json", *more)
    assert result.code == 0, result.err
    return json.loads(result.text), result.err


def test_options_come_from_the_nearest_file_and_the_command_line_wins(corate, folder):
    (folder / "corate.toml").write_text("threads = 2\n[train]\npasses = 1\nseed = 7\nlabel-weight = ['O=0.5']\n")
    record, said = trained(corate, "--seed", 8)
    assert record["settings"]["passes"] == 1
    assert record["seed"] == 8
    assert said == "corate: from ../corate.toml: threads, label-weight, passes\n"
    (folder / "inner" / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.corate.train]\npasses = 2\n")
    record, said = trained(corate)
    assert record["settings"]["passes"] == 2
    assert said == "corate: from pyproject.toml: passes\n"
    (folder / "inner" / "corate.toml").write_text("[train]\ncoupling_weight = 0.5\n")
    assert trained(corate)[1] == "corate: from corate.toml: coupling-weight\n"


def test_a_file_without_the_table_is_passed_over(corate, folder):
    (folder / "inner" / "pyproject.toml").write_text("[project]\nname = 'corate-user'\n[tool.other]\nx = 1\n")
    (folder / "corate.toml").write_text("[train]\npasses = 1\n")
    assert trained(corate)[1] == "corate: from ../corate.toml: passes\n"


def test_a_quiet_command_does_not_name_the_file(corate, folder):
    (folder / "corate.toml").write_text("quiet = true\n[train]\npasses = 1\n")
    record, said = trained(corate)
    assert record["settings"]["passes"] == 1
    assert said == ""


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_file_can_be_ignored(corate, folder, place):
    (folder / "corate.toml").write_text("this is no TOML")
    before, after = (["--no-config"], []) if place == "before" else ([], ["--no-config"])
    result = corate(*before, "train", "../train.tsv", "-o", "m.corate", "--method", "empirical", "--quiet", *after)
    assert (result.code, result.err) == (0, "")


def test_commands_of_a_group_have_tables_of_their_own(corate, folder):
    (folder / "corate.toml").write_text("[graph.learn]\nstructure = 'forest'\nbins = 3\n")
    (folder / "inner" / "d.csv").write_text("a,b\n1,2\n2,1\n1,2\n")
    result = corate("graph", "learn", "d.csv")
    assert result.code == 0
    assert result.err == "corate: from ../corate.toml: structure, bins\n"


def test_options_for_other_commands_change_nothing(corate, folder):
    (folder / "corate.toml").write_text("threads = 2\ncolumns = 'word,label'\n[train]\npasses = 1\n")
    result = corate("derive", "A-B")
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[train]\npases = 1\n", "unknown key 'pases'; did you mean 'passes'? in 'train'"),
        ("[trian]\npasses = 1\n", "unknown key 'trian'; did you mean 'train'?"),
        ("thread = 2\n", "unknown key 'thread'; did you mean 'threads'?"),
        ("passes = 2\n", "write 'passes' in the table 'train'"),
        ("[train]\nhalf = 'yes'\n", "half must be true or false, not 'yes'"),
        ("[train]\npasses = [1]\n", "passes must be text or a number, not [1]"),
        ("[train]\nthreads = 2.5\n", "'2.5' is not a valid int"),
        ("train = 2\n", "'train' must be a table of options"),
        ("[train\n", "line 1"),
    ],
)
def test_mistakes_are_wrong_usage_and_name_the_file(corate, folder, text, said):
    (folder / "corate.toml").write_text(text)
    result = corate("train", "../train.tsv", "-o", "m.corate")
    assert result.code == 2
    assert "../corate.toml: " in result.err
    assert said in result.err


def test_help_shows_the_defaults_of_the_program(corate, folder):
    (folder / "corate.toml").write_text("threads = 2\n")
    assert "Number of threads.  [default: 1; x>=1]" in corate("train", "--help").text
    assert "--no-config" in corate("--help").text


@pytest.mark.parametrize(
    "text",
    [
        "tool = 3  # corate\n",
        "tool = ['corate']\n",
        "broken = = # uses tool corate\n",
        "[tool.corate-plugin]\nx = = 1\n",
    ],
)
def test_a_project_file_that_is_not_ours_does_no_harm(corate, folder, text):
    (folder / "inner" / "pyproject.toml").write_text(text)
    (folder / "corate.toml").write_text("[train]\npasses = 1\n")
    assert trained(corate)[1] == "corate: from ../corate.toml: passes\n"


def test_a_project_file_that_cannot_be_read_is_passed_over(corate, folder, monkeypatch):
    (folder / "inner" / "pyproject.toml").write_text("[tool.corate.train]\npasses = 2\n")
    usual = Path.read_bytes

    def refuse(path):
        if path.suffix == ".toml":
            raise PermissionError(13, "Permission denied")
        return usual(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert corate("derive", "A-B").code == 0
    (folder / "corate.toml").write_text("")
    result = corate("derive", "A-B")
    assert result.code == 2
    assert "Permission denied; --no-config ignores it" in result.err


@pytest.mark.parametrize(
    "text", ["[tool]\ncorate = {train = {passes = 1}}\n", "\ufeff[tool.corate.train]\npasses = 1\n"]
)
def test_all_ways_to_write_the_table_count(corate, folder, text):
    (folder / "inner" / "pyproject.toml").write_text(text, encoding="utf-8")
    assert trained(corate)[1] == "corate: from pyproject.toml: passes\n"


def test_a_table_that_is_none_is_wrong_usage(corate, folder):
    (folder / "inner" / "pyproject.toml").write_text("tool.corate = 3\n")
    result = corate("derive", "A-B")
    assert result.code == 2
    assert "tool.corate must be a table of options" in result.err


def test_expert_options_of_the_command_line_join_those_of_the_file(corate, folder):
    (folder / "corate.toml").write_text("[train]\nset = ['edge=0.5', 'batch=8']\n")
    for more in (["--set", "edge=0.75"], ["--edge", 0.75]):
        result = corate("train", "../train.tsv", "-o", "m.corate", "--json", *more)
        assert result.code == 0
        settings = json.loads(result.text)["settings"]
        assert (settings["edge"], settings["batch"]) == (0.75, 8)
    result = corate("train", "../train.tsv", "-o", "m.corate", "--edge", 0.5, "--set", "edge=0.7")
    assert result.code == 2
    assert "--set gives edge, too" in result.err


def test_a_wrong_expert_option_is_named(corate, folder):
    for given, said in (("bogus=1", "there is no option 'bogus'"), ("bacth=1", "did you mean 'batch'?")):
        result = corate("train", "../train.tsv", "-o", "m.corate", "--set", given)
        assert result.code == 2
        assert said in result.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("method = 'separate'\ndrop-rare = 3\n", "this option is for --method empirical"),
        ("raw-classes = [32]\n", "this option is for --raw"),
        ("method = 'empirical'\nc2 = 1\n", "c2"),
        ("passes = 0\n", "passes"),
        ("label-weight = ['O']\n", "is no LABEL=WEIGHT"),
        ("set = ['bacth=1']\n", "did you mean 'batch'?"),
        ("features = 'sufix(word[0], 3)'\n", "did you mean 'suffix'?"),
        ("encoding = 'utf-9'\n", "utf-9"),
        ("memory = 'much'\n", "much"),
        ("held-out = '../train.tsv'\ncolumns = 'word'\n", "2 columns, but --columns has 1 name"),
        ("output = '../train.tsv'\n", "the training file itself"),
    ],
)
@pytest.mark.parametrize("quiet", [False, True])
def test_a_wrong_value_names_the_file_whoever_finds_it(corate, folder, text, said, quiet):
    (folder / "corate.toml").write_text(f"quiet = {str(quiet).lower()}\n[train]\n{text}")
    output = [] if "output" in text else ["-o", "m.corate"]
    result = corate("train", "../train.tsv", *output)
    assert result.code in (1, 2)
    error = result.err.splitlines()[-1]
    assert said in error
    assert "../corate.toml" in error


def test_an_error_about_the_command_line_does_not_name_the_file(corate, folder):
    (folder / "corate.toml").write_text("quiet = true\n[train]\npasses = 1\n")
    for wrong in (["--c2", "-1"], ["--encoding", "utf-9"], ["--method", "separate", "--drop-rare", 2]):
        result = corate("train", "../train.tsv", "-o", "m.corate", *wrong)
        assert result.code in (1, 2)
        assert "corate.toml" not in result.err
    result = corate("train", "missing.tsv", "-o", "m.corate")
    assert result.code == 1
    assert "corate.toml" not in result.err


def test_the_command_line_unsets_a_flag_of_the_file(corate, folder):
    train = ["train", "../train.tsv", "-o", "m.corate", "--method", "empirical", "--json"]
    sizes = [json.loads(corate(*train, *more).text)["bytes"] for more in ([], ["--half", "--no-counts"])]
    (folder / "corate.toml").write_text("[train]\nhalf = true\nno-counts = true\n")
    result = corate(*train)
    assert result.err == "corate: from ../corate.toml: no-counts, half\n"
    assert json.loads(result.text)["bytes"] == sizes[1]
    result = corate(*train, "--no-half", "--counts")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.text)["bytes"] == sizes[0]
    train[train.index("empirical")] = "perceptron"
    (folder / "corate.toml").write_text("[train]\nno-boundaries = true\n")
    assert corate(*train).err == "corate: from ../corate.toml: no-boundaries\n"
    assert corate(*train, "--boundaries").err == ""
    assert "--no-half" not in corate("train", "--help-all").text
