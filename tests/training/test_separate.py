"""Separate training: what its factors say, that it can be stopped and taken up again, and what it is tuned by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError, ModelError
from corate.model.tagger import Tagger
from corate.optimize.passes import PATIENCE_PASSES
from corate.training.methods import OPTIONS, Separate, options_of
from corate.training.separate import SeparateTraining
from options_given import given
from small_corpora import Labelled, corpus_of, random_sentences, words_of

FEATURES = ["word[0]", "suffix(word[0], 2)", "word[-1]"]
TRAINING = random_sentences(80, noise=0.2)
HELD_OUT = random_sentences(40, seed=3, noise=0.2)
WAYS: dict[str, dict[str, Any]] = {
    "given nodes": {},
    "paper base": {"base": "paper"},
    "no base": {"base": "none"},
    "joint": {"coupling": "joint"},
    "L-BFGS": {"optimizer": "lbfgs"},
    "joint, L-BFGS": {"coupling": "joint", "optimizer": "lbfgs"},
}
every_way = pytest.mark.parametrize("way", list(WAYS.values()), ids=list(WAYS))


def separate(labelled: Labelled = TRAINING, **options: Any) -> Tagger:
    return corate.train(corpus_of(labelled), "separate", **given(**{"features": FEATURES} | options))


def accuracy(tagger: Tagger, labelled: Labelled) -> float:
    found = tagger.tag_all(words_of(labelled))
    return float(
        np.mean([y == z for s, t in zip(labelled, found, strict=True) for (_, y), z in zip(s, t, strict=True)])
    )


def arrays(tagger: Tagger) -> dict[str, bytes]:
    """All that a model scores with, bit for bit."""
    m = tagger.model
    named = {"bias": m.bias, "row": m.edges.row, "col": m.edges.col, "floor": np.array(m.floor)}
    rows = {"weights": m.weights, "rows": m.rows, "edge weights": m.edge_weights}
    named |= {f"{name} {i}": a for name, part in rows.items() for i, a in enumerate(part.arrays())}
    named |= {"edges 0": m.edges.offsets, "edges 1": m.edges.to, "edges 2": m.edges.scores}
    return {name: array.tobytes() for name, array in named.items()}


# -- factors ----------------------------------------------------------------------------------------------------------


@every_way
def test_one_word_sentences_have_the_probabilities_of_the_node_model(way: dict[str, Any]) -> None:
    """Each factor says P(A | x) = 3/4; A f + B f - W f, too, says it once."""
    tagger = separate([[("x", "A")]] * 75 + [[("x", "B")]] * 25, features=["word[0]"], **way)
    assert np.exp(tagger.score(["x"], ["A"])) == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("coupling", ["given-nodes", "joint"])
def test_a_word_alone_scores_its_features_its_bias_and_its_two_boundaries(coupling: str) -> None:
    tagger = separate(base="none" if coupling == "given-nodes" else None, coupling=coupling, features=["word[0]"])
    model, labels = tagger.model, tagger.labels
    local, _ = tagger.vocabulary.copy().fit(Corpus.from_sentences([["dog"]]))
    word = int(tagger.vocabulary.bases[0] + local[0, 0])
    assert tagger.features[0] == "word[0]"
    scores = model.bias.astype(np.float64)
    for i in range(int(model.weights.offsets[word]), int(model.weights.offsets[word + 1])):
        scores[model.weights.labels[i]] += model.weights.scores[i]
    edges = model.edges.dense()
    scores += edges[-1, :-1] + edges[:-1, -1]
    possible = [y for y, label in enumerate(labels) if np.isfinite(tagger.score(["dog"], [label]))]
    for y in possible:
        expected = scores[y] - np.logaddexp.reduce(scores[possible])
        assert tagger.score(["dog"], [labels[y]]) == pytest.approx(expected, abs=1e-4)


@every_way
def test_labels_follow_labels(way: dict[str, Any]) -> None:
    """`x` means nothing by itself: its label is that of the word before it."""
    labelled = [[(w, w.upper()), ("x", w.upper()), ("x", w.upper())] for w in "abc" for _ in range(20)]
    tagger = separate(labelled, features=["word[0]"], **way)
    assert accuracy(tagger, labelled) == 1.0


def keep_or_flip(n: int, seed: int = 0) -> Labelled:
    """`keep` has the label of the word before it, and `flip` the other: no word and no label pair tells by itself."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        label = int(rng.integers(2))
        sentence = [("ab"[label], "AB"[label])]
        for flip in rng.integers(2, size=rng.integers(2, 8)).tolist():
            label ^= flip
            sentence.append((("keep", "flip")[flip], "AB"[label]))
        made.append(sentence)
    return made


