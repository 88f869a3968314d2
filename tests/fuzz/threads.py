"""Several threads at once: training and answers are those of one thread, and threads of Python share a tagger."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random
from typing import Any

import corate
from corate import Corpus, Tagger
from fuzz.materials import labelled
from fuzz.worker import CaseFailedError

__all__ = ["Cases"]

#: Methods with options that take other ways through the native code.
_TRAININGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("polish", {"passes": 2}),
    ("polish", {"passes": 1, "order": 2, "expert": {"batch": 4}}),
    ("polish", {"passes": 1, "parts": True}),
    ("separate", {}),
    ("standard", {"iterations": 3}),
    ("standard", {"optimizer": "adagrad", "passes": 1}),
    ("piecewise", {"iterations": 3}),
    ("memm", {"iterations": 3}),
    ("perceptron", {"passes": 2}),
)


class Cases:
    def __init__(self, materials: Path) -> None:
        paths = [path for path in sorted((materials / "models").iterdir()) if "ready" not in path.name]
        self.taggers = [tagger for tagger in map(corate.load, paths) if len(tagger.vocabulary.columns) == 1]

    def run(self, rng: Random, folder: Path) -> None:
        threads = rng.choice((2, 3, 8))
        tagger = rng.choice(self.taggers)
        if rng.random() < 0.5:
            method, options = rng.choice(_TRAININGS)
            corpus = Corpus.from_sentences(labelled(rng.choice((3, 40)), rng))
            alone, tagger = (corate.train(corpus, method, threads=n, **options) for n in (1, threads))
            if alone.model.weights.scores.tobytes() != tagger.model.weights.scores.tobytes():
                raise CaseFailedError(f"{method} {options}: weights depend on the number of threads")
        _share(tagger, [[word for word, _ in sentence] for sentence in labelled(12, rng)], threads)


def _share(tagger: Tagger, sentences: list[list[str]], threads: int) -> None:
    """Ask a tagger the same in several threads of Python, each with threads of its own."""

    def answers() -> list[Any]:
        lattice = tagger.lattice(sentences, threads=2)
        one_by_one = [tagger.tag(sentence) for sentence in sentences]
        return [one_by_one, tagger.tag_all(sentences, threads=threads), lattice.tag(), lattice.marginals()[0].tolist()]

    expected, found = answers(), []
    workers = [threading.Thread(target=lambda: found.append(answers())) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if found != [expected] * threads:
        raise CaseFailedError("answers depend on other threads")
