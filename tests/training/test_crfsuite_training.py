"""Training as CRFsuite trains, against enumeration, plain Python and python-crfsuite itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus
from corate.errors import ConfigError, DataError
from corate.model.tagger import Tagger
from corate.training.crfsuite import (
    ALGORITHMS,
    GeneratedFeatures,
    Iteration,
    algorithm_named,
    checked,
    train_as_crfsuite,
)

Token = Mapping[str, float]

#: Repeated, numeric, negative and zero values, a sentence of one token, a label that follows nothing.
SENTENCES: list[list[Token]] = [
    [{"a": 1.0, "b": 2.0}, {"b": 0.5, "n": -1.0}, {"a": 1.0, "z": 0.0}],
    [{"c": 1.0, "z": 0.0}],
    [{"b": 1.0, "n": 0.25}, {"c": 3.0, "a": 0.5}],
    [{"a": 1.0}, {"a": 1.0, "c": 1.0}, {"b": 1.0}, {"n": -0.5, "z": 1.0}],
]
LABELS = [["X", "Y", "X"], ["Z"], ["Y", "X"], ["X", "X", "Y", "Y"]]


def corpus_of(sentences: list[list[Token]] = SENTENCES, labels: list[list[str]] | None = None) -> Corpus:
    return Corpus.from_features(sentences, LABELS if labels is None else labels, keep_false=True)


def random_data(seed: int, sentences: int = 60) -> tuple[list[list[Token]], list[list[str]]]:
    """Sentences whose labels depend on attributes and on the label before."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(sentences):
        before, tokens, labels = 0, [], []
        for _ in range(int(rng.integers(1, 9))):
            word = int(rng.integers(20))
            before = (word + before) % 3 if rng.random() < 0.8 else int(rng.integers(3))
            tokens.append({f"w{word}": 1.0, f"s{word % 4}": float(rng.integers(1, 4)), "bias": 1.0})
            labels.append("ABC"[before])
        x.append(tokens)
        y.append(labels)
    return x, y


def by_crfsuite(
    path: Path, x: list[list[Token]], y: list[list[str]], algorithm: str = "lbfgs", **params: Any
) -> tuple[Any, pycrfsuite.Tagger]:
    """What CRFsuite logs, and its tagger."""
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    trainer.set_params(params)
    for tokens, labels in zip(x, y, strict=True):
        trainer.append(pycrfsuite.ItemSequence([dict(t) for t in tokens]), labels)
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return trainer.logparser, tagger


def weights_of(tagger: Tagger) -> dict[tuple[str, str], float]:
    """The weights by (attribute, label) and (label, label)."""
    names, labels, rows = tagger.vocabulary.attributes.to_list(), tagger.labels, tagger.model.weights
    found = {}
    for f, name in enumerate(names):
        for i in range(int(rows.offsets[f]), int(rows.offsets[f + 1])):
            found[name, labels[int(rows.labels[i])]] = float(rows.scores[i])
    table = tagger.model.edges.dense()
    found |= {(a, b): float(table[i, j]) for i, a in enumerate(labels) for j, b in enumerate(labels) if table[i, j]}
    return found


def crfsuite_weights(tagger: pycrfsuite.Tagger) -> dict[tuple[str, str], float]:
    info = tagger.info()
    return dict(info.state_features) | dict(info.transitions)


def assert_same_weights(tagger: Tagger, other: pycrfsuite.Tagger, scale: float = 1.0, atol: float = 1e-3) -> None:
    ours, theirs = weights_of(tagger), crfsuite_weights(other)
    for key in ours.keys() | theirs.keys():
        assert ours.get(key, 0.0) * scale == pytest.approx(theirs.get(key, 0.0), abs=atol), key


# -- the objective ----------------------------------------------------------------------------------------------------


