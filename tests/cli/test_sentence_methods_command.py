"""corate train by the methods on whole sentences: their options, what is refused, and what other commands then say."""

import json
import re

import pytest

import corate as library
from corate.cli import terminal
from corate.cli.method_options import option_of
from corate.training.methods import METHODS, OPTION_METHODS, OPTIONS, Polish, Standard, options_of
from small_corpora import chain_methods, for_method


def quick(method):
    """Little to wait for: a template or two, few passes and iterations."""
    few = for_method(method, iterations="15", passes="2")
    return ["--features", "word[0], suffix(word[0], 2)", *(part for k, v in few.items() for part in (f"--{k}", v))]


FEW = quick("polish")


@pytest.fixture(scope="session")
def few(tmp_path_factory, data):
    """The first sentences of the small corpus."""
    path = tmp_path_factory.mktemp("few") / "few.tsv"
    text = (data / "train.tsv").read_text("utf-8")
    path.write_text("\n\n".join(text.split("\n\n")[:80]) + "\n\n", "utf-8")
    return path


def in_words(corate, file, model, *args):
    result = corate("train", file, "-o", model, "--json", *args)
    assert (result.code, result.err) == (0, "")
    return json.loads(result.text)


# -- the options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", chain_methods())
def test_every_method_trains_a_model_that_tags(corate, few, data, tmp_path, method):
    result = in_words(corate, few, tmp_path / "m", "--method", method, *quick(method), "--test", data / "test.tsv")
    assert (result["method"], result["interrupted"]) == (method, False)
    assert result["settings"].items() >= for_method(method, passes=2, iterations=15).items()
    assert result["test"]["accuracy"] > 0.5
    assert json.loads(corate("eval", tmp_path / "m", data / "test.tsv", "--json").text)["f1"] == result["test"]["f1"]


@pytest.mark.parametrize(
    ("args", "key", "value"),
    [
        *((["--lattice", name], "lattice", name) for name in options_of(Standard)["lattice"].choices),
        *((["--transitions", name], "transitions", name) for name in options_of(Standard)["transitions"].choices),
        (["--no-boundaries"], "boundaries", False),
        ([], "boundaries", True),
        (["--optimizer", "adagrad"], "optimizer", "adagrad"),
        (["--optimizer", "lbfgs"], "optimizer", "lbfgs"),
        *((["--order", str(order)], "order", order) for order in options_of(Standard)["order"].choices),
        ([], "order", 1),
    ],
)
def test_options_are_those_of_the_library(corate, few, tmp_path, args, key, value):
    # a pruned lattice is one where labels are more than a few, so that pruning is wanted: here it may be full
    found = in_words(corate, few, tmp_path / "m", "--method", "standard", *quick("standard"), *args)[key]
    assert found == value or (key == "lattice" and found in ("full", "pruned"))


@pytest.mark.parametrize("base", ["default", "paper", "none", "separate"])
def test_polish_starts_from_any_base(corate, few, tmp_path, base):
    result = in_words(corate, few, tmp_path / "m", "--base", base, *FEW)
    assert result["base"] == ("model" if base == "separate" else base)
    if base == "separate":
        assert result["init"]["method"] == "separate"


def test_all_that_is_given_reaches_the_library(corate, few, tmp_path, monkeypatch):
    seen = {}
    train = library.train

    def spied(corpus, method, **options):
        seen.update(options, method=method)
        return train(corpus, "empirical")

    monkeypatch.setattr("corate.train", spied)
    args = ["--unknown", "?", "--lattice", "full", "--transitions", "seen", "--no-boundaries", "--label-weight", "O=2"]
    assert corate("train", few, "-o", tmp_path / "m", *args, "--order", "2", "--c2", "0.1", "-q").code == 0
    wanted = {"unknown": "?", "lattice": "full", "transitions": "seen", "boundaries": False, "order": 2, "c2": 0.1}
    assert seen["method"] == Polish(**wanted, label_weights={"O": 2.0})
    assert (seen["features"], seen["init"]) == (None, None)
    assert corate("train", few, "-o", tmp_path / "m", "-q").code == 0
    assert seen["method"] == Polish()
    for flag, parts in (("--parts", True), ("--no-parts", False)):
        assert corate("train", few, "-o", tmp_path / "m", "-q", flag).code == 0
        assert seen["method"] == Polish(parts=parts)


def test_weights_of_parts_are_said_and_shown(corate, few, tmp_path):
    assert in_words(corate, few, tmp_path / "m", *FEW, "--parts")["parts"] > 2
    shown = corate("info", tmp_path / "m").text
    assert any(line.split()[:1] == ["parts"] for line in shown.splitlines())
    assert "parts" not in in_words(corate, few, tmp_path / "m", *FEW)


