"""Reading each format: names, options, and what is said about data that cannot be read."""

from __future__ import annotations

import pytest

from corate.corpus import Corpus
from corate.errors import DataError
from corate.formats import SkippedWarning, read, write
from real_corpora import real_file

CHUNKS = b"the DT B-NP\ncat NN I-NP\n\nsleeps VBZ B-VP\n"


def names(corpus: Corpus) -> list[str]:
    return [c.name for c in corpus.columns]


# -- column files ----------------------------------------------------------------------------------------------------


def test_the_last_column_is_the_label_unless_told_otherwise() -> None:
    corpus = read(CHUNKS)
    assert names(corpus) == ["word", "pos"]
    assert corpus.labels_of(0) == ["B-NP", "I-NP"]
    assert corpus.rows(1) == [("sleeps", "VBZ")]


def test_five_columns_without_names() -> None:
    assert names(read(b"a b c d e\n")) == ["word", "pos", "column2", "column3"]


def test_without_labels_all_columns_are_observed() -> None:
    corpus = read(CHUNKS, labelled=False)
    assert names(corpus) == ["word", "pos", "column2"]
    assert corpus.labels is None


@pytest.mark.parametrize("given", ["label,_,word", ["label", "_", "word"], " label , _ , word "])
def test_columns_by_name(given: str | list[str]) -> None:
    corpus = read(CHUNKS, columns=given)
    assert names(corpus) == ["word"]
    assert corpus.tokens(1) == ["B-VP"]
    assert corpus.labels_of(0) == ["the", "cat"]


@pytest.mark.parametrize("given", ["word,word,label", "_,_,_", "word,,label", ""])
def test_names_that_make_no_sense(given: str) -> None:
    with pytest.raises(DataError, match="name"):
        read(CHUNKS, columns=given)


def test_line_ends_and_missing_newline() -> None:
    expected = read(CHUNKS)
    for data in (CHUNKS.replace(b"\n", b"\r\n"), CHUNKS.rstrip(), b"\xef\xbb\xbf\n\n" + CHUNKS + b" \n\t\n\n"):
        corpus = read(data)
        assert list(corpus) == list(expected)
        assert corpus.labels_of(1) == expected.labels_of(1)


def test_tabs_keep_spaces_inside_words() -> None:
    corpus = read(b"New York\tB-LOC\nsleeps\tO\n")
    assert corpus.tokens(0) == ["New York", "sleeps"]


def test_tabs_and_spaces_mixed_are_both_separators() -> None:
    assert read(b"the\tDT B-NP\ncat\tNN I-NP\n").rows(0) == [("the", "DT"), ("cat", "NN")]
    assert read(b"the\t\tDT\ncat\tNN\n").labels_of(0) == ["DT", "NN"]


def test_separator_by_name() -> None:
    assert read(b"a b,X\n", separator=",", format="columns").rows(0) == [("a b",)]
    with pytest.raises(DataError, match="separator"):
        read(b"a b,X\n", separator="::")


def test_comments_do_not_end_a_sentence() -> None:
    corpus = read(b"# text\na X\n# more\nb Y\n\nc Z\n", comment="#")
    assert [len(s) for s in corpus] == [2, 1]


def test_docstart_rows() -> None:
    data = b"-DOCSTART- -X- O\n\nthe DT B-NP\n-DOCSTART-\ncat NN B-NP\n"
    assert [len(s) for s in read(data, docstart="drop")] == [1, 1]
    kept = read(data.replace(b"-\ncat", b"- -X- O\ncat"))
    assert [len(s) for s in kept] == [1, 3]
    with pytest.raises(DataError, match="docstart"):
        read(data, docstart="no")


def test_ragged_rows_are_named_or_skipped() -> None:
    data = b"a X\nb Y\n\nc\nd Z extra\ne X\n"
    with pytest.raises(DataError, match=r"line 4: 1 column, but the rows before have 2.*skip_bad=True"):
        read(data)
    with pytest.warns(SkippedWarning, match=r"skipped 2 malformed rows, .* line 4") as caught:
        corpus = read(data, skip_bad=True)
    assert (caught[0].message.count, caught[0].message.line) == (2, 4)
    assert list(corpus) == [[("a",), ("b",)], [("e",)]]
    assert caught[0].filename == __file__


def test_a_column_too_few() -> None:
    with pytest.raises(DataError, match=r"line 1: 3 columns, but columns= has 2 names \(word, label\)"):
        read(CHUNKS, columns="word,label")
    with pytest.raises(DataError, match="columns= has 4 names"):
        read(CHUNKS, columns="word,lemma,pos,label", skip_bad=True)


