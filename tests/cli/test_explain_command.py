"""corate explain: why a token has its label."""

import json

import pytest

ROWS = "a\tP\tX\nb\tQ\tY\n\nb\tQ\tX\na\tP\tX\nc\tQ\tY\n\n"
ITEMS = "X\tw=a\tbias\nY\tw=b\tbias\n\nY\tw=b\tbias\nX\tw=a\tbias\nX\tw=c\tbias\n\n"


@pytest.fixture
def words_model(corate, tmp_path):
    (tmp_path / "train").write_text(ROWS.replace("\tP", "").replace("\tQ", "") * 4)
    assert corate("train", tmp_path / "train", "-o", tmp_path / "m", "-q").code == 0
    return tmp_path / "m"


def test_the_least_sure_token_is_explained_unless_one_is_named(corate, words_model):
    every = corate("explain", words_model, "a b c")
    assert (every.code, every.err) == (0, "")
    lines = every.text.splitlines()
    assert lines[0].split() == ["token", "word", "label", "second", "best", "difference"]
    margins = [float(line.split()[-1]) for line in lines[1:4]]
    least = margins.index(min(margins))
    assert f"(token {least})" in every.text
    named = corate("explain", words_model, "a b c", "--token", 0, "--top", 2)
    assert "'a' (token 0): X and not Y" in named.text
    assert "smaller contributions" in named.text


def test_json_has_all_contributions(corate, words_model):
    facts = json.loads(corate("explain", words_model, "a b", "-t", 1, "--label", "X", "--against", "Y", "--json").text)
    assert (facts["token"], facts["label"], facts["against"]) == (1, "X", "Y")
    assert sum(c["score"] for c in facts["contributions"]) == pytest.approx(facts["difference"], abs=1e-4)
    assert (facts["labels"][1], facts["labels_against"][1]) == ("X", "Y")


def test_a_sentence_of_a_file_has_the_columns_of_the_model(corate, tmp_path):
    (tmp_path / "train").write_text(ROWS * 4)
    corate("train", tmp_path / "train", "-o", tmp_path / "m", "--features", "word[0]; pos[0]", "-q")
    found = corate("explain", tmp_path / "m", "--file", tmp_path / "train", "--sentence", 2, "-t", 2)
    assert "'c' (token 2)" in found.text
    assert "pos[0]=Q" in found.text
    text = corate("explain", tmp_path / "m", "a b")
    assert (text.code, "columns word, pos; give a sentence with --file" in text.err) == (1, True)


def test_ready_made_features_come_from_a_file(corate, tmp_path):
    (tmp_path / "train").write_text(ITEMS * 4)
    trained = corate("train", tmp_path / "train", "-f", "items", "-o", tmp_path / "m", "--method", "standard", "-q")
    assert trained.code == 0
    found = corate("explain", tmp_path / "m", "--file", tmp_path / "train", "-f", "items", "-t", 1)
    assert "w=b" in found.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a text or --file"),
        (["a", "--file", "x"], "give a text or --file"),
        ([" "], "the text has no words"),
        (["a b", "-t", 2], "there is no token 2"),
        (["a b", "--label", "Q"], "no label 'Q'"),
    ],
)
def test_mistakes_are_told(corate, words_model, arguments, message):
    result = corate("explain", words_model, *arguments)
    assert result.code == 1
    assert message in result.err


def test_a_sentence_that_the_file_does_not_have(corate, words_model, tmp_path):
    result = corate("explain", words_model, "--file", tmp_path / "train", "--sentence", 99)
    assert "has 8 sentences; there is no sentence 99" in result.err
