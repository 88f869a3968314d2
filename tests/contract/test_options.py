"""Options of methods: each has a default, a range and a help text, and clearly refuses values outside its range."""

from __future__ import annotations

import contextlib
import inspect
import logging
import pickle
import re
import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, fields
from typing import Any

import numpy as np
import pytest

import corate
from corate.errors import ConfigError, CorateError, shortened
from corate.training.methods import FORMER, METHODS, OPTION_METHODS, OPTIONS, Method, options_of, resolve_method
from options_given import given
from small_corpora import corpus_of, random_sentences

CORPUS = corpus_of(random_sentences(12))
EVERY = [(method, name) for method in METHODS for name in options_of(METHODS[method])]
NUMBERS = [(method, name) for method, name in EVERY if options_of(METHODS[method])[name].range is not None]


def ends(method: str, name: str) -> tuple[float, float]:
    found = options_of(METHODS[method])[name].range
    assert found is not None
    return found


def same(one: corate.Tagger, other: corate.Tagger) -> bool:
    a, b = one.model, other.model
    pairs = zip(
        (*a.weights.arrays(), a.bias, a.edges.scores), (*b.weights.arrays(), b.bias, b.edges.scores), strict=True
    )
    return all(np.array_equal(x, y) for x, y in pairs)


# -- what is declared -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "name"), EVERY)
def test_every_option_has_a_help_text_and_a_default_within_its_range(method: str, name: str) -> None:
    option = options_of(METHODS[method])[name]
    assert re.fullmatch(r"[A-Z0-9].*\.", option.help)
    if option.default is not None:
        assert option.check(option.default) == option.default


@pytest.mark.parametrize("method", METHODS)
def test_help_of_a_method_lists_its_options(method: str) -> None:
    text = METHODS[method].__doc__ or ""
    for name, option in options_of(METHODS[method]).items():
        assert f"    {name}: {option.help}" in text


@pytest.mark.parametrize("method", METHODS)
def test_a_method_by_name_is_the_same_as_its_class(method: str) -> None:
    options = METHODS[method]()
    assert getattr(corate, type(options).__name__) is type(options)
    assert same(corate.train(CORPUS, options), corate.train(CORPUS, method))


def test_options_are_frozen_and_can_be_compared_and_pickled() -> None:
    options = corate.Polish(passes=2)
    with pytest.raises(FrozenInstanceError):
        options.passes = 3  # type: ignore[misc]
    assert options == corate.Polish(passes=2) != corate.Polish(passes=3)
    assert pickle.loads(pickle.dumps(options)) == options
    assert asdict(options)["passes"] == 2


def test_the_signature_of_train_is_short() -> None:
    parameters = inspect.signature(corate.train).parameters
    assert list(parameters) == [
        "corpus", "method", "features", "raw", "raw_classes", "held_out", "init",
        "calibrate", "constrain", "nodes", "threads", "seed", "progress", "options",
    ]  # fmt: skip


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "name"), NUMBERS)
def test_numbers_out_of_range_are_refused_by_name(method: str, name: str) -> None:
    least, most = ends(method, name)
    absurd = [float("nan"), float("inf"), -1, 1e30, 10**400, "1", True, [1]]
    if options_of(METHODS[method])[name].kind == "integer":
        absurd += [1.5]
    for value in absurd:
        said = f"from {least:.10g} to {most:.10g}, not {value!r}"
        with pytest.raises(ConfigError) as found:
            corate.train(CORPUS, method, **given(**{name: value}))
        messages = {shortened(f"{name} must be {kind} {said}") for kind in ("an integer", "a number")}
        assert str(found.value) in messages
        assert found.value.option == name


@pytest.mark.parametrize(("method", "name"), [pair for pair in EVERY if pair not in NUMBERS])
def test_values_of_another_kind_are_refused_by_name(method: str, name: str) -> None:
    if name == "sentence_weights":
        return  # any sequence of numbers; the contract of weights is in tests/training/test_weights.py
    with pytest.raises(ConfigError, match=name) as found:
        corate.train(CORPUS, method, **given(**{name: 3.5}))
    assert found.value.option == name


