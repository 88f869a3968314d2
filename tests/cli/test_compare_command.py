"""corate compare: a row for each method as it finishes, quick ones first, and a plot of accuracy against time."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from corate import ConfigError, Corpus, DataError
from corate.cli import terminal
from corate.cli.plot import Point, in_characters, page, picture
from corate.evaluation.comparison import ORDER, compare, differences
from corate.training.methods import METHODS

FEATURES = ["--features", "word[0], suffix(word[0], 2)"]
QUICK = ["--methods", "polish,empirical,perceptron"]


@pytest.fixture(scope="session")
def files(tmp_path_factory, data):
    """A short text to train on and one to test on."""
    folder = tmp_path_factory.mktemp("compared")
    sentences = (data / "train.tsv").read_text("utf-8").split("\n\n")
    (folder / "a.tsv").write_text("\n\n".join(sentences[:60]) + "\n\n", "utf-8")
    (folder / "b.tsv").write_text("\n\n".join(sentences[60:90]) + "\n\n", "utf-8")
    return folder / "a.tsv", folder / "b.tsv"


@pytest.fixture(scope="session")
def corpora():
    train = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]] * 5)
    return train, Corpus.from_sentences([[("the", "DET"), ("emu", "NOUN")]])


# -- the library -----------------------------------------------------------------------------------------------------


def test_every_method_has_its_place_in_the_order():
    assert sorted(ORDER) == sorted(METHODS)


def test_rows_come_one_by_one_quick_methods_first(corpora):
    rows = compare(*corpora, ["standard", "polish", "empirical"])
    assert next(rows).method == "empirical"
    assert [row.method for row in rows] == ["polish", "standard"]


def test_means_and_spread_are_over_the_seeds(corpora):
    (row,) = compare(*corpora, ["polish"], seeds=3)
    assert [run.seed for run in row.runs] == [0, 1, 2]
    accuracies = [run.report.accuracy for run in row.runs]
    assert row.mean("accuracy") == pytest.approx(sum(accuracies) / 3)
    assert row.spread("accuracy") == pytest.approx(0.0, abs=0.6)
    assert row.mean("f1") is None
    assert next(compare(*corpora, ["empirical"])).spread("accuracy") is None


def test_features_are_the_same_for_all_and_options_are_by_method(corpora):
    options = {"standard": {"iterations": 1}}
    rows = list(compare(*corpora, ["standard", "perceptron"], features=["word[0]"], options=options))
    assert {row.features for row in rows} == {("word[0]",)}
    with pytest.raises(DataError, match="backoff is an option of"):
        list(compare(*corpora, ["standard"], options={"standard": {"backoff": "paper"}}))


def test_every_sentence_is_tested_once_in_folds(corpora):
    corpus = Corpus.from_sentences([[(f"w{i}", "A" if i % 2 else "B")] for i in range(11)])
    (row,) = compare(corpus, methods=["empirical"], folds=3, seeds=2)
    assert [(run.seed, run.fold) for run in row.runs] == [(s, f) for s in range(2) for f in range(3)]
    assert sorted(run.report.tokens for run in row.runs[:3]) == [3, 4, 4]
    assert {run.report.tokens_oov for run in row.runs} == {3, 4}  # no word is trained on and tested
    assert row.sentence_counts("accuracy").shape == (11, 2)
    assert row.sentence_counts("accuracy")[:, 1].tolist() == [2.0] * 11  # the sum over two seeds
    assert row.sentence_counts("f1") is None


def test_differences_are_those_from_the_best(corpora):
    train, test = corpora
    rows = list(compare(train, test, ["empirical", "standard", "perceptron"]))
    for row in rows:
        assert row.sentence_counts("accuracy")[:, 1].sum() == test.n_tokens
    found = differences(rows)
    assert len(found) == 2
    best = max(row.mean("accuracy") for row in rows)
    for d in found:
        assert d.score == "accuracy"
        mean = next(row.mean("accuracy") for row in rows if row.method == d.method)
        assert d.result.difference == pytest.approx(mean - best)
    assert differences([]) == []
    with pytest.raises(DataError, match="'accuracy' or 'f1', not 'recall'"):
        differences(rows, "recall")


def test_unfinished_methods_are_not_compared(corpora):
    rows = list(compare(corpora[0], methods=["empirical", "standard"], folds=2))
    cut = replace(rows[1], runs=rows[1].runs[:1])
    assert differences([rows[0], cut]) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"methods": ["magic"]}, "unknown method 'magic'"),
        ({"methods": []}, "no method"),
        ({"seeds": 0}, "seeds must be a whole number, 1 or more, not 0"),
        ({"corpus": Corpus.from_sentences([["a"]])}, "label"),
        ({"held_out": Corpus.from_sentences([["a"]])}, "label"),
        ({"test": Corpus.from_sentences([["a"]])}, "label"),
        ({"test": Corpus.from_sentences([])}, "the corpus has no sentences"),
        ({"test": None}, "either test data or a number of folds"),
        ({"folds": 2}, "either test data or a number of folds"),
        ({"test": None, "folds": 1}, "folds must be a whole number, 2 or more, not 1"),
        ({"test": None, "folds": 11}, "10 sentences cannot be divided into 11 folds"),
    ],
)
def test_what_cannot_be_compared(corpora, change, said):
    arguments = {"corpus": corpora[0], "test": corpora[1], **change}
    with pytest.raises(DataError, match=said):
        compare(**arguments)  # before the first row


@pytest.mark.parametrize(
    ("change", "option", "said"),
    [
        ({"methods": ["magic"]}, "methods", "unknown method 'magic'; there are polish"),
        ({"methods": []}, "methods", "no method to compare"),
        ({"options": {"standart": {"c2": 0.1}}}, "options", "unknown method 'standart'; there are polish"),
        ({"options": {"standard": {"c3": 0.1}}}, "c3", "unknown option 'c3' of the method 'standard'; did you mean"),
        ({"options": {"standard": {"c2": -1}}}, "c2", "c2 must"),
        ({"options": {"standard": {"backoff": "paper"}}}, "backoff", "backoff is an option of"),
        ({"options": {"standard": {"seed": 1}}}, "options", "seed cannot be an option of a single method"),
    ],
)
def test_wrong_arguments_are_errors_at_once(corpora, change, option, said):
    arguments = {"methods": ["empirical", "standard"], **change}
    with pytest.raises(ConfigError, match=said) as caught:
        compare(*corpora, **arguments)
    assert caught.value.option == option


def test_options_of_other_methods_and_arguments_of_train_are_accepted(corpora):
    options = {"standard": {"c2": 0.1}, "empirical": {"calibrate": True, "many_labels": True}}
    (row,) = compare(*corpora, ["empirical"], options=options)
    assert row.method == "empirical"


def test_the_title_of_every_event_begins_with_the_method(corpora):
    titles = []
    list(compare(*corpora, ["polish"], seeds=2, progress=lambda event: titles.append(event.title)))
    assert {title.split(", ")[0] for title in titles} == {"polish"}
    assert {title.split(", ")[1] for title in titles} == {"seed 0", "seed 1"}


def test_ctrl_c_keeps_the_seeds_that_are_finished(corpora):
    def progress(event):
        if (event.method, event.seed) == ("polish", 1):
            raise KeyboardInterrupt

    rows = compare(*corpora, ["polish", "empirical"], seeds=2, progress=progress)
    assert [len(next(rows).runs), len(next(rows).runs)] == [2, 1]
    with pytest.raises(KeyboardInterrupt):
        next(rows)


# -- the command -----------------------------------------------------------------------------------------------------


def test_people_get_a_table_and_a_plot(corate, files):
    result = corate("compare", files[0], "--test", files[1], *QUICK, *FEATURES)
    assert (result.code, result.err) == (0, "")
    lines = result.text.splitlines()
    assert lines[0].split() == ["method", "accuracy", "known", "OOV", "F1", "training", "ratio", "size"]
    assert [line.split()[0] for line in lines[1:4]] == ["empirical", "perceptron", "polish"]
    assert len({len(line) for line in lines[:4]}) == 1
    assert "training time, logarithmic" in result.text
    assert all(name in "".join(lines[lines.index("accuracy") :]) for name in ("empirical", "perceptron", "polish"))
    assert "\x1b" not in result.text


def test_scripts_get_json(corate, files):
    result = corate("compare", files[0], "--test", files[1], *QUICK, *FEATURES, "--seeds", 2, "--json")
    in_words = json.loads(result.text)
    assert (in_words["sentences"], in_words["test_sentences"], in_words["seeds"], in_words["interrupted"]) == (
        60,
        30,
        2,
        False,
    )
    rows = in_words["methods"]
    assert [row["method"] for row in rows] == ["empirical", "perceptron", "polish"]
    assert min(row["ratio"] for row in rows) == 1
    for row in rows:
        assert 0.5 < row["accuracy"] <= 1
        assert 0 < row["f1"] <= 1
        assert row["seconds"] > 0
        assert row["bytes"] > 0
        assert [run["seed"] for run in row["runs"]] == [0, 1]
        assert row["spread"]["accuracy"] >= 0


def test_seeds_show_their_spread_and_quiet_shows_nothing(corate, files):
    args = [files[0], "--test", files[1], "--methods", "polish", *FEATURES]
    assert "±" in corate("compare", *args, "--seeds", 2).text
    quiet = corate("compare", *args, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, b"", "")


def test_labels_that_are_no_spans_have_no_f1(corate, tmp_path):
    (tmp_path / "t").write_text("the\tDET\ndog\tNOUN\n\n" * 5)
    result = corate("compare", tmp_path / "t", "--test", tmp_path / "t", "--methods", "empirical", "--json")
    assert json.loads(result.text)["methods"][0]["f1"] is None


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_a_picture_is_one_file_that_needs_no_other(corate, files, tmp_path, ending):
    picture = tmp_path / f"p.{ending}"
    assert corate("compare", files[0], "--test", files[1], *QUICK, *FEATURES, "-q", "--plot", picture).code == 0
    text = picture.read_text("utf-8")
    assert all(name in text for name in ("empirical", "perceptron", "polish"))
    assert re.search(r"prefers-color-scheme: ?dark", text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<script|url\(|@import", text)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "--test"),
        (["--test", "b", "--methods", "magic"], "'magic' is not one of polish"),
        (["--test", "b", "--methods", ","], "name some of"),
        (["--test", "b", "--seeds", "0"], "seeds"),
        (["--test", "b", "--plot", "p.png"], "must end in .svg or .html"),
        (["--test", "b.svg", "--plot", "b.svg"], "b.svg is one of the input files"),
    ],
)
def test_wrong_usage_is_exit_code_2(corate, tmp_path, monkeypatch, args, said):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "b.svg"):
        (tmp_path / name).write_text("the\tDET\n")
    result = corate("compare", "a", *args)
    assert (result.code, result.out) == (2, b"")
    assert said in " ".join(result.err.split())


def test_only_one_file_is_standard_input(corate):
    assert "only one file" in corate("compare", "-", "--test", "-").err


@pytest.mark.parametrize(("text", "said"), [("", "empty"), ("the\ndog\n", "label"), ("a\tX\nb\n", "line 2")])
def test_a_test_file_that_cannot_be_used_is_found_out_before_training(corate, files, tmp_path, monkeypatch, text, said):
    def no_training(*args, **options):
        raise AssertionError("trained in vain")

    monkeypatch.setattr("corate.evaluation.comparison.train", no_training)
    (tmp_path / "t").write_text(text)
    result = corate("compare", files[0], "--test", tmp_path / "t", "-f", "columns")
    assert (result.code, result.out) == (1, b"")
    assert said in result.err


def test_a_picture_that_cannot_be_written_is_found_out_before_training(corate, files, tmp_path):
    result = corate("compare", files[0], "--test", files[1], "--plot", tmp_path / "none" / "p.svg")
    assert (result.code, result.out) == (1, b"")
    assert "no directory" in result.err


def interrupt_at(monkeypatch, stage):
    """Ctrl-C at a stage, once."""
    hit = []

    def progress(self, event):
        if not hit and event.title.startswith(stage) and (event.fraction or 0) >= 0.5:
            hit.append(event)
            raise KeyboardInterrupt

    monkeypatch.setattr(terminal.ProgressBar, "show", progress)


@pytest.mark.parametrize("how", ["shown", "json"])
def test_ctrl_c_keeps_and_prints_what_is_finished(corate, files, tmp_path, monkeypatch, how):
    interrupt_at(monkeypatch, "polish")
    args = ["--plot", tmp_path / "p.svg", *(["--json"] if how == "json" else [])]
    result = corate("compare", files[0], "--test", files[1], *QUICK, *FEATURES, *args)
    assert (result.code, result.err) == (130, "corate: interrupted\n")
    if how == "json":
        in_words = json.loads(result.text)
        assert ([row["method"] for row in in_words["methods"]], in_words["interrupted"]) == (
            ["empirical", "perceptron"],
            True,
        )
    else:
        assert [line.split()[0] for line in result.text.splitlines()[1:3]] == ["empirical", "perceptron"]
        assert "training time" in result.text
    picture = (tmp_path / "p.svg").read_text("utf-8")
    assert "perceptron" in picture
    assert "polish" not in picture


def test_an_error_of_one_method_keeps_those_before_it(corate, files, tmp_path):
    (tmp_path / "t").write_text("edge: word[0]\nword[0]\n")
    args = ["--methods", "perceptron,polish", "--features", "word[0], nonsense(word[0])"]
    result = corate("compare", files[0], "--test", files[1], *args)
    assert result.code == 1
    assert "nonsense" in result.err


# -- the plots -------------------------------------------------------------------------------------------------------

POINTS = [Point("quick", 0.1, 0.90), Point("same", 0.1, 0.90), Point("slow <&>", 120.0, 0.97, 0.002)]


def test_every_point_has_its_name_also_where_two_are_in_one_place():
    lines = in_characters(POINTS)
    assert sum(line.count("o") for line in lines[1:15] if "|" in line) == 3 + "slow <&>".count("o")
    assert all(any(p.name in line for line in lines) for p in POINTS)
    assert max(map(len, lines)) <= 80


def test_better_is_higher_and_slower_is_further_right():
    lines = in_characters(POINTS)
    rows = {p.name: next(i for i, line in enumerate(lines) if p.name in line) for p in POINTS}
    assert rows["slow <&>"] < rows["quick"]
    assert lines[rows["slow <&>"]].rindex("o") > lines[rows["quick"]].index("o")


@pytest.mark.parametrize("points", [POINTS, POINTS[:1], [Point("a", 0.0, 1.0), Point("b", 1e5, 0.0)]])
def test_pictures_have_every_point_with_its_name(points):
    space = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(picture(points))
    tips = [path.findtext(f"{space}title") for path in root.iter(f"{space}path")]
    assert [tip.partition(":")[0] for tip in tips if tip] == [p.name for p in points]
    assert {p.name for p in points} <= {text.text for text in root.iter(f"{space}text")}
    assert len(in_characters(points)) > 10


def test_names_are_escaped_in_pages():
    text = page(POINTS, ["method"], [["slow <&>"]], "in_words")
    assert "slow &lt;&amp;&gt;" in text
    assert "slow <&>" not in text


def test_many_labels_are_compared_when_they_are_meant(corate, tmp_path):
    swapped = tmp_path / "swapped.tsv"
    swapped.write_text("".join(f"T{i % 7}\tw{i}\n\n" for i in range(300)), "utf-8")
    args = [swapped, "--test", swapped, "--methods", "empirical"]
    refused = corate("compare", *args)
    assert refused.code == 1
    assert "--many-labels" in refused.err
    assert corate("compare", *args, "--many-labels", "--quiet").code == 0


def test_differences_are_shown_with_interval_and_p_value(corate, files):
    shown = corate("compare", files[0], "--test", files[1], *QUICK, *FEATURES).text
    lines = shown.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("F1 compared with "))
    assert "over 30 sentences" in lines[at]
    assert lines[at + 1].split() == ["method", "difference", "95%", "interval", "p-value"]
    assert len({line.split()[0] for line in lines[at + 2 : at + 4]}) == 2
    assert max(map(len, lines)) <= 81


def test_cross_validation(corate, files):
    result = json.loads(corate("compare", files[0], "--folds", 3, *QUICK, *FEATURES, "--json").text)
    assert (result["folds"], result["test_sentences"]) == (3, 60)
    assert [len(method["runs"]) for method in result["methods"]] == [3, 3, 3]
    assert len(result["differences"]) == 2
    for found in result["differences"]:
        assert found["low"] <= found["difference"] <= found["high"]
        assert 0 < found["p_value"] <= 1
    assert corate("compare", files[0]).code == 2
    assert corate("compare", files[0], "--test", files[1], "--folds", 3).code == 2
