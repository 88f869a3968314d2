"""Golden pickles: what earlier versions pickled loads, and gives the same labels.

tests/golden/make_pickles.py made them and says how to add one. If a pickle does not load because a class has moved,
keep an alias at its old place.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import pickletools
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import corate
from golden import make, make_pickles

FOLDER = Path(make.__file__).parent
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "pickles.json").read_text(encoding="utf-8"))


def unpickled(name: str) -> Any:
    content = (FOLDER / f"{name}.pickle").read_bytes()
    if b"numpy._core" in content and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("NumPy 1 cannot read the arrays that NumPy 2 pickles")
    with warnings.catch_warnings():
        # scikit-learn warns of estimators that another version of it has pickled.
        warnings.filterwarnings("ignore", "Trying to unpickle estimator", UserWarning)
        return pickle.loads(content)


def named(content: bytes) -> set[tuple[str, str]]:
    """The modules and the names in them that a pickle refers to."""
    strings: list[str] = []
    memo: list[Any] = []
    found = set()
    for code, argument, _ in pickletools.genops(content):
        if code.name.endswith("BINUNICODE"):
            strings.append(argument)
        elif code.name == "MEMOIZE":
            memo.append(strings[-1] if strings else None)
        elif code.name in ("BINGET", "LONG_BINGET"):
            strings.append(memo[argument])
        elif code.name == "STACK_GLOBAL":
            found.add((strings[-2], strings[-1]))
    return found


def test_every_golden_pickle_is_as_it_was_made() -> None:
    hashes = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.pickle")}
    assert hashes == {name: one["sha256"] for name, one in EXPECTED.items()}
    assert all({"corate", "numpy", "python", "scikit-learn"} <= one["versions"].keys() for one in EXPECTED.values())


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_golden_pickles_give_the_same_labels(name: str) -> None:
    loaded = unpickled(name)
    assert make_pickles.labels(loaded) == EXPECTED[name]["labels"]
    # Pickled again by this version, it gives the same.
    assert make_pickles.labels(pickle.loads(pickle.dumps(loaded))) == EXPECTED[name]["labels"]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_what_golden_pickles_name_is_still_there(name: str) -> None:
    ours = {place for place in named((FOLDER / f"{name}.pickle").read_bytes()) if place[0].startswith("corate.")}
    assert ours
    gone = [f"{module}.{name}" for module, name in sorted(ours) if not hasattr(import_module(module), name)]
    assert not gone, f"users' pickles name {', '.join(gone)}: keep an alias there"


@pytest.mark.parametrize("name", ["sequence-tagger-unfitted", "crf-unfitted"])
def test_estimators_without_a_model_keep_their_parameters(name: str) -> None:
    loaded, made = unpickled(name), make_pickles.unfitted()[name]
    assert type(loaded) is type(made)
    assert repr(loaded) == repr(made)


def test_what_taggers_and_estimators_hold_and_return_is_as_it_was() -> None:
    held, fresh = unpickled("held"), make_pickles.held(make.words_alone(make.sentences()))
    assert held.keys() == fresh.keys()
    assert [type(one) for one in held.values()] == [type(one) for one in fresh.values()]
    assert held["methods"] == fresh["methods"]
    tagger = corate.train(held["corpus"], "empirical")
    assert tagger.tag_all(make.UNLABELLED) == corate.train(fresh["corpus"], "empirical").tag_all(make.UNLABELLED)
    assert corate.train(held["ready-made"], "empirical").labels == tagger.labels
    words = make.UNLABELLED[0]
    assert tagger.lattice([words], constraints=held["constraints"]).tag()[0][0] == "DET"
    assert held["report"].accuracy == fresh["report"].accuracy
    assert held["explanation"].label == fresh["explanation"].label
    assert list(held["words"]) == list(fresh["words"])
    assert (str(held["error"]), held["error"].option) == (str(fresh["error"]), fresh["error"].option)
    ready = held["ready-made"].attributes
    assert ready.known_key_lengths.tolist() == fresh["ready-made"].attributes.known_key_lengths.tolist()
    assert ready.known_key_lengths.max() > 0
