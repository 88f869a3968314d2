"""Golden model files: every model that an earlier version wrote loads, tags as it did, and is trained further.

tests/golden/make.py made them and says how to add one.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate import CorateError, Corpus, ModelError, Tagger
from corate.io import tensor_file
from corate.training.methods import METHODS
from golden import make

FOLDER = Path(make.__file__).parent
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
#: SHA-256 of each golden file.
HASHES: dict[str, str] = json.loads((FOLDER / "hashes.json").read_text(encoding="utf-8"))
#: Log-probabilities are stored to six decimals, and the sums of floats may differ between processors.
CLOSE = 2e-5


def name_of(file: str) -> str:
    """The name in ``make.MODELS``: that of the file, without its version and suffix."""
    return Path(file).stem.partition("-")[2]


def loaded(file: str) -> Tagger:
    function = make.MODELS[name_of(file)][2].get("features") if name_of(file) in make.MODELS else None
    return corate.load(FOLDER / file, features=function if callable(function) else None)


def more_text(file: str) -> Corpus:
    """Sentences with a word and a label that the model does not know, as the model reads them."""
    text = [[("the", "DET"), ("emu", "NOUN"), ("walks", "VERB"), ("!", "MARK")]] * 30
    if name_of(file) == "pooled":
        return make.two_columns(text)
    return make.MODELS[name_of(file)][0](text) if name_of(file) in make.MODELS else make.words_alone(text)


def test_every_golden_file_is_expected_to_say_something_and_is_as_it_was_made() -> None:
    files = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in FOLDER.glob("*.corate")}
    assert files == HASHES
    assert set(files) == set(EXPECTED)


@pytest.mark.parametrize("file", sorted(EXPECTED))
def test_golden_files_tag_as_they_did(file: str, tmp_path: Path) -> None:
    tagger = loaded(file)
    sentences = make.unlabelled(name_of(file))
    assert [make.expectation(tagger, s)["labels"] for s in sentences] == [e["labels"] for e in EXPECTED[file]]
    for sentence, expected in zip(sentences, EXPECTED[file], strict=True):
        said = make.expectation(tagger, sentence)
        assert said["best"] == pytest.approx(expected["best"], rel=CLOSE, abs=CLOSE)
        assert (said["first"] is None) == (expected["first"] is None)
        assert (said["first"] or 0.0) == pytest.approx(expected["first"] or 0.0, rel=CLOSE, abs=CLOSE)
    # Saved again by this version, it says the same.
    tagger.save(tmp_path / "again.corate")
    again = corate.load(tmp_path / "again.corate", features=tagger.function)
    if make.of_graphs(name_of(file)):
        whole = Corpus.joined(sentences)
        assert again.tag_all(whole) == tagger.tag_all(whole)
        np.testing.assert_array_equal(again.lattice(whole).label_marginals(), tagger.lattice(whole).label_marginals())
        return
    assert again.tag_all(sentences) == tagger.tag_all(sentences)
    np.testing.assert_array_equal(again.lattice(sentences).scores, tagger.lattice(sentences).scores)


@pytest.mark.parametrize("file", sorted(f for f in EXPECTED if not make.of_graphs(name_of(f))))
def test_golden_files_are_trained_further(file: str) -> None:
    tagger, more = loaded(file), more_text(file)
    if tagger.counts is not None:
        assert tagger.update(more).record["sentences"] == tagger.record["sentences"] + len(more)
    if tagger.model.locally_normalised or tagger.model.word_pairs is not None:
        with pytest.raises(CorateError, match="cannot be trained further"):
            corate.train(more, "standard", init=tagger)
        return
    method = tagger.method if "init" in METHODS[tagger.method].places else "polish"
    further = corate.train(more, method, init=tagger)
    assert further.record["init"]["method"] == tagger.method
    assert [y.partition("|")[0] for y in further.tag_all(more)[0]] == ["DET", "NOUN", "VERB", "MARK"]


def test_a_file_of_a_newer_format_is_refused_with_the_remedy(tmp_path: Path) -> None:
    tensors, header = tensor_file.read(FOLDER / "v1-polish.corate")
    tensor_file.write(tmp_path / "newer.corate", tensors, header, tensor_file.FORMAT_VERSION + 1)
    with pytest.raises(ModelError, match=r"newer\.corate.*format version.*upgrade corate"):
        corate.load(tmp_path / "newer.corate")


@pytest.mark.parametrize("place", ["tensor", "header", "model"])
def test_a_model_that_holds_what_this_version_does_not_know_is_refused(place: str, tmp_path: Path) -> None:
    """A later version that forgets to raise the format version would otherwise be read here and tag wrongly."""
    tensors, header = tensor_file.read(FOLDER / "v1-polish.corate")
    tensors, header = dict(tensors), dict(header)
    if place == "tensor":
        tensors["temperature"] = np.ones(1, np.float32)
    elif place == "header":
        header["temperature"] = 2.0
    else:
        header["model"] = {**header["model"], "temperature": 2.0}
    tensor_file.write(tmp_path / "odd.corate", tensors, header)
    with pytest.raises(ModelError, match=r"odd\.corate.*temperature.*upgrade corate"):
        corate.load(tmp_path / "odd.corate")
