"""What docs/paper.md says beyond `corate reproduce`: `python -m benchmarks.paper [--only TEXT]`

The splits, the features and the methods are those of `corate reproduce`, with one thread and seed 0. Each part answers
one question; `--only` selects the parts whose name contains the text. Times are processor time, so that other programs
matter less. All parts together take about five minutes.
"""

from __future__ import annotations

import random
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, partial
from typing import Any
from unittest import mock

import numpy as np

import corate
from benchmarks import corpora
from benchmarks.tables import Row, Table, parser
from corate.corpus import StringTable
from corate.counting.backoff import BackoffTables
from corate.features.word_functions import WordFunction
from corate.label_pairs import EdgeScores
from corate.optimize import passes
from corate.optimize.lbfgs import lbfgs
from corate.training.methods import METHODS, OPTIONS
from corate.training.separate import SeparateTraining
from corate_reproduction.corpora import BROWN_SPLITS, brown_sentences, build, is_plain, labels
from corate_reproduction.experiments import training_options

COMMAND = "python -m benchmarks.paper"
SMALL, LARGE = "brown-file-1000-4000", "brown-file-32k-1000"
#: The training and the test part of the corpora that most parts use, by the name in the table.
TABLES = {
    **{split: (f"brown-file-{split}.train", f"brown-file-{split}.test") for split in BROWN_SPLITS},
    "entities": ("ned.train", "ned.testb"),
}
EXPONENTS = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0, 1.05)
SP1 = {"method": "empirical", "pairs": "words"}
SP1_READINGS = {"": {}, ", at most 48 candidates": {"cap": 48}, ", oov 0.95": {"oov": 0.95}}
UNLIMITED = {"threshold": 0.0, "cap": 1_000_000}
#: The first sentences of the Dutch entities, for the cost by size.
SOME_SENTENCES = 1652


@cache
def sentences(corpus: str) -> dict[str, list[Any]]:
    """The splits of a corpus, as `corate reproduce` makes them."""
    return build(corpus, [corpora.source_folder()])


@cache
def read(name: str) -> corate.Corpus:
    """A split as a corpus."""
    corpus = "ned" if name.startswith("ned") else name[: len("brown-file")]
    columns = ["word", "pos", "label"] if corpus == "ned" else ["word", "label"]
    return corate.Corpus.from_sentences(sentences(corpus)[name], columns=columns)


