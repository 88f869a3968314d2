"""A format is one object and a line of the registry: everything else, also the docs, follows from them."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import corate
from corate.corpus import Column, Corpus
from corate.errors import DataError
from corate.formats import read, read_pieces, registry
from corate.formats.format import Format, Options, Writing
from corate.formats.registry import FORMATS, Entry, format_of

DOCS = Path(__file__).parents[2] / "docs/formats.md"


@pytest.mark.parametrize("name", FORMATS)
def test_the_table_in_the_docs_is_the_registry(name: str) -> None:
    format = format_of(name)
    row = re.search(rf"\| \[`{name}`\]\(#[-a-z]+\) \| (.*?) \| (.*?) \| (.*?) \|\n", DOCS.read_text("utf-8"))
    assert row is not None, f"docs/formats.md has no row for {name}"
    token, detected, labelled = row.groups()
    assert token == format.token
    assert re.findall(r"`(\.\w+)`", detected) == list(format.suffixes)
    assert ("first lines" in detected) == (format.fits is not None)
    assert labelled.startswith("yes" if FORMATS[name].labelled else "no")
    assert ("cannot be written" in labelled) == (format.write is None)


def test_the_table_in_the_docs_has_the_order_of_the_registry() -> None:
    assert re.findall(r"\n\| \[`(\w+)`\]", DOCS.read_text("utf-8")) == list(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_its_name_and_suffixes_of_its_own(name: str) -> None:
    assert format_of(name).name == name
    others = {suffix for other in FORMATS if other != name for suffix in format_of(other).suffixes}
    assert not others & set(format_of(name).suffixes)


def _read_dashed(data: bytes, name: str, options: Options) -> Corpus:
    pairs = [[tuple(token.split("-")) for token in line.split()] for line in data.decode().splitlines()]
    return Corpus.from_sentences(pairs)


def _write_dashed(corpus: Corpus, labels: Column | None, options: Writing) -> str:
    assert labels is not None
    assert corpus.word is not None
    return " ".join(map("-".join, zip(corpus.word.values(), labels.values(), strict=True))) + "\n"


@pytest.fixture
def dashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up format, registered as one is: a module with the object, and a line."""
    module = ModuleType("corate.formats.made_up")
    module.DASHED = Format(  # type: ignore[attr-defined]
        "dashed",
        "word-label",
        _read_dashed,
        _write_dashed,
        lambda head: head.data.startswith(b"!"),
        suffixes=(".dash",),
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(registry.FORMATS, "dashed", Entry("made_up", "word-label tokens"))


@pytest.mark.usefixtures("dashed")
def test_a_new_format_is_recognised_read_written_and_limited(tmp_path: Path) -> None:
    (tmp_path / "a.dash").write_text("Ann-NAME sings-VERB\nBob-NAME\n")
    corpus = read(tmp_path / "a.dash")
    assert corpus.labels_of(0) == ["NAME", "VERB"]
    assert read(b"!-MARK Ann-NAME\n").tokens(0) == ["!", "Ann"]
    assert [len(piece) for piece in read_pieces(str(tmp_path / "a.dash"))] == [2]
    corate.write(corpus, written := io.StringIO(), format="dashed")
    assert written.getvalue() == "Ann-NAME sings-VERB Bob-NAME\n"
    with pytest.raises(
        DataError, match=r"a\.dash, line 1: a sentence of more than 1 token; .* end each with a line feed"
    ):
        read(tmp_path / "a.dash", max_sentence=1)
    with pytest.raises(DataError, match="label= is for CoNLL-U and JSON lines, not for the format 'dashed'"):
        read(tmp_path / "a.dash", label="x")
    with pytest.raises(DataError, match=r"unknown format 'dots'; choose one of auto, .*, dashed"):
        read(b"", format="dots")
