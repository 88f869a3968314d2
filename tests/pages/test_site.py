"""The documentation site builds without a warning, fetches nothing from elsewhere, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("mkdocs", reason="the site is NOT tested: the extra `docs` is not installed")
pytest.importorskip("material")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parents[2]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert built.stderr == ""
    return folder


def test_the_site_has_a_page_for_every_document_and_example(site: Path) -> None:
    expected = {f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md")}
    expected |= {"changelog.html", "contributing.html", "measurements.html"}
    expected |= {f"example-{path.stem}.html" for path in (ROOT / "examples").glob("*.*") if path.suffix != ".pyc"}
    assert expected - {path.name for path in site.glob("*.html")} == set()


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    fetched = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*?(?:src|href)=\"?((?:https?:)?//[^\"\s>]+)")
    found = {(path.name, url) for path in site.glob("*.html") for url in fetched.findall(path.read_text("utf-8"))}
    assert found == set()
    assert not [path for path in site.rglob("*.css") if re.search(r"url\(\"?https?:", path.read_text("utf-8"))]


def test_links_out_of_docs_lead_to_pages(site: Path) -> None:
    serving = (site / "serving.html").read_text("utf-8")
    assert 'href="example-web_server.html"' in serving
    assert 'href="contributing.html"' in (site / "architecture.html").read_text("utf-8")
    assert 'href="answers.html#in-notebooks"' in (site / "changelog.html").read_text("utf-8")


def test_the_reference_has_every_public_name_and_method(site: Path) -> None:
    import corate

    page = (site / "api.html").read_text("utf-8")
    names = [*corate.__all__, "Tagger.tag", "Tagger.entities", "Corpus.split", "GraphModel.fit", "Report.to_dict"]
    assert [name for name in names if f'id="corate.{name}"' not in page] == []
    assert ":class:" not in page


def test_the_reference_of_the_algebra_has_every_public_name(site: Path) -> None:
    from corate import rate

    page = (site / "api-rate.html").read_text("utf-8")
    names = [*rate.__all__, "Table.log_table", "Counts.total", "Derivation.check", "Graph.of"]
    assert [name for name in names if f'id="corate.rate.{name}"' not in page] == []


def test_examples_are_shown_with_prompts_that_copying_leaves_out(site: Path) -> None:
    assert '<span class="gp">&gt;&gt;&gt; </span>' in (site / "tutorial.html").read_text("utf-8")
    assert "[data-md-copying] .gp" in (site / "stylesheets" / "site.css").read_text("utf-8")


def test_search_knows_the_pages(site: Path) -> None:
    places = {entry["location"] for entry in json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]}
    assert "evaluation.html#cross-validation" in places
    assert "commands.html#corate-train" in places
    assert not [place for place in places if place.startswith("measurements")]


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_ask_no_other_host(browser: Any, address: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    events: list[str] = []
    page = context.new_page()
    page.on("request", lambda made: None if made.url.startswith(address) else events.append(made.url))
    page.on("console", lambda message: events.append(message.text))
    page.on("pageerror", lambda error: events.append(str(error)))
    for name in ("index", "tutorial", "api", "commands", "benchmarks"):
        page.goto(f"{address}{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        chosen = page.get_attribute("body", "data-md-color-scheme")
        assert chosen == {"light": "default", "dark": "slate"}[scheme]
    context.close()
    assert events == []


def test_search_finds_a_page(browser: Any, address: str) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(f"{address}index.html")
    page.click(".md-search__input")
    page.keyboard.type("cross-validation")
    page.wait_for_selector(".md-search-result__link[href*='evaluation.html']")
    page.context.close()


# -- the tools themselves --------------------------------------------------------------------------------------------


class Config:
    repo_url: str | None = None


@pytest.mark.parametrize(
    ("text", "place", "rewritten"),
    [
        ("[a](../README.md)", "docs", "[a](index.md)"),
        ("[a](../benchmarks/README.md#the-battery)", "docs", "[a](measurements.md#the-battery)"),
        ("[a](docs/api.md#errors)", "", "[a](api.md#errors)"),
        ("[a](api.md)", "docs", "[a](api.md)"),
        ("![a](docs/images/training.svg)", "", "![a](images/training.svg)"),
        ("[a](#b) [c](https://d.e/f)", "docs", "[a](#b) [c](https://d.e/f)"),
        ("[the licence](../LICENSE)", "docs", "the licence"),
        ("| `a\\|b` | c\\|d |", "docs", "| `a|b` | c\\|d |"),
    ],
)
def test_links_are_rewritten_for_the_site(text: str, place: str, rewritten: str) -> None:
    config: Any = Config()
    assert tool("site_pages")._rewrite(text, place, config) == rewritten


def test_files_without_a_page_are_linked_in_the_repository() -> None:
    config: Any = Config()
    config.repo_url = "https://example.org/corate/"
    shown = tool("site_pages")._rewrite("[a](../LICENSE)", "docs", config)
    assert shown == "[a](https://example.org/corate/blob/main/LICENSE)"


def test_a_link_that_leads_nowhere_is_an_error() -> None:
    config: Any = Config()
    with pytest.raises(Exception, match="leads nowhere"):
        tool("site_pages")._rewrite("[a](../no-such-file.py)", "docs", config)


def test_docstrings_become_markdown() -> None:
    text = "Read by :func:`corate.read`, see :meth:`fit` ::\n\n>>> 1 + 1\n2\n\nMore."
    shown = "Read by [`corate.read`][corate.read], see `fit` :\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore."
    assert tool("site_docstrings").markdown(text) == shown
