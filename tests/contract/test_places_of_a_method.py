"""What a training method must also reach: the command line, the comparison, the names of the package, the estimator."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import corate
from command_line import run
from corate.evaluation.comparison import ORDER
from corate.sklearn import SequenceTagger
from corate.training.methods import METHODS, OPTIONS
from small_corpora import random_sentences

TEXT = "\n\n".join("\n".join(f"{word}\t{label}" for word, label in s) for s in random_sentences(30)) + "\n"


@pytest.mark.parametrize("method", METHODS)
def test_the_command_line_trains_shows_and_evaluates_it(method: str, tmp_path: Path) -> None:
    text, model = tmp_path / "train.tsv", tmp_path / "model"
    text.write_text(TEXT, encoding="utf-8")
    trained = run("train", "--method", method, text, "-o", model, "--test", text)
    assert trained.code == 0, trained.err
    assert trained.text.startswith(f"{method}: 30 sentences")
    record = json.loads(run("train", "--method", method, text, "-o", model, "--json").text)
    assert record.keys() >= {"word", "settings", "held_out"}
    for command in (["info", model], ["eval", model, text], ["tag", model, text]):
        shown = run(*command)
        assert shown.code == 0, shown.err


@pytest.mark.parametrize("method", METHODS)
def test_the_package_exports_the_class_of_its_options(method: str) -> None:
    name = METHODS[method].__name__
    assert name in corate.__all__
    assert getattr(corate, name) is METHODS[method]


def test_comparisons_have_an_order_for_every_method() -> None:
    assert sorted(ORDER) == sorted(METHODS)


def test_the_estimator_has_every_option() -> None:
    known = {name: p.default for name, p in inspect.signature(SequenceTagger).parameters.items()}
    options = [name for name, option in OPTIONS.items() if not option.expert and name != "sentence_weights"]
    assert {name: known.get(name, "missing") for name in options} == dict.fromkeys(options)
    assert known["expert"] is None
