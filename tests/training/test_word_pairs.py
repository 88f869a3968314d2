"""Empirical training with pairs="words": the probabilities by hand and in plain Python, answers by enumeration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import _native
from corate.corpus import Corpus
from corate.counting.word_pairs import WordPairCounts
from corate.errors import ConfigError, DataError, FeatureError, ModelError
from corate.io import tensor_file
from corate.model.tagger import Tagger
from options_given import given as arguments
from reference.word_pairs import END, FLOOR, START, WordPairs, spelling
from small_corpora import LABELS, WORDS, Labelled, corpus_of, random_sentences

SENTENCES: Labelled = [[("the", "D"), ("dogs", "N")], [("the", "D"), ("cats", "N")], [("dogs", "V"), ("the", "D")]]
#: Words that no sentence has: some with the spelling of a word that was seen, one whose spelling was not seen.
UNSEEN = ("birds", "Talks", "7", "Re-using", "then")
SPAN_LABELS = ("O", "B-X", "I-X")


def train(sentences: Labelled, **options: Any) -> Tagger:
    return corate.train(corpus_of(sentences), "empirical", pairs="words", **arguments(**options))


def texts(labelled: Sequence[Sequence[tuple[str, str]]], n: int) -> list[list[str]]:
    """The first words of sentences, some of them replaced by words that were not seen."""
    made = [[w for w, _ in s[:n]] for s in labelled]
    return [
        [UNSEEN[(i + j) % len(UNSEEN)] if (i + j) % 3 == 0 else w for j, w in enumerate(s)] for i, s in enumerate(made)
    ]


# -- the plain version -------------------------------------------------------------------------------------------------


def test_spelling_features_are_those_of_the_paper() -> None:
    assert spelling("Nations") == ("upper", "s")
    assert spelling("1960-born") == ("digit", "hyphen")
    assert spelling("relation") == ("ion", "tion")
    assert spelling("cat") == ()


def test_seen_words_and_pairs_have_their_frequencies() -> None:
    counted = WordPairs(SENTENCES)
    assert counted.node("dogs") == {"N": math.log(0.5), "V": math.log(0.5)}
    assert counted.pair("the", "dogs") == {("D", "N"): 1.0}
    assert counted.pair(START, "the") == {(START, "D"): 1.0}


def test_a_pair_with_one_unseen_word_averages_over_pairs_with_the_known_word() -> None:
    """`birds` is spelled as `dogs` and `cats`; each pair of words counts once."""
    counted = WordPairs([*SENTENCES, [("the", "X"), ("dogs", "V")], [("a", "D"), ("cats", "V")]])
    assert counted.pair("the", "birds") == {("D", "N"): 0.75, ("X", "V"): 0.25}
    assert counted.pair("birds", END) == {("N", END): pytest.approx(0.5), ("V", END): pytest.approx(0.5)}
    # No pair of `cats` and such a word: both spellings. Two unseen words: the same.
    assert counted.pair("cats", "birds") is None
    assert counted.pair("then", "birds") == {
        ("D", "N"): 0.5,
        ("X", "V"): pytest.approx(1 / 6),
        ("D", "V"): pytest.approx(1 / 3),
    }


def test_two_known_words_never_seen_together_have_the_rates_of_labels() -> None:
    assert WordPairs(SENTENCES).pair("cats", "dogs") is None


# -- probabilities -----------------------------------------------------------------------------------------------------


def native_pairs(sentences: Labelled) -> tuple[Tagger, _native.WordPairs]:
    tagger = train(sentences)
    model = tagger.model
    assert model.word_pairs is not None
    classes = tagger.vocabulary.map.values_of(model.levels[0])
    return tagger, model.word_pairs.counts.native(classes, len(tagger.labels))


@given(seed=st.integers(0, 200))
def test_the_tables_are_those_of_the_plain_version(seed: int) -> None:
    sentences = random_sentences(12, seed, noise=0.4)
    plain = WordPairs(sentences)
    tagger, pairs = native_pairs(sentences)
    names, words = [*tagger.labels, START], tagger.words.to_list()
    classes = tagger.vocabulary.map.values_of(tagger.model.levels[0]).tolist()
    offsets, found, scores = pairs.rows()
    reached: set[int] = set()

    def distribution(first: int, second: int) -> dict[tuple[str, str], float] | None:
        row = pairs.find(first, second)
        reached.add(row)
        if row < 0:
            return None
        pair = [divmod(p, len(names)) for p in found[offsets[row] : offsets[row + 1]].tolist()]
        own = scores[offsets[row] : offsets[row + 1]].tolist()
        return {
            (names[y], END if z == len(names) - 1 else names[z]): math.exp(p)
            for (y, z), p in zip(pair, own, strict=True)
        }

    def expect(table: Any, key: Any) -> Any:
        return None if key not in table else pytest.approx(table[key], rel=1e-5)

    def of_class(word: str) -> Any:
        return word if word in (START, END) else spelling(word)

    exact = {word: 2 * w + 2 for w, word in enumerate(words)}
    coarse = {word: 2 * classes[w] + 1 for w, word in enumerate(words)}
    for x in [START, *words]:
        for z in [*words, END]:
            a, b = exact.get(x, 0), exact.get(z, 0)
            c, d = coarse.get(x, 0), coarse.get(z, 0)
            assert distribution(a, b) == expect(plain.pairs, (x, z))
            if x != START:
                assert distribution(c, b) == expect(plain.by_class_word, (of_class(x), z, 1))
            if z != END:
                assert distribution(a, d) == expect(plain.by_word_class, (x, of_class(z), 0))
            if x != START or z != END:
                assert distribution(c, d) == expect(plain.by_classes, (of_class(x), of_class(z)))
    assert reached == {-1, *range(len(offsets) - 1)}


# -- answers -----------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 200), oov=st.sampled_from((1.0, 0.95, 0.5)))
def test_answers_are_those_of_enumeration(seed: int, oov: float) -> None:
    """Scores, best labels, n-best labellings, their probabilities and marginals, on text with unseen words."""
    sentences = random_sentences(12, seed, noise=0.4)
    plain, tagger = WordPairs(sentences, oov=oov), train(sentences, oov=oov)
    for words in texts(random_sentences(5, seed + 1), 4):
        every = plain.labellings(words)
        log_z = math.log(sum(math.exp(score) for score, _ in every))
        lattice = tagger.lattice([words])
        ids = {name: i for i, name in enumerate(tagger.labels)}
        for score, labels in every[:20]:
            path = np.array([ids[y] for y in labels], np.int32)
            assert lattice.path_score(0, path) == pytest.approx(score, abs=1e-4)
            assert tagger.score(words, labels) == pytest.approx(score - log_z, abs=1e-4)
        assert plain.score(words, tagger.tag(words)) == pytest.approx(every[0][0], abs=1e-4)
        assert plain.score(words, plain.tag(words)) == pytest.approx(every[0][0])
        best = tagger.nbest(words, 5)
        assert [p for _, p in best] == pytest.approx([math.exp(s - log_z) for s, _ in every[:5]], rel=1e-3)
        marginals = tagger.marginals(words)
        for i, own in enumerate(marginals):
            for y, p in own.items():
                expected = sum(math.exp(s - log_z) for s, labels in every if labels[i] == y)
                assert p == pytest.approx(expected, abs=1e-5)


def test_text_batches_and_single_sentences_have_the_same_labels() -> None:
    sentences = random_sentences(40, 3, noise=0.3)
    tagger, test = train(sentences), [s for s in texts(random_sentences(20, 4), 8) if s]
    one_by_one = [tagger.tag(words) for words in test]
    assert tagger.tag_all(test) == tagger.tag_all(test, threads=3) == tagger.lattice(test).tag() == one_by_one
    text = "\n\n".join("\n".join(words) for words in test).encode() + b"\n"
    rows = [row.split(b"\t")[1].decode() for row in tagger.tag_text(text)[0].split(b"\n") if row]
    assert rows == [y for labels in one_by_one for y in labels]


def test_a_label_pair_that_was_not_seen_is_possible() -> None:
    """`dogs` was V, but not after `the` and not at the end: two pairs of the floor."""
    found = train(SENTENCES).score(["the", "dogs"], ["D", "V"])
    assert found == pytest.approx(math.log(FLOOR**2 / (1.0 + FLOOR**2)), abs=1e-4)


def test_constraints_and_calibration_apply() -> None:
    labelled = [[(w, SPAN_LABELS[LABELS.index(y) % 3]) for w, y in s] for s in random_sentences(60, 5)]
    tagger = train(labelled)
    words = ["the", "birds", "Talks", "dog"]
    limits = corate.Constraints(scheme="IOB2", labels={1: "B-X"})
    every = [(p, labels) for labels, p in tagger.nbest(words, 1000)]
    assert tagger.tag(words, constraints=corate.Constraints(labels={0: set(tagger.labels)})) is not None
    found = tagger.tag(words, constraints=limits)
    assert found[1] == "B-X"
    assert all(not (z == "I-X" and y == "O") for y, z in zip(["O", *found], found, strict=False))
    assert sum(p for p, _ in every) == pytest.approx(1.0, abs=1e-4)
    valid = train(labelled, constrain="IOB2")
    for sentence in texts(labelled, 6):
        labels = valid.tag(sentence)
        assert all(not (z == "I-X" and y == "O") for y, z in zip(["O", *labels], labels, strict=False))
    calibrated = train(labelled, calibrate=True)
    factor = calibrated.record["temperature"]
    assert calibrated.tag(words) == train(labelled).tag(words) or factor == 1.0


def test_contributions_of_an_explanation_sum_to_the_difference() -> None:
    tagger = train(random_sentences(60, 5, noise=0.4))
    for words in texts(random_sentences(10, 6), 6):
        for i in range(len(words)):
            found = tagger.explain(words, i)
            if found.against is not None:
                assert sum(c.score for c in found.contributions) == pytest.approx(found.difference, abs=1e-3)


# -- counts ------------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 100))
def test_an_update_gives_the_model_of_all_sentences(seed: int) -> None:
    first, second = random_sentences(8, seed), [*random_sentences(5, seed + 1, words=("new", *WORDS[3:])), [("x", "Q")]]
    updated, whole = train(first).update(corpus_of(second)), train([*first, *second])
    assert updated.model.word_pairs is not None
    assert whole.model.word_pairs is not None

    def entries(tagger: Tagger) -> set[tuple[Any, ...]]:
        counts = tagger.model.word_pairs.counts  # type: ignore[union-attr]
        words, labels = ["", *tagger.words.to_list()], [*tagger.labels, ""]
        rows = np.repeat(np.arange(len(counts.first)), np.diff(counts.offsets))
        y, z = np.divmod(counts.labels, len(labels))
        return {
            (words[counts.first[r]], words[counts.second[r]], labels[a], labels[b], n)
            for r, a, b, n in zip(rows.tolist(), y.tolist(), z.tolist(), counts.counts.tolist(), strict=True)
        }

    assert entries(updated) == entries(whole)
    for words in texts(random_sentences(4, seed + 2), 5):
        if words:
            assert updated.nbest(words, 1)[0][1] == pytest.approx(whole.nbest(words, 1)[0][1], rel=1e-4)


def test_sentences_without_tokens_have_no_pairs() -> None:
    words, labels = np.zeros(1, np.int32), np.zeros(1, np.int32)
    counts = WordPairCounts.of(words, labels, np.array([0, 0, 1, 1]), 1)
    assert (counts.first.tolist(), counts.second.tolist(), counts.counts.tolist()) == ([0, 1], [1, 0], [1, 1])


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"counts": False}, {"half": True}])
def test_a_saved_model_gives_the_same_answers(tmp_path: Path, options: dict[str, Any]) -> None:
    sentences = random_sentences(30, 7)
    tagger, test = train(sentences), texts(random_sentences(10, 8), 6)
    tagger.save(tmp_path / "m.corate", **options)
    loaded = corate.load(tmp_path / "m.corate")
    assert loaded.tag_all(test) == tagger.tag_all(test)
    assert (loaded.counts is None) == ("counts" in options)
    if not options:
        assert (tmp_path / "m.corate").read_bytes()[8:80].count(b'"format_version":"2"') == 1
        assert loaded.update(corpus_of(SENTENCES)).tag_all(test) == tagger.update(corpus_of(SENTENCES)).tag_all(test)


@pytest.mark.parametrize(
    ("tensor", "place", "value"),
    [
        ("first", 0, 200),
        ("second", -1, 200),
        ("labels", 0, 250),
        ("labels", 0, 0),
        ("counts", 0, 0),
        ("lengths", 0, 0),
        ("first", -1, 0),
    ],
)
def test_every_index_of_a_file_is_checked(tmp_path: Path, tensor: str, place: int, value: int) -> None:
    train(SENTENCES).save(tmp_path / "m.corate")
    tensors, header = tensor_file.read(tmp_path / "m.corate")
    damaged = dict(tensors)
    array = damaged[f"word_pairs.{tensor}"].copy()
    array[place] = value
    damaged[f"word_pairs.{tensor}"] = array
    tensor_file.write(tmp_path / "m.corate", damaged, header, 2)
    with pytest.raises(ModelError, match=r"pairs of words|word_pairs"):
        corate.load(tmp_path / "m.corate")


def test_a_pair_of_words_that_occurs_twice_is_refused() -> None:
    ones = np.array([1, 1], np.int32)
    counts = np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2, np.int64)
    with pytest.raises(ValueError, match="twice"):
        _native.WordPairs(ones, ones, counts, np.zeros(1, np.int32), 1)


# -- what it cannot do -------------------------------------------------------------------------------------------------


def test_other_backoffs_and_features_are_refused() -> None:
    with pytest.raises(ConfigError, match="use the back-off 'paper', not 'default'"):
        corate.Empirical(pairs="words", backoff="default")
    with pytest.raises(FeatureError, match="leave features out"):
        train(SENTENCES, features=["word[0]", "suffix(word[0], 2)"])
    corpus = Corpus.from_features([[{"a": 1.0}]], [["X"]])
    with pytest.raises(FeatureError, match="needs words"):
        corate.train(corpus, "empirical", pairs="words")


def test_such_a_model_is_not_trained_further() -> None:
    with pytest.raises(DataError, match="cannot be trained further"):
        corate.train(corpus_of(SENTENCES), "polish", init=train(SENTENCES))


def test_text_on_disk_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    path.write_text("\n\n".join("\n".join(f"{w}\t{y}" for w, y in s) for s in random_sentences(400)) + "\n")
    with pytest.raises(ConfigError, match="with the pairs 'words' needs the text in memory"):
        corate.train_file(path, tmp_path / "m.corate", method="empirical", pairs="words", memory=1)
