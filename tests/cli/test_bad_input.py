"""Bad input of every kind, by command and from Python: one clear error, or the right result; never a crash.

==============================  ======================================================================================
case                            tests, here unless a file is named
==============================  ======================================================================================
empty file, only blank lines    test_no_text; formats/test_read.py::test_nothing_to_read
ragged rows                     test_ragged_rows; formats/test_read.py::test_ragged_rows_are_named_or_skipped
wrong encoding, NUL bytes       test_bytes_that_are_no_text; io/test_streams.py (placed in large text too)
a token of a megabyte           test_a_token_of_a_megabyte; formats/test_read.py
a sentence of 200,000 tokens    test_a_sentence_of_200_000_tokens; formats/test_read.py
one-word sentences              test_one_word_sentences
one label only                  test_one_label
5,000 labels                    test_5000_labels
a label not seen in training    test_labels_not_seen_in_training; test_eval_info_demo_commands.py
a missing column                test_a_missing_column, test_a_missing_column_in_python; test_layout.py
NaN or infinite values          test_items_that_are_no_numbers, test_features_that_are_no_numbers; formats/test_read.py
a damaged model                 test_bad_models.py; io/test_tensor_file.py
a directory, an unwritable path test_bad_places.py; test_train_command.py; io/test_tensor_file.py
disk full during save           test_bad_places.py; test_program.py; test_tag_command.py; io/test_atomic.py
Ctrl-C                          test_ctrl_c.py; test_interrupted_training.py; test_program.py; test_signals.py
SIGTERM, SIGHUP                 test_signals.py
closed standard streams         test_closed_streams.py
arguments in the wrong order    test_wrong_calls.py
more threads than there are     test_threads_that_cannot_be_had
things of the wrong kind        test_what_cannot_be_trained_on; test_wrong_calls.py
==============================  ======================================================================================
"""

import io
import json
import math
import subprocess
import sys

import pytest

import corate as library
from command_line import one_line
from corate import CorateError, Corpus, DataError, FeatureError, ModelError
from corate.cli.exits import complain
from corate.errors import Excerpt
from small_corpora import TEXT

# -- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "said"), [(b"", "is empty"), (b"\n\n \n\t\r\n", "only blank lines")])
def test_no_text(corate, small, tmp_path, text, said):
    file = tmp_path / "nothing.tsv"
    file.write_bytes(text)
    for command in (["train", file, "-o", tmp_path / "m"], ["eval", small / "m.corate", file]):
        assert one_line(corate(*command), "nothing.tsv", said)
    for option in ("--test", "--held-out"):
        result = corate("train", small / "train.tsv", "-o", tmp_path / "m", option, file)
        assert one_line(result, "nothing.tsv", said)
    assert one_line(corate("update", small / "m.corate", file, "-o", tmp_path / "m"), "nothing.tsv", said)
    assert not (tmp_path / "m").exists()
    assert corate("tag", small / "m.corate", file).out == text, "text without tokens comes out as it went in"


def test_ragged_rows(corate, small, tmp_path):
    file = tmp_path / "ragged.tsv"
    file.write_bytes(TEXT + b"the\tDET\ndog\n\nsome\tmore\tDET\n")
    for command in (["train", file, "-o", tmp_path / "m"], ["eval", small / "m.corate", file]):
        assert one_line(corate(*command), "ragged.tsv, line 8", "--skip-bad")
        result = corate(*command, "--skip-bad")
        assert result.code == 0
        assert "skipped 2 malformed rows, the first in line 8" in result.err
    tagged = corate("tag", small / "m.corate", file)
    assert tagged.text.split("\n")[-5:] == ["the\tDET\tDET", "dog\tNOUN", "", "some\tmore\tDET\tDET", ""]


@pytest.mark.parametrize(
    ("row", "said"),
    [(b"Zo\xeb\tNOUN\n", "--encoding latin-1"), (b"d\0g\tNOUN\n", "a NUL byte"), (b"\xff\xfe", "line 8")],
)
def test_bytes_that_are_no_text(corate, small, tmp_path, row, said):
    file, out = tmp_path / "bytes.tsv", tmp_path / "out"
    file.write_bytes(TEXT + b"the\tDET\n" + row)
    assert one_line(corate("train", file, "-o", out), "bytes.tsv, line 8", said)
    assert one_line(corate("eval", small / "m.corate", file), "bytes.tsv, line 8", said)
    assert one_line(corate("tag", small / "m.corate", file, "-o", out), "bytes.tsv, line 8", said)
    assert one_line(corate("update", small / "m.corate", file, "-o", out), "bytes.tsv, line 8", said)
    assert [path.name for path in tmp_path.iterdir()] == ["bytes.tsv"]


