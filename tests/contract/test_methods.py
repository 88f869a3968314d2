"""The contract of training methods: they fit, tag, save, load, are deterministic, and refuse unusable data."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate import Corpus
from corate.errors import DataError, ModelError
from corate.io import tensor_file
from corate.label_pairs import DENSE_LABELS
from corate.model.tagger import Tagger
from corate.training.choices import DOUBTED_TOKENS, FEWEST_DOUBTED, MOST_LABELS
from corate.training.methods import METHODS
from real_corpora import real_file
from small_corpora import corpus_of, for_method, random_sentences, words_of

Train = Callable[..., Tagger]

TRAINING = random_sentences(60, noise=0.1)
TEST = random_sentences(40, seed=7, noise=0.1)


def accuracy(tagger: Tagger, labelled: list[list[tuple[str, str]]]) -> float:
    found = tagger.tag_all(words_of(labelled))
    right = [y == z for s, t in zip(labelled, found, strict=True) for (_, y), z in zip(s, t, strict=True)]
    return float(np.mean(right))


def test_it_learns(train: Train) -> None:
    tagger = train(corpus_of(TRAINING))
    assert accuracy(tagger, TRAINING) > 0.85
    assert accuracy(tagger, TEST) > 0.85
    assert set(tagger.labels) == {y for s in TRAINING for _, y in s}


def test_it_says_what_it_did(train: Train, way: dict[str, Any]) -> None:
    corpus = corpus_of(TRAINING)
    stages: list[str] = []
    tagger = train(corpus, progress=lambda event: stages.append(event.stage))
    record = tagger.record
    assert tagger.method == record["method"] == way["method"]
    assert (record["sentences"], record["tokens"], record["labels"]) == (len(corpus), corpus.n_tokens, 4)
    assert record["features"] > 0
    assert record["seconds"] >= 0
    assert stages
    assert set(tagger.words.to_list()) == {w for s in TRAINING for w, _ in s}


def test_unseen_words_get_a_label(train: Train) -> None:
    tagger = train(corpus_of(TRAINING))
    labels = tagger.tag(["Zyx", "zyxing", "99", "-", "", "日本", "the"])
    assert len(labels) == 7
    assert set(labels) <= set(tagger.labels)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_a_saved_model_is_the_same_tagger(train: Train, tmp_path: Path, counts: bool, half: bool) -> None:
    tagger = train(corpus_of(TRAINING))
    size = tagger.save(tmp_path / "model", counts=counts, half=half)
    assert size == (tmp_path / "model").stat().st_size
    loaded = corate.load(tmp_path / "model")
    assert loaded.tag_all(words_of(TEST)) == tagger.tag_all(words_of(TEST))
    assert loaded.record == {name: value for name, value in tagger.record.items() if name != "seconds"}
    assert (loaded.labels, loaded.features, loaded.columns) == (tagger.labels, tagger.features, tagger.columns)
    assert repr(loaded) == repr(tagger)
    for words in words_of(TEST)[:5]:
        assert loaded.score(words) == pytest.approx(tagger.score(words), abs=0.05 if half else 1e-6)
    if tagger.method != "empirical":
        return
    if not counts:
        with pytest.raises(ModelError, match="without its counts"):
            loaded.update(corpus_of(TEST))
    elif not half:
        assert loaded.update(corpus_of(TEST)).tag_all(words_of(TEST)) == (
            tagger.update(corpus_of(TEST)).tag_all(words_of(TEST))
        )


def saved(tagger: Tagger, path: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    tagger.save(path)
    tensors, header = tensor_file.read(path)
    return {name: t.tobytes() + str(t.dtype).encode() for name, t in tensors.items()}, header


def test_training_again_gives_the_same_bytes(train: Train, tmp_path: Path) -> None:
    first = saved(train(corpus_of(TRAINING), seed=5), tmp_path / "a")
    np.random.default_rng().random()
    random.seed()
    assert saved(train(corpus_of(TRAINING), seed=5), tmp_path / "b") == first
    assert saved(train(corpus_of(TRAINING), seed=5, threads=3), tmp_path / "c") == first


def test_an_updated_model_has_learned_more(train: Train, tmp_path: Path) -> None:
    tagger = train(corpus_of(TRAINING))
    before = tagger.tag_all(words_of(TEST))
    more = corpus_of([[("the", "D"), ("gnu", "BEAST")]] * 30)
    if tagger.method != "empirical":
        with pytest.raises(ModelError, match="has no counts"):
            tagger.update(more)
        return
    updated = tagger.update(more)
    assert updated.tag(["gnu"]) == ["BEAST"]
    assert updated.record["sentences"] == len(TRAINING) + 30
    assert tagger.tag_all(words_of(TEST)) == before
    updated.save(tmp_path / "model")
    assert corate.load(tmp_path / "model").tag(["gnu"]) == ["BEAST"]


def test_threads_do_not_change_labels(train: Train) -> None:
    tagger = train(corpus_of(TRAINING))
    assert tagger.tag_all(words_of(TEST), threads=4) == tagger.tag_all(words_of(TEST))


def test_what_cannot_be_trained_on_is_refused(train: Train) -> None:
    with pytest.raises(DataError, match="labels"):
        train(Corpus.from_sentences([["a", "b"]]))
    for nothing in (Corpus.from_sentences([], []), Corpus.from_sentences([[], []], [[], []])):
        with pytest.raises(DataError, match="no tokens"):
            train(nothing)
    with pytest.raises(DataError, match="unknown method"):
        train(corpus_of(TRAINING), method="alchemy")
    with pytest.raises(DataError, match="held-out"):
        train(corpus_of(TRAINING), held_out=Corpus.from_sentences([], []))


@pytest.mark.parametrize("n", [1, 2, 30])
def test_one_word_sentences_train_and_tag(train: Train, n: int) -> None:
    tagger = train(corpus_of([[("yes", "Y")], [("no", "N")]] * n))
    assert [tagger.tag([w]) for w in ("yes", "no")] == [["Y"], ["N"]]
    assert len(tagger.tag(["yes", "no", "yes"])) == 3


@pytest.mark.parametrize("n", [1, 30])
def test_a_single_token_is_enough(train: Train, n: int) -> None:
    tagger = train(corpus_of([[("yes", "Y")]] * n))
    assert tagger.tag(["yes", "maybe"]) == ["Y", "Y"]
    assert tagger.score(["yes", "maybe"]) == pytest.approx(0.0, abs=1e-6)


def test_one_label_is_always_right(train: Train) -> None:
    tagger = train(corpus_of([[(w, "X") for w, _ in s] for s in TRAINING]))
    assert tagger.tag_all(words_of(TEST)) == [["X"] * len(s) for s in TEST]


def test_empty_sentences_between_others_do_no_harm(train: Train) -> None:
    """They may change which sentences are held out, and so one or two labels."""
    first, *found, last = train(corpus_of([[], *TRAINING, [], []])).tag_all([[], *words_of(TEST), []])
    assert first == last == []
    without = train(corpus_of(TRAINING)).tag_all(words_of(TEST))
    assert [len(labels) for labels in found] == [len(labels) for labels in without]
    assert np.mean([a == b for s, t in zip(found, without, strict=True) for a, b in zip(s, t, strict=True)]) > 0.95


def test_labels_that_training_has_not_seen_are_wrong_and_no_more(train: Train) -> None:
    held_out = corpus_of([*TEST, [("the", "NEVERSEEN")]])
    tagger = train(corpus_of(TRAINING), held_out=held_out)
    report = corate.evaluate(tagger, held_out)
    assert 0.8 < report.accuracy < 1
    assert "NEVERSEEN" not in tagger.labels
    assert tagger.score(["the"], ["NEVERSEEN"]) == -np.inf


def test_more_labels_than_fit_a_table(train: Train, way: dict[str, Any], tmp_path: Path) -> None:
    """With this many labels, edge scores are looked up pair by pair. Trained scores are all stored, so only the labels
    observed with each word are candidates."""
    trained = METHODS[way["method"]].on_sentences
    n = DENSE_LABELS + 10
    labelled = [[(f"w{i}", f"L{i}"), (f"w{i + 1}", f"L{i + 1}")] for i in range(0, n, 2)]
    few = for_method(way["method"], iterations=10, passes=3)
    options: dict[str, Any] = {**few, "lattice": "pruned"} if trained else {}
    tagger = train(corpus_of(labelled), many_labels=True, **options)
    assert len(tagger.labels) == n
    found = tagger.tag(["w4", "w5"])
    # Independent factors disagree if each word and label occurs once: joint coupling is not robust.
    assert found == ["L4", "L5"] or way.get("coupling") == "joint"
    assert len(tagger.tag(["unseen", "w8", "w9", "unseen"])) == 4
    assert np.isfinite(tagger.score(["w4", "w5"]))
    tagger.save(tmp_path / "model")
    assert corate.load(tmp_path / "model").tag(["w4", "w5"]) == found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", [False, True])
def test_features_may_come_from_a_function(method: str, number: bool) -> None:
    """The corpus also has words, so a back-off is counted; the features are text, or text and numbers."""

    def features(words: list[str], i: int) -> dict[str, Any]:
        return {"w": words[i], "first": i == 0} | ({"length": len(words[i])} if number else {})

    tagger = corate.train(corpus_of(TRAINING), method, features=features)
    assert accuracy(tagger, TEST) > 0.8


@pytest.mark.parametrize("method", [method for method in METHODS if method != "empirical"])
def test_words_taken_for_labels_are_refused_before_they_fill_the_memory(method: str) -> None:
    words = [f"w{i}" for i in range(MOST_LABELS + 1)]
    with pytest.raises(DataError, match=r"10,001 labels are more than the 10,000 .* name the columns"):
        corate.train(Corpus.from_sentences([words], [words]), method)
    few = Corpus.from_sentences([[(word, word)] for word in words]).take(np.arange(3))
    assert len(corate.train(few, method).labels) == 3


@pytest.mark.parametrize("method", METHODS)
def test_words_taken_for_labels_are_doubted_unless_they_are_meant(method: str) -> None:
    words = [f"w{i}" for i in range(FEWEST_DOUBTED + 1)]
    swapped = [[(f"T{i % 7}", word)] for i, word in enumerate(words)] * 2
    doubt = r"201 labels in 402 tokens \(distinct words: 7\); is the label column right\? .*columns=.*many_labels=True"
    with pytest.raises(DataError, match=doubt):
        corate.train(corpus_of(swapped), method)
    few = for_method(method, passes=1, iterations=1)
    assert corate.train(corpus_of(swapped), method, many_labels=True, **few).labels == words


@pytest.mark.parametrize(
    "corpus",
    [
        corpus_of([[(f"w{i}", f"w{i}") for i in range(FEWEST_DOUBTED)]]),
        corpus_of([[(f"w{i}", f"L{i % 300}") for i in range(600)]]),
        corpus_of([[(f"w{i % 9}", f"L{i % 300}")] for i in range(300 * DOUBTED_TOKENS)]),
    ],
    ids=["few labels", "more words", "many tokens"],
)
def test_labels_are_not_doubted_where_there_are_few_or_enough_words_or_tokens(corpus: Corpus) -> None:
    assert len(corate.train(corpus, "perceptron", passes=1, lattice="pruned").labels) >= FEWEST_DOUBTED


def test_a_separate_start_takes_as_many_labels_as_are_meant() -> None:
    corpus = corpus_of([[(f"w{i % 9}", f"L{i}")] for i in range(FEWEST_DOUBTED + 1)])
    tagger = corate.train(corpus, base="separate", features=["word[0]"], many_labels=True, passes=1)
    assert len(tagger.labels) == FEWEST_DOUBTED + 1


@pytest.mark.parametrize("fewer", ["upos", "upos|feats"])
def test_tags_of_a_treebank_are_not_doubted(fewer: str) -> None:
    """Finnish has the most: 424 labels in the first 3,000 tokens."""
    text = real_file("ud-small.zip", "fi_tdt-ud-dev.conllu").decode()
    rows = [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]
    tokens = [(row[1], row[3] + (row[5] if fewer == "upos|feats" else "")) for row in rows if row[0].isdigit()]
    for n in (300, 3000):
        corate.train(corpus_of([tokens[i : i + 10] for i in range(0, n, 10)]), "empirical")


def test_a_word_column_of_another_name_is_found(train: Train) -> None:
    named = Corpus.from_sentences(
        [[{"form": w, "label": y} for w, y in s] for s in TRAINING], columns=["form", "label"]
    )
    features = ["form[0]", "suffix(form[0], 2)"]
    reads = train(corpus_of(TRAINING)).record.get("ladder", "pooled") == "pooled"
    tagger = train(named, features=features) if reads else corate.train(named, "empirical", backoff="default")
    assert tagger.columns == ("form",)
    assert accuracy(tagger, TEST) > 0.85
