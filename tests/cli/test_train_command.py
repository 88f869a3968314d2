"""corate train: what scripts rely on in its output, its exit codes and the file it leaves."""

import json
import shutil

import pytest

from corate.progress import ProgressEvent
from corate.training import disk
from corate.training.methods import METHODS


def sentence_count(path):
    return path.read_text(encoding="utf-8").count("\n\n")


def test_json_tells_what_was_trained_how_long_it_took_and_how_large_it_is(corate, data, tmp_path):
    model = tmp_path / "m.corate"
    result = corate("train", data / "train.tsv", "-o", model, "--test", data / "test.tsv", "--json")
    assert (result.code, result.err) == (0, "")
    in_words = json.loads(result.text)
    assert in_words["method"] == next(iter(METHODS)) == "polish"
    assert in_words["sentences"] == sentence_count(data / "train.tsv")
    assert in_words["tokens"] == len(list(filter(None, (data / "train.tsv").read_text("utf-8").split("\n"))))
    assert in_words["labels"] == 17
    assert "features" in in_words
    assert 0 < in_words["seconds"] <= in_words["seconds_total"]
    assert in_words["model"] == str(model)
    assert in_words["bytes"] == model.stat().st_size
    assert in_words["bytes_per_token"] == pytest.approx(in_words["bytes"] / in_words["tokens"])
    assert 0.5 < in_words["test"]["accuracy"] <= 1
    assert in_words["test"]["f1"] is not None


@pytest.mark.parametrize("method", METHODS)
def test_the_same_training_writes_the_same_bytes_on_any_number_of_threads(corate, data, tmp_path, method):
    for name, threads in (("one", 1), ("two", 2), ("three", 3)):
        args = ("--method", method, "--threads", threads, "--seed", 5, "--quiet")
        assert corate("train", data / "test.tsv", "-o", tmp_path / name, *args).code == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == (tmp_path / "three").read_bytes()


def test_people_get_a_few_lines_and_quiet_none(corate, data, tmp_path):
    loud = corate("train", data / "train.tsv", "-o", tmp_path / "m", "--test", data / "test.tsv")
    assert "300 sentences" in loud.text
    assert "test: accuracy" in loud.text
    assert corate("train", data / "train.tsv", "-o", tmp_path / "m", "-q").out == b""


def test_standard_input_trains_the_same_model_as_the_file(corate, data, model, tmp_path):
    text = (data / "train.tsv").read_bytes()
    assert corate("train", "-", "-o", tmp_path / "m", "-q", "--method", "empirical", stdin=text).code == 0
    tagged = [corate("tag", m, data / "test.tsv").out for m in (model, tmp_path / "m")]
    assert tagged[0] == tagged[1]


def test_columns_are_named_on_the_command_line(corate, data, tmp_path):
    swapped = tmp_path / "swapped.tsv"
    rows = [row.split("\t") for row in (data / "train.tsv").read_text("utf-8").split("\n")]
    swapped.write_text("\n".join("\t".join([*row[::-1], "x"]) if row[0] else "" for row in rows), "utf-8")
    result = corate("train", swapped, "-o", tmp_path / "m", "--columns", "label,word,_", "--json")
    assert json.loads(result.text)["labels"] == 17


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "Missing"),
        (["FILE"], "--output"),
        (["FILE", "-o", "m", "--method", "magic"], "magic"),
        (["FILE", "-o", "m", "--threads", "0"], "threads"),
        (["FILE", "-o", "m", "--seed", "-1"], "seed"),
        (["FILE", "-o", "m", "--nonsense"], "--nonsense"),
        (["FILE", "-o", "FILE"], "training file itself"),
    ],
)
def test_wrong_usage_is_exit_code_2(corate, data, tmp_path, monkeypatch, args, said):
    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "train.tsv", "FILE")
    result = corate("train", *args)
    assert result.code == 2
    assert said in result.err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\n\n\n", "blank lines"),
        (b"Ann\tB-NAME\nLee\n\n", "line 2"),
        (b"Ann\tB-NAME\nZo\xeb\tI-NAME\n\n", "line 2"),
        (b"Ann\tB-NAME\nZ\0e\tI-NAME\n\n", "line 2"),
    ],
)
def test_unusable_data_is_exit_code_1_and_one_line_that_names_the_place(corate, tmp_path, content, said):
    file = tmp_path / "bad.tsv"
    file.write_bytes(content)
    result = corate("train", file, "-o", tmp_path / "m")
    assert (result.code, result.out) == (1, b"")
    assert result.err.startswith("corate: error: ")
    assert result.err.count("\n") == 1
    assert "bad.tsv" in result.err
    assert said in result.err
    assert not (tmp_path / "m").exists()


