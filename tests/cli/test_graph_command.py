"""``corate graph``: fit, learn, query, sample and draw, on CSV and Parquet files."""

import csv
import io
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from corate.graphs import GraphModel

CSV = "sky,ground,wind\n" + "sun,dry,low\nsun,dry,high\nrain,wet,high\nrain,wet,low\nrain,dry,high\n" * 8


@pytest.fixture
def table(tmp_path):
    (tmp_path / "data.csv").write_text(CSV)
    return tmp_path / "data.csv"


@pytest.fixture
def fitted(corate, table, tmp_path):
    result = corate("graph", "fit", table, "sky-ground sky-wind", "-o", tmp_path / "m.corate")
    assert (result.code, result.err) == (0, "")
    assert "3 variables, 2 edges, treewidth 1" in result.text
    return tmp_path / "m.corate"


def test_a_fitted_model_answers_as_in_python(corate, fitted, table):
    model = GraphModel.fit(str(table), "sky-ground sky-wind")
    in_words = json.loads(corate("graph", "query", fitted, "--given", "sky=rain", "--json").text)
    assert in_words["ground"] == pytest.approx(
        dict(zip(model.states["ground"], model.marginals({"sky": "rain"})["ground"], strict=True))
    )
    shown = corate("graph", "query", fitted, "--given", "sky=rain", "--variables", "ground").text
    assert shown.splitlines()[0].split() == ["variable", "state", "probability"]
    assert len(shown.splitlines()) == 3
    best = json.loads(corate("graph", "query", fitted, "--most-likely", "--given", "ground=wet", "--json").text)
    assert best == model.most_likely({"ground": "wet"})
    cells = json.loads(corate("graph", "query", fitted, "--joint", "--variables", "wind,ground", "--json").text)
    assert [cell[-1] for cell in cells["cells"]] == pytest.approx(model.joint(["wind", "ground"]).ravel(), abs=1e-6)


def test_a_table_of_evidence_gives_a_table_of_answers(corate, fitted, tmp_path):
    (tmp_path / "new.csv").write_text("ground,wind\nwet,\ndry,low\n,\n")
    result = corate("graph", "query", fitted, tmp_path / "new.csv", "--variables", "sky", "-o", tmp_path / "out.csv")
    assert (result.code, result.out) == (0, b"")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    model = GraphModel.load(fitted)
    wanted = model.marginals([{"ground": "wet"}, {"ground": "dry", "wind": "low"}, {}])["sky"]
    assert [[float(row["sky=rain"]), float(row["sky=sun"])] for row in rows] == pytest.approx(wanted)
    best = corate("graph", "query", fitted, tmp_path / "new.csv", "--most-likely").text
    assert best.splitlines()[1].startswith("rain,wet,")


def test_structures_are_learned_from_csv_and_parquet(corate, table, tmp_path):
    in_words = json.loads(corate("graph", "learn", table, "--json").text)
    assert in_words["graph"] == "sky-ground sky-wind"
    assert in_words["edges"][0]["mutual_information"] > in_words["edges"][1]["mutual_information"]
    assert "graph: sky-ground wind" in corate("graph", "learn", table, "--structure", "forest").text
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = list(csv.DictReader(io.StringIO(CSV)))
    parquet.write_table(pyarrow.table({name: [row[name] for row in rows] for name in rows[0]}), tmp_path / "d.parquet")
    facts = json.loads(
        corate("graph", "fit", tmp_path / "d.parquet", "--structure", "chordal", "-o", tmp_path / "m", "--json").text
    )
    assert (facts["variables"], facts["record"]["rows"]) == (3, 40)
    assert corate("graph", "learn", table, "--columns", "sky,wind").text.splitlines()[-1] == "graph: sky-wind"


def test_draws_are_rows_that_can_be_fitted_again(corate, fitted, tmp_path):
    first = corate("graph", "sample", fitted, "-n", 500, "--given", "sky=rain", "--seed", 3).text
    assert first == corate("graph", "sample", fitted, "-n", 500, "--given", "sky=rain", "--seed", 3).text
    rows = list(csv.DictReader(io.StringIO(first)))
    assert len(rows) == 500
    assert {row["sky"] for row in rows} == {"rain"}
    wet = np.mean([row["ground"] == "wet" for row in rows])
    assert wet == pytest.approx(GraphModel.load(fitted).marginals({"sky": "rain"})["ground"][1], abs=0.1)


def test_the_picture_is_xml_with_every_variable(corate, fitted, tmp_path):
    assert corate("graph", "draw", fitted, "-o", tmp_path / "m.svg").code == 0
    picture = ET.parse(tmp_path / "m.svg").getroot()
    texts = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert texts >= {"sky", "ground", "wind", "0.1 nats of mutual information"}
    titles = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert any("sky - ground" in title and "rate" in title for title in titles)


def test_missing_values_and_hidden_variables(corate, tmp_path):
    (tmp_path / "holes.csv").write_text("a,b\n" + "0,0\n1,1\n,1\n0,\n" * 20)
    refused = corate("graph", "fit", tmp_path / "holes.csv", "a-b", "-o", tmp_path / "m")
    assert refused.code == 1
    assert "row 2: the value is missing" in refused.err
    assert "--missing em" in refused.err
    facts = json.loads(
        corate("graph", "fit", tmp_path / "holes.csv", "a-b", "--missing", "em", "-o", tmp_path / "m", "--json").text
    )
    assert facts["record"]["iterations"] > 1
    hidden = corate("graph", "fit", tmp_path / "holes.csv", "h-a h-b", "--hidden", "h=2", "-o", tmp_path / "m")
    assert hidden.code == 0


