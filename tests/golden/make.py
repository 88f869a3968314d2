"""Makes golden model files: python tests/golden/make.py FOLDER.

A golden file is made once, with the program that first wrote such a model, and is never changed. Beside the files
stands ``expected.json``: the labels and log-probabilities that each gave when it was made. tests/test_golden.py checks
that every later version loads the files, tags the same with them, and trains them further.

The files ``v1*`` were made by 0.1.0: ``v1.corate`` and ``v1-pooled.corate`` first, all others by this script. The files
``v2-*`` were first made by 0.2.0: models of ready-made features whose names are joined with a colon, and models with
label shares for unseen words. ``v2-empirical-words`` has pairs of words. The files ``v3-*`` have weights of parts of
labels, the files ``v4-*`` label the nodes of graphs.
For a new version of the format, or a new kind of model, add a line to ``MODELS``, make the new files in an empty
folder, and copy them here with their expectations.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import corate
from corate import Corpus, Tagger

VERSION = "v4"
LABELLED = """
the/DET cat/NOUN sees/VERB a/DET dog/NOUN ./.
Ann/NAME saw/VERB the/DET old/ADJ saw/NOUN ./.
a/DET small/ADJ dog/NOUN barks/VERB ./.
Bob/NAME and/CONJ Ann/NAME walk/VERB ./.
the/DET walk/NOUN was/VERB long/ADJ ./.
does/VERB Bob/NAME bark/VERB ?/.
42/NUM cats/NOUN walked/VERB ./.
the/DET old/ADJ fox/NOUN barked/VERB and/CONJ walked/VERB ./.
Cat/NAME sees/VERB 3/NUM long/ADJ walks/NOUN ./.
dogs/NOUN and/CONJ foxes/NOUN bark/VERB ./.
does/VERB the/DET small/ADJ cat/NOUN see/VERB Cat/NAME ?/.
Stop/VERB
"""
#: Sentences to tag: known words, unknown words with known relatives, and words of a kind never seen.
UNLABELLED = [
    ["the", "dog", "walked", "."],
    ["Ann", "saw", "a", "Fox", "?"],
    ["a", "99", "long", "barks"],
    ["Zed", "and", "the", "UNKNOWN-1"],
    ["walkers", "barking", "longest"],
    ["Ann"],
]
ANIMALS = "cat\tfelid\ncats\tfelid\ndog\tcanid\nfox\tcanid\n"
GIVEN = ["DET", "NAME", "OTHER", "VERB"]
VERBS = "see\nsaw\nwalk\nbark\nbarks\n"
POOLED = ["word[0]", "suffix(word[0], 2)", "word[-1]|word[0]", "map(word[0], animals.tsv)", "pos[-1]|pos[0]|pos[1]"]
EDGES = ["word[0]", "suffix(word[0], 2)", "shape(word[0])", "edge: shape(word[0])", "edge: word[-1]"]
LEXICONS = ["word[0]", "suffix(word[0], 1)", "in(word[0], verbs.txt)", "map(word[-1], animals.tsv)"]


def sentences() -> list[list[tuple[str, str]]]:
    """Words with their labels."""
    lines = LABELLED.strip().splitlines()
    return [[(t.rpartition("/")[0], t.rpartition("/")[2]) for t in line.split()] for line in lines]


def letters(word: str) -> str:
    """A second column: what the word is made of."""
    return "A" if word.isalpha() else "1" if word.isdigit() else "."


def features(words: list[str], i: int) -> dict[str, Any]:
    """A feature function, as users of CRFsuite write them."""
    return {"lower": words[i].lower(), "title": words[i].istitle(), "last": i + 1 == len(words)}


def with_numbers(words: list[str], i: int) -> dict[str, Any]:
    """Features whose values are numbers."""
    return {"lower": words[i].lower(), "length": float(len(words[i])), "place": i / len(words)}


def nested(words: list[str], i: int) -> dict[str, Any]:
    """Features in nested dicts, lists and arrays."""
    own = {"lower": words[i].lower(), "ends": [words[i][-1:], words[i][-2:]]}
    return {**own, "last": {"lower": words[i - 1].lower(), "title": words[i - 1].istitle()}, "vector": sizes(words[i])}


def sizes(word: str) -> Any:
    """A vector that says something of a word."""
    return np.array([len(word), sum(map(str.isupper, word)), sum(map(str.isdigit, word))]) / 4


def words_alone(labelled: list[list[tuple[str, str]]]) -> Corpus:
    """Words and labels."""
    return Corpus.from_sentences(labelled)


def of_parts(labelled: list[list[tuple[str, str]]]) -> Corpus:
    """Words, and labels that share parts: the label, and what the word ends with."""
    return Corpus.from_sentences([[(w, f"{y}|End={letters(w[-1])}|Long={len(w) > 3}") for w, y in s] for s in labelled])


def two_columns(labelled: list[list[tuple[str, str]]]) -> Corpus:
    """Words, `letters` and labels."""
    return Corpus.from_sentences([[(w, letters(w), y) for w, y in s] for s in labelled])


def ready_made(function: Callable[[list[str], int], dict[str, Any]]) -> Callable[[Any], Corpus]:
    """Ready-made features, made by a function, and labels."""

    def corpus(labelled: list[list[tuple[str, str]]]) -> Corpus:
        made = [[function([w for w, _ in s], i) for i in range(len(s))] for s in labelled]
        return Corpus.from_features(made, [[y for _, y in s] for s in labelled])

    return corpus


def graphs(labelled: list[list[tuple[str, str]]]) -> Corpus:
    """Graphs of words in a row, with features, vectors, an unknown label, and edges of three types."""
    xs, ys, edges, numbers = list[Any](), list[Any](), list[Any](), list[Any]()
    for words, labels in (zip(*s, strict=True) for s in labelled):
        n, vectors = len(words), np.stack([sizes(w) for w in words])
        row = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
        xs.append({"columns": {"word": list(words)}, "features": [[w[-1:]] for w in words], "vectors": vectors})
        ys.append([None if i == 4 else label for i, label in enumerate(labels)])
        edges.append({"next": row, "first.2": row[1:2], "ends": np.array([[0, n - 1]])[: int(n > 2)]})
        numbers.append({"next": vectors[row].sum(axis=2)})
    return Corpus.from_graphs(xs, ys, edges=edges, edge_features=numbers, symmetric={"ends"})


def given(labelled: list[list[tuple[str, str]]]) -> Corpus:
    """The words in a row, with log-probabilities that another model gave them."""
    ys, edges, log_probs = list[Any](), list[Any](), list[Any]()
    for words, labels in (zip(*s, strict=True) for s in labelled):
        likely = np.array([[0.1 + (len(w) < 4), 0.3 + w[0].isupper(), 0.5, 0.2 + (w[-1] == "s")] for w in words])
        log_probs.append(np.log(likely / likely.sum(axis=1, keepdims=True)))
        ys.append([label if label in GIVEN else "OTHER" for label in labels])
        edges.append({"next": np.stack([np.arange(len(words) - 1), np.arange(1, len(words))], axis=1)})
    return Corpus.from_graphs([None] * len(ys), ys, edges=edges, node_log_probs=log_probs, labels=GIVEN)


#: What each model reads, the method, the arguments of its training, and the arguments of its saving.
MODELS: dict[str, tuple[Callable[[Any], Corpus], str, dict[str, Any], dict[str, Any]]] = {
    "empirical": (words_alone, "empirical", {"ladder": "default"}, {}),
    "empirical-paper": (words_alone, "empirical", {"ladder": "paper"}, {}),
    "empirical-words": (words_alone, "empirical", {"pairs": "words"}, {}),
    "empirical-pooled": (two_columns, "empirical", {"ladder": "pooled", "features": POOLED}, {}),
    "empirical-no-counts": (words_alone, "empirical", {"ladder": "default"}, {"counts": False, "half": True}),
    "empirical-numbers": (ready_made(with_numbers), "empirical", {}, {}),
    "polish": (words_alone, "polish", {}, {}),
    "polish-ladder": (words_alone, "polish", {"base": "default", "order": 1}, {}),
    "polish-base-paper": (words_alone, "polish", {"base": "paper"}, {}),
    "polish-base-none": (words_alone, "polish", {"base": "none"}, {}),
    "polish-base-separate": (words_alone, "polish", {"base": "separate"}, {}),
    "polish-half": (words_alone, "polish", {}, {"half": True}),
    "polish-order-2": (words_alone, "polish", {"base": "default", "order": 2, "lattice": "pruned"}, {}),
    "polish-ready-made": (ready_made(features), "polish", {}, {}),
    "polish-numbers": (ready_made(with_numbers), "polish", {}, {}),
    "polish-function": (words_alone, "polish", {"features": features}, {}),
    "polish-parts": (of_parts, "polish", {"parts": True, "base": "default"}, {}),
    "standard-parts": (of_parts, "standard", {"parts": True}, {"half": True}),
    "separate": (words_alone, "separate", {}, {}),
    "separate-joint": (words_alone, "separate", {"coupling": "joint", "base": "none"}, {}),
    "separate-space": (
        words_alone,
        "separate",
        {"coupling": "joint", "base": "none", "features": "paper", "space": "features"},
        {},
    ),
    "standard": (words_alone, "standard", {}, {}),
    "standard-order-2": (words_alone, "standard", {"order": 2}, {}),
    "standard-edges": (words_alone, "standard", {"features": EDGES}, {}),
    "standard-lexicons": (words_alone, "standard", {"features": LEXICONS}, {}),
    "standard-ready-made": (ready_made(features), "standard", {}, {}),
    "standard-numbers": (ready_made(with_numbers), "standard", {}, {}),
    "standard-nested": (ready_made(nested), "standard", {}, {}),
    "empirical-nested": (ready_made(nested), "empirical", {}, {}),
    "standard-sparse": (words_alone, "standard", {"c1": 0.3, "transitions": "seen"}, {"half": True}),
    "standard-no-boundaries": (two_columns, "standard", {"features": ["word[0]", "pos[0]"], "boundaries": False}, {}),
    "piecewise": (words_alone, "piecewise", {}, {}),
    "memm": (words_alone, "memm", {}, {}),
    "perceptron": (words_alone, "perceptron", {}, {}),
    "graphs-standard": (graphs, "standard", {"features": ["word[0]", "suffix(word[0], 2)"]}, {}),
    "graphs-polish": (graphs, "polish", {"features": ["word[0]"]}, {"half": True}),
    "graphs-given": (given, "separate", {}, {}),
}


def unlabelled(name: str) -> list[Any]:
    """The sentences to tag, as a model of that name reads them (the name is that of its file, without the version)."""
    if name == "pooled" or (name in MODELS and MODELS[name][0] is two_columns):
        return [[(w, letters(w)) for w in s] for s in UNLABELLED]
    if of_graphs(name):
        corpus = MODELS[name][0]([[(w, "DET") for w in s] for s in UNLABELLED])
        return [corpus[i] for i in range(len(corpus))]
    if name in MODELS and MODELS[name][0] not in (words_alone, of_parts):
        function = with_numbers if "numbers" in name else nested if "nested" in name else features
        return [[function(s, i) for i in range(len(s))] for s in UNLABELLED]
    return list(UNLABELLED)


def of_graphs(name: str) -> bool:
    """Whether a model labels graphs."""
    return name in MODELS and MODELS[name][0] in (graphs, given)


def expectation(tagger: Tagger, tokens: list[Any]) -> dict[str, Any]:
    """What a tagger says of one sentence: labels, their log-probability, and that of every token's first label."""
    n = tokens.n_tokens if isinstance(tokens, Corpus) else len(tokens)
    first = tagger.score(tokens, [tagger.labels[0]] * n)
    return {
        "labels": " ".join(tagger.tag(tokens)),
        "best": round(tagger.score(tokens), 6),
        "first": round(first, 6) if first > -math.inf else None,
    }


def main(folder: Path) -> None:
    """Write all files of this version, and what they are expected to say."""
    folder.mkdir(parents=True, exist_ok=True)
    expected: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as lists:
        os.chdir(lists)
        Path("animals.tsv").write_text(ANIMALS, encoding="utf-8")
        Path("verbs.txt").write_text(VERBS, encoding="utf-8")
        for name, (corpus, method, arguments, saving) in MODELS.items():
            file = folder / f"{VERSION}-{name}.corate"
            corate.train(corpus(sentences()), method, **arguments).save(file, **saving)
            function = arguments.get("features")
            tagger = corate.load(file, features=function if callable(function) else None)
            expected[file.name] = [expectation(tagger, tokens) for tokens in unlabelled(name)]
        os.chdir(folder)
    for old in ("v1", "v1-pooled"):
        tagger = corate.load(Path(__file__).parent / f"{old}.corate")
        expected[f"{old}.corate"] = [expectation(tagger, tokens) for tokens in unlabelled(old.removeprefix("v1-"))]
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python tests/golden/make.py FOLDER")
    main(Path(sys.argv[1]).resolve())