def test_skip_bad_goes_on_and_says_so_unless_quiet(corate, data, tmp_path):
    file = tmp_path / "ragged.tsv"
    file.write_bytes((data / "train.tsv").read_bytes() + b"Ann\tLee\tB-NAME\n")
    assert corate("train", file, "-o", tmp_path / "m").code == 1
    result = corate("train", file, "-o", tmp_path / "m", "--skip-bad")
    assert result.code == 0
    assert result.err.startswith("corate: warning: ")
    assert result.err.count("\n") == 1
    assert corate("train", file, "-o", tmp_path / "m", "--skip-bad", "-q").err == ""


def test_a_missing_file_is_exit_code_1(corate, tmp_path):
    result = corate("train", tmp_path / "none.tsv", "-o", tmp_path / "m")
    assert result.code == 1
    assert "none.tsv" in result.err


def test_a_model_that_cannot_be_written_is_found_out_before_training(corate, data, tmp_path, monkeypatch):
    def no_training(*args, **options):
        raise AssertionError("trained in vain")

    monkeypatch.setattr("corate.train", no_training)
    for target, said in [(tmp_path, "directory"), (tmp_path / "none" / "m", "no directory")]:
        result = corate("train", data / "train.tsv", "-o", target)
        assert result.code == 1
        assert said in result.err


def test_unknown_templates_and_presets_are_exit_code_1(corate, data, tmp_path):
    result = corate("train", data / "train.tsv", "-o", tmp_path / "m", "--features", "nonsense(word[0])")
    assert result.code == 1
    assert "nonsense" in result.err
    assert corate("train", data / "train.tsv", "-o", tmp_path / "m", "--features", "no-such-preset").code == 1


def test_ctrl_c_leaves_the_old_model_and_nothing_else(corate, data, tmp_path, monkeypatch):
    def interrupted(*args, progress, **options):
        progress(ProgressEvent("counting", 0.5))
        raise KeyboardInterrupt

    monkeypatch.setattr("corate.train", interrupted)
    model = tmp_path / "m.corate"
    model.write_bytes(b"the old model")
    result = corate("train", data / "train.tsv", "-o", model)
    assert (result.code, result.out) == (130, b"")
    assert result.err == "corate: interrupted\n"
    assert [p.name for p in tmp_path.iterdir()] == ["m.corate"]
    assert model.read_bytes() == b"the old model"


def test_smaller_models_tag_alike(corate, data, tmp_path):
    sizes, method = {}, ["--method", "empirical"]
    for name, options in (
        ("whole", []),
        ("pruned", ["--drop-rare", "2"]),
        ("least", ["--drop-rare", "2", "--half", "--no-counts"]),
    ):
        in_words = corate("train", data / "train.tsv", "-o", tmp_path / name, "--json", *method, *options)
        assert in_words.code == 0
        sizes[name] = json.loads(in_words.text)["bytes"]
        measured = json.loads(corate("eval", tmp_path / name, data / "test.tsv", "--json").text)
        assert measured["accuracy"] > 0.9
    assert sizes["least"] < sizes["pruned"] < sizes["whole"]


def test_labels_are_weighed(corate, data, tmp_path):
    found = {}
    for weight in ("0.01", "1", "100"):
        options = ["--method", "separate", "--features", "paper", "--label-weight", f"B-STREET={weight}"]
        assert corate("train", data / "train.tsv", "-o", tmp_path / "m", "-q", *options).code == 0
        tagged = corate("tag", tmp_path / "m", data / "test.tsv").text
        found[weight] = sum(line.endswith("\tB-STREET") for line in tagged.splitlines())
    assert found["0.01"] < found["1"] < found["100"]


@pytest.mark.parametrize("weight", ["B-STREET", "=2", "B-STREET=much"])
def test_a_weight_that_is_none_is_wrong_usage(corate, data, tmp_path, weight):
    result = corate("train", data / "train.tsv", "-o", tmp_path / "m", "--method", "separate", "--label-weight", weight)
    assert result.code == 2
    assert "--label-weight" in result.err
    assert not (tmp_path / "m").exists()