def enumerated(
    weights: Mapping[tuple[str, str], float], x: list[list[Token]], y: list[list[str]], names: list[str]
) -> tuple[float, dict[tuple[str, str], float]]:
    """The negative log-likelihood over all labellings, and its gradient for every pair of names."""
    total, gradient = 0.0, dict.fromkeys(itertools.product(names, names), 0.0)

    def features(tokens: list[Token], labels: tuple[str, ...]) -> list[tuple[tuple[str, str], float]]:
        states = [((a, label), v) for t, label in zip(tokens, labels, strict=True) for a, v in t.items()]
        return states + [(pair, 1.0) for pair in itertools.pairwise(labels)]

    every = sorted({label for labels in y for label in labels})
    for tokens, gold in zip(x, y, strict=True):
        found = {path: features(tokens, path) for path in itertools.product(every, repeat=len(tokens))}
        scores = {path: sum(weights.get(k, 0.0) * v for k, v in f) for path, f in found.items()}
        log_z = math.log(sum(math.exp(s) for s in scores.values()))
        total += log_z - scores[tuple(gold)]
        for path, f in found.items():
            share = math.exp(scores[path] - log_z) - (path == tuple(gold))
            for key, v in f:
                gradient[key] += share * v
    return total, gradient


@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_lbfgs_ends_where_the_enumerated_objective_is_flat(c1: float) -> None:
    tagger = train_as_crfsuite(corpus_of(), "lbfgs", {"c1": c1, "c2": 0.2, "epsilon": 1e-7, "delta": 1e-9})
    weights = weights_of(tagger)
    loss, gradient = enumerated(weights, SENTENCES, LABELS, ["a", "b", "c", "n", "z", "X", "Y", "Z"])
    prior = c1 * sum(map(abs, weights.values())) + 0.2 * sum(w * w for w in weights.values())
    assert tagger.record["loss"] == pytest.approx(loss + prior, rel=1e-5)
    for key, w in weights.items():
        assert gradient[key] + 0.4 * w + c1 * np.sign(w) == pytest.approx(0.0, abs=2e-3), key


def test_an_attribute_that_is_repeated_counts_twice(tmp_path: Path) -> None:
    x, y = [[["a", "a", "b"], ["b"]]], [["X", "Y"]]
    tagger = train_as_crfsuite(Corpus.from_features(x, y), "lbfgs", {"c2": 0.5, "epsilon": 1e-7})
    trainer = pycrfsuite.Trainer("lbfgs", {"c2": 0.5, "epsilon": 1e-7}, verbose=False)
    trainer.append(x[0], y[0])
    trainer.train(str(tmp_path / "m.crfsuite"))
    other = pycrfsuite.Tagger()
    other.open(str(tmp_path / "m.crfsuite"))
    assert_same_weights(tagger, other)


# -- CRFsuite itself --------------------------------------------------------------------------------------------------

FEATURES: list[dict[str, Any]] = [
    {},
    {"feature.minfreq": 1},
    {"feature.minfreq": 1.5},
    {"feature.possible_states": True},
    {"feature.possible_transitions": True},
    {"feature.possible_states": True, "feature.possible_transitions": True, "feature.minfreq": 1},
]


@pytest.mark.parametrize("params", FEATURES)
@pytest.mark.parametrize("data", [(SENTENCES, LABELS), random_data(1)], ids=["odd", "random"])
def test_features_and_weights_are_those_of_crfsuite(
    tmp_path: Path, params: dict[str, Any], data: tuple[list[list[Token]], list[list[str]]]
) -> None:
    log, other = by_crfsuite(tmp_path / "m.crfsuite", *data, **params)
    seen: list[GeneratedFeatures] = []
    tagger = train_as_crfsuite(corpus_of(*data), "lbfgs", params, on_features=seen.append)
    assert seen[0].features == log.featgen_num_features
    assert tagger.record["loss"] == pytest.approx(log.last_iteration["loss"], rel=1e-5)
    assert_same_weights(tagger, other, atol=0.02)


SEARCHES = ["MoreThuente", "Backtracking", "StrongBacktracking"]


