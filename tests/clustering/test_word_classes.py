"""Word classes: what users learn from text without labels, and what taggers make of it."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import corate
from corate import ConfigError, Corpus, DataError
from corate.features.lexicons import read_word_classes
from corate.features.word_classes import class_templates, learn_word_classes, write_word_classes
from corate.features.word_functions import WordFunction
from corate.formats import read_unlabelled
from corate.strings import StringTable

KINDS = {"D": ("the", "a", "this"), "N": ("cat", "dog", "emu", "cow", "ant", "fox"), "V": ("ran", "sat", "ate", "hid")}


def sentences(n: int, seed: int = 0) -> list[list[str]]:
    random = np.random.default_rng(seed)
    return [[str(random.choice(KINDS[kind])) for kind in "DNVDN"] for _ in range(n)]


def same_class(lexicon: corate.features.lexicons.Lexicon, words: tuple[str, ...]) -> bool:
    return len({lexicon.get(word) for word in words}) == 1


def test_words_with_the_same_neighbours_share_a_class():
    found = corate.word_classes(sentences(300), classes=3)
    assert len(found) == 13
    assert all(same_class(found, words) for words in KINDS.values())
    assert len({found.get(words[0]) for words in KINDS.values()}) == 3


def test_words_are_clustered_in_lower_case_the_frequent_ones_first():
    found = corate.word_classes([["The", "THE", "a", "the", "b"], ["a"]], classes=2)
    assert found.keys.to_list() == ["the", "a", "b"]


def test_a_word_has_the_class_that_the_template_gives_it():
    found = corate.word_classes([["The", "ÉTÉ", "a", "the", "b"], ["a", "Straße", "İ"]], classes=3)
    words = ["The", "THE", "the", "été", "Été", "STRASSE", "İ", "i", "B", "", "unknown"]
    table, ids = StringTable.intern(words)
    values, classes = WordFunction("map", 1, "classes-3", found).apply(table)
    expected = [None if values[i] < 0 else classes[values[i]] for i in ids.tolist()]
    assert [found.get(word) for word in words] == expected
    assert found.get("THE") == found.get("the") is not None
    assert found.get("unknown") is None


def test_corpora_are_read_together(tmp_path):
    first, second = sentences(100), sentences(200, 1)
    both, facts = learn_word_classes([Corpus.from_sentences(first), Corpus.from_sentences(second)], [3, 4])
    alone = [corate.word_classes(first + second, classes=n) for n in (3, 4)]
    for a, b in zip(both, alone, strict=True):
        assert write_word_classes(a) == write_word_classes(b)
    assert facts == {"sentences": 300, "tokens": 1500, "words": 13, "classes": [3, 4]}


def test_words_of_a_slice_are_only_those_of_its_sentences():
    corpus = Corpus.from_sentences([["a", "b", "c"], ["x", "y", "z"]])
    assert sorted(corate.word_classes(corpus[:1], classes=2).keys.to_list()) == ["a", "b", "c"]


def test_the_default_numbers_of_classes_are_limited_by_the_words():
    lexicons, facts = learn_word_classes([Corpus.from_sentences(sentences(20))], None)
    assert facts["classes"] == [13]
    assert len(lexicons) == 1


@pytest.mark.parametrize(
    ("text", "classes", "message"),
    [
        ([["a", "b"]], 3, "2 different words, too few for 3 classes; give more text"),
        ([[]], 2, "0 different words"),
        ([["a", "b"]], 1, "classes must be a whole number from 2 to 4096, not 1"),
        ([["a", "b"]], 10**6, "from 2 to 4096"),
    ],
)
def test_too_few_words_and_wrong_numbers_are_refused(text, classes, message):
    with pytest.raises((DataError, ConfigError), match=message):
        corate.word_classes(text, classes=classes)


def test_ready_made_features_have_no_words():
    ready = Corpus.from_features([[{"w": "a"}]], [["X"]])
    with pytest.raises(DataError, match="only ready-made features"):
        corate.word_classes(ready)
    with pytest.raises(ConfigError, match="only ready-made features"):
        corate.train(ready, raw=Corpus.from_sentences([["a"]]))


def test_a_file_of_classes_reads_back(tmp_path):
    found = corate.word_classes([*sentences(50), ["\u00a0", "\u00a0x", "\u2028y"]], classes=4)
    path = tmp_path / "classes.tsv"
    path.write_text(write_word_classes(found), "utf-8")
    read = read_word_classes(path)
    assert len(read) == 13
    assert all(read.get(word) == found.get(word) for word in read.keys.to_list())


LABELLED = [[("the", "D"), ("cat", "N"), ("ran", "V")], [("a", "D"), ("dog", "N"), ("sat", "V")]] * 5


@pytest.mark.parametrize("method", ["polish", "empirical", "separate", "standard", "perceptron"])
def test_classes_label_words_that_only_raw_text_has(method, tmp_path):
    corpus, raw = Corpus.from_sentences(LABELLED), Corpus.from_sentences(sentences(300))
    tagger = corate.train(corpus, method, raw=raw, raw_classes=3)
    assert tagger.record["raw"] == {"sentences": 310, "tokens": 1530, "words": 13, "classes": [3]}
    assert [t for t in tagger.features if "classes" in t and not t.startswith("edge")] == [
        f"map(word[{offset}], classes-3, lower)" for offset in (-1, 0, 1)
    ]
    tagger.save(tmp_path / "model")
    loaded = corate.load(tmp_path / "model")
    assert loaded.tag_all(sentences(9, 5)) == tagger.tag_all(sentences(9, 5))
    if method != "empirical":  # ten sentences are too few to find out that classes are to be trusted
        assert tagger.tag(["This", "fox", "hid"]) == ["D", "N", "V"]


def test_a_number_of_classes_needs_raw_text():
    with pytest.raises(ConfigError, match="give raw=") as refused:
        corate.train(Corpus.from_sentences(LABELLED), raw_classes=3)
    assert refused.value.option == "raw_classes"


def test_raw_text_comes_from_files_of_several_formats(tmp_path):
    made = sentences(40)
    lines = "".join(" ".join(s) + "\n" for s in made)
    (tmp_path / "plain.txt").write_text(lines)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "columns").write_text("".join("".join(f"{w} X Y\n" for w in s) + "\n" for s in made))
    (tmp_path / "tabs.tsv").write_text("".join("".join(f"{w}\tX\n" for w in s) + "\n" for s in made))
    (tmp_path / "slashed").write_text("".join(" ".join(f"{w}/x" for w in s) + "\n" for s in made))
    for path in tmp_path.iterdir():
        read = read_unlabelled(path)
        assert [read.tokens(i) for i in range(len(read))] == made, path.name
        assert read.labels is None
    corpus = Corpus.from_sentences(LABELLED)
    _, facts = class_templates([tmp_path / "plain.txt", str(tmp_path / "packed.gz")], corpus)
    assert facts["sentences"] == 10 + 2 * 40


@pytest.mark.parametrize("text", ["one two\nthree four\n", "one two three\nfour\n\nfive\n", "one\n", "a: b\nc: d\n"])
def test_text_is_not_taken_for_columns(text):
    read = read_unlabelled(text.encode())
    assert [read.tokens(i) for i in range(len(read))] == [line.split() for line in text.split("\n") if line]


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "raw.txt").write_text("")
    with pytest.raises(DataError, match=r"raw\.txt is empty"):
        corate.train(Corpus.from_sentences(LABELLED), raw=tmp_path / "raw.txt")


def test_raw_text_needs_templates_of_its_own():
    corpus = Corpus.from_sentences(LABELLED)
    with pytest.raises(ConfigError, match="feature function"):
        corate.train(corpus, raw=corpus, features=lambda words, i: {"w": words[i]})
    with pytest.raises(ConfigError, match="leave raw unset"):
        corate.train(corpus, raw=corpus, init=corate.train(corpus))


def test_progress_is_reported():
    events = []
    corate.word_classes(sentences(50), classes=3, progress=events.append)
    assert events[0].stage == "learning word classes"
    fractions = [event.fraction for event in events]
    assert fractions == sorted(fractions)
    assert len(fractions) > 2
