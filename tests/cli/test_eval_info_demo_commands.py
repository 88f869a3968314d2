"""corate eval, info and demo: numbers for scripts, tables for people."""

import json
import re
from xml.etree import ElementTree

import pytest

SCORES = ["accuracy", "accuracy_known", "accuracy_oov", "precision", "recall", "f1", "tokens", "tokens_per_second"]


def test_eval_json_has_fractions(corate, data, model):
    result = corate("eval", model, data / "test.tsv", "--json")
    assert (result.code, result.err) == (0, "")
    scores = json.loads(result.text)
    assert set(SCORES) <= set(scores)
    assert all(0 < scores[key] <= 1 for key in SCORES[:6])
    assert scores["accuracy_oov"] < scores["accuracy"] < scores["accuracy_known"]
    assert scores["tokens_per_second"] > 0


def test_eval_agrees_with_the_labels_that_tag_adds(corate, data, model):
    tagged = [row.split("\t") for row in corate("tag", model, data / "test.tsv").text.split("\n") if row]
    scores = json.loads(corate("eval", model, data / "test.tsv", "--json").text)
    assert scores["tokens"] == len(tagged)
    assert scores["accuracy"] == pytest.approx(sum(gold == guess for _, gold, guess in tagged) / len(tagged))


def test_what_cannot_be_measured_is_null(corate, tmp_path):
    (tmp_path / "t.tsv").write_text("the\tDET\ndog\tNOUN\n\nthe\tDET\ncat\tNOUN\n\n" * 20)
    assert corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", "-q").code == 0
    scores = json.loads(corate("eval", tmp_path / "m", tmp_path / "t.tsv", "--json").text)
    assert scores["accuracy"] == 1
    assert [scores[key] for key in ("accuracy_oov", "precision", "recall", "f1")] == [None] * 4


def test_a_label_never_seen_in_training_is_counted_wrong(corate, model):
    scores = json.loads(corate("eval", model, "-", "--json", "-f", "columns", stdin=b"Boston\tB-PLANET\n").text)
    assert scores["accuracy"] == 0


def test_eval_for_people_is_aligned_text_and_confusion_is_on_request(corate, data, model):
    short = corate("eval", model, data / "test.tsv").text
    assert "accuracy" in short
    assert "\x1b" not in short
    assert "predicted as" not in short
    assert "predicted as" in corate("eval", model, data / "test.tsv", "--confusion").text


def test_text_without_labels_cannot_be_evaluated(corate, model):
    result = corate("eval", model, "-", "-f", "columns", stdin=b"Ann\nLee\n")
    assert result.code == 1
    assert result.err.startswith("corate: error: ")


def test_info_without_a_model_lists_versions(corate):
    import corate as library
    from corate.versions import versions

    assert json.loads(corate("info", "--json").text) == versions()
    assert corate("info").text.startswith("corate ")
    assert library.__version__ in corate("info").text
    wrong = corate("info", "--weights")
    assert wrong.code == 2
    assert "--weights: this needs a model file" in wrong.err


def test_info_tells_what_is_in_a_model(corate, model):
    facts = json.loads(corate("info", model, "--json").text)
    assert facts["method"] == "empirical"
    assert facts["columns"] == ["word"]
    assert "B-STREET" in facts["labels"]
    assert facts["record"]["sentences"] == 300
    assert all(pair["rate"] > 1 for pair in facts["attractive"])
    assert all(pair["rate"] < 1 for pair in facts["repulsive"])
    assert facts["strongest"][0]["weight"] > 0
    assert facts["strongest"][0]["label"] in facts["labels"]
    shown = corate("info", model, "--all")
    assert (shown.code, shown.err) == (0, "")
    assert "B-STREET" in shown.text
    assert "attract" in shown.text
    assert facts["strongest"][0]["feature"] in shown.text
    short = corate("info", model).text
    assert short.endswith("\nmore with --templates and --weights\n")
    assert shown.text.startswith(short.rpartition("\nmore with")[0])
    assert "more with" not in shown.text


def rows_of(corate, path):
    """The first table of what info shows."""
    lines = corate("info", path).text.partition("\n\n")[0].splitlines()
    return {name: text.strip() for name, text in (line.split("  ", 1) for line in lines)}


def info_of(corate, tmp_path, text, *args):
    (tmp_path / "text").write_text(text)
    assert corate("train", tmp_path / "text", "-o", tmp_path / "m", *args, "-q").code == 0
    return rows_of(corate, tmp_path / "m")