@pytest.mark.parametrize("params", [{"c1": 0.1, "c2": 0.1}, {"c1": 1.0, "c2": 0.0}, {"num_memories": 3}])
@pytest.mark.parametrize("linesearch", SEARCHES)
def test_lbfgs_reaches_the_objective_of_crfsuite(tmp_path: Path, params: dict[str, Any], linesearch: str) -> None:
    data = random_data(2)
    log, other = by_crfsuite(tmp_path / "m.crfsuite", *data, linesearch=linesearch, **params)
    tagger = train_as_crfsuite(corpus_of(*data), "lbfgs", {"linesearch": linesearch, **params})
    assert tagger.record["loss"] == pytest.approx(log.last_iteration["loss"], rel=1e-4)
    held_out = random_data(3)[0]
    pairs = [(tagger.tag(x), other.tag([dict(t) for t in x])) for x in held_out]
    assert np.mean([a == b for ours, theirs in pairs for a, b in zip(ours, theirs, strict=True)]) > 0.99


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_iterations_of_lbfgs_are_told_as_crfsuite_tells_them(tmp_path: Path, c1: float, search: str) -> None:
    data, params = random_data(4), {"c1": c1, "linesearch": search, "max_iterations": 5}
    log, _ = by_crfsuite(tmp_path / "m.crfsuite", *data, **params)
    seen: list[Iteration] = []
    tagger = train_as_crfsuite(corpus_of(*data), "lbfgs", params, on_iteration=seen.append)
    assert [i.number for i in seen] == [1, 2, 3, 4, 5]
    assert tagger.record["stopped"] == "iterations"
    for ours, theirs in zip(seen, log.iterations, strict=True):
        assert ours.loss == pytest.approx(theirs["loss"], rel=1e-4)
        assert ours.feature_norm == pytest.approx(theirs["feature_norm"], rel=1e-3)
        assert ours.error_norm == pytest.approx(theirs["error_norm"], rel=1e-2)
        assert ours.linesearch_trials == theirs["linesearch_trials"]
        assert ours.linesearch_step == pytest.approx(theirs["linesearch_step"], abs=1e-5)
        assert ours.active_features == theirs["active_features"]


@pytest.mark.parametrize("params", [{}, {"c2": 0.1}, {"c1": 0.1, "c2": 0.1}], ids=["default", "weak", "l1"])
def test_lbfgs_of_small_problems_has_the_iterations_and_the_weights_of_crfsuite(
    tmp_path: Path, params: dict[str, Any]
) -> None:
    for seed in range(20):
        x, y = random_data(100 + seed, 3 + seed % 10)
        log, other = by_crfsuite(tmp_path / "m.crfsuite", x, y, **params)
        seen: list[Iteration] = []
        tagger = train_as_crfsuite(corpus_of(x, y), "lbfgs", params, on_iteration=seen.append)
        assert_same_weights(tagger, other, atol=1e-5)
        assert [i.linesearch_trials for i in seen] == [i["linesearch_trials"] for i in log.iterations]
        for ours, theirs in zip(seen, log.iterations, strict=True):
            assert ours.linesearch_step == pytest.approx(theirs["linesearch_step"], abs=1e-5)
            assert ours.linesearch_step > 0


@pytest.mark.parametrize("search", SEARCHES)
def test_line_searches_that_need_several_trials_are_those_of_crfsuite(tmp_path: Path, search: str) -> None:
    x, y = random_data(5, 4)
    x = [[{a: 40.0 * v for a, v in token.items()} for token in tokens] for tokens in x]
    params = {"c2": 1e-3, "linesearch": search, "max_iterations": 12}
    log, other = by_crfsuite(tmp_path / "m.crfsuite", x, y, **params)
    seen: list[Iteration] = []
    tagger = train_as_crfsuite(corpus_of(x, y), "lbfgs", params, on_iteration=seen.append)
    trials = [i.linesearch_trials for i in seen]
    assert trials == [i["linesearch_trials"] for i in log.iterations]
    assert max(trials) > 2
    assert_same_weights(tagger, other, atol=1e-5)


