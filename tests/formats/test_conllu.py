"""CoNLL-U: tokens are read, all else stays as it is, and labels are read from and written to the chosen place."""

import io
import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import DataError
from corate.formats import conllu, detection
from real_corpora import real_file

TEXT = (
    b"# sent_id = 1\n# text = Sie geht zum Haus.\n"
    b"1\tSie\tsie\tPRON\tPPER\tCase=Nom|Number=Sing\t2\tnsubj\t_\tNER=O\n"
    b"2\tgeht\tgehen\tVERB\tVVFIN\tNumber=Sing\t0\troot\t_\t_\n"
    b"3-4\tzum\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    b"3\tzu\tzu\tADP\tAPPR\t_\t5\tcase\t_\tNER=B-LOC|Ref=7\n"
    b"4\tdem\tder\tDET\tART\tCase=Dat\t5\tdet\t_\tGloss=the|NER=I-LOC\n"
    b"4.1\tleer\t_\t_\t_\t_\t_\t_\t_\t_\n"
    b"5\tHaus\tHaus\tNOUN\tNN\tCase=Dat\t2\tobl\t_\tRef=9|NER=I-LOC|SpaceAfter=No\n"
    b"\n"
    b"# text = New York\n1\tNew York\t_\tPROPN\t_\t_\t0\troot\t_\t_\r\n"
)
WORDS = [["Sie", "geht", "zu", "dem", "Haus"], ["New York"]]
FILES = [
    f"{name}-ud-{part}.conllu" for name in ("en_ewt", "de_gsd", "fi_tdt", "sv_talbanken") for part in ("dev", "test")
]


def labels(text=TEXT, **options):
    corpus = corate.read(text, **options)
    return [corpus.labels_of(s) for s in range(len(corpus))]


def test_tokens_are_read_and_comments_multiword_tokens_and_empty_nodes_are_not():
    corpus = corate.read(TEXT)
    assert [corpus.tokens(s) for s in range(len(corpus))] == WORDS
    assert [c.name for c in corpus.columns] == ["word"]
    assert corpus.label_source == "upos"


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (None, ["PRON", "VERB", "ADP", "DET", "NOUN", "PROPN"]),
        ("UPOS", ["PRON", "VERB", "ADP", "DET", "NOUN", "PROPN"]),
        ("xpos", ["PPER", "VVFIN", "APPR", "ART", "NN", "_"]),
        ("feats", ["Case=Nom|Number=Sing", "Number=Sing", "_", "Case=Dat", "Case=Dat", "_"]),
        (
            "upos+feats",
            [
                "PRON|Case=Nom|Number=Sing",
                "VERB|Number=Sing",
                "ADP|_",
                "DET|Case=Dat",
                "NOUN|Case=Dat",
                "PROPN|_",
            ],
        ),
        ("NER", ["O", "O", "B-LOC", "I-LOC", "I-LOC", "O"]),
        ("Ref", ["_", "_", "7", "_", "9", "_"]),
        ("deprel", ["nsubj", "root", "case", "det", "obl", "root"]),
        ("feats:Case", ["Nom", "_", "_", "Dat", "Dat", "_"]),
        (" FEATS:Number ", ["Sing", "Sing", "_", "_", "_", "_"]),
    ],
)
def test_labels_are_read_from_a_column_from_two_or_from_misc(label, expected):
    assert list(chain.from_iterable(labels(label=label))) == expected


def test_named_columns_are_read():
    corpus = corate.read(TEXT, columns="word,lemma,xpos")
    assert corpus.rows(0)[1] == ("geht", "gehen", "VVFIN")
    tagger = corate.train(corpus, features=["lemma[0]", "xpos[0]"])
    tagged, _ = tagger.tag_conllu(TEXT)
    assert labels(tagged) == labels()


def test_the_same_model_comes_from_a_column_file():
    corpus = corate.read(TEXT, label="upos+feats")
    same = corate.Corpus.from_sentences(WORDS, labels(label="upos+feats"))
    one, other = (corate.train(c) for c in (corpus, same))
    assert one.labels == other.labels
    assert one.score(WORDS[0]) == other.score(WORDS[0])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (b"1\ta\t_\n", {}, "line 1: 3 columns, but CoNLL-U has 10"),
        (TEXT + b"\n1 a b\n", {}, "line 14: 1 column, but CoNLL-U has 10 with tabs between them"),
        (b"x" + b"\ta" * 9, {}, "line 1: the ID 'x' is not a number"),
        (b"1\t" + b"\ta" * 8, {}, "line 1: the token has an empty FORM"),
        (b"# text\n", {}, "all its lines are comments or omitted"),
        (TEXT, {"label": "Speaker"}, r"no token has the key 'Speaker' in MISC \(keys: Gloss, NER, Ref, SpaceAfter\)"),
        (TEXT, {"label": "feats:Gender"}, r"no token has the key 'Gender' in FEATS \(keys: Case, Number\)"),
        (TEXT, {"label": "feats:"}, "'feats:' cannot be the label of CoNLL-U; choose upos, .* such as feats:Case"),
        (TEXT, {"label": "feats:Case", "columns": "word,feats"}, "the column 'feats' contains the labels"),
        (b"1\ta" + b"\t_" * 8, {}, "UPOS is _ for every token"),
        (TEXT, {"label": "form"}, "'form' cannot be the label of CoNLL-U"),
        (TEXT, {"columns": "word,tag"}, "CoNLL-U has no column 'tag'; name some of id, word, lemma"),
        (TEXT, {"columns": "word,upos"}, "the column 'upos' contains the labels"),
        (TEXT, {"separator": " "}, "tabs separate the columns of CoNLL-U"),
        (TEXT, {"label_names": ["A"]}, "label_names= is for JSON lines"),
        (b"a\tb\n", {"label": "upos", "format": "columns"}, "label= is for CoNLL-U and JSON lines"),
    ],
)
def test_errors_name_the_line_and_the_remedy(text, options, message):
    with pytest.raises(DataError, match=message):
        corate.read(text, **{"format": "conllu", **options})