def test_info_says_what_a_model_is_for(corate, model, data):
    import corate as library

    rows = rows_of(corate, model)
    assert rows["spans"].startswith("8 types: CITY COUNTRY HOUSE")
    assert rows["trained on"].startswith("300 sentences, ")
    assert rows["trained on"].endswith(f"by corate {library.__version__}")
    assert rows["held-out"].startswith("accuracy ")
    assert rows["more text"] == "corate update adds to its counts"
    command = rows["tag with"].replace("new.txt", str(data / "new.txt")).split()
    assert command[0] == "corate"
    assert corate(*command[1:]).code == 0
    parts = json.loads(corate("info", model, "--json").text)["bytes_by_part"]
    assert sum(parts.values()) == model.stat().st_size
    assert parts["counts for updates"] > 0


COLUMNS = "Ann\tNNP\tN\nsings\tVB\tV\n\n" * 9
CONLLU = "".join(f"{i}\t{w}\t_\t{u}" + "\t_" * 6 + "\n" for i, w, u in ((1, "Ann", "N"), (2, "sings", "V"))) + "\n"


@pytest.mark.parametrize(
    ("text", "args", "name", "said"),
    [
        (COLUMNS, ["--columns", "word,pos,label", "--features", "word[0]; pos[0]"], "input", "columns word, pos, one"),
        (COLUMNS, ["--columns", "word,pos,label", "--features", "word[0]"], "input", "; pos may be anything"),
        (CONLLU * 9, ["--format", "conllu"], "input", "CoNLL-U; the label is upos"),
        ("N\tw=Ann\nV\tw=sings\n\n" * 9, ["--format", "items"], "input", "ready-made features"),
        (COLUMNS, ["--method", "memm", "--iterations", "3"], "more text", "train it again"),
        (COLUMNS, ["--method", "polish"], "more text", "corate train --init"),
        (COLUMNS, ["--method", "perceptron"], "probabilities", "not calibrated"),
        (COLUMNS, ["--method", "perceptron", "--calibrate"], "probabilities", "calibrated on held-out text, with"),
        ("Ann\tB-X\nsings\tO\n\n" * 9, ["--constrain", "auto"], "constraints", "valid in IOB2"),
    ],
)
def test_info_says_what_input_a_model_expects_and_what_it_gives(corate, tmp_path, text, args, name, said):
    rows = info_of(corate, tmp_path, text, *args)
    assert said in rows[name]
    (tmp_path / "again").write_text(text)
    words = rows["tag with"].split()
    words[3] = str(tmp_path / "again")
    if "-o" in words:
        words[words.index("-o") + 1] = str(tmp_path / "tagged")
    assert corate(*words[1:]).code == 0


@pytest.mark.parametrize(
    ("options", "lattice"),
    [
        ([], "full: all labels of each token"),  # the default, pruned, is full if there are few labels
        (["--base", "paper"], "pruned: the labels that are likely for each word"),
        (["--base", "paper", "--lattice", "full"], "full: all labels of each token"),
    ],
)
def test_info_explains_the_lattice_that_was_used(corate, data, tmp_path, options, lattice):
    path = tmp_path / "model.corate"
    assert corate("train", data / "train.tsv", "-o", path, "--passes", "1", *options, "--quiet").code == 0
    shown = dict(
        re.split(r"\s{2,}", line, maxsplit=1) for line in corate("info", path).text.splitlines() if "  " in line
    )
    assert shown["lattice"] == lattice


def test_info_refuses_other_files(corate, data):
    result = corate("info", data / "train.tsv")
    assert result.code == 1
    assert "train.tsv" in result.err


def test_the_demo_trains_measures_tags_and_says_what_to_do_next(corate):
    result = corate("demo", "--sentences", 300)
    assert (result.code, result.err) == (0, "")
    assert "accuracy" in result.text
    assert "[STREET " in result.text
    assert "corate train train.tsv -o my.corate" in result.text


def test_the_demo_writes_files_to_go_on_with(corate, tmp_path):
    result = corate("demo", "--write", tmp_path / "data", "--sentences", 80)
    assert result.text.split() == [str(tmp_path / "data" / name) for name in ("train.tsv", "test.tsv", "new.txt")]
    assert corate("train", tmp_path / "data" / "train.tsv", "-o", tmp_path / "m").code == 0