def test_text_in_utf_16_is_asked_for_its_encoding(corate, small, tmp_path):
    file = tmp_path / "wide.tsv"
    file.write_bytes(TEXT.decode().encode("utf-16"))
    assert one_line(corate("train", file, "-o", tmp_path / "m"), "--encoding utf-16")
    assert corate("train", file, "-o", tmp_path / "m", "-q", "--encoding", "utf-16").code == 0
    assert one_line(corate("train", file, "-o", tmp_path / "m", "--encoding", "utf-61"), "unknown encoding 'utf-61'")
    assert one_line(corate("tag", tmp_path / "m", file, "--encoding", "utf-61"), "unknown encoding 'utf-61'")


# -- sizes -----------------------------------------------------------------------------------------------------------


def test_a_token_of_a_megabyte(corate, tmp_path):
    word = b"x" * 1_000_000
    (tmp_path / "t.tsv").write_bytes((b"the\tDET\n" + word + b"\tNOUN\n\n") * 2)
    assert corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", "-q").code == 0
    assert (
        corate("tag", tmp_path / "m", tmp_path / "t.tsv").out == (b"the\tDET\tDET\n" + word + b"\tNOUN\tNOUN\n\n") * 2
    )
    assert library.load(tmp_path / "m").tag(["the", "x" * 1_000_001]) == ["DET", "NOUN"]


def test_a_sentence_of_200_000_tokens(corate, tmp_path):
    (tmp_path / "t.tsv").write_bytes(b"the\tDET\ndog\tNOUN\n" * 100_000)
    assert corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", "-q").code == 0
    assert corate("tag", tmp_path / "m", tmp_path / "t.tsv").out == b"the\tDET\tDET\ndog\tNOUN\tNOUN\n" * 100_000
    scores = json.loads(corate("eval", tmp_path / "m", tmp_path / "t.tsv", "--json").text)
    assert (scores["tokens"], scores["accuracy"]) == (200_000, 1)
    tagger = library.load(tmp_path / "m")
    assert tagger.tag(["the", "dog"] * 100_000) == ["DET", "NOUN"] * 100_000
    assert math.isfinite(tagger.score(["the", "dog"] * 100_000))


@pytest.mark.parametrize("backoff", ["default", "paper", "pooled"])
def test_one_word_sentences(corate, tmp_path, backoff):
    (tmp_path / "t.tsv").write_bytes(b"yes\tX\n\nno\tY\n\n" * 30)
    options = ["--method", "empirical", "--backoff", backoff, "--features", "word[0], word[-1]|word[1]", "-q"]
    assert corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", *options).code == 0
    assert (
        corate("tag", tmp_path / "m", "-f", "columns", stdin=b"no\n\nyes\n\nmaybe\n").text[:13] == "no\tY\n\nyes\tX\n\n"
    )


@pytest.mark.parametrize("backoff", ["default", "paper", "pooled"])
def test_one_label(corate, tmp_path, backoff):
    (tmp_path / "t.tsv").write_bytes(b"a\tX\nb\tX\n\nc\tX\n\n" * 30)
    options = ["--method", "empirical", "--backoff", backoff, "--features", "word[0], word[-1]", "-q"]
    assert corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", *options).code == 0
    assert corate("tag", tmp_path / "m", "-f", "columns", stdin=b"a\nnew\n\n").text == "a\tX\nnew\tX\n\n"
    assert library.load(tmp_path / "m").score(["a", "new"], ["X", "X"]) == pytest.approx(0, abs=1e-5)
    assert json.loads(corate("eval", tmp_path / "m", tmp_path / "t.tsv", "--json").text)["accuracy"] == 1
    assert corate("info", tmp_path / "m").code == 0


def test_5000_labels(corate, tmp_path):
    rows = [f"w{i}\tL{i % 5000}\n" + "\n" * (i % 7 == 6) for i in range(10_000)]
    (tmp_path / "t.tsv").write_text("".join(rows) + "\n")
    options = ["--method", "empirical", "--backoff", "paper"]
    result = corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", "--json", *options)
    assert json.loads(result.text)["labels"] == 5000
    tagged = corate("tag", tmp_path / "m", "-f", "columns", stdin=b"w1\nw4999\nw7001\nnew\n\n").text.split()
    assert tagged[:6] == ["w1", "L1", "w4999", "L4999", "w7001", "L2001"]
    assert corate("info", tmp_path / "m").code == 0


# -- labels, columns, features ---------------------------------------------------------------------------------------


