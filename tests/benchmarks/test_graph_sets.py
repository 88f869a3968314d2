"""The graphs of the benchmarks: what nodes see, which edges there are, and which labels may be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.graph_sets import SETS, Task, is_known
from scipy import sparse

from benchmarks import graph_sets

Arrays = dict[str, np.ndarray]


class OnlyTraining(dict[str, np.ndarray]):
    """Arrays of a set; those of the test part cannot be read."""

    def __getitem__(self, name: str) -> np.ndarray:
        assert "test" not in name, f"{name} was read"
        return super().__getitem__(name)


def letters() -> Arrays:
    made: Arrays = {}
    for part in ("train", "test"):
        made[f"{part}_start"] = np.array([0, 2, 3, 3 + 4, 8, 9, 10], np.int32)
        made[f"{part}_label"] = np.arange(1, 11, dtype=np.uint8)
        made[f"{part}_pixels"] = np.zeros((10, 16), np.uint8)
        made[f"{part}_pixels"][0, 0] = 0b1000_0001
    return made


def snakes() -> Arrays:
    made: Arrays = {}
    for part in ("train", "test"):
        made[f"{part}_shape"] = np.array([[2, 3]] * 5, np.int16)
        made[f"{part}_colour"] = np.tile(np.array([1, 2, 3, 4, 5, 6], np.uint8), 5)
        made[f"{part}_label"] = np.arange(30, dtype=np.uint8) % 11
    return made


def cora(n: int = 50) -> Arrays:
    rng = np.random.default_rng(0)
    return {
        "offsets": np.arange(0, 2 * n + 1, 2, dtype=np.int32),
        "words": np.stack([np.arange(n) % 7, 7 + np.arange(n) % 5], axis=1).ravel().astype(np.int16),
        "edges": np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).astype(np.int32),
        "label": rng.integers(0, 7, n).astype(np.uint8),
        "public_train": np.arange(20, dtype=np.int32),
        "public_test": np.arange(30, n, dtype=np.int32),
    }


def test_a_letter_has_16_rows_of_8_pixels_and_an_edge_to_the_next_letter() -> None:
    task = next(graph_sets.letters(False, letters()))
    first = task.train[0]
    assert first.x.shape == (2, 128)
    assert np.flatnonzero(first.x[0]).tolist() == [0, 7]
    assert [graph.y.tolist() for graph in task.train[:3]] == [[1, 2], [3], [4, 5, 6, 7]]
    assert [graph.edges["next"].tolist() for graph in task.train[:3]] == [[[0, 1]], [], [[0, 1], [1, 2], [2, 3]]]


def test_a_pixel_of_a_snake_sees_nine_colours_and_an_edge_sees_both_ends() -> None:
    graph = next(graph_sets.snakes(False, snakes())).train[0]
    seen = graph.x.reshape(6, 9, graph_sets.COLOURS)
    assert (seen.sum(axis=2) == 1).all()
    assert seen.argmax(axis=2)[0].tolist() == [0, 0, 0, 0, 1, 2, 0, 4, 5]
    assert graph.edges["right"].tolist() == [[0, 1], [1, 2], [3, 4], [4, 5]]
    assert graph.edges["down"].tolist() == [[0, 3], [1, 4], [2, 5]]
    np.testing.assert_array_equal(graph.edge_features["down"][1], np.concatenate([graph.x[1], graph.x[4]]))


TREE = """\
# text = Zum Haus gehen
1-2\tZum\t_\t_\t_\t_\t_\t_\t_\t_
1\tZu\tzu\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\t_\tCase=Dat|Number=Sing\t3\tdet\t_\t_
3\tHaus\tHaus\tNOUN\t_\tCase=Dat\t4\tobl\t_\t_
3.1\tnichts\t_\t_\t_\t_\t_\t_\t_\t_
4\tgehen\tgehen\tVERB\t_\tVerbForm=Inf\t0\troot\t_\t_

