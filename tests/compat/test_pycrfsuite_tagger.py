"""python-crfsuite's tagger: opening, tagging, probabilities, the content of models."""

from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import corate
from compat_data import address_features
from corate.compat import pycrfsuite as ours
from corate.compat.pycrfsuite import tagger as tagger_module

X, Y = address_features(40)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "addresses.crfsuite"
    trainer = ours.Trainer(params={"c1": 0.05, "c2": 0.1}, verbose=False)
    trainer.extend(X, Y)
    trainer.train(path)
    return path


@pytest.fixture
def tagger(path: Path) -> ours.Tagger:
    tagger = ours.Tagger()
    tagger.open(path)
    return tagger


@pytest.fixture
def theirs(path: Path) -> Any:
    original = pytest.importorskip("pycrfsuite").Tagger()
    original.open(str(path))
    return original


# -- opening -----------------------------------------------------------------------------------------------------------


def test_a_tagger_is_closed_at_the_end_of_a_with_block(path: Path) -> None:
    tagger = ours.Tagger()
    with tagger.open(str(path)) as opened:
        assert opened is tagger
        assert tagger.labels()
    with pytest.raises(ValueError, match="The tagger is not opened"):
        tagger.labels()


def test_models_open_from_memory(path: Path, tagger: ours.Tagger) -> None:
    other = ours.Tagger()
    with other.open_inmemory(path.read_bytes()):
        assert other.tag(X[0]) == tagger.tag(X[0])
        assert vars(other.info()) == vars(tagger.info())
    model = corate.train(corate.Corpus.from_features(X, Y), "perceptron")
    model.save(path.with_name("model.corate"))
    with other.open_inmemory(path.with_name("model.corate").read_bytes()):
        assert other.tag(X[0]) == model.tag(X[0])


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.labels(),
        lambda t: t.tag(),
        lambda t: t.tag([]),
        lambda t: t.set([]),
        lambda t: t.probability(["X"]),
        lambda t: t.marginal("X", 0),
    ],
)
def test_a_closed_tagger_raises_value_error(call: Any, tagger: ours.Tagger) -> None:
    tagger.close()
    tagger.close()
    for closed in (tagger, ours.Tagger()):
        with pytest.raises(ValueError, match="The tagger is not opened"):
            call(closed)
        for content in (closed.info, closed.dump):
            with pytest.raises(RuntimeError, match="Tagger is closed"):
                content()


@pytest.mark.parametrize("content", [b"", b"lCRF", b"hello", b"lCRF" + bytes(60)])
def test_other_files_are_value_errors(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match="file"):
        ours.Tagger().open(tmp_path / "file")
    with pytest.raises(ValueError, match="model"):
        ours.Tagger().open_inmemory(content)
    with pytest.raises(FileNotFoundError):
        ours.Tagger().open(tmp_path / "missing")
    with pytest.raises(TypeError):
        ours.Tagger().open_inmemory("text")  # type: ignore[arg-type]


def test_a_model_that_cannot_be_opened_leaves_the_tagger_as_it_was(tagger: ours.Tagger, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"nonsense")
    before = tagger.tag(X[0])
    with pytest.raises(ValueError, match="file"):
        tagger.open(tmp_path / "file")
    assert tagger.tag(X[0]) == before


# -- tagging -----------------------------------------------------------------------------------------------------------


def test_labels_and_probabilities_are_those_of_the_original(tagger: ours.Tagger, theirs: Any) -> None:
    assert tagger.labels() == theirs.labels()
    for xseq, yseq in zip(X, Y, strict=True):
        assert tagger.tag(xseq) == theirs.tag(xseq)
        for labels in (yseq, tagger.tag()):
            assert tagger.probability(labels) == pytest.approx(theirs.probability(labels), rel=1e-4, abs=1e-8)
        for position, label in itertools.product(range(len(xseq)), tagger.labels()):
            assert tagger.marginal(label, position) == pytest.approx(theirs.marginal(label, position), abs=1e-5)