def test_labels_not_seen_in_training(corate, small, tmp_path):
    text = b"the\tDET\ndog\tANIMAL\n\n"
    (tmp_path / "new.tsv").write_bytes(text)
    scores = json.loads(corate("eval", small / "m.corate", tmp_path / "new.tsv", "--json").text)
    assert scores["accuracy"] == 0.5
    files = [option for name in ("--test", "--held-out") for option in (name, tmp_path / "new.tsv")]
    result = corate("train", small / "train.tsv", "-o", tmp_path / "m", "--json", *files)
    assert json.loads(result.text)["test"]["accuracy"] == 0.5
    report = library.evaluate(library.load(small / "m.corate"), library.read(text))
    assert report.accuracy == 0.5
    assert library.load(small / "m.corate").score(["the", "dog"], ["DET", "ANIMAL"]) == -math.inf


def test_a_missing_column(corate, tmp_path):
    (tmp_path / "t").write_bytes(b"the\tD\tB\ndog\tN\tI\n\n" * 30)
    (tmp_path / "crfpp").write_text("U00:%x[0,0]\nU01:%x[0,2]\n")
    train = ["train", tmp_path / "t", "-o", tmp_path / "m", "--features"]
    assert one_line(corate(*train, "word[0], lemma[0]"), "unknown column 'lemma'", "word, pos")
    assert one_line(corate(*train, tmp_path / "crfpp"), "column number 2", "word, pos")
    assert corate(*train, "word[0], pos[0]", "-q").code == 0
    (tmp_path / "new").write_bytes(b"the\ndog\n\n")
    assert one_line(corate("tag", tmp_path / "m", tmp_path / "new"), "new, line 1: 1 column", "--columns")
    (tmp_path / "new").write_bytes(b"the\tB\ndog\tI\n\n")
    assert one_line(corate("eval", tmp_path / "m", tmp_path / "new"), "no column 'pos'", "--columns")
    assert one_line(corate("tag", tmp_path / "m", "-f", "text", stdin=b"the dog\n"), "'pos'")
    assert one_line(corate("tag", tmp_path / "m", "-f", "jsonl", stdin=b'["the", "dog"]'), "'pos'")
    assert one_line(corate("tag", tmp_path / "m", "-f", "items", stdin=b"\tw=the\n"), "'word'")


def test_a_missing_column_in_python():
    corpus = Corpus.from_sentences([[("the", "D", "B"), ("dog", "N", "I")]] * 30)
    tagger = library.train(corpus, "empirical", features=["word[0]", "pos[0]"], backoff="pooled")
    for sentence in (["the", "dog"], [{"word": "the"}], [("the", "D", "B", "x")], [("the", "D"), ("dog",)]):
        with pytest.raises(DataError, match=r"column|no 'pos'"):
            tagger.tag(sentence)
    with pytest.raises(DataError, match="no column 'pos'"):
        library.evaluate(tagger, Corpus.from_sentences([[("the", "B")]]))
    with pytest.raises(DataError, match="no column 'pos'"):
        tagger.update(Corpus.from_sentences([[("the", "B")]]))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e39", "one"])
def test_items_that_are_no_numbers(corate, tmp_path, value):
    file = tmp_path / "t.items"
    file.write_text(f"X\tw=a\tn:1.5\n\nY\tw=b\tn:{value}\n")
    assert one_line(corate("train", file, "-o", tmp_path / "m"), "t.items, line 3", "'n'", value)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [1], pytest.param(10**400, id="10**400")])
def test_features_that_are_no_numbers(value):
    with pytest.raises(FeatureError, match="'n'"):
        Corpus.from_features([[{"w": "a", "n": value}]], [["X"]])
    corpus = Corpus.from_sentences([[("a", "X"), ("b", "Y")]])
    with pytest.raises(FeatureError, match="'n'"):
        library.train(corpus, features=lambda words, i: {"n": value if i == 1 else 0.5})
    tagger = library.train(corpus, features=lambda words, i: {"w": words[i], "n": value if words[i] == "c" else 0.5})
    with pytest.raises(FeatureError, match="'n'"):
        tagger.tag(["a", "c"])


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: library.train([[("a", "X")]]), DataError),
        (lambda: library.train(Corpus.from_sentences([])), DataError),
        (lambda: library.train(Corpus.from_sentences([[], []])), DataError),
        (lambda: library.train(Corpus.from_sentences([["a"]])), DataError),
        (lambda: library.train(Corpus.from_sentences([[("X",)]], columns=["label"])), DataError),
        (lambda: library.train(library.read(TEXT), seed=-1), DataError),
        (lambda: library.train(library.read(TEXT), "magic"), DataError),
        (lambda: library.train(library.read(TEXT), "empirical", backoff="magic"), DataError),
        (lambda: library.train(library.read(TEXT), backoff="default"), DataError),
        (lambda: library.train(library.read(TEXT), lattice="magic"), DataError),
        (lambda: library.train(library.read(TEXT), init="no-such-model"), ModelError),
        (lambda: library.train(library.read(TEXT), features=7), FeatureError),
        (lambda: library.train(library.read(TEXT), features=lambda words, i: 1 / 0), FeatureError),
        (lambda: library.train(library.read(TEXT), features=lambda words, i: "word"), FeatureError),
        (lambda: library.train(library.read(TEXT, columns="my word,label")), FeatureError),
        (lambda: library.train(library.read(TEXT), "empirical").update(["a"]), DataError),
        (lambda: library.train(library.read(TEXT), "empirical").update(Corpus.from_sentences([["a"]])), DataError),
        (lambda: library.evaluate(library.train(library.read(TEXT)), [[("a", "X")]]), DataError),
    ],
)
def test_what_cannot_be_trained_on(build, error):
    with pytest.raises(error) as caught:
        build()
    assert len(str(caught.value)) > 20


