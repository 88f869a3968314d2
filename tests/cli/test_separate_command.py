"""corate train --method separate: its options, its checkpoints, what Ctrl-C leaves, and what corate info tells."""

import json

import pytest

import corate as library
from corate.cli import terminal
from corate.training.methods import METHODS, Separate, options_of


@pytest.fixture(scope="session")
def small(tmp_path_factory, data):
    """The first sentences of the small corpus: enough to train on, little to wait for."""
    path = tmp_path_factory.mktemp("small") / "small.tsv"
    text = (data / "train.tsv").read_text("utf-8")
    path.write_text("\n\n".join(text.split("\n\n")[:80]) + "\n\n", "utf-8")
    return path


def separate(corate, file, model, *args):
    return corate("train", file, "-o", model, "--method", "separate", *args)


def in_words(corate, file, model, *args):
    result = separate(corate, file, model, "--json", *args)
    assert (result.code, result.err) == (0, "")
    return json.loads(result.text)


def labels(corate, model, data):
    return corate("tag", model, data / "test.tsv").out


def test_it_trains_a_model_that_tags(corate, data, tmp_path):
    result = in_words(corate, data / "train.tsv", tmp_path / "m", "--test", data / "test.tsv")
    assert (result["method"], result["base"], result["coupling"]) == ("separate", "default", "given-nodes")
    assert result["interrupted"] is False
    assert result["test"]["accuracy"] > 0.9
    assert "accuracy" in corate("eval", tmp_path / "m", data / "test.tsv").text


@pytest.mark.parametrize(
    ("option", "value", "key"),
    [
        (f"--{name}", value, name)
        for name in ("base", "coupling", "optimizer")
        for value in options_of(Separate)[name].choices
    ],
)
def test_every_choice_of_the_library_is_an_option(corate, small, tmp_path, option, value, key):
    args = ["--features", "word[0], suffix(word[0], 2)"]
    assert in_words(corate, small, tmp_path / "m", option, value, *args)[key] == value


def test_numbers_are_options_and_set_still_works_with_a_warning(corate, small, tmp_path):
    settings = in_words(corate, small, tmp_path / "m", "--passes", "2", "--sigma2", "0.25")["settings"]
    assert (settings["passes"], settings["sigma2"]) == (2, 0.25)
    old = ["--set", "passes=2", "--set", "sigma2 = 0.25", "--set", "coupling=0.5"]
    result = separate(corate, small, tmp_path / "old", *old, "--json")
    assert result.code == 0
    assert result.err.count("\n") == 3
    assert "--set is deprecated, and will be removed in version 0.3; use --coupling-weight 0.5" in result.err
    assert json.loads(result.text)["settings"].items() >= {"passes": 2, "sigma2": 0.25, "coupling_weight": 0.5}.items()


def test_expert_options_are_set_with_set_and_by_their_flags_with_a_warning(corate, small, tmp_path):
    command = ("train", small, "-o", tmp_path / "m", "--method", "empirical", "--json")
    found = corate(*command, "--set", "oov=0.5", "--set", "rare = 3")
    assert (found.code, found.err) == (0, "")
    assert json.loads(found.text)["settings"].items() >= {"oov": 0.5, "rare": 3}.items()
    old = corate(*command, "--oov", "0.5")
    assert "--oov is deprecated, and will be removed in version 0.4; use --set oov=0.5" in old.err
    assert json.loads(old.text)["settings"]["oov"] == 0.5
    for wrong, said in (("oov=much", "oov must be a number, not 'much'"), ("batch=4", "batch is an option of the")):
        refused = corate(*command, "--set", wrong)
        assert refused.code == 2
        assert f"--set: {said}" in " ".join(refused.err.split())