@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        ("ap", {}),
        *(("pa", {"type": t, "error_sensitive": e, "c": 0.3}) for t in (0, 1, 2) for e in (True, False)),
        ("pa", {"averaging": False}),
        *(("arow", {"variance": v, "gamma": g}) for v in (0.5, 1.0, 4.0) for g in (0.1, 1.0)),
    ],
)
def test_steps_for_mistakes_are_those_of_crfsuite_on_one_sentence(
    tmp_path: Path, algorithm: str, params: dict[str, Any]
) -> None:
    """Of one sentence there is one order."""
    data = [SENTENCES[3]], [LABELS[3]]
    for passes in (1, 2, 6):
        log, other = by_crfsuite(tmp_path / "m.crfsuite", *data, algorithm, max_iterations=passes, **params)
        seen: list[Iteration] = []
        tagger = train_as_crfsuite(
            corpus_of(*data), algorithm, {"max_iterations": passes, **params}, on_iteration=seen.append
        )
        assert [i.loss for i in seen] == pytest.approx([i["loss"] for i in log.iterations], abs=1e-5)
        assert len(seen) == len(log.iterations)
        assert_same_weights(tagger, other, atol=2e-5)


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_models_are_written_for_crfsuite(tmp_path: Path, algorithm: str) -> None:
    x, y = random_data(5)
    tagger = train_as_crfsuite(corpus_of(x, y), algorithm, {"max_iterations": 20})
    tagger.save(tmp_path / "m.crfsuite")
    other = pycrfsuite.Tagger()
    other.open(str(tmp_path / "m.crfsuite"))
    for tokens in x:
        assert other.tag([dict(t) for t in tokens]) == tagger.tag(tokens)


@pytest.mark.parametrize("c2", [0.01, 1.0])
@pytest.mark.parametrize(("which", "trials"), [(0, 20), (3, 20), (0, 2), (3, 3), (3, 1)])
def test_passes_of_l2sgd_over_equal_sentences_are_those_of_crfsuite(
    tmp_path: Path, c2: float, which: int, trials: int
) -> None:
    """All sentences are the same, so their order does not matter."""
    data = [SENTENCES[which]] * 12, [LABELS[which]] * 12
    params = {"c2": c2, "max_iterations": 25, "calibration.samples": 5, "calibration.max_trials": trials}
    log, other = by_crfsuite(tmp_path / "m.crfsuite", *data, algorithm="l2sgd", **params)
    seen: list[Iteration] = []
    tagger = train_as_crfsuite(corpus_of(*data), "l2sgd", params, on_iteration=seen.append)
    assert len(seen) == len(log.iterations)
    for ours, theirs in zip(seen, log.iterations, strict=True):
        assert ours.loss == pytest.approx(theirs["loss"], rel=1e-4)
    assert_same_weights(tagger, other)


def test_l2sgd_comes_near_the_optimum_of_lbfgs() -> None:
    corpus = corpus_of(*random_data(6, 300))
    best = train_as_crfsuite(corpus, "lbfgs", {"c2": 0.5}).record["loss"]
    seen: list[Iteration] = []
    tagger = train_as_crfsuite(corpus, "l2sgd", {"c2": 0.5, "max_iterations": 60}, on_iteration=seen.append)
    assert best * (1 - 1e-4) < tagger.record["loss"] < 1.02 * best
    assert seen[0].improvement is None
    assert seen[11].improvement == pytest.approx(seen[1].loss / seen[11].loss - 1)
    assert [i.updates for i in seen[:2]] == [300, 600]


@pytest.mark.parametrize("eta", [1e-5, 100.0])
def test_the_first_step_size_of_l2sgd_may_be_far_too_small_or_large(eta: float) -> None:
    corpus, params = corpus_of(*random_data(7)), {"calibration.max_trials": 21, "max_iterations": 30}
    usual, other = (
        train_as_crfsuite(corpus, "l2sgd", params | {"calibration.eta": e}).record["loss"] for e in (0.1, eta)
    )
    assert other == pytest.approx(usual, rel=0.02)


# -- the kernels of steps for mistakes --------------------------------------------------------------------------------


def mistake(w: NDArray[Any], x: NDArray[Any], gold: NDArray[Any], k: int) -> tuple[NDArray[Any], float, int]:
    """For a sentence of (n, F) values, by enumeration: the features of the gold labels less those of the best, by how
    much the best score is higher, and the number of wrong labels. w: T, then W."""
    table, node = w[: (k + 1) ** 2].reshape(k + 1, k + 1), w[(k + 1) ** 2 :].reshape(-1, k)

    def features(path: tuple[int, ...]) -> NDArray[Any]:
        f, g = np.zeros_like(table), np.zeros_like(node)
        for j, y in enumerate(path):
            g[:, y] += x[j]
        for a, b in itertools.pairwise(path):
            f[a, b] += 1
        return np.concatenate([f.ravel(), g.ravel()])

    paths = list(itertools.product(range(k), repeat=len(gold)))
    scores = [float(features(path) @ w) for path in paths]
    best = paths[int(np.argmax(scores))]
    right = features(tuple(gold))
    return right - features(best), max(scores) - float(right @ w), int(np.sum(np.array(best) != gold))


