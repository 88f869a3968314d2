"""The inputs of cases: small texts and models of every method, made once for all workers."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corate import Corpus, Tagger

__all__ = ["LABELS", "LEXICON", "WORDS", "graphs_of", "labelled", "make"]

#: Words that readers, templates and word functions may handle wrongly.
WORDS = (
    "the", "The", "THE", "dog", "dogs", "walking", "x-1", "42", "1,000.5", "naïve", "É", "ß", "ǅ", "İ", "汉字", "🙂",
    "e\u0301", "a/b", "//", "/", "-", "--", ".", "#", "# x", "=", ":", "a=b", "a:1", "w:nan", "\\", '"', "{", "[",
    "-DOCSTART-", "%x[0,0]", "\ufeff", "\u2028", "\u00a0", "\u0085", "\x0b", "\x1c", "\u200b", "\U0010ffff", "BZh9",
    "x" * 300, "",
)  # fmt: skip
#: Labels of every span scheme, and odd ones.
LABELS = (
    "D", "N", "V", "O", "B-X", "I-X", "E-X", "S-X", "M-X", "L-X", "U-X", "W-X", "B-Y", "I-Y", "B-", "-", "I", "_",
    "label", "B-\u00e9", "a b", "",
)  # fmt: skip
LEXICON = "dog\tpet\ndogs\tpet\nthe\tword\n"

_PLAIN = WORDS[:10]
_CONTEXTS = ("word[0]", "pos[-1]|pos[0]", "suffix(word[0], 2)|word[1]|pos[0]", "map(word[0], {0})", "in(word[1], {0})")

Labelled = list[list[tuple[str, str]]]


def labelled(n: int, rng: Random, words: tuple[str, ...] = _PLAIN, labels: tuple[str, ...] = LABELS[:4]) -> Labelled:
    """Sentences whose labels depend on their words, with some noise."""
    made = []
    for _ in range(n):
        chosen = [rng.randrange(len(words)) for _ in range(rng.randrange(1, 7))]
        made.append([(words[w], labels[w % len(labels)] if rng.random() < 0.8 else rng.choice(labels)) for w in chosen])
    return made


def graphs_of(sentences: Labelled) -> Corpus:
    """Sentences as graphs: rings with a directed type of edges and a symmetric one, which has features."""
    import numpy as np

    from corate import Corpus

    sizes = [len(s) for s in sentences]
    xs = [{"features": [[w] for w, _ in s], "vectors": np.array([[len(w), 1.0] for w, _ in s])} for s in sentences]
    edges = [{"next": np.array([[i, i + 1] for i in range(n - 1)]).reshape(-1, 2).astype(int)} for n in sizes]
    ends = [{**own, "ends": np.array([[0, n - 1]])[: int(n > 2)]} for own, n in zip(edges, sizes, strict=True)]
    numbers = [{"ends": np.ones((len(own["ends"]), 2))} for own in ends]
    labels = [[y for _, y in s] for s in sentences]
    return Corpus.from_graphs(xs, labels, edges=ends, edge_features=numbers, symmetric={"ends"})


def make(folder: Path) -> None:
    """Write the texts and the models."""
    import corate
    from corate import Corpus
    from corate.demo import write_files

    (folder / "models").mkdir(parents=True)
    write_files(folder / "data", n_train=150, n_test=400, seed=1)
    sentences = labelled(30, Random(1))
    lexicon = folder / "lexicon.tsv"
    lexicon.write_text(LEXICON, encoding="utf-8")
    plain = Corpus.from_sentences(sentences)
    tagged = Corpus.from_sentences([[(w, w[:1], y) for w, y in s] for s in sentences])
    features = [[{"w": w, "n": float(len(w))} for w, _ in s] for s in sentences]
    ready = Corpus.from_features(features, [[y for _, y in s] for s in sentences])
    contexts = [t.format(f'"{lexicon.as_posix()}"') for t in _CONTEXTS]
    simple = ["word[0]", "word[-1]|word[0]"]
    taggers = {
        "default": corate.train(plain, "empirical", backoff="default"),
        "paper": corate.train(plain, "empirical", backoff="paper"),
        "pairs of words": corate.train(plain, "empirical", pairs="words"),
        "pooled": corate.train(tagged, "empirical", backoff="pooled", features=contexts),
        "ready": corate.train(ready, "empirical"),
        "ready-numbers": corate.train(ready, "standard", iterations=5),
        "polish": corate.train(plain, features=[*simple, "related_start(word[0])", "edge: word[0]"]),
        "polish-pos": corate.train(tagged, features=contexts),
        "separate": corate.train(plain, "separate", features=simple),
        "second": corate.train(plain, "standard", features=["word[0]"], order=2, iterations=5),
        "sparse": corate.train(plain, "standard", features=simple, c1=1.0, iterations=5),
        "perceptron": corate.train(plain, "perceptron", features=simple),
        "odd-labels": _odd_labels(sentences),
        "memm": corate.train(plain, "memm", features=simple, iterations=5),
        "graphs": corate.train(graphs_of(sentences), "standard", iterations=5),
    }
    for name, tagger in taggers.items():
        if tagger is not None:
            tagger.save(folder / "models" / f"{name}.corate", half=name == "sparse")
    _make_crfsuite(folder / "crfsuite", features, [[y for _, y in s] for s in sentences])


def _make_crfsuite(folder: Path, features: list[list[dict[str, Any]]], labels: list[list[str]]) -> None:
    """Write CRFsuite models: with all weights, with few weights and with names that are odd."""
    import corate
    from corate import Corpus

    folder.mkdir()
    odd = [[{**item, w: 1.0} for item, w in zip(s, WORDS[i:], strict=False)] for i, s in enumerate(features)]
    for name, sentences, c1 in (("all", features, 0.0), ("few", features, 1.0), ("odd", odd, 0.0)):
        corpus = Corpus.from_features(sentences, labels[: len(sentences)])
        tagger = corate.train(corpus, "standard", boundaries=False, c1=c1, iterations=5)
        tagger.save(folder / f"{name}.crfsuite", bias="bias")


def _odd_labels(sentences: Labelled) -> Tagger | None:
    """A tagger with labels that column files cannot contain, if it can be trained."""
    import corate

    names = {"D": "a\nb", "N": "a\tb", "V": ""}
    try:
        corpus = corate.Corpus.from_sentences(
            [[(word, names.get(label, label)) for word, label in s] for s in sentences]
        )
        return corate.train(corpus, "empirical")
    except corate.CorateError:
        return None


if __name__ == "__main__":
    make(Path(sys.argv[1]))
