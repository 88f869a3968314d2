"""Cells are measured within their budget, kept at once, and taken up again after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("corate_reproduction")

import corate
from corate_reproduction import running
from corate_reproduction.cells import Outcome, Store, fingerprint
from corate_reproduction.running import CellError, Data, Worker, estimate, run
from small_cells import cell, splits

METHODS = ("empirical", "separate", "standard", "memm")
TIMES = ("seconds", "seconds_per_iteration")


@pytest.fixture(scope="module")
def data():
    with Data.of(splits()) as data:
        yield data


@pytest.fixture(scope="module")
def measured(data, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("cells"))
    return store, run([cell(method) for method in METHODS], data, store, budget=60)


def without_times(records):
    return [{key: value for key, value in one.items() if key not in TIMES} for one in records]


def test_a_cell_says_what_training_and_evaluating_by_hand_say(data, measured):
    by_method = {one["method"]: one for one in measured[1]}
    train, test = (corate.read(data.folder / f"tiny.{part}", columns=["word", "label"]) for part in ("train", "test"))
    for method in METHODS:
        tagger = corate.train(train, **cell(method).options)
        report = corate.evaluate(tagger, test)
        for key in ("accuracy", "accuracy_known", "accuracy_oov", "f1"):
            assert by_method[method][key] == getattr(report, key)
    assert by_method["standard"]["iterations"] >= 1
    assert (by_method["memm"]["sentences"], by_method["memm"]["tokens"]) == (60, data.tokens["tiny.train"])


def test_measuring_again_gives_the_same_to_the_last_digit(data, measured, tmp_path):
    again = run([cell(method) for method in METHODS], data, Store(tmp_path), budget=60)
    assert without_times(again) == without_times(measured[1])


def test_what_is_kept_is_not_measured_again(data, measured, monkeypatch):
    monkeypatch.setattr(Worker, "measure", lambda *_: pytest.fail("it had been measured"))
    store, before = measured
    assert run([cell(method) for method in METHODS], data, store, budget=60) == before


@pytest.mark.parametrize("stop_in", ["between cells", "within a cell"])
def test_stopped_and_taken_up_again_is_as_if_never_stopped(data, measured, tmp_path, monkeypatch, stop_in):
    store, cells = Store(tmp_path), [cell(method) for method in METHODS]

    def stop(news):
        if news.cell.method == "standard" and (news.outcome is None) == (stop_in == "within a cell"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(cells, data, store, budget=60, report=stop)
    done = 3 if stop_in == "between cells" else 2
    assert len(list(tmp_path.glob("*.json"))) == done
    asked = []
    usual = Worker.measure
    monkeypatch.setattr(Worker, "measure", lambda self, c, *rest: asked.append(c.method) or usual(self, c, *rest))
    assert without_times(run(cells, data, store, budget=60)) == without_times(measured[1])
    assert asked == list(METHODS[done:])


def test_a_training_over_its_budget_is_estimated_and_has_no_accuracy(data, tmp_path):
    store, slow = Store(tmp_path), cell("standard")
    (record,) = run([slow], data, store, budget=1e-4)
    assert record["estimated"]
    assert [record[key] for key in ("accuracy", "accuracy_known", "accuracy_oov", "f1")] == [None] * 4
    assert record["budget"] == 1e-4
    (finished,) = run([slow], data, store, budget=60)  # there is more time now
    assert (finished["estimated"], finished["accuracy"] is not None) == (False, True)
    (kept,) = run([slow], data, store, budget=1e-4)  # finished is finished
    assert kept == finished


def test_a_cell_has_a_budget_of_its_own_where_that_is_smaller(data, tmp_path):
    (record,) = run([cell("piecewise", most_seconds=1e-4)], data, Store(tmp_path), budget=60)
    assert (record["estimated"], record["budget"]) == (True, 1e-4)


@pytest.mark.parametrize(
    ("times", "limit", "total", "each"),
    [([(1, 4.0)], 10, 40.0, 4.0), ([(1, 5.0), (4, 11.0)], 10, 23.0, 2.0), ([(2, 6.0), (2, 6.0)], 2, 6.0, 3.0)],
)
def test_an_estimate_goes_on_at_the_pace_so_far(times, limit, total, each):
    assert estimate(times, limit) == (total, each)


def test_a_hopeless_training_is_stopped_after_a_sixth_of_its_budget():
    watch = running._Watch(90.0)
    watch.see({"event": "training"})
    for k in (1, 2):
        watch.see({"event": "iteration", "done": k, "of": 100, "seconds": 5.0 * k})
    assert not watch.hopeless()
    watch.see({"event": "iteration", "done": 3, "of": 100, "seconds": 15.0})
    assert watch.hopeless()
    assert (watch.estimate().seconds, watch.estimate().seconds_per_iteration) == (500.0, 5.0)
    watch.limit = 5  # 25 s in all: it will end
    assert not watch.hopeless()


def test_a_cell_that_fails_is_told_and_the_others_go_on(data, tmp_path):
    broken = cell("empirical", columns="word,pos,label")
    failures = []
    records = run(
        [broken, cell("empirical")],
        data,
        Store(tmp_path),
        budget=60,
        report=lambda news: failures.append(news.failure) if news.failure else None,
    )
    assert len(records) == len(failures) == 1
    assert "tiny addresses empirical" in failures[0]
    assert len(list(tmp_path.glob("*.json"))) == 1
    with Worker(data.folder) as worker, pytest.raises(CellError):
        worker.measure(broken, 60)


def test_time_left_and_share_are_told(data, tmp_path):
    news = []
    run([cell("empirical"), cell("separate")], data, Store(tmp_path), budget=60, report=news.append)
    done = [one for one in news if one.outcome is not None]
    assert [(one.done, one.of) for one in done] == [(1, 2), (2, 2)]
    assert 0 < done[0].share < done[1].share == 1
    assert done[0].left > done[1].left == 0


# -- the store -------------------------------------------------------------------------------------------------------


def test_damaged_and_foreign_files_are_measured_again(tmp_path):
    store, one = Store(tmp_path), cell("empirical")
    print_ = fingerprint(one, {"tiny.train": "a", "tiny.test": "b"}, "1")
    store.save(one, print_, Outcome(1.5, accuracy=0.5))
    assert store.find(one, print_, 60).accuracy == 0.5
    (path,) = tmp_path.iterdir()
    whole = path.read_text()
    for text in ("", whole[:-40], "[]", "null", json.dumps({"outcome": {}}), whole.replace(print_, "0" * 32)):
        path.write_text(text)
        assert store.find(one, print_, 60) is None
        store.others([], corate.__version__)


def test_fingerprints_tell_data_settings_seed_threads_and_version_apart():
    digests = {"tiny.train": "a", "tiny.test": "b"}
    prints = {
        fingerprint(cell("standard"), digests, "1"),
        fingerprint(cell("standard"), digests | {"tiny.test": "c"}, "1"),
        fingerprint(cell("standard"), digests, "2"),
        fingerprint(cell("standard", seed=1), digests, "1"),
        fingerprint(cell("standard", threads=2), digests, "1"),
        fingerprint(cell("piecewise"), digests, "1"),
    }
    assert len(prints) == 6
    assert fingerprint(cell("standard", most_seconds=5), digests, "1") in prints


def test_no_text_of_a_corpus_is_left_behind():
    with Data.of(splits()) as data:
        folder: Path = data.folder
        assert (folder / "tiny.train").is_file()
    assert not folder.exists()
