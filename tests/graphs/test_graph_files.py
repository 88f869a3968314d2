"""Files of other programs: read, written, and refused where they are damaged or hostile."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from corate.errors import ConfigError, CorateError, DataError
from corate.graphs import GraphModel
from reference.graphs import random_factors

SURVEY = """\
network unknown { property version 1; }
// a comment
variable A { type discrete [ 3 ] { young, adult, old/er }; }
variable B { type discrete [ 2 ] { "yes sir", no }; property x = y ; }
variable C { type discrete [ 2 ] { <5, 5+ }; }
probability ( A ) { table 0.3, 0.5, 0.2; }
/* two
   lines */
probability ( B | A ) {
  (young) 0.75, 0.25;
  (old/er) 0.9, 0.1;
  (adult) 0.72, 0.28;
}
probability ( C | B, A ) {
  default 0.5, 0.5;
  ("yes sir", old/er) 0.1, 0.9;
}
"""


def test_a_bayesian_network_is_the_product_of_its_tables() -> None:
    model = GraphModel.read(SURVEY.encode(), "bif")
    assert model.log_z == pytest.approx(0, abs=1e-12)
    assert model.states["A"] == ("young", "adult", "old/er")
    assert model.marginals({"A": "old/er"})["B"] == pytest.approx([0.9, 0.1])
    assert model.joint(["A", "B", "C"])[2, 0, 1] == pytest.approx(0.2 * 0.9 * 0.9)


def test_a_whole_table_has_the_childs_states_slowest() -> None:
    text = SURVEY.replace(
        "(young) 0.75, 0.25;\n  (old/er) 0.9, 0.1;\n  (adult) 0.72, 0.28;", "table .75, .72, .9, .25, .28, .1;"
    )
    assert GraphModel.read(text.encode(), "bif").marginals({"A": "adult"})["B"] == pytest.approx([0.72, 0.28])


@pytest.mark.parametrize("format", ["bif", "uai", "xdsl"])
def test_what_is_written_is_read_back(format: str, tmp_path) -> None:
    path = tmp_path / f"model.{format}.gz"
    for seed in (0, 1, 3, 4, 5):
        names, sizes, factors = random_factors(seed)
        model = GraphModel.from_factors(
            factors, {name: range(size) for name, size in sizes.items()}, graph=" ".join(names)
        )
        model.write(path)
        again = GraphModel.read(path)
        found, wanted = again.marginals(), model.marginals()
        for read, name in zip(again.variables if format == "uai" else names, names, strict=True):
            assert found[read] == pytest.approx(wanted[name], abs=1e-9)
        assert again.entropy() == pytest.approx(model.entropy(), abs=1e-8)
    network = GraphModel.read(SURVEY.encode(), "bif")
    network.write(path)
    assert gzip.decompress(path.read_bytes())
    again = GraphModel.read(path)
    assert again.log_z == pytest.approx(0, abs=1e-12)
    if format != "uai":
        assert again.states == network.states
        assert set(again.graph.edges) == set(network.graph.edges)


def test_every_truncated_file_is_an_error_or_a_whole_network(tmp_path) -> None:
    model = GraphModel.read(SURVEY.encode(), "bif")
    for format in ("bif", "uai", "xdsl"):
        path = tmp_path / f"whole.{format}"
        model.write(path, format)
        text = path.read_bytes().rstrip()
        for stop in range(0, len(text) - 1, 7):
            try:
                found = GraphModel.read(text[:stop], format)
            except CorateError:
                continue
            assert (format, found.variables) == ("uai", ("V0", "V1", "V2")), stop  # only the last number is cut


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (("( B | A )", "( B | C )"), "line 9: .* has a cycle|cycle: "),
        (("[ 3 ]", "[ 4 ]"), "line 3: A needs 4 different states"),
        (("(young) 0.75, 0.25;", "(young) 0.75;"), "has 1 number; it needs 2"),
        (("(young) 0.75, 0.25;", ""), "has 2 rows; it needs 3"),
        (("(young) 0.75, 0.25;", "(old) 0.75, 0.25;"), r"line 10: \(old\) are no states of A"),
        (("0.75, 0.25", "0.75, -0.25"), "line 10: a probability is negative"),
        (("0.75, 0.25", "0.75, x"), "line 10: a probability is not a number"),
        (("0.75, 0.25", "0.75, 0.95"), "given A=young sum to 1.7"),
        (("probability ( A )", "probability ( D )"), "names D, which is not declared"),
        (("probability ( A )", "gibberish ( A )"), "line 6: network, variable or probability"),
        (("variable C", "variable A"), "declared twice"),
        (("probability ( A ) { table 0.3, 0.5, 0.2; }", ""), "A has no probabilities"),
    ],
)
def test_bif_files_with_mistakes(change: tuple[str, str], match: str) -> None:
    text = SURVEY.replace(*change)
    if change[1] == "( B | C )":
        text = text.replace("(young) 0.75", "(<5) 0.75").replace(
            "(old/er) 0.9, 0.1;\n  (adult) 0.72, 0.28", "(5+) 0.9, 0.1"
        )
    with pytest.raises(DataError, match=match):
        GraphModel.read(text.encode(), "bif")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "is empty"),
        ("HELLO 1", "MARKOV or BAYES"),
        ("MARKOV 2 2", "the number of states of V1"),
        ("MARKOV 1 0", "the number of states of V0 is '0'"),
        ("MARKOV 99999999999999999999", "the number of variables"),
        ("MARKOV 2 2 2 1 2 0 5", "a variable of factor 0"),
        ("MARKOV 2 2 2 1 2 0 0 4 1 1 1 1", "twice"),
        ("MARKOV 2 100000 100000 1 2 0 1 10000000000 1 1", "needs 10,000,000,000 values, and the file ends"),
        ("MARKOV 1 2 1 1 0 3 1 1 1", "has 3 values; its variables have 2"),
        ("MARKOV 1 2 1 1 0 2 1 x", "not a number"),
        ("MARKOV 1 2 1 1 0 2 1 nan", "not finite"),
        ("MARKOV 1 2 1 1 0 2 1 -1", "negative"),
        ("MARKOV 1 2 1 1 0 2 1 1 7", "1 number after the last factor"),
        ("MARKOV 40 " + "2 " * 40 + "1 40 " + " ".join(map(str, range(40))) + f" {2**40} 1", "the file ends"),
    ],
)
def test_uai_files_with_mistakes(text: str, match: str) -> None:
    with pytest.raises(DataError, match=match):
        GraphModel.read(text.encode(), "uai")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("<smile>", "not valid XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><smile>&a;</smile>', "entities are not allowed"),
        ("<smile></smile>", "no variables"),
        ("<smile><nodes><cpt><state id='a'/></cpt></nodes></smile>", "the id is missing"),
        ("<smile><nodes><noisymax id='A'/></nodes></smile>", "'noisymax' has no table"),
        (
            "<smile><nodes><cpt id='A'><state id='a'/><probabilities>1 1</probabilities></cpt></nodes></smile>",
            "has 2 numbers",
        ),
        (
            "<smile><cpt id='A'><state id='a'/><parents>B</parents><probabilities>1</probabilities></cpt></smile>",
            "parent B, which is no node",
        ),
    ],
)
def test_xdsl_files_with_mistakes(text: str, match: str) -> None:
    with pytest.raises(DataError, match=match):
        GraphModel.read(text.encode(), "xdsl")


def test_formats_are_named(tmp_path) -> None:
    with pytest.raises(DataError, match="not clear from the name; give it: bif, uai, xdsl"):
        GraphModel.read(b"MARKOV")
    with pytest.raises(ConfigError, match="unknown format 'net'"):
        GraphModel.read(b"MARKOV", "net")
    with pytest.raises((DataError, OSError), match=r"missing\.bif"):
        GraphModel.read(tmp_path / "missing.bif")


def test_pyagrum_has_the_same_distribution() -> None:
    pyagrum = pytest.importorskip("pyagrum")
    for seed in (0, 1, 3, 7, 8, 9):
        names, sizes, factors = random_factors(seed, most=8)
        model = GraphModel.from_factors(
            factors, {name: range(size) for name, size in sizes.items()}, graph=" ".join(names)
        )
        network = model.to_pyagrum()
        inference = pyagrum.LazyPropagation(network)
        inference.makeInference()
        for name in names:
            assert inference.posterior(name).toarray().ravel() == pytest.approx(model.marginals()[name], abs=1e-9)
        back = GraphModel.from_pyagrum(network)
        for name in names:
            assert back.marginals()[name] == pytest.approx(model.marginals()[name], abs=1e-9)


def test_networkx_has_the_mutual_information_of_edges() -> None:
    found = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]])]).to_networkx()
    p = np.array([0.4, 0.1, 0.1, 0.4])
    assert found.edges["A", "B"]["mutual_information"] == pytest.approx(float((p * np.log(p / 0.25)).sum()))
    assert found.nodes["A"]["states"] == (0, 1)
