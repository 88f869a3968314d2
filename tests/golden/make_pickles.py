"""Makes golden pickles: python tests/golden/make_pickles.py FOLDER.

Users store taggers and estimators with pickle and joblib, and a pickle names classes by their modules. A golden pickle
is made once and never changed; tests/model/test_golden_pickles.py checks that every later version loads it, with the
same labels. So a class that moves keeps an alias at its old place. ``pickles.json`` has the versions that wrote the
files, their hashes, and the expected labels. For a new class that pickles can hold, add a line to ``made``, make the
new file in an empty folder, and copy it here with its expectation.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy
import sklearn

import corate
from corate.compat import pycrfsuite
from corate.compat.sklearn_crfsuite import CRF
from corate.sklearn import SequenceTagger
from golden import make

#: Written by every Python since 3.8.
PROTOCOL = 4
X = [[make.features([w for w, _ in s], i) for i in range(len(s))] for s in make.sentences()]
Y = [[label for _, label in s] for s in make.sentences()]
ASKED = [[make.features(words, i) for i in range(len(words))] for words in make.UNLABELLED]
WORDS = make.UNLABELLED


def made() -> dict[str, Any]:
    """What is pickled, by the name of its file."""
    corpus = make.words_alone(make.sentences())
    crf = CRF(algorithm="lbfgs", max_iterations=10).fit(X, Y)
    return {
        "tagger": corate.train(corpus),
        "tagger-function": corate.train(corpus, features=make.features),
        "sequence-tagger": SequenceTagger("polish", passes=1).fit(X, Y),
        "sequence-tagger-empirical": SequenceTagger("empirical").fit(X, Y),
        "crf": crf,
        "crf-polish": CRF(algorithm="polish").fit(X, Y),
        "pycrfsuite-tagger": crf.tagger_,
        "held": held(corpus),
        **unfitted(),
    }


def unfitted() -> dict[str, Any]:
    """Estimators without a model."""
    return {
        "sequence-tagger-unfitted": SequenceTagger("standard", iterations=5),
        "crf-unfitted": CRF(algorithm="pa", max_iterations=5),
    }


def held(corpus: corate.Corpus) -> dict[str, Any]:
    """What taggers and estimators hold, are given or return, and what else users may pickle."""
    tagger = corate.train(corpus, "standard", iterations=5)
    methods = [corate.Polish, corate.Empirical, corate.Separate, corate.Standard]
    options = [one() for one in (*methods, corate.Piecewise, corate.MEMM, corate.Perceptron)]
    return {
        "methods": options,
        "corpus": corpus,
        "ready-made": make.ready_made(make.features)(make.sentences()),
        "constraints": corate.Constraints(first="DET", forbidden={("DET", "DET")}, labels={0: ["DET", "NAME"]}),
        "report": corate.evaluate(tagger, corpus),
        "explanation": tagger.explain(WORDS[0], 1),
        "strongest": tagger.strongest(2),
        "labels": SequenceTagger("empirical").fit(X, Y).predict(ASKED),
        "vocabulary": tagger.vocabulary,
        "words": tagger.words,
        "error": corate.ConfigError("a message", option="memory"),
    }


def labels(loaded: Any) -> list[list[str]] | None:
    """The labels that something unpickled gives to the same sentences; None if it gives none."""
    if isinstance(loaded, corate.Tagger):
        return loaded.tag_all(WORDS)
    if isinstance(loaded, pycrfsuite.Tagger):
        return [loaded.tag(sentence) for sentence in ASKED]
    if getattr(loaded, "tagger_", None) is not None:
        return [list(one) for one in loaded.predict(ASKED)]
    return None


def main(folder: Path) -> None:
    """Write all pickles, and what is expected of them."""
    folder.mkdir(parents=True, exist_ok=True)
    versions = {"corate": corate.__version__, "numpy": numpy.__version__, "scikit-learn": sklearn.__version__}
    versions["python"] = sys.version.split()[0]
    expected = {}
    for name, value in made().items():
        content = pickle.dumps(value, PROTOCOL)
        (folder / f"{name}.pickle").write_bytes(content)
        hashed = hashlib.sha256(content).hexdigest()
        expected[name] = {"versions": versions, "sha256": hashed, "labels": labels(pickle.loads(content))}
    (folder / "pickles.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python tests/golden/make_pickles.py FOLDER")
    main(Path(sys.argv[1]).resolve())
