"""corate tag: the text comes out as it went in, a label longer, however it is packed, piped or cut."""

import bz2
import gzip
import json
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corate.io import chunks
from corate.training import choices


def rows(text):
    return [line.split("\t") for line in text.split("\n")]


def test_columns_are_copied_and_a_label_is_added(corate, data, model):
    given = (data / "test.tsv").read_text(encoding="utf-8")
    result = corate("tag", model, data / "test.tsv")
    assert (result.code, result.err) == (0, "")
    tagged = rows(result.text)
    assert [row[:-1] or [""] for row in tagged] == rows(given)
    assert sum(row[-1] == row[-2] for row in tagged if len(row) == 3) > len(tagged) / 2


def test_a_pipe_gives_what_a_file_gives(corate, data, model, tmp_path):
    from_file = corate("tag", model, data / "test.tsv").out
    text = (data / "test.tsv").read_bytes()
    assert corate("tag", model, stdin=text).out == from_file
    assert corate("tag", model, "-", "-o", "-", stdin=text).out == from_file
    assert corate("tag", model, data / "test.tsv", "-o", tmp_path / "out.tsv").out == b""
    assert (tmp_path / "out.tsv").read_bytes() == from_file


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_pieces_of_any_size_give_the_same_labels(corate, data, model, monkeypatch, size):
    whole = corate("tag", model, data / "test.tsv").out
    monkeypatch.setattr(chunks, "BLOCK_BYTES", size)
    assert corate("tag", model, data / "test.tsv").out == whole
    assert corate("tag", model, stdin=(data / "test.tsv").read_bytes()).out == whole


def test_threads_do_not_change_the_labels(corate, data, model):
    assert corate("tag", model, data / "test.tsv", "-j", 3).out == corate("tag", model, data / "test.tsv").out


PARTS = ["Ann", "Oak St", "12", " ", "\t", "\r", "\n", "\n\n", "\r\r\n", "\n\r\r\n", "\x0b", "\x0c"]


@given(st.lists(st.sampled_from(PARTS), max_size=20).map("".join), st.integers(1, 30), st.integers(1, 8))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_neither_pieces_nor_threads_change_the_labels_of_any_text(corate, model, tmp_path, text, size, threads):
    file = tmp_path / "new.txt"
    file.write_bytes(text.encode())
    for options in (["-f", "columns"], ["-f", "text"], ["-f", "raw"], ["-f", "columns", "--separator", "tab"]):
        whole = corate("tag", model, file, *options)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chunks, "BLOCK_BYTES", size)
            cut = corate("tag", model, file, *options, "--threads", threads)
        assert (cut.code, cut.err) == (whole.code, whole.err)
        assert whole.code or cut.out == whole.out  # before an error, the pieces before it may have been written


def test_plain_text_is_split_as_the_reader_splits_it(corate, model):
    text = "Ann\x0bLee \x0c\t12\xa0Oak\r\n\n# no\nBob\r\r\n".encode()
    columns = corate("tag", model, "-f", "text", "--comment", "#", stdin=text).text
    slashed = corate("tag", model, "-f", "text", "--comment", "#", "--to", "slashed", stdin=text).text
    assert [row.split("\t")[0] for row in columns.split("\n")] == ["Ann\x0bLee", "\x0c", "12\xa0Oak", "", "Bob", "", ""]
    assert slashed == columns.replace("\t", "/").replace("\n\n", "\r").replace("\n", " ").replace("\r", "\n")


def test_rows_that_mix_tabs_and_spaces_are_split_as_in_training(corate, tmp_path):
    (tmp_path / "t.tsv").write_text("the\tD B\ndog N\tI\n\n" * 30)
    assert corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", "-q").code == 0
    (tmp_path / "new.tsv").write_text("the\tD\ndog N\n\n")
    assert corate("tag", tmp_path / "m", tmp_path / "new.tsv").text == "the\tD\tB\ndog N I\n\n"