@pytest.mark.parametrize("format", ["auto", "columns", "slashed", "items", "jsonl", "text"])
def test_nothing_to_read(format: str) -> None:
    with pytest.raises(DataError, match="is empty"):
        read(b"", format=format)
    with pytest.raises(DataError, match="only blank lines"):
        read(b"\n \r\n\n", format=format)


def test_only_comments() -> None:
    with pytest.raises(DataError, match="no sentence"):
        read(b"# a\n#b\n", comment="#")


@pytest.mark.parametrize("format", ["columns", "slashed", "items", "text"])
def test_nul_bytes(format: str) -> None:
    with pytest.raises(DataError, match="line 2: a NUL byte"):
        read(b"a/X b/Y\nc/X\0 d/Y\n", format=format, skip_bad=True)


def test_a_token_of_a_megabyte() -> None:
    word = "x" * 1_000_000
    corpus = read(f"a X\n{word} Y\n".encode())
    assert corpus.tokens(0) == ["a", word]


def test_a_sentence_of_200_000_tokens() -> None:
    corpus = read(b"a X\nb Y\n" * 100_000)
    assert (len(corpus), corpus.n_tokens) == (1, 200_000)


def test_a_thousand_columns_and_one() -> None:
    assert len(read(b" ".join([b"x"] * 1000), format="columns").columns) == 999
    assert read(b"a\n\nb\n").labels is None


def test_no_break_space_is_part_of_a_word() -> None:
    assert read("10\u00a0000 NUM\n".encode()).tokens(0) == ["10\u00a0000"]


# -- slashed lines and text ------------------------------------------------------------------------------------------


def test_slashed_splits_at_the_last_slash() -> None:
    corpus = read(b"1/2/cd cups/nns\n\n\n ././.\n")
    assert [corpus.tokens(i) for i in range(2)] == [["1/2", "cups"], ["./."]]
    assert corpus.labels_of(1) == ["."]


def test_slashed_without_labels_and_by_name() -> None:
    assert read(b"a/X\n", labelled=False, format="slashed").labels is None
    assert names(read(b"a/X\n", columns="form,pos", format="slashed")) == ["form", "pos"]
    with pytest.raises(DataError, match="2 columns in this format, but columns= has 3 names"):
        read(b"a/X\n", columns="word,pos,label", format="slashed")


@pytest.mark.parametrize("token", ["bc", "/bc", "bc/"])
def test_a_token_without_a_label(token: str) -> None:
    data = f"a/X b/Y\nc/X {token} d/Z\n".encode()
    with pytest.raises(DataError, match=f"line 2: the token '{token}'"):
        read(data, format="slashed")
    with pytest.warns(SkippedWarning, match="skipped 1 malformed token,"):
        assert read(data, format="slashed", skip_bad=True).tokens(1) == ["c", "d"]


def test_text_has_words_only() -> None:
    corpus = read(b"Ann sleeps .\n\nBob sings\ttoo .\n", format="text")
    assert corpus.tokens(1) == ["Bob", "sings", "too", "."]
    assert corpus.labels is None


# -- items -----------------------------------------------------------------------------------------------------------


def test_items() -> None:
    corpus = read(b"B-NP\tw=a\\:b\\\\c\tn:0.5\r\nO\n\nO\tw=x\t\tn:-1e3\n", format="items")
    assert corpus.attributes is not None
    assert corpus.attributes.names.to_list() == ["w=a:b\\c", "n", "w=x"]
    assert corpus.attributes.offsets.tolist() == [0, 2, 2, 4]
    assert corpus.attributes.values.tolist() == [1.0, 0.5, 1.0, -1000.0]
    assert corpus.labels_of(0) == ["B-NP", "O"]


def test_items_without_values_have_none() -> None:
    assert read(b"X\tf\tg:1\n", format="items").attributes.values is None


def test_items_without_labels() -> None:
    corpus = read(b"\tf\n\t\n", format="items", labelled=False)
    assert corpus.labels is None
    assert corpus.attributes.offsets.tolist() == [0, 1, 1]
    with pytest.raises(DataError, match="line 1: no label"):
        read(b"\tf\n", format="items")


