"""Tagged text: blocks of any size give the same output, and wrong options are refused before anything is read on."""

import pytest

import corate
from corate.errors import ConfigError, DataError
from corate.model.tagged_text import Questions, TextOptions, tagged_blocks
from small_corpora import TEXT


@pytest.fixture(scope="module", name="tagger")
def _tagger():
    return corate.train(corate.read(TEXT * 20), "empirical")


def tagged(tagger, data, size=1 << 20, questions=None, **options):
    blocks = iter([data[i : i + size] for i in range(0, len(data), size)])
    return b"".join(tagged_blocks(tagger, blocks, TextOptions("the text", **options), questions or Questions()))


@pytest.mark.parametrize("questions", [Questions(), Questions(scores=True), Questions(nbest=2)])
@pytest.mark.parametrize(("format", "to"), [("columns", "auto"), ("text", "columns"), ("raw", "columns")])
def test_blocks_of_any_size_give_the_same_text(tagger, format, to, questions):
    rows = b"the\ndog\n\na\ncat\n\nsleeps\n"
    data = rows if format == "columns" else rows.replace(b"\n\n", b"|").replace(b"\n", b" ").replace(b"|", b"\n")
    whole = tagged(tagger, data, format=format, to=to, questions=questions)
    assert whole.count(b"\n\n") >= 2
    assert all(tagged(tagger, data, size, questions, format=format, to=to) == whole for size in (1, 5, 13))


def test_options_that_do_not_suit_the_formats_are_refused_at_once(tagger):
    for questions, to, option in [
        (Questions(nbest=2), "slashed", "nbest"),
        (Questions(scheme="auto"), "conllu", "constrain"),
    ]:
        with pytest.raises(ConfigError) as refused:
            tagged_blocks(tagger, iter([b"the\n"]), TextOptions("x", format="columns", to=to), questions)
        assert refused.value.option == option


def test_errors_name_the_text_and_the_line(tagger):
    with pytest.raises(DataError) as error:
        tagged(tagger, b"the\tDET\n\ndog\tXYZ\n", questions=Questions(fixed="2"), format="columns", separator="\t")
    assert (error.value.file, error.value.line) == ("the text", 3)