def test_bad_rows_are_skipped_if_asked_for():
    with pytest.warns(corate.formats.SkippedWarning, match="skipped 1 malformed row, the first in line 14"):
        corpus = corate.read(TEXT + b"\n1 a b\n", skip_bad=True, format="conllu")
    assert corpus.n_tokens == 6


def test_the_format_is_detected():
    assert corate.read(TEXT).label_source == "upos"  # by content
    assert detection.by_suffix(".conllu") == "conllu"
    assert detection.detect(b"1\ta\tX\n2\tb\tY\n", "numbers") == "columns"


@pytest.mark.parametrize("label", ["upos", "xpos", "feats", "upos+feats", "NER", "New", "feats:New"])
def test_a_written_corpus_reads_back(label):
    tags = labels(label=label if label == "feats" else "upos+feats" if "+" in label else "upos")
    corpus = corate.Corpus.from_sentences(WORDS, tags)
    out = io.BytesIO()
    corate.write(corpus, out, format="conllu", label=label)
    again = corate.read(out.getvalue(), label=label)
    assert [again.tokens(s) for s in range(2)] == WORDS
    assert [again.labels_of(s) for s in range(2)] == tags


@pytest.mark.parametrize(
    ("label", "wrong"),
    [("upos", "A\tB"), ("upos+feats", "NOUN"), ("NER", "A|B"), ("feats:A", "A|B"), ("upos+feats", "|A"), ("xpos", "")],
)
def test_labels_that_do_not_fit_are_refused(label, wrong):
    with pytest.raises(DataError, match=r"cannot be written|is not UPOS\|FEATS"):
        conllu.label_place(label).texts(["A|B" if "+" in label else "A", wrong])


def test_a_key_of_feats_is_written_among_the_others():
    corpus = corate.read(TEXT, columns="word,feats")
    out = io.BytesIO()
    corate.write(corpus, out, format="conllu", label="feats:Gender", labels=[["Neut", "_", "_", "Masc", "_"], ["_"]])
    again = corate.read(out.getvalue(), label="feats")
    assert again.labels_of(0) == [
        "Case=Nom|Gender=Neut|Number=Sing",
        "Number=Sing",
        "_",
        "Case=Dat|Gender=Masc",
        "Case=Dat",
    ]


# -- tagging ---------------------------------------------------------------------------------------------------------


def expected_text(text, tagger, label):
    """A plain Python twin of the native tagger: replaces fields of token rows, line by line."""
    place = conllu.label_place(label)
    predicted = chain.from_iterable(tagger.tag_all(corate.read(text, format="conllu", labelled=False)))
    lines = []
    for line in text.split(b"\n"):
        fields = line.rstrip(b"\r").split(b"\t")
        if not re.fullmatch(rb"\d+", fields[0]):
            lines.append(line)
            continue
        name = next(predicted)
        parts = name.split("|", 1) if len(place.columns) == 2 else [name]
        for column, part in zip(place.columns, parts, strict=True):
            value = part.encode()
            if place.key:
                entry = b"" if part == "_" else f"{place.key}={part}".encode()
                old = [] if fields[column] in (b"_", b"") else fields[column].split(b"|")
                names = [e.split(b"=")[0] for e in old]
                own = [i for i, name in enumerate(names) if name == place.key.encode()]
                if own:
                    old[own[0]] = entry
                    old = [e for i, e in enumerate(old) if i not in own[1:]]
                elif column == 5:
                    greater = (i for i, name in enumerate(names) if name.lower() > place.key.lower().encode())
                    old.insert(next(greater, len(old)), entry)
                else:
                    old.append(entry)
                value = b"|".join(e for e in old if e) or b"_"
            fields[column] = value
        lines.append(b"\t".join(fields) + line[len(line.rstrip(b"\r")) :])
    return b"\n".join(lines)


