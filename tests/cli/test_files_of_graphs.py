"""Graphs in CSV files of nodes and edges on the command line: train, tag, eval, info and explain."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

import corate as library

TOPICS = ("Nets", "Theory")


def write_graph(folder: Path, n: int = 40, seed: int = 1) -> None:
    """A citation network in nodes.csv and edges.csv: a word tells of the topic, and pages cite their own topic."""
    rng = random.Random(seed)
    topics = [TOPICS[i % 2] for i in range(n)]
    word = {"Nets": "layer", "Theory": "proof"}
    rows = ["id,word,year,topic"]
    for i, topic in enumerate(topics):
        seen = word[topic] if rng.random() < 0.8 else rng.choice(list(word.values()))
        rows.append(f"p{i},{seen},{rng.choice([1, 2])},{topic if i % 3 else ''}")
    edges = ["from,to,type"]
    for i in range(2, n):
        edges += [f"p{i},p{i - 2 * rng.randint(1, (i - i % 2) // 2)},cites", f"p{i},p{i - 2},author"]
    (folder / "nodes.csv").write_text("\n".join(rows) + "\n")
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    write_graph(folder)
    return folder


@pytest.fixture(scope="module")
def graph_model(folder: Path) -> Path:
    from command_line import run

    options = ("--label", "topic", "--symmetric", "author", "--method", "separate", "--quiet")
    trained = run("train", folder / "nodes.csv", "--edges", folder / "edges.csv", "-o", folder / "m.corate", *options)
    assert (trained.code, trained.out, trained.err) == (0, b"", "")
    return folder / "m.corate"


def given(folder: Path, name: str = "nodes.csv") -> tuple[Any, ...]:
    return (folder / name, "--edges", folder / "edges.csv")


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def corpus_of(folder: Path) -> library.Corpus:
    return library.read_graph(folder / "nodes.csv", edges=folder / "edges.csv", label="topic", symmetric={"author"})


def test_train_is_that_of_the_library_and_counts_graphs_and_nodes(corate, folder, tmp_path):
    model = tmp_path / "m.corate"
    options = ("--label", "topic", "--symmetric", "author", "--method", "separate")
    trained = corate("train", *given(folder), "-o", model, *options)
    assert (trained.code, trained.err) == (0, "")
    assert trained.text.startswith("separate: 1 graph, 40 nodes, 2 labels")
    assert "bytes a node" in trained.text
    assert not {"sentence", "token"} & set(trained.text.replace(",", "").split())
    expected = library.train(corpus_of(folder), "separate")
    found = library.load(model)
    assert found.edge_rates("cites") == expected.edge_rates("cites")
    assert found.tag_all(corpus_of(folder)) == expected.tag_all(corpus_of(folder))
    assert found.model.graph is not None
    assert [own.symmetric for own in found.model.graph.edges if own.type == "author"] == [True]


def test_tag_adds_columns_and_keeps_the_rest(corate, folder, graph_model):
    tagged = corate("tag", graph_model, *given(folder), "--scores", "--quiet")
    assert (tagged.code, tagged.err) == (0, "")
    original = table((folder / "nodes.csv").read_text())
    rows = table(tagged.text)
    assert [{name: row[name] for name in original[0]} for row in rows] == original
    tagger, corpus = library.load(graph_model), corpus_of(folder)
    assert [row["predicted"] for row in rows] == tagger.tag_all(corpus)[0]
    best = tagger.lattice(corpus).label_marginals().max(axis=1)
    assert [float(row["probability"]) for row in rows] == pytest.approx(best.tolist(), abs=1e-4)


def test_labels_in_the_file_are_not_read_except_fixed_ones(corate, folder, graph_model, tmp_path):
    lines = (folder / "nodes.csv").read_text().splitlines()
    turned = [lines[0], *(line.replace("Nets", "?").replace("Theory", "Nets") for line in lines[1:])]
    (tmp_path / "turned.csv").write_text("\n".join(turned) + "\n")
    without = [line.rsplit(",", 1)[0] for line in lines]
    (tmp_path / "without.csv").write_text("\n".join(without) + "\n")
    edges = ("--edges", folder / "edges.csv", "--quiet")
    usual = table(corate("tag", graph_model, *given(folder), "--quiet").text)
    for name in ("turned.csv", "without.csv"):
        found = table(corate("tag", graph_model, tmp_path / name, *edges).text)
        assert [row["predicted"] for row in found] == [row["predicted"] for row in usual]
    # A label that the model would not give is kept, and changes what it says of nothing else that is fixed.
    wrong = TOPICS[usual[0]["predicted"] == TOPICS[0]]
    fixed = [f"{lines[0]},known", *(f"{line},{wrong if i == 0 else ''}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "fixed.csv").write_text("\n".join(fixed) + "\n")
    for column in ("known", "5"):
        found = table(corate("tag", graph_model, tmp_path / "fixed.csv", *edges, "--fixed", column, "--scores").text)
        assert (found[0]["predicted"], found[0]["probability"]) == (wrong, "1.0000")
    refused = corate("tag", graph_model, *given(folder), "--fixed", "word", "--quiet")
    assert refused.code == 1
    assert "nodes.csv, line 2: the model has no label " in refused.err


def test_unsure_labels_are_empty_and_names_stay_distinct(corate, folder, graph_model, tmp_path):
    edges = ("--edges", folder / "edges.csv", "--quiet")
    assert {row["predicted"] for row in table(corate("tag", graph_model, *given(folder), "--only-sure", "1").text)} <= {
        "",
        *TOPICS,
    }
    sure = table(corate("tag", graph_model, *given(folder), "--only-sure", "0.9", "--scores", "--quiet").text)
    assert [bool(row["predicted"]) for row in sure] == [float(row["probability"]) >= 0.9 for row in sure]
    once = tmp_path / "once.csv"
    assert corate("tag", graph_model, *given(folder), "-o", once, "--quiet").code == 0
    again = corate("tag", graph_model, once, *edges).text.splitlines()[0]
    assert again == "id,word,year,topic,predicted,predicted_2"


def test_separators_and_line_ends_stay(corate, folder, graph_model, tmp_path):
    text = (folder / "nodes.csv").read_text().replace(",", ";").replace("\n", "\r\n")
    (tmp_path / "nodes.csv").write_bytes(text.encode())
    tagged = corate("tag", graph_model, tmp_path / "nodes.csv", "--edges", folder / "edges.csv", "--quiet")
    assert tagged.out.startswith(b"id;word;year;topic;predicted\r\n")
    assert tagged.out.count(b"\r\n") == text.count("\n")
    piped = corate("tag", graph_model, "--edges", folder / "edges.csv", "--quiet", stdin=text.encode())
    assert piped.out == tagged.out


def test_encodings_and_separators_are_those_of_both_files(corate, folder, graph_model, tmp_path):
    for name in ("nodes.csv", "edges.csv"):
        text = (folder / name).read_text().replace("p1,", "pä,").replace(",", "|")
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    arguments = ("--encoding", "latin-1", "--separator", "|", "--quiet")
    tagged = corate("tag", graph_model, *given(tmp_path), *arguments)
    assert (tagged.code, tagged.err) == (0, "")
    usual = table(corate("tag", graph_model, *given(folder), "--quiet").text)
    rows = list(csv.DictReader(io.StringIO(tagged.out.decode("latin-1")), delimiter="|"))
    assert rows[1]["id"] == "pä"
    assert [row["predicted"] for row in rows] == [row["predicted"] for row in usual]


def test_eval_counts_nodes_with_known_labels(corate, folder, graph_model):
    found = corate("eval", graph_model, *given(folder), "--calibration", "--confusion")
    assert (found.code, found.err) == (0, "")
    scores = json.loads(corate("eval", graph_model, *given(folder), "--json").text)
    rows = table((folder / "nodes.csv").read_text())
    predicted = table(corate("tag", graph_model, *given(folder), "--quiet").text)
    known = [(row["topic"], own["predicted"]) for row, own in zip(rows, predicted, strict=True) if row["topic"]]
    assert scores["tokens"] == len(known) == 26
    assert scores["accuracy"] == sum(a == b for a, b in known) / len(known)
    assert scores["accuracy_oov"] is None
    for topic in TOPICS:
        own, right = scores["types"][topic], sum(a == b == topic for a, b in known)
        assert (own["support"], own["predicted"]) == tuple(sum(pair[i] == topic for pair in known) for i in (0, 1))
        assert own["recall"] == right / own["support"]
    assert "nodes a second" in found.text
    assert "label   precision   recall       F1  nodes  predicted" in found.text
    for other in ("sentence", "entities", "OOV", "tokens a second"):
        assert other not in found.text
    refused = corate("eval", graph_model, *given(folder), "--errors", "2")
    assert "--errors shows sentences, and the model labels graphs" in refused.err


def test_many_graphs_in_two_files(corate, tmp_path):
    nodes, edges = ["graph,id,word,y"], ["graph,a,b"]
    for g in range(8):
        for i in range(4):
            nodes.append(f"g{g},{i},{'xy'[(i + g) % 2]},{'AB'[(i + g) % 2]}")
            edges += [f"g{g},{i},{i - 1}"] if i else []
    (tmp_path / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (tmp_path / "edges.csv").write_text("\n".join(edges) + "\n")
    trained = corate("train", *given(tmp_path), "--label", "y", "-o", tmp_path / "m.corate")
    assert "8 graphs, 32 nodes, 2 labels" in trained.text
    tagged = table(corate("tag", tmp_path / "m.corate", *given(tmp_path), "--quiet").text)
    assert [row["predicted"] for row in tagged] == [row["y"] for row in tagged]
    explained = corate(
        "explain", tmp_path / "m.corate", "--file", *given(tmp_path), "--sentence", "8", "-t", "3", "--json"
    )
    assert json.loads(explained.text)["label"] == tagged[31]["predicted"]
    missing = corate("explain", tmp_path / "m.corate", "--file", *given(tmp_path), "--sentence", "9")
    assert "has 8 graphs; there is no graph 9" in missing.err


def test_features_of_edges_are_named(corate, folder, graph_model, tmp_path):
    lines = (folder / "edges.csv").read_text().splitlines()
    noted = [f"{lines[0]},weight,note", *(f"{line},{i % 3},see" for i, line in enumerate(lines[1:]))]
    edges = tmp_path / "edges.csv"
    edges.write_text("\n".join(noted) + "\n")
    arguments = (folder / "nodes.csv", "--edges", edges)
    train = ("train", *arguments, "--label", "topic", "-o", tmp_path / "m.corate", "--method", "separate", "--quiet")
    refused = corate(*train)
    assert refused.code == 1
    assert "edges.csv, line 2: column 'note' has 'see', which is not a number" in refused.err
    assert "--edge-numbers" in refused.err
    assert corate(*train, "--edge-numbers", "weight").code == 0
    assert corate("tag", tmp_path / "m.corate", *arguments, "--edge-numbers", "weight", "--quiet").code == 0
    found = corate("tag", tmp_path / "m.corate", *arguments, "--edge-numbers", "", "--quiet")
    assert "0 edge features, but 1 in training" in found.err


def test_info_and_explain(corate, folder, graph_model):
    info = corate("info", graph_model).text
    assert "CSV files of nodes, with the columns word, year, and of edges; the label is topic" in info
    assert f"corate tag {graph_model} nodes.csv --edges edges.csv" in info
    asked = corate("explain", graph_model, "--file", *given(folder), "-t", "5", "--json")
    facts = json.loads(asked.text)
    assert facts["tokens"][5] == "p5"
    assert sum(c["score"] for c in facts["contributions"]) == pytest.approx(facts["difference"], abs=1e-3)
    unsure = corate("explain", graph_model, "--file", *given(folder))
    assert (unsure.code, "(node " in unsure.text) == (0, True)
    scores = table(corate("tag", graph_model, *given(folder), "--scores", "--quiet").text)
    least = min(scores, key=lambda row: float(row["probability"]))["id"]
    assert unsure.text.startswith(f"'{least}' (node ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "NODES", "--edges", "EDGES", "-o", "OUT"), "name it with --label"),
        (("train", "NODES", "--edges", "EDGES", "-o", "OUT", "--label", "nix"), "there is no column 'nix'"),
        (("train", "NODES", "--edges", "nix.csv", "-o", "OUT"), "there is no file 'nix.csv'"),
        (("train", "NODES", "--edges", "tre", "-o", "OUT"), "choose tree, chain"),
        (("train", "NODES", "--edges", "EDGES", "-o", "EDGES", "--label", "topic"), "is the edges file itself"),
        (("train", "NODES", "--edges", "EDGES", "-o", "OUT", "--label", "topic", "--test", "NODES"), "corate eval"),
        (("train", "NODES", "--edges", "EDGES", "-o", "OUT", "--label", "topic", "--skip-bad"), "--skip-bad is for"),
        (("train", "NODES", "--edges", "EDGES", "-o", "OUT", "--label", "topic", "--symmetric", "x"), "'x'"),
        (("train", "NODES", "-o", "OUT", "--symmetric", "x"), "--symmetric"),
        (("train", "NODES", "--edges", "EDGES", "-o", "OUT", "--label", "topic", "--method", "memm"), "'polish'"),
        (("train", "NODES", "--edges", "NODES", "-o", "OUT", "--label", "topic"), "line 2: there is no node 'layer"),
        (("tag", "MODEL", "NODES"), "--edges edges.csv"),
        (("eval", "MODEL", "NODES"), "--edges edges.csv"),
        (("tag", "MODEL", "NODES", "--edges", "chain"), "--edges edges.csv"),
        (("tag", "MODEL", "NODES", "--edges", "EDGES", "--nbest", "2"), "--nbest"),
        (("tag", "MODEL", "NODES", "--edges", "EDGES", "--to", "jsonl"), "written as CSV"),
        (("tag", "MODEL", "NODES", "--edges", "EDGES", "--fixed", "nix"), "has the columns id, word, year, topic"),
        (("explain", "MODEL", "a b"), "name the file of its nodes with --file"),
        (("inspect", "MODEL", "-o", "PAGE"), "use corate info --weights"),
        (("rates", "MODEL"), "use corate info --weights"),
        (("active", "MODEL", "NODES"), "use corate tag --scores"),
    ],
)
def test_errors_name_the_remedy(corate, folder, graph_model, tmp_path, arguments, message):
    places = {"NODES": folder / "nodes.csv", "EDGES": folder / "edges.csv", "MODEL": graph_model}
    places |= {"OUT": tmp_path / "m.corate", "PAGE": tmp_path / "page.html"}
    found = corate(*(places.get(argument, argument) for argument in arguments))
    assert found.code in (1, 2)
    assert message in found.err
    assert "Traceback" not in found.err
    assert not (tmp_path / "m.corate").exists()


def test_models_of_text_refuse_a_file_of_edges(corate, folder, small):
    found = corate("tag", small / "m.corate", *given(folder), "--quiet")
    assert "the model was trained on text without edges" in found.err
    assert corate("eval", small / "m.corate", *given(folder)).code in (1, 2)