def test_fewer_weights_with_c1_and_with_a_cutoff(corate, few, tmp_path):
    whole = in_words(corate, few, tmp_path / "m", "--method", "standard", *quick("standard"))
    sparse = in_words(corate, few, tmp_path / "m", "--method", "standard", *quick("standard"), "--c1", "1")
    common = in_words(corate, few, tmp_path / "m", *FEW, "--cutoff", "3")
    assert sparse["bytes"] < whole["bytes"]
    assert common["bytes"] < in_words(corate, few, tmp_path / "m", *FEW)["bytes"]


def test_labels_are_weighed_as_costs(corate, data, tmp_path):
    found = {}
    for weight in ("0.01", "1", "100"):
        assert (
            corate("train", data / "train.tsv", "-o", tmp_path / "m", "-q", "--label-weight", f"O={weight}").code == 0
        )
        tagged = corate("tag", tmp_path / "m", data / "test.tsv").text
        found[weight] = sum(line.endswith("\tO") for line in tagged.splitlines())
    assert found["0.01"] <= found["1"] <= found["100"]
    assert found["0.01"] < found["100"]


def test_labels_that_are_not_known_are_no_labels(corate, data, tmp_path):
    rows = (data / "train.tsv").read_text("utf-8").split("\n")
    partly = [f"{row.split(chr(9))[0]}\t?" if row and i % 3 == 0 else row for i, row in enumerate(rows)]
    (tmp_path / "partly.tsv").write_text("\n".join(partly), "utf-8")
    model, test = tmp_path / "m", data / "test.tsv"
    result = in_words(corate, tmp_path / "partly.tsv", model, "--unknown", "?", "--test", test)
    assert result["labels"] == 17
    assert result["test"]["accuracy"] > 0.9
    assert "?" not in library.load(model).labels
    refused = corate("train", tmp_path / "partly.tsv", "-o", model, "--method", "memm", "--unknown", "?")
    assert refused.code == 2


# -- what is refused -------------------------------------------------------------------------------------------------

VALUES = {
    "backoff": ["paper"],
    "base": ["none"],
    "coupling": ["joint"],
    "space": ["features"],
    "optimizer": ["adagrad"],
    "tune": [],
    "checkpoint": ["c"],
    "lattice": ["full"],
    "transitions": ["seen"],
    "boundaries": [],
    "parts": [],
    "order": ["2"],
    "unknown": ["?"],
    "label_weights": ["O=2"],
    "pairs": ["words"],
}


