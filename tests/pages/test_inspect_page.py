"""The page of a model in a browser: nothing runs that is not ours, and everything can be reached with the keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest

import corate
from corate import Corpus, DataError
from corate.inspection.page import inspect_page
from hostile_strings import HOSTILE
from small_corpora import random_sentences


def accepted(text: str) -> bool:
    """Whether a corpus can hold this text; not a lone surrogate."""
    try:
        Corpus.from_sentences([[(text, text)]])
    except DataError:
        return False
    return True


MINUS = "\u2212"
STRINGS = [text for text in HOSTILE if accepted(text)]


@pytest.fixture(scope="module")
def hostile_page() -> str:
    """A page whose tokens, labels, feature names and file names are all hostile."""
    labels = [*STRINGS, *(f"B-{text}" for text in STRINGS)]
    sentences = [[(text, labels[(i + s) % len(labels)]) for i, text in enumerate(STRINGS)] for s in range(6)]
    tagger = corate.train(Corpus.from_sentences(sentences[:3]), features=["word[0]", "word[-1]|word[0]"])
    name = "".join(HOSTILE)
    return inspect_page(tagger, Corpus.from_sentences(sentences), model=name, text=name)


@pytest.fixture(scope="module")
def page() -> str:
    """The page of a tagger that makes some errors."""
    tagger = corate.train(Corpus.from_sentences(random_sentences(40, seed=4)))
    return inspect_page(tagger, Corpus.from_sentences(random_sentences(80, seed=5)), model="m", text="t", explained=30)


def ready(opened: Any) -> Any:
    opened.page.wait_for_selector("html[data-ready=true]", state="attached")
    return opened.page


def settle(browser: Any) -> None:
    """Wait until the page has answered what was typed or chosen: it does so before the next frame is drawn."""
    browser.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_strings_do_nothing(open_page, hostile_page: str, width: int) -> None:
    browser = ready(open_page(hostile_page, width=width))
    assert len(HOSTILE) - len(STRINGS) <= 1  # the lone surrogate, which is in the name of the model
    for text in STRINGS[:6]:
        browser.fill("#feature-search", text)
        browser.fill("#sentence-search", text)
    browser.fill("#sentence-search", "")
    settle(browser)
    # Every button, as a click with the mouse would, but without waiting for it to come into view.
    browser.evaluate("document.querySelectorAll('summary, button').forEach(e => e.click())")
    browser.evaluate("document.querySelectorAll('button.token').forEach(e => e.click())")
    assert browser.locator(".why").count() > 0
    assert browser.locator("img, iframe, object, embed, link, base").count() == 0
    assert browser.locator("main script, main style").count() == 0
    names = browser.evaluate("[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())")
    assert [name for name in names if name.startswith("on") or name in ("srcdoc", "formaction")] == []
    shown = browser.locator("#sentence-list").text_content()
    assert "</script><img src=x onerror=alert(1)>" in shown
    assert "⟨U+202E⟩" in shown
    assert "⟨U+0000⟩" in shown
    assert "\u202e" not in browser.locator("main").text_content()


def test_the_page_fits_on_a_phone(open_page, page: str, hostile_page: str) -> None:
    for text in (page, hostile_page):
        browser = ready(open_page(text, width=390, height=844))
        assert browser.evaluate("document.documentElement.scrollWidth") == 390


def press_until(browser: Any, key: str, selector: str, most: int = 200) -> None:
    """Press a key until an element that matches the selector has the focus."""
    for _ in range(most):
        browser.keyboard.press(key)
        if browser.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"{key} does not reach {selector}")


def test_the_keyboard_reaches_everything_that_can_be_used(open_page, page: str) -> None:
    browser = ready(open_page(page))
    wanted = browser.evaluate(
        """() => [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0']")]
                 .filter(e => e.checkVisibility() && e.tabIndex >= 0).length"""
    )
    seen = set()
    for _ in range(wanted + 5):
        browser.keyboard.press("Tab")
        seen.add(
            browser.evaluate(
                """() => { const e = document.activeElement, all = [...document.querySelectorAll("*")];
                           const box = e.getBoundingClientRect(), look = getComputedStyle(e);
                           if (e !== document.body && look.outlineStyle === "none") throw new Error("no visible focus");
                           return e === document.body ? -1 : all.indexOf(e); }"""
            )
        )
    assert len(seen - {-1}) == wanted


def test_enter_opens_the_sentences_behind_a_cell(open_page, page: str) -> None:
    browser = ready(open_page(page))
    press_until(browser, "Tab", ".matrix td:not(.right) button")
    gold, predicted, tokens = browser.evaluate(
        "() => { const e = document.activeElement; return [e.dataset.gold, e.dataset.predicted, e.textContent]; }"
    )
    browser.keyboard.press("Enter")
    assert browser.evaluate("document.activeElement.id") == "sentences"
    text = browser.evaluate("JSON.parse(document.getElementById('data').textContent).text")
    found = [
        s
        for s in range(len(text["number"]))
        if any(
            (text["gold"][t], text["predicted"][t]) == (int(gold), int(predicted))
            for t in range(text["start"][s], text["start"][s + 1])
        )
    ]
    assert int(tokens) >= len(found) > 0
    assert browser.locator("#sentence-list > li").count() == min(len(found), 25)
    assert browser.locator("#sentence-status").inner_text().startswith(f"{len(found)} of 80 sentences, with tokens of")
    shown = browser.locator("#sentence-list .sentence-head").first.text_content()
    assert f"sentence {text['number'][found[0]]}" in shown
    assert browser.locator("#sentence-list > li:has(.chosen)").count() == min(len(found), 25)
    press_until(browser, "Tab", "#cell-clear")
    browser.keyboard.press("Enter")
    assert browser.locator("#sentence-status").inner_text() == "80 of 80 sentences."
    assert browser.locator(".chosen").count() == 0


def test_enter_explains_a_token_and_arrows_go_to_the_next(open_page, page: str) -> None:
    browser = ready(open_page(page))
    press_until(browser, "Tab", "button.token")
    browser.keyboard.press("Home")
    browser.keyboard.press("Enter")
    item = browser.locator("#sentence-list > li").first
    assert item.locator(".why").count() == 1
    assert item.locator("button.token").first.get_attribute("aria-expanded") == "true"
    first = item.locator(".why").inner_text()
    browser.keyboard.press("ArrowRight")
    browser.keyboard.press(" ")
    assert item.locator(".why").count() == 1
    assert item.locator(".why").inner_text() != first
    browser.keyboard.press(" ")
    assert item.locator(".why").count() == 0


def test_the_terms_that_are_shown_sum_to_the_difference(open_page, page: str) -> None:
    browser = ready(open_page(page))
    for token in browser.locator("button.token").all()[:10]:
        token.click()
        why = token.locator("xpath=ancestor::li").locator(".why")
        scores = [float(text.replace(MINUS, "-")) for text in why.locator("td.number").all_inner_texts()]
        if scores:
            said = float(why.locator("p").inner_text().rpartition(" ")[2].replace(MINUS, "-"))
            assert sum(scores) == pytest.approx(said, abs=0.06)


def test_features_are_searched_by_text_label_and_sign(open_page, page: str) -> None:
    browser = ready(open_page(page))
    press_until(browser, "Tab", "#feature-search")
    browser.keyboard.type("WORD[0]")
    settle(browser)
    names = browser.locator("#feature-rows code").all_inner_texts()
    assert names
    assert all("word[0]" in name for name in names)
    browser.select_option("#feature-label", label="V")
    browser.select_option("#feature-sign", value="-1")
    settle(browser)
    numbers = browser.locator("#feature-rows td.number").all_inner_texts()
    assert numbers
    assert all(number.startswith(MINUS) for number in numbers)
    assert set(browser.locator("#feature-rows td:nth-child(2)").all_inner_texts()) == {"V"}
    browser.fill("#feature-search", "no such feature")
    settle(browser)
    assert browser.locator("#feature-rows tr").count() == 0
    assert browser.locator("#feature-status").inner_text().startswith("0 of ")


def test_sentences_are_searched_ordered_and_shown_in_parts(open_page, page: str) -> None:
    browser = ready(open_page(page))
    items = browser.locator("#sentence-list > li")
    assert items.count() == 25
    browser.click("#sentence-more")
    assert items.count() == 50
    assert browser.evaluate(
        "document.activeElement.closest('li') === document.querySelectorAll('#sentence-list > li')[25]"
    )
    browser.select_option("#sentence-order", "text")
    settle(browser)
    assert browser.locator(".sentence-head").first.text_content().startswith("sentence 1doubt")
    browser.select_option("#sentence-kind", "wrong")
    browser.fill("#sentence-search", "walk")
    settle(browser)
    assert 0 < items.count() <= 25
    assert all("walking" in text for text in items.all_text_contents())
    assert all("wrong" in head for head in browser.locator(".sentence-head").all_text_contents())


def test_a_model_alone_and_text_without_labels_work(open_page) -> None:
    tagger = corate.train(Corpus.from_sentences(random_sentences(40, seed=4)))
    browser = ready(open_page(inspect_page(tagger)))
    assert browser.locator("#feature-rows tr").count() > 0
    words = Corpus.from_sentences([[word for word, _ in sentence] for sentence in random_sentences(9, seed=5)])
    browser = ready(open_page(inspect_page(tagger, words)))
    assert browser.locator("#sentence-list > li").count() == 9
    browser.locator("button.token").first.click()
    assert browser.locator(".why").count() == 1


def luminance(colour: str) -> float:
    """The relative luminance of a colour, as WCAG defines it."""
    shares = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(open_page, page: str, scheme: str) -> None:
    """The smallest text still has a contrast of 4.5 with the ground, as WCAG asks for."""
    browser = ready(open_page(page, scheme=scheme))
    colours = browser.evaluate(
        """() => [getComputedStyle(document.body).backgroundColor,
                  ...["body", ".muted", "nav a", ".sentence-head .wrong"].map(
                    one => getComputedStyle(document.querySelector(one)).color)]"""
    )
    ground, *texts = map(luminance, colours)
    for text in texts:
        assert (max(text, ground) + 0.05) / (min(text, ground) + 0.05) >= 4.5
