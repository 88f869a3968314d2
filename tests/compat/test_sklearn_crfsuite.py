"""sklearn-crfsuite's estimator, metrics and scorers."""

from __future__ import annotations

import copy
import gc
import inspect
import os
import pickle
import tempfile
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.utils.validation import check_is_fitted

import corate
from compat_data import address_features
from corate.compat import pycrfsuite
from corate.compat.sklearn_crfsuite import CRF, metrics, scorers, utils
from corate.compat.sklearn_crfsuite._fileresource import FileResource
from corate.compat.sklearn_crfsuite.trainer import LinePerIterationTrainer

X, Y = address_features(45)
QUICK = {"max_iterations": 10}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def crf() -> CRF:
    return CRF(c1=0.1, c2=0.1, **QUICK).fit(X, Y)


# -- parameters --------------------------------------------------------------------------------------------------------


def test_parameters_are_in_the_order_of_the_original_and_none_by_default() -> None:
    names = [
        "algorithm",
        "min_freq",
        "all_possible_states",
        "all_possible_transitions",
        "c1",
        "c2",
        "max_iterations",
        "num_memories",
        "epsilon",
        "period",
        "delta",
        "linesearch",
        "max_linesearch",
        "calibration_eta",
        "calibration_rate",
        "calibration_samples",
        "calibration_candidates",
        "calibration_max_trials",
        "pa_type",
        "c",
        "error_sensitive",
        "averaging",
        "variance",
        "gamma",
        "verbose",
        "model_filename",
        "keep_tempfiles",
        "trainer_cls",
        "options",
        "threads",
        "label_weights",
        "sentence_weights",
    ]
    given = inspect.signature(CRF).parameters
    assert list(given) == names
    others = {"verbose": False, "keep_tempfiles": False, "threads": 1}
    assert all(parameter.default is others.get(name) for name, parameter in given.items())


def test_parameters_are_those_of_the_original() -> None:
    original = pytest.importorskip("sklearn_crfsuite").CRF
    theirs = inspect.signature(original).parameters
    mine = inspect.signature(CRF).parameters
    assert list(mine)[: len(theirs)] == list(theirs)
    assert all(mine[name].default == parameter.default for name, parameter in theirs.items())


@pytest.mark.parametrize(
    ("parameters", "name", "value"),
    [
        ({"min_freq": 2}, "feature.minfreq", 2.0),
        ({"all_possible_states": True}, "feature.possible_states", True),
        ({"all_possible_transitions": True}, "feature.possible_transitions", True),
        ({"algorithm": "l2sgd", "calibration_max_trials": 7}, "calibration.max_trials", 7),
        ({"algorithm": "pa", "pa_type": 2}, "type", 2),
        ({"algorithm": "polish", "options": {"passes": 2}}, "passes", 2),
        ({"linesearch": "Backtracking"}, "linesearch", "Backtracking"),
    ],
)
def test_parameters_reach_the_trainer(parameters: dict[str, Any], name: str, value: Any) -> None:
    seen = {}

    class Watching(pycrfsuite.Trainer):
        def _before_train(self) -> None:
            super()._before_train()
            seen.update(self.get_params())

    options = {} if parameters.get("algorithm") == "polish" else {"max_iterations": 2}
    CRF(**parameters, **options, trainer_cls=Watching).fit(X[:5], Y[:5])
    assert seen[name] == value


def test_weights_of_labels_and_sequences_are_options_of_the_methods_of_corate() -> None:
    x, y = [[["a"], ["b"]]] * 20, [["A", "B"]] * 10 + [["C", "B"]] * 10
    for first, label in ((5.0, "A"), (0.2, "C")):
        weighed = CRF("standard", sentence_weights=[first] * 10 + [1.0] * 10)
        assert clone(weighed).fit(x, y).predict(x[:1]).tolist() == [[label, "B"]]
        assert CRF("standard", label_weights={"A": first}).fit(x, y).predict(x[:1]).tolist() == [[label, "B"]]
    with pytest.raises(ValueError, match=r"label_weights.*option of Corate's methods"):
        CRF(label_weights={"A": 5.0}).fit(x, y)


def test_the_module_compat_has_the_base_class_of_the_estimator() -> None:
    from corate.compat.sklearn_crfsuite import compat

    assert issubclass(CRF, compat.BaseEstimator)