def trained(train: corate.Corpus, **options: Any) -> corate.Tagger:
    """A model. That L-BFGS stops at its limit is part of some questions, so it is no warning here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        method = METHODS[options.pop("method")](**{name: options.pop(name) for name in OPTIONS.keys() & options.keys()})
        return corate.train(train, method, seed=0, threads=1, **options)


def row(what: str, tagger: corate.Tagger, test: corate.Corpus, note: str = "") -> Row:
    """The accuracy on all words; in the note, on OOV and known words, and F1 if there are spans."""
    report = corate.evaluate(tagger, test)
    found = f"OOV {100 * (report.accuracy_oov or 0.0):.2f}, known {100 * (report.accuracy_known or 0.0):.2f}"
    found += "" if report.f1 is None else f", F1 {100 * report.f1:.2f}"
    return Row(what, 100 * report.accuracy, "%", note=found + (f"; {note}" if note else ""), command=COMMAND)


def oov_shares() -> Iterator[Row]:
    """Which share of the test words is OOV, in file order and shuffled?"""
    for corpus, name in (("brown-file", "file order"), ("brown", "shuffled")):
        splits = sentences(corpus)
        for split in BROWN_SPLITS:
            known = {word for one in splits[f"{corpus}-{split}.train"] for word, _ in one}
            words = [word for one in splits[f"{corpus}-{split}.test"] for word, _ in one]
            oov = sum(word not in known for word in words)
            note = f"{oov:,} of {len(words):,}"
            yield Row(f"OOV words, {split}, {name}", 100 * oov / len(words), "%", note=note, command=COMMAND)


def brown_filters() -> Iterator[Row]:
    """How many sentences and tags of Brown does a filter keep?"""
    every = brown_sentences([corpora.source_folder()])
    filters: dict[str, Callable[[Any], bool]] = {
        "ours": is_plain,
        "end with a tag ., no -hl, -tl": lambda one: (
            ends_sentence(one) and not any("-hl" in tag or "-tl" in tag for _, tag in one)
        ),
        "end with the word .": lambda one: one[-1][0] == ".",
        "end with ., ? or !": lambda one: one[-1][0] in (".", "?", "!"),
        "end with a tag .": ends_sentence,
        "all": lambda one: True,
    }
    for name, keep in filters.items():
        kept = [one for one in every if keep(one)]
        tags = f"{len(labels(kept))} tags"
        yield Row(f"Brown, sentences kept: {name}", len(kept), digits=0, note=tags, command=COMMAND)


def ends_sentence(sentence: Any) -> bool:
    """Whether the last tag is that of a sentence-final mark, also in a headline (.-hl) or a title."""
    return bool(sentence[-1][1].startswith("."))


def limits() -> Iterator[Row]:
    """Do `threshold` and `cap` change the results of SP1?"""
    for name, held_out in (("1000-4000", "brown-file.held-out"), ("entities", "ned.testa")):
        train, test = map(read, TABLES[name])
        for what, options in (("", {}), (", without threshold and cap", UNLIMITED)):
            tagger = trained(train, method="empirical", backoff="paper", held_out=read(held_out), **options)
            yield row(f"limits: empirical, {name}{what}", tagger, test)


def empty_sets() -> Iterator[Row]:
    """How many OOV tokens have the spelling of no word of the training text (A is empty)?"""
    for name, files in TABLES.items():
        train, test = map(read, files)
        known = set(train.column("word").strings.to_list())
        seen = set(WordFunction("spelling").apply(StringTable.intern(sorted(known))[0])[1].to_list())
        oov = [word for word in test.column("word").values() if word not in known]
        strings, words = StringTable.intern(oov)
        ids, values = WordFunction("spelling").apply(strings)
        empty = sum(values[i] not in seen for i in ids[words].tolist())
        yield Row(f"A is empty, {name}", empty, "tokens", note=f"of {len(oov):,} OOV", digits=0, command=COMMAND)


def pairs_of_words() -> Iterator[Row]:
    """How accurate are the readings of SP1 with pairs of words?"""
    for name, files in TABLES.items():
        train, test = map(read, files)
        for what, options in SP1_READINGS.items():
            yield row(f"sp1{what}, {name}", trained(train, **SP1, **options), test)


def exponents() -> Iterator[Row]:
    """Which exponent of P(y given x) is best for `sp1`, on held-out sentences; and what does it change on entities?"""
    parts = {
        "1000 sentences, held-out": (f"{SMALL}.train", "brown-file.held-out"),
        "32k, held-out": (f"{LARGE}.train", "brown-file.held-out"),
        "entities, test": TABLES["entities"],
    }
    for name, files in parts.items():
        train, test = map(read, files)
        for oov in EXPONENTS:
            yield row(f"exponent {oov:g} of sp1, {name}", trained(train, **SP1, oov=oov), test)


def size_of_the_sample() -> Iterator[Row]:
    """How does the cost grow with the sample?"""
    train = read("ned.train")
    for method, options in (
        ("standard", training_options("standard", "paper", "paper", 0.1)),
        ("separate", training_options("separate", "paper", "paper")),
    ):
        for part in (train[:SOME_SENTENCES], train):
            steps: list[int] = []

            def step(event: corate.ProgressEvent, steps: list[int] = steps) -> None:
                steps.append(event.step or 0)

            begin = time.process_time()
            trained(part, progress=step, **options)
            seconds = time.process_time() - begin
            done = max(steps) if method == "standard" else 0
            note = f"{done} iterations, {1000 * seconds / done:.2f} ms each" if done else ""
            what = f"size: {method}, c2 = 0.1, {part.n_tokens:,} tokens"
            yield Row(what.replace(", c2 = 0.1", "") if not done else what, seconds, "s", note=note, command=COMMAND)


def number_of_iterations() -> Iterator[Row]:
    """What do more than 100 iterations change, on entities?"""
    train, test = map(read, TABLES["entities"])
    for method, c2 in (("standard", 0.1), ("memm", 0.1), ("piecewise", 0.1), ("piecewise", 0.001)):
        for iterations in (100, 500):
            options = training_options(method, "paper", "paper", c2) | {"iterations": iterations}
            yield row(f"iterations: {method}, c2 = {c2:g}, at most {iterations}", trained(train, **options), test)


def divided_pieces() -> Iterator[Row]:
    """What if the pieces of `piecewise` are divided by the shares of labels?"""
    for name in ("1000-4000", "entities"):
        train, test = map(read, TABLES[name])
        for c2 in (1.0, 0.1, 0.001):
            tagger = trained(train, **training_options("piecewise", "paper", "paper", c2))
            yield row(f"pieces: piecewise, c2 = {c2:g}, {name}", tagger, test)
            yield row(f"pieces: divided by P(y), c2 = {c2:g}, {name}", divided(tagger, train), test)


def divided(tagger: corate.Tagger, train: corate.Corpus) -> corate.Tagger:
    """From the score of each pair that starts with the label y, subtract log P(y)."""
    counts = Counter(y for i in range(len(train)) for y in train.labels_of(i))
    known, table = np.array([counts[y] for y in tagger.labels], np.float64), tagger.model.edges.dense()
    table[:-1] -= np.log(known / known.sum())[:, None].astype(np.float32)
    return replace(tagger, model=replace(tagger.model, edges=EdgeScores.of_dense(table)))


def probability_space() -> Iterator[Row]:
    """Is SP2's space of words any good if a token is not left out of its own counts? And is L-BFGS at the optimum?"""
    train, test = map(read, TABLES["1000-4000"])
    options = training_options("sp2", "paper", "paper", 0.1)
    yield row("space: sp2, c2 = 0.1, 1000-4000", trained(train, **options), test)
    usual = BackoffTables.parts

    def counted_in(tables: BackoffTables, p: Any, tokens: Any, left_out: Any = None) -> Any:
        return usual(tables, p, tokens, None)

    with mock.patch.object(BackoffTables, "parts", counted_in):
        tagger = trained(train, **options)
    yield row("space: sp2, c2 = 0.1, no token left out, 1000-4000", tagger, test)