@every_way
def test_an_edge_template_makes_rates_depend_on_the_observation(way: dict[str, Any], tmp_path: Path) -> None:
    training, test = keep_or_flip(100), keep_or_flip(50, seed=9)
    crfpp = tmp_path / "template"
    crfpp.write_text("U00:%x[0,0]\nB00:%x[0,0]\n")
    assert accuracy(separate(training, features=["word[0]"], **way), test) < 0.75
    assert accuracy(separate(training, features=["word[0]", "edge: word[0]"], **way), test) == 1.0
    tagger = separate(training, features=crfpp, **way)
    assert accuracy(tagger, test) == 1.0
    assert len(tagger.model.edge_weights) > 0
    tagger.save(tmp_path / "model")
    assert accuracy(corate.load(tmp_path / "model"), test) == 1.0


def test_templates_with_few_values_make_edge_features_by_themselves() -> None:
    tagger = separate(keep_or_flip(400), features=["word[0]"])
    assert {"edge: word[0]", "edge: word[-1]"} <= set(tagger.features)
    assert accuracy(tagger, keep_or_flip(50, seed=9)) == 1.0
    chosen = separate(keep_or_flip(400), features=["word[0]", "edge: word[1]"])
    assert {t for t in chosen.features if t.startswith("edge")} == {"edge: word[1]"}


@pytest.mark.parametrize("way", [{"base": "paper"}, {"base": "none"}, {"coupling": "joint"}], ids=str)
def test_nodes_have_the_features_that_were_asked_for_and_no_others(way: dict[str, Any]) -> None:
    """The label is that of the word before: a word alone cannot know it, and nothing else may look there."""
    rng = np.random.default_rng(0)
    words = [rng.choice(["p", "q"], size=6).tolist() for _ in range(30)]
    labelled = [[(w, "N" if i == 0 else s[i - 1].upper()) for i, w in enumerate(s)] for s in words]
    alone = separate(labelled, features=["word[0]"], **way)
    assert accuracy(alone, labelled) < 0.75
    assert accuracy(separate(labelled, features=["word[0]", "word[-1]"], **way), labelled) == 1.0


def test_features_without_words_train_too() -> None:
    labelled = keep_or_flip(60)

    def feature(sentence: Any, i: int) -> list[str]:
        return [f"this={sentence[i]}", f"before={sentence[i - 1]}" if i else "first"]

    corpus = Corpus.from_sentences(words_of(labelled), [[y for _, y in s] for s in labelled])
    for way in WAYS.values():
        tagger = corate.train(corpus, "separate", features=feature, **way)
        labels = [y for s in labelled for _, y in s]
        assert accuracy(tagger, labelled) > 0.05 + max(labels.count(y) for y in set(labels)) / len(labels)


# -- the same again ---------------------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("more", [{}, {"held_out": corpus_of(HELD_OUT)}, {"tune": True}], ids=["", "held out", "tune"])
def test_threads_do_not_change_a_bit_and_seeds_do(way: dict[str, Any], more: dict[str, Any]) -> None:
    features = [*FEATURES, "edge: suffix(word[0], 1)"]
    one = separate(features=features, threads=1, **way, **more)
    two = separate(features=features, threads=2, **way, **more)
    assert arrays(one) == arrays(two)
    assert one.record["settings"] == two.record["settings"]
    if "optimizer" not in way:
        assert arrays(separate(features=features, seed=1, **way, **more)) != arrays(one)


# -- stopping ---------------------------------------------------------------------------------------------------------


class Stop:
    """A user who presses Ctrl-C once a stage is so far done, or when a stage begins whose name starts like this."""

    def __init__(self, stage: str, done: float = 0.0) -> None:
        self.stage, self.done, self.pressed = stage, done, False

    def __call__(self, event: corate.ProgressEvent) -> None:
        if str(event).startswith(self.stage) and (event.fraction or 0.0) >= self.done and not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt


PASSES = {"passes": 4, "half_passes": 1, "pair_passes": 1}