def test_former_names_of_options_still_work_with_a_warning(corate, small, tmp_path):
    command = ("train", small, "-o", tmp_path / "m", "--method", "empirical", "--json")
    for old, said in [
        (("--ladder", "paper"), "--ladder is deprecated, and will be removed in version 0.4; use --backoff"),
        (("--set", "rung_k=2"), "--set rung_k is deprecated, and will be removed in version 0.4; use --set level_k"),
        (("--rung-k", "2"), "--rung-k is deprecated, and will be removed in version 0.4; use --set level_k=2"),
    ]:
        found = corate(*command, *old)
        assert (found.code, found.err.count("\n")) == (0, 1)
        assert said in found.err
        record = json.loads(found.text)
        assert record["ladder"] == "paper" if old[0] == "--ladder" else record["settings"]["rung_k"] == 2.0
    twice = corate(*command, "--ladder", "paper", "--backoff", "paper")
    assert (twice.code, "--backoff is given, too" in twice.err) == (2, True)
    assert "--ladder" not in corate("train", "--help-all").text
    (tmp_path / "corate.toml").write_text('[train]\nladder = "paper"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        found = corate(*command)
    assert "use --backoff" in found.err
    assert json.loads(found.text)["ladder"] == "paper"


def test_all_that_is_given_reaches_the_library(corate, small, tmp_path, monkeypatch):
    seen = {}
    train = library.train

    def spied(corpus, method, **options):
        seen.update(options, method=method)
        return train(corpus)

    monkeypatch.setattr("corate.train", spied)
    args = ["--tune", "--checkpoint", tmp_path / "c", "--threads", 2, "--seed", 3, "--rate", "0.5", "--all-labels"]
    assert separate(corate, small, tmp_path / "m", *args).code == 0
    assert {"threads": 2, "seed": 3}.items() <= seen.items()
    assert seen["method"] == Separate(tune=True, checkpoint=str(tmp_path / "c"), rate=0.5, all_labels=True)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ["--method", "separate", "--backoff", "paper"],
            "--backoff: backoff is an option of the method 'empirical', not of 'separate'",
        ),
        (
            ["--method", "empirical", "--base", "none"],
            "--base: base is an option of the method 'polish' or 'separate', not of 'empirical'",
        ),
        (["--coupling", "joint"], "--coupling: coupling is an option of the method 'separate', not of 'polish'"),
        (
            ["--method", "empirical", "--optimizer", "lbfgs"],
            "--optimizer: optimizer is an option of the method 'polish' or 'separate' or",
        ),
        (["--method", "empirical", "--tune"], "--tune: tune is an option of the method 'polish' or 'separate' or"),
        (
            ["--method", "empirical", "--checkpoint", "c"],
            "--checkpoint: checkpoint is an option of the method 'polish' or",
        ),
        (
            ["--method", "empirical", "--sigma2", "1"],
            "--sigma2: sigma2 is an option of the method 'separate', not of 'empirical'",
        ),
        (
            ["--method", "separate", "--word-k", "1"],
            "--word-k: word_k is an option of the method 'empirical', not of 'separate'",
        ),
        (["--method", "separate", "--set", "sigma2"], "no NAME=VALUE"),
        (["--method", "separate", "--sigma2", "much"], "'much' is not a valid float"),
        (["--method", "separate", "--sigma2", "-1"], "sigma2 must be"),
        (["--method", "separate", "--sigma2", "nan"], "sigma2 must be"),
        (["--method", "separate", "--passes", "2.5"], "passes must be an integer from 1 to 1000000"),
        (["--method", "separate", "--passes", "inf"], "passes must be an integer from 1 to 1000000"),
        (["--method", "separate", "--base", "acid"], "'acid' is not one of default, pooled, paper, none, separate"),
        (
            ["--method", "separate", "--base", "separate"],
            "unknown base 'separate'; there are default, pooled, paper, none",
        ),
        (["--method", "separate", "--coupling", "loose"], "'loose' is not one of"),
        (["--method", "separate", "--optimizer", "newton"], "'newton' is not one of"),
        (["--method", "separate", "--checkpoint", "m"], "m is the model file itself"),
        (["--method", "separate", "--checkpoint", "FILE"], "FILE is the training file itself"),
        (["--method", "separate", "--optimizer", "lbfgs", "--checkpoint", "c"], "use 'adagrad'"),
        (["--method", "magic"], f"'magic' is not one of {', '.join(METHODS)}"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(corate, small, tmp_path, monkeypatch, args, said):
    monkeypatch.chdir(tmp_path)
    text = small.read_bytes()
    (tmp_path / "FILE").write_bytes(text)
    result = corate("train", "FILE", "-o", "m", *args)
    assert (result.code, result.out) == (2, b"")
    assert said in " ".join(result.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]
    assert (tmp_path / "FILE").read_bytes() == text


# -- checkpoints -----------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_taken_up_and_ends_where_one_run_would(corate, small, data, tmp_path):
    once, twice, checkpoint = tmp_path / "once", tmp_path / "twice", tmp_path / "c"
    in_words(corate, small, once, "--passes", "3")
    in_words(corate, small, twice, "--passes", "1", "--checkpoint", checkpoint)
    assert checkpoint.exists()
    resumed = separate(corate, small, twice, "--passes", "3", "--checkpoint", checkpoint)
    assert (resumed.code, resumed.err) == (0, "corate: fitting the nodes: resumed at pass 2 of 3\n")
    assert library.load(twice).strongest(50) == library.load(once).strongest(50)
    assert labels(corate, twice, data) == labels(corate, once, data)


def test_a_checkpoint_of_another_run_is_refused(corate, small, tmp_path):
    in_words(corate, small, tmp_path / "m", "--passes", "1", "--checkpoint", tmp_path / "c")
    result = separate(corate, small, tmp_path / "n", "--rate", "0.3", "--checkpoint", tmp_path / "c")
    assert result.code == 1
    assert "c: the checkpoint is of other data or settings" in result.err
    assert not (tmp_path / "n").exists()


def test_a_checkpoint_that_cannot_be_written_is_found_out_before_training(corate, small, tmp_path, monkeypatch):
    def no_training(*args, **options):
        raise AssertionError("trained in vain")

    monkeypatch.setattr("corate.train", no_training)
    result = separate(corate, small, tmp_path / "m", "--checkpoint", tmp_path / "none" / "c")
    assert result.code == 1
    assert "no directory" in result.err


# -- Ctrl-C ----------------------------------------------------------------------------------------------------------


def interrupt_at(monkeypatch, stage, done=0.0):
    """Ctrl-C when a stage has got so far, once."""
    hit = []

    def progress(self, event):
        if not hit and event.title.startswith(stage) and (event.fraction or 0.0) >= done:
            hit.append(event)
            raise KeyboardInterrupt

    monkeypatch.setattr(terminal.ProgressBar, "show", progress)


def test_ctrl_c_before_the_first_pass_leaves_nothing(corate, small, tmp_path, monkeypatch):
    interrupt_at(monkeypatch, "fitting the nodes")
    result = separate(corate, small, tmp_path / "m", "--passes", "4")
    assert (result.code, result.out, result.err) == (130, b"", "corate: interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("stage", "done"), [("fitting the nodes", 0.6), ("fitting half 2", 0.0)])
@pytest.mark.parametrize("quiet", [False, True])
def test_ctrl_c_later_saves_the_model_reached_so_far_and_says_where(
    corate, small, data, tmp_path, monkeypatch, stage, done, quiet
):
    interrupt_at(monkeypatch, stage, done)
    model, partial = tmp_path / "m", tmp_path / "m.partial"
    result = separate(corate, small, model, "--passes", "4", "-q" if quiet else "--json")
    assert (result.code, result.text) == (130, "")
    said = f"{partial} contains the model reached so far; {model} was not written"
    assert result.err == f"corate: interrupted: {said}\n"
    monkeypatch.undo()
    assert json.loads(corate("info", partial, "--json").text)["record"]["interrupted"] is True
    assert json.loads(corate("eval", partial, data / "test.tsv", "--json").text)["accuracy"] > 0.8
    assert not model.exists()


# -- corate info -----------------------------------------------------------------------------------------------------


def test_info_tells_how_it_was_trained_and_what_weighs_most(corate, small, tmp_path):
    model = tmp_path / "m"
    in_words(corate, small, model, "--base", "paper", "--passes", "2")
    facts = json.loads(corate("info", model, "--json").text)
    record = facts["record"]
    assert (record["base"], record["coupling"], record["settings"]["passes"]) == ("paper", "given-nodes", 2)
    weights = [entry["weight"] for entry in facts["strongest"]]
    positive, negative = [w for w in weights if w > 0], [w for w in weights if w < 0]
    assert weights == sorted(positive, reverse=True) + sorted(negative)
    assert positive
    assert negative
    assert all(entry["label"] in facts["labels"] for entry in facts["strongest"])
    assert all(entry["feature"].split("=")[0] in facts["templates"] for entry in facts["strongest"])
    assert all(pair["rate"] is None and pair["weight"] > 0 for pair in facts["attractive"])
    assert all(pair["rate"] is None and pair["weight"] < 0 for pair in facts["repulsive"])
    shown = corate("info", model, "--weights").text
    for words in (
        "base",
        "paper",
        "coupling",
        "given-nodes",
        "sigma2 1,",
        "features for",
        "features against",
        "attract",
    ):
        assert words in shown
    assert facts["strongest"][0]["feature"] in shown