def test_a_sentence_without_tokens_has_no_labels(small):
    tagger = library.load(small / "m.corate")
    assert tagger.tag([]) == []
    assert tagger.tag_all([]) == []
    assert tagger.tag_all([[], ["the"], []], threads=3) == [[], ["DET"], []]
    assert tagger.score([]) == 0
    assert tagger.tag_text(b"") == (b"", 0)


def test_a_fault_in_a_template_is_one_line_without_its_caret(corate, small, tmp_path):
    command = ["train", small / "train.tsv", "-o", tmp_path / "m", "--features", "word[0] word[1]"]
    result = corate(*command)
    assert one_line(result, "expected | and another part")
    assert "^" not in result.err


def test_a_person_sees_where_the_fault_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    complain(FeatureError("expected |", excerpt=Excerpt("word[0] word[1]", 8)))
    assert sys.stderr.getvalue() == "corate: error: expected |\n  word[0] word[1]\n          ^\n"


def test_columns_with_something_else_between_them(corate, tmp_path):
    (tmp_path / "t.csv").write_bytes(TEXT.replace(b"\t", b","))
    assert one_line(corate("train", tmp_path / "t.csv", "-o", tmp_path / "m"), "no labels", "--separator")
    assert corate("train", tmp_path / "t.csv", "-o", tmp_path / "m", "--separator", ",", "-q").code == 0


def test_items_and_columns_are_not_mistaken_for_each_other(corate, small, tmp_path):
    (tmp_path / "t.items").write_bytes(b"X\tw=a\nY\tw=b\tn:2.5\n\n" * 30)
    assert corate("train", tmp_path / "t.items", "-o", tmp_path / "m", "-q", "--method", "empirical").code == 0
    assert corate("tag", tmp_path / "m", "-f", "items", stdin=b"\tw=b\n\tw=a\n").text == "Y\tw=b\nX\tw=a\n\n"
    assert json.loads(corate("eval", tmp_path / "m", tmp_path / "t.items", "--json").text)["accuracy"] == 1
    assert corate("update", tmp_path / "m", tmp_path / "t.items", "-q").code == 0
    for command in (["tag", tmp_path / "m"], ["eval", tmp_path / "m"], ["update", tmp_path / "m"]):
        assert one_line(corate(*command, small / "train.tsv"), "ready-made features")
    for command in (["tag", small / "m.corate"], ["eval", small / "m.corate"]):
        assert one_line(corate(*command, tmp_path / "t.items"), "no column 'word'")


# -- threads ---------------------------------------------------------------------------------------------------------

#: Tags on so many threads that the process may not have their stacks.
MANY_THREADS = """
import resource, sys, corate
tagger = corate.load(sys.argv[1])
corpus = corate.read(sys.argv[2])
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (20 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
assert tagger.tag_all(corpus, threads=10_000) == tagger.tag_all(corpus)
text = open(sys.argv[2], "rb").read()
assert tagger.tag_text(text, threads=10_000) == tagger.tag_text(text)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is set through Linux's /proc")
def test_threads_that_cannot_be_had(small, tmp_path):
    (tmp_path / "t.tsv").write_bytes(TEXT * 1000)
    arguments = [small / "m.corate", tmp_path / "t.tsv"]
    run = subprocess.run([sys.executable, "-c", MANY_THREADS, *arguments], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_errors_of_corate_are_one_family():
    assert all(issubclass(error, CorateError) for error in (DataError, FeatureError, ModelError))
