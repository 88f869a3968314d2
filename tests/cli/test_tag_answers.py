"""corate tag with questions: n-best labellings, probabilities, constraints, labels that are given."""

import pytest

from corate import Constraints, load
from corate.spans import spans


def sentences(text):
    return [[line.split("\t") for line in block.split("\n")] for block in text.strip("\n").split("\n\n")]


@pytest.fixture(scope="module")
def words(data):
    rows = sentences((data / "test.tsv").read_text(encoding="utf-8"))
    return [[row[0] for row in sentence] for sentence in rows]


def test_n_best_labellings_follow_each_other_best_first(corate, data, model, words):
    result = corate("tag", model, data / "test.tsv", "--nbest", 3)
    assert (result.code, result.err) == (0, "")
    tagger = load(model)
    blocks = iter(sentences(result.text))
    for tokens in words:
        for rank, (labels, probability) in enumerate(tagger.nbest(tokens, 3), 1):
            head, *rows = next(blocks)
            assert head == [f"# {rank} {probability:.4f}"]
            assert [(row[0], row[-1]) for row in rows] == list(zip(tokens, labels, strict=True))
    assert next(blocks, None) is None


def test_scores_are_the_marginals_of_the_labels(corate, data, model, words):
    plain = corate("tag", model, data / "test.tsv").text
    result = corate("tag", model, data / "test.tsv", "--scores", "-j", 2).text
    assert [line.rpartition("\t")[0] for line in result.split("\n")] == plain.split("\n")
    tagger = load(model)
    for tokens, rows in zip(words, sentences(result), strict=True):
        marginals = tagger.marginals(tokens)
        assert [f"{m[row[-2]]:.4f}" for m, row in zip(marginals, rows, strict=True)] == [row[-1] for row in rows]


def test_unsure_labels_are_left_out(corate, data, model):
    rows = [r for s in sentences(corate("tag", model, data / "test.tsv", "--scores").text) for r in s]
    sure = [
        r for s in sentences(corate("tag", model, data / "test.tsv", "--scores", "--only-sure", 0.9).text) for r in s
    ]
    assert [row[-2] for row in sure] == [row[-2] if float(row[-1]) >= 0.9 else "_" for row in rows]
    assert 0 < sum(row[-2] == "_" for row in sure) < len(sure) / 2
    text = b"12 Oak St , Boston\n\n"
    slashed = corate("tag", model, "-f", "text", "--to", "slashed", "--only-sure", 1.0, stdin=text).text
    assert all(token.endswith("/_") for token in slashed.split())


def test_constrained_labels_are_valid_in_every_format(corate, data, model, words):
    text = "\n".join(" ".join(sentence) for sentence in words).encode()
    for options in (["--constrain", "auto"], ["--constrain", "IOB2", "--scores"]):
        for sentence in sentences(corate("tag", model, data / "test.tsv", *options).text):
            labels = [row[2] for row in sentence]
            starts = {span.start for span in spans(labels)}
            assert all(label[0] == "B" for i, label in enumerate(labels) if i in starts)
    tagger = load(model)
    expected = [tagger.tag(sentence, constraints=Constraints(scheme="IOB2")) for sentence in words]
    columns = corate("tag", model, "-f", "text", "--constrain", "IOB2", stdin=text).text
    assert [[row[1] for row in sentence] for sentence in sentences(columns)] == expected
    slashed = corate("tag", model, "-f", "text", "--to", "slashed", "--constrain", "IOB2", stdin=text).text
    assert [[t.rpartition("/")[2] for t in line.split(" ")] for line in slashed.strip().split("\n")] == expected


@pytest.mark.parametrize("column", ["label", "2"])
def test_given_labels_stay_and_the_rest_follows_them(corate, model, column):
    text = b"12\tB-POSTCODE\nOak\t_\nSt\t\n\nBoston\t_\n"
    result = corate("tag", model, "--fixed", column, "--separator", "tab", stdin=text)
    assert (result.code, result.err) == (0, "")
    rows = sentences(result.text)
    assert rows[0][0] == ["12", "B-POSTCODE", "B-POSTCODE"]
    tagger = load(model)
    expected = tagger.tag(["12", "Oak", "St"], constraints=Constraints(labels={0: "B-POSTCODE"}))
    assert [row[-1] for row in rows[0]] == expected
    assert rows[1][0][-1] == tagger.tag(["Boston"])[0]


def test_comments_blank_lines_and_line_ends_stay(corate, model):
    text = b"# one\r\n12\r\nOak\r\n\r\n\r\n# only a comment\r\n\r\nBoston"
    plain = corate("tag", model, "--comment", "#", "-f", "columns", stdin=text).out
    assert corate("tag", model, "--comment", "#", "-f", "columns", "--only-sure", 0, stdin=text).out == plain
    best = corate("tag", model, "--comment", "#", "-f", "columns", "--nbest", 1, stdin=text).out
    kept = [line for line in best.split(b"\n") if not line.startswith(b"# 1 ")]
    assert b"\n".join(kept) == plain


@pytest.mark.parametrize(
    ("options", "stdin", "code", "message"),
    [
        (["--fixed", "gold"], b"12\t_\n", 2, "name its columns with --columns"),
        (["--fixed", "label"], b"12\t_\n\nOak\tB-XYZ\n", 1, "line 3: the model has no label 'B-XYZ'; write one of"),
        (["--nbest", "0"], b"12\n", 2, "nbest"),
        (["--only-sure", "2"], b"12\n", 2, "only-sure"),
        (["--constrain", "IOBES"], b"12\n", 1, "are not in IOBES"),
        (["--constrain", "XYZ"], b"12\n", 2, "XYZ"),
        (["--nbest", "2", "--to", "slashed"], b"12\n", 2, "written as columns"),
        (["--constrain", "auto", "--to", "conllu"], b"12\n", 2, "CoNLL-U"),
        (["--scores", "--columns", "x,word"], b"12\n", 1, "line 1: 1 column,"),
    ],
)
def test_wrong_questions_are_refused(corate, model, options, stdin, code, message):
    result = corate("tag", model, *options, "-f", "columns", stdin=stdin)
    assert result.code == code
    assert message in result.err.replace("\n", " ")
