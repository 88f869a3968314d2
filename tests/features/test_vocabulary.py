"""The vocabulary: features against strings built in plain Python, and what growing and restoring it keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.errors import DataError
from corate.features.lexicons import Lexicon
from corate.features.templates import Template, parse
from corate.features.vocabulary import Vocabulary
from reference.feature_map import feature

LEXICON = {"map animals": Lexicon.of("map animals", {"dog": "pet", "cats": "pet", "Owl": "bird"})}
TEMPLATES = [
    parse(text, lexicons=LEXICON)
    for text in (
        "word[0]",
        "pos[2]",
        "word[-8]",
        "suffix(word[0], 2)",
        "map(word[0], animals)",
        "word[-1]|word[0]",
        "starts_upper(word[-1])|pos[0]",
        "word[0]|word[0]",
        "pos[-1]|pos[0]|pos[1]",
        "lower(word[-2])|suffix(word[0], 3)|pos[8]|word[1]",
        "pos[-2]|pos[-1]|pos[0]|pos[1]|pos[2]",
        "unseen_class(word[0])",
        "word[-1]|unseen_class(word[0])",
        "unseen_class(word[-1])|pos[0]|unseen_class(word[1])",
    )
]
rows = st.fixed_dictionaries(
    {"word": st.sampled_from(["dog", "Dog", "cats", "Owl", "a", "", "né", "X-1"]), "pos": st.sampled_from("NVD")}
)
sentences = st.lists(st.lists(rows, max_size=5), max_size=4)
templates = st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=6, unique=True)


def corpus_of(made: list[list[dict[str, str]]]) -> Corpus:
    return Corpus.from_sentences(made, columns=["word", "pos"])


def names_of(vocabulary: Vocabulary, features: np.ndarray) -> list[list[str | None]]:
    """The names of (T, n) features."""
    bases = vocabulary.bases
    return [
        [None if f < 0 else vocabulary.name(int(bases[t] + f)) for f in row] for t, row in enumerate(features.tolist())
    ]


def expected(made: list[list[dict[str, str]]], chosen: list[Template], known: Any = ()) -> list[list[str | None]]:
    return [[feature(t, sentence, i, known) for sentence in made for i in range(len(sentence))] for t in chosen]


def words_in(made: list[list[dict[str, str]]]) -> set[str]:
    return {row["word"] for sentence in made for row in sentence}


@given(sentences, templates, st.integers(1, 3))
@settings(deadline=None)
def test_features_are_named_as_their_strings_say(made: Any, chosen: list[Template], threads: int) -> None:
    vocabulary = Vocabulary.of(chosen)
    features, strings = vocabulary.fit(corpus_of(made), threads)
    assert names_of(vocabulary, features) == expected(made, chosen, words_in(made))
    for column, ids in strings.items():
        known = vocabulary.strings(column).to_list()
        assert [known[i] for i in ids] == [row[column] for sentence in made for row in sentence]


@given(sentences, sentences, templates)
@settings(deadline=None)
def test_transform_knows_what_fit_has_seen_and_adds_nothing(first: Any, second: Any, chosen: list[Template]) -> None:
    vocabulary = Vocabulary.of(chosen)
    features, _ = vocabulary.fit(corpus_of(first))
    sizes = vocabulary.map.sizes().tolist()
    np.testing.assert_array_equal(vocabulary.transform(corpus_of(first))[0], features)

    found, strings = vocabulary.transform(corpus_of(second))
    seen = {name for row in names_of(vocabulary, features) for name in row}
    in_column = {row[c] for sentence in first for row in sentence for c in ("word", "pos")}
    for t, (row, wanted) in enumerate(
        zip(names_of(vocabulary, found), expected(second, chosen, words_in(first)), strict=True)
    ):
        if len(chosen[t].atoms) > 1:
            assert row == [name if name in seen else None for name in wanted]
        else:
            # A feature of one atom is known where its value is, met at whichever offset.
            assert all(name in (None, full) for name, full in zip(row, wanted, strict=True))
            assert all(name == full for name, full in zip(row, wanted, strict=True) if full in seen)
    for column, ids in strings.items():
        known = vocabulary.strings(column).to_list()
        values = [row[column] for sentence in second for row in sentence]
        assert [None if i < 0 else known[i] for i in ids] == [v if v in known else None for v in values]
        assert set(known) <= in_column
    assert vocabulary.map.sizes().tolist() == sizes


@given(sentences, sentences, templates)
@settings(deadline=None)
def test_a_restored_vocabulary_gives_the_same_features(first: Any, second: Any, chosen: list[Template]) -> None:
    vocabulary = Vocabulary.of(chosen)
    vocabulary.fit(corpus_of(first))
    restored = Vocabulary.of(chosen)
    functions = range(len(vocabulary.functions()))
    restored.map.restore(
        [vocabulary.map.strings(c) for c in range(len(vocabulary.columns))],
        [vocabulary.map.values(f) for f in functions],
        [vocabulary.map.keys(t) for t in range(len(chosen))],
    )
    for made in (first, second):
        for a, b in zip(vocabulary.transform(corpus_of(made)), restored.transform(corpus_of(made)), strict=True):
            np.testing.assert_equal(a, b)
    np.testing.assert_array_equal(vocabulary.fit(corpus_of(second))[0], restored.fit(corpus_of(second))[0])


@given(sentences, sentences, templates)
@settings(deadline=None)
def test_what_a_vocabulary_absorbs_keeps_its_names(first: Any, second: Any, chosen: list[Template]) -> None:
    ours, theirs = Vocabulary.of(chosen), Vocabulary.of(chosen)
    mine, _ = ours.fit(corpus_of(first))
    other, _ = theirs.fit(corpus_of(second))
    before = names_of(ours, mine)
    grown = ours.copy()
    numbers = grown.map.absorb(theirs.map)
    assert names_of(grown, mine) == before  # ours keep their numbers
    moved = other.copy()
    for row, number in zip(moved, numbers, strict=True):
        row[row >= 0] = number[row[row >= 0]]
    assert names_of(grown, moved) == names_of(theirs, other)
    np.testing.assert_array_equal(grown.transform(corpus_of(first))[0], mine)
    assert names_of(ours, mine) == before  # and the copy did not touch them


def test_only_unseen_words_have_a_class_of_unseen_words() -> None:
    vocabulary = Vocabulary.of([parse("unseen_class(word[0])")])
    features, _ = vocabulary.fit(Corpus.from_sentences([["Ann", "ran"]]))
    assert features.tolist() == [[-1, -1]]
    found, _ = vocabulary.transform(Corpus.from_sentences([["Ann", "Bob", "sat", "42"]]))
    names = names_of(vocabulary, found)[0]
    assert names == [None, "unseen_class(word[0])=u", "unseen_class(word[0])=l", None]  # no known word looks like 42


def test_attributes_come_before_templates() -> None:
    vocabulary = Vocabulary.of([parse("word[0]")])
    vocabulary.fit(Corpus.from_sentences([["a"]]))
    both = Vocabulary(
        vocabulary.templates, (), vocabulary.columns, vocabulary.map, StringTable.intern(["bias", "w=a"])[0]
    )
    assert (both.n_attributes, both.bases.tolist()) == (2, [2, 19])
    assert [both.name(f) for f in (0, 1, 2, 10, 18)] == [
        "bias",
        "w=a",
        "word[0]=<start-1>",
        "word[0]=<end+1>",
        "word[0]=a",
    ]


def test_no_templates_give_no_features_for_every_token() -> None:
    features, strings = Vocabulary.of([]).fit(Corpus.from_features([[["a"], ["b"]], [["c"]]]))
    assert (features.shape, strings) == ((0, 3), {})


def test_a_missing_column_is_named() -> None:
    with pytest.raises(DataError, match="pos"):
        Vocabulary.of([parse("pos[0]")]).fit(Corpus.from_sentences([["a"]]))


COLUMN = (np.array([0, 1], np.int32), np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2]))


@pytest.mark.parametrize(
    ("columns", "sentences"),
    [
        ([COLUMN], np.array([0, 3])),
        ([COLUMN], np.zeros(0, np.int64)),
        ([COLUMN], np.array([0, 5, 2])),
        ([COLUMN], np.array([-1, 2])),
        ([], np.array([0, 2])),
        ([(np.array([0, 2], np.int32), *COLUMN[1:])], np.array([0, 2])),
        ([(np.array([0, -1], np.int32), *COLUMN[1:])], np.array([0, 2])),
        ([(*COLUMN[:2], np.array([0, 1, 9]))], np.array([0, 2])),
        ([(*COLUMN[:2], np.array([0, 2, 1]))], np.array([0, 2])),
        ([(*COLUMN[:2], np.array([-9, 1, 2]))], np.array([0, 2])),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: Any, sentences: np.ndarray) -> None:
    for call in ("fit", "transform"):
        fresh = Vocabulary.of([parse("word[0]")]).map
        with pytest.raises(ValueError, match=r"column|offsets|range"):
            getattr(fresh, call)(columns, sentences)


@pytest.mark.parametrize("key", [(16, 18), (18, 16), (2**31, 16), (16, 2**32 - 1)])
def test_keys_of_values_that_are_not_stored_are_refused(key: tuple[int, int]) -> None:
    strings = [tuple(COLUMN[1:])]
    none = (np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    for texts in ("word[0]|word[1]", "word[0]|word[1]|word[2]"):
        stored = np.array([key[0] << 32 | key[1]], np.uint64)
        first = (np.array([16 << 32 | 17], np.uint64), none[0])
        fresh = Vocabulary.of([parse(texts)]).map
        with pytest.raises(ValueError, match="values"):
            fresh.restore(strings, [(np.zeros(0, np.uint8), np.zeros(1, np.int64))], [(first[0], stored)])


def test_a_map_checks_its_own_functions_and_templates() -> None:
    for functions, made in (
        ([(1, 0, 0, "", None, False)], []),
        ([(0, 0, 0, "", None, False)], [[(1, 0)]]),
        ([(0, 0, 0, "", None, False)], [[(0, 9)]]),
        ([(0, 0, 0, "", None, False)], [[]]),
        ([(0, 0, 0, "", None, False)], [[(0, 0)] * 9]),
    ):
        with pytest.raises(IndexError):
            _native.FeatureMap(1, functions, made)
    with pytest.raises(ValueError, match="function"):
        _native.FeatureMap(1, [(0, 99, 0, "", None, False)], [])


class Counting:
    """A feature map that counts how often its tables are asked for, which copies them."""

    def __init__(self, map: _native.FeatureMap) -> None:
        self.map = map
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name in ("values", "keys"):
            self.asked.append(name)
        return getattr(self.map, name)


def test_names_of_many_features_copy_each_table_once() -> None:
    vocabulary = Vocabulary.of([parse(t) for t in ("word[0]", "lower(word[0])", "word[-1]|word[0]|word[1]")])
    vocabulary.fit(Corpus.from_sentences([["To", "be", "or", "not"], ["to", "be"]]))
    features = list(range(int(vocabulary.bases[-1])))
    counting = Counting(vocabulary.map)
    assert replace(vocabulary, map=counting).names(features) == [vocabulary.name(f) for f in features]
    assert sorted(counting.asked) == ["keys", "values", "values"]


def test_bytes_grow_with_strings_and_features():
    vocabulary = Vocabulary.of([parse("word[0]"), parse("word[-1]|word[0]"), parse("suffix(word[0], 2)")])
    words = [f"word{i}" for i in range(10_000)]
    before = vocabulary.map.bytes()
    vocabulary.fit(Corpus.from_sentences([words]))
    known = sum(map(len, words)) + 10_000 * 4  # the strings, and a value of the suffix for each
    pairs = 10_000 * 8  # the two words of each feature
    assert before + known + pairs < vocabulary.map.bytes() < before + 10 * (known + pairs)
    after = vocabulary.map.bytes()
    vocabulary.fit(Corpus.from_sentences([words]))
    assert vocabulary.map.bytes() == after
