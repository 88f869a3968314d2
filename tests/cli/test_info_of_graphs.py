"""corate info of models that label graphs, and how such models are shown: in their own units, and nothing untrue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelled_graphs import LABELS, TYPES, labelled_graphs


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    import corate

    folder, graphs = tmp_path_factory.mktemp("graphs"), labelled_graphs(12, 1, types=3)
    log_probs = np.log(np.full((4, 3), 1 / 3))
    given = corate.Corpus.from_graphs(None, list("ABCA"), edges={}, node_log_probs=log_probs, labels=LABELS)
    for name, tagger in {
        "polish": corate.train(graphs),
        "standard": corate.train(graphs, "standard", iterations=5),
        "given": corate.train(given, "separate"),
    }.items():
        tagger.save(folder / f"{name}.corate")
    return {path.stem: path for path in folder.iterdir()}


def test_info_speaks_of_graphs_and_nodes(corate: Any, models: dict[str, Path]) -> None:
    found = corate("info", models["polish"])
    assert (found.code, found.err) == (0, "")
    rows = {
        name.strip(): text for name, text in (line.split("  ", 1) for line in found.text.split("\n\n")[0].split("\n"))
    }
    assert rows["trained on"].strip().startswith("12 graphs with 72 nodes, by corate")
    assert rows["nodes"].strip() == "scored by 4 features and 2 columns of vectors"
    edges = [text.partition(" (")[0] for text in rows["edges"].strip().split("; ")]
    assert edges == list(TYPES[:3])
    assert "exponent" in rows["edges"]
    assert "symmetric" in rows["edges"].split("; ")[1]
    assert "polish" in rows
    assert "messages" in rows["inference"]
    assert "c2" in found.text
    for wrong in ("sentence", "token", "--init", "calibrate", "spans", "constraints"):
        assert wrong not in found.text


@pytest.mark.parametrize("name", ["polish", "standard", "given"])
def test_info_as_json_has_the_rates_of_each_type(corate: Any, models: dict[str, Path], name: str) -> None:
    import corate as library

    tagger = library.load(models[name])
    facts = json.loads(corate("info", models[name], "--json").text)
    assert (facts["attractive"], facts["repulsive"]) == ([], [])
    graph = tagger.model.graph
    assert graph is not None
    assert [own["type"] for own in facts["edges"]] == [own.type for own in graph.edges]
    assert facts["record"]["sentences"] == (1 if name == "given" else 12)
    for own in facts["edges"]:
        rates = tagger.edge_rates(own["type"])
        for kind, sign in (("attractive", 1), ("repulsive", -1)):
            pairs = [(pair["left"], pair["right"]) for pair in own[kind]]
            expected = [p for p, rate in rates.items() if sign * (rate - 1) > 0]
            if own["symmetric"]:
                expected = [(a, b) for a, b in expected if a <= b]
            assert pairs == sorted(expected, key=lambda pair: -sign * rates[pair])[:8]


def test_info_shows_weights_and_rates_by_type(corate: Any, models: dict[str, Path]) -> None:
    text = corate("info", models["standard"], "--all").text
    assert "vector[" in text
    assert "label pairs that attract each other along next\nlabel  label of the second end" in text
    assert "along 0\nlabel  other label" in text
    assert "polish  " not in text


def test_info_says_that_nodes_have_given_log_probabilities(corate: Any, models: dict[str, Path]) -> None:
    text = corate("info", models["given"]).text
    assert "scored by log-probabilities of labels that another model gives" in text
    assert "edges       none" in text


def test_a_tagger_of_graphs_is_shown_in_its_units(models: dict[str, Path]) -> None:
    import corate as library

    tagger = library.load(models["standard"])
    assert repr(tagger) == "Tagger(standard, 3 labels, 3 edge types, trained on 12 graphs with 72 nodes)"
    html = tagger._repr_html_()
    assert "next (2 features); 0 (symmetric)" in html
    assert "templates" not in html
    assert repr(library.load(models["given"])) == "Tagger(separate, 3 labels, trained on 1 graph with 4 nodes)"
