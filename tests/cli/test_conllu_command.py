"""CoNLL-U and integer labels on the command line."""

import json

import pytest

from formats.test_conllu import TEXT


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_bytes(TEXT)
    return path


def test_the_label_of_training_is_that_of_eval_and_tag(corate, treebank, tmp_path):
    model = tmp_path / "m.corate"
    trained = corate("train", treebank, "-o", model, "--label", "upos+feats", "--test", treebank, "--json")
    assert json.loads(trained.text)["label_source"] == "upos+feats"
    assert json.loads(corate("eval", model, treebank, "--json").text)["accuracy"] == 1.0
    assert json.loads(corate("eval", model, treebank, "--label", "xpos", "--json").text)["accuracy"] == 0.0
    blank = TEXT.replace(b"NOUN", b"_").replace(b"Case=Dat", b"_")
    result = corate("tag", model, "--format", "conllu", stdin=blank)
    assert (result.code, result.out) == (0, TEXT)
    assert corate("tag", model, treebank, "-j", 2).out == TEXT


def test_tag_takes_another_place_and_other_formats(corate, treebank, tmp_path):
    model = tmp_path / "m.corate"
    assert corate("train", treebank, "-o", model, "--quiet").code == 0
    tagged = corate("tag", model, treebank, "--label", "Tag").out
    assert b"\tNER=B-LOC|Ref=7|Tag=ADP\n" in tagged
    assert b"3-4\tzum\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n" in tagged
    assert corate("tag", model, treebank, "--to", "columns").text.startswith("Sie\tPRON\ngeht\tVERB\n")
    made = corate("tag", model, "--format", "text", "--to", "conllu", stdin=b"Sie geht\n").text
    assert made == "1\tSie\t_\tPRON\t_\t_\t_\t_\t_\t_\n2\tgeht\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"


def test_errors(corate, treebank, tmp_path):
    model = tmp_path / "m.corate"
    corate("train", treebank, "-o", model, "--quiet")
    bad = corate("tag", model, "-", "--format", "conllu", stdin=TEXT + b"\nx\n")
    assert bad.code == 1
    assert "standard input, line 14: 1 column, but CoNLL-U has 10" in bad.err
    assert "the label 'PRON' is not UPOS|FEATS" in corate("tag", model, treebank, "--label", "upos+feats").err
    assert corate("tag", model, "--format", "text", "--label", "upos", stdin=b"a\n").code == 2
    wrong = corate("train", treebank, "-o", model, "--label", "Speaker")
    assert "no token has the key 'Speaker' in MISC (keys: Gloss, NER, Ref, SpaceAfter); " in wrong.err
    assert wrong.err.endswith("with --label\n")


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (["--nbest", "2"], "give the text as columns"),
        (["--scores"], "give the text as columns"),
        (["--fixed", "1"], "give the text as columns"),
        (["--constrain", "IOB2"], "write another format"),
        (["--only-sure", "0.5"], "write another format"),
    ],
)
def test_options_that_have_no_place_in_the_format_are_named_with_the_remedy(
    corate, treebank, tmp_path, options, remedy
):
    model = tmp_path / "m.corate"
    corate("train", treebank, "-o", model, "--method", "empirical", "--quiet")
    result = corate("tag", model, treebank, *options)
    assert (result.code, result.out) == (2, b"")
    assert f"Invalid value for {options[0]}: " in result.err
    assert f"omit {'it' if 'give' in remedy else 'this option'}, or {remedy}" in result.err


def test_unsure_labels_are_left_out_of_other_formats(corate, treebank, tmp_path):
    model = tmp_path / "m.corate"
    corate("train", treebank, "-o", model, "--method", "empirical", "--quiet")
    tagged = corate("tag", model, treebank, "--to", "columns", "--only-sure", "1")
    assert (tagged.code, tagged.err) == (0, "")
    assert tagged.text.startswith("Sie\t_\ngeht\t_\n")


def test_integer_labels_have_names(corate, tmp_path):
    text = tmp_path / "a.jsonl"
    text.write_text('{"tokens": ["Ann", "left"], "ner_tags": [1, 0], "pos_tags": [4, 5]}\n', "utf-8")
    (tmp_path / "names.txt").write_text("O\nB-PER\n", "utf-8")
    for names in ("O,B-PER", tmp_path / "names.txt"):
        model = tmp_path / "m.corate"
        given = ("--label", "ner_tags", "--label-names", names)
        assert corate("train", text, "-o", model, *given, "--quiet").code == 0
        assert json.loads(corate("eval", model, text, *given, "--json").text)["accuracy"] == 1.0
    failed = corate("train", text, "-o", model, "--label", "ner_tags")
    assert "give their names with --label-names" in failed.err