def test_calibration_is_shown_and_printed_as_json(corate, data, model):
    shown = corate("eval", model, data / "test.tsv", "--calibration")
    assert (shown.code, shown.err) == (0, "")
    for title in ("all tokens", "tokens predicted other than O", "predicted spans", "95% interval"):
        assert title in shown.text
    found = json.loads(corate("eval", model, data / "test.tsv", "--calibration", "--json").text)
    groups = found["calibration"]
    assert list(groups) == ["tokens", "inside", "spans"]
    assert groups["tokens"]["count"] == found["tokens"]
    assert groups["tokens"]["accuracy"] == pytest.approx(found["accuracy"])
    assert groups["spans"]["accuracy"] == pytest.approx(found["precision"])
    assert sum(b["count"] for b in groups["inside"]["bins"]) == groups["inside"]["count"]
    assert "calibration" not in json.loads(corate("eval", model, data / "test.tsv", "--json").text)


def test_errors_are_marked_in_lines_of_a_hundred_columns(corate, data, model):
    result = corate("eval", model, data / "test.tsv", "--errors", 3, "--least-sure", 2)
    assert (result.code, result.err) == (0, "")
    listing = result.text[result.text.index("sentences with errors") :]
    assert max(map(len, listing.splitlines())) <= 100
    assert listing.count("\nsentence ") == 5
    assert "  token      " in listing
    found = json.loads(corate("eval", model, data / "test.tsv", "--errors", 3, "--least-sure", 2, "--json").text)
    assert len(found["errors"]) == 3
    assert len(found["least_sure"]) == 2
    for sentence in found["errors"]:
        wrong = [g != p for g, p in zip(sentence["gold"], sentence["predicted"], strict=True)]
        assert any(wrong)
        for token, marked in zip(sentence["tokens"], wrong, strict=True):
            assert not marked or f"*{token}" in listing
    assert found["span_errors"]["correct"] > 0


def test_long_sentences_are_cut_into_blocks(corate, data, model, tmp_path):
    row = "Longwordlongword\tB-NAME\n"
    (tmp_path / "long.tsv").write_text(row * 40 + "\n" + ("w" * 150 + "\tO\n") + "\n")
    text = corate("eval", model, tmp_path / "long.tsv", "--least-sure", 2).text
    listing = text[text.index("sentences with the least") :]
    assert listing.count("  gold ") > 5
    assert max(len(line) for line in listing.splitlines() if "www" not in line) <= 100


# -- pictures of an evaluation ----------------------------------------------------------------------------------------


def titles(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("title")]


def test_the_confusion_matrix_is_drawn_with_its_counts(corate, model, data, tmp_path):
    picture = tmp_path / "c.svg"
    result = corate("eval", model, data / "test.tsv", "--json", "--plot", picture)
    assert (result.code, result.err) == (0, "")
    tips = titles(picture.read_text())
    for error in json.loads(result.text)["most_confused"][:5]:
        in_words = f"{error['gold']} predicted as {error['predicted']}: {error['tokens']} of "
        assert any(tip.startswith(in_words) for tip in tips)
    cells = [tip for tip in tips if " predicted as " in tip]
    totals = {tip.split(" predicted as ")[0]: int(tip.split(" of ")[1].split()[0]) for tip in cells}
    assert len(cells) == len(totals) ** 2
    assert sum(totals.values()) == json.loads(result.text)["tokens"]


def test_with_calibration_the_calibration_is_drawn_and_a_page_has_both(corate, model, data, tmp_path):
    picture, page = tmp_path / "c.svg", tmp_path / "c.html"
    assert corate("eval", model, data / "test.tsv", "-q", "--calibration", "--plot", picture).code == 0
    assert any("accuracy" in tip and "predictions" in tip for tip in titles(picture.read_text()))
    assert "predicted as" not in picture.read_text()
    assert corate("eval", model, data / "test.tsv", "-q", "--calibration", "--plot", page).code == 0
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "known words" in text
    assert "<script" not in text


@pytest.mark.parametrize("name", ["c.png", "c"])
def test_other_pictures_are_wrong_usage(corate, model, data, name):
    result = corate("eval", model, data / "test.tsv", "--plot", name)
    assert (result.code, "must end in .svg or .html" in result.err) == (2, True)


def test_an_input_is_not_overwritten_by_a_picture(corate, model, tmp_path):
    (tmp_path / "t.svg").write_text("Ann\tB-NAME\n")
    assert corate("eval", model, tmp_path / "t.svg", "--plot", tmp_path / "t.svg").code == 2
    assert (tmp_path / "t.svg").read_text() == "Ann\tB-NAME\n"