@pytest.mark.parametrize(
    ("coupling", "stage", "done", "held_out"),
    [
        ("given-nodes", "fitting the nodes", 0.3, False),
        ("given-nodes", "fitting the nodes", 0.3, True),
        ("given-nodes", "fitting the nodes", 0.9, False),
        ("given-nodes", "fitting the nodes: pass", 0.0, True),
        ("given-nodes", "fitting half 1", 0.5, False),
        ("given-nodes", "fitting half 2", 0.5, True),
        ("given-nodes", "fitting the pairs", 0.0, False),
        ("given-nodes", "tuning the coupling", 0.0, True),
        ("joint", "fitting the nodes", 0.3, False),
        ("joint", "fitting the nodes: pass", 0.0, True),
        ("joint", "fitting the pairs", 0.3, False),
    ],
)
def test_ctrl_c_keeps_what_was_reached(coupling: str, stage: str, done: float, held_out: bool) -> None:
    user = Stop(stage, done)
    looked_at = corpus_of(HELD_OUT) if held_out else None
    with pytest.warns(UserWarning, match="training was interrupted, so the model is not complete"):
        tagger = separate(coupling=coupling, held_out=looked_at, **PASSES, progress=user)
    assert user.pressed
    assert tagger.record["interrupted"] is True
    assert accuracy(tagger, TRAINING) > 0.75
    assert np.isfinite(tagger.score(words_of(TRAINING)[0]))


def test_a_run_that_was_left_alone_says_so() -> None:
    assert separate().record["interrupted"] is False


@pytest.mark.parametrize("coupling", ["given-nodes", "joint"])
def test_lbfgs_keeps_what_was_reached_too(coupling: str) -> None:
    user = Stop("fitting the nodes", 0.05)
    with pytest.warns(UserWarning, match="training was interrupted, so the model is not complete"):
        tagger = separate(optimizer="lbfgs", coupling=coupling, progress=user)
    assert user.pressed
    assert tagger.record["interrupted"] is True
    assert accuracy(tagger, TRAINING) > 0.75


def test_lbfgs_fits_nodes_and_pairs_of_joint_coupling_to_the_optimum() -> None:
    """The gradient of each of the two objectives vanishes; stochastic steps end at another point."""
    norms: dict[str, list[float]] = {}

    def note(event: corate.ProgressEvent) -> None:
        if event.gradient_norm is not None:
            norms.setdefault(event.stage, []).append(event.gradient_norm)

    separate(coupling="joint", optimizer="lbfgs", iterations=500, progress=note)
    assert list(norms) == ["fitting the nodes", "fitting the pairs"]
    assert all(found[-1] < 0.01 * found[0] for found in norms.values())


def test_ctrl_c_while_lbfgs_fits_the_pairs_keeps_the_nodes() -> None:
    user = Stop("fitting the pairs", 0.02)
    with pytest.warns(UserWarning, match="training was interrupted, so the model is not complete"):
        tagger = separate(optimizer="lbfgs", coupling="joint", progress=user)
    assert user.pressed
    assert tagger.record["interrupted"] is True
    assert accuracy(tagger, TRAINING) > 0.75


def test_lbfgs_on_halves_hears_ctrl_c_as_well() -> None:
    user = Stop("fitting half 2", 0.02)
    with pytest.warns(UserWarning, match="training was interrupted, so the model is not complete"):
        tagger = separate(optimizer="lbfgs", progress=user)
    assert user.pressed
    assert tagger.record["interrupted"] is True


@pytest.mark.parametrize("stop", [("counting", 0.0), ("tuning", 0.0), ("fitting the nodes", 0.1)], ids=str)
def test_ctrl_c_before_anything_was_reached_stops_the_training(stop: tuple[str, float]) -> None:
    with pytest.raises(KeyboardInterrupt):
        separate(progress=Stop(*stop), **PASSES, tune=True)


def test_training_stops_when_held_out_sentences_see_no_more_to_learn() -> None:
    measured: list[float] = []
    separate(
        held_out=corpus_of(HELD_OUT),
        passes=40,
        progress=lambda event: None if event.held_out_accuracy is None else measured.append(event.held_out_accuracy),
    )
    assert PATIENCE_PASSES < len(measured) < 40
    assert max(measured[-PATIENCE_PASSES:]) <= max(measured[:-PATIENCE_PASSES])


