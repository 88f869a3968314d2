"""Second-order models, which score three labels in a row: what they learn, files, and further training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.errors import DataError
from corate.label_pairs import DENSE_LABELS
from corate.model.tagger import Tagger
from corate.training.chains import ChainTraining
from corate.training.choices import MOST_TRIPLE_LABELS
from corate.training.initial_scores import InitialScoresFromModel
from corate.training.methods import Standard
from corate.training.source import MemorySource
from small_corpora import Labelled, corpus_of, for_method, random_sentences, words_of

FEATURES = ["word[0]", "suffix(word[0], 2)", "word[-1]"]
TRAINING = random_sentences(60, noise=0.2)
TEST = random_sentences(40, seed=7, noise=0.1)

WAYS: dict[str, dict[str, Any]] = {
    "polish": {"method": "polish"},
    "standard": {"method": "standard"},
    "standard, AdaGrad": {"method": "standard", "optimizer": "adagrad"},
}
every_way = pytest.mark.parametrize("way", list(WAYS.values()), ids=list(WAYS))


def trained(labelled: Labelled = TRAINING, order: int | None = 2, **options: Any) -> Tagger:
    features = {} if "init" in options else {"features": FEATURES}
    return corate.train(corpus_of(labelled), **(features | {"order": order} | options))


def accuracy(tagger: Tagger, labelled: Labelled) -> float:
    return corate.evaluate(tagger, corpus_of(labelled)).accuracy


def triples_of(tagger: Tagger) -> dict[tuple[str, str, str], float]:
    """The scores of a model's triples, by name; | is the boundary."""
    names, rows = [*tagger.labels, "|"], tagger.model.edges.triples
    size = len(names)
    first = np.repeat(np.arange(len(rows)), np.diff(rows.offsets)).tolist()
    named = zip(first, rows.labels.tolist(), rows.scores.tolist(), strict=True)
    return {(names[y], names[pair // size], names[pair % size]): score for y, pair, score in named}


def bits(tagger: Tagger) -> tuple[bytes, ...]:
    m = tagger.model
    parts = (*m.edges.triples.arrays(), *m.weights.arrays(), m.edges.to, m.edges.scores, m.bias)
    return tuple(part.tobytes() for part in parts)


# -- what they can learn ----------------------------------------------------------------------------------------------


def cycles(n: int, seed: int) -> Labelled:
    """Labels repeat A A B B from any offset; the first two words show the offset, other words have no information."""
    rng = np.random.default_rng(seed)
    made = []
    for phase, length in zip(rng.integers(4, size=n).tolist(), rng.integers(2, 12, size=n).tolist(), strict=True):
        labels = ["AABB"[(phase + j) % 4] for j in range(length)]
        made.append([(y.lower() if j < 2 else "x", y) for j, y in enumerate(labels)])
    return made


@every_way
def test_a_label_that_follows_from_the_two_before_it_needs_the_second_order(way: dict[str, Any]) -> None:
    learned, unseen = cycles(200, 0), cycles(60, 1)
    options = {"features": ["word[0]"], "passes": 10, **way}
    assert accuracy(trained(learned, **options), unseen) == 1.0
    assert accuracy(trained(learned, order=1, **options), unseen) < 0.85


@every_way
def test_how_sentences_end_and_begin_is_learned_of_two_labels(way: dict[str, Any]) -> None:
    """The first two labels are equal, and so are the last two; in each pair, only one word shows the label."""
    labelled: Labelled = []
    for i in range(120):
        y, z = "AB"[i % 2], "AB"[i // 2 % 2]
        labelled.append([("x", y), (f"is{y}", y), (f"is{z}", z), ("x", z)])
    options = {"features": ["word[0]"], "passes": 10, **way}
    found = triples_of(trained(labelled, **options))
    assert {("|", "|", "A"), ("|", "A", "A"), ("|", "B", "B"), ("A", "A", "|"), ("B", "B", "|")} <= found.keys()
    assert not {("|", "A", "B"), ("|", "B", "A"), ("A", "B", "|"), ("B", "A", "|")} & found.keys()
    assert min(found["|", "A", "A"], found["|", "B", "B"], found["A", "A", "|"], found["B", "B", "|"]) > 0


@every_way
def test_labels_and_probabilities_agree_with_each_other(way: dict[str, Any]) -> None:
    tagger = trained(**way)
    for words in words_of(TEST)[:15]:
        best = tagger.tag(words)
        lattice = tagger.lattice(corpus_of([[(w, "D") for w in words]]))
        assert tagger.score(words, best) == pytest.approx(
            float(lattice.best()[1][0] - lattice.marginals()[0][0]), abs=1e-4
        )
        assert tagger.score(words) == pytest.approx(tagger.score(words, best), abs=1e-4)
        for other in ([y] * len(words) for y in tagger.labels):
            assert tagger.score(words, other) <= tagger.score(words, best) + 1e-4


def test_the_objective_is_that_of_the_probabilities() -> None:
    """c2 times the squared norm, including triples, minus the log-probabilities of the training sentences."""
    tagger = trained(method="standard", iterations=20, c2=0.3)
    run = ChainTraining.of(Standard(iterations=0), InitialScoresFromModel(tagger, MemorySource(corpus_of(TRAINING))))
    items = run.items(run.tokens, None, training=True)
    weights = run.initial_vector().astype(np.float64)
    m = tagger.model
    norm = sum(float((s**2).sum()) for s in (m.weights.scores, m.bias, m.edges.scores, m.edges.triples.scores))
    lost = -sum(tagger.score([w for w, _ in s], [y for _, y in s]) for s in TRAINING)
    assert items.chains.objective(weights, 0.0, 1)[0] == pytest.approx(lost, rel=1e-3)
    assert items.chains.objective(weights, 0.6, 1)[0] == pytest.approx(lost + 0.3 * norm, rel=1e-3)


@every_way
def test_a_corpus_whose_triples_are_all_seen_once_still_trains(way: dict[str, Any], tmp_path: Path) -> None:
    labelled: Labelled = [[("a", "A"), ("b", "B"), ("c", "C"), ("d", "A")]]
    tagger = trained(labelled, **way)
    assert tagger.tag(["a", "b", "c", "d"]) == ["A", "B", "C", "A"]
    assert triples_of(tagger) == {}
    assert tagger.record["order"] == tagger.model.order == 1
    tagger.save(tmp_path / "model")
    loaded = corate.load(tmp_path / "model")
    assert loaded.tag(["a", "b", "c", "d"]) == ["A", "B", "C", "A"]
    assert trained(labelled * 2, init=loaded, **way).tag(["a", "b", "c"]) == ["A", "B", "C"]


@every_way
@pytest.mark.parametrize("boundaries", [True, False])
def test_without_boundaries_no_triple_has_one(way: dict[str, Any], boundaries: bool) -> None:
    found = triples_of(trained(boundaries=boundaries, **way))
    assert any("|" in three for three in found) == boundaries
    assert any("|" not in three for three in found)


@every_way
def test_triples_seen_once_have_no_weight(way: dict[str, Any]) -> None:
    labelled: Labelled = [[("a", "A"), ("b", "B"), ("a", "A")]] * 5 + [[("a", "A"), ("a", "A"), ("b", "B")]]
    found = triples_of(trained(labelled, **way))
    assert found.keys() == {("|", "|", "A"), ("|", "A", "B"), ("A", "B", "A"), ("B", "A", "|")}


# -- which order a model has ------------------------------------------------------------------------------------------


#: With the sentences of `of_labels`, all labels are candidates everywhere, or only those of each word.
FEW_LABELS, MANY_LABELS = 12, 25


def of_labels(n: int, repeats: int = 3) -> Labelled:
    """Words with one label each. With three repeats or more, none of them is rare."""
    return [[(f"w{i % n}", f"L{i % n}") for i in range(s, s + 4)] for s in range(0, 4 * n, 4)] * repeats


@pytest.mark.parametrize(
    ("labels", "options", "order"),
    [
        (FEW_LABELS, {"method": "polish"}, 1),
        (MANY_LABELS, {"method": "polish"}, 2),
        (MANY_LABELS, {}, 2),
        (MANY_LABELS, {"method": "polish", "lattice": "full"}, 1),
        (MANY_LABELS, {"method": "polish", "all_labels": True}, 1),
        (MANY_LABELS, {"method": "standard"}, 1),
        (MANY_LABELS, {"method": "standard", "lattice": "pruned"}, 1),
        (MANY_LABELS, {"method": "polish", "order": 1}, 1),
        (FEW_LABELS, {"method": "polish", "order": 2}, 2),
        (FEW_LABELS, {"method": "standard", "order": 2}, 2),
        (MANY_LABELS, {"method": "polish", "lattice": "full", "order": 2}, 2),
        (MANY_LABELS, {"method": "perceptron"}, 1),
    ],
    ids=str,
)
def test_many_labels_make_polish_one_of_the_second_order(labels: int, options: dict[str, Any], order: int) -> None:
    few = for_method(options.get("method", "polish"), passes=1, iterations=5)
    tagger = trained(of_labels(labels), **({"order": None, **few, "features": ["word[0]"]} | options))
    assert len(tagger.labels) == labels
    assert (tagger.record["order"], tagger.model.order) == (order, order)
    assert (len(triples_of(tagger)) > 0) == (order == 2)


@pytest.mark.parametrize("options", [{"method": "standard"}, {"lattice": "full"}, {"all_labels": True}], ids=str)
def test_a_full_lattice_of_many_labels_is_refused_with_a_remedy(options: dict[str, Any]) -> None:
    labelled = of_labels(MOST_TRIPLE_LABELS + 1)
    with pytest.raises(DataError, match=rf"at most {MOST_TRIPLE_LABELS} labels, not 33; use the lattice 'pruned', or"):
        trained(labelled, features=["word[0]"], **options)
    pruned = trained(labelled, features=["word[0]"], passes=1)
    with pytest.raises(DataError, match="use the lattice 'pruned'"):
        trained(labelled, None, init=pruned, method="standard")
    further = trained(labelled, None, init=pruned, method="standard", lattice="pruned", iterations=2)
    assert further.model.order == 2


def test_labels_too_many_for_a_table_have_triples_too(tmp_path: Path) -> None:
    labelled = of_labels(DENSE_LABELS + 3, repeats=2)
    tagger = trained(labelled, method="polish", features=["word[0]"], passes=1, many_labels=True)
    assert len(triples_of(tagger)) > DENSE_LABELS
    assert accuracy(tagger, labelled) > 0.9
    tagger.save(tmp_path / "model")
    words = words_of(labelled)[:20]
    assert corate.load(tmp_path / "model").tag_all(words) == tagger.tag_all(words)


# -- files ------------------------------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("half", [False, True])
def test_a_file_brings_back_labels_and_probabilities(way: dict[str, Any], half: bool, tmp_path: Path) -> None:
    labelled, unseen = cycles(100, 0), corpus_of(cycles(30, 1))
    tagger = trained(labelled, features=["word[0]"], **way)
    tagger.save(tmp_path / "model", half=half)
    loaded = corate.load(tmp_path / "model")
    assert loaded.model.order == loaded.record["order"] == 2
    assert loaded.tag_all(unseen) == tagger.tag_all(unseen)
    found, expected = (t.lattice(unseen).marginals() for t in (loaded, tagger))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=0.02 if half else 0)
    if not half:
        assert triples_of(loaded) == triples_of(tagger)
    first = b"\n".join(b"\n".join(w.encode() for w in s) + b"\n" for s in words_of(cycles(30, 1)))
    text = loaded.tag_text(first)[0]
    assert text == tagger.tag_text(first)[0]
    labels = [line.split(b"\t")[-1].decode() for line in text.splitlines() if line]
    assert labels == [y for s in tagger.tag_all(unseen) for y in s]


# -- training further -------------------------------------------------------------------------------------------------


@every_way
def test_a_model_that_is_trained_further_keeps_its_order(way: dict[str, Any], tmp_path: Path) -> None:
    tagger = trained(**way)
    tagger.save(tmp_path / "model", counts=False)
    for order in (None, 2):
        further = trained(order=order, init=tmp_path / "model", **way)
        assert (further.record["order"], further.model.order) == (2, 2)
        assert triples_of(further).keys() >= triples_of(tagger).keys()
    with pytest.raises(DataError, match="has order 2, and keeps it; leave order unset"):
        trained(order=1, init=tmp_path / "model", **way)


@every_way
def test_one_of_the_first_order_can_become_one_of_the_second(way: dict[str, Any]) -> None:
    learned, unseen = cycles(200, 0), cycles(60, 1)
    first = trained(learned, order=1, features=["word[0]"], **way)
    assert trained(learned, order=None, init=first, **way).record["order"] == 1
    second = trained(learned, order=2, init=first, passes=10, **way)
    assert second.model.order == 2
    assert accuracy(second, unseen) == 1.0


@pytest.mark.parametrize("method", ["piecewise", "perceptron"])
def test_methods_of_the_first_order_refuse_to_train_it_further(method: str) -> None:
    with pytest.raises(DataError, match=f"has order 2, which the method '{method}' does not train; use polish or"):
        trained(order=None, method=method, init=trained(method="standard"))


STILL: dict[str, dict[str, Any]] = {
    "standard": {"method": "standard", "iterations": 0},
    "polish": {"method": "polish", "rate": 0.0, "passes": 1},
}


@pytest.mark.parametrize("still", list(STILL.values()), ids=list(STILL))
@pytest.mark.parametrize("more", [[], [[("dog", "N"), ("wow", "NEW")], [("the", "ANEW")]]], ids=["", "new labels"])
@every_way
def test_without_further_steps_it_is_the_same_tagger(
    way: dict[str, Any], more: Labelled, still: dict[str, Any]
) -> None:
    tagger = trained(**way)
    again = trained([*TRAINING, *more], order=None, init=tagger, **still)
    assert triples_of(again) == pytest.approx(triples_of(tagger), abs=1e-6)
    old = slice(0, len(tagger.labels))
    assert again.labels[old] == tagger.labels
    for words, labels in ((words, tagger.tag(words)) for words in words_of(TEST)[:10]):
        shifts = [again.score(words, y) - tagger.score(words, y) for y in (labels, ["N"] * len(words))]
        assert shifts[0] == pytest.approx(shifts[1], abs=1e-3)
        if not more:
            assert again.tag(words) == labels
            assert shifts[0] == pytest.approx(0.0, abs=1e-3)


@every_way
def test_new_labels_find_their_place_among_three_in_a_row(way: dict[str, Any], tmp_path: Path) -> None:
    """The cycle continues with other letters: old triples are kept by label, new ones are learned."""
    learned, unseen = cycles(200, 0), cycles(60, 1)
    renamed = [[(w.replace("a", "c").replace("b", "d"), {"A": "C", "B": "D"}[y]) for w, y in s] for s in learned]
    tagger = trained(learned, features=["word[0]"], **way)
    further = trained([*learned, *renamed], order=None, init=tagger, passes=10, **way)
    assert (set(further.labels[:2]), set(further.labels[2:])) == ({"A", "B"}, {"C", "D"})
    further.save(tmp_path / "model")
    for one in (further, corate.load(tmp_path / "model")):
        assert accuracy(one, unseen) == 1.0
        assert one.tag(["c", "c", "x", "x", "x", "x"]) == ["C", "C", "D", "D", "C", "C"]
        assert one.tag(["d", "c", "x", "x", "x", "x"]) == ["D", "C", "C", "D", "D", "C"]


# -- threads, checkpoints, weights ------------------------------------------------------------------------------------


@every_way
def test_any_number_of_threads_gives_the_same_bits(way: dict[str, Any]) -> None:
    labelled = random_sentences(150, seed=2, noise=0.3)
    one, two, three = (bits(trained(labelled, threads=threads, **way)) for threads in (1, 2, 3))
    assert one == two == three


@pytest.mark.parametrize("way", [WAYS["polish"], WAYS["standard, AdaGrad"]], ids=["polish", "standard, AdaGrad"])
def test_a_checkpoint_is_taken_up_by_a_run_of_its_order_only(way: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run"
    trained(passes=1, checkpoint=path, **way)
    with pytest.raises(corate.ModelError, match="other data or settings"):
        trained(order=1, passes=3, checkpoint=path, **way)
    resumed = trained(passes=3, checkpoint=path, threads=2, **way)
    assert bits(resumed) == bits(trained(passes=3, **way))
    once: Labelled = [[("a", "A"), ("b", "B")], [("c", "C"), ("a", "A"), ("d", "D")]]
    trained(once, passes=1, checkpoint=tmp_path / "once", **way)
    with pytest.raises(corate.ModelError, match="other data or settings"):
        trained(once, order=1, passes=2, checkpoint=tmp_path / "once", **way)


@every_way
def test_sentences_of_little_weight_say_little_of_triples(way: dict[str, Any]) -> None:
    """Sentences disagree on what follows two labels; sentences with more weight win."""
    turns = cycles(60, 0)
    stays = [[(w, s[j % 2][1]) for j, (w, _) in enumerate(s)] for s in turns]
    for light, heavy, expected in (
        (stays, turns, ["A", "B", "B", "A", "A"]),
        (turns, stays, ["A", "B", "A", "B", "A"]),
    ):
        weights = [0.05] * len(light) + [1.0] * len(heavy)
        tagger = trained([*light, *heavy], features=["word[0]"], sentence_weights=weights, **way)
        assert tagger.tag(["a", "b", "x", "x", "x"]) == expected


def test_labels_that_are_not_known_are_summed_over() -> None:
    rng = np.random.default_rng(0)
    learned = [[(w, "?" if rng.random() < 0.15 and j > 1 else y) for j, (w, y) in enumerate(s)] for s in cycles(300, 0)]
    tagger = trained(learned, method="standard", features=["word[0]"], unknown="?")
    assert set(tagger.labels) == {"A", "B"}
    assert accuracy(tagger, cycles(60, 1)) == 1.0


def test_dear_triples_are_left_out() -> None:
    found = [len(triples_of(trained(method="standard", c1=c1))) for c1 in (0.0, 0.3, 3.0, 300.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[1] > found[2]
    assert found[3] == 0


def test_held_out_sentences_are_judged_with_triples() -> None:
    held_out = cycles(60, 1)
    tagger = trained(cycles(200, 0), method="polish", features=["word[0]"], held_out=corpus_of(held_out), passes=12)
    assert tagger.record["held_out"]["accuracy"] == pytest.approx(accuracy(tagger, held_out), abs=1e-9)
    assert accuracy(tagger, held_out) > 0.95
