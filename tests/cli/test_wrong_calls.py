"""Calls that people make in a hurry: one line says what is wrong, names the file, and says what to do."""

import os
from pathlib import Path

import pytest

import corate as library
from command_line import one_line
from corate import ConfigError, Corpus, DataError, ModelError


@pytest.fixture(name="unlabelled")
def _unlabelled(tmp_path):
    path = tmp_path / "unlabelled.tsv"
    path.write_text("Ann\nLee\n\nBob\n")
    return path


def wrong_usage(result, *said):
    """The command was refused before any work: the last line says these things."""
    assert result.code == 2
    assert all(text in result.err.splitlines()[-1] for text in said), result.err
    return True


@pytest.mark.parametrize("command", ["tag", "eval", "update", "active", "inspect"])
def test_a_text_in_the_place_of_the_model(corate, command, data, model, tmp_path):
    output = ["-o", tmp_path / "out.html"] if command in ("update", "inspect") else []
    result = corate(command, data / "test.tsv", model, *output)
    assert one_line(result, f"test.tsv is not a model, but {model} is one; give the model first")
    assert list(tmp_path.iterdir()) == []


def test_a_text_in_the_place_of_the_model_and_no_model(corate, data):
    assert one_line(
        corate("tag", data / "test.tsv", data / "new.txt"),
        "test.tsv: not a corate model",
        "a text file",
        "give the path of a model that corate saved",
    )


@pytest.mark.parametrize(
    "command",
    [
        "train {text} -o {out}",
        "train {data}/train.tsv -o {out} --method empirical --held-out {text}",
        "train {data}/train.tsv -o {out} --method empirical --test {text}",
        "eval {model} {text}",
        "update {model} {text} -o {out}",
        "compare {text} --folds 2",
        "shrink {model} -o {out} --drop-below 0.1 --test {text}",
    ],
)
def test_a_text_without_labels_is_named(corate, command, unlabelled, data, model, tmp_path):
    names = {"text": unlabelled, "out": tmp_path / "out", "data": data, "model": model}
    result = corate(*command.format(**names).split())
    assert one_line(result, f"{unlabelled}: the data has no labels; name the label column with --columns")
    assert sorted(tmp_path.iterdir()) == [unlabelled]


def test_the_text_with_too_many_labels_is_named(corate, tmp_path):
    (tmp_path / "words.tsv").write_text("".join(f"X{i % 2}\tw{i}\n" for i in range(500)))
    result = corate("train", tmp_path / "words.tsv", "-o", tmp_path / "m.corate")
    assert one_line(result, "words.tsv: 500 labels in 500 tokens", "is the label column right?")


def test_text_that_is_named_as_if_it_were_compressed(corate, data, tmp_path):
    (tmp_path / "train.tsv.gz").write_bytes((data / "train.tsv").read_bytes())
    result = corate("train", tmp_path / "train.tsv.gz", "-o", tmp_path / "m.corate")
    assert one_line(result, "train.tsv.gz is not a complete gzip file", "or rename it if it is not compressed")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\x14\x00\xfc", "is a ZIP archive or an Office document, not text"),
        (b"%PDF-1.4\n%\xe2\xe3\n", "is a PDF document, not text"),
    ],
)
def test_files_that_are_not_text(corate, model, tmp_path, content, said):
    path = tmp_path / "file"
    path.write_bytes(content)
    for call in (["train", path, "-o", tmp_path / "m.corate"], ["tag", model, path], ["eval", model, path]):
        assert one_line(corate(*call), f"{path} {said}")