1\tJa\tja\tINTJ\t_\t_\t0\troot\t_\t_
"""


def test_trees_have_edges_from_heads_by_relation_and_side() -> None:
    tree, single = graph_sets.conllu(TREE)
    assert tree.y.tolist() == ["_", "Dat", "Dat", "_"]
    edges = {kind: ends.tolist() for kind, ends in tree.edges.items()}
    assert edges == {"case-left": [[2, 0]], "det-left": [[2, 1]], "obl-left": [[3, 2]]}
    assert not single.edges
    assert single.x[0]["head"] == "<root>"
    house = tree.x[2]
    assert house["word"] == "haus"
    assert [house[f"end{n}"] for n in (1, 2, 3, 4)] == ["s", "us", "aus", "haus"]
    assert (house["pos"], house["pos-1"], house["pos+1"]) == ("NOUN", "DET", "VERB")
    assert (house["relation"], house["head"], house["head-pos"]) == ("obl", "gehen", "VERB")
    plain = graph_sets.without_tree(tree)
    assert plain.edges["next"].tolist() == [[0, 1], [1, 2], [2, 3]]
    assert not {"relation", "head", "head-pos"} & set(plain.x[2])


@pytest.mark.parametrize(("make", "data"), [(graph_sets.letters, letters), (graph_sets.snakes, snakes)])
def test_development_reads_only_training_graphs(
    make: Callable[..., Any], data: Callable[[], Arrays], capsys: pytest.CaptureFixture[str]
) -> None:
    task = next(make(True, OnlyTraining(data())))
    assert len(task.test) == (len(task.test) + len(task.train)) // 5 == 1
    together = [tuple(graph.y) for graph in [*task.train, *task.test]]
    assert sorted(together) == sorted(tuple(graph.y) for graph in next(make(False, data())).train)
    assert capsys.readouterr().err.count("test part read") == 1  # of the second call


@pytest.mark.parametrize("make", [graph_sets.cora, graph_sets.cora_hops])
def test_labels_outside_the_training_mask_of_cora_are_never_read(make: Callable[..., Any]) -> None:
    data = cora()
    changed = data | {"label": data["label"].copy()}
    changed["label"][20:] = np.random.default_rng(1).permutation(changed["label"][20:])
    for one, other in zip(make(True, OnlyTraining(data)), make(True, OnlyTraining(changed)), strict=True):
        for ours, theirs in ((one.train[0], other.train[0]), (one.test[0], other.test[0])):
            np.testing.assert_array_equal(ours.y, theirs.y)
    one, other = next(make(False, data)), next(make(False, changed))
    np.testing.assert_array_equal(one.train[0].y, other.train[0].y)
    assert one.known() == other.known() == dict(enumerate(data["label"][:20].tolist()))


def test_nodes_of_networks_are_never_known_and_asked_for() -> None:
    for make in (graph_sets.cora, graph_sets.cora_hops, graph_sets.cora_random):
        for development in (True, False):
            for task in make(development, cora()):
                assert task.network
                assert not (is_known(task.train[0].y) & is_known(task.test[0].y)).any()
                assert is_known(task.test[0].y).any()


def test_random_splits_of_cora_have_60_and_20_percent() -> None:
    data = cora()
    for seed, task in enumerate(graph_sets.cora_random(False, data)):
        order = np.random.default_rng(seed).permutation(50)
        assert sorted(task.known()) == sorted(order[:30])
        assert np.flatnonzero(is_known(task.test[0].y)).tolist() == sorted(order[40:])


def test_hop_means_are_means_over_a_node_and_its_neighbours() -> None:
    x = np.arange(12.0).reshape(4, 3)
    edges = np.array([[0, 1], [1, 2]])
    means = np.array([[0.5, 0.5, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 1]])
    for given in (x, sparse.csr_matrix(x)):
        np.testing.assert_allclose(graph_sets.hop_means(given, edges, 2), means @ means @ x, rtol=1e-6)
    np.testing.assert_allclose(graph_sets.hop_means(x, edges, 0), x)


def test_grids_are_samples_whose_pixels_alone_say_little() -> None:
    task = next(graph_sets.grids(True, images=10))
    again = next(graph_sets.grids(True, images=10))
    np.testing.assert_array_equal(task.train[3].y, again.train[3].y)
    x, y = (np.concatenate([getattr(graph, what) for graph in task.test]) for what in ("x", "y"))
    nearest = ((x[:, None] - graph_sets.CORNERS) ** 2).sum(axis=2).argmin(axis=1)
    assert 0.51 < (nearest == y).mean() < 0.58
    ends = task.test[0].edges["beside"]
    assert len(ends) == 2 * 16 * 15
    same = np.mean([graph.y[ends[:, 0]] == graph.y[ends[:, 1]] for graph in task.test])
    assert 0.5 < same < 0.85  # equal neighbours are common, and no label rules an image


def test_gibbs_samples_without_a_score_are_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_sets, "SAME", 0.0)
    monkeypatch.setattr(graph_sets, "SWEEPS", 3)
    labels = graph_sets.gibbs_samples(40, np.random.default_rng(0))
    same = np.mean(labels[:, 1:] == labels[:, :-1])
    assert abs(same - 0.25) < 0.02


def test_made_up_networks_have_the_edges_they_promise() -> None:
    task = graph_sets.made_up(5000)
    graph = task.train[0]
    assert {kind: len(ends) for kind, ends in graph.edges.items()} == {"like": 10_000, "follows": 5000}
    labels = np.where(is_known(graph.y), graph.y, task.test[0].y)
    assert (labels >= 0).all()
    for kind, step in (("like", 0), ("follows", 1)):
        ends = graph.edges[kind]
        assert (ends[:, 0] != ends[:, 1]).all()
        assert len(np.unique(ends, axis=0)) == len(ends)
        assert np.mean((labels[ends[:, 1]] - labels[ends[:, 0]]) % 10 == step) > 0.3
    assert graph.x.has_canonical_format
    assert graph.x.shape == (5000, 11_000)
    assert len(task.known()) == 2500


def test_sets_have_different_names() -> None:
    assert {"letters", "snakes", "german", "finnish", "cora", "cora-hops", "cora-random", "grids"} == set(SETS)
    assert Task("x", [], []).known() == {}