def test_case_on_a_tree_from_training_to_tagged_text(corate, treebank, tmp_path):
    model = tmp_path / "m.corate"
    treebank.write_bytes((TEXT + b"\n") * 10)
    options = ("--label", "feats:Case", "--edges", "tree")
    trained = corate("train", treebank, "-o", model, *options, "--test", treebank, "--json")
    found = json.loads(trained.text)
    assert (found["label_source"], found["edge_source"]) == ("feats:Case", "tree")
    assert found["layout"] == ["word", "upos", "deprel", "head.word", "label"]
    assert json.loads(corate("eval", model, treebank, "--json").text)["accuracy"] == 1.0
    assert "the label is feats:Case; the edges are tree" in corate("info", model).text.replace("\n", " ")
    blank = TEXT.replace(b"Case=Nom|", b"").replace(b"Case=Dat", b"_")
    result = corate("tag", model, "--format", "conllu", stdin=blank)
    assert (result.code, result.out) == (0, TEXT)
    assert corate("tag", model, treebank, "--to", "columns").text.startswith("Sie\tPRON\tnsubj\tgeht\tNom\n")


def test_text_without_a_tree_is_refused_with_its_line(corate, treebank, tmp_path):
    model = tmp_path / "m.corate"
    treebank.write_bytes((TEXT + b"\n") * 10)
    corate("train", treebank, "-o", model, "--label", "feats:Case", "--edges", "tree", "--quiet")
    text = TEXT + b"\n1\tAnn" + b"\t_" * 8 + b"\n"
    failed = corate("tag", model, "-", "--format", "conllu", stdin=text)
    assert failed.code == 1
    assert (
        "standard input, line 14: HEAD is _, so there is no tree; parse the text first, or omit --edges" in failed.err
    )
    assert corate("tag", model, "-", "--format", "conllu", stdin=b"# only a comment\n").out == b"# only a comment\n"


def test_documents_are_tagged_as_whole_graphs(corate, treebank, tmp_path):
    document = b"# newdoc\n" + TEXT + b"\n" + TEXT + b"\n"
    text = document * 10
    treebank.write_bytes(text)
    model = tmp_path / "m.corate"
    assert corate("train", treebank, "-o", model, "--edges", "skip:lemma", "--quiet").code == 0
    assert corate("tag", model, treebank).out == text
    rows = corate("tag", model, treebank, "--to", "columns").text.split("\n\n")
    assert len([sentence for sentence in rows if sentence]) == 40


def test_edges_of_column_files(corate, tmp_path):
    text = tmp_path / "a.tsv"
    text.write_text("Ann\tP\nsings\tV\n\nBob\tP\n\n" * 10, "utf-8")
    model = tmp_path / "m.corate"
    trained = corate("train", text, "-o", model, "--edges", "chain+skip:word", "--json")
    assert json.loads(trained.text)["edge_source"] == "chain+skip:word"
    assert json.loads(corate("eval", model, text, "--json").text)["accuracy"] == 1.0
    assert corate("tag", model, "-", "--format", "columns", stdin=b"Ann\nsings\n").text == "Ann\tP\nsings\tV\n\n"
    refused = corate("tag", model, "-", "--format", "columns", "--nbest", 2, stdin=b"Ann\nsings\n")
    assert (refused.code, "with edges" in refused.err) == (2, True)
    wrong = corate("train", text, "-o", model, "--edges", "tree")
    assert "use --format conllu if this is CoNLL-U, or --edges chain" in wrong.err


def test_templates_of_heads_do_not_need_edges(corate, treebank, tmp_path):
    model = tmp_path / "m.corate"
    options = ("--label", "feats:Case", "--columns", "word,upos,deprel,head.word")
    assert corate("train", treebank, "-o", model, *options, "--quiet").code == 0
    blank = TEXT.replace(b"Case=Nom|", b"").replace(b"Case=Dat", b"_")
    result = corate("tag", model, "--format", "conllu", stdin=blank)
    assert (result.code, result.out) == (0, TEXT)
    failed = corate("tag", model, "-", "--format", "conllu", stdin=TEXT + b"\n1\tAnn" + b"\t_" * 8 + b"\n")
    assert "standard input, line 14: HEAD is _, so there is no tree" in failed.err
    assert corate("tag", model, treebank, "--to", "columns").text.startswith("Sie\tPRON\tnsubj\tgeht\tNom\n")
