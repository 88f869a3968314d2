"""``corate derive``: derivations as text, LaTeX, pages and JSON, checked if wanted."""

import json

import pytest

from corate.cli.derive import _FORMS
from corate.rate import FORMS, factorise, parse, product


def test_the_derivation_is_printed(corate):
    result = corate("derive", "A-B B-C C-D")
    assert (result.code, result.err) == (0, "")
    assert result.text == f"{factorise('A-B B-C C-D').derivation}\n"
    assert result.text.endswith("first CIT: {C} and {A} are independent given {B}\n")


def test_every_form_of_the_library_can_be_asked_for_and_checked(corate):
    assert _FORMS == FORMS
    for form in FORMS:
        result = corate("derive", "A-B B-C", "--form", form, "--check")
        assert (result.code, result.err) == (0, "")
        assert result.text.startswith("P(A, B, C)\n  = ")
        assert "steps; largest difference" in result.text.splitlines()[-1]


def test_latex_and_pages(corate):
    derivation = factorise("A-B B-C", "mrf").derivation
    assert corate("derive", "A-B B-C", "--form", "mrf", "--latex").text == derivation.latex() + "\n"
    assert corate("derive", "A-B B-C", "--form", "mrf", "--html").text == derivation.html() + "\n"
    assert "\n% no error in 3 steps" in corate("derive", "A-B B-C", "--latex", "--check").text
    for two in (["--latex", "--html"], ["--latex", "--json"], ["--html", "--json"]):
        assert corate("derive", "A-B", *two).code == 2


@pytest.mark.parametrize("form", FORMS[1:])
def test_json_has_steps_factors_and_the_check(corate, form):
    result = corate("derive", "A-B B-C", "--form", form, "--given", "X", "--check", "--json")
    assert (result.code, result.err) == (0, "")
    in_words, found = json.loads(result.text), factorise("A-B B-C", form, given=["X"])
    assert (in_words["form"], in_words["given"], in_words["added_edges"]) == (form, ["X"], [])
    assert parse(in_words["start"]) == found.derivation.start
    lines = [(expression, step.theorem, step.using) for expression, step in found.derivation.lines() if step]
    assert [(parse(step["result"]), step["theorem"], step["using"]) for step in in_words["steps"]] == lines
    assert product(*map(parse, in_words["factors"])) == found.expression
    assert in_words["check"]["holds"] is True
    assert in_words["check"]["largest_difference"] < 1e-9
    assert in_words["check"]["failed_steps"] == []


def test_json_tells_the_edges_of_a_triangulation_and_goes_to_a_file(corate, tmp_path):
    result = corate("derive", "A-B B-C C-D D-A", "--json", "-o", tmp_path / "out.json")
    assert (result.code, result.out) == (0, b"")
    in_words = json.loads((tmp_path / "out.json").read_text())
    assert (in_words["added_edges"], in_words["check"]) == ([["A", "C"]], None)


def test_the_configuration_of_a_random_field_can_be_chosen(corate):
    chosen = {"sky": "sun", "AB": 1}
    text = corate("derive", "sky-{AB} {AB}-C", "--form", "mrf", "--configuration", "sky=sun, AB=1", "--check").text
    derivation = factorise("sky-{AB} {AB}-C", "mrf", configuration=chosen).derivation
    assert text.startswith(f"{derivation}\n")
    assert "CR(sky=sun; {AB}=1; C=0)" in text
    assert "no error in" in text.splitlines()[-1]
    in_words = json.loads(corate("derive", "A-B", "--form", "mrf", "--configuration", "A=1", "--json").text)
    assert in_words["configuration"] == {"A": 1}


def test_variables_may_be_given(corate):
    assert corate("derive", "Y1-Y2", "--given", "X,Z").text.startswith("P(Y1, Y2 | X, Z)\n")
    assert corate("derive", "Y1-Y2", "--given", "X Z").text.startswith("P(Y1, Y2 | X, Z)\n")


def test_a_triangulation_is_told(corate):
    assert corate("derive", "A-B B-C C-D D-A").text.endswith("\ntriangulated with A-C\n")
    assert "triangulated" not in corate("derive", "A-B B-C C-A").text


def test_output_goes_to_a_file(corate, tmp_path):
    result = corate("derive", "A-B", "-o", tmp_path / "out.txt")
    assert (result.code, result.out) == (0, b"")
    assert (tmp_path / "out.txt").read_text().startswith("P(A, B)\n")


@pytest.mark.parametrize(
    ("arguments", "in_words"),
    [
        (["A-A"], "A has an edge to itself"),
        ([""], "empty"),
        (["A-B-"], "'A-B-' is not an edge"),
        (["A-B B-C C-A", "--form", "chain"], "has a loop"),
        (["-".join(f"X{i}" for i in range(20)), "--form", "mrf"], "at most 10"),
        (["A-B", "--given", "{"], "'{' is not a variable"),
        (["A-B", "--configuration", "A=1"], "a configuration is for the form mrf"),
        (["A-B", "--form", "tree", "--configuration", "A=1"], "a configuration is for the form mrf"),
        (["A-B", "--form", "mrf", "--configuration", "C=1"], "no node 'C'"),
        (["A-B", "--form", "mrf", "--given", "B", "--configuration", "B=1"], "no node 'B'"),
        (["A-B", "--form", "mrf", "--configuration", "A"], "give A one value, such as A=0"),
        (["A-B", "--form", "mrf", "--configuration", "A=0,A=1"], "give A one value"),
    ],
)
def test_graphs_that_cannot_be_derived_end_with_one_line(corate, arguments, in_words):
    result = corate("derive", *arguments)
    assert (result.code, result.out) == (1, b"")
    assert in_words in result.err
    assert result.err.count("\n") == 1


def test_an_unknown_form_is_wrong_usage(corate):
    assert corate("derive", "A-B", "--form", "ring").code == 2


def test_help_has_examples(corate):
    assert '  corate derive "A-B B-C C-D"' in corate("derive", "--help").text


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.PDF"])
def test_a_derivation_is_no_picture(corate, tmp_path, name):
    refused = corate("derive", "A-B", "-o", tmp_path / name)
    assert (refused.code, f"must not end in {name[1:].lower()}" in refused.err) == (2, True)
    assert not (tmp_path / name).exists()
    assert corate("derive", "A-B", "--html", "-o", tmp_path / "a.html").code == 0