@pytest.mark.parametrize(("method", "name"), NUMBERS)
def test_both_ends_of_a_range_train_or_are_refused(method: str, name: str) -> None:
    takes_long = {"passes", "half_passes", "pair_passes", "iterations"}
    for value in ends(method, name)[: 1 if name in takes_long else 2]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the loss rose to")
            with contextlib.suppress(CorateError):
                tagger = corate.train(CORPUS, method, **given(**{name: value}))
                assert np.isfinite(tagger.score(["the", "dogs"]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", OPTION_METHODS)
def test_an_option_of_another_method_is_refused_with_the_methods_that_have_it(method: str, name: str) -> None:
    if method in OPTION_METHODS[name]:
        return
    with pytest.raises(ConfigError, match=f"^{name} is an option of the method") as found:
        corate.train(CORPUS, method, **given(**{name: 1}))
    assert all(repr(other) in str(found.value) for other in OPTION_METHODS[name])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pases": 3}, "unknown option 'pases' of the method 'polish'; did you mean 'passes'?"),
        ({"thread": 2}, "unknown option 'thread'"),
        ({"zzz": 2}, "unknown option 'zzz' of the method 'polish'; there are all_labels, many_labels,"),
        ({"method": "polsh"}, "unknown method 'polsh'; did you mean 'polish'?"),
        ({"method": 3}, "unknown method 3; there are polish, empirical"),
        ({"method": corate.Polish(), "passes": 3}, "passes is an option of the method: give it to Polish(...)"),
        ({"method": corate.Polish(), "settings": {}}, "settings is an option of the method: give it to Polish(...)"),
    ],
)
def test_mistakes_are_named_with_a_remedy(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        corate.train(CORPUS, **given)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: corate.Standard(optimizer="adagrad", c1=1.0), "c1 is for the optimizer 'lbfgs'"),
        (lambda: corate.Standard(checkpoint="c"), "checkpoints are written between stochastic passes"),
        (lambda: corate.Separate(optimizer="lbfgs", checkpoint="c"), "checkpoints are written between"),
        (
            lambda: corate.Separate(space="features"),
            "the space 'features' is for the coupling 'joint', not 'given-nodes'",
        ),
        (
            lambda: corate.Separate(space="features", coupling="joint", all_labels=True),
            "with all_labels, every token can have every label; leave space unset",
        ),
        (lambda: corate.Separate(base=None), "base must have a value, not None"),  # type: ignore[arg-type]
        (lambda: corate.Empirical(backoff="steep"), "unknown backoff 'steep'; there are default, paper, pooled"),
    ],
)
def test_options_that_do_not_fit_are_refused_when_they_are_made(make: Callable[[], Method], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        make()


def test_numbers_of_numpy_are_numbers() -> None:
    options = corate.Polish(passes=np.int64(2), c2=np.float32(0.5))  # type: ignore[arg-type]
    assert (options.passes, type(options.passes), options.c2, type(options.c2)) == (2, int, 0.5, float)


# -- expert options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "name"), [(method, name) for method, name in EVERY if OPTIONS[name].expert])
def test_an_expert_option_is_set_in_expert_and_by_its_old_keyword_with_a_warning(method: str, name: str) -> None:
    assert resolve_method(method, {"expert": {name: 1}}) == METHODS[method](**{name: 1})
    with pytest.warns(DeprecationWarning, match=rf"{name}= is deprecated.* version 0.4; give expert={{'{name}': "):
        assert resolve_method(method, {name: 1}) == METHODS[method](**{name: 1})


def test_the_warning_of_an_old_keyword_points_at_the_caller() -> None:
    with pytest.warns(DeprecationWarning, match="batch= is deprecated") as warned:
        tagger = corate.train(CORPUS, batch=4)
    assert warned[0].filename == __file__
    assert same(tagger, corate.train(CORPUS, expert={"batch": 4}))
    assert same(tagger, corate.train(CORPUS, corate.Polish(batch=4)))


def test_wrong_expert_options_are_refused_by_name() -> None:
    for wrong, said in [
        ({"batsh": 4}, "unknown option 'batsh' of the method 'polish'; did you mean 'batch'?"),
        ({"word_k": 1}, "word_k is an option of the method 'empirical', not of 'polish'"),
        ({"batch": -1}, "batch must be an integer"),
        (4, "expert is a mapping of options"),
    ]:
        with pytest.raises(ConfigError, match=re.escape(said)):
            corate.train(CORPUS, expert=wrong)
    with pytest.raises(ConfigError, match="expert is an option of the method: give it to Polish"):
        corate.train(CORPUS, corate.Polish(), expert={"batch": 4})
    with pytest.raises(ConfigError, match="passes is given twice"):
        corate.train(CORPUS, passes=2, expert={"passes": 3})


@pytest.mark.parametrize(("former", "name"), FORMER.items())
def test_former_names_still_work_with_a_warning(former: str, name: str) -> None:
    option = OPTIONS[name]
    method, value = option.methods[0], option.choices[0] if option.choices else 0.5
    expected = METHODS[method](**{name: value})
    with pytest.warns(DeprecationWarning, match=f"{former} is deprecated, .*0.4; its name is {name}"):
        assert resolve_method(method, {"expert": {former: value}} if option.expert else {former: value}) == expected
    with pytest.warns(DeprecationWarning, match=f"its name is {name}") as warned:
        assert METHODS[method](**{former: value}) == expected
    assert warned[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=f"its name is {name}"):
        assert getattr(expected, former) == value
    with pytest.raises(ConfigError, match=f"give only {name}"):
        METHODS[method](**{former: value, name: None})
    assert option.key == former, "model files keep the name"


def test_pickled_methods_with_former_names_load() -> None:
    method = corate.Empirical(backoff="paper")
    old = object.__new__(corate.Empirical)
    old.__setstate__({"ladder": "paper"} | {name: value for name, value in vars(method).items() if name != "backoff"})
    assert old == pickle.loads(pickle.dumps(method)) == method


def test_options_are_read_from_text() -> None:
    for written, name, value in [
        ("4", "batch", 4), ("0.5", "base_weight", 0.5), ("2", "order", 2), ("seen", "transitions", "seen"),
        ("true", "tune", True), ("no", "boundaries", False), ("a.c", "checkpoint", "a.c"), ("?", "unknown", "?"),
        ("O=0.5, a=b=2", "label_weights", {"O": 0.5, "a=b": 2.0}), ("1, 0.5", "sentence_weights", [1.0, 0.5]),
    ]:  # fmt: skip
        assert OPTIONS[name].parse(written) == value
    for written, name in [
        ("x", "batch"), ("1.5", "batch"), ("3", "order"), ("maybe", "tune"), ("O", "label_weights"),
        ("O=x", "label_weights"), ("x", "sentence_weights"),
    ]:  # fmt: skip
        with pytest.raises(ConfigError) as found:
            OPTIONS[name].parse(written)
        assert found.value.option == name


# -- settings of version 0.1 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "settings", "options"),
    [
        ("polish", {"c2": 0.3, "passes": 0, "iterations": 7}, {"c2": 0.3}),
        ("separate", {"coupling": 0.3, "passes": 2.0, "half_passes": 0}, {"coupling_weight": 0.3, "passes": 2}),
        ("empirical", {"word_k": 1}, {"word_k": 1.0}),
        ("perceptron", {"passes": 2, "c2": 1.0, "base_weight": 0.5}, {"passes": 2}),
    ],
)
def test_settings_still_work_with_a_warning(method: str, settings: dict[str, float], options: dict[str, float]) -> None:
    with pytest.warns(FutureWarning, match="settings= is deprecated, and will be removed in version 0.3") as warned:
        old = corate.train(CORPUS, method, settings=settings)
    assert warned[0].filename == __file__, "it points at the caller"
    assert same(old, corate.train(CORPUS, method, **given(**options)))