def test_rows_that_mix_tabs_and_spaces_are_tagged_from_a_pipe_as_from_a_file(corate, tmp_path, model):
    """The pipe sends one sentence at a time, and the first sentence fits tabs, too."""
    text = b"Ann\tx\nLee\tx\n\n12 x\nOak x\n\n"
    (tmp_path / "new.tsv").write_bytes(text)
    rows = [row.rsplit(None, 1)[0] for row in corate("tag", model, tmp_path / "new.tsv").text.split("\n") if row]
    assert rows == [row for row in text.decode().split("\n") if row]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "BLOCK_BYTES", 1)
        piped = corate("tag", model, stdin=text)
    assert piped.text == corate("tag", model, tmp_path / "new.tsv").text


@pytest.mark.parametrize("row", ["Oak St", "Oak "])
def test_a_row_that_puts_the_separator_in_doubt_is_named(corate, tmp_path, model, row):
    """White space after the row, too: the label would come after a space or a tab by how much of the text was seen."""
    (tmp_path / "new.tsv").write_text("Ann\tx\nDe Vos\tx\n\n" * 10_000 + f"{row}\n")
    result = corate("tag", model, tmp_path / "new.tsv", "-o", tmp_path / "out")
    assert (result.code, (tmp_path / "out").exists()) == (1, False)
    assert "new.tsv, line 30001: 1 column, but the first row has 2" in result.err
    assert "--separator tab" in result.err
    assert corate("tag", model, tmp_path / "new.tsv", "--separator", "tab", "-o", tmp_path / "out").code == 0


def test_line_ends_and_marks_of_other_systems(corate, data, model):
    text = (data / "test.tsv").read_bytes()
    plain = corate("tag", model, stdin=text).out
    other = corate("tag", model, stdin=b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")).out
    assert other.replace(b"\r\n", b"\n") == plain


def test_other_encodings_come_out_in_the_same_encoding(corate, model):
    text = "Zoë\nLee\n,\nKöln\n\n"
    expected = corate("tag", model, "-f", "columns", stdin=text.encode()).text
    for encoding in ("latin-1", "utf-16"):
        out = corate("tag", model, "-f", "columns", "--encoding", encoding, stdin=text.encode(encoding)).out
        assert out.decode(encoding) == expected


def test_wrong_encodings_are_named_with_their_line(corate, model):
    result = corate("tag", model, "-f", "columns", stdin=b"Ann\nZo\xeb\n\n")
    assert result.code == 1
    assert "standard input, line 2" in result.err
    assert "--encoding" in result.err


def test_packed_files_are_read_and_written(corate, data, model, tmp_path):
    plain = corate("tag", model, data / "test.tsv").out
    packed = tmp_path / "test.tsv.gz"
    packed.write_bytes(gzip.compress((data / "test.tsv").read_bytes()))
    assert corate("tag", model, packed, "-o", tmp_path / "out.tsv.gz").code == 0
    assert gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()) == plain
    packed.write_bytes(packed.read_bytes()[:-20])
    result = corate("tag", model, packed)
    assert result.code == 1
    assert "test.tsv.gz is not a complete" in result.err


def test_plain_text_gives_a_word_and_its_label_a_line(corate, data, model):
    text = (data / "new.txt").read_text(encoding="utf-8")
    result = corate("tag", model, data / "new.txt", "--format", "text")
    sentences = [[row.split("\t")[0] for row in s.split("\n")] for s in result.text.strip("\n").split("\n\n")]
    assert sentences == [line.split() for line in text.splitlines()]
    assert corate("tag", model, data / "new.txt").out == result.out, "text is recognised"


def test_text_can_come_out_slashed(corate, data, model):
    columns = corate("tag", model, data / "new.txt").text
    result = corate("tag", model, data / "new.txt", "--to", "slashed")
    assert result.code == 0
    assert result.text.split() == [row.replace("\t", "/") for row in columns.split("\n") if row]


def test_json_lines_stay_json_lines(corate, model):
    result = corate("tag", model, "-f", "jsonl", stdin=b'{"word": ["Ann", "Lee"]}\n')
    assert result.code == 0
    assert '"labels"' in result.text