@pytest.mark.parametrize("prepare", [list, tuple, iter, ours.ItemSequence])
def test_a_sequence_is_any_iterable_or_prepared(prepare: Any, tagger: ours.Tagger) -> None:
    expected = tagger.tag(X[3])
    assert tagger.tag(prepare(X[3])) == expected
    assert tagger.marginal(expected[0], 0) > 0  # an iterator was not used up
    tagger.set(prepare(X[3]))
    assert tagger.tag() == expected


def test_the_current_sequence_is_the_last_that_was_set_or_tagged(tagger: ours.Tagger) -> None:
    assert tagger.tag() == []
    first, second = tagger.tag(X[0]), tagger.tag(X[1])
    assert tagger.tag() == second
    tagger.set(X[0])
    assert tagger.tag() == first
    assert 0 < tagger.probability(first) <= 1
    assert tagger.tag([]) == tagger.tag() == []


def test_what_the_caller_changes_after_set_is_not_seen(tagger: ours.Tagger) -> None:
    tokens = [dict(token) for token in X[0]]
    tagger.set(tokens)
    tokens[0]["word"] = "changed"
    tokens.pop()
    assert tagger.tag() == tagger.tag(X[0])


def test_probabilities_of_all_labellings_sum_to_one(tagger: ours.Tagger) -> None:
    tagger.set(X[0][:2])
    total = sum(tagger.probability(labels) for labels in itertools.product(tagger.labels(), repeat=2))
    assert total == pytest.approx(1.0, abs=1e-5)
    rows = tagger.marginals()
    assert [sum(row.values()) for row in rows] == pytest.approx([1.0, 1.0], abs=1e-5)
    assert rows[1]["O"] == tagger.marginal("O", 1)


def test_errors_have_the_types_of_the_original(tagger: ours.Tagger, theirs: Any) -> None:
    for one in (tagger, theirs):
        one.set(X[0])
        label = one.labels()[0]
        with pytest.raises(ValueError, match="The numbers of items and labels differ"):
            one.probability([label])
        for position in (-1, len(X[0])):
            with pytest.raises(ValueError, match="out of range"):
                one.marginal(label, position)
        with pytest.raises(RuntimeError, match="Failed to convert into label identifier: nonsense"):
            one.marginal("nonsense", 0)
        with pytest.raises(RuntimeError, match="Failed to convert into label identifier: nonsense"):
            one.probability(["nonsense"] * len(X[0]))


@pytest.mark.parametrize("value", [None, (1, 2)])
def test_values_of_other_types_are_type_errors(value: Any, tagger: ours.Tagger) -> None:
    for call in (tagger.tag, tagger.set, ours.ItemSequence):
        with pytest.raises(TypeError):
            call([{"a": value}])


