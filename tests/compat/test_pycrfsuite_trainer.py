"""python-crfsuite's trainer: parameters, data, logs, files."""

from __future__ import annotations

import inspect
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from compat_data import address_features
from corate.compat import pycrfsuite as ours
from corate.compat.pycrfsuite import trainer as trainer_module
from corate.compat.pycrfsuite.log_parser import TrainLogParser

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "averaged-perceptron", "passive-aggressive", "arow")
X, Y = address_features(60)


def trained(path: Path, holdout: int = -1, **arguments: Any) -> ours.Trainer:
    trainer = ours.Trainer(**{"verbose": False, **arguments})
    for i, (xseq, yseq) in enumerate(zip(X, Y, strict=True)):
        trainer.append(xseq, yseq, i % 3)
    trainer.train(path, holdout)
    return trainer


@pytest.fixture
def original() -> Any:
    return pytest.importorskip("pycrfsuite")


# -- names and defaults ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_parameters_have_the_names_the_order_the_values_and_the_types_of_the_original(
    algorithm: str, original: Any
) -> None:
    mine, theirs = ours.Trainer(algorithm), original.Trainer(algorithm)
    assert mine.params() == theirs.params()
    assert mine.get_params() == theirs.get_params()
    assert [type(v) for v in mine.get_params().values()] == [type(v) for v in theirs.get_params().values()]
    assert all(mine.help(name) for name in mine.params())


@pytest.mark.parametrize("name", ["Trainer", "BaseTrainer", "Tagger", "ItemSequence"])
def test_classes_have_every_public_method_of_the_original(name: str, original: Any) -> None:
    mine, theirs = getattr(ours, name), getattr(original, name)
    assert {m for m in dir(theirs) if not m.startswith("_")} <= {*dir(mine), "verbose"}
    assert {m for m in dir(original) if not m.startswith("_")} - set(dir(ours)) <= {
        "os",
        "sys",
        "tempfile",
        "contextlib",
    }


def test_the_default_algorithm_is_lbfgs_and_verbose() -> None:
    assert list(inspect.signature(ours.Trainer).parameters) == ["algorithm", "params", "verbose"]
    assert ours.Trainer().get_params() == ours.Trainer("LBFGS").get_params()
    assert ours.Trainer().verbose is True
    assert ours.Trainer.logparser is None


def test_values_are_converted_as_crfsuite_converts_them(original: Any) -> None:
    given = {"c1": "0.5", "max_iterations": 7.9, "feature.possible_states": 7, "feature.possible_transitions": False}
    given |= {"period": np.int64(3), "c2": True, "epsilon": np.float32(0.25)}
    assert ours.Trainer(params=given).get_params() == original.Trainer(params=given).get_params()


def test_select_resets_the_parameters_and_keeps_the_data() -> None:
    trainer = ours.Trainer(params={"c2": 3})
    trainer.append(X[0], Y[0])
    trainer.select("l2sgd")
    assert trainer.get("c2") == 1.0
    trainer.select("ap")
    assert "c2" not in trainer.params()
    trainer.train("")
    trainer.clear()
    with pytest.raises(corate.DataError):
        trainer.train("")


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t: t.select("nonsense"), ValueError),
        (lambda t: t.select("lbfgs", "tree"), ValueError),
        (lambda t: t.set("nonsense", 1), ValueError),
        (lambda t: t.get("nonsense"), ValueError),
        (lambda t: t.help("nonsense"), ValueError),
        (lambda t: t.append([{"a": 1}], ["X", "Y"]), ValueError),
        (lambda t: t.append([{"a": 1}], [3]), TypeError),
        (lambda t: t.append([{"a": (1,)}], ["X"]), TypeError),
        (lambda t: t.append([{"a": None}], ["X"]), TypeError),
        (lambda t: t.append([{"a": 1}], ["X"], "first"), TypeError),
    ],
)
def test_errors_have_the_types_of_the_original(call: Any, error: type[Exception], original: Any) -> None:
    for module in (ours, original):
        with pytest.raises(error):
            call(module.Trainer())