def test_a_parameter_of_another_algorithm_is_an_error() -> None:
    for crf in (CRF("ap", c1=1), CRF("polish", c1=1), CRF(options={"passes": 2}), CRF("lbfgs", variance=1)):
        with pytest.raises(ValueError, match="Parameter not found"):
            crf.fit(X, Y)


# -- fitting and predicting --------------------------------------------------------------------------------------------


def test_fit_and_predict_do_what_trainer_and_tagger_do(crf: CRF, tmp_path: Path) -> None:
    trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0.1, "c2": 0.1, **QUICK}, verbose=False)
    for xseq, yseq in zip(X, Y, strict=True):
        trainer.append(xseq, yseq)
    trainer.train(tmp_path / "model")
    tagger = pycrfsuite.Tagger()
    tagger.open(tmp_path / "model")
    assert crf.predict(X).tolist() == [tagger.tag(xseq) for xseq in X]
    assert crf.predict_single(X[0]) == tagger.tag(X[0])
    marginals = crf.predict_marginals(X)
    for xseq, rows in zip(X, marginals, strict=True):
        tagger.set(xseq)
        assert rows == tagger.marginals()
    assert crf.predict_marginals_single(X[1]) == marginals[1]
    flat = [a == b for s, t in zip(crf.predict(X), Y, strict=True) for a, b in zip(s, t, strict=True)]
    assert crf.score(X, Y) == pytest.approx(np.mean(flat))
    info = tagger.info()
    assert crf.classes_ == tagger.labels()
    assert crf.size_ == (tmp_path / "model").stat().st_size
    assert crf.num_attributes_ == len(info.attributes)
    assert crf.attributes_ == list(info.attributes)
    assert crf.state_features_ == info.state_features
    assert crf.transition_features_ == info.transitions
    assert crf.training_log_ is not None
    assert len(crf.training_log_.iterations) == 10


def test_answers_are_arrays_as_those_of_the_original(crf: CRF) -> None:
    """Of lists or, if all sequences have one length, with two dimensions; programs compare them with ``==``."""
    same = [xseq[:3] for xseq in X if len(xseq) >= 3]
    assert crf.predict(same).shape == crf.predict_marginals(same).shape == (len(same), 3)
    assert (crf.predict(same[:1]) == crf.predict_single(same[0])).all()
    assert all(type(label) is str for labels in crf.predict(same) for label in labels)
    ragged = [X[0], X[0][:1]]
    assert crf.predict(ragged).shape == crf.predict_marginals(ragged).shape == (2,)
    assert [type(labels) for labels in crf.predict(ragged)] == [list, list]
    assert crf.predict([]).tolist() == []
    assert crf.predict([[]]).tolist() == [[]]


@pytest.mark.parametrize("form", [tuple, iter, lambda values: np.array([*values, None], dtype=object)[:-1]])
def test_x_and_y_are_any_iterables(form: Any, crf: CRF) -> None:
    other = CRF(c1=0.1, c2=0.1, **QUICK).fit(form(X), form(Y))
    assert other.predict(form(X)).tolist() == crf.predict(X).tolist()


def test_x_and_y_are_not_changed(crf: CRF) -> None:
    features, labels = copy.deepcopy(X), copy.deepcopy(Y)
    crf.fit(features, labels, features, labels).predict(features)
    assert (features, labels) == (X, Y)


def test_held_out_data_is_scored_after_every_iteration() -> None:
    crf = CRF(**QUICK).fit(X[:30], Y[:30], X[30:], Y[30:])
    assert crf.training_log_ is not None
    last = crf.training_log_.last_iteration
    assert last is not None
    assert last["item_accuracy_float"] == pytest.approx(crf.score(X[30:], Y[30:]))
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        CRF().fit(X, Y, X)
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        CRF().fit(X, Y, y_dev=Y)


@pytest.mark.parametrize("y", [Y[:-1], [*Y, ["O"]], [Y[0][:-1], *Y[1:]], None])
def test_other_numbers_of_labels_are_errors(y: Any) -> None:
    with pytest.raises(ValueError, match=r"labels|y is missing"):
        CRF().fit(X, y)
    with pytest.raises(ValueError, match=r"labels|y"):
        CRF().fit(X, Y, X, y)


