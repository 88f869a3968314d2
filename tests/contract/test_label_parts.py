"""Weights of parts of labels: what they learn, when they are chosen, files, further training, and refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.errors import ConfigError, ModelError
from corate.io import tensor_file
from corate.model import archive
from corate.model.tagger import Tagger
from corate.rows import SparseRows
from corate.training.choices import LABELS_PER_PART
from small_corpora import Labelled, chain_methods, corpus_of, for_method, words_of

CLASSES = ("N", "A", "P", "D", "Q", "R")
CASES = ("Nom", "Gen", "Dat", "Acc", "Ess", "Ill")
FEATURES = ["word[0]", "prefix(word[0], 1)", "suffix(word[0], 2)", "word[-1]"]


def inflected(n: int, seed: int, left_out: tuple[int, ...] = ()) -> Labelled:
    """Words whose first letter tells their class and whose ending tells their case, without some combinations."""
    rng = np.random.default_rng(seed)
    made: Labelled = []
    while len(made) < n:
        kinds = rng.integers(len(CLASSES) * len(CASES), size=rng.integers(2, 7)).tolist()
        if set(kinds) & set(left_out):
            continue
        pairs = [divmod(kind, len(CASES)) for kind in kinds]
        stems = rng.integers(1000, size=len(pairs)).tolist()
        made.append(
            [
                (f"{'nbpdqr'[c]}{s}{'mgtcsl'[k]}x", f"{CLASSES[c]}|Case={CASES[k]}")
                for s, (c, k) in zip(stems, pairs, strict=True)
            ]
        )
    return made


TRAINING = inflected(80, 0)
TEST = inflected(40, 1)


def trained(labelled: Labelled = TRAINING, method: str = "polish", **options: Any) -> Tagger:
    features = {} if "init" in options else {"features": FEATURES}
    few = for_method(method, passes=6, iterations=20)
    return corate.train(corpus_of(labelled), method, **(features | few | options))


def whole_labels(tagger: Tagger) -> Tagger:
    """The tagger with weights of whole labels alone: those of its parts are added to every label that has them."""
    model = tagger.model
    assert model.parts is not None
    k, n = len(model.labels), len(model.weights)
    dense = np.zeros((n, k + len(model.parts)))
    dense[np.repeat(np.arange(n), np.diff(model.weights.offsets)), model.weights.labels] = model.weights.scores
    for y in range(k):
        own = model.parts.ids[model.parts.offsets[y] : model.parts.offsets[y + 1]]
        dense[:, y] += dense[:, k + own].sum(axis=1)
    labels = np.tile(np.arange(k, dtype=np.int32), n)
    rows = SparseRows(np.arange(n + 1, dtype=np.int64) * k, labels, dense[:, :k].ravel().astype(np.float32))
    return replace(tagger, model=replace(model, weights=rows, parts=None))


def bits(tagger: Tagger) -> bytes:
    return archive.to_bytes(replace(tagger, record={**tagger.record, "seconds": 0}))


# -- scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("all_labels", [False, True])
def test_a_label_scores_its_own_weights_and_those_of_its_parts(all_labels: bool) -> None:
    tagger = trained(parts=True, base="default", all_labels=all_labels)
    other = whole_labels(tagger)
    found, expected = tagger.lattice(corpus_of(TEST)), other.lattice(corpus_of(TEST))
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-4, atol=1e-4)
    assert len(tagger.model.weights.labels[tagger.model.weights.labels >= len(tagger.labels)]) > 100
    for words in words_of(TEST)[:5]:
        assert tagger.score(words) == pytest.approx(other.score(words), abs=1e-3)


@pytest.mark.parametrize("method", chain_methods())
def test_every_method_on_whole_sentences_learns_with_parts(method: str) -> None:
    tagger = trained(method=method, parts=True, **for_method(method, base="none", lattice="full", rate=0.2))
    assert tagger.record["parts"] == len(CLASSES) + len(CASES)
    assert corate.evaluate(tagger, corpus_of(TEST)).accuracy > 0.9


def test_parts_tell_labels_that_features_were_not_seen_with() -> None:
    """The label is rare, and its words have other endings than those in the test."""
    rare = [[(f"n{i}zx", "N|Case=Gen")] for i in range(3)]
    corpus = inflected(150, 2, left_out=(1,)) + rare
    test = [[(f"n{i}gx", "N|Case=Gen")] for i in range(2000, 2040)]
    found = [
        corate.evaluate(trained(corpus, "standard", parts=parts, c2=0.5), corpus_of(test)).accuracy
        for parts in (True, False)
    ]
    assert found[0] > 0.9 > 0.5 > found[1]


# -- the choice -------------------------------------------------------------------------------------------------------


def of_labels(labels: list[str]) -> Labelled:
    return [[(f"w{i}", label), (f"v{i}", labels[(i * 7) % len(labels)])] for i, label in enumerate(labels)]


def test_parts_are_chosen_for_polish_where_few_of_them_make_up_many_labels() -> None:
    many = [f"{a}|{b}" for a in CLASSES for b in CASES]
    assert len(many) > LABELS_PER_PART * 12
    assert trained(of_labels(many)).record["parts"] == 12
    assert trained(of_labels(many)).record["order"] == 1
    for labelled, options in (
        (of_labels(many), {"parts": False}),
        (of_labels(many), {"method": "standard"}),
        (of_labels([f"{a}|{b}" for a in CLASSES[:2] for b in CASES[:2]]), {}),  # as many parts as labels
        (of_labels([f"N{i}" for i in range(40)]), {}),
        (of_labels([*(f"N{i}" for i in range(40)), "N1|N2"]), {}),  # most labels have no parts
        (of_labels([f"{prefix}-T{i}" for prefix in "BI" for i in range(20)]), {}),  # spans
        (of_labels([f"A{i}|B{i // 2}" for i in range(40)] + [f"A{i}" for i in range(40)]), {}),
    ):
        tagger = trained(labelled, **options)
        assert "parts" not in tagger.record
        assert tagger.model.parts is None


def test_labels_without_shared_parts_have_no_weights_of_parts() -> None:
    assert trained(of_labels(["A", "B", "C"]), parts=True).model.parts is None


def test_spans_have_a_prefix_and_a_type() -> None:
    labels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    parts = trained(of_labels(labels), parts=True).model.parts
    assert parts is not None
    assert parts.names.to_list() == ["B-", "-PER", "I-", "-LOC"]
    assert trained(of_labels(labels)).model.parts is None


# -- files, threads, further training ---------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [False, True])
def test_a_file_brings_back_the_same_tagger(half: bool, tmp_path: Path) -> None:
    tagger = trained()
    tagger.save(tmp_path / "model", half=half)
    again = corate.load(tmp_path / "model")
    assert again.tag_all(words_of(TEST)) == tagger.tag_all(words_of(TEST))
    assert half or bits(again) == bits(tagger)
    assert again.strongest(30)[0][0].label in {*tagger.labels, *again.model.parts.names.to_list()}  # type: ignore[union-attr]


def test_only_models_with_parts_need_a_program_that_knows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained().save(tmp_path / "with")
    trained(parts=False).save(tmp_path / "without")
    monkeypatch.setattr(tensor_file, "FORMAT_VERSION", 2)
    corate.load(tmp_path / "without")
    with pytest.raises(ModelError, match=r"format version 3, .* upgrade corate"):
        corate.load(tmp_path / "with")


CHANGES: dict[str, Any] = {
    "a part out of range": lambda t: t | {"label_parts.ids": t["label_parts.ids"] + 12},
    "parts out of order": lambda t: t | {"label_parts.ids": t["label_parts.ids"][::-1].copy()},
    "lengths too long": lambda t: t | {"label_parts.lengths": t["label_parts.lengths"] + 1},
    "fewer labels": lambda t: t | {"label_parts.lengths": t["label_parts.lengths"][:-1]},
    "no lengths": lambda t: {n: a for n, a in t.items() if n != "label_parts.lengths"},
    "no ids": lambda t: {n: a for n, a in t.items() if n != "label_parts.ids"},
    "no names": lambda t: {n: a for n, a in t.items() if n != "parts.data"},
    "a weight out of range": lambda t: (
        t | {"weights.labels": np.where(t["weights.labels"] == 47, 48, t["weights.labels"])}
    ),
}


@pytest.mark.parametrize("what", list(CHANGES))
def test_parts_that_do_not_fit_together_are_refused(what: str, tmp_path: Path) -> None:
    trained().save(tmp_path / "model")
    tensors, header = tensor_file.read(tmp_path / "model")
    tensor_file.write(tmp_path / "model", CHANGES[what](dict(tensors)), header)
    with pytest.raises(ModelError, match="model"):
        corate.load(tmp_path / "model")


@pytest.mark.parametrize("method", ["polish", "standard"])
def test_any_number_of_threads_gives_the_same_bits(method: str) -> None:
    one, two, three = (bits(trained(method=method, parts=True, threads=n)) for n in (1, 2, 3))
    assert one == two == three


@pytest.mark.parametrize("how", ["polish", "standard"])
def test_without_further_steps_it_is_the_same_tagger(how: str) -> None:
    tagger = trained()
    still: dict[str, Any] = {"rate": 0.0, "passes": 1} if how == "polish" else {"iterations": 0}
    further = trained(TRAINING, how, init=tagger, lattice="pruned", **still)
    assert further.record["parts"] == tagger.record["parts"]
    assert further.tag_all(words_of(TEST)) == tagger.tag_all(words_of(TEST))
    for words in words_of(TRAINING)[:10]:
        assert further.score(words) == pytest.approx(tagger.score(words), abs=1e-3)


def test_new_labels_and_new_parts_are_learned_further_on(tmp_path: Path) -> None:
    trained(method="standard", parts=True).save(tmp_path / "model")
    new = [[(f"z{i}gx", "Z|Case=Gen"), (f"z{i}vx", "Z|Case=Voc"), (f"n{i}vx", "N|Case=Voc")] for i in range(30)]
    further = trained(TRAINING + new, "standard", init=tmp_path / "model")
    assert further.record["parts"] == len(CLASSES) + len(CASES) + 2
    assert corate.evaluate(further, corpus_of(new)).accuracy > 0.9
    assert corate.evaluate(further, corpus_of(TEST)).accuracy > 0.9
    unchanged = corate.load(tmp_path / "model")
    still = trained(TRAINING + new, "standard", init=unchanged, iterations=0)
    before, after = (t.lattice(corpus_of(TEST)).scores.reshape(-1, len(t.labels)) for t in (unchanged, still))
    assert still.labels[: len(unchanged.labels)] == unchanged.labels
    np.testing.assert_allclose(after[:, : len(unchanged.labels)], before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("parts", [True, False])
def test_a_model_that_is_trained_further_keeps_what_it_has(parts: bool) -> None:
    with pytest.raises(ConfigError, match="leave parts unset"):
        trained(init=trained(), parts=parts)


def test_a_separate_model_has_no_parts_to_start_from() -> None:
    with pytest.raises(ConfigError, match="choose another base"):
        trained(parts=True, base="separate")
    assert trained(base="separate").model.parts is None


def test_a_checkpoint_is_taken_up_by_a_run_with_its_parts_only(tmp_path: Path) -> None:
    whole = trained(passes=3)
    trained(passes=2, checkpoint=tmp_path / "c")
    assert bits(trained(passes=3, checkpoint=tmp_path / "c")) == bits(whole)
    with pytest.raises(corate.CorateError, match="checkpoint"):
        trained(passes=3, checkpoint=tmp_path / "c", parts=False)


def test_crfsuite_files_cannot_hold_parts(tmp_path: Path) -> None:
    made = [[{"first": w[0], "last": w[-2:]} for w in words] for words in words_of(TRAINING)]
    corpus = corate.Corpus.from_features(made, [[y for _, y in s] for s in TRAINING])
    tagger = corate.train(corpus, "standard", parts=True, boundaries=False, iterations=5)
    with pytest.raises(ModelError, match="parts=False"):
        tagger.save(tmp_path / "model.crfsuite")
