"""What CRFsuite is given: the same observations as Corate, written another way."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import corate  # noqa: E402
from benchmarks import peers  # noqa: E402 - the benchmarks are not installed, they stand beside the tests
from corate.features import resolve  # noqa: E402
from corate.features.vocabulary import Vocabulary  # noqa: E402

TEXT: list[peers.Sentence] = [
    [("In", "Prep", "O"), ("Den", "N", "B-LOC"), ("Haag", "N", "I-LOC"), (",", "Punc", "O"), ("A4-weg", "N", "B-MISC")],
    [("NAVO", "N", "B-ORG"), ("in", "Prep", "O"), ("1998", "Num", "O"), (".", "Punc", "O")],
    [("In", "Prep", "O"), ("Élysée", "N", "B-LOC"), ("3-1", "Num", "O"), ("x", "N", "O"), ("NAVO", "N", "B-ORG")],
    [("Haag", "N", "B-LOC")],
]


def test_crfsuite_gets_the_features_of_the_preset_ner() -> None:
    corpus = corate.Corpus.from_sentences(TEXT)
    templates, _ = resolve("ner", [column.name for column in corpus.columns])
    vocabulary = Vocabulary.of([template for template in templates if template.atoms])
    ids, _ = vocabulary.fit(corpus)
    ours: dict[object, list[int]] = {}
    theirs: dict[object, list[int]] = {}
    for token, column in enumerate(ids.T.tolist()):
        for template, value in enumerate(column):
            if value >= 0:
                ours.setdefault((template, value), []).append(token)
    attributes = [one for sentence in TEXT for one in peers.ner(sentence)]
    for token, names in enumerate(attributes):
        for name in names:
            theirs.setdefault(name, []).append(token)
    del theirs["bias"]  # Corate's is no template
    # A feature is known by the tokens that have it.
    assert Counter(map(tuple, theirs.values())) == Counter(map(tuple, ours.values()))


@pytest.mark.parametrize("name", peers.FEATURES)
def test_every_token_has_attributes(name: str) -> None:
    assert all(all(token) and len(peers.FEATURES[name](s)) == len(s) for s in TEXT for token in peers.FEATURES[name](s))
