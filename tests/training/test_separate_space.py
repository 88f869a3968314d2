"""The probability space of separate training: which labels a token can have, in training, in tagging and in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.counting.pooling import Candidates
from corate.errors import ConfigError, ModelError
from corate.features.templates import parse_list
from corate.io import tensor_file
from corate.model import crfsuite
from corate.model.explanation import Question
from corate.model.tagger import Tagger
from corate.training.methods import Separate
from corate.training.separate import SeparateTraining
from small_corpora import Labelled, corpus_of, random_sentences, start_of, words_of

FEATURES = ["word[0]", "suffix(word[0], 1)", "word[-1]|word[0]", "starts_upper(word[0])"]
TRAINING = random_sentences(80, noise=0.2)
NEW = [*words_of(random_sentences(20, seed=3, noise=0.2)), ["Zz9", "qqq"], ["!"]]
JOINT: dict[str, Any] = {"coupling": "joint", "space": "features", "features": FEATURES}


def trained(labelled: Labelled = TRAINING, **options: Any) -> Tagger:
    return corate.train(corpus_of(labelled), "separate", **(JOINT | options))


def features(words: list[str], i: int) -> list[tuple[str, str]]:
    """The active features of a token, by hand."""
    word, before = words[i], words[i - 1] if i else "<s>"
    found = [("word", word), ("suffix", word[-1:]), ("pair", f"{before} {word}")]
    return [*found, *([("upper", "1")] if word[:1].isupper() else [])]


def spaces(labelled: Labelled, sentences: list[list[str]], cutoff: int = 1) -> list[list[str]]:
    """The labels that the features of each token were seen with, in order; all labels if there are none."""
    seen: dict[tuple[str, str], list[str]] = {}
    for sentence in labelled:
        words = [w for w, _ in sentence]
        for i, (_, label) in enumerate(sentence):
            for feature in features(words, i):
                seen.setdefault(feature, []).append(label)
    kept = {feature: labels for feature, labels in seen.items() if len(labels) >= cutoff}
    every = sorted({label for sentence in labelled for _, label in sentence})
    return [
        sorted({label for feature in features(words, i) for label in kept.get(feature, [])}) or every
        for words in sentences
        for i in range(len(words))
    ]


def candidates(tagger: Tagger, sentences: list[list[str]]) -> list[list[str]]:
    lattice = tagger.lattice(sentences)
    return [
        sorted(lattice.names[y] for y in lattice.labels[a:b].tolist())
        for a, b in zip(lattice.offsets[:-1], lattice.offsets[1:], strict=True)
    ]


@pytest.mark.parametrize("cutoff", [1, 3])
def test_a_token_can_have_the_labels_that_its_features_were_seen_with(cutoff: int, tmp_path: Path) -> None:
    wanted = spaces(TRAINING, NEW, cutoff)
    assert len({len(labels) for labels in wanted}) > 1, "the spaces differ"
    tagger = trained(cutoff=cutoff)
    tagger.save(tmp_path / "model")
    loaded = corate.load(tmp_path / "model")
    for one in (tagger, loaded):
        assert candidates(one, NEW) == wanted
        assert one.tag_all(NEW) == [one.tag(words) for words in NEW] == tagger.tag_all(NEW)
    flat = [label for labels in loaded.tag_all(NEW) for label in labels]
    assert all(label in space for label, space in zip(flat, wanted, strict=True))
    assert (loaded.record["coupling"], loaded.record["space"]) == ("joint", "features")
    words, positions = NEW[0], range(len(NEW[0]))
    assert [e.label for e in loaded.explanations([words], [Question(0, i) for i in positions])] == loaded.tag(words)


@pytest.mark.parametrize("cutoff", [1, 3])
def test_training_has_the_same_space_and_leaves_no_token_out(cutoff: int) -> None:
    start = start_of(corpus_of(TRAINING), parse_list(FEATURES))
    training = SeparateTraining.of(Separate(coupling="joint", space="features", cutoff=cutoff), start)
    found = training.arrays(training.tokens, start.tables(), training=True).candidates
    names = start.labels.to_list()
    rows = [sorted(names[y] for y in found.labels[a:b]) for a, b in zip(found.offsets, found.offsets[1:], strict=False)]
    assert rows == spaces(TRAINING, words_of(TRAINING), cutoff)


def test_rows_of_labels_are_united_as_sets_are() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        n, rows = int(rng.integers(1, 7)), [np.flatnonzero(rng.random(6) < 0.3) % 6 for _ in range(5)]
        n = 6
        slots = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
        tokens = [rng.integers(0, 7, rng.integers(0, 4)).tolist() for _ in range(4)]  # 5 and 6 have no row
        offsets = np.concatenate([[0], np.cumsum([len(t) for t in tokens])]).astype(np.int64)
        ids = np.array([f for t in tokens for f in t], np.int32)
        found = Candidates.seen_with((offsets, ids), (slots, np.concatenate(rows).astype(np.int32)), n)
        for i, own in enumerate(tokens):
            united = {int(y) for f in own if f < 5 for y in rows[f]} or set(range(n))
            assert found.labels[found.offsets[i] : found.offsets[i + 1]].tolist() == sorted(united)


def test_the_space_of_words_is_not_changed() -> None:
    plain, named = (
        corate.train(corpus_of(TRAINING), "separate", coupling="joint", **o) for o in ({}, {"space": "word"})
    )
    assert plain.strongest() == named.strongest()
    assert not plain.model.by_features
    assert plain.record["space"] == "word"


def test_older_programs_refuse_the_file_and_weights_are_not_dropped(tmp_path: Path) -> None:
    tagger = trained()
    tagger.save(tmp_path / "model")
    assert b'"format_version":"3"' in (tmp_path / "model").read_bytes()[:200]
    header = tensor_file.read(tmp_path / "model")[1]
    assert header["model"]["by_features"] is True
    with pytest.raises(ConfigError, match="space 'features'"):
        tagger.shrunk(drop_below=0.1)


def test_a_crfsuite_file_cannot_hold_the_space(tmp_path: Path) -> None:
    made = corate.Corpus.from_features(
        [[{"w": w} for w, _ in s] for s in TRAINING], [[y for _, y in s] for s in TRAINING]
    )
    tagger = corate.train(made, "separate", coupling="joint", space="features")
    with pytest.raises(ModelError, match="its features say which labels a token can have"):
        crfsuite.save(tagger, tmp_path / "model.crfsuite")


def test_a_model_that_is_trained_further_or_kept_to_a_scheme_has_all_labels() -> None:
    spans = [[(w, f"{'B' if i % 2 else 'I'}-{y}") for i, (w, y) in enumerate(s)] for s in TRAINING]
    kept = trained(spans, constrain="IOB2")
    more = corate.train(corpus_of(TRAINING), "standard", init=trained(), iterations=3)
    for tagger in (kept, more):
        assert (tagger.model.all_labels, tagger.model.by_features) == (True, False)


def test_lbfgs_warns_if_it_stops_before_it_converges(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.warns(UserWarning, match="made 3 iterations and did not converge; the scores are differences"):
        trained(optimizer="lbfgs", iterations=3)
    with pytest.warns(UserWarning, match="made 2 iterations and did not converge; give more iterations"):
        corate.train(corpus_of(TRAINING), "separate", optimizer="lbfgs", iterations=2)
    recwarn.clear()
    trained(optimizer="lbfgs", iterations=500)
    assert not recwarn.list