@pytest.mark.parametrize("label", ["B\nX", "B\tX", "", "B\rX"])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["-f", "text"], "Ann Lee\n"),
        (["-f", "columns"], "Ann\nLee\n\n"),
        (["-f", "text", "--to", "slashed"], "Ann Lee\n"),
        (["-f", "jsonl", "--to", "columns"], '["Ann", "Lee"]\n'),
    ],
)
def test_labels_that_a_format_cannot_hold_are_refused_before_anything_is_written(
    corate, tmp_path, monkeypatch, label, options, text
):
    monkeypatch.setattr(choices, "refuse_unusable_labels", lambda *_: None)  # models of earlier versions have ""
    (tmp_path / "t.jsonl").write_text(json.dumps({"tokens": ["Ann", "Lee"], "labels": [label, "Y"]}))
    assert corate("train", tmp_path / "t.jsonl", "-o", tmp_path / "m", "--method", "empirical", "-q").code == 0
    result = corate("tag", tmp_path / "m", *options, stdin=text.encode())
    assert (result.code, result.out) == (1, b"")
    assert f"the label {label!r} cannot be written" in result.err
    assert "--to jsonl" in result.err
    assert result.err.count("\n") == 1
    kept = corate("tag", tmp_path / "m", *options[:2], "--to", "jsonl", stdin=text.encode())
    assert json.loads(kept.text)["labels"] == [label, "Y"]


def test_nothing_in_nothing_out(corate, model):
    result = corate("tag", model, "-f", "columns", stdin=b"")
    assert (result.code, result.out, result.err) == (0, b"", "")


def test_a_model_that_is_none_is_exit_code_1(corate, data, tmp_path):
    for content in (b"", b"not a model", None):
        path = tmp_path / "m.corate"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        result = corate("tag", path, data / "test.tsv")
        assert (result.code, result.out) == (1, b"")
        assert "m.corate" in result.err
        assert result.err.count("\n") == 1


def test_ctrl_c_leaves_the_old_output(corate, data, model, tmp_path, monkeypatch):
    from corate import Tagger

    calls = []
    tag_text = Tagger.tag_text

    def interrupted(self, piece, **options):
        calls.append(piece)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return tag_text(self, piece, **options)

    monkeypatch.setattr(chunks, "BLOCK_BYTES", 500)
    monkeypatch.setattr(Tagger, "tag_text", interrupted)
    out = tmp_path / "out.tsv"
    out.write_bytes(b"old")
    result = corate("tag", model, data / "test.tsv", "-o", out)
    assert (result.code, result.err) == (130, "corate: interrupted\n")
    assert [p.name for p in tmp_path.iterdir()] == ["out.tsv"]
    assert out.read_bytes() == b"old"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
def test_a_full_disk_is_exit_code_1(corate, data, model):
    result = corate("tag", model, data / "test.tsv", "-o", "/dev/full")
    assert result.code == 1
    assert "/dev/full: No space left" in result.err


def test_rows_too_short_for_the_model_are_named_with_their_line(corate, tmp_path, monkeypatch):
    (tmp_path / "t.tsv").write_text("the\tD\tB\ndog\tN\tI\n\n" * 30)
    assert corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", "--features", "word[0]; pos[0]", "-q").code == 0
    (tmp_path / "new.tsv").write_text("the\tD\ndog\tN\n\n" * 20 + "the\n\n")
    monkeypatch.setattr(chunks, "BLOCK_BYTES", 50)
    result = corate("tag", tmp_path / "m", tmp_path / "new.tsv")
    assert result.code == 1
    assert "new.tsv, line 61: 1 column" in result.err


def test_words_may_hold_spaces_where_columns_stand_between_tabs(corate, tmp_path):
    (tmp_path / "t.tsv").write_text("New York\tx\tCITY\nsleeps\tx\tVERB\n\n" * 30)
    assert corate("train", tmp_path / "t.tsv", "-o", tmp_path / "m", "-q").code == 0
    result = corate("tag", tmp_path / "m", stdin=b"New York\tx\nsleeps\tx\n\n")
    assert result.text == "New York\tx\tCITY\nsleeps\tx\tVERB\n\n"