@pytest.mark.filterwarnings("ignore:settings= is deprecated")
@pytest.mark.parametrize("method", METHODS)
def test_settings_without_names_or_with_wrong_ones_are_refused(method: str) -> None:
    for settings in ("rate=0.1", ["rate"], 0.1):
        with pytest.raises(ConfigError, match="by name"):
            corate.train(CORPUS, method, settings=settings)
    with pytest.raises(ConfigError, match="unknown option 'nosuch'"):
        corate.train(CORPUS, method, settings={"nosuch": 1})


# -- progress and logging ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_progress_comes_as_events(method: str) -> None:
    events: list[corate.ProgressEvent] = []
    corate.train(CORPUS, method, held_out=CORPUS, progress=events.append)
    assert {"counting", "building the model"} <= {event.stage for event in events}
    assert all(event.fraction is not None and 0 <= event.fraction <= 1 for event in events)
    if METHODS[method].on_sentences and METHODS[method]().in_passes:
        passes = [event for event in events if event.loss is not None]
        assert passes
        assert all(event.held_out_accuracy is not None for event in passes)
    if METHODS[method].on_sentences and not METHODS[method]().in_passes:
        assert any(event.objective is not None and event.gradient_norm is not None for event in events)


def test_what_happens_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "corate"):
        corate.train(CORPUS, passes=2)
    text = "\n".join(record.getMessage() for record in caplog.records)
    assert "polish: base pooled, order 1, full lattice, adagrad" in text
    assert len(re.findall(r"^polish: pass \d of 2, loss [\d.]+$", text, re.M)) == 2
    assert re.search(r"^polish: trained on \d+ tokens in [\d.]+ s$", text, re.M)


def test_fields_have_no_default_that_its_option_does_not_name() -> None:
    for method in METHODS.values():
        for f in fields(method):
            assert f.default in (None, options_of(method)[f.name].default)