#: Sentences in the order of some steps: (chains, initial weights, order, x, gold and K, by sentence).
Steps = tuple[_native.Chains, NDArray[Any], list[int], list[NDArray[Any]], list[NDArray[Any]], int]


def some_steps(seed: int) -> Steps:
    k, n_features, lengths = 3, 4, [3, 1, 4, 2]
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(sum(lengths), n_features)).astype(np.float32)
    gold = rng.integers(k, size=len(x)).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    slots = np.arange(0, n_features * k + 1, k), np.tile(np.arange(k, dtype=np.int32), n_features)
    features = np.arange(0, x.size + 1, n_features), np.tile(np.arange(n_features, dtype=np.int32), len(x))
    free = np.zeros((k + 1, k + 1), np.uint8)
    free[:k, :k] = 1
    chains = _native.Chains(
        "perceptron", k, offsets, (slots, features), x.ravel(), None, None, gold, None, None, free.ravel()
    )
    initial = rng.normal(size=chains.size) * 0.1
    initial[: (k + 1) ** 2] *= free.ravel()
    cut = offsets[1:-1]
    return chains, initial, [2, 0, 3, 1, 0], np.split(x.astype(float), cut), np.split(gold, cut), k


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("sensitive", [True, False])
def test_passive_aggressive_steps_are_those_of_plain_python(kind: int, sensitive: bool) -> None:
    chains, expected, order, x, gold, k = some_steps(kind)
    state = np.stack([expected, np.zeros(chains.size)], axis=1).astype(np.float32).ravel()
    averaged, costs, c = np.zeros(chains.size), [], 0.4
    for i, s in enumerate(order):
        difference, higher, missed = mistake(expected, x[s], gold[s], k)
        cost = higher + (math.sqrt(missed) if sensitive else 1.0) if missed else 0.0
        norm = max(float(difference @ difference), 1e-30)
        tau = {0: cost / norm, 1: min(c, cost / norm), 2: cost / (norm + 1 / (2 * c))}[kind] if missed else 0.0
        expected = expected + tau * difference
        averaged += (0.5 + 0.25 * i) * tau * difference
        costs.append(cost)
    found = chains.passive_aggressive(state, np.array(order), 0.5, 0.25, kind, c, sensitive)
    assert sum(cost > 0 for cost in costs) > 2
    np.testing.assert_allclose(found, costs, atol=1e-4)
    np.testing.assert_allclose(state[::2], expected, atol=1e-5)
    np.testing.assert_allclose(state[1::2], averaged, atol=1e-5)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_steps_of_arow_are_those_of_plain_python(gamma: float) -> None:
    chains, expected, order, x, gold, k = some_steps(5)
    variance, costs = np.full(chains.size, 2.0), []
    state = np.stack([expected, variance], axis=1).astype(np.float32).ravel()
    for s in order:
        difference, higher, missed = mistake(expected, x[s], gold[s], k)
        costs.append(higher + missed if missed else 0.0)
        if missed:
            alpha = costs[-1] / (gamma + float(variance @ difference**2))
            expected = expected + alpha * variance * difference
            variance = 1 / (1 / variance + difference**2 / gamma)
    found = chains.arow(state, np.array(order), gamma)
    assert sum(cost > 0 for cost in costs) > 2
    np.testing.assert_allclose(found, costs, atol=1e-4)
    np.testing.assert_allclose(state[::2], expected, atol=1e-5)
    np.testing.assert_allclose(state[1::2], variance, atol=1e-5)