@pytest.mark.parametrize(
    ("name", "value"), [("c1", "much"), ("c1", -1), ("linesearch", "Nonsense"), ("c2", None), ("max_iterations", "inf")]
)
def test_values_that_the_original_would_change_silently_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        ours.Trainer().set(name, value)


def test_a_file_that_cannot_be_written_is_an_error_before_training(tmp_path: Path) -> None:
    trainer = ours.Trainer(verbose=False)
    trainer.append(X[0], Y[0])
    with pytest.raises(OSError, match="there is no directory"):
        trainer.train(tmp_path / "missing" / "model.crfsuite")
    assert trainer.logparser is None


# -- data --------------------------------------------------------------------------------------------------------------


def test_what_the_caller_changes_after_append_is_not_seen(tmp_path: Path) -> None:
    trainer = ours.Trainer(verbose=False)
    for xseq, yseq in zip(X, Y, strict=True):
        token_dicts, labels = [dict(token) for token in xseq], list(yseq)
        trainer.append(token_dicts, labels)
        for token in token_dicts:
            token.clear()
        labels[:] = ["other"] * len(labels)
    trainer.train(tmp_path / "changed")
    trained(tmp_path / "kept")
    assert (tmp_path / "changed").read_bytes() == (tmp_path / "kept").read_bytes()


def test_sequences_can_be_prepared_and_labels_can_be_bytes(tmp_path: Path) -> None:
    trainer = ours.Trainer(verbose=False)
    for xseq, yseq in zip(X, Y, strict=True):
        trainer.append(ours.ItemSequence(xseq), [label.encode() for label in yseq])
    trainer.train(os.fspath(tmp_path / "prepared"))
    trained(tmp_path / "plain")
    assert (tmp_path / "prepared").read_bytes() == (tmp_path / "plain").read_bytes()


# -- training ----------------------------------------------------------------------------------------------------------


def test_lbfgs_has_the_features_the_loss_and_the_labels_of_the_original(tmp_path: Path, original: Any) -> None:
    parameters = {"c1": 0.1, "c2": 0.01, "feature.minfreq": 1}
    mine = trained(tmp_path / "mine", params=parameters)
    theirs = original.Trainer(verbose=False, params=parameters)
    for xseq, yseq in zip(X, Y, strict=True):
        theirs.append(xseq, yseq)
    theirs.train(str(tmp_path / "theirs"))
    assert mine.logparser is not None
    assert mine.logparser.featgen_num_features == theirs.logparser.featgen_num_features
    assert mine.logparser.last_iteration["loss"] == pytest.approx(theirs.logparser.last_iteration["loss"], rel=1e-4)
    taggers = original.Tagger(), original.Tagger()
    for tagger, name in zip(taggers, ("mine", "theirs"), strict=True):
        tagger.open(str(tmp_path / name))  # the original opens our file
    labels = [[label for xseq in X for label in tagger.tag(xseq)] for tagger in taggers]
    assert np.mean([a == b for a, b in zip(*labels, strict=True)]) > 0.99


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_every_algorithm_writes_a_file_that_all_taggers_open(algorithm: str, tmp_path: Path, original: Any) -> None:
    path = tmp_path / "a model"  # whatever the suffix
    trained(path, algorithm=algorithm, params={"max_iterations": 5})
    mine, theirs = ours.Tagger(), original.Tagger()
    mine.open(path)
    theirs.open(str(path))
    assert corate.load(path).tag(X[0]) == mine.tag(X[0]) == theirs.tag(X[0])
    assert mine.labels() == theirs.labels() == list(dict.fromkeys(label for line in Y for label in line))


@pytest.mark.parametrize("method", ["polish", "standard", "perceptron", "empirical"])
def test_methods_of_corate_are_algorithms_whose_options_are_parameters(method: str, tmp_path: Path) -> None:
    trainer = trained(tmp_path / "model", algorithm=method)
    assert "all_labels" in trainer.params()
    tagger = ours.Tagger()
    tagger.open(tmp_path / "model")
    features = corate.Corpus.from_features(X, Y)
    assert [tagger.tag(xseq) for xseq in X] == corate.train(features, method).tag_all(X)
    assert trainer.logparser is not None
    assert trainer.logparser.training_seconds is not None
    assert set(tagger.info().labels) == set(tagger.labels())


