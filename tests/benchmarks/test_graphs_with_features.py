"""The rows of the benchmark of graphs: targets are only for test parts, and rivals stand beside every method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.graph_rivals import Answer, timed
from benchmarks.graph_sets import SETS, Graph, Task
from benchmarks.graph_side import Solved
from benchmarks.graphs_with_features import SETTINGS, Result, Setting, rows

from benchmarks import graphs_with_features

FOUND = Result([90.0, 91.0], [0.5, 0.6], [1.0, 2.0], [0.9, 1.9], "")


def named(name: str) -> Setting:
    return next(setting for setting in SETTINGS if setting.name == name)


def rivals(setting: Setting) -> dict[str, Result]:
    return {name: replace(FOUND, accuracies=[60.0 + k], note=name) for k, name in enumerate(setting.rivals)}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_set_has_targets_and_rivals(setting: Setting) -> None:
    assert setting.name in SETS
    assert setting.rivals
    assert any(target.at_most is not None for target in setting.targets)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_accuracy_has_a_target_only_on_the_test_part(setting: Setting) -> None:
    peers = rivals(setting)
    best = max(peers, key=lambda name: peers[name].accuracies)
    for development in (True, False):
        made = [row for one in setting.targets for row in rows(setting, one, FOUND, peers, best, development)]
        asked = [row.at_least for row in made if row.measure.endswith("accuracy") and row.at_least is not None]
        assert asked == ([] if development else [one.at_least for one in setting.targets if one.at_least is not None])
        assert all(name in row.note or name == row.peer_name for row in made[:1] for name in peers)


def test_seconds_of_a_given_classifier_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    (target,) = (one for one in named("letters").targets if one.classifier is not None)
    y = np.arange(12) % 2
    task = Task("tiny", [Graph(y[:, None].astype(np.float32), y, {})], [])

    def solved(task: Task, method: str, nodes: Any) -> Solved:
        seconds, _ = timed(lambda: nodes.fit(task.train[0].x, y).predict_proba(task.train[0].x))
        return Solved(None, Answer(y, 0.0, seconds + 7.0, 0.0), y)

    monkeypatch.setattr(graphs_with_features, "solved", solved)
    answer = graphs_with_features.ours(target, task)
    assert answer.seconds == pytest.approx(7.0, abs=0.05)
    assert "classifier" in answer.note


def test_grids_are_compared_with_the_nodes_alone() -> None:
    setting = named("grids")
    alone = replace(FOUND, accuracies=[54.0], log_losses=[1.05])
    made = list(rows(setting, setting.targets[0], FOUND, dict.fromkeys(setting.rivals, alone), "logistic", True))
    assert [round(row.value, 3) for row in made[2:]] == [36.5, 0.5]
    assert all(row.passed for row in made[2:])


def test_an_unknown_set_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        graphs_with_features.main(["--only", "letters,whales"])
    assert "whales" in capsys.readouterr().err
