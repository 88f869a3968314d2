"""Model files of graphs: taggers come back as they were, and files that do not fit together are refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate import Corpus, Tagger
from corate.errors import CorateError, ModelError
from corate.io import tensor_file
from corate.model.graph_scores import EdgeTable
from labelled_graphs import LABELS, TYPES, labelled_graphs
from reference.damage import damaged_header, damaged_tensors

GRAPHS = labelled_graphs(12, 1, types=4)
TEST = labelled_graphs(5, 2, types=4)


def given_graphs(n: int, seed: int) -> Corpus:
    """Graphs with log-probabilities of labels in place of features."""
    rng = np.random.default_rng(seed)
    known = [rng.integers(3, size=4) for _ in range(n)]
    log_probs = [np.log(rng.dirichlet(1 + 3 * np.eye(3)[0], size=4)[:, (np.arange(3) - y[0]) % 3]) for y in known]
    edges = [np.array([[0, 1], [1, 2], [2, 3]])] * n
    labels = [[LABELS[v] for v in y] for y in known]
    return Corpus.from_graphs([None] * n, labels, edges=edges, node_log_probs=log_probs, labels=LABELS)


@pytest.fixture(scope="module")
def taggers() -> dict[str, Tagger]:
    columns = [{"columns": {"word": list("abcabc")}} for _ in range(len(GRAPHS))]
    words = Corpus.from_graphs(columns, [list("XYXYXX")] * len(columns), edges=[{}] * len(columns))
    return {
        "standard": corate.train(GRAPHS, "standard", iterations=5),
        "polish": corate.train(GRAPHS),
        "given": corate.train(given_graphs(12, 3), "separate"),
        "without edges": corate.train(words, "standard", features=["word[0]", "word[0]|word[1]"], iterations=5),
    }


def unseen(kind: str) -> Corpus:
    if kind == "without edges":
        columns = [{"columns": {"word": list("cabba")}}]
        return Corpus.from_graphs(columns, edges=[{}])
    return given_graphs(4, 4) if kind == "given" else TEST


KINDS = ("standard", "polish", "given", "without edges")


@pytest.mark.parametrize("kind", KINDS)
def test_a_tagger_of_graphs_comes_back_as_it_was(taggers: dict[str, Tagger], kind: str, tmp_path: Path) -> None:
    tagger, test = taggers[kind], unseen(kind)
    assert tagger.save(tmp_path / "model") == (tmp_path / "model").stat().st_size
    for loaded in (
        corate.load(tmp_path / "model"),
        corate.load(tmp_path / "model", mmap=True),
        pickle.loads(pickle.dumps(tagger)),
        copy.deepcopy(tagger),
    ):
        assert loaded.tag_all(test) == tagger.tag_all(test)
        np.testing.assert_array_equal(loaded.lattice(test).label_marginals(), tagger.lattice(test).label_marginals())
        kept = {name: value for name, value in tagger.record.items() if name != "seconds"}
        assert (loaded.record, loaded.features, loaded.labels) == (kept, tagger.features, tagger.labels)
        for own, other in zip(loaded.model.graph.edges, tagger.model.graph.edges, strict=True):
            assert (own.type, own.symmetric) == (other.type, other.symmetric)
            assert loaded.edge_rates(own.type) == tagger.edge_rates(own.type)
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_scores_in_16_bits_make_a_smaller_file_that_labels_nearly_the_same(
    taggers: dict[str, Tagger], tmp_path: Path
) -> None:
    tagger = taggers["standard"]
    assert tagger.save(tmp_path / "half", half=True) < tagger.save(tmp_path / "model")
    found = corate.load(tmp_path / "half").lattice(TEST).label_marginals()
    np.testing.assert_allclose(found, tagger.lattice(TEST).label_marginals(), atol=0.01)
    graph = tagger.model.graph
    assert graph is not None
    large = replace(graph, edges=(replace(graph.edges[0], table=graph.edges[0].table + np.float32(1e5)),))
    with pytest.raises(ModelError, match="16 bits; save it without half"):
        replace(tagger, model=replace(tagger.model, graph=large)).save(tmp_path / "half", half=True)


def test_many_types_and_many_features_of_edges_are_kept(tmp_path: Path) -> None:
    edges = {f"kind {i}": np.array([[0, 1], [1, 2]]) for i in range(300)}
    numbers = {"kind 7": np.random.default_rng(0).normal(size=(2, 500))}
    graph = Corpus.from_graphs([["a"], ["b"], ["a"]], list("XYX"), edges=edges, edge_features=numbers)
    tagger = corate.train(graph, "standard", iterations=2)
    tagger.save(tmp_path / "model")
    found = corate.load(tmp_path / "model").model.graph
    assert found is not None
    assert [own.type for own in found.edges] == list(edges)
    assert [len(own.weights) for own in found.edges] == [500 * (i == 7) for i in range(300)]


def test_a_crfsuite_file_cannot_hold_a_model_of_graphs(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="graphs"):
        taggers["standard"].save(tmp_path / "model.crfsuite", bias="bias")


# -- versions ----------------------------------------------------------------------------------------------------------


def test_only_models_of_graphs_have_the_new_version_and_older_programs_refuse_them(
    taggers: dict[str, Tagger], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in KINDS:
        taggers[kind].save(tmp_path / kind)
        assert b'"format_version":"4"' in (tmp_path / kind).read_bytes()[:100]
    sentences = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]] * 3)
    corate.train(sentences, "standard").save(tmp_path / "sentences")
    assert b'"format_version":"1"' in (tmp_path / "sentences").read_bytes()[:100]
    monkeypatch.setattr(tensor_file, "FORMAT_VERSION", 3)
    with pytest.raises(ModelError, match=r"format version 4, .* upgrade corate"):
        corate.load(tmp_path / "given")


def test_a_member_of_a_later_version_is_refused(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    tensors, header = parts_of(taggers["standard"], tmp_path / "model")
    header["model"]["graph"]["cliques"] = True
    tensor_file.write(tmp_path / "model", tensors, header)
    with pytest.raises(ModelError, match=r"model: .*'cliques'.*upgrade corate"):
        corate.load(tmp_path / "model")


# -- files that pass the hash and do not fit together ------------------------------------------------------------------


def parts_of(tagger: Tagger, path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    tagger.save(path)
    tensors, header = tensor_file.read(path)
    return {name: np.array(t) for name, t in tensors.items()}, header


Change = Callable[[dict[str, np.ndarray], dict[str, Any]], object]


def at(name: str, index: int, value: Any) -> Change:
    return lambda tensors, header: tensors[name].__setitem__(index, value)


def put(name: str, make: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda tensors, header: tensors.update({name: make(tensors[name])})


def graph(name: str, value: Any) -> Change:
    return lambda tensors, header: header["model"]["graph"].update({name: value})


CHANGES: dict[str, Change] = {
    "a label of weights out of range": at("weights.labels", 0, 3),
    "labels of weights out of order": at("weights.labels", 0, 1),
    "a weight that is not a number": at("weights.scores", 0, np.nan),
    "fewer rows of weights": put("weights.lengths", lambda a: a[:-1]),
    "an infinite bias": at("bias", 0, np.inf),
    "a bias too few": put("bias", lambda a: a[:-1]),
    "a weight of a vector that is not a number": at("vectors", 2, np.nan),
    "half a row of vectors": put("vectors", lambda a: a[:-1]),
    "a rate that is not a number": at("edges.0.table", 4, np.nan),
    "an infinite rate": at("edges.1.table", 0, -np.inf),
    "a table too small": put("edges.2.table", lambda a: a[:-1]),
    "a table in a square": put("edges.2.table", lambda a: a.reshape(3, 3)),
    "double rates": put("edges.2.table", lambda a: a.astype(np.float64)),
    "weights of edges that are not numbers": at("edges.0.weights", 0, np.nan),
    "weights of edges of another size": put("edges.0.weights", lambda a: a[:-1]),
    "a type twice": put("edge_types.offsets", lambda a: np.array([0, 0, 0, a[2], a[-1]], a.dtype)),
    "types that are no UTF-8": put("edge_types.data", lambda a: a * 0 + np.uint8(0xFF)),
    "a type without a table": lambda tensors, header: tensors.pop("edges.3.table"),
    "a type without weights": lambda tensors, header: tensors.pop("edges.3.weights"),
    "no types": lambda tensors, header: tensors.pop("edge_types.data"),
    "no labels": put("labels.offsets", lambda a: a[:1] * 0),
    "given to features": graph("given", True),
    "directions of fewer types": graph("symmetric", [False]),
    "directions of numbers": graph("symmetric", [0, 1, 1, 1]),
    "directions of nothing": graph("symmetric", None),
    "given of text": graph("given", "no"),
    "no graph": lambda tensors, header: header["model"].update(graph=None),
    "a graph of a list": lambda tensors, header: header["model"].update(graph=[]),
    "a model of sentences": lambda tensors, header: header["model"].pop("graph"),
    "the second order": lambda tensors, header: header.update(order=2),
    "counts": lambda tensors, header: header.update(counts={"sentences": 1, "tokens": 1}),
}


@pytest.mark.parametrize("what", list(CHANGES))
def test_files_that_do_not_fit_together_are_refused(taggers: dict[str, Tagger], what: str, tmp_path: Path) -> None:
    tensors, header = parts_of(taggers["standard"], tmp_path / "model")
    CHANGES[what](tensors, header)
    tensor_file.write(tmp_path / "model", tensors, header)
    with pytest.raises(ModelError, match="model: "):
        corate.load(tmp_path / "model")


def test_every_tensor_is_needed_and_checked_for_its_shape(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    tensors, header = parts_of(taggers["standard"], tmp_path / "model")
    for name, tensor in tensors.items():
        for changed in (None, tensor.reshape(1, -1), np.concatenate([tensor, tensor, np.ones(1, tensor.dtype)])):
            others = {n: t for n, t in tensors.items() if n != name}
            tensor_file.write(tmp_path / "changed", others if changed is None else {**others, name: changed}, header)
            with pytest.raises(ModelError, match="changed: "):
                corate.load(tmp_path / "changed")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_altered_files_are_refused_or_harmless(
    taggers: dict[str, Tagger], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever passes the checks labels, answers and saves, or says in plain words why it cannot."""
    tensors, header = parts_of(taggers[kind], tmp_path / "model")
    test = unseen(kind)
    refused = used = 0
    for i in range(300):
        rng = np.random.default_rng([7, i])
        altered = (damaged_tensors(tensors, rng), header) if i % 3 else (tensors, damaged_header(header, rng))
        monkeypatch.setattr(tensor_file, "read", lambda path, mmap, altered=altered: altered)
        try:
            tagger = corate.load("altered")
            tagger.tag_all(test)
            tagger.lattice(test).nbest(2)
            repr(tagger)
            tagger.strongest(5)
            tagger.save(tmp_path / "again")
            used += 1
        except CorateError:
            refused += 1
    assert refused > 100
    assert used > 20