def optimum() -> Iterator[Row]:
    """Is L-BFGS at the optimum of SP2?"""
    train, test = map(read, TABLES["2500-2500"])
    exact: AbstractContextManager[Any] = mock.patch.object(passes, "lbfgs", partial(lbfgs, tolerance=1e-7))
    for method, c2 in (("sp2", 0.01), ("sp2-features", 0.1)):
        options = training_options(method, "paper", "paper", c2)
        yield row(f"optimum: {method}, 2500-2500", trained(train, **options), test)
        with exact:
            yield row(f"optimum: {method}, tolerance 1e-7, 2500-2500", trained(train, **options), test)
    name, options = "4000-1000", training_options("sp2", "paper", "paper", 0.01)
    test, order = read(TABLES[name][1]), list(sentences("brown-file")[TABLES[name][0]])
    yield row(f"optimum: sp2, {name}", trained(read(TABLES[name][0]), **options), test, "stopped at 500 iterations")
    random.Random(0).shuffle(order)
    shuffled = corate.Corpus.from_sentences(order, columns=["word", "label"])
    yield row(f"optimum: sp2, {name}, sentences in another order", trained(shuffled, **options), test, "the same")


def contexts() -> Iterator[Row]:
    """How many contexts do the pairs of 17k-16k have?"""
    found: list[int] = []

    def count(factors: SeparateTraining, problem: Any, *rest: Any) -> None:
        found.extend(distinct_pairs(problem))
        raise StopIteration

    with mock.patch.object(SeparateTraining, "joint_pairs", count):
        try:
            options = training_options("sp2", "paper", "paper", 0.01) | {"iterations": 1}
            trained(read(TABLES["17k-16k"][0]), **options)
        except StopIteration:
            pass
    note = f"of {found[0]:,} pairs with more than one possible label pair"
    yield Row("contexts of the pairs, 17k-16k", found[1], digits=0, note=note, command=COMMAND)


def distinct_pairs(problem: Any) -> tuple[int, int]:
    """Pairs of tokens with more than one possible label pair, and how many of them differ."""
    starts, candidates = problem.candidates.offsets, problem.candidates.labels
    offsets, features = problem.features

    def token(t: int) -> Any:
        return candidates[starts[t] : starts[t + 1]].tobytes(), features[offsets[t] : offsets[t + 1]].tobytes()

    known: dict[Any, int] = {}
    kinds = [known.setdefault(token(t), len(known)) for t in range(len(starts) - 1)]
    widths = np.diff(starts)
    edges = []
    for begin, end in zip(problem.tokens.offsets[:-1].tolist(), problem.tokens.offsets[1:].tolist(), strict=True):
        inside = range(begin, end)
        edges += [(t, t + 1) for t in inside[:-1]] + [(-1, begin), (end - 1, -1)]
    open_pairs = [
        (-1 if a < 0 else kinds[a], -1 if b < 0 else kinds[b])
        for a, b in edges
        if (1 if a < 0 else widths[a]) * (1 if b < 0 else widths[b]) > 1
    ]
    return len(open_pairs), len(set(open_pairs))


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "shares": oov_shares,
    "filters": brown_filters,
    "limits": limits,
    "empty": empty_sets,
    "pairs": pairs_of_words,
    "exponents": exponents,
    "contexts": contexts,
    "size": size_of_the_sample,
    "iterations": number_of_iterations,
    "pieces": divided_pieces,
    "space": probability_space,
    "optimum": optimum,
}


def main(arguments: list[str] | None = None) -> None:
    """Measure the parts that were asked for."""
    options = parser("paper", "What docs/paper.md says beyond `corate reproduce`.")
    options.add_argument("--only", default="", help=f"only the parts whose name contains this: {', '.join(PARTS)}")
    given = options.parse_args(arguments)
    table = Table("paper", "The paper's open questions, beyond `corate reproduce`")
    for name, part in PARTS.items():
        if given.only in name:
            for one in part():
                table.add(one)
    table.finish()


if __name__ == "__main__":
    main()
