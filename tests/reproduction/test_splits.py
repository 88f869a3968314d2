"""The splits that every stated accuracy rests on."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("corate_reproduction")

from corate.errors import DataError
from corate_reproduction import corpora

ROOT = Path(__file__).resolve().parents[2]


def built(corpus: str) -> corpora.Splits:
    folder = Path(os.environ.get("CORATE_DATA") or ROOT.parent / "shared" / "data")
    try:
        return corpora.build(corpus, [folder])
    except corpora.CorporaMissingError as missing:
        pytest.skip(f"SPLITS NOT CHECKED: {missing}")


@pytest.fixture(scope="module")
def brown() -> corpora.Splits:
    return built("brown")


@pytest.fixture(scope="module")
def brown_file() -> corpora.Splits:
    return built("brown-file")


@pytest.fixture(scope="module")
def ned() -> corpora.Splits:
    return built("ned")


def counted(splits: corpora.Splits) -> dict[str, int]:
    return {name: len(sentences) for name, sentences in splits.items()}


def expected(corpus: str) -> dict[str, int]:
    return {name: n for name, n in corpora.SENTENCES.items() if re.match(rf"{corpus}(\.|-\d)", name)}


def test_counts_of_brown_are_the_protocols(brown: corpora.Splits) -> None:
    assert counted(brown) == expected("brown")
    everything = [*brown["brown.held-out"], *brown["brown-32k-1000.train"], *brown["brown-32k-1000.test"]]
    assert len(everything) == 34_536
    assert len(corpora.labels(everything)) == 252
    assert len(corpora.labels(brown["brown-32k-1000.train"])) == 235
    assert len(corpora.labels(brown["brown-1000-4000.train"])) == 120


def test_counts_of_ned_are_the_protocols(ned: corpora.Splits) -> None:
    assert counted(ned) == expected("ned")
    assert len(corpora.labels(ned["ned.train"])) == 9
    assert all(len(sentence) > 1 for sentences in ned.values() for sentence in sentences)


def test_counts_of_chunking_are_the_protocols() -> None:
    splits = built("conll2000")
    assert counted(splits) == expected("conll2000")
    assert len(corpora.labels(splits["conll2000.train"])) == 22


def test_counts_of_large_labels_are_the_protocols() -> None:
    splits = built("sblgnt")
    assert counted(splits) == expected("sblgnt")
    verses = [*splits["sblgnt.train"], *splits["sblgnt.test"]]
    assert (len(corpora.labels(verses)), sum(map(len, verses))) == (602, 137_554)
    assert all(word[-1].isalpha() or word[-1] in "\u2019\u1fbd" for verse in verses for word, _ in verse)
    assert all(len(label) == 11 and label[2] == "|" for verse in verses for _, label in verse)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(corpora.CorporaMissingError, match="py-sblgnt"):
        corpora.build("sblgnt", [])


def test_splits_in_file_order_have_the_shares_of_oov_words_that_the_paper_implies(brown_file: corpora.Splits) -> None:
    assert counted(brown_file) == expected("brown-file")
    shares = []
    for split in corpora.BROWN_SPLITS:
        known = {word for sentence in brown_file[f"brown-file-{split}.train"] for word, _ in sentence}
        words = [word for sentence in brown_file[f"brown-file-{split}.test"] for word, _ in sentence]
        shares.append(round(100 * sum(word not in known for word in words) / len(words), 1))
    assert shares == [21.2, 14.8, 12.0, 6.3, 4.7]


def test_both_orders_have_the_same_sentences(brown: corpora.Splits, brown_file: corpora.Splits) -> None:
    parts = ("-32k-1000.train", "-32k-1000.test", ".held-out")
    first, second = (
        [sentence for part in parts for sentence in splits[f"{name}{part}"]]
        for name, splits in (("brown", brown), ("brown-file", brown_file))
    )
    assert sorted(first) == sorted(second)


@pytest.mark.parametrize("corpus", ["brown", "brown-file"])
@pytest.mark.parametrize("split", corpora.BROWN_SPLITS)
def test_training_test_and_held_out_share_no_sentence(request: pytest.FixtureRequest, corpus: str, split: str) -> None:
    splits = request.getfixturevalue(corpus.replace("-", "_"))
    parts = [splits[f"{corpus}-{split}.train"], splits[f"{corpus}-{split}.test"], splits[f"{corpus}.held-out"]]
    train, test, held_out = ({id(sentence) for sentence in part} for part in parts)
    assert not train & test
    assert not train & held_out
    assert not test & held_out


def test_a_written_split_reads_back_unchanged(ned: corpora.Splits, tmp_path: Path) -> None:
    path = tmp_path / "ned.testa"  # holds words with U+0085 and U+00A0, which careless readers take for white space
    corpora.write(ned["ned.testa"], path)
    assert corpora.column_sentences(path.read_bytes().decode("utf-8"), "\t") == ned["ned.testa"]
    assert path.read_bytes().count(b"\n") == sum(len(sentence) + 1 for sentence in ned["ned.testa"])


def test_a_wrong_count_stops_the_run() -> None:
    with pytest.raises(DataError, match="found 34,535, but the protocol expects 34,536"):
        corpora.require("brown sentences kept", 34_535, 34_536)


def test_a_missing_corpus_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(corpora.CorporaMissingError, match=r"brown.*nltk\.downloader brown"):
        corpora.build("brown", [tmp_path])


def test_the_folder_of_nltk_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpora").mkdir()
    monkeypatch.delenv("CORATE_DATA", raising=False)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    assert tmp_path / "corpora" in corpora.folders()
    assert corpora.folders(tmp_path / "elsewhere") == [tmp_path / "elsewhere"]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_packed_and_unpacked_files_read_alike(tmp_path: Path, packed: bool, encoding: str) -> None:
    texts = {"train.txt": "Éé NN B-NP\n. . O\n\n", "test.txt": "x NN O\n"}
    if packed:
        with zipfile.ZipFile(tmp_path / "conll2000.zip", "w") as archive:
            for name, text in texts.items():
                archive.writestr(f"conll2000/{name}", text.encode(encoding))
    else:
        (tmp_path / "conll2000").mkdir()
        for name, text in texts.items():
            (tmp_path / "conll2000" / name).write_bytes(text.encode(encoding))
    with pytest.raises(DataError, match="conll2000 labels: found 2, but the protocol expects 22"):
        corpora.build("conll2000", [tmp_path])
    read = corpora._Source("conll2000", [tmp_path]).read(texts)
    assert read == list(texts.values())


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