def test_options_of_methods_are_set_and_checked() -> None:
    trainer = ours.Trainer("polish", {"passes": "3"})
    assert trainer.get("passes") == 3
    with pytest.raises(ValueError, match="passes"):
        trainer.set("passes", 0)
    with pytest.raises(ValueError, match="Parameter not found: c1 = 1"):
        trainer.set("c1", 1)


def test_threads_do_not_change_the_model(tmp_path: Path) -> None:
    for threads in (1, 2):
        trainer = ours.Trainer(verbose=False)
        trainer.threads = threads
        trainer.extend(X, Y)
        trainer.train(tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


# -- the log -----------------------------------------------------------------------------------------------------------


def without_numbers(lines: list[str]) -> list[str]:
    """The lines that do not depend on the course of the optimisation, up to the first iteration, and the first one."""
    end = next(i for i, line in enumerate(lines) if "Iteration #2" in line)
    names = [line.partition(": ")[0] if "Seconds" in line or "#1" not in line else line for line in lines[:end]]
    return [name for name in names if not name.startswith("    ")]


def test_the_log_has_the_lines_of_the_original(tmp_path: Path, original: Any) -> None:
    mine = trained(tmp_path / "mine", holdout=1, params={"c1": 0.1})
    theirs = original.Trainer(verbose=False, params={"c1": 0.1})
    for i, (xseq, yseq) in enumerate(zip(X, Y, strict=True)):
        theirs.append(xseq, yseq, i % 3)
    theirs.train(str(tmp_path / "theirs"), 1)
    assert mine.logparser is not None
    assert without_numbers(mine.logparser.log) == without_numbers(theirs.logparser.log)
    first, other = mine.logparser.iterations[0], theirs.logparser.iterations[0]
    assert first.keys() == other.keys()
    assert first["scores"].keys() == other["scores"].keys()
    assert {k: s.ref for k, s in first["scores"].items()} == {k: s.ref for k, s in other["scores"].items()}
    parts = [event for event, _, _ in mine.logparser.events if event not in ("featgen_progress", "iteration")]
    assert parts == ["start", "featgen_end", "prepared", "optimization_end", "end"]


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_the_parser_reads_the_log_of_the_original_as_the_original_does(algorithm: str, original: Any) -> None:
    theirs = original.Trainer(algorithm, {"max_iterations": 12}, verbose=False)
    for i, (xseq, yseq) in enumerate(zip(X, Y, strict=True)):
        theirs.append(xseq, yseq, i % 3)
    theirs.train("", 1)
    parser = TrainLogParser()
    events = [parser.feed(line) for line in theirs.logparser.log]
    assert [event for event in events if event] == [event for event, _, _ in theirs.logparser.events]
    assert parser.events == theirs.logparser.events
    for iteration in parser.iterations:  # the original forgets labels that only the model gives
        scores = {k: s for k, s in iteration["scores"].items() if s.ref or not s.model}
        assert {**iteration, "scores": scores} == theirs.logparser.iterations[iteration["num"] - 1]
    least = 1 if algorithm == "arow" else 5  # arow ends once there is no mistake; the original's order is random
    assert len(parser.iterations) == len(theirs.logparser.iterations) > least
    assert parser.last_log == theirs.logparser.last_log
    for name in ("featgen_percent", "featgen_num_features", "featgen_seconds", "training_seconds"):
        assert getattr(parser, name) == getattr(theirs.logparser, name)


def test_scores_of_held_out_labels_are_right(tmp_path: Path) -> None:
    trainer = trained(tmp_path / "model", holdout=2)
    tagger = ours.Tagger()
    tagger.open(tmp_path / "model")
    held_out = [i for i in range(len(X)) if i % 3 == 2]
    gold, found = ([y for i in held_out for y in labels[i]] for labels in (Y, [tagger.tag(xseq) for xseq in X]))
    assert trainer.logparser is not None
    last = trainer.logparser.last_iteration
    assert last is not None
    assert last["item_accuracy_float"] == pytest.approx(np.mean([a == b for a, b in zip(gold, found, strict=True)]))
    whole = [tagger.tag(X[i]) == Y[i] for i in held_out]
    assert last["instance_accuracy_float"] == pytest.approx(sum(whole) / len(whole))
    for label, score in last["scores"].items():
        right = sum(a == b == label for a, b in zip(gold, found, strict=True))
        assert (score.match, score.model, score.ref) == (right, found.count(label), gold.count(label))
        if score.ref == 0:
            assert score.precision is score.recall is score.f1 is None
        else:
            assert score.f1 == pytest.approx(2 * right / (score.model + score.ref), abs=1e-4)


def test_a_verbose_trainer_prints_the_whole_log_and_calls_the_hooks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []

    class Watching(ours.Trainer):
        def on_iteration(self, log: str, info: Any) -> None:
            seen.append(info["num"])
            super().on_iteration(log, info)

    trainer = Watching(params={"max_iterations": 3})
    trainer.append(X[0], Y[0])
    trainer.append(X[1], Y[1])
    trainer.train(tmp_path / "model")
    assert seen == [1, 2, 3]
    assert trainer.logparser is not None
    assert capsys.readouterr().out == "".join(trainer.logparser.log)


def test_a_base_trainer_passes_lines_to_message() -> None:
    lines: list[str] = []

    class Listening(ours.BaseTrainer):
        def message(self, message: str) -> None:
            lines.append(message)

    trainer = Listening(params={"max_iterations": 2})
    trainer.append(X[0], Y[0])
    trainer.append(X[1], Y[1])
    trainer.train("")
    assert lines[0] == "Feature generation\n"
    assert "***** Iteration #2 *****\n" in lines
    assert not any(line.startswith("Storing") for line in lines)


def test_a_subclass_need_not_call_the_constructor(tmp_path: Path, original: Any) -> None:
    """As upstream's tests have it, to collect the log."""
    logs = []
    for module in (ours, original):

        class Collecting(module.Trainer):  # type: ignore[name-defined, misc]
            def __init__(self) -> None:
                self.lines: list[str] = []

            def message(self, message: str) -> None:
                self.lines.append(message)

        trainer = Collecting()
        assert trainer.get_params() == module.Trainer().get_params()
        for xseq, yseq in zip(X[:5], Y[:5], strict=True):
            trainer.append(xseq, yseq)
        assert trainer.lines == []
        trainer.train(os.fspath(tmp_path / "model"))
        logs.append(trainer.lines)
    assert logs[0][:60] == logs[1][:60]
    assert ours.Trainer.verbose is True


def test_an_error_in_message_ends_the_training(tmp_path: Path) -> None:
    class Failing(ours.Trainer):
        def message(self, message: str) -> None:
            raise ZeroDivisionError

    trainer = Failing()
    trainer.append(X[0], Y[0])
    with pytest.raises(ZeroDivisionError):
        trainer.train(tmp_path / "model")
    assert not (tmp_path / "model").exists()


# -- interruption ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interruption_leaves_the_old_file_and_nothing_else(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    class Stopping(ours.Trainer):
        def on_iteration(self, log: str, info: Any) -> None:
            raise error

    path = tmp_path / "model"
    path.write_bytes(b"old")
    trainer = Stopping()
    trainer.append(X[0], Y[0])
    trainer.append(X[1], Y[1])
    with pytest.raises(error):
        trainer.train(path)
    assert path.read_bytes() == b"old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model", "temporary"]
    assert not list(temporary.iterdir())


def test_a_training_that_ctrl_c_ended_early_is_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = trainer_module.train_as_crfsuite

    def stopped(*arguments: Any, **options: Any) -> Any:
        tagger = train(*arguments, **options)
        tagger.record["interrupted"] = True  # training returns what it has, and says so
        return tagger

    monkeypatch.setattr(trainer_module, "train_as_crfsuite", stopped)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "model")
    assert not list(tmp_path.iterdir())
