"""`corate.sklearn.SequenceTagger` does what scikit-learn asks of an estimator, and all that its tools do with one."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import sklearn
from joblib import Parallel, delayed
from seqeval.metrics import f1_score
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

import corate
from corate.errors import ConfigError, DataError, ModelError
from corate.sklearn import SequenceTagger
from corate.training.methods import METHODS, OPTIONS, options_of
from options_given import given

VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
#: What can learn more.
FURTHER = [
    {"method": "polish"}, {"method": "empirical"}, {"method": "perceptron"},
    {"method": "standard", "optimizer": "adagrad"}, {"method": "piecewise", "optimizer": "adagrad"},
]  # fmt: skip

NAMES = [["Ann", "Lee"], ["Bob"], ["Eve", "de", "Wit"], ["Jan"]]
X = [[*name, verb] for name in NAMES for verb in ("sleeps", "sings", "left")]
y = [["B-PER", *["I-PER"] * (len(name) - 1), "O"] for name in NAMES for _ in range(3)]
TAGGER = corate.train(corate.Corpus.from_sentences(X, y))
#: More sentences, with a new label.
MORE_X, MORE_Y = [["Rome", "burns"], ["Delft", "shines"]] * 3, [["B-LOC", "O"]] * 6


def setting(method: str, name: str) -> dict[str, Any]:
    """An option with a value, and another option if the value needs it."""
    option = options_of(METHODS[method])[name]
    if option.kind == "flag":
        return {name: not option.default}
    if name == "space":
        return {name: "features", "coupling": "joint"}
    if option.choices or option.range is not None:
        return {name: option.choices[-1] if option.choices else 1}
    if name == "checkpoint" and "optimizer" in options_of(METHODS[method]):
        return {name: "file", "optimizer": "adagrad"}
    return {name: {"label weights": {"O": 0.5}, "text": "?", "file": "file"}[option.kind]}


def upper(sentences: list[list[str]]) -> list[list[str]]:
    return [[word.upper() for word in sentence] for sentence in sentences]


# -- parameters -------------------------------------------------------------------------------------------------------


def test_every_option_of_every_method_and_every_argument_of_train_is_a_parameter() -> None:
    parameters = SequenceTagger().get_params()
    of_train = inspect.signature(corate.train).parameters.keys() - {"corpus", "options", "held_out", "progress"}
    of_train.discard("nodes")  # is for graphs: GraphTagger has it
    own = {"columns", "scoring", "expert"}
    public = {name for name, option in OPTIONS.items() if not option.expert}
    assert parameters.keys() == (public - {"sentence_weights"}) | of_train | own
    assert {name for name in OPTIONS if parameters.get(name) is not None} == set()


@pytest.mark.parametrize(
    ("method", "name"),
    [(method, name) for method in METHODS for name in options_of(METHODS[method]) if name != "sentence_weights"],
)
def test_every_option_reaches_its_method(method: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    received = []

    def train(corpus: corate.Corpus, options: Any, **more: Any) -> corate.Tagger:
        received.append(options)
        return TAGGER

    monkeypatch.setattr("corate.sklearn.estimator.train", train)
    SequenceTagger(method, **given(**setting(method, name))).fit(X, y)
    assert received == [METHODS[method](**setting(method, name))]


def test_expert_options_are_kept_in_expert_and_still_are_attributes_with_a_warning() -> None:
    estimator = SequenceTagger(expert={"batch": 4}, passes=1)
    assert clone(estimator).get_params() == estimator.get_params()
    assert estimator.fit(X, y).tagger_.record["settings"]["batch"] == 4
    with pytest.warns(DeprecationWarning, match="batch is deprecated, and will be removed in version 0.4; set expert="):
        old = SequenceTagger(batch=4, passes=1)
    assert old.get_params() == estimator.get_params()
    assert (old.batch, old.base_weight) == (4, None)
    with pytest.warns(DeprecationWarning, match="base_weight is deprecated"):
        assert old.set_params(base_weight=0.5, c2=1.0).expert == {"batch": 4, "base_weight": 0.5}
    assert (old.c2, estimator.expert) == (1.0, {"batch": 4})
    for wrong in ({"nosuch": 1}, {"sentence_weights": [1.0]}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            SequenceTagger(**wrong)
        with pytest.raises(ValueError, match=next(iter(wrong))):
            estimator.set_params(**wrong)


def test_former_names_of_options_still_work_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="ladder is deprecated, .* its name is backoff") as warned:
        old = SequenceTagger("empirical", ladder="paper")
    assert warned[0].filename == __file__
    assert clone(old).get_params() == SequenceTagger("empirical", backoff="paper").get_params()
    assert (old.ladder, "ladder" in old.get_params()) == ("paper", False)
    with pytest.warns(DeprecationWarning, match="its name is backoff"):
        assert old.set_params(ladder="default").backoff == "default"
    with pytest.warns(DeprecationWarning, match="its name is backoff"):
        old.ladder = "pooled"
    assert old.backoff == "pooled"
    pickled = SequenceTagger.__new__(SequenceTagger)
    pickled.__setstate__({"ladder": "paper", **{k: v for k, v in old.__getstate__().items() if k != "backoff"}})
    assert pickled.backoff == "paper"


def test_a_pickle_with_expert_options_as_attributes_loads() -> None:
    state = SequenceTagger(passes=1).__getstate__()
    state.pop("expert")
    old = SequenceTagger.__new__(SequenceTagger)
    old.__setstate__(state | {"batch": 4, "base_weight": None})
    assert clone(old).get_params() == SequenceTagger(passes=1, expert={"batch": 4}).get_params()


def test_help_has_every_option() -> None:
    text = SequenceTagger.__doc__ or ""
    assert [name for name in SequenceTagger().get_params() if f"\n    {name}: " not in text] == []


def test_an_option_of_another_method_and_wrong_values_are_refused_by_name() -> None:
    for wrong, message in [
        ({"method": "perceptron", "c2": 1.0}, "c2 is an option of the method"),
        ({"c2": -1}, "c2 must be a number"),
        ({"method": "polished"}, "did you mean 'polish'"),
        ({"method": corate.Standard()}, "name of a method"),
        ({"scoring": "recall"}, "there are accuracy, f1"),
    ]:
        estimator = SequenceTagger(**wrong)  # only fit checks
        with pytest.raises(ConfigError, match=message):
            estimator.fit(X, y)


def test_parameters_are_read_set_and_cloned() -> None:
    estimator = SequenceTagger("standard", c2=0.1, features=["word[0]"], label_weights={"O": 0.5})
    copied = clone(estimator.fit(X, y))
    assert copied.get_params() == estimator.get_params()
    assert not hasattr(copied, "tagger_")
    assert copied.set_params(c2=0.2).c2 == 0.2
    assert estimator.c2 == 0.1
    with pytest.raises(ValueError, match="c3"):
        copied.set_params(c3=1)
    tagger = SequenceTagger(init=estimator.tagger_)
    assert clone(tagger).fit(X, y).tagger_.record["init"]["method"] == "standard"


@pytest.mark.parametrize(
    "check",
    [
        "check_no_attributes_set_in_init", "check_parameters_default_constructible", "check_get_params_invariance",
        "check_set_params", "check_estimator_get_tags_default_keys", "check_valid_tag_types", "check_estimator_repr",
    ],
)  # fmt: skip
def test_checks_of_scikit_learn_that_need_no_data(check: str) -> None:
    run = getattr(estimator_checks, check, None)
    if run is None:
        pytest.skip(f"scikit-learn {sklearn.__version__} has no {check}")
    run("SequenceTagger", SequenceTagger())


@pytest.mark.skipif(VERSION < (1, 6), reason="tags were dictionaries before scikit-learn 1.6")
def test_tags() -> None:
    tags = SequenceTagger().__sklearn_tags__()
    assert tags.estimator_type is None
    assert tags.target_tags.required
    assert tags.input_tags.string
    assert tags.input_tags.dict
    assert not tags.input_tags.two_d_array


@pytest.mark.skipif(VERSION >= (1, 6), reason="tags are objects since scikit-learn 1.6")
def test_old_tags() -> None:
    assert SequenceTagger()._get_tags()["requires_y"]


def test_html_and_text() -> None:
    estimator = SequenceTagger("standard", c2=0.1)
    assert repr(estimator) == "SequenceTagger(c2=0.1, method='standard')"
    for shown in (estimator, estimator.fit(X, y), make_pipeline(FunctionTransformer(upper), estimator)):
        html = shown._repr_html_()
        assert "SequenceTagger" in html
        assert "c2" in html


def test_importing_corate_does_not_import_scikit_learn_and_its_absence_is_explained() -> None:
    script = (
        "import sys; import corate; corate.train; assert 'sklearn' not in sys.modules\n"
        "sys.modules['sklearn'] = None\n"
        "try: corate.sklearn\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "pip install 'corate[sklearn]'" in run.stdout, run.stderr


# -- fitting and predicting -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_estimator_predicts_like_the_tagger(method: str) -> None:
    estimator = SequenceTagger(method, seed=1)
    before = copy.deepcopy((X, y))
    assert estimator.fit(X, y) is estimator
    assert (X, y) == before
    tagger = corate.train(corate.Corpus.from_sentences(X, y), method, seed=1)
    assert estimator.predict(X) == tagger.tag_all(X)
    assert estimator.predict_single(X[0]) == tagger.tag(X[0])
    assert estimator.classes_.tolist() == ["B-PER", "I-PER", "O"]
    again = pickle.loads(pickle.dumps(estimator))
    assert again.predict(X) == estimator.predict(X)
    assert again.get_params() == estimator.get_params()


@pytest.mark.parametrize("method", METHODS)
def test_marginals_are_probabilities_in_the_order_of_the_classes(method: str) -> None:
    estimator = SequenceTagger(method).fit(X, y)
    arrays = estimator.predict_proba([[], *X])
    assert [array.shape for array in arrays] == [(0, 3), *((len(sentence), 3) for sentence in X)]
    assert all(np.allclose(array.sum(axis=1), 1, atol=1e-5) for array in arrays)
    dicts = estimator.predict_marginals(X)
    assert [list(d.values()) for d in dicts[2]] == arrays[3].tolist()
    assert estimator.predict_marginals_single(X[2]) == dicts[2]
    best = [[max(token, key=token.__getitem__) for token in sentence] for sentence in dicts]
    assert best == estimator.predict(X) == y


def test_nothing_is_predicted_for_nothing() -> None:
    estimator = SequenceTagger().fit(X, y)
    assert estimator.predict([]) == estimator.predict_proba([]) == estimator.predict_marginals([]) == []
    assert estimator.predict([[]]) == [[]]


def test_an_estimator_that_is_not_fitted_says_so() -> None:
    estimator = SequenceTagger()
    for call in (estimator.predict, estimator.predict_single, estimator.predict_proba, estimator.predict_marginals):
        with pytest.raises(NotFittedError, match="fit"):
            call(X)
    with pytest.raises(NotFittedError):
        estimator.score(X, y)


def test_held_out_sentences_are_used_and_not_trained_on() -> None:
    estimator = SequenceTagger().fit(X, y, X_dev=[*X[:4], ["Zoe"]], y_dev=[*y[:4], ["B-PER"]])
    assert "held_out" in estimator.tagger_.record
    assert "Zoe" not in estimator.tagger_.words.to_list()
    with pytest.raises(DataError, match="y_dev is missing"):
        estimator.fit(X, y, X_dev=X)
    with pytest.raises(DataError, match="X_dev is missing"):
        estimator.fit(X, y, y_dev=y)


# -- scores -----------------------------------------------------------------------------------------------------------


def test_scores_are_those_of_evaluate() -> None:
    wrong = [["O", *labels[1:]] for labels in y]
    report = corate.evaluate(SequenceTagger().fit(X, y).tagger_, corate.Corpus.from_sentences(X, wrong))
    assert 0 < report.accuracy < 1
    assert SequenceTagger().fit(X, y).score(X, wrong) == report.accuracy
    spans = SequenceTagger(scoring="f1").fit(X, y)
    wrong = [*y[:5], *wrong[5:]]
    report = corate.evaluate(spans.tagger_, corate.Corpus.from_sentences(X, wrong))
    assert 0 < report.f1 < 1  # type: ignore[operator]
    assert spans.score(X, wrong) == report.f1
    assert spans.score(X, [["O"] * len(labels) for labels in y]) == 0


def test_the_accuracy_can_be_weighted_and_f1_cannot() -> None:
    estimator = SequenceTagger().fit(X, y)
    gold = [y[0], ["O", "O"]]
    assert estimator.score([X[0], X[3]], gold, sample_weight=[2, 1]) == pytest.approx((2 * 3 + 1) / (2 * 3 + 2))
    assert estimator.score([X[0], X[3]], gold, sample_weight=[1, 0]) == 1
    for wrong in ([1], [0, 0], [float("nan"), 1]):
        with pytest.raises(DataError, match="sample_weight must be 2 numbers"):
            estimator.score([X[0], X[3]], gold, sample_weight=wrong)
    with pytest.raises(ConfigError, match="sample_weight"):
        estimator.set_params(scoring="f1").score(X, y, sample_weight=[1] * len(X))


def test_f1_needs_spans() -> None:
    estimator = SequenceTagger(scoring="f1").fit([["a", "b"]], [["DET", "NOUN"]])
    with pytest.raises(DataError, match="scoring='accuracy'"):
        estimator.score([["a", "b"]], [["DET", "NOUN"]])


# -- the tools of scikit-learn ----------------------------------------------------------------------------------------


def test_pipeline() -> None:
    pipeline = make_pipeline(FunctionTransformer(upper), SequenceTagger("standard"))
    train_x, test_x, train_y, test_y = train_test_split(X, y, random_state=0)
    pipeline.fit(train_x, train_y)
    assert "ANN" in pipeline[-1].tagger_.words.to_list()
    assert pipeline.score(test_x, test_y) > 0.5
    assert [array.shape[1] for array in pipeline.predict_proba(test_x)] == [3] * len(test_x)


@pytest.mark.parametrize("form", [list, lambda values: np.fromiter(values, dtype=object, count=len(values))])
def test_cross_validation(form: Any) -> None:
    predicted = cross_val_predict(SequenceTagger("standard"), form(X), form(y), cv=3)
    assert [len(labels) for labels in predicted] == [len(sentence) for sentence in X]
    same_length = cross_val_predict(SequenceTagger("standard"), MORE_X, MORE_Y, cv=2)
    assert list(same_length) == MORE_Y
    scores = cross_val_score(SequenceTagger("empirical"), X, y, cv=3, scoring=make_scorer(f1_score))
    assert scores == pytest.approx(cross_val_score(SequenceTagger("empirical", scoring="f1"), X, y, cv=3))


def test_grid_search_over_methods_and_priors_in_two_processes() -> None:
    grid = [{"method": ["standard"], "c2": [0.01, 1000.0]}, {"method": ["separate"], "sigma2": np.array([0.5])}]
    search = GridSearchCV(SequenceTagger(threads=1), grid, cv=2, n_jobs=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 3
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(X) == search.best_estimator_.predict(X)


# -- weights of sentences ---------------------------------------------------------------------------------------------

#: The word and its two labels have the same counts, and the weights decide.
DOUBT_X, DOUBT_Y = [["x"], ["x"]] * 4, [["A"], ["B"]] * 4
FOR_B = np.array([1.0, 9.0] * 4)


@pytest.mark.parametrize("method", [method for method in METHODS if "sentence_weights" in options_of(METHODS[method])])
def test_sentences_can_be_weighted(method: str) -> None:
    estimator = SequenceTagger(method, features=["word[0]"])
    assert estimator.fit(DOUBT_X, DOUBT_Y, sample_weight=FOR_B).predict_single(["x"]) == ["B"]
    assert estimator.fit(DOUBT_X, DOUBT_Y, sample_weight=10 - FOR_B).predict_single(["x"]) == ["A"]


def test_weights_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(ConfigError, match="'empirical' takes no sample_weight"):
        SequenceTagger("empirical").fit(X, y, sample_weight=[1] * len(X))
    with pytest.raises(DataError, match="12 sentences but 2"):
        SequenceTagger().fit(X, y, sample_weight=[1, 2])


@pytest.mark.skipif(VERSION < (1, 4), reason="searches route metadata since scikit-learn 1.4")
def test_weights_are_routed_to_fit_and_score() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = SequenceTagger("standard", features=["word[0]"])
        estimator.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(estimator, {"c2": [0.1]}, cv=2)
        search.fit(DOUBT_X, DOUBT_Y, sample_weight=FOR_B)
        assert search.predict([["x"]]) == [["B"]]
        assert search.best_score_ == pytest.approx(0.9)
        pipeline = make_pipeline(FunctionTransformer(upper), estimator)
        pipeline.fit(DOUBT_X, DOUBT_Y, sample_weight=FOR_B)
        assert pipeline.predict([["x"]]) == [["B"]]


def test_weights_are_cut_with_the_sentences_without_routing() -> None:
    search = GridSearchCV(SequenceTagger("standard", features=["word[0]"]), {"c2": [0.1]}, cv=2)
    search.fit(DOUBT_X, DOUBT_Y, sample_weight=FOR_B)
    assert search.predict([["x"]]) == [["B"]]


# -- learning more ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", FURTHER)
def test_partial_fit_learns_new_words_and_labels_and_keeps_the_old(parameters: dict[str, Any]) -> None:
    estimator = SequenceTagger(**parameters)
    assert estimator.partial_fit(X, y) is estimator
    assert estimator.predict_marginals(X) == SequenceTagger(**parameters).fit(X, y).predict_marginals(X)
    first = estimator.tagger_
    estimator.partial_fit(MORE_X, MORE_Y)
    assert estimator.tagger_ is not first
    assert estimator.classes_.tolist() == ["B-LOC", "B-PER", "I-PER", "O"]
    assert estimator.predict(MORE_X) == MORE_Y
    # A piece does not know the word of its first label, so new text changes more of what piecewise training learned.
    assert estimator.score(X, y) > (0.5 if parameters.get("method") == "piecewise" else 0.8)


@pytest.mark.parametrize(
    "first", [{"all_labels": True}, {"base": "none"}, {"tune": True}, {"parts": True}, {"features": ["word[0]"]}]
)
def test_partial_fit_goes_on_with_what_the_first_call_chose(first: dict[str, Any]) -> None:
    estimator = SequenceTagger(**first).partial_fit(X, y)
    features = estimator.tagger_.features
    assert estimator.partial_fit(MORE_X, MORE_Y).tagger_.features == features


def test_partial_fit_takes_weights() -> None:
    estimator = SequenceTagger("perceptron", features=["word[0]"]).partial_fit(DOUBT_X, DOUBT_Y)
    assert estimator.partial_fit(DOUBT_X, DOUBT_Y, sample_weight=FOR_B).predict_single(["x"]) == ["B"]
    assert estimator.partial_fit(DOUBT_X, DOUBT_Y, sample_weight=10 - FOR_B).predict_single(["x"]) == ["A"]


def test_methods_that_cannot_learn_more_have_no_partial_fit() -> None:
    adagrad = {name: "adagrad" for name in METHODS if "optimizer" in options_of(METHODS[name])}
    able = {name for name in METHODS if hasattr(SequenceTagger(name, optimizer=adagrad.get(name)), "partial_fit")}
    assert able == {parameters["method"] for parameters in FURTHER}
    for method, message in [("memm", "'memm' has no partial_fit"), ("standard", "set optimizer='adagrad'")]:
        with pytest.raises(AttributeError, match=message):
            SequenceTagger(method).partial_fit(X, y)
    with pytest.raises(ConfigError, match="unknown method"):
        SequenceTagger("polished").partial_fit(X, y)


def test_counts_cannot_be_added_to_weights() -> None:
    estimator = SequenceTagger("polish").fit(X, y).set_params(method="empirical")
    with pytest.raises(ModelError, match="no counts"):
        estimator.partial_fit(X, y)


def test_joblib_threads_share_an_estimator() -> None:
    estimator = SequenceTagger().fit(X, y)
    found = Parallel(n_jobs=2, prefer="threads")(delayed(estimator.predict)([sentence]) for sentence in X)
    assert [labels for (labels,) in found] == y


def test_calibrate_reaches_training() -> None:
    estimator = SequenceTagger(calibrate=True).fit(X * 5, y * 5)
    assert "temperature" in estimator.tagger_.record
    assert "temperature" not in SequenceTagger().fit(X, y).tagger_.record


def test_unknown_labels_are_learned_from_and_not_scored() -> None:
    X, y = [["the", "dog"], ["a", "cat"]] * 5, [["DET", None], ["DET", "NOUN"]] * 5
    model = SequenceTagger().fit(X, y)
    assert model.classes_.tolist() == ["DET", "NOUN"]
    assert model.score(X, y) == model.score(X, y, sample_weight=np.arange(1, 11)) == 1.0
    with pytest.raises(DataError, match="'perceptron' needs every label"):
        SequenceTagger(method="perceptron").fit(X, y)