def test_methods_of_corate_are_algorithms() -> None:
    crf = CRF("polish", threads=2).fit(X, Y)
    assert crf.predict(X).tolist() == corate.train(corate.Corpus.from_features(X, Y), "polish").tag_all(X)
    assert crf.size_ is not None
    assert crf.size_ > 0
    assert crf.classes_ is not None
    assert {label for _, label in crf.state_features_ or {}} <= set(crf.classes_)


def test_a_verbose_crf_prints_a_line_for_each_iteration(capsys: pytest.CaptureFixture[str]) -> None:
    CRF(verbose=True, **QUICK).fit(X[:30], Y[:30], X[30:], Y[30:])
    lines = capsys.readouterr().out.splitlines()
    iterations = [line for line in lines if line.startswith("Iter ")]
    assert len(iterations) == 10
    assert all("loss=" in line and "Acc(item/seq)=" in line and "feature_norm=" in line for line in iterations)
    assert any(line.startswith("B-STREET") for line in lines)
    assert "L-BFGS terminated with the maximum number of iterations" in lines


def test_a_trainer_class_of_the_user_appends_and_trains(temporary: Path) -> None:
    calls = []

    class Own(LinePerIterationTrainer):
        def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
            calls.append(group)
            super().append(xseq, yseq, group)

        def train(self, model: Any, holdout: int = -1) -> None:
            calls.append(-holdout)
            super().train(model, holdout)

    crf = CRF(trainer_cls=Own, **QUICK).fit(X[:3], Y[:3], X[3:5], Y[3:5])
    assert calls == [0, 0, 0, 1, 1, -1]
    assert crf.predict(X[:3]).tolist() == CRF(**QUICK).fit(X[:3], Y[:3], X[3:5], Y[3:5]).predict(X[:3]).tolist()
    assert not list(temporary.iterdir())


# -- files -------------------------------------------------------------------------------------------------------------


def test_nothing_is_left_in_the_temporary_folder(crf: CRF, temporary: Path) -> None:
    crf.predict(X)
    assert crf.size_
    pickle.loads(pickle.dumps(crf)).predict(X)
    assert not list(temporary.iterdir())
    name = crf.modelfile.name
    assert name == crf.modelfile.name
    assert corate.load(str(name)).tag_all(X) == crf.predict(X).tolist()
    assert [str(file) for file in temporary.iterdir()] == [name]
    del crf
    gc.collect()


def test_the_temporary_file_of_a_model_is_removed_with_it(temporary: Path) -> None:
    crf = CRF(**QUICK).fit(X, Y)
    assert crf.modelfile.name is not None
    crf.fit(X, Y)
    gc.collect()
    assert not list(temporary.iterdir())
    kept = CRF(keep_tempfiles=True, **QUICK).fit(X, Y)
    name = kept.modelfile.name
    assert name is not None
    del kept
    gc.collect()
    os.unlink(name)


def test_model_filename_is_written_by_fit_and_read_without_it(tmp_path: Path, crf: CRF) -> None:
    path = tmp_path / "model.crfsuite"
    CRF(c1=0.1, c2=0.1, model_filename=path, **QUICK).fit(X, Y)
    other = CRF(model_filename=str(path))
    check_is_fitted(other)
    assert other.predict(X).tolist() == clone(other).predict(X).tolist() == crf.predict(X).tolist()
    assert other.modelfile.name == str(path)
    assert other.size_ == path.stat().st_size
    assert pickle.loads(pickle.dumps(other)).predict(X).tolist() == crf.predict(X).tolist()
    other.set_params(model_filename=None)
    assert other.tagger_ is None


# -- scikit-learn ------------------------------------------------------------------------------------------------------


def test_without_a_model_attributes_are_none_and_predicting_is_an_error() -> None:
    crf = CRF()
    for name in ("tagger_", "classes_", "size_", "num_attributes_", "attributes_", "state_features_", "training_log_"):
        assert getattr(crf, name) is None
    assert crf.transition_features_ is None
    assert crf.modelfile.name is None
    for call in (crf.predict, crf.predict_single, crf.predict_marginals, crf.predict_marginals_single):
        with pytest.raises(NotFittedError):
            call([X[0]])
    with pytest.raises(NotFittedError):
        check_is_fitted(crf)


def test_clones_have_the_parameters_and_no_model(crf: CRF) -> None:
    crf.set_params(c2=3.0)
    other = clone(crf)
    assert other.get_params() == crf.get_params()
    assert other.tagger_ is None
    assert other.training_log_ is None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda crf: pickle.loads(pickle.dumps(crf))])