def test_types_of_a_model_are_distinct(taggers: dict[str, Tagger]) -> None:
    tagger = taggers["standard"]
    own = tagger.model.graph
    assert own is not None
    twice = (own.edges[0], EdgeTable(TYPES[0], False, own.edges[1].table, own.edges[1].weights))
    with pytest.raises(ModelError, match="edges do not fit together"):
        replace(tagger, model=replace(tagger.model, graph=replace(own, edges=twice)))


def test_scores_that_overflow_are_an_error_that_names_the_node(taggers: dict[str, Tagger]) -> None:
    """Of a model with absurd weights, or of absurd data."""
    tagger = taggers["standard"]
    own = tagger.model.graph
    assert own is not None
    signs = np.array([[1, -1, 1], [1, -1, 1]], np.float32)
    absurd = replace(tagger, model=replace(tagger.model, graph=replace(own, vectors=3e38 * signs)))
    with pytest.raises(corate.DataError, match="scores of node 1 are too large"):
        absurd.tag(Corpus.from_graphs({"features": [[], []], "vectors": np.array([[0, 0], [9, 9]])}, edges={}))


def test_weights_of_given_log_probabilities_count(taggers: dict[str, Tagger]) -> None:
    """Joint training changes them, for example where the other model is too sure."""
    tagger, test = taggers["given"], given_graphs(3, 5)
    own = tagger.model.graph
    assert own is not None
    np.testing.assert_array_equal(own.vectors, np.eye(3))
    doubled = replace(tagger, model=replace(tagger.model, graph=replace(own, vectors=2 * own.vectors)))
    assert test.node_log_probs is not None
    surer = test.node_log_probs * 2 - np.log(np.exp(2 * test.node_log_probs).sum(axis=1, keepdims=True))
    expected = tagger.lattice(replace(test, node_log_probs=surer)).label_marginals()
    np.testing.assert_allclose(doubled.lattice(test).label_marginals(), expected, atol=1e-6)


class Classifier:
    """Gives every node the same log-probabilities."""

    def with_scores(self, corpus: Corpus, names: Any) -> Any:
        return np.log(np.tile([0.6, 0.3, 0.1], (corpus.n_tokens, 1)))


def test_a_classifier_of_nodes_is_kept_in_the_process_and_not_saved(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    tagger, test = replace(taggers["given"], classifier=Classifier()), given_graphs(3, 5)
    features = replace(test, node_log_probs=None, labels=None)
    expected = tagger.tag_all(features)
    assert copy.deepcopy(tagger).tag_all(features) == expected
    with pytest.warns(UserWarning, match="classifier of nodes is not saved"):
        tagger.save(tmp_path / "model")
    with pytest.warns(UserWarning, match="classifier of nodes is not saved"):
        pickled = pickle.dumps(tagger)
    log_probs = Classifier().with_scores(features, LABELS)
    for loaded in (corate.load(tmp_path / "model"), pickle.loads(pickled)):
        assert loaded.tag_all(replace(features, node_log_probs=log_probs)) == expected
        with pytest.raises(corate.DataError, match="node_log_probs"):
            loaded.tag_all(features)
