"""More rules for methods that train on whole sentences: bad data, stopping, weights, unknown labels, model size."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError, ModelError
from corate.features.templates import parse
from corate.label_scores import SparseRows
from corate.model.pruning import without_rare
from corate.model.tagger import Tagger
from corate.training import api
from corate.training.chains import ChainTraining
from corate.training.options import Polish, Standard
from corate.training.start_from_counts import StartFromCounts
from small_corpora import Labelled, chain_methods, corpus_of, for_method, random_sentences, words_of

FEATURES = ["word[0]", "suffix(word[0], 2)", "word[-1]"]
TRAINING = random_sentences(60, noise=0.2)
HELD_OUT = random_sentences(40, seed=3, noise=0.2)
TEST = random_sentences(40, seed=7, noise=0.1)

METHODS: dict[str, dict[str, Any]] = {name: {"method": name} for name in chain_methods()}
METHODS["standard, AdaGrad"] = {"method": "standard", "optimizer": "adagrad"}
METHODS["standard, second order"] = {"method": "standard", "order": 2}
METHODS["polish, second order"] = {"method": "polish", "order": 2}
STOCHASTIC = {name: METHODS[name] for name in ("polish", "perceptron", "standard, AdaGrad", "polish, second order")}


def over(ways: dict[str, dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("way", list(ways.values()), ids=list(ways))


def trained(labelled: Labelled | Corpus = TRAINING, **options: Any) -> Tagger:
    corpus = labelled if isinstance(labelled, Corpus) else corpus_of(labelled)
    return corate.train(corpus, **({"features": FEATURES} | options))


def accuracy(tagger: Tagger, labelled: Labelled) -> float:
    return corate.evaluate(tagger, corpus_of(labelled)).accuracy


def arrays(tagger: Tagger) -> dict[str, bytes]:
    """The bytes of all arrays that a model scores with."""
    m = tagger.model
    named = {"bias": m.bias, "row": m.edges.row, "col": m.edges.col, "floor": np.array(m.floor)}
    rows = {"weights": m.weights, "rows": m.rows, "edge weights": m.edge_weights, "triples": m.edges.triples}
    named |= {f"{name} {i}": a for name, part in rows.items() for i, a in enumerate(part.arrays())}
    named |= {"edges 0": m.edges.offsets, "edges 1": m.edges.to, "edges 2": m.edges.scores}
    return {name: array.tobytes() for name, array in named.items()}


# -- bad data ---------------------------------------------------------------------------------------------------------


@over(METHODS)
def test_features_whose_value_is_zero_say_nothing(way: dict[str, Any]) -> None:
    sentences = [[{"x": 0.0, "y": 0.0}, {"x": 0.0}] for _ in range(20)]
    corpus = Corpus.from_features(sentences, [["A", "B"]] * 15 + [["A", "A"]] * 5)
    tagger = corate.train(corpus, **way)
    found = tagger.tag([{"x": 0.0}, {"x": 0.0}])
    assert found[0] == "A"
    assert tagger.tag([{"x": 0.0}, {"z": 0.0}]) == tagger.tag([{}, {}]) == found
    assert np.isfinite(tagger.score([{"x": 0.0}, {"y": 0.0}]))


@over(METHODS)
def test_identical_sentences_with_conflicting_labels_follow_the_most(way: dict[str, Any]) -> None:
    labelled: Labelled = [[("x", "A"), ("y", "B")]] * 30 + [[("x", "B"), ("y", "A")]] * 10
    tagger = trained(labelled, **way)
    assert tagger.tag(["x", "y"]) in (["A", "B"], ["B", "A"])
    if way["method"] != "perceptron":
        assert tagger.tag(["x", "y"]) == ["A", "B"]
        assert np.exp(tagger.score(["x", "y"], ["A", "B"])) == pytest.approx(0.75, abs=0.15)
    assert np.isfinite(tagger.score(["x", "y"], ["B", "A"]))


@over(METHODS)
def test_without_a_prior_training_still_ends(way: dict[str, Any]) -> None:
    """If words determine the labels, the optimum is at infinity."""
    labelled: Labelled = [[("the", "D"), ("dog", "N")], [("dogs", "N"), ("walk", "V")], [("walk", "V")]] * 4
    tagger = trained(labelled, **for_method(way["method"], c2=0.0), **way)
    assert accuracy(tagger, labelled) == 1.0
    assert np.isfinite(tagger.model.weights.scores).all()
    assert np.isfinite(tagger.score(["the", "dog"], ["N", "D"]))


@over(METHODS)
def test_words_of_one_label_each_are_learned_by_heart(way: dict[str, Any]) -> None:
    labelled: Labelled = [[(f"w{i}", f"L{i}")] for i in range(30)] * 3
    assert accuracy(trained(labelled, features=["word[0]"], **way), labelled) == 1.0


# -- steps that go too far --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [30.0, 300.0, 1e6])
@pytest.mark.parametrize("sentences", [60, 2500])
@pytest.mark.parametrize("method", ["standard", "polish"])
def test_steps_that_diverge_are_noticed_halved_and_said(method: str, sentences: int, rate: float) -> None:
    labelled = random_sentences(sentences, noise=0.2)
    options = {"optimizer": "adagrad", "rate": rate, "passes": 2, "batch": 64}
    with pytest.warns(UserWarning, match="the loss rose to .* with rate .*; the pass is repeated with rate") as told:
        tagger = trained(labelled, features=["word[0]"], method=method, **options)
    assert np.isfinite(tagger.model.weights.scores).all()
    assert accuracy(tagger, labelled) > 0.6
    assert f"with rate {rate:g}; the pass is repeated with rate {rate / 2:g}" in str(told[0].message)


def test_steps_that_diverge_whatever_they_are_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corate.training.chains.MOST_HALVINGS", 2)
    with pytest.warns(UserWarning, match="the loss rose"), pytest.raises(DataError, match="smaller rate"):
        trained(method="standard", optimizer="adagrad", rate=1e9)


@over(STOCHASTIC)
@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_few_sentences_give_no_false_alarm(way: dict[str, Any], n: int) -> None:
    """Warnings are errors here."""
    trained(TRAINING[:n], **way)
    trained([[("yes", "Y")], [("no", "N")]] * n, **way)


# -- stopping ---------------------------------------------------------------------------------------------------------


class Stop:
    """Presses Ctrl-C once, at the start of a stage or after a share of it."""

    def __init__(self, stage: str, done: float) -> None:
        self.stage, self.done, self.pressed = stage, done, False

    def __call__(self, event: corate.ProgressEvent) -> None:
        if str(event).startswith(self.stage) and (event.fraction or 0.0) >= self.done and not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt


@over(METHODS)
@pytest.mark.parametrize("held_out", [None, corpus_of(HELD_OUT)], ids=["", "held out"])
@pytest.mark.parametrize("where", ["within", "between"])
def test_ctrl_c_keeps_what_was_reached(way: dict[str, Any], held_out: Corpus | None, where: str) -> None:
    """Within a pass or right after the first; training never returns the initial weights."""
    exact = way["method"] in ("standard", "piecewise", "memm") and "optimizer" not in way
    between = where == "between"
    user = Stop(f"{way['method']}:" if between else way["method"], 0.0 if between and not exact else 0.3)
    tagger = trained(held_out=held_out, **for_method(way["method"], passes=5, iterations=30), progress=user, **way)
    assert user.pressed
    assert tagger.record["interrupted"] is True
    assert accuracy(tagger, TRAINING) > 0.6
    assert np.count_nonzero(tagger.model.weights.scores) > 20
    assert not trained(**for_method(way["method"], passes=1, iterations=3), **way).record["interrupted"]


@over(METHODS)
def test_ctrl_c_before_anything_was_reached_stops_the_training(way: dict[str, Any]) -> None:
    with pytest.raises(KeyboardInterrupt):
        trained(progress=Stop("", 0.0), **way)


@over(STOCHASTIC)
@pytest.mark.parametrize("held_out", [None, corpus_of(HELD_OUT)], ids=["", "held out"])
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(
    way: dict[str, Any], held_out: Corpus | None, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"passes": 4, "held_out": held_out, **way}
    whole = trained(**options)
    path = tmp_path / "run"
    for done in (0.3, 0.55, 0.8):
        user = Stop(way["method"], done)
        trained(**options, checkpoint=path, progress=user)
        resumed = trained(**options, checkpoint=path, threads=2)
        assert arrays(resumed) == arrays(whole)
        path.unlink()


@over(STOCHASTIC)
def test_more_passes_go_on_from_fewer(way: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run"
    trained(passes=2, checkpoint=path, **way)
    more = trained(passes=3, checkpoint=path, **way)
    assert arrays(more) == arrays(trained(passes=3, **way))
    with pytest.raises(ModelError, match="has made 3 passes"):
        trained(passes=1, checkpoint=path, **way)


def test_a_run_whose_steps_were_halved_goes_on_with_the_halved_ones(tmp_path: Path) -> None:
    options: dict[str, Any] = {"method": "standard", "optimizer": "adagrad", "features": ["word[0]"]}
    settings = {"rate": 300.0, "passes": 3}
    with pytest.warns(UserWarning, match="the loss rose"):
        whole = trained(**settings, **options)
    with pytest.warns(UserWarning, match="the loss rose"):
        trained(**settings | {"passes": 1}, checkpoint=tmp_path / "run", **options)
    resumed = trained(**settings, checkpoint=tmp_path / "run", **options)
    assert arrays(resumed) == arrays(whole)


@pytest.mark.parametrize(
    "other",
    [
        {"labelled": TRAINING[1:]},
        {"features": FEATURES[1:]},
        {"passes": 2, "rate": 0.2},
        {"passes": 2, "cutoff": 2},
        {"seed": 1},
        {"method": "polish"},
        {"transitions": "seen"},
        {"boundaries": False},
        {"lattice": "pruned"},
        {"order": 2},
        {"sentence_weights": [2.0] * len(TRAINING)},
        {"label_weights": {"N": 2.0}},
    ],
    ids=lambda other: " ".join(f"{k}" for k in other),
)
def test_a_checkpoint_of_another_run_is_refused(other: dict[str, Any], tmp_path: Path) -> None:
    usual: dict[str, Any] = {"method": "standard", "optimizer": "adagrad", "checkpoint": tmp_path / "run"}
    usual["passes"] = 2
    trained(**usual)
    if other.get("method") == "polish":
        usual.pop("optimizer")
    with pytest.raises(ModelError, match="other data or settings; name another file or remove it"):
        trained(**(usual | other))


def test_a_checkpoint_of_other_base_scores_is_refused(tmp_path: Path) -> None:
    same: dict[str, Any] = {"c2": 0.5, "rate": 0.1, "temper": 0.5, "checkpoint": tmp_path / "run"}
    trained(base="default", passes=1, **same)
    with pytest.raises(ModelError, match="other data or settings"):
        trained(base="pooled", passes=2, **same)


def test_a_checkpoint_needs_passes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="adagrad"):
        trained(method="standard", checkpoint=tmp_path / "run")


@over(METHODS)
def test_held_out_sentences_say_when_to_stop(way: dict[str, Any]) -> None:
    measured: list[float] = []
    tagger = trained(
        random_sentences(60, noise=0.4),
        held_out=corpus_of(HELD_OUT),
        **for_method(way["method"], passes=40, iterations=300, c2=0.0),
        progress=lambda event: None if event.held_out_accuracy is None else measured.append(event.held_out_accuracy),
        **way,
    )
    stochastic = way["method"] in ("polish", "perceptron") or "optimizer" in way
    assert 1 <= len(measured) < (40 if stochastic else 300)
    kept = tagger.record["held_out"]["accuracy"]
    # A stochastic run keeps its last pass, or the previous one if the last was clearly worse.
    assert any(kept == pytest.approx(x, abs=1e-4) for x in (measured[-2:] if stochastic else [max(measured)]))
    assert accuracy(tagger, HELD_OUT) == pytest.approx(kept, abs=1e-9)


# -- weights of sentences and labels ----------------------------------------------------------------------------------

NOISE: Labelled = [[(w, "N") for w, _ in s] for s in random_sentences(15, seed=5)]


@pytest.mark.parametrize("method", ["standard", "piecewise", "memm"])
def test_a_sentence_of_weight_zero_is_absent(method: str) -> None:
    weights = [1.0] * len(TRAINING) + [0.0] * len(NOISE)
    settings = {"iterations": 300}
    weighed = trained([*TRAINING, *NOISE], method=method, sentence_weights=weights, **settings)
    plain = trained(method=method, **settings)
    misled = trained([*TRAINING, *NOISE], method=method, **settings)
    assert weighed.tag_all(words_of(TEST)) == plain.tag_all(words_of(TEST)) != misled.tag_all(words_of(TEST))
    for words in words_of(TEST)[:10]:
        assert weighed.score(words) == pytest.approx(plain.score(words), abs=0.05)


@over(METHODS)
def test_weights_of_sentences_have_an_effect(way: dict[str, Any]) -> None:
    labelled: Labelled = [[("x", "A"), ("y", "A")]] * 10 + [[("x", "B"), ("y", "B")]] * 10
    for label, weights in (("A", [1.0] * 10 + [0.02] * 10), ("B", [0.02] * 10 + [1.0] * 10)):
        tagger = trained(labelled, sentence_weights=weights, **for_method(way["method"], c2=0.05), **way)
        assert tagger.tag(["x", "y"]) == [label] * 2


def test_a_sentence_of_weight_two_counts_as_two() -> None:
    twice = trained([*TRAINING, *NOISE, *NOISE], method="standard", iterations=300)
    weights = [1.0] * len(TRAINING) + [2.0] * len(NOISE)
    weighed = trained([*TRAINING, *NOISE], method="standard", iterations=300, sentence_weights=weights)
    assert twice.tag_all(words_of(TEST)) == weighed.tag_all(words_of(TEST))
    for words in words_of(TEST)[:10]:
        assert weighed.score(words) == pytest.approx(twice.score(words), abs=0.05)


@over(METHODS)
def test_a_dear_label_is_missed_less(way: dict[str, Any]) -> None:
    """`x` is A much more often than B; if B has weight fifty, `x` becomes B."""
    labelled: Labelled = [[("x", "A"), ("z", "C")]] * 90 + [[("x", "B"), ("z", "C")]] * 10
    usual = trained(labelled, features=["word[0]"], **way)
    much = 1e6 if way["method"] == "perceptron" else 50.0  # its steps are integers
    dear = trained(labelled, features=["word[0]"], label_weights={"B": much}, **way)
    if way["method"] != "perceptron":
        assert usual.tag(["x", "z"]) == ["A", "C"]
        assert dear.tag(["x", "z"]) == ["B", "C"]
    assert dear.score(["x", "z"], ["B", "C"]) > usual.score(["x", "z"], ["B", "C"])


# -- unknown labels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["standard", "polish"])
def test_where_all_labels_are_known_nothing_changes(method: str) -> None:
    assert arrays(trained(method=method, unknown="?")) == arrays(trained(method=method))


@pytest.mark.parametrize("method", ["piecewise", "memm", "perceptron"])
def test_other_methods_need_every_label(method: str) -> None:
    with pytest.raises(DataError, match="unknown is an option of"):
        trained(method=method, unknown="?")


def hidden(labelled: Labelled, share: float) -> Labelled:
    rng = np.random.default_rng(2)
    return [[(w, "?" if rng.random() < share else y) for w, y in s] for s in labelled]


@pytest.mark.parametrize("method", ["standard", "polish"])
def test_half_of_the_labels_teach_nearly_as_much(method: str) -> None:
    tagger = trained(hidden(random_sentences(150, noise=0.1), 0.5), method=method, unknown="?")
    assert "?" not in tagger.labels
    assert accuracy(tagger, TEST) > 0.8


@pytest.mark.parametrize("method", ["standard", "polish"])
@pytest.mark.parametrize("lattice", ["full", "pruned"])
def test_many_labels_may_be_unknown_too(method: str, lattice: str) -> None:
    """With this many labels, not all are candidates everywhere."""
    labelled = [[(f"w{i}", f"L{i % 30}") for i in range(s, s + 3)] for s in range(0, 90, 3)] * 4
    tagger = trained(hidden(labelled, 0.3), method=method, lattice=lattice, unknown="?")
    assert accuracy(tagger, labelled) > 0.9


def test_every_label_unknown_is_refused() -> None:
    with pytest.raises(DataError, match=r"every label is '\?'"):
        trained([[("a", "?")]], method="standard", unknown="?")


def test_the_objective_sums_over_what_is_not_known() -> None:
    """-log of the sum of P(labelling) over all labellings with the known labels, plus the penalty."""
    labelled = [s[:4] for s in hidden(TRAINING, 0.4)[:15]]
    start = StartFromCounts(corpus_of(labelled), [parse("word[0]")], base="none", unknown="?")
    run = ChainTraining(Standard(c2=0.5, iterations=30), start)
    items = run.items(run.tokens, start.tables(), training=True)
    weights = run.fit(items, run.p, "standard").weights
    value, _ = items.chains.objective(weights.astype(np.float64), 1.0, 1)
    tagger = trained(labelled, method="standard", unknown="?", features=["word[0]"], c2=0.5, iterations=30)
    m = tagger.model
    expected = 0.5 * float((m.weights.scores**2).sum() + (m.bias**2).sum() + (m.edges.scores**2).sum())
    for sentence in labelled:
        choices = [tagger.labels if y == "?" else [y] for _, y in sentence]
        scores = [tagger.score([w for w, _ in sentence], list(labels)) for labels in itertools.product(*choices)]
        expected -= float(np.logaddexp.reduce(scores))
    assert value == pytest.approx(expected, rel=1e-4)


def test_what_is_not_known_is_learned_from_what_is_around_it() -> None:
    """`q` is never labelled; its label follows from its neighbours' labels and the label pairs of other sentences."""
    labelled: Labelled = [[("a", "A"), ("b", "B"), ("c", "C")]] * 20 + [[("a", "A"), ("q", "?"), ("c", "C")]] * 20
    tagger = trained(labelled, method="standard", unknown="?", features=["word[0]"])
    assert tagger.tag(["a", "q", "c"]) == ["A", "B", "C"]