def test_text_that_begins_like_a_bzip2_file(corate, model):
    result = corate("tag", model, "-f", "columns", stdin=b"BZh91\nBoston\n\n")
    assert (result.code, result.err) == (0, "")
    assert [line.split("\t")[0] for line in result.text.split("\n")] == ["BZh91", "Boston", "", ""]


def test_a_damaged_compressed_file_is_named(corate, model, tmp_path):
    path = tmp_path / "new.bz2"
    path.write_bytes(bz2.compress(b"Boston\n\n" * 1000)[:-9])
    result = corate("tag", model, path)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert f"{path} is not a complete bzip2 file" in result.err


def test_compressed_text_that_is_read_whole(corate, model, tmp_path):
    path = tmp_path / "new.jsonl.gz"
    path.write_bytes(gzip.compress(b'["Boston"]\n'))
    assert corate("tag", model, path).code == 0


def test_codecs_that_are_no_encodings_of_text(corate, model, data, tmp_path):
    result = corate("tag", model, data / "test.tsv", "-o", tmp_path / "out", "--encoding", "rot13")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "'rot13' is not a text encoding" in result.err
    assert not list(tmp_path.iterdir())


def test_a_model_is_no_text(corate, model, data, tmp_path):
    for command in (
        ["tag", model, model],
        ["eval", model, model],
        ["train", model, "-o", tmp_path / "m"],
        ["compare", data / "train.tsv", "--test", model],
    ):
        result = corate(*command)
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert f"{model} is a Corate model, not text" in result.err


def test_raw_text_is_tokenised_and_labelled_like_its_tokens(corate, model):
    raw = corate("tag", model, "-f", "raw", stdin="Zoë, 12 Oak St.\n\n# Boston!\n".encode())
    assert (raw.code, raw.err) == (0, "")
    assert raw.out == corate("tag", model, "-f", "text", stdin="Zoë , 12 Oak St.\n# Boston !\n".encode()).out
    assert corate("tag", model, "-f", "raw", "--comment", "#", stdin=b"12 Oak\n# Boston!\n").text.count("\n") == 3
    as_json = corate("tag", model, "-f", "raw", "--to", "jsonl", stdin=b"12 Oak, Boston")
    assert json.loads(as_json.text)["tokens"] == ["12", "Oak", ",", "Boston"]


@pytest.mark.parametrize("format", ["raw", "text"])
def test_formats_without_labels_are_not_listed_as_output(corate, model, format):
    result = corate("tag", model, "-f", "text", "--to", format, stdin=b"Ann")
    assert (result.code, result.out) == (2, b"")
    listed = "auto, columns, conllu, labelstudio, jsonl, slashed, items"
    assert f"{format!r} is not one of {listed}" in result.err
    assert f"--to <{listed.replace(', ', '|')}>" in corate("tag", "--help").text


def test_json_lines_with_integer_labels(corate, tmp_path):
    (tmp_path / "train.jsonl").write_text('{"tokens": ["Ann", "sings"], "ner_tags": [1, 0]}\n' * 3, "utf-8")
    info = {"features": {"ner_tags": {"feature": {"names": ["O", "B-PER"]}}}}
    (tmp_path / "dataset_info.json").write_text(json.dumps(info), "utf-8")
    names = ["--label", "ner_tags", "--label-names", str(tmp_path / "dataset_info.json")]
    model = str(tmp_path / "m.corate")
    corate("train", str(tmp_path / "train.jsonl"), "-o", model, *names, "--quiet")
    tagged = corate("tag", model, str(tmp_path / "train.jsonl"), *names).text
    assert tagged == '{"tokens": ["Ann", "sings"], "ner_tags": [1, 0]}\n' * 3
    assert corate("tag", model, str(tmp_path / "train.jsonl")).text.count('"labels": ["B-PER", "O"]') == 3