@pytest.mark.parametrize("value", ["nan", "inf", "-Infinity", "1e39", "x", "", "1:2", "1_0", "0x1"])
def test_values_that_are_no_finite_numbers(value: str) -> None:
    data = f"X\ta\n\nY\tb\tc:{value}\nZ\td\n".encode()
    with pytest.raises(DataError, match=r"line 3: the attribute 'c' has the value"):
        read(data, format="items")
    with pytest.warns(SkippedWarning, match=r"skipped 1 malformed row, .* line 3"):
        corpus = read(data, format="items", skip_bad=True)
    assert [corpus.labels_of(i) for i in range(len(corpus))] == [["X"], ["Z"]]


def test_an_attribute_without_a_name() -> None:
    with pytest.raises(DataError, match="line 1: an attribute without a name"):
        read(b"X\t:1\n", format="items")


def test_items_have_no_columns_to_name() -> None:
    with pytest.raises(DataError, match="no columns to name"):
        read(b"X\tf\n", format="items", columns="word,label")


# -- JSON lines ------------------------------------------------------------------------------------------------------


def test_jsonl_objects() -> None:
    data = b'{"id": 1, "tokens": ["Ann", "sleeps"], "pos": ["N", "V"], "labels": ["X", "Y"]}\n'
    data += b'\n{"tokens": [], "pos": [], "labels": []}\n'
    corpus = read(data)
    assert list(corpus) == [[("Ann", "N"), ("sleeps", "V")]]
    assert corpus.labels_of(0) == ["X", "Y"]
    assert read(data, labelled=False).labels is None
    chosen = read(data, columns="pos,label")
    assert (names(chosen), chosen.labels_of(0)) == (["pos"], ["X", "Y"])


def test_jsonl_lists() -> None:
    assert read(b'[["Ann", "X"], ["sleeps", "Y"]]\n').labels_of(0) == ["X", "Y"]
    assert read(b'["Ann", "sleeps"]\n').tokens(0) == ["Ann", "sleeps"]
    assert names(read(b'[["a", "b", "c"]]\n', columns="x,label,_")) == ["x"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("7", "object or a list"),
        ('{"tokens": ["a"], "labels": ["X", "Y"]}', "the same length"),
        ('{"tokens": ["a"], "labels": [3]}', r"the labels are integers \(\[3\]\); give their names with label_names="),
        ('{"tokens": [null], "labels": ["X"]}', "contains null; values must be strings"),
        ('{"tokens": ["a"], "labels": [true]}', "contains true; values must be strings"),
        ('{"tokens": ["\\ud800"], "labels": ["X"]}', "surrogate"),
        ('{"tokens": ["a"]}', "columns word, but the lines before have word, label"),
        ('{"labels": ["X"]}', "no list 'tokens' in the object"),
        ('{"tokens": ["a"], "words": ["a"], "labels": ["X"]}', "two members"),
        ('[["a", "X"], ["b"]]', "1 column "),
        ('[["a", "X"], "b"]', "list of columns"),
        ('[["a", "X"], []]', "list of columns"),
        ("[" * 100_000, "JSON"),
        ('{"tokens": ["a\0"], "labels": ["X"]}', "JSON"),
    ],
)
def test_jsonl_lines_that_do_not_fit(line: str, message: str) -> None:
    data = b'{"tokens": ["a"], "labels": ["X"]}\n' + line.encode() + b"\n"
    with pytest.raises(DataError, match=message) as raised:
        read(data, format="jsonl")
    assert "line 2" in str(raised.value)
    with pytest.warns(SkippedWarning, match="1 malformed sentence,"):
        assert len(read(data, format="jsonl", skip_bad=True)) == 1


def test_jsonl_comments() -> None:
    assert len(read(b'# made by hand\n{"tokens": ["a"]}\n', format="jsonl", comment="#")) == 1


def test_jsonl_column_that_is_missing() -> None:
    with pytest.raises(DataError, match="no list 'pos' in the object"):
        read(b'{"tokens": ["a"]}\n', columns="word,pos")


# -- formats by name and by looks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "labelled", "like"),
    [
        (CHUNKS, True, "columns"),
        (b"a\tX\n\nb c\tY\n", True, "columns"),
        (b"a X\nb\nc Y\n", True, "columns"),
        (b"a\nb\n\nc\n", False, "columns"),
        (b"the/at cat/nn\n", True, "slashed"),
        (b"B\tw=a\tw+1=b\nI\tw=b\n", True, "items"),
        (b'{"tokens": ["a"]}\n', True, "jsonl"),
        (b'[["a", "X"]]\n\n[["b", "Y"]]', True, "jsonl"),
        (b"Ann sleeps .\nThe cat sat on the mat .\nBob sings a song .\n", False, "text"),
        (b"Ann sleeps", False, "text"),
    ],
)
def test_a_format_is_known_by_its_looks(data: bytes, labelled: bool, like: str) -> None:
    def seen(format: str) -> object:
        try:
            corpus = read(data, format=format, labelled=labelled)
        except DataError as error:
            return str(error)
        attributes = None if corpus.attributes is None else corpus.attributes.names.to_list()
        return repr(corpus), [c.values() for c in corpus.columns], attributes

    assert seen("auto") == seen(like)


