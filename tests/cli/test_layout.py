"""A model remembers the columns it was trained on: other commands read data laid out in the same way without names."""

import json

import pytest

import corate as library

WORDS = [("the", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("sleeps", "VBZ", "B-VP")]
LAYOUTS = ["word,pos,label", "label,_,word", "pos,label,form", "form,lemma,label"]


def row_of(token, layout, *, without=()):
    word, pos, label = token
    values = {"word": word, "form": word, "pos": pos, "lemma": pos, "_": pos, "label": label}
    return " ".join(values[name] for name in layout.split(",") if name not in without)


def text_of(layout, **options):
    return "\n".join(row_of(token, layout, **options) for token in WORDS) + "\n\n"


@pytest.fixture(params=LAYOUTS)
def laid_out(request, corate, tmp_path):
    """A layout, and a model trained on a file laid out so."""
    (tmp_path / "train").write_text(text_of(request.param) * 30)
    result = corate("train", tmp_path / "train", "-o", tmp_path / "m", "--columns", request.param, "-q")
    assert (result.code, result.err) == (0, "")
    return request.param, tmp_path / "m"


def test_the_layout_is_in_the_model(corate, laid_out):
    layout, model = laid_out
    assert json.loads(corate("info", model, "--json").text)["record"]["layout"] == layout.split(",")
    assert library.load(model).layout == tuple(layout.split(","))


def test_eval_reads_the_layout_of_training(corate, laid_out):
    layout, model = laid_out
    scores = json.loads(corate("eval", model, "-", "-f", "columns", "--json", stdin=text_of(layout).encode()).text)
    assert (scores["accuracy"], scores["accuracy_known"]) == (1, 1)


@pytest.mark.parametrize("to", ["columns", "slashed"])
def test_tag_reads_it_with_the_label_column_and_without(corate, laid_out, to):
    layout, model = laid_out
    for without in ((), ("label",)):
        given = text_of(layout, without=without)
        result = corate("tag", model, "-f", "columns", "--to", to, stdin=given.encode())
        assert (result.code, result.err) == (0, "")
        if to == "columns":
            rows = [f"{row_of(token, layout, without=without)} {token[2]}" for token in WORDS]
            assert result.text == "\n".join(rows) + "\n\n"
        elif "word" in layout or layout.startswith("form"):
            assert result.text == " ".join(f"{word}/{label}" for word, _, label in WORDS) + "\n"


def test_plain_text_and_word_label_lines_have_the_words_of_any_layout(corate, tmp_path):
    (tmp_path / "train").write_text(text_of("label,_,form") * 30)
    assert corate("train", tmp_path / "train", "-o", tmp_path / "m", "--columns", "label,_,form", "-q").code == 0
    tagged = corate("tag", tmp_path / "m", "-f", "text", stdin=b"the cat sleeps\n").text
    assert tagged == "".join(f"{word}\t{label}\n" for word, _, label in WORDS) + "\n"
    slashed = " ".join(f"{word}/{label}" for word, _, label in WORDS).encode()
    assert json.loads(corate("eval", tmp_path / "m", "-", "--json", stdin=slashed).text)["accuracy"] == 1


def test_data_of_another_width_is_not_bent_to_a_layout_of_ones_own(corate, tmp_path):
    (tmp_path / "train").write_text(text_of("label,_,word") * 30)
    assert corate("train", tmp_path / "train", "-o", tmp_path / "m", "--columns", "label,_,word", "-q").code == 0
    for command in (["eval", tmp_path / "m", "-"], ["tag", tmp_path / "m"]):
        result = corate(*command, "-f", "columns", stdin=b"a b c d\n")
        assert result.code == 1
        assert "standard input" in result.err
        assert "label, _, word" in result.err
        assert "--columns" in result.err
    tagged = corate("tag", tmp_path / "m", "-f", "columns", "--columns", "word,_", stdin=b"cat x\n")
    assert tagged.text == "cat x I-NP\n"


def test_the_usual_layout_takes_more_and_fewer_columns(corate, tmp_path):
    (tmp_path / "train").write_text(text_of("word,label") * 30)
    assert corate("train", tmp_path / "train", "-o", tmp_path / "m", "-q").code == 0
    for layout in ("word,pos,label", "word,label"):
        given = text_of(layout).encode()
        assert (
            json.loads(corate("eval", tmp_path / "m", "-", "-f", "columns", "--json", stdin=given).text)["accuracy"]
            == 1
        )
        tagged = corate("tag", tmp_path / "m", "-f", "columns", stdin=given).text
        assert [row.split()[-1] for row in tagged.split("\n") if row] == [label for _, _, label in WORDS]


def test_held_out_and_test_files_are_read_as_the_training_file(corate, tmp_path):
    (tmp_path / "train").write_text(text_of("label,_,word") * 30)
    options = ["--columns", "label,_,word", "--test", tmp_path / "train", "--held-out", tmp_path / "train"]
    result = corate("train", tmp_path / "train", "-o", tmp_path / "m", *options, "--json")
    assert json.loads(result.text)["test"]["accuracy"] == 1


def test_lists_in_python_have_a_layout_too():
    tagger = library.train(library.Corpus.from_sentences([[("X", "a"), ("Y", "b")]], columns=["label", "word"]))
    assert tagger.layout == ("label", "word")
    tagger = library.train(library.Corpus.from_sentences([[("a", "N"), ("b", "V")]], [["X", "Y"]]))
    assert tagger.layout == ("word", "pos", "label")
    assert library.read(b"a N X\nb V Y\n", layout=tagger.layout).labels_of(0) == ["X", "Y"]


def test_slices_keep_their_layout():
    corpus = library.read(b"X a\nY b\n", columns="label,word")
    assert corpus[:1].layout == corpus.shuffle().layout == ("label", "word")


def test_a_label_alone_is_nothing_to_train_on(corate, tmp_path):
    (tmp_path / "train").write_text(text_of("word,pos,label"))
    result = corate("train", tmp_path / "train", "-o", tmp_path / "m", "--columns", "_,_,label")
    assert result.code == 1
    assert "name a word column, too" in result.err