# -- taking up again --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::corate.errors.InterruptedWarning")
@pytest.mark.parametrize("way", [{}, {"base": "none"}, {"coupling": "joint"}, {"tune": True}], ids=str)
@pytest.mark.parametrize("held_out", [None, corpus_of(HELD_OUT)], ids=["", "held out"])
@pytest.mark.parametrize("reached", [0.3, 0.55, 0.8])
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(
    way: dict[str, Any], held_out: Corpus | None, reached: float, tmp_path: Path
) -> None:
    options: dict[str, Any] = {**PASSES, "held_out": held_out, **way}
    whole = separate(**options)
    stopped = separate(**options, checkpoint=tmp_path / "run", progress=Stop("fitting the nodes", reached))
    assert stopped.record["interrupted"] is True or held_out is not None
    resumed = separate(**options, checkpoint=tmp_path / "run")
    assert resumed.record["interrupted"] is False
    assert arrays(resumed) == arrays(whole)
    assert arrays(separate(**options, checkpoint=tmp_path / "run")) == arrays(whole)


def test_more_passes_go_on_from_fewer(tmp_path: Path) -> None:
    def trained(passes: int, **more: Any) -> Tagger:
        return separate(**PASSES | {"passes": passes}, **more)

    one = trained(1, checkpoint=tmp_path / "run")
    three = trained(3, checkpoint=tmp_path / "run", threads=2)
    assert arrays(three) == arrays(trained(3))
    assert arrays(one) == arrays(trained(1)) != arrays(three)
    with pytest.raises(ModelError, match="has made 3 passes"):
        trained(1, checkpoint=tmp_path / "run")


def swapped(labelled: Labelled) -> Labelled:
    """Other data of the same size: the labels of two tokens with the same word are exchanged."""
    (w, y), *rest = labelled[0]
    for s, sentence in enumerate(labelled[1:], 1):
        for i, (v, z) in enumerate(sentence):
            if v == w and z != y:
                other = [*sentence[:i], (v, y), *sentence[i + 1 :]]
                return [[(w, z), *rest], *labelled[1:s], other, *labelled[s + 1 :]]
    raise AssertionError("no such word")