@pytest.mark.parametrize("argument", [name for name in OPTION_METHODS if name != "sentence_weights"])
def test_an_option_of_other_methods_is_wrong_usage_and_names_them(corate, tmp_path, argument):
    (tmp_path / "t").write_text("a\tX\n")
    option = [option_of(argument), *VALUES.get(argument, ["1"])]
    for method in METHODS:
        if method not in OPTION_METHODS[argument]:
            result = corate("train", tmp_path / "t", "-o", tmp_path / "m", "--method", method, *option)
            assert result.code == 2
            assert f"{option[0]}: {argument} is an option of the method" in " ".join(result.err.split())
            assert all(repr(owner) in result.err for owner in OPTION_METHODS[argument])
            assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--sigma2", "1"], "sigma2 is an option of the method 'separate', not of 'polish'"),
        (["--passes", "1.5"], "passes must be an integer from 1 to 1000000"),
        (["--batch", "1e30"], "batch must be an integer from 0 to 1000000, not 1e+30"),
        (["--method", "memm", "--iterations", "1e400"], "iterations must be an integer from 0 to 1000000, not inf"),
        (["--c1", "1"], "c1 is an option of the method 'standard' or 'piecewise' or 'memm', not of 'polish'"),
        (
            ["--method", "standard", "--optimizer", "adagrad", "--c1", "1"],
            "c1 is for the optimizer 'lbfgs', not for 'adagrad'",
        ),
        (["--optimizer", "lbfgs"], "unknown optimizer 'lbfgs'; there are adagrad"),
        (["--method", "perceptron", "--optimizer", "adagrad"], "optimizer is an option of the method"),
        (["--method", "standard", "--checkpoint", "c"], "the optimizer 'lbfgs' makes none; use 'adagrad'"),
        (["--lattice", "thin"], "'thin' is not one of full, pruned"),
        (["--transitions", "some"], "'some' is not one of all, seen"),
        *((["--order", value], "is not one of 1, 2") for value in ("0", "3", "-1", "1.5", "second", "")),
        (["--init", "i", "--features", "ner"], "keeps its features"),
        (["--init", "i", "--base", "paper"], "is its own base"),
        (["--init", "i", "--tune"], "is not tuned; leave tune unset"),
        (["--init", "i", "--all-labels"], "use the lattice 'full'"),
        (["--init", "i", "--checkpoint", "i"], "i is the model to start from itself"),
        (["--drop-rare", "2"], "use --cutoff 2"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(corate, tmp_path, monkeypatch, args, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("a\tX\n")
    result = corate("train", "FILE", "-o", "m", *args)
    assert (result.code, result.out) == (2, b"")
    assert said in " ".join(result.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]


@pytest.mark.parametrize(("option", "value"), [("--passes", "0"), ("--passes", "1.5"), ("--c2", "-1")])
def test_a_number_out_of_range_is_shown_as_given(corate, tmp_path, option, value):
    (tmp_path / "FILE").write_text("a\tX\n")
    result = corate("train", tmp_path / "FILE", "-o", tmp_path / "m", option, value)
    assert result.code == 2
    assert " ".join(result.err.split()).endswith(f", not {value}")


def test_a_model_to_start_from_must_be_one(corate, few, data, tmp_path):
    for start, said in ((tmp_path / "none", "no such file"), (data / "train.tsv", "train.tsv")):
        result = corate("train", few, "-o", tmp_path / "m", "--init", start)
        assert result.code == 1
        assert said in result.err
        assert not (tmp_path / "m").exists()


# -- training further ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["empirical", "separate", "polish", "standard", "perceptron"])
def test_any_chain_model_can_be_trained_further(corate, few, data, tmp_path, method):
    args = quick(method) if method in chain_methods() else []
    first = in_words(corate, few, tmp_path / "m", "--method", method, *args, "--test", data / "test.tsv")
    more = in_words(corate, data / "train.tsv", tmp_path / "m", "--init", tmp_path / "m", "--test", data / "test.tsv")
    assert more["init"] == {"method": method, "sentences": 80, "tokens": first["tokens"]}
    assert more["test"]["accuracy"] > first["test"]["accuracy"]
    assert "init" in corate("info", tmp_path / "m").text


def test_update_says_how_to_go_on(corate, few, tmp_path):
    for method, said in (("polish", "with --init"), ("memm", "train it again on all the text")):
        in_words(corate, few, tmp_path / "m", "--method", method, *FEW)
        result = corate("update", tmp_path / "m", few)
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert f"method '{method}' has no counts" in result.err
        assert said in result.err


def test_a_model_of_the_second_order_stays_one(corate, few, tmp_path):
    in_words(corate, few, tmp_path / "m", "--order", "2", *FEW)
    more = in_words(corate, few, tmp_path / "n", "--init", tmp_path / "m", "--passes", "1")
    assert more["order"] == 2
    for args, said in (
        (["--order", "1"], "has order 2, and keeps it"),
        (["--method", "perceptron"], "use polish or standard"),
    ):
        result = corate("train", few, "-o", tmp_path / "o", "--init", tmp_path / "m", *args)
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert said in result.err
        assert not (tmp_path / "o").exists()


def test_a_memm_cannot_be_a_start(corate, few, tmp_path):
    in_words(corate, few, tmp_path / "m", "--method", "memm", *FEW)
    result = corate("train", few, "-o", tmp_path / "n", "--init", tmp_path / "m")
    assert result.code == 1
    assert "normalises locally" in result.err


# -- what is shown ---------------------------------------------------------------------------------------------------


def test_people_see_the_settings_they_chose_and_the_held_out_accuracy(corate, few, data, tmp_path):
    plain = corate("train", few, "-o", tmp_path / "m")
    assert plain.text.startswith("polish: 80 sentences")
    assert "settings:" not in plain.text
    assert "held-out" not in plain.text
    judged = corate("train", few, "-o", tmp_path / "m", "--held-out", data / "test.tsv", "--passes", "2")
    assert "settings: c2 1, rate 0.06, passes 2," in judged.text
    accuracy = json.loads(corate("info", tmp_path / "m", "--json").text)["record"]["held_out"]["accuracy"]
    assert f"held-out: accuracy {100 * accuracy:.2f}%" in judged.text


def test_info_tells_what_was_trained_and_how(corate, few, tmp_path):
    in_words(corate, few, tmp_path / "m", "--method", "memm", *quick("memm"), "--c2", "0.25")
    facts = json.loads(corate("info", tmp_path / "m", "--json").text)
    assert facts["locally_normalised"] is True
    assert facts["record"]["settings"]["c2"] == 0.25
    shown = corate("info", tmp_path / "m").text
    for words in ("memm", "normalised", "at every position", "c2 0.25", "lattice", "transitions", "lbfgs"):
        assert words in shown
    in_words(corate, few, tmp_path / "m", "--order", "2", *FEW)
    assert json.loads(corate("info", tmp_path / "m", "--json").text)["record"]["order"] == 2
    assert ["order", "2"] in [line.split() for line in corate("info", tmp_path / "m").text.splitlines()]
    in_words(corate, few, tmp_path / "m", *FEW)
    assert json.loads(corate("info", tmp_path / "m", "--json").text)["locally_normalised"] is False
    assert "at every position" not in corate("info", tmp_path / "m").text


def test_help_groups_options_by_what_they_are_for(corate):
    text = corate("train", "--help-all").text
    titles = (
        "Options:",
        "Fitting weights (all except",
        "Training on whole sentences (",
        "Counting (empirical):",
        "Smaller model files:",
        "Reading:",
    )
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    assert text.index("--init MODEL") < places[1] < text.index("--tune ") < text.index("--base <") < places[2]
    assert places[2] < text.index("--no-boundaries") < places[3] < text.index("--backoff <") < places[4]
    assert f"<{'|'.join(METHODS)}>" in text
    words = " ".join(text.split())
    assert all((name if option.expert else option.flag) in words for name, option in OPTIONS.items())


# -- Ctrl-C and checkpoints ------------------------------------------------------------------------------------------


def interrupt_at(monkeypatch, stage, done):
    """Ctrl-C when a stage has got so far, once."""
    hit = []

    def progress(self, event):
        if not hit and event.title.startswith(stage) and (event.fraction or 0.0) >= done:
            hit.append(event)
            raise KeyboardInterrupt

    monkeypatch.setattr(terminal.ProgressBar, "show", progress)


@pytest.mark.parametrize(("method", "done"), [("polish", 0.6), ("standard", 0.1), ("perceptron", 0.6)])
def test_ctrl_c_saves_the_model_reached_so_far_and_says_where(corate, few, data, tmp_path, monkeypatch, method, done):
    interrupt_at(monkeypatch, method, done)
    model, partial = tmp_path / "m", tmp_path / "m.partial"
    result = corate("train", few, "-o", model, "--method", method, "--passes", "4", "--json")
    assert (result.code, result.text) == (130, "")
    said = f"{partial} contains the model reached so far; {model} was not written"
    assert result.err == f"corate: interrupted: {said}\n"
    monkeypatch.undo()
    assert json.loads(corate("info", partial, "--json").text)["record"]["interrupted"] is True
    assert json.loads(corate("eval", partial, data / "test.tsv", "--json").text)["accuracy"] > 0.6
    assert not model.exists()


def test_a_resumed_run_says_where_it_resumes(corate, few, tmp_path):
    command = ["train", few, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c", "--passes"]
    first = corate(*command, "2", "--json")
    assert (first.err, "resumed_after_passes" in json.loads(first.text)) == ("", False)
    second = corate(*command, "5", "--json")
    assert second.err == "corate: polish: resumed at pass 3 of 5\n"
    assert json.loads(second.text)["resumed_after_passes"] == 2
    assert corate(*command, "5").err == "corate: polish: resumed after pass 5 of 5\n"
    assert corate(*command, "5", "--quiet").err == ""


@pytest.mark.parametrize("method", METHODS)
def test_a_log_follows_the_training_of_every_method(corate, few, data, tmp_path, method):
    command = ["train", few, "-o", tmp_path / "m", "--method", method, *quick(method), "--test", data / "test.tsv"]
    result = corate(*command, "--json", progress=True)
    assert result.code == 0
    assert json.loads(result.text)["method"] == method
    lines = result.err.splitlines()
    assert lines
    assert all(re.fullmatch(r"corate: .+ \(\d+ s(, .+ left)?\)", line) for line in lines)
    assert corate(*command, "--quiet", progress=True).err == ""


def test_a_checkpoint_is_taken_up_and_ends_where_one_run_would(corate, few, data, tmp_path):
    once, twice, checkpoint = tmp_path / "once", tmp_path / "twice", tmp_path / "c"
    in_words(corate, few, once, "--passes", "3")
    in_words(corate, few, twice, "--passes", "1", "--checkpoint", checkpoint)
    assert corate("train", few, "-o", twice, "--passes", "3", "--checkpoint", checkpoint, "--quiet").code == 0
    assert library.load(twice).strongest(50) == library.load(once).strongest(50)
    result = corate("train", data / "test.tsv", "-o", twice, "--checkpoint", checkpoint)
    assert result.code == 1
    assert "checkpoint is of other data" in result.err