# -- smaller models ---------------------------------------------------------------------------------------------------


def n_weights(tagger: Tagger) -> int:
    return len(tagger.model.weights.scores) + len(tagger.model.edges.scores)


RARE: Labelled = [*TRAINING, *[[(f"once{i}", "N"), ("the", "D")] for i in range(40)]]


@pytest.mark.parametrize("settings", [{"c1": 0.5}, {"c1": 3.0}, {"cutoff": 2}, {"cutoff": 3, "c1": 0.5}], ids=str)
def test_a_cut_off_and_absolute_weights_make_models_smaller(settings: dict[str, float], tmp_path: Path) -> None:
    usual, small = (trained(RARE, method="standard", **s) for s in ({}, settings))
    assert n_weights(small) < 0.8 * n_weights(usual)
    assert small.record["features"] < usual.record["features"]
    assert small.save(tmp_path / "small") < 0.9 * usual.save(tmp_path / "usual")
    assert accuracy(small, TEST) > 0.7
    assert corate.load(tmp_path / "small").tag_all(words_of(TEST)) == small.tag_all(words_of(TEST))


def test_dearer_weights_are_fewer() -> None:
    left = [n_weights(trained(method="standard", c1=c1)) for c1 in (0.0, 0.3, 3.0, 30.0)]
    assert left == sorted(left, reverse=True)
    assert len(set(left)) == 4


