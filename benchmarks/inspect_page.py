"""How long does `corate inspect` take, how large is its page, and how long does a browser take to open it?

`python -m benchmarks.inspect_page`

The page of the default method for ned.testb, made by the whole command, and opened in Chromium from the start of the
navigation until all of it is built and the next frame is drawn. Without playwright or Chromium, opening is left out.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import corpora, measure
from benchmarks.tables import Row, Table, data_folder, parser

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def opening(page: Path, times: int, width: int) -> tuple[list[float], str] | None:
    """The seconds until the page can be used, each in a new window, and the version; None without a browser."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return None
    if program is None:
        return None
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(times):
            window = browser.new_context(viewport={"width": width, "height": 800}, offline=True).new_page()
            begin = time.perf_counter()
            window.goto(page.as_uri(), wait_until="commit")
            window.wait_for_selector("html[data-ready=true]", state="attached")
            window.evaluate(FRAME)
            found.append(time.perf_counter() - begin)
            window.context.close()
        version = browser.version
        browser.close()
    return found, version


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the page and open it."""
    options = parser("inspect_page", "The page of a model: time, size, opening.")
    options.add_argument("--runs", type=int, default=5, help="how often to measure each (default: 5)")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    folder = corpora.ROOT / data / "models"
    columns = ("--columns", corpora.COLUMNS["ned"])
    model, page = measure.from_root(folder / "ned-inspect.corate"), measure.from_root(folder / "ned-inspect.html")
    train, test = (str(measure.from_root(corpora.ROOT / data / name)) for name in ("ned.train", "ned.testb"))
    measure.run(["corate", "train", train, "-o", str(model), *columns, "--quiet"])
    runs = measure.repeat(["corate", "inspect", str(model), test, "-o", str(page), *columns, "--quiet"], given.runs)
    table = Table("inspect_page", "What does the page of a model cost?")
    best, median = measure.best_and_median(runs)
    cpu = statistics.median(run.cpu for run in runs)
    note = (
        f"4,211 sentences, whole command; best of {len(runs)} {best:.2f} s, CPU {cpu:.2f} s, {runs[0].peak_mb:.0f} MB"
    )
    table.add(Row("ned.testb, made in", median, "s", at_most=8.0, note=note, command=runs[0].command))
    path = corpora.ROOT / page
    table.add(Row("ned.testb, size", path.stat().st_size / 1e6, "MB", at_most=15.0))
    for width in (1280, 390):
        opened = opening(path, given.runs, width)
        if opened is not None:
            seconds, version = opened
            note = f"Chromium {version}, median of {len(seconds)}; longest {max(seconds):.2f} s"
            measured = f"ned.testb, {width} pixels wide, opened in"
            table.add(Row(measured, statistics.median(seconds), "s", at_most=2.0, note=note))
    table.finish()


if __name__ == "__main__":
    main()
