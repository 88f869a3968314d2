"""The splits that every stated accuracy rests on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import corpora  # noqa: E402 - the benchmarks are not installed, they stand beside the tests


@pytest.fixture(scope="module")
def splits() -> corpora.Splits:
    try:
        return corpora.build(corpora.source_folder())
    except corpora.CorporaMissing as missing:
        pytest.skip(f"SPLITS NOT CHECKED: {missing}")


def test_counts_are_the_protocols(splits: corpora.Splits) -> None:
    assert {name: len(sentences) for name, sentences in splits.items()} == corpora.SENTENCES


def test_tag_sets_are_the_protocols(splits: corpora.Splits) -> None:
    everything = [*splits["brown.held-out"], *splits["brown-32k-1000.train"], *splits["brown-32k-1000.test"]]
    assert len(everything) == 34_536
    assert len(corpora.labels(everything)) == 252
    assert len(corpora.labels(splits["brown-32k-1000.train"])) == 235
    assert len(corpora.labels(splits["brown-1000-4000.train"])) == 120
    assert len(corpora.labels(splits["ned.train"])) == 9
    assert len(corpora.labels(splits["conll2000.train"])) == 22
    assert len(corpora.labels([*splits["sblgnt.train"], *splits["sblgnt.test"]])) == 602


def identities(sentences: list[corpora.Sentence]) -> set[int]:
    return {id(sentence) for sentence in sentences}


@pytest.mark.parametrize("split", corpora.BROWN_SPLITS)
def test_training_test_and_held_out_share_no_sentence(splits: corpora.Splits, split: str) -> None:
    train = identities(splits[f"brown-{split}.train"])
    test = identities(splits[f"brown-{split}.test"])
    held_out = identities(splits["brown.held-out"])
    assert not train & test
    assert not train & held_out
    assert not test & held_out


def test_ned_has_no_one_word_sentence(splits: corpora.Splits) -> None:
    assert all(len(s) > 1 for part in ("train", "testa", "testb") for s in splits[f"ned.{part}"])


def test_a_written_split_reads_back_unchanged(splits: corpora.Splits, tmp_path: Path) -> None:
    path = tmp_path / "ned.testa"  # holds words with U+0085 and U+00A0, which careless readers take for white space
    corpora.write(splits["ned.testa"], path)
    assert corpora.load(path) == splits["ned.testa"]
    assert path.read_bytes().count(b"\n") == sum(len(sentence) + 1 for sentence in splits["ned.testa"])


def test_a_verse_is_a_sentence_of_words_without_punctuation() -> None:
    pytest.importorskip("pysblgnt", reason="GREEK TEXT NOT CHECKED: no py-sblgnt")
    splits = corpora.sblgnt()
    verses = [*splits["sblgnt.train"], *splits["sblgnt.test"]]
    assert sum(map(len, verses)) == 137_554
    assert all(word[-1].isalpha() or word[-1] in "\u2019\u1fbd" for verse in verses for word, _ in verse)
    assert all(len(label) == 11 and label[2] == "|" for verse in verses for _, label in verse)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(corpora.CorporaMissing, match="py-sblgnt is not installed"):
        corpora.sblgnt()


def test_a_wrong_count_stops_the_run() -> None:
    with pytest.raises(SystemExit, match="34,535 found, 34,536 expected"):
        corpora.require("brown sentences kept", 34_535, 34_536)


def test_missing_zips_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORATE_DATA", str(tmp_path))
    with pytest.raises(corpora.CorporaMissing, match=r"brown\.zip.*CORATE_DATA"):
        corpora.source_folder()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The/at end/nn ./.", True),
        ("the/at end/nn ./.", False),
        ("The/at end/nn ?/.", False),
        ("The/at City/nn-tl ./.", False),
        ("The/at end/nn-hl ./.-hl", False),
        ("`/` The/at end/nn ./.", False),
    ],
)
def test_which_brown_sentences_are_kept(text: str, kept: bool) -> None:
    sentence = [(word, tag) for word, _, tag in (token.rpartition("/") for token in text.split())]
    assert corpora.is_plain(sentence) is kept