@pytest.fixture(scope="module")
def taggers():
    made = {}
    for label in ("upos", "xpos", "feats", "upos+feats", "NER", "Ref", "feats:Case"):
        made[label] = corate.train(corate.read(TEXT, label=label), "perceptron")
    return made


@pytest.mark.parametrize("label", ["upos", "xpos", "feats", "upos+feats", "NER", "Ref", "feats:Case"])
def test_only_the_labels_are_replaced(taggers, label):
    tagged, tokens = taggers[label].tag_conllu(TEXT)
    assert tokens == 6
    assert tagged == expected_text(TEXT, taggers[label], label)


ROWS = st.builds(
    lambda number, word, feats, misc: f"{number}\t{word}\t_\t_\tX\t{feats}\t_\t_\t_\t{misc}",
    st.sampled_from(["1", "2", "13", "1-2", "2.1"]),
    st.sampled_from(["Sie", "geht", "Haus", "neu neu", "#"]),
    st.sampled_from(
        ["_", "Case=Gen", "Abbr=Yes|case=x|Definite=Ind", "abbr=Yes|Number[psor]=Sing", "Z=1|A=2", "", "|"]
    ),
    st.sampled_from(["_", "NER=O", "A=b|NER=B-X|C=d", "NER=O|NER=O", "NER", "A=b", "", "|", "NERD=1", "A= b "]),
)
LINES = st.one_of(ROWS, ROWS, st.sampled_from(["", "# text = a", " ", "\t", "#"]))


@given(
    st.lists(st.builds(str.__add__, LINES, st.sampled_from(["\n", "\r\n", "\r\r\n"]))), st.booleans(), st.integers(1, 3)
)
@pytest.mark.parametrize("label", ["upos", "upos+feats", "NER", "feats:Case"])
def test_every_other_byte_stays_as_it_was(taggers, label, lines, ended, threads):
    text = "".join(lines).encode()
    if not ended:
        text = text.rstrip(b"\r\n")
    if not re.search(rb"(?m)^[0-9]+\t", text):
        assert taggers[label].tag_conllu(text) == (text, 0)
        return
    tagged, _ = taggers[label].tag_conllu(text, threads=threads)
    assert tagged == expected_text(text, taggers[label], label)


def test_a_bad_row_is_named(taggers):
    with pytest.raises(DataError, match="line 8: 1 column, but CoNLL-U has 10"):
        taggers["upos"].tag_conllu(b"# a\n\nx\n", first_line=6)
    with pytest.raises(DataError, match="UTF-8 bytes, not as str"):
        taggers["upos"].tag_conllu("# a")
    with pytest.raises(DataError, match=r"'PRON' is not UPOS\|FEATS"):
        taggers["upos"].tag_conllu(TEXT, label="upos+feats")


def test_a_key_of_feats_is_placed_in_order_without_regard_to_case(taggers):
    row = "1\tSie\t_\t_\t_\t{}\t_\t_\t_\t_\n"
    found = [
        taggers["feats:Case"].tag_conllu(row.format(feats).encode())[0].split(b"\t")[5].decode()
        for feats in (
            "_",
            "Number=Sing",
            "abbr=Yes|Definite=Ind",
            "Abbr=Yes|Case=Gen|Definite=Ind",
            "Case=Gen|Case=Dat",
        )
    ]
    assert found == [
        "Case=Nom",
        "Case=Nom|Number=Sing",
        "abbr=Yes|Case=Nom|Definite=Ind",
        "Abbr=Yes|Case=Nom|Definite=Ind",
        "Case=Nom",
    ]
    removed = TEXT.replace(b"\t_\t5\tcase", b"\tAbbr=Yes|Case=Gen\t5\tcase")
    assert b"\tAbbr=Yes\t5\tcase" in taggers["feats:Case"].tag_conllu(removed)[0]
    alone = TEXT.replace(b"\t_\t5\tcase", b"\tCase=Gen\t5\tcase")
    assert b"\t_\t5\tcase" in taggers["feats:Case"].tag_conllu(alone)[0]


@pytest.mark.parametrize("label", ["upos", "upos+feats", "feats:Case"])
@pytest.mark.parametrize("name", FILES)
def test_real_treebanks_keep_every_other_byte(name, label):
    text = real_file("ud-small.zip", name)
    corpus = corate.read(text, format="conllu", label=label)
    tagger = corate.train(corpus[:300], "empirical")
    tagged, tokens = tagger.tag_conllu(text)
    assert tokens == corpus.n_tokens
    old, new = text.split(b"\n"), tagged.split(b"\n")
    assert len(old) == len(new)
    columns = conllu.label_place(label).columns
    changed = 0
    for before, after in zip(old, new, strict=True):
        if before != after:
            changed += 1
            pairs = zip(before.split(b"\t"), after.split(b"\t"), strict=True)
            assert {c for c, (a, b) in enumerate(pairs) if a != b} <= set(columns)
            assert before.split(b"\t")[0].isdigit()
    assert 0 < changed < tokens
    again = corate.read(tagged, format="conllu", label=label)
    assert again.require_labels().values() == tagger.tag_corpus(corpus).values()
