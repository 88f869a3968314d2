"""Edges from text: dependency trees, neighbours and equal values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import DataError
from formats.test_conllu import FILES, TEXT
from real_corpora import real_file

#: The edges of the first sentence of TEXT, whose multiword token and empty node are left out.
SIE = [
    ("case before head", 4, 2),
    ("det before head", 4, 3),
    ("nsubj before head", 1, 0),
    ("obl after head", 1, 4),
]


def edges_of(corpus, graph=0):
    """The edges of a graph: (type, left, right)."""
    own = corpus[graph]
    return sorted((edges.type, a, b) for edges in own.edges for a, b in zip(edges.left, edges.right, strict=True))


def rows(*heads, ids=None):
    """A sentence of CoNLL-U with these heads."""
    numbers = ids or range(1, len(heads) + 1)
    fields = (f"{i}\tw{i}\tl\tX\t_\t_\t{head}\tdep\t_\t_\n" for i, head in zip(numbers, heads, strict=True))
    return "".join(fields) + "\n"


def test_the_edges_of_a_tree_go_from_the_head_to_the_dependent():
    corpus = corate.read(TEXT, edges="tree")
    assert edges_of(corpus) == SIE
    assert edges_of(corpus, 1) == []
    assert (len(corpus), corpus.edge_source) == (2, "tree")
    assert not any(edges.symmetric for edges in corpus.edges)


def test_a_subtype_is_a_type_of_its_own():
    text = TEXT.replace(b"nsubj", b"nsubj:pass")
    assert "nsubj:pass before head" in {edges.type for edges in corate.read(text, edges="tree").edges}


def test_neighbours_are_joined_within_a_sentence():
    corpus = corate.read(TEXT + b"2\there" + b"\t_" * 8, edges="chain")
    assert edges_of(corpus) == [("next", i, i + 1) for i in range(4)]
    assert edges_of(corpus, 1) == [("next", 0, 1)]


def test_equal_values_are_joined_to_the_next_one():
    text = b"a X\nb X\na Y\na Y\n\nb X\na Y\n"
    corpus = corate.read(text, edges="skip:word")
    assert edges_of(corpus) == [("skip:word", 0, 2), ("skip:word", 2, 3)]
    assert edges_of(corpus, 1) == []
    assert corpus.edges[0].symmetric


def test_a_column_that_is_not_a_feature_can_have_the_equal_values():
    corpus = corate.read(TEXT, label="xpos", edges="skip:feats")
    assert [column.name for column in corpus.columns] == ["word"]
    assert edges_of(corpus) == [("skip:feats", 3, 4)]  # the empty FEATS are not joined


def test_equal_values_are_joined_within_a_document():
    a, b = rows(0, 1), rows(0)
    text = (a + b + "# newdoc id = 2\n" + b + "# newdoc\n# sent_id = 9\n" + a + b).encode()
    corpus = corate.read(text, edges="skip:word", format="conllu")
    assert np.diff(corpus.offsets).tolist() == [3, 1, 3]
    assert [edges_of(corpus, i) for i in range(3)] == [[("skip:word", 0, 2)], [], [("skip:word", 0, 2)]]
    with_all = corate.read(text, edges="tree+chain+skip:word", format="conllu")
    assert edges_of(with_all, 2) == [("dep after head", 0, 1), ("next", 0, 1), ("skip:word", 0, 2)]
    assert len(corate.read(text, edges="tree", format="conllu")) == 5


def test_several_kinds_of_edges_are_read_together():
    corpus = corate.read(TEXT, edges="tree+chain")
    assert edges_of(corpus) == sorted(SIE + [("next", i, i + 1) for i in range(4)])


def test_edges_follow_their_sentences():
    corpus = corate.read(TEXT + b"\n" + TEXT, edges="tree")
    assert edges_of(corpus.take([1, 2])[1]) == SIE
    joined = corate.Corpus.joined([corpus[1], corpus[0]])
    assert (edges_of(joined, 1), joined.edge_source) == (SIE, "tree")


@pytest.mark.parametrize("format", ["columns", "slashed", "jsonl"])
def test_other_formats_have_neighbours_and_equal_values(format):
    import io

    out = io.BytesIO()
    corate.write(corate.read(b"a X\nb Y\na X\n"), out, format=format)
    corpus = corate.read(out.getvalue(), format=format, edges="chain+skip:word")
    assert edges_of(corpus) == [("next", 0, 1), ("next", 1, 2), ("skip:word", 0, 2)]


def test_the_columns_of_heads_are_read_with_a_tree():
    corpus = corate.read(TEXT, label="xpos", edges="tree")
    assert [column.name for column in corpus.columns] == ["word", "upos", "deprel", "head.word"]
    assert corpus.rows(0) == [
        ("Sie", "PRON", "nsubj", "geht"),
        ("geht", "VERB", "root", "_"),
        ("zu", "ADP", "case", "Haus"),
        ("dem", "DET", "det", "Haus"),
        ("Haus", "NOUN", "obl", "geht"),
    ]
    assert [c.name for c in corate.read(TEXT, edges="tree").columns] == ["word", "deprel", "head.word"]


def test_columns_of_heads_can_be_named_without_edges():
    corpus = corate.read(TEXT, columns="word,head.lemma,head", label="upos")
    assert corpus.edges is None
    assert corpus.rows(0)[:2] == [("Sie", "gehen", "2"), ("geht", "_", "0")]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            rows(0, "_"),
            {"edges": "tree"},
            "line 2: HEAD is _, so there is no tree; parse the text first, or omit",
        ),
        (rows(0, "x"), {"edges": "tree"}, "line 2: HEAD is 'x', which is not a number; write the ID of the head"),
        (rows(0, -1), {"edges": "tree"}, "line 2: HEAD is '-1', which is not a number"),
        (rows(0, "1.1"), {"edges": "tree"}, "line 2: HEAD is '1.1', which is not a number"),
        (rows(0) + rows(0, 3), {"edges": "tree"}, "line 4: HEAD is 3, but the sentence has the tokens 1 to 2"),
        (rows(0, 9, ids=[1, 4]), {"edges": "tree"}, "line 2: HEAD is 9, but the sentence has the tokens 1 to 4"),
        (rows(0, 1, ids=[1, 1]), {"edges": "tree"}, "line 2: the sentence has two tokens with the ID 1"),
        (rows(0, 2), {"edges": "tree"}, "line 2: the token 2 is its own head; a cycle is not a tree"),
        (rows(2, 3, 1, 0), {"edges": "tree"}, "line 1: the heads of the tokens 1, 2, 3 form a cycle; a cycle is not"),
        ("# c\n" + rows(2, 0) + "# c\n" + rows(0, 3, 2, 3), {"edges": "tree"}, "line 7: .* 2, 3 form a cycle"),
        (rows(0, "_"), {"columns": "word,head.word"}, "line 2: HEAD is _"),
        (rows(0), {"edges": "trees"}, "'trees' does not name edges; choose tree, chain, skip:COLUMN"),
        (rows(0), {"edges": "skip:"}, "'skip:' does not name edges"),
        (rows(0), {"edges": "skip:tag"}, "CoNLL-U has no column 'tag'; name some of id, .* with edges="),
        (rows(0), {"edges": ("tree",)}, "edges= must be a text such as 'tree', not a tuple"),
        (rows(0), {"edges": "skip:upos"}, r"edges='skip:upos' reads the labels \(upos\)"),
        (rows(0), {"edges": "tree", "label": "deprel"}, r"edges='tree' reads the labels \(deprel\)"),
        (rows(0), {"columns": "word,head.upos"}, "the column 'head.upos' contains the labels"),
        (rows(0), {"columns": "word,head.tag"}, "CoNLL-U has no column 'tag'"),
        ("a X\n", {"format": "columns", "edges": "tree"}, "the heads of a tree are in the columns HEAD and DEPREL"),
        ("a X\n", {"format": "columns", "edges": "skip:lemma"}, "no column 'lemma' in the data"),
    ],
)
def test_errors_name_the_line_and_the_remedy(text, options, message):
    with pytest.raises(DataError, match=message):
        corate.read(text.encode(), **{"format": "conllu", **options})


def test_ids_may_have_gaps():
    corpus = corate.read(rows(7, 0, 2, ids=[2, 7, 9]).encode(), format="conllu", edges="tree")
    assert edges_of(corpus) == [("dep after head", 0, 2), ("dep before head", 1, 0)]


def plain_edges(text):
    """A plain twin of the reader of trees: the edges of each sentence, row by row."""
    found = []
    for sentence in text.decode().split("\n\n"):
        fields = [line.split("\t") for line in sentence.split("\n") if line[:1].isdigit()]
        tokens = [own for own in fields if own[0].isdigit()]
        place = {own[0]: i for i, own in enumerate(tokens)}
        edges = []
        for i, own in enumerate(tokens):
            if own[6] != "0":
                head = place[own[6]]
                edges.append((f"{own[7]} {'before' if i < head else 'after'} head", head, i))
        if tokens:
            found.append(sorted(edges))
    return found


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab")), min_size=1, max_size=6), min_size=1))
def test_random_trees_are_read_as_they_are(sentences):
    text = ""
    for sentence in sentences:
        for i, (draw, relation) in enumerate(sentence):
            head = draw % (i + 1)  # an earlier token, or 0
            text += f"{i + 1}\tw\tl\tX\t_\t_\t{head}\t{relation}\t_\t_\n"
        text += "\n"
    corpus = corate.read(text.encode(), format="conllu", edges="tree")
    assert [edges_of(corpus, i) for i in range(len(corpus))] == plain_edges(text.encode())


@pytest.mark.parametrize("name", FILES[:6:2])
def test_the_trees_of_real_treebanks(name):
    text = real_file("ud-small.zip", name)
    corpus = corate.read(text, format="conllu", edges="tree")[:200]
    assert [edges_of(corpus, i) for i in range(200)] == plain_edges(text)[:200]


@pytest.mark.parametrize("edges", ["tree", "tree+chain+skip:word"])
def test_a_written_tree_reads_back(edges):
    import io

    corpus = corate.read(TEXT, label="feats:Case", edges=edges)
    out = io.BytesIO()
    corate.write(corpus, out, format="conllu")
    again = corate.read(out.getvalue(), label="feats:Case", edges=edges)
    assert list(again) == list(corpus)
    assert [edges_of(again, i) for i in range(2)] == [edges_of(corpus, i) for i in range(2)]
    assert again.labels_of(0) == corpus.labels_of(0)


def test_templates_take_the_relation_and_the_head_and_only_the_label_is_written():
    corpus = corate.read(TEXT, label="feats:Case", columns="word,deprel,head.word,head.lemma")
    templates = ["deprel[0]", "head.word[0]|word[0]", "head.lemma[0]", "lower(head.word[0])"]
    tagger = corate.train(corpus, features=templates)
    assert set(templates) <= set(tagger.features)
    blank = TEXT.replace(b"Case=Nom|", b"").replace(b"Case=Dat", b"_")
    assert tagger.tag_conllu(blank) == (TEXT, 6)
    with pytest.raises(DataError, match=r"^line 7: HEAD is '9x', which is not a number"):
        tagger.tag_conllu(b"1\tw\tl\tX\t_\t_\t9x\tdep\t_\t_\n", first_line=7)


def test_a_model_of_trees_writes_only_its_label():
    tagger = corate.train(corate.read((TEXT + b"\n") * 10, label="feats:Case", edges="tree"), "separate")
    blank = TEXT.replace(b"Case=Nom|", b"").replace(b"Case=Dat", b"_")
    assert tagger.tag_conllu(blank) == (TEXT, 6)
    assert tagger.tag_conllu(b"# only a comment\n") == (b"# only a comment\n", 0)
    with pytest.raises(DataError, match="line 1: HEAD is _, so there is no tree"):
        tagger.tag_conllu(b"1\tAnn" + b"\t_" * 8)


def test_text_in_pieces_has_no_edges():
    with pytest.raises(DataError, match="edges= needs the text in memory"):
        list(corate.formats.read_pieces("a.conllu", edges="tree"))
