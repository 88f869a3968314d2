"""corate inspect: a page about a model and a text."""

from __future__ import annotations

import os
import sys

import pytest


def test_a_page_shows_the_model_and_the_text(corate, data, model, tmp_path):
    page = tmp_path / "page.html"
    found = corate("inspect", model, data / "test.tsv", "-o", page)
    assert (found.code, found.err) == (0, "")
    assert found.text.startswith(f"page: {page}, ")
    text = page.read_text()
    assert "<bdi>address.corate</bdi>" in text
    assert "<bdi>test.tsv</bdi>, 60 sentences" in text
    assert 'id="errors"' in text
    assert corate("inspect", model, data / "test.tsv", "-o", page, "--quiet").text == ""
    assert page.read_text() == text


def test_the_model_alone_needs_no_text(corate, model, tmp_path):
    assert corate("inspect", model, "-o", tmp_path / "page.html").code == 0
    assert "The model alone" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("new.tsv", "Ann\nLee\n\n12\n", []),
        ("new.txt", "Ann Lee , 12 Oak St\nBob Lee\nDelft\n", []),
        ("new.txt", "Ann Lee, 12 Oak St\n", ["--format", "raw"]),
        ("new.jsonl", '{"tokens": ["Ann", "Lee"]}\n', []),
        ("new.tsv", "Ann\tB-NAME\nLee\tI-NAME\n", ["--unlabelled"]),
        ("new.tsv", "Ann\tB-NAME\nLee\tI-NAME\n", ["--columns", "word,_"]),
    ],
)
def test_text_without_labels_is_inspected_without_gold(corate, model, tmp_path, name, text, options):
    (tmp_path / name).write_text(text)
    found = corate("inspect", model, tmp_path / name, "-o", tmp_path / "page.html", *options)
    assert (found.code, found.err) == (0, "")
    page = (tmp_path / "page.html").read_text()
    assert "without gold labels" in page
    assert 'id="errors"' not in page


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("new.tsv", "Ann\tB-NAME\nLee\tI-NAME\n", []),
        ("new", "Ann/B-NAME Lee/I-NAME\n", []),
        ("new.jsonl", '{"tokens": ["Ann", "Lee"], "labels": ["B-NAME", "I-NAME"]}\n', []),
        ("new.tsv", "B-NAME\tAnn\nI-NAME\tLee\n", ["--columns", "label,word"]),
        ("new.tsv.gz", None, []),
    ],
)
def test_labels_of_every_format_count(corate, model, tmp_path, name, text, options):
    if text is None:
        import gzip

        (tmp_path / name).write_bytes(gzip.compress(b"Ann\tB-NAME\nLee\tI-NAME\n"))
    else:
        (tmp_path / name).write_text(text)
    found = corate("inspect", model, tmp_path / name, "-o", tmp_path / "page.html", *options)
    assert (found.code, found.err) == (0, "")
    assert 'id="errors"' in (tmp_path / "page.html").read_text()


def test_standard_input_is_a_text(corate, model, tmp_path):
    assert corate("inspect", model, "-", "-o", tmp_path / "page.html", stdin=b"Ann\tB-NAME\n\n").code == 0
    assert "<bdi>standard input</bdi>" in (tmp_path / "page.html").read_text()


def test_mistakes_are_told_and_leave_files_as_they_were(corate, data, model, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    assert "no directory" in corate("inspect", model, "-o", tmp_path / "no" / "page.html").err
    assert "this is a directory" in corate("inspect", model, "-o", tmp_path).err
    assert "is an input" in corate("inspect", model, "-o", model).err
    assert "is an input" in corate("inspect", model, data / "test.tsv", "-o", data / "test.tsv").err
    assert "not written to standard output" in corate("inspect", model, "-o", "-").err
    (tmp_path / "bad.items").write_text("\tw=a\n")
    assert "use --unlabelled" in corate("inspect", model, tmp_path / "bad.items", "-o", page).err
    (tmp_path / "empty").write_text("")
    assert corate("inspect", model, tmp_path / "empty", "-o", page).code == 1
    assert page.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.items", "empty", "page.html"]


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_page_that_cannot_be_replaced_is_told_before_any_work(corate, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    page.chmod(0o400)
    found = corate("inspect", tmp_path / "no-model", "-o", page)
    assert "exists and is not writable" in found.err


def test_a_page_has_the_suffix_of_its_format(corate, model, tmp_path):
    refused = corate("inspect", model, "-o", tmp_path / "a.png")
    assert (refused.code, "must end in .html or .htm" in refused.err) == (2, True)
    assert not (tmp_path / "a.png").exists()