def test_steps_for_mistakes_need_their_loss_and_known_rules() -> None:
    arrays = (np.array([0, 1]), np.array([0], np.int32)), (np.array([0, 1]), np.array([0], np.int32))
    gold, free = np.zeros(1, np.int32), np.zeros(4, np.uint8)
    for loss, kind, c in (
        ("likelihood", 1, 1.0),
        ("perceptron", 3, 1.0),
        ("perceptron", -1, 1.0),
        ("perceptron", 2, 0.0),
    ):
        chains = _native.Chains(loss, 1, np.array([0, 1]), arrays, None, None, None, gold, None, None, free)
        with pytest.raises(ValueError, match=r"need the loss|no such"):
            chains.passive_aggressive(np.zeros(2 * chains.size, np.float32), np.array([0]), 0.0, 1.0, kind, c, True)
    chains = _native.Chains("perceptron", 1, np.array([0, 1]), arrays, None, None, None, gold, None, None, free)
    with pytest.raises(ValueError, match="no such steps"):
        chains.arow(np.zeros(2 * chains.size, np.float32), np.array([0]), 0.0)


# -- stopping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "params", "reason"),
    [
        ("lbfgs", {"epsilon": 0.1}, "convergence"),
        ("lbfgs", {"epsilon": 0.0, "delta": 0.1, "period": 3}, "criterion"),
        ("lbfgs", {"max_iterations": 2}, "iterations"),
        ("lbfgs", {"period": 0, "epsilon": 1e-4}, "convergence"),
        ("lbfgs", {"max_iterations": 0, "epsilon": 1e-2}, "convergence"),
        ("l2sgd", {"delta": 0.5, "period": 2}, "criterion"),
        ("l2sgd", {"max_iterations": 2}, "iterations"),
        ("ap", {"epsilon": 100.0}, "criterion"),
        ("ap", {"max_iterations": 3}, "iterations"),
        ("pa", {"epsilon": 100.0}, "criterion"),
        ("arow", {"epsilon": 100.0}, "criterion"),
    ],
)
def test_training_says_why_it_ended(algorithm: str, params: dict[str, Any], reason: str) -> None:
    seen: list[Iteration] = []
    tagger = train_as_crfsuite(corpus_of(*random_data(8)), algorithm, params, on_iteration=seen.append)
    assert tagger.record["stopped"] == reason
    assert tagger.record["iterations"] == len(seen) == params.get("max_iterations") or reason != "iterations"
    assert tagger.record["loss"] == seen[-1].loss


@pytest.mark.parametrize("c1", [0.0, 0.2])
def test_lbfgs_ends_without_any_criterion(c1: float) -> None:
    """With the precision of float64 exhausted, no step gains anything."""
    params = {"c1": c1, "epsilon": 0.0, "period": 0}
    tagger = train_as_crfsuite(corpus_of(*random_data(13)), "lbfgs", params)
    assert tagger.record["stopped"] in ("search", "convergence")


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_ctrl_c_keeps_the_last_complete_iteration(algorithm: str) -> None:
    corpus = corpus_of(*random_data(9))

    def interrupt(iteration: Iteration) -> None:
        if iteration.number == 3:
            raise KeyboardInterrupt

    stopped = train_as_crfsuite(corpus, algorithm, on_iteration=interrupt)
    assert stopped.record["interrupted"]
    assert stopped.record["stopped"] == "interrupted"
    assert weights_of(stopped) == weights_of(train_as_crfsuite(corpus, algorithm, {"max_iterations": 3}))


def test_ctrl_c_before_the_first_iteration_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(features: GeneratedFeatures) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_as_crfsuite(corpus_of(), "ap", on_features=interrupt)


def test_an_error_in_a_callback_is_raised() -> None:
    def fail(iteration: Iteration) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        train_as_crfsuite(corpus_of(), "ap", on_iteration=fail)


# -- held-out sentences, seeds, threads -------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
@pytest.mark.parametrize("shared", [True, False])
def test_held_out_tokens_are_labelled_with_the_weights_of_the_iteration(algorithm: str, shared: bool) -> None:
    x, y = random_data(10)
    every = corpus_of(x, y)
    corpus = every[:40]
    held_out = every[40:] if shared else corpus_of([[*x[40], {"new": 1.0}], *x[41:]], [[*y[40], "A"], *y[41:]])
    seen: list[Iteration] = []
    tagger = train_as_crfsuite(corpus, algorithm, {"max_iterations": 4}, held_out=held_out, on_iteration=seen.append)
    assert [len(i.held_out) for i in seen] == [held_out.n_tokens] * 4
    expected = [tagger.tag(tokens) for tokens in x[40:]]
    if not shared:
        expected[0] = tagger.tag([*x[40], {"new": 1.0}])
    names = corpus.labels.strings.to_list()
    assert [names[i] for i in seen[-1].held_out] == list(itertools.chain.from_iterable(expected))