def test_networks_of_other_programs_are_queried(corate, tmp_path):
    (tmp_path / "net.uai").write_text("MARKOV 2 2 2 1 2 0 1 4 4 1 1 4")
    in_words = json.loads(corate("graph", "query", tmp_path / "net.uai", "--given", "V0=1", "--json").text)
    assert in_words["V1"] == pytest.approx({"0": 0.2, "1": 0.8})


@pytest.mark.parametrize(
    ("arguments", "code", "match"),
    [
        (["fit", "{data}", "-o", "{folder}/x"], 2, "either a graph"),
        (["fit", "{data}", "sky-snow", "-o", "{folder}/x"], 1, "no column 'snow'"),
        (["fit", "{data}", "sky-ground"], 2, "Missing option '--output' / '-o'"),
        (["fit", "{data}", "sky-ground", "-o", ""], 1, "cannot be written"),
        (["fit", "{data}", "sky-ground", "-o", "{folder}/x", "--memory", "100B"], 1, "needs"),
        (["fit", "{data}", "sky-ground", "-o", "{folder}/x", "--memory", "0.1K"], 1, "needs"),
        (["fit", "{folder}/none", "sky-ground", "-o", "{folder}/x", "--memory", "lots"], 1, "such as 500M or 2G"),
        (["query", "{model}", "--memory", "0G"], 1, "such as 500M or 2G"),
        (["query", "{model}", "--memory", "2"], 1, "with a unit (B, K, M, G, T), such as 500M or 2G, not '2'"),
        (["query", "{model}", "--given", "sky=snow"], 1, "no state 'snow'"),
        (["query", "{model}", "--given", "sky"], 2, "sky=rain"),
        (["query", "{model}", "--variables", "snow"], 1, "no node 'snow'"),
        (["query", "{model}", "--joint"], 2, "--variables"),
        (["query", "{folder}/none"], 1, "no such file"),
        (["sample", "{data}"], 1, "not a corate model"),
        (["learn", "{folder}/none.csv"], 1, "none.csv"),
    ],
)
def test_mistakes_are_one_line(corate, fitted, table, tmp_path, arguments, code, match):
    places = {"data": table, "model": fitted, "folder": tmp_path}
    result = corate("graph", *(argument.format(**places) for argument in arguments))
    assert result.code == code
    assert match in result.err


def test_numbers_are_refused_and_divided_into_ranges(corate, tmp_path):
    x = np.random.default_rng(0).normal(size=200).round(3)
    (tmp_path / "d.csv").write_text("x,y,w\n" + "".join(f"{a},{int(a > 0)},2\n" for a in x.tolist()))
    refused = corate("graph", "fit", tmp_path / "d.csv", "x-y", "-o", tmp_path / "m")
    assert refused.code == 1
    assert "with --bins" in refused.err
    made = ["graph", "fit", tmp_path / "d.csv", "x-y", "-o", tmp_path / "m", "--weights", "w", "--json", "--bins"]
    for bins in ("4", "x=4"):
        record = json.loads(corate(*made, bins).text)["record"]
        assert (record["rows"], len(record["bins"]["x"])) == (400, 3)
    in_words = json.loads(corate("graph", "query", tmp_path / "m", "--given", "x=-0.9", "--json").text)
    assert in_words["y"]["0"] > 0.99
    assert "graph: x-y" in corate("graph", "learn", tmp_path / "d.csv", "--bins", "4", "--weights", "w").text
    assert corate(*made, "x=many").code == 2


def test_methods_best_states_and_soft_evidence(corate, table, fitted, tmp_path):
    loop = [table, "sky-ground-wind-sky", "-o", tmp_path / "l", "--json", "--method"]
    assert len(json.loads(corate("graph", "fit", *loop, "conditioning").text)["record"]["cutset"]) == 1
    assert corate("graph", "fit", *loop, "guessing").code == 2
    model = GraphModel.load(fitted)
    best = json.loads(corate("graph", "query", fitted, "--nbest", "3", "--given", "sky=rain", "--json").text)["nbest"]
    assert [(one["states"], one["probability"]) for one in best] == model.nbest(3, {"sky": "rain"})
    shown = corate("graph", "query", fitted, "--nbest", "2", "--variables", "wind").text.splitlines()
    assert shown[0].split() == ["wind", "probability"]
    assert len(shown) == 3
    soft = json.loads(corate("graph", "query", fitted, "--soft", "sky=rain=0.7,sky=sun=0.2", "--json").text)
    wanted = model.marginals({"sky": {"rain": 0.7, "sun": 0.2}})["ground"]
    assert list(soft["ground"].values()) == pytest.approx(wanted.tolist())
    for wrong in ("sky=rain", "sky=snow=1", "moon=full=1", "sky=rain=much"):
        assert corate("graph", "query", fitted, "--soft", wrong).code == 2
    assert corate("graph", "query", fitted, "--nbest", "2", "--most-likely").code == 2


@pytest.mark.parametrize("name", ["m.png", "m.pdf", "m.SVGZ", "m.png.gz"])
def test_a_picture_has_the_suffix_of_its_format(corate, fitted, tmp_path, name):
    refused = corate("graph", "draw", fitted, "-o", tmp_path / name)
    assert refused.code == 2
    assert f"{name}' must end in .svg" in refused.err.replace("\n", "")
    assert not (tmp_path / name).exists()
    for accepted in ("picture", "m.SVG", "m.svg.gz"):
        assert corate("graph", "draw", fitted, "-o", tmp_path / accepted).code == 0