def test_a_table_with_commas(corate, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("word,label\nAnn,B-PER\nLee,I-PER\n")
    said = "cannot detect the format"
    assert one_line(
        corate("train", path, "-o", tmp_path / "m"), said, "if commas separate the columns", "--separator ,"
    )
    assert corate("train", path, "-o", tmp_path / "m", "--format", "columns", "--separator", ",", "-q").code == 0


def test_words_in_the_place_of_a_file_to_tag(corate, model):
    said = f"no such file: Ann Lee; to tag words, pipe them in: echo WORDS | corate tag {model}"
    assert one_line(corate("tag", model, "Ann Lee"), said)


def test_too_few_names_of_columns(corate, data, tmp_path):
    result = corate("train", data / "train.tsv", "-o", tmp_path / "m", "--columns", "word")
    assert one_line(result, "train.tsv, line 1: 2 columns, but --columns has 1 name (word); name each column")


def test_a_template_with_an_unknown_column(corate, data, tmp_path):
    result = corate("train", data / "train.tsv", "-o", tmp_path / "m.corate", "--features", "word[0]; pos[0]")
    said = "unknown column 'pos'; columns: word; name the columns with --columns (in pos[0])"
    assert one_line(result, said)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["trian", "x"], "No such command 'trian'; did you mean 'train'?"),
        (["evaluate", "x"], "No such command 'evaluate'; did you mean 'eval'?"),
        (["graph", "ft"], "No such command 'ft'; did you mean 'fit'?"),
        (["foobar"], "No such command 'foobar'."),
    ],
)
def test_misspelt_commands(corate, call, said):
    assert wrong_usage(corate(*call), said)


@pytest.mark.parametrize("format", [[], ["--format", "text"], ["--format", "raw"]])
def test_names_of_columns_for_plain_text(corate, model, tmp_path, format):
    """They were ignored before."""
    (tmp_path / "new.txt").write_text("Ann Lee , 12 Oak St\nBob lives here\n")
    result = corate("tag", model, tmp_path / "new.txt", *format, "--columns", "word,pos")
    assert wrong_usage(result, "--columns", "new.txt is plain text, which has one column", "--format columns")
    assert result.out == b""
    assert corate("tag", model, tmp_path / "new.txt", *format, "--columns", "word").code == 0


def test_a_file_in_the_place_of_the_text_to_explain(corate, data, model):
    result = corate("explain", model, data / "test.tsv")
    assert result.code == 0
    assert f"warning: {data / 'test.tsv'} is explained as a word; give a file with --file" in result.err


def test_a_folder_where_nothing_can_be_written(corate, data, model, tmp_path, monkeypatch):
    """By the commands that write while they work, and by those that write at the end."""

    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("corate.io.atomic.open", refuse, raising=False)
    monkeypatch.setattr(Path, "touch", refuse)
    for call in (["tag", model, data / "new.txt"], ["train", data / "train.tsv", "--method", "empirical"]):
        result = corate(*call, "-o", tmp_path / "out")
        assert one_line(result, f"{tmp_path / 'out'}: cannot write in {tmp_path.resolve()} (Permission denied)")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [os.fspath, Path])
def test_a_path_in_the_place_of_a_corpus(path, data, model):
    file = path(data / "test.tsv")
    corpus, tagger = library.read(file), library.load(model)
    for call in (
        lambda: library.train(file),
        lambda: library.train(corpus, held_out=file),
        lambda: library.evaluate(tagger, file),
        lambda: tagger.update(file),
        lambda: library.write(file, corpus),
    ):
        with pytest.raises(DataError, match=r"a corpus is needed, not a \w+; read the file with corate\.read"):
            call()


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: library.train([[("a", "X")]]), DataError, "not a list; make one with Corpus.from_sentences"),
        (lambda: library.train(Corpus.from_sentences([])), DataError, "the corpus has no sentences"),
        (
            lambda: library.read(None),
            DataError,
            "the source must be a path, '-' for standard input, bytes or an open file, not None",
        ),
        (lambda: library.read("Ann\tX\nLee\tY\n"), DataError, "if it is the text itself, give it as bytes"),
        (lambda: library.load(os.curdir), ModelError, "a directory; give the path of a model that corate saved"),
        (lambda: library.train(Corpus.from_sentences([[("a", "X")]]), "polsh"), ConfigError, "did you mean 'polish'"),
    ],
)
def test_things_of_the_wrong_kind_in_python(call, error, said):
    with pytest.raises(error, match=said):
        call()