@pytest.mark.parametrize(
    "other",
    [
        {"labelled": TRAINING[1:]},
        {"labelled": swapped(TRAINING)},
        {"features": FEATURES[1:]},
        {**PASSES, "rate": 0.2},
        {"seed": 1},
        {"base": "paper"},
        {"all_labels": True, "base": "none"},
        {"held_out": corpus_of(HELD_OUT)},
        {"label_weights": {"N": 2.0}},
    ],
    ids=["fewer", "swapped", "features", "settings", "seed", "base", "all labels", "held out", "weights"],
)
def test_a_checkpoint_of_another_run_is_refused(other: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run"
    separate(**PASSES, checkpoint=path)
    with pytest.raises(ModelError, match="other data or settings; name another file or remove it") as raised:
        separate(**({**PASSES, "checkpoint": path} | other))
    assert str(path) in str(raised.value)


def test_a_checkpoint_needs_passes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="adagrad"):
        separate(optimizer="lbfgs", checkpoint=tmp_path / "run")


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"sigma": 1.0}, "unknown option 'sigma' of the method 'separate'; did you mean 'sigma2'"),
        ({"__class__": 1.0}, "unknown option"),
        ({"sigma2": -1.0}, "sigma2 must be a number from 1e-09 to"),
        ({"sigma2": 0}, "sigma2 must be a number from 1e-09 to"),
        ({"rate": -0.1}, "rate must be a number from 0 to 1000000000, not -0.1"),
        ({"rate": float("nan")}, "rate must be a number"),
        ({"coupling_weight": float("inf")}, "coupling_weight must be a number"),
        ({"passes": "many"}, "passes must be an integer"),
        ({"passes": 2.5}, "passes must be an integer from 1 to 1000000, not 2.5"),
        ({"passes": 10**400}, "passes must be an integer"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(DataError, match=match):
        separate(**settings)


@pytest.mark.parametrize(
    ("method", "options", "match"),
    [
        ("separate", {"backoff": "paper"}, "backoff is an option of the method 'empirical'"),
        ("empirical", {"base": "paper"}, "base is an option of the method 'polish' or 'separate'"),
        ("empirical", {"coupling": "joint"}, "coupling is an option of"),
        ("empirical", {"optimizer": "lbfgs"}, "optimizer is an option of"),
        ("empirical", {"tune": True}, "tune is an option of"),
        ("empirical", {"checkpoint": "run"}, "checkpoint is an option of"),
        ("empirical", {"label_weights": {"N": 2.0}}, "label_weights is an option of"),
        ("separate", {"base": "acid"}, "unknown base 'acid'; there are default, pooled, paper, none"),
        ("separate", {"coupling": "loose"}, "unknown coupling"),
        ("separate", {"optimizer": "luck"}, "unknown optimizer"),
    ],
    ids=str,
)
def test_arguments_of_another_method_are_refused(method: str, options: dict[str, Any], match: str) -> None:
    with pytest.raises(DataError, match=match):
        corate.train(corpus_of(TRAINING), method, **options)


def test_settings_that_are_given_are_used_and_recorded() -> None:
    chosen = {"sigma2": 0.5, "base_weight": 0.3, "passes": 2, "cutoff": 2, "coupling_weight": 0.123}
    tagger = separate(**chosen, tune=True, held_out=corpus_of(HELD_OUT))
    assert tagger.record["settings"].items() >= {OPTIONS[name].key: value for name, value in chosen.items()}.items()
    assert arrays(tagger) != arrays(separate(**chosen | {"sigma2": 0.01}))


def test_a_rare_feature_is_cut_off() -> None:
    labelled = [[("x", "A"), (f"once{i}", "AB"[i % 2])] for i in range(40)]
    weights = separate(labelled, features=["word[0]"], base="none", cutoff=2).model.weights
    kept = separate(labelled, features=["word[0]"], base="none").model.weights
    assert np.count_nonzero(weights.scores) < np.count_nonzero(kept.scores)


def noisy(tune: bool, **options: Any) -> Tagger:
    """Conjunctions that say little, learned from few sentences: a wide prior believes them too far."""
    features = ["word[0]", "word[-1]", "word[1]", "word[-1]|word[0]|word[1]"]
    return separate(random_sentences(200, noise=0.5), features=features, tune=tune, **options)


def test_tuning_chooses_among_values_and_records_them() -> None:
    usual, tuned = (noisy(tune).record["settings"] for tune in (False, True))
    assert usual["sigma2"] == options_of(Separate)["sigma2"].default > tuned["sigma2"]
    steps = np.log(tuned["sigma2"] / usual["sigma2"]) / np.log(3)
    assert steps == pytest.approx(round(steps))
    assert noisy(True, sigma2=1.0).record["settings"]["sigma2"] == 1.0
    test = random_sentences(300, seed=8, noise=0.5)
    assert accuracy(noisy(True), test) >= accuracy(noisy(False), test)


def test_the_prior_of_edge_features_is_tuned_and_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    fit = SeparateTraining.pairs_given_nodes

    def noted(self: SeparateTraining, *args: Any) -> Any:
        tried.append(self.p.edge_sigma2)
        return fit(self, *args)

    monkeypatch.setattr(SeparateTraining, "pairs_given_nodes", noted)
    features = ["word[0]", "edge: word[0]"]
    chosen = separate(features=features, tune=True).record["settings"]["edge_sigma2"]
    assert {1.0, 3.0} < set(tried)
    assert tried[-1] == chosen
    tried.clear()
    separate(features=features, tune=True, edge_sigma2=0.5)
    assert set(tried) == {0.5}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tuning_on_next_to_nothing_keeps_the_usual_values(n: int) -> None:
    labelled: Labelled = [[("the", "D"), ("dog", "N")]] * n
    tagger = separate(labelled, tune=True)
    assert tagger.record["settings"] == separate(labelled).record["settings"]
    assert tagger.tag(["the", "dog"]) == ["D", "N"]


Progress = Callable[[str, float], None]


@every_way
def test_progress_goes_forward_within_a_stage(way: dict[str, Any]) -> None:
    in_words: dict[str, list[float]] = {}

    def progress(event: corate.ProgressEvent) -> None:
        in_words.setdefault(event.stage, []).append(event.fraction or 0.0)

    watch: Progress = progress
    separate(progress=watch, **way)
    for stage in ("fitting the nodes", "building the model"):
        assert all(0 <= done <= 1 for done in in_words[stage])
        assert sorted(in_words[stage]) == in_words[stage]