@pytest.mark.parametrize(
    ("data", "labelled"),
    [(b"Ann sleeps .\nThe cat sat on the mat .\nBob sings a song .\n", True), (b"a\nb\nc\n", False), (b"a\nb\n", True)],
)
def test_an_unclear_format_is_asked_for(data: bytes, labelled: bool) -> None:
    with pytest.raises(DataError, match=r"cannot detect the format .*format="):
        read(data, labelled=labelled)


def test_an_unknown_format() -> None:
    with pytest.raises(DataError, match="unknown format 'conll'; choose one of auto, columns"):
        read(CHUNKS, format="conll")


# -- real corpora ----------------------------------------------------------------------------------------------------


def test_conll2000() -> None:
    corpus = read(real_file("conll2000.zip", "conll2000/train.txt"))
    assert (len(corpus), len(corpus.require_labels().strings)) == (8936, 22)


def test_conll2002() -> None:
    data = real_file("conll2002-ned.zip", "conll2002/ned.train")
    corpus = read(data)
    assert sum(len(s) > 1 for s in corpus) == 13221
    assert len(corpus.require_labels().strings) == 9
    dropped = corpus.n_tokens - read(data, docstart="drop").n_tokens
    assert dropped == data.count(b"-DOCSTART- -DOCSTART-")


def test_brown() -> None:
    corpus = read(real_file("brown.zip", "brown/ca01"), encoding="latin-1")
    assert corpus.tokens(0)[:2] == ["The", "Fulton"]
    assert corpus.labels_of(0)[:2] == ["at", "np-tl"]


@pytest.mark.parametrize(
    "text",
    [
        b"# sent_id = 1\nAnn\tNNP\tB-PER\nsleeps\tVBZ\tO\n",
        b"# one two three four\n# one two three\nAnn NNP B-PER\n",
        b"Ann NNP B-PER\nsleeps VBZ O\n\n# another sentence comes\nBob NNP B-PER\n",
    ],
)
def test_comments_that_were_not_asked_for_are_suspected(text: bytes) -> None:
    with pytest.raises(DataError, match=r"begin with '#' are comments.*comment='#'"):
        read(text, format="columns")
    assert read(text, format="columns", comment="#").tokens(0)[0] == "Ann"
    with pytest.raises(DataError) as error:
        read(b"Ann NNP B-PER\nsleeps\n", format="columns")
    assert "comment" not in str(error.value)


# -- raw text --------------------------------------------------------------------------------------------------------


def test_raw_text_is_tokenised() -> None:
    corpus = read("Zoë (19) sings.\r\n\n# skip\nBob, too\n".encode(), format="raw", comment="#", labelled=False)
    assert [corpus.tokens(s) for s in range(len(corpus))] == [
        ["Zoë", "(", "19", ")", "sings", "."],
        ["Bob", ",", "too"],
    ]


def test_raw_text_takes_another_tokeniser() -> None:
    assert read(b"Bob, too", format="raw", tokenize=str.split).tokens(0) == ["Bob,", "too"]
    assert read(b"Bob", format="raw", tokenize=list).tokens(0) == ["B", "o", "b"]
    with pytest.raises(DataError, match="must be a word"):
        read(b"1 2", format="raw", tokenize=lambda line: [1, 2])  # type: ignore[list-item, return-value]


def test_raw_text_has_the_word_column_of_a_model() -> None:
    corpus = read(b"Bob sings.", format="raw", labelled=False, layout=("form", "label"))
    assert names(corpus) == ["form"]


def test_raw_text_that_cannot_be_read() -> None:
    with pytest.raises(DataError, match="is empty"):
        read(b"", format="raw")
    with pytest.raises(DataError, match="line 2: a NUL byte"):
        read(b"a\nb\0c", format="raw")
    with pytest.raises(DataError, match="tokenize= is for Label Studio and raw text"):
        read(b"a b", format="text", tokenize=str.split)


def test_raw_text_is_not_written() -> None:
    with pytest.raises(DataError, match="use the format 'text'"):
        write(read(b"a b", format="raw"), "-", format="raw")
