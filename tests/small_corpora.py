"""Small labelled sentences for tests: made by Hypothesis, or at random from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from corate.corpus import Corpus
from corate.features.templates import Template
from corate.training.initial_scores import InitialScoresFromCounts, preset_of
from corate.training.methods import METHODS, ChainMethod, options_of
from corate.training.source import MemorySource, RunContext

Labelled = list[list[tuple[str, str]]]

#: Words that differ in case, endings, digits and hyphens, so that they meet on some levels and not on others.
WORDS = ("the", "The", "THE", "dog", "Dogs", "dogs", "cats", "walking", "Talking", "x-1", "42", "43", "é", "naïve", ".")
LABELS = ("D", "N", "V", "P")
#: Two sentences as a file of columns.
TEXT = b"the\tDET\ndog\tNOUN\n\na\tDET\ncat\tNOUN\n\n"

#: Few of the words at a time, so that they meet often.
vocabularies = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6, unique=True)
some_sentences = vocabularies.flatmap(
    lambda words: st.lists(
        st.lists(st.tuples(st.sampled_from(words), st.sampled_from(LABELS)), min_size=1, max_size=6),
        min_size=1,
        max_size=8,
    )
)
sentences = st.one_of(some_sentences, st.just([]), some_sentences.map(lambda made: [[], *made, []]))


def random_sentences(n: int, seed: int = 0, words: tuple[str, ...] = WORDS, noise: float = 0.2) -> Labelled:
    """Sentences whose labels follow from their words, but for some noise."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        chosen = rng.integers(len(words), size=rng.integers(1, 9)).tolist()
        other = np.where(rng.random(len(chosen)) < noise, rng.integers(len(LABELS), size=len(chosen)), chosen)
        made.append([(words[w], LABELS[y % len(LABELS)]) for w, y in zip(chosen, other.tolist(), strict=True)])
    return made


def corpus_of(labelled: Labelled) -> Corpus:
    """A corpus of (word, label) sentences."""
    return Corpus.from_sentences([[w for w, _ in s] for s in labelled], [[y for _, y in s] for s in labelled])


def words_of(labelled: Labelled) -> list[list[str]]:
    """The words alone."""
    return [[w for w, _ in s] for s in labelled]


def chain_methods() -> list[str]:
    """The methods that train on whole sentences."""
    return [name for name, method in METHODS.items() if issubclass(method, ChainMethod)]


def for_method(method: str, **options: Any) -> dict[str, Any]:
    """Those of the options that a method has."""
    return {name: value for name, value in options.items() if name in options_of(METHODS[method])}


def start_of(
    corpus: Corpus, templates: Sequence[Template], base: str = "none", unknown: str | None = None
) -> InitialScoresFromCounts:
    """The base scores and initial weights of a corpus."""
    counted = MemorySource(corpus, unknown).count(templates, (preset_of(base),), RunContext())
    return InitialScoresFromCounts(counted, templates, base=base)