@pytest.mark.parametrize("method", ["standard", "polish", "perceptron"])
def test_a_rare_feature_is_cut_off(method: str) -> None:
    kept, cut = (trained(RARE, method=method, cutoff=c, features=["word[0]"]) for c in (1, 2))
    assert n_weights(cut) < n_weights(kept)
    assert accuracy(cut, TEST) > 0.8


@pytest.mark.parametrize("base", [None, "pooled", "default", "paper", "none", "separate"])
@pytest.mark.parametrize("cutoff", [2, 3])
def test_polish_leaves_out_rare_features_on_every_base(base: str | None, cutoff: int) -> None:
    """One feature is the pair of a word and its predecessor, which the ladder counts as well."""
    pair = "word[-1]|word[0]"
    whole, cut = (trained(RARE, base=base, features=["word[0]", pair], cutoff=c, passes=1) for c in (1, cutoff))
    assert cut.record["base"] == whole.record["base"]
    seen = Counter(itertools.chain.from_iterable(itertools.pairwise(["", *(w for w, _ in s)]) for s in RARE))
    for tagger, least in ((whole, 1), (cut, cutoff)):
        t = [str(template) for template in tagger.vocabulary.templates].index(pair)
        first, last = tagger.vocabulary.bases[t : t + 2]
        left = int((np.diff(tagger.model.weights.offsets[first : last + 1]) > 0).sum())
        assert 0 < left <= sum(n >= least for n in seen.values())
    assert accuracy(cut, TEST) > 0.8


