"""Pages are opened in an installed Chromium, which records everything that a safe page never does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")


@dataclass
class OpenPage:
    """A page in the browser, and what happened in it that should not: messages, errors, dialogs and requests."""

    page: Any
    events: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip(f"pages are NOT tested: there is no Chromium (looked for {', '.join(_PROGRAMS)})")
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are NOT tested: playwright is not installed")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., OpenPage]]:
    """A function that opens the text of a page. At the end of the test nothing may have happened in any page."""
    opened: list[OpenPage] = []

    def open_(
        text: str, *, width: int = 1280, height: int = 800, scheme: str = "light", suffix: str = ".html", **options: Any
    ) -> OpenPage:
        path = tmp_path / f"page-{len(opened)}{suffix}"
        path.write_text(text, encoding="utf-8", newline="")
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, **options
        )
        found = OpenPage(context.new_page())
        opened.append(found)
        _record(found, path.as_uri())
        found.page.goto(path.as_uri())
        return found

    yield open_
    for found in opened:
        found.page.context.close()
    assert [event for found in opened for event in found.events] == []


def _record(found: OpenPage, address: str) -> None:
    page, events = found.page, found.events

    def dialog(asked: Any) -> None:
        events.append(f"dialog: {asked.message}")
        asked.dismiss()

    def request(made: Any) -> None:
        if made.url != address:
            events.append(f"request: {made.url}")

    page.on("console", lambda message: events.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: events.append(f"error: {error}"))
    page.on("dialog", dialog)
    page.on("request", request)
    page.on("popup", lambda other: events.append(f"window: {other.url}"))