def test_labels_that_only_held_out_sentences_have_are_labels() -> None:
    every = corpus_of()
    tagger = train_as_crfsuite(every.take([0, 2, 3]), "ap")
    assert tagger.labels == ["X", "Y", "Z"]


@pytest.mark.parametrize("algorithm", ["l2sgd", "ap", "pa", "arow"])
def test_the_seed_orders_sentences_and_threads_change_nothing(algorithm: str) -> None:
    corpus, params = corpus_of(*random_data(11)), {"max_iterations": 3}
    first, again, other = (
        weights_of(train_as_crfsuite(corpus, algorithm, params, seed=s, threads=t)) for s, t in ((1, 1), (1, 2), (2, 1))
    )
    assert first == again != other


def test_without_averaging_the_last_weights_are_kept() -> None:
    corpus = corpus_of(*random_data(12))
    first, last = (train_as_crfsuite(corpus, "pa", {"averaging": a, "max_iterations": 3}) for a in (True, False))
    assert weights_of(first) != weights_of(last)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "params", "message"),
    [
        ("arow", {"c1": 1}, "arow has no parameter 'c1'"),
        ("arow", {"gamma": 0}, "gamma must be a number"),
        ("sgd", {}, "unknown algorithm 'sgd'; there are lbfgs, l2sgd"),
        ("lbfgs", {"c3": 1}, "lbfgs has no parameter 'c3'; it has feature.minfreq"),
        ("ap", {"c1": 1}, "averaged-perceptron has no parameter 'c1'"),
        ("lbfgs", {"c1": -1}, "c1 must be a number from 0"),
        ("lbfgs", {"c2": math.nan}, "c2 must be a number from 0"),
        ("lbfgs", {"linesearch": "Best"}, "unknown linesearch 'Best'; there are MoreThuente"),
        ("lbfgs", {"feature.possible_states": 2}, "must be True or False"),
        ("pa", {"type": 3}, "type must be an integer from 0 to 2"),
        ("pa", {"c": 0}, "c must be a number"),
        ("l2sgd", {"period": 0}, "period must be an integer from 1"),
    ],
)
def test_bad_parameters_are_refused(algorithm: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        train_as_crfsuite(corpus_of(), algorithm, params)


def test_parameters_have_the_names_and_defaults_of_crfsuite() -> None:
    for name in ("lbfgs", "l2sgd", "ap", "pa", "arow"):
        theirs = pycrfsuite.Trainer(name, verbose=False).get_params()
        ours = checked(algorithm_named(name), {})
        assert list(ours.items()) == list(theirs.items())
    assert list(ALGORITHMS) == ["lbfgs", "l2sgd", "averaged-perceptron", "passive-aggressive", "arow"]


def test_bad_corpora_are_refused() -> None:
    with pytest.raises(DataError, match=r"ready-made features; make the corpus with Corpus\.from_features"):
        train_as_crfsuite(Corpus.from_sentences([[("a", "X")]]))
    with pytest.raises(DataError, match="no labels"):
        train_as_crfsuite(Corpus.from_features([[{"a": 1.0}]]))
    with pytest.raises(DataError, match="no tokens"):
        train_as_crfsuite(Corpus.from_features([[]], [[]]))
    with pytest.raises(DataError, match=r"no feature is left to train.*minfreq"):
        train_as_crfsuite(corpus_of(), "lbfgs", {"feature.minfreq": 1000})
    with pytest.raises(DataError, match="scale them"):
        train_as_crfsuite(Corpus.from_features([[{"a": 1e30}]], [["X"]]))
    words = Corpus.from_sentences([[("a", "X")]])
    with pytest.raises(DataError, match="held-out corpus has no ready-made features"):
        train_as_crfsuite(corpus_of(), "ap", held_out=words, on_iteration=lambda i: None)
