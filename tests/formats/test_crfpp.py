"""CRF++ template files are taken as they are."""

from __future__ import annotations

import pytest

from corate.errors import FeatureError
from corate.features.templates import load_templates
from corate.formats.crfpp import is_crfpp, parse_line

TEMPLATE = """\
# Unigram
U00:%x[-2,0]
U01:%x[0,0]
U10:%x[-1,0]/%x[0,0]

U22:%x[0,1]/%x[1,1]/%x[2,1]
U

# Bigram
B
B01:%x[0,0]
"""


@pytest.fixture
def load(tmp_path):
    def load_text(text: str):
        path = tmp_path / "template"
        path.write_text(text, encoding="utf-8")
        return load_templates(path)

    return load_text


def test_lines_become_templates_over_numbered_columns(load):
    templates = load(TEMPLATE)
    assert [str(t) for t in templates] == [
        "#0[-2]",
        "#0[0]",
        "#0[-1]|#0[0]",
        "#1[0]|#1[1]|#1[2]",
        "bias",
        "edge",
        "edge: #0[0]",
    ]
    assert templates[2].name == "U10:%x[-1,0]/%x[0,0]"
    assert str(templates[3].bind(["word", "pos"])) == "pos[0]|pos[1]|pos[2]"


def test_a_column_that_the_corpus_lacks_is_named_with_the_line(load):
    with pytest.raises(FeatureError, match=r"'U22:%x\[0,1\].*needs column number 1, but the data has 1"):
        load(TEMPLATE)[3].bind(["word"])


@pytest.mark.parametrize(
    ("line", "message", "caret"),
    [
        ("U01:%x[0]", "a macro is written", 4),
        ("U01:%x[0,0]/%y[0,1]", "a macro is written", 12),
        ("U01:%x[0,-1]", "a macro is written", 4),
        ("X01:%x[0,0]", "begins with U", 0),
    ],
)
def test_faults_have_file_line_and_caret(load, line, message, caret):
    with pytest.raises(FeatureError, match=rf"template, line 3: .*{message}") as caught:
        load(f"U00:%x[0,0]\n\n{line}\n")
    shown, pointer = str(caught.value).splitlines()[-2:]
    assert (shown, pointer) == (f"  {line}", " " * (caret + 2) + "^")


def test_limits_are_named_with_the_line(load):
    with pytest.raises(FeatureError, match=r"line 2: the offset -9 is out of range"):
        load("U00:%x[0,0]\nU01:%x[-9,0]\n")
    with pytest.raises(FeatureError, match=r"line 1: a template has at most 8 parts"):
        load("U00:" + "/".join(["%x[0,0]"] * 9))


def test_crfpp_files_are_told_from_lists_of_templates():
    assert is_crfpp(["B"])
    assert is_crfpp(["U00:%x[0,0]", "junk"])
    assert not is_crfpp(["U[0]", "B[-1]|U[0]"])
    assert not is_crfpp(["# U00:%x[0,0]", "word[0]"])


def test_text_between_macros_is_kept_in_the_name_only():
    line = parse_line("U05:left=%x[-1,0] right=%x[1,0]")
    assert line.cells == ((-1, 0), (1, 0))
    assert line.text == "U05:left=%x[-1,0] right=%x[1,0]"
