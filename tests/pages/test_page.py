"""Pages are self-contained and safe, whatever the text in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

import corate.pages.page
from corate.pages.page import fragment, isolated, render, visible
from hostile_strings import HOSTILE

PAGES = Path(corate.pages.page.__file__).parent
FILES = sorted([*PAGES.rglob("*.js"), *PAGES.rglob("*.html"), *PAGES.rglob("*.css")])
#: Ways to make code of text, in scripts and templates.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setTimeout\(['\"]|srcdoc"
    r"|createContextualFragment|DOMParser|setAttribute\(\s*['\"]on|<[^>]*\son\w+\s*=|\.on\w+\s*=|\|\s*safe\b|autoescape"
    r"|javascript:|https?://(?!www\.w3\.org/)|<[^>]*\sstyle\s*=|@import|url\(",
    re.IGNORECASE,
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_script_or_template_makes_code_of_text(path: Path) -> None:
    assert FORBIDDEN.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text", ["a.innerHTML = b", "<p onclick='x'>", "a.onclick = f", "{{ x | safe }}", "<p style='x'>", "eval(x)"]
)
def test_the_check_of_scripts_and_templates_finds_what_it_looks_for(text: str) -> None:
    assert FORBIDDEN.search(text)


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix in {".js", ".css"}], ids=lambda path: path.name)
def test_no_script_or_style_sheet_ends_its_own_element(path: Path) -> None:
    assert not re.search(r"</|<!--", path.read_text(encoding="utf-8"))


def test_the_policy_allows_no_source_but_the_hashes() -> None:
    page = render("base.html", title="a title")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    directives = dict(part.split(" ", 1) for part in policy[1].replace("&#39;", "'").split("; "))
    assert directives["default-src"] == directives["script-src"] == "'none'"
    assert directives["base-uri"] == directives["form-action"] == "'none'"
    assert re.fullmatch(r"'sha256-[\w+/=]+'", directives["style-src"])


@given(st.recursive(st.text() | st.integers() | st.sampled_from(HOSTILE), lambda inner: st.lists(inner)))
def test_data_come_back_as_they_were(data: object) -> None:
    page = render("base.html", title="", data=data)
    text = page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0]
    assert json.loads(text) == data
    assert not re.search("[<>&\u2028\u2029]", text)


@given(st.text() | st.sampled_from(HOSTILE))
def test_any_text_can_be_written_as_utf8(text: str) -> None:
    for page in (render("base.html", title=text, data=[text]), fragment("fragment.html", title=text)):
        page.encode()


@given(st.text() | st.sampled_from(HOSTILE))
def test_isolated_text_has_no_markup_and_no_invisible_character(text: str) -> None:
    found = str(isolated(text))
    assert found.startswith("<bdi>")
    assert found.endswith("</bdi>")
    assert "<" not in found[5:-6]
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]", found)


def test_joiners_stay_in_text() -> None:
    text = "\u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f469"
    assert visible(text) == text


def test_a_forgotten_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("base.html")


def test_a_fragment_has_no_script_and_leaves_the_rest_of_a_notebook_alone() -> None:
    text = fragment("fragment.html", title="a title")
    assert "<script" not in text
    style = re.sub(
        r"/\*.*?\*/|@media[^{]*\{", "", text.partition("<style>")[2].partition("</style>")[0], flags=re.DOTALL
    )
    selectors = [part for group in re.findall(r"([^{}]+)\{", style) for part in group.split(",")]
    assert selectors
    assert [part for part in selectors if not part.strip().startswith(".corate")] == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_does_nothing_in_a_browser(open_page, text: str) -> None:
    opened = open_page(render("base.html", title=text, data={text: [text]}))
    assert json.loads(opened.page.text_content("#data") or "") == {text: [text]}


def test_only_the_script_of_the_page_runs(open_page) -> None:
    page = render("base.html", title="a title").replace("<main>", "<main><script>document.title = 'changed'</script>")
    opened = open_page(page)
    assert opened.page.title() == "a title"
    assert any("Content Security Policy" in event for event in opened.events)
    opened.events.clear()
