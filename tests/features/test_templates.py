"""The template language: it reads what it writes, says where a fault is, and binds to a corpus's columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.errors import FeatureError
from corate.features.lexicons import Lexicon
from corate.features.templates import Atom, Template, lexicons_of, load_templates, parse, parse_list
from corate.features.word_functions import FUNCTIONS, WordFunction

TEXTS = st.one_of(st.text(min_size=1, max_size=6), st.text('a ,)("|\\#[]', min_size=1, max_size=6))
COLUMNS = st.one_of(st.sampled_from(["word", "pos", "edge", "bias", "in", "lower", "#0", "a.b-c"]), TEXTS)
LEXICON = Lexicon.of("any", {"a": "1"})


class AnyLexicon(dict[str, Lexicon]):
    """Has every lexicon that is asked for."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Lexicon:
        return LEXICON


@st.composite
def functions(draw: st.DrawFn) -> WordFunction:
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    takes = FUNCTIONS[name][1]
    if takes == "file":
        return WordFunction(name, draw(st.integers(0, 1)), draw(TEXTS), LEXICON)
    number = draw(st.integers(0 if takes == "count?" else 1, 12)) if takes.startswith("count") else 0
    return WordFunction(name, number, draw(TEXTS) if takes == "text" else "")


@st.composite
def templates(draw: st.DrawFn) -> Template:
    legal = COLUMNS.filter(lambda c: c == "#0" or not (c[0] == "#" or any(x.isspace() or x in '()[]|,:"' for x in c)))
    atoms = st.builds(Atom, functions(), legal, st.integers(-8, 8))
    return Template(tuple(draw(st.lists(atoms, max_size=8))), draw(st.booleans()))


@given(template=templates())
def test_a_template_reads_back_as_it_was_written(template):
    assert parse(str(template), lexicons=AnyLexicon()) == template


@given(written=st.lists(templates(), max_size=4))
def test_a_list_of_templates_reads_back_line_by_line(written):
    lines = [line for t in written for line in ("# a comment", str(t), "")]
    assert list(parse_list(lines, lexicons=AnyLexicon())) == written


@pytest.mark.parametrize(
    "text",
    """\
    word[0]
    lower(word[-1])
    suffix(word[0], 3)
    ends_with(word[0], ing)
    starts_with(word[0], ",")
    length(word[0])
    length(word[0], 10)
    word[-1]|word[0]
    #0[-2]|#1[0]
    edge[0]|in[1]
    edge
    edge: word[0]
    edge: lower(word[-1])|pos[0]
    bias""".splitlines(),
)
def test_plain_forms_are_written_as_they_are_read(text):
    assert str(parse(text)) == text.strip()


def test_space_and_signs_make_no_difference():
    assert parse("  suffix ( word [ +1 ] , 3 ) | pos[ -1 ]  ") == parse("suffix(word[1], 3)|pos[-1]")
    assert parse("edge : word[0]") == parse("edge: word[0]")


def test_parts_of_a_template():
    template = parse("edge: word[-1]|suffix(pos[0], 2)|word[0]")
    assert template.edge
    assert template.columns == ("word", "pos")
    assert template.atoms[1] == Atom(WordFunction("suffix", 2), "pos", 0)


@pytest.mark.parametrize(
    ("text", "caret", "message"),
    [
        ("sufix(word[0], 3)", 0, "did you mean 'suffix'.*functions: .*shape"),
        ("word[0]|sufix(word[0], 3)", 8, "did you mean 'suffix'"),
        ("identity(word[0])", 0, "unknown function"),
        ("word", 4, r"expected an offset after the column word, such as word\[0\]"),
        ("word[x]", 5, "expected an offset: 0"),
        ("word[0", 6, r"expected \]"),
        ("word[9]", 5, "offset 9 is out of range"),
        ("lower(word[-99])", 11, "out of range"),
        ("word[0]|", 8, "expected a column"),
        ("word[0] pos[0]", 8, "expected | and another"),
        ("", 0, "expected a column"),
        ("edge:", 5, "expected a column"),
        ("suffix(word[0])", 14, "takes a count"),
        ("suffix(word[0], 0)", 16, "1 or more"),
        ("suffix(word[0], x)", 16, "1 or more"),
        ("lower(word[0], 2)", 13, r"expected \)"),
        ("lower[0]|lower", 14, r"expected \( after the function lower"),
        ("ends_with(word[0], )", 19, "expected a text"),
        ("ends_with(word[0], ing", 22, r"expected \)"),
        ("in(word[0], no-such-file.txt)", 12, "cannot read no-such-file.txt"),
        ("|".join(["word[0]"] * 9), 0, "at most 8 parts"),
    ],
)
def test_faults_are_shown_with_a_caret_under_them(text, caret, message):
    with pytest.raises(FeatureError, match=message) as caught:
        parse(text)
    shown, pointer = str(caught.value).splitlines()[-2:]
    assert shown == f"  {text}"
    assert pointer == " " * (caret + 2) + "^"


