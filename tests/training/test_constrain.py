"""Models that are trained to give only valid label sequences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import corate
from command_line import run
from corate import Constraints, Corpus
from corate.errors import ConfigError
from corate.spans import SCHEMES, convert
from small_corpora import corpus_of

FIRST, THEN, OUTSIDE = ["Ann", "Paris", "New"], ["Lee", "York"], ["in", "saw", "Lee"]
SEGMENTS = ["ab", "c", "abcd", "dcb", "a", "bda", "cc"]
METHODS = ["polish", "empirical", "separate", "standard", "memm", "perceptron"]


def sentences(seed: int, n: int = 60, types: int = 2) -> list[list[tuple[str, str]]]:
    """Sentences with spans in IOB2. Words are ambiguous, so plain models give invalid sequences."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        own: list[tuple[str, str]] = []
        for _ in range(rng.integers(1, 5)):
            if rng.random() < 0.4:
                own.append((str(rng.choice(OUTSIDE)), "O"))
                continue
            kind = f"T{rng.integers(types)}"
            own.append((str(rng.choice(FIRST)), f"B-{kind}"))
            own += [(str(rng.choice(THEN)), f"I-{kind}")] * int(rng.integers(0, 3))
        found.append(own)
    return found


def random_words(seed: int, n: int = 300) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    words = [*FIRST, *THEN, *OUTSIDE, "Unseen"]
    return [[str(w) for w in rng.choice(words, rng.integers(0, 7))] for _ in range(n)]


def invalid(found: list[list[str]], scheme: str = "IOB2") -> int:
    return sum(convert(labels, scheme) != labels for labels in found)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("types", [2, 20])
def test_all_labels_of_a_constrained_model_are_valid(method: str, types: int, tmp_path: Path) -> None:
    corpus, words = corpus_of(sentences(1, types=types)), random_words(2)
    assert invalid(corate.train(corpus, method).tag_all(words)), "the plain model must be able to err"
    tagger = corate.train(corpus, method, constrain="auto")
    assert tagger.record["constrain"] == "IOB2"
    assert invalid(tagger.tag_all(words)) == 0
    assert [tagger.tag(own) for own in words] == tagger.tag_all(words)
    assert invalid([labels for own in words[:10] for labels, p in tagger.nbest(own, 3) if p > 0]) == 0
    assert max(tagger.marginals(own)[0].get("I-T0", 0.0) for own in words if own) < 1e-6
    tagger.save(tmp_path / "model")
    assert corate.load(tmp_path / "model").tag_all(words) == tagger.tag_all(words)


def test_a_constrained_model_stays_constrained() -> None:
    corpus, words = corpus_of(sentences(1)), random_words(2)
    counted = corate.train(corpus, "empirical", constrain="IOB2").update(corpus_of(sentences(3)))
    further = corate.train(corpus_of(sentences(3)), init=corate.train(corpus, constrain="bio"))
    calibrated = corate.train(corpus, constrain="auto", calibrate=True)
    for tagger in (counted, further, calibrated):
        assert tagger.record["constrain"] == "IOB2"
        assert invalid(tagger.tag_all(words)) == 0


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("typed", [True, False], ids=["typed", "untyped"])
def test_the_scheme_of_the_corpus_is_found(scheme: str, typed: bool, tmp_path: Path) -> None:
    rows = [
        [(w, y if typed else y[0]) for (w, _), y in zip(s, convert([y for _, y in s], scheme), strict=True)]
        for s in sentences(1)
    ]
    tagger = corate.train(corpus_of(rows), constrain="auto")
    assert tagger.record["constrain"] == scheme
    assert invalid(tagger.tag_all(random_words(4)), scheme) == 0
    data, model = tmp_path / "train.tsv", tmp_path / "model.corate"
    data.write_text("".join("".join(f"{w}\t{y}\n" for w, y in s) + "\n" for s in rows), encoding="utf-8")
    assert run("train", data, "-o", model, "--constrain", "auto", "--quiet").code == 0
    assert corate.load(model).record["constrain"] == scheme


def test_words_are_segmented_with_the_letters_bmes() -> None:
    """Labels without types and without O, as in the segmentation of Chinese, have their own scheme."""
    rows = [
        list(zip(word, "B" + "M" * (len(word) - 2) + "E" if len(word) > 1 else "S", strict=True)) for word in SEGMENTS
    ]
    tagger = corate.train(corpus_of(rows * 3), constrain="auto")
    assert tagger.record["constrain"] == "BMES"
    plain = corate.train(corpus_of(rows * 3))
    for word in SEGMENTS:
        valid = tagger.tag(list(word)), plain.tag(list(word), constraints=Constraints(scheme="auto"))
        assert invalid(list(valid), "BMES") == 0


def test_labels_that_are_in_no_scheme_are_refused() -> None:
    with pytest.raises(ConfigError, match="the labels of the model mark no spans") as refused:
        corate.train(Corpus.from_sentences([[("a", "DET"), ("dog", "NOUN")]]), constrain="auto")
    assert refused.value.option == "constrain"
    with pytest.raises(
        ConfigError, match="no label of the model ends a span, so its labels are not in the scheme IOBES"
    ):
        corate.train(corpus_of(sentences(1)), constrain="IOBES")
    with pytest.raises(ConfigError, match="unknown label scheme 'IBO'; choose auto or one of IOB1"):
        corate.train(corpus_of(sentences(1)), constrain="IBO")