def test_a_label_that_is_not_there_cannot_be_weighed(corate, data, tmp_path):
    options = ["--method", "separate", "--label-weight", "B-PLANET=2"]
    result = corate("train", data / "train.tsv", "-o", tmp_path / "m", *options)
    assert result.code == 1
    assert "B-PLANET" in result.err


def test_words_taken_for_labels_are_refused_in_one_line_that_names_the_remedies(corate, tmp_path):
    (tmp_path / "swapped.tsv").write_text("".join(f"T{i % 7}\tw{i}\n\n" for i in range(300)), "utf-8")
    args = ["--method", "empirical", "--quiet"]
    result = corate("train", tmp_path / "swapped.tsv", "-o", tmp_path / "m", *args)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "is the label column right? Name the columns with --columns" in result.err
    assert "--many-labels" in result.err
    assert not (tmp_path / "m").exists()
    assert corate("train", tmp_path / "swapped.tsv", "-o", tmp_path / "m", "--many-labels", *args).code == 0


@pytest.mark.parametrize(("method", "notes"), [("empirical", 0), ("polish", 1), ("perceptron", 1)])
def test_counts_that_a_model_does_not_hold_cannot_be_left_out_and_are_told_of(corate, data, tmp_path, method, notes):
    result = corate("train", data / "test.tsv", "-o", tmp_path / "m", "--method", method, "--no-counts")
    assert result.code == 0
    assert result.err.count("--no-counts has no effect: a model of") == result.err.count("\n") == notes


def test_a_calibrated_model_says_its_temperature_and_labels_alike(corate, data, tmp_path):
    plain, calibrated = tmp_path / "plain.corate", tmp_path / "calibrated.corate"
    assert corate("train", data / "train.tsv", "-o", plain, "-q").code == 0
    result = corate("train", data / "train.tsv", "-o", calibrated, "--calibrate")
    assert (result.code, result.err) == (0, "")
    assert "temperature: " in result.text
    assert "temperature" in corate("info", calibrated).text
    assert "temperature" not in corate("info", plain).text
    assert corate("tag", calibrated, data / "test.tsv").out == corate("tag", plain, data / "test.tsv").out


def test_a_memm_is_not_calibrated(corate, data, tmp_path):
    result = corate("train", data / "train.tsv", "-o", tmp_path / "m", "--method", "memm", "--calibrate")
    assert result.code == 1
    assert "omit --calibrate" in result.err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_text_larger_than_memory_gives_the_same_model(corate, data, tmp_path, threads, monkeypatch):
    monkeypatch.setattr(disk, "STORED_EMPIRICAL", (0, 0))
    monkeypatch.setattr(disk, "STORED_TEXT", (0, 1))
    text, common = data / "test.tsv", ("--method", "empirical", "--threads", threads, "--quiet")
    for name, limit in (("disk", "100K"), ("memory", "1G")):
        assert corate("train", text, "-o", tmp_path / name, "--memory", limit, *common).code == 0
    piped = ("train", "-", "-o", tmp_path / "piped", "--memory", "100K", *common)
    assert corate(*piped, stdin=text.read_bytes()).code == 0
    assert len({(tmp_path / name).read_bytes() for name in ("disk", "memory", "piped")}) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "memory", "piped"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--memory", "lots"), "must be a size with a unit (B, K, M, G, T), such as 500M or 2G, not 'lots'"),
        (("--memory", "9" * 400 + "G"), "must be a size"),
        (("--memory", "2"), "must be a size with a unit (B, K, M, G, T), such as 500M or 2G, not '2'"),
        (("--memory", "100K", "--method", "memm"), "'lbfgs' needs the text in memory"),
        (("--memory", "100K", "--raw", "raw.txt"), "--raw needs the text in memory"),
        (("--memory", "100K", "--method", "empirical", "--temporary", "nowhere"), "another folder with --temporary"),
        (("--memory", "50M", "--method", "empirical"), "50 MB is too small for any text; give more than 100 MB"),
    ],
)
def test_memory_limits_that_cannot_be_kept(corate, data, tmp_path, options, message):
    result = corate("train", data / "test.tsv", "-o", tmp_path / "model", *options)
    assert result.code in (1, 2)
    assert message in " ".join(result.err.split())
    assert not (tmp_path / "model").exists()