def test_in_a_list_the_fault_has_its_line():
    with pytest.raises(FeatureError, match=r"^mine.txt, line 3: expected an offset"):
        parse_list(["# first", "word[0]", "word"], source="mine.txt")
    with pytest.raises(FeatureError, match=r"^template 2: expected an offset"):
        parse_list(["word[0]", "word"])


def test_comments_stand_alone_or_after_a_template():
    lines = [
        "# words",
        "",
        "word[0] # this one",
        'ends_with(word[0], "a # b")',
        "#0[0]",
        "edge # pairs",
        "#1 is no template",
    ]
    expected = ["word[0]", "ends_with(word[0], a # b)", "#0[0]", "edge"]
    assert [str(t) for t in parse_list(lines)] == expected


def test_binding_names_numbered_columns_and_checks_the_others():
    assert str(parse("#1[0]|shape(#0[1])|pos[2]").bind(["word", "pos"])) == "pos[0]|shape(word[1])|pos[2]"
    with pytest.raises(FeatureError, match=r"needs column number 2, but the data has 2, counted from 0: word, pos"):
        parse("#2[0]").bind(["word", "pos"])
    with pytest.raises(FeatureError, match=r"unknown column 'pso'; did you mean 'pos'. columns: word, pos") as caught:
        parse("word[0]|pso[0]").bind(["word", "pos"])
    assert str(caught.value).splitlines()[-1] == " " * 10 + "^"


def test_word_lists_and_classes_are_read_beside_the_template_file(tmp_path):
    (tmp_path / "names.txt").write_text("Ann\n\n  Bob \n", encoding="utf-8")
    (tmp_path / "groups.tsv").write_bytes("\ufeffrun\tNN\r\nrun\tVB\r\nNew York\tplace\r\n".encode())
    (tmp_path / "mine.txt").write_text(
        "in(word[0], names.txt)\nmap(word[0], groups.tsv)\nin(word[-1], names.txt, lower)\nin(word[1], names.txt)\n"
    )
    templates = load_templates(tmp_path / "mine.txt")
    names, groups, any_case, again = (t.atoms[0].function.table for t in templates)
    assert (names.get("Ann"), names.get("Bob"), names.get("ann")) == ("1", "1", None)
    assert (groups.get("run"), groups.get("New York")) == ("NN+VB", "place")
    assert (any_case.get("ann"), any_case.get("Ann")) == ("1", "1")
    assert again is names
    held = lexicons_of(templates)
    assert parse_list([str(t) for t in templates], lexicons=held) == templates
    with pytest.raises(FeatureError, match="no lexicon 'in /etc/passwd'"):
        parse("in(word[0], /etc/passwd)", lexicons=held)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b\nc\n", r"bad.tsv, line 2: 'c' does not have two columns"),
        (b"a\tb\tc\n", "line 1"),
        (b"a\t\n", "line 1"),
        (b"a b\n\xff\xfe b\n", "not UTF-8"),
        (b"\n\n", "has no words"),
    ],
)
def test_bad_lexicons_are_refused_with_file_and_line(tmp_path, content, message):
    (tmp_path / "bad.tsv").write_bytes(content)
    with pytest.raises(FeatureError, match=message):
        parse("map(word[0], bad.tsv)", folder=tmp_path)


def test_template_files_that_cannot_be_used(tmp_path):
    with pytest.raises(FeatureError, match="cannot read the template file"):
        load_templates(tmp_path)
    with pytest.raises(FeatureError, match="cannot read the template file"):
        load_templates(tmp_path / "none.txt")
    (tmp_path / "empty.txt").write_text("# nothing\n")
    with pytest.raises(FeatureError, match="has no templates"):
        load_templates(tmp_path / "empty.txt")
    (tmp_path / "latin.txt").write_bytes(b"ends_with(word[0], \xe9)\n")
    with pytest.raises(FeatureError, match="not UTF-8"):
        load_templates(tmp_path / "latin.txt")
    (tmp_path / "wrong.txt").write_text("word[0]\nwrd(word[0])\n")
    with pytest.raises(FeatureError, match=r"wrong.txt, line 2: unknown function 'wrd'"):
        load_templates(tmp_path / "wrong.txt")


@pytest.mark.parametrize("template", ["map(word[0], /dev/zero)", "in(word[0], /dev/zero)"])
def test_endless_devices_are_refused(template):
    with pytest.raises(FeatureError, match=r"/dev/zero: it is a device; name a file"):
        parse(template)
    with pytest.raises(FeatureError, match=r"/dev/zero: it is a device; name a file"):
        load_templates("/dev/zero")