def test_threads_share_a_tagger(tagger: ours.Tagger) -> None:
    expected = [tagger.tag(xseq) for xseq in X]
    found: list[list[list[str]]] = []
    threads = [
        threading.Thread(target=lambda: found.append([tagger.tag(xseq) for xseq in X for _ in range(5)][::5]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_taggers_are_copied_and_pickled(copied: Any, tagger: ours.Tagger) -> None:
    tagger.set(X[0])
    other = copied(tagger)
    assert other.tag(X[1]) == tagger.tag(X[1])
    tagger.close()
    assert vars(other.info())["header"]["magic"] == "lCRF"


# -- content -----------------------------------------------------------------------------------------------------------


def test_info_has_what_the_original_has(tagger: ours.Tagger, theirs: Any) -> None:
    mine, other = tagger.info(), theirs.info()
    assert (mine.header, mine.labels, mine.attributes) == (other.header, other.labels, other.attributes)
    assert mine.transitions == pytest.approx(other.transitions, abs=1e-6)
    assert mine.state_features == pytest.approx(other.state_features, abs=1e-6)
    assert list(mine.state_features) == list(other.state_features)


def test_dump_writes_what_the_original_writes(
    tagger: ours.Tagger, theirs: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tagger.dump(tmp_path / "mine")
    theirs.dump(str(tmp_path / "theirs"))
    assert (tmp_path / "mine").read_text() == (tmp_path / "theirs").read_text()
    tagger.dump()
    assert capsys.readouterr().out == (tmp_path / "mine").read_text()
    (tmp_path / "mine").write_text("x" * 10**6)  # longer than the dump
    tagger.dump(tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == (tmp_path / "theirs").read_text()


def test_info_survives_names_that_the_dump_cannot_show(tmp_path: Path) -> None:
    names = ["a\nb", "}", " --> ", "", "x --> y: 1.0", "  "]
    labels = ["L\nM", "O", " ", "}"]
    trainer = ours.Trainer(params={"c2": 0.1}, verbose=False)
    for i in range(24):
        trainer.append([[names[i % 6]], [names[(i + 1) % 6]]], [labels[i % 4], labels[(i + 1) % 4]], i % 2)
    trainer.train(tmp_path / "model", 1)
    tagger = ours.Tagger()
    tagger.open(tmp_path / "model")
    info = tagger.info()
    assert set(info.labels) == set(labels)
    assert set(info.attributes) <= set(names)
    assert {label for _, label in info.state_features} <= set(labels)
    assert trainer.logparser is not None
    assert trainer.logparser.last_iteration is not None
    assert set(trainer.logparser.last_iteration["scores"]) == set(labels)


def test_info_of_a_model_that_a_crfsuite_file_cannot_hold(tmp_path: Path) -> None:
    corpus = corate.Corpus.from_features(X, Y)
    corate.train(corpus, "standard", boundaries=True, order=2).save(tmp_path / "model.corate")
    tagger = ours.Tagger()
    tagger.open(tmp_path / "model.corate")
    info = tagger.info()
    assert info.header["magic"] == "corate"
    assert set(info.labels) == set(tagger.labels())
    assert info.state_features
    assert all(a in info.labels and b in info.labels for a, b in info.transitions)


def test_importing_the_tagger_imports_neither_the_trainer_nor_the_model() -> None:
    heavy = [
        "corate.training",
        "corate.counting",
        "corate.model",
        "corate.features",
        "corate.formats",
        "corate.optimize",
    ]
    code = f"import sys; from corate.compat.pycrfsuite import Tagger; print(sorted({set(heavy)} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def write_model(path: Path, label: str) -> None:
    """A model that has one label."""
    trainer = ours.Trainer(verbose=False)
    trainer.append([["a"]], [label])
    trainer.train(path)


def test_a_file_that_is_opened_again_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagger_module, "_SETTLED", -1.0)
    path, other = tmp_path / "model", tmp_path / "other"
    write_model(path, "A")
    write_model(other, "B")
    first, second = ours.Tagger.of_file(path), ours.Tagger.of_file(path)
    assert first.model is second.model
    first.close()
    assert second.tag([["a"]]) == ours.Tagger.of_file(path).tag([["a"]]) == ["A"]
    assert ours.Tagger.of_file(other).tag([["a"]]) == ["B"]


@pytest.mark.parametrize("in_place", [True, False])
def test_a_file_that_has_changed_is_read_again(in_place: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one of the same size, and one that changes again at once."""
    path, other = tmp_path / "model", tmp_path / "other"
    write_model(path, "A")
    write_model(other, "B")
    for settled in (2.0, -1.0):
        monkeypatch.setattr(tagger_module, "_SETTLED", settled)
        for source, label in ((path.read_bytes(), "A"), (other.read_bytes(), "B")) * 2:
            target = tmp_path / "copy"
            if in_place:
                target.write_bytes(source)
            else:
                (tmp_path / "new").write_bytes(source)
                (tmp_path / "new").replace(target)
            if settled < 0:
                time.sleep(0.05)  # the clock of the file system
            assert ours.Tagger.of_file(target).tag([["a"]]) == [label]