@pytest.mark.parametrize("base", ["pooled", "default"])
@pytest.mark.parametrize("cutoff", [1, 2, 3])
def test_a_model_starts_from_the_base_that_training_looked_at(base: str, cutoff: int) -> None:
    """For tokens that stay in the counts; rare features and neighbour pairs have no effect on either."""
    corpus = corpus_of(TRAINING)
    start = StartFromCounts(corpus, [parse(feature) for feature in FEATURES], base=base)
    run = ChainTraining(Polish(cutoff=cutoff), start)
    options: dict[str, Any] = {"training": False, "full": run.full, "cutoff": cutoff}
    expected = start.candidates(start.tokens, start.tables(), run.p.temper, **options)
    model = without_rare(run.model(run.initial_vector()), start.totals, cutoff)
    lattice = Tagger(start.vocabulary, model, {"method": "polish"}, columns=("word",)).lattice(corpus)
    np.testing.assert_array_equal(lattice.labels, expected.labels)
    # Models omit the part of a score that all labels of a token share.
    found, base_scores = (scores.reshape(-1, start.n_labels) for scores in (lattice.scores, expected.ladder))
    np.testing.assert_allclose(found - found[:, :1], base_scores - base_scores[:, :1], atol=1e-4)


@over(
    {
        "L1": {"method": "standard", "c1": 1.0},
        "cut-off": {"method": "polish", "cutoff": 2},
        "edges": {"method": "standard", "c1": 1.0, "features": [*FEATURES, "edge: word[0]"]},
        "second order": {"method": "standard", "c1": 1.0, "order": 2},
        "perceptron": {"method": "perceptron"},
    }
)
def test_compaction_changes_no_label(way: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = trained(RARE, **way)
    monkeypatch.setattr(SparseRows, "compacted", lambda rows: rows)
    monkeypatch.setattr(api, "without_idle", lambda vocabulary, model: (vocabulary, model))
    whole = trained(RARE, **way)
    assert n_weights(small) < n_weights(whole)
    assert small.save(tmp_path / "small") < whole.save(tmp_path / "whole")
    unseen = [["once1", "the", "neverseen"], ["Zyx", "42"]]
    assert small.tag_all([*words_of(RARE), *unseen]) == whole.tag_all([*words_of(RARE), *unseen])
    for words in unseen:
        assert small.score(words) == pytest.approx(whole.score(words), abs=1e-5)


# -- options of other methods -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "polish", "optimizer": "lbfgs"}, "unknown optimizer 'lbfgs'; there are adagrad"),
        ({"method": "perceptron", "optimizer": "adagrad"}, "optimizer is an option of the method"),
        ({"method": "standard", "lattice": "crystal"}, "unknown lattice 'crystal'.*full, pruned"),
        ({"method": "standard", "transitions": "none"}, "unknown transitions 'none'.*all, seen"),
        *(
            ({"method": m, "order": order}, f"unknown order {order}; there are 1, 2")
            for m in ("standard", "polish")
            for order in (0, 3, -1)
        ),
        *(
            ({"method": m, "order": 2}, f"order is an option of the method 'polish' or 'standard', not of '{m}'")
            for m in ("memm", "piecewise", "perceptron", "separate", "empirical")
        ),
        ({"method": "standard", "base": "paper"}, "base is an option of"),
        ({"method": "standard", "coupling": "joint"}, "coupling is an option of"),
        ({"method": "memm", "init": "model"}, "init is for"),
        ({"method": "polish", "c1": 1.0}, "c1 is an option of the method 'standard' or 'piecewise' or 'memm'"),
        ({"method": "standard", "optimizer": "adagrad", "c1": 1.0}, "c1 is for the optimizer 'lbfgs'"),
        ({"method": "standard", "sigma2": 1.0}, "sigma2 is an option of the method 'separate', not of 'standard'"),
        ({"method": "standard", "c2": -1.0}, "c2 must be a number from 0 to 1000000000, not -1.0"),
        ({"method": "standard", "c2": float("nan")}, "c2 must be a number"),
        ({"method": "standard", "sentence_weights": [1.0]}, "60 sentences but 1 sentence weights"),
        ({"method": "standard", "sentence_weights": [-1.0] * 60}, "not negative"),
        ({"method": "standard", "label_weights": {"PLANET": 2.0}}, "no label 'PLANET'"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(DataError, match=match):
        trained(**options)


def test_only_seen_pairs_have_weights_where_that_is_asked_for() -> None:
    labelled: Labelled = [[("a", "A"), ("b", "B"), ("a", "A")], [("b", "B")]] * 5
    tagger = trained(labelled, method="standard", transitions="seen", features=["word[0]"])
    names, table = [*tagger.labels, "|"], tagger.model.edges.dense()
    seen = {("A", "B"), ("B", "A"), ("|", "A"), ("|", "B"), ("A", "|"), ("B", "|")}
    assert {(names[y], names[z]) for y, z in np.argwhere(table)} == seen
    inner = trained(labelled, method="standard", transitions="seen", boundaries=False, features=["word[0]"])
    assert {(names[y], names[z]) for y, z in np.argwhere(inner.model.edges.dense())} == {("A", "B"), ("B", "A")}


def test_a_memm_says_probabilities_without_a_sum_over_labellings() -> None:
    tagger = trained(method="memm")
    lattice = tagger.lattice(corpus_of(TEST))
    np.testing.assert_allclose(lattice.marginals()[0], 0.0, atol=1e-4)
    assert tagger.model.locally_normalised
    assert not replace(tagger.model, edges=replace(tagger.model.edges, local=False)).locally_normalised


@pytest.mark.parametrize(
    ("features", "edges"),
    [
        (["word[0]", "pos[0]"], ["edge: word[-1]", "edge: pos[0]", "edge: pos[-1]"]),
        (["pos[0]", "pos[1]"], ["edge: pos[0]", "edge: pos[-1]"]),
        (["word[0]", "edge: pos[0]"], ["edge: pos[0]"]),
    ],
)
def test_edges_of_many_labels_depend_on_the_word_before_where_words_are_looked_at(
    features: list[str], edges: list[str]
) -> None:
    rng = np.random.default_rng(0)
    rows = [(f"w{y}", "odd" if y % 2 else "even", f"L{y}") for y in rng.integers(30, size=50_000).tolist()]
    corpus = Corpus.from_sentences(
        [rows[i : i + 50] for i in range(0, len(rows), 50)], columns=("word", "pos", "label")
    )
    tagger = corate.train(corpus, features=features, order=1, passes=1)
    assert [text for text in tagger.features if text.startswith("edge")] == edges