def test_fitted_estimators_are_copied_and_pickled(copied: Any, crf: CRF) -> None:
    assert crf.attributes_
    other = copied(crf)
    assert other.predict(X).tolist() == crf.predict(X).tolist()
    assert other.state_features_ == crf.state_features_
    assert other.get_params() == crf.get_params()
    assert other.training_log_.last_iteration == crf.training_log_.last_iteration
    other.fit(X[:5], Y[:5])
    assert other.classes_ != crf.classes_ or other.size_ != crf.size_


def test_searches_and_cross_validation_work() -> None:
    grid = {"c2": [0.1, 10.0], "algorithm": ["lbfgs"]}
    search = GridSearchCV(CRF(**QUICK), grid, cv=2, scoring=scorers.flat_accuracy, error_score="raise").fit(X, Y)
    assert search.best_params_["c2"] in (0.1, 10.0)
    scores = cross_val_score(CRF(**QUICK), X, Y, cv=3, scoring=scorers.sequence_accuracy, error_score="raise")
    assert len(scores) == 3
    predicted = cross_val_predict(CRF(**QUICK), X, Y, cv=3)
    assert [len(labels) for labels in predicted] == [len(labels) for labels in Y]


def test_a_pickle_of_the_original_is_read(crf: CRF) -> None:
    """What sklearn-crfsuite 0.5 pickles: all attributes, with the bytes of the file in place of its name."""
    name = crf.modelfile.name
    assert name is not None
    resource = FileResource.__new__(FileResource)
    state = {"name": None, "auto": True, "keep_tempfiles": False, "suffix": ".crfsuite", "prefix": "model", "fd": 7}
    resource.__setstate__({**state, "__FILE_RESOURCE_DATA__": Path(name).read_bytes()})
    parameters = {k: v for k, v in crf.get_params().items() if k not in ("options", "threads")}
    other = CRF.__new__(CRF)
    other.__setstate__(
        {**parameters, "modelfile": resource, "training_log_": None, "_tagger": None, "_info_cached": None}
    )
    assert other.predict(X).tolist() == crf.predict(X).tolist()
    assert other.get_params() == crf.get_params()
    assert pickle.loads(pickle.dumps(other)).predict(X).tolist() == crf.predict(X).tolist()


# -- metrics -----------------------------------------------------------------------------------------------------------

TRUE = [["A", "B", "A"], ["B"], []]
FOUND = [["A", "A", "A"], ["B"], []]


def test_metrics_are_those_of_scikit_learn_on_flat_labels() -> None:
    from sklearn import metrics as original

    flat = utils.flatten(TRUE), utils.flatten(FOUND)
    assert flat == (["A", "B", "A", "B"], ["A", "A", "A", "B"])
    assert metrics.flat_accuracy_score(TRUE, FOUND) == 0.75
    for name in ("precision_score", "recall_score", "f1_score"):
        mine, theirs = getattr(metrics, f"flat_{name}"), getattr(original, name)
        options = {"average": "weighted", "labels": ["B"]}
        assert mine(TRUE, FOUND, **options) == theirs(*flat, **options)
    assert metrics.flat_fbeta_score(TRUE, FOUND, 2, average="macro") == original.fbeta_score(
        *flat, beta=2, average="macro"
    )
    report = metrics.flat_classification_report(TRUE, FOUND, labels=["A", "B"], digits=3)
    assert report == original.classification_report(*flat, labels=["A", "B"], digits=3)


def test_sequence_accuracy_counts_whole_sequences() -> None:
    assert metrics.sequence_accuracy_score(TRUE, FOUND) == pytest.approx(2 / 3)
    assert metrics.sequence_accuracy_score([["A", "B"], ["A", "A"]], [["A", "B"], ["A", "B"]]) == 0.5
    assert metrics.sequence_accuracy_score([], []) == 0


def test_the_modules_have_the_names_of_the_original() -> None:
    original: Any = pytest.importorskip("sklearn_crfsuite")
    from sklearn_crfsuite import metrics as theirs

    functions = {name for name, value in vars(theirs).items() if isinstance(value, types.FunctionType)}
    assert {name for name in functions if not name.startswith("_")} <= {*metrics.__all__, "flatten", "wraps"}
    assert {name for name in dir(original.CRF) if not name.startswith("_")} <= {*dir(CRF), *vars(CRF())}
