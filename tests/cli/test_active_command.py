"""corate active: sentences are copied as they are, the best first."""

import pytest

TEXT = "12 Oak St , Boston\nzork blip blap\nAnn Lee , 12 Oak St , Boston\n"


def test_the_least_sure_sentence_is_copied(corate, model):
    result = corate("active", model, "-", "-n", 1, "-f", "text", stdin=TEXT.encode())
    assert (result.code, result.text, result.err) == (0, "zork blip blap\n", "")


@pytest.mark.parametrize("by", ["confidence", "entropy", "diverse"])
def test_all_sentences_come_out_once(corate, model, by):
    result = corate("active", model, "-", "--by", by, "-f", "text", "-q", stdin=TEXT.encode())
    assert sorted(result.text.splitlines()) == sorted(TEXT.splitlines())


def test_fewer_sentences_than_asked_for_is_said(corate, model):
    assert "only 3 sentences" in corate("active", model, "-", "-f", "text", stdin=TEXT.encode()).err


@pytest.mark.parametrize(
    ("format", "text", "chosen"),
    [
        ("raw", "12 Oak St,  Boston\n \u00a0\n\nzork: blip  blap\r\n", "zork: blip  blap\n"),
        ("columns", "12\tX\nOak\tY\n\n# c\nzork\tX\nblip\tY\n", "# c\nzork\tX\nblip\tY\n\n"),
        ("columns", "12\nOak\n\n\n\n# c\n\nzork\nblip\n", "zork\nblip\n\n"),
        ("slashed", "12/O Oak/O\nzork/O blip/O\n", "zork/O blip/O\n"),
        ("jsonl", '["12", "Oak"]\n{"id": 7, "tokens": ["zork", "blip"]}\n', '{"id": 7, "tokens": ["zork", "blip"]}\n'),
        (
            "conllu",
            "# a\n1\t12\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
            "# b\n1\tzork\t_\t_\t_\t_\t_\t_\t_\tR=1\n2\tblip\t_\t_\t_\t_\t_\t_\t_\t_\n",
            "# b\n1\tzork\t_\t_\t_\t_\t_\t_\t_\tR=1\n2\tblip\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
        ),
    ],
)
def test_every_format_is_kept(corate, model, format, text, chosen):
    comment = ["--comment", "#"] if format == "columns" else []
    result = corate("active", model, "-", "-n", 1, "-f", format, *comment, stdin=text.encode())
    assert (result.code, result.err) == (0, "")
    assert result.text == chosen


def test_the_output_is_a_file_that_can_be_tagged(corate, model, data, tmp_path):
    out = tmp_path / "chosen.tsv"
    assert corate("active", model, data / "test.tsv", "-n", 5, "-o", out).code == 0
    tagged = corate("tag", model, out)
    assert tagged.code == 0
    assert len(tagged.text.strip().split("\n\n")) == 5


def test_the_model_is_not_overwritten(corate, model):
    before = model.read_bytes()
    result = corate("active", model, "-", "-o", model, "-f", "text", stdin=TEXT.encode())
    assert (result.code, model.read_bytes()) == (2, before)


def test_control_characters_are_escaped_on_a_terminal(corate, model):
    text = b"zork \x1b[31mblip\n"
    assert corate("active", model, "-", "-n", 1, "-f", "text", stdin=text, screen=True).out == b"zork \\x1b[31mblip\n"
    assert corate("active", model, "-", "-n", 1, "-f", "text", stdin=text).out == text
