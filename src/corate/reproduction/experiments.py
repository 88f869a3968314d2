"""The experiments: which methods are measured on which splits, with which settings.

With the paper's features (word and spelling) every method uses the same information:

- ``empirical`` uses the paper's own ladder; mu_oov, interpreted as a weight, is tuned on the held-out sentences.
- ``separate`` starts its nodes from that ladder (``base="paper"``), fits the pairs given the nodes, and is tuned on the
  held-out sentences. It differs from the paper's SP2, which is ``base="none", coupling="joint"``.
- ``standard`` and ``piecewise`` have c2 = 0.1, chosen on the held-out sentences of the smallest split; ``memm`` has
  c2 = 0.01, because a strong prior keeps its local probabilities below 1 and so hides label bias. L-BFGS makes at
  most 500 iterations.
- ``polish`` is not in the paper: it trains a conditional random field with stochastic passes from the paper's ladder.
- ``default`` is ``corate.train`` without options: ``polish`` with its default features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from corate.reproduction import label_bias
from corate.reproduction.cells import Cell
from corate.reproduction.corpora import BROWN_SPLITS, COLUMNS, Sentence, Splits
from corate.reproduction.peers import PEERS

__all__ = [
    "EXPERIMENTS",
    "GROWTH",
    "METHODS",
    "ROUNDS",
    "corpora_of",
    "cost",
    "generated",
    "grown",
    "plan",
    "training_options",
]

#: The paper's methods in the order of its columns, then ours.
METHODS = ("empirical", "separate", "standard", "piecewise", "memm", "polish", "default")
EXPERIMENTS = ("label-bias", "pos", "ner", "chunking", "large-labels")
ROUNDS = 10
#: The most iterations of L-BFGS. After only 100, piecewise training is useless on the Dutch entities.
ITERATIONS = 500
#: The budget, in seconds, of cells that show how time grows with the number of labels.
GROWTH_SECONDS = 30.0

_C2 = {"standard": 0.1, "piecewise": 0.1, "memm": 0.01}
_CORPORA = {"pos": ("brown",), "ner": ("ned",), "chunking": ("conll2000",), "large-labels": ("sblgnt",)}

#: Label sets of different sizes, made from the labels of Brown, to show how time grows with the number of labels.
GROWTH: dict[str, Callable[[str, str], str]] = {
    "first character": lambda word, label: label[:1],
    "first 2 characters": lambda word, label: label[:2],
    "whole labels": lambda word, label: label,
    "and the last letter": lambda word, label: f"{label}_{word[-1]}",
    "and the last 2 letters": lambda word, label: f"{label}_{word[-2:]}",
}


def corpora_of(experiment: str) -> tuple[str, ...]:
    """The corpora an experiment needs.

    >>> corpora_of("ner"), corpora_of("label-bias")
    (('ned',), ())
    """
    return _CORPORA.get(experiment, ())


def plan(
    experiments: Iterable[str],
    *,
    methods: Sequence[str] = METHODS,
    peers: Sequence[str] = (),
    quick: bool = False,
    seed: int = 0,
    threads: int = 1,
) -> list[Cell]:
    """The cells of some experiments, in the order they are measured.

    >>> [cell.method for cell in plan(["ner"], quick=True)]
    ['empirical', 'separate']
    """
    found: list[Cell] = []
    for experiment in experiments:
        always: dict[str, Any] = {"seed": seed, "threads": threads}
        kept = [m for m in methods if not quick or experiment in ("label-bias", "pos") or m in METHODS[:2]]
        found += _PLANS[experiment](kept, peers, quick, always)
    return found


def _label_bias(methods: Sequence[str], peers: Sequence[str], quick: bool, always: dict[str, Any]) -> list[Cell]:
    cells = []
    for number in range(ROUNDS):
        files = (f"label-bias-{always['seed'] + number}.train", f"label-bias-{always['seed'] + number}.test")
        seeded = {**always, "seed": always["seed"] + number}
        for method in methods:
            if method != "default":
                options = training_options(method, ["word[0]"], "paper")
                cells.append(Cell("label-bias", f"round {number}", method, *files, options=options, **seeded))
        cells += [_peer("label-bias", f"round {number}", peer, files, "", ["word[0]"], seeded) for peer in peers]
    return cells


def _pos(methods: Sequence[str], peers: Sequence[str], quick: bool, always: dict[str, Any]) -> list[Cell]:
    cells = []
    for split in BROWN_SPLITS[:1] if quick else BROWN_SPLITS:
        files = (f"brown-{split}.train", f"brown-{split}.test")
        cells += _paper_cells("pos", split, files, "brown.held-out", COLUMNS["brown"], methods, peers, always)
    return cells if quick else cells + _growth(methods, peers, always)


def _ner(methods: Sequence[str], peers: Sequence[str], quick: bool, always: dict[str, Any]) -> list[Cell]:
    files = ("ned.train", "ned.testb")
    return _paper_cells("ner", "ned", files, "ned.testa", COLUMNS["ned"], methods, peers, always)


def _paper_cells(
    experiment: str,
    split: str,
    files: tuple[str, str],
    held_out: str,
    columns: str,
    methods: Sequence[str],
    peers: Sequence[str],
    always: dict[str, Any],
) -> list[Cell]:
    """All methods with the paper's features, and ``default`` with its own."""
    cells = []
    for method in methods:
        options = training_options(method, "paper", "paper")
        tuned = held_out if method in ("empirical", "separate", "polish", "default") else ""
        cells.append(Cell(experiment, split, method, *files, tuned, columns, options, **always))
    return cells + [_peer(experiment, split, peer, files, columns, "paper", always) for peer in peers]


def _own(
    experiment: str, corpus: str, features: str, ladder: str
) -> Callable[[Sequence[str], Sequence[str], bool, dict[str, Any]], list[Cell]]:
    """An experiment that is not in the paper, with one of our feature presets."""

    def cells(methods: Sequence[str], peers: Sequence[str], quick: bool, always: dict[str, Any]) -> list[Cell]:
        files, columns = (f"{corpus}.train", f"{corpus}.test"), COLUMNS[corpus]
        own = [
            Cell(experiment, corpus, method, *files, "", columns, training_options(method, features, ladder), **always)
            for method in methods
            if method != "default"
        ]
        return own + [_peer(experiment, corpus, peer, files, columns, features, always) for peer in peers]

    return cells


def _growth(methods: Sequence[str], peers: Sequence[str], always: dict[str, Any]) -> list[Cell]:
    """Label sets of different sizes on the smallest split."""
    cells = []
    for i, name in enumerate(GROWTH):
        files = (f"growth-{i}.train", f"growth-{i}.test")
        cells += [
            Cell(
                "label-growth",
                name,
                method,
                *files,
                options=training_options(method, "paper", "paper"),
                most_seconds=GROWTH_SECONDS,
                **always,
            )
            for method in methods
            if method in ("empirical", "separate", "polish", "standard")
        ]
        cells += [
            _peer("label-growth", name, peer, files, "", "paper", always, GROWTH_SECONDS)
            for peer in peers
            if peer.startswith("crfsuite")
        ]
    return cells


_PLANS = {
    "label-bias": _label_bias,
    "pos": _pos,
    "ner": _ner,
    "chunking": _own("chunking", "conll2000", "chunking", "pooled"),
    "large-labels": _own("large-labels", "sblgnt", "pos", "default"),
}


def training_options(method: str, features: str | list[str], ladder: str) -> dict[str, Any]:
    """The arguments of ``corate.train``, except the data."""
    if method == "default":
        return {}
    if method == "empirical":
        return {"method": method, "ladder": ladder, **({"features": features} if ladder == "pooled" else {})}
    options: dict[str, Any] = {"method": method, "features": features}
    if method in ("separate", "polish"):
        return options | ({"base": "paper"} if ladder == "paper" else {})
    return options | {"c2": _C2[method], "iterations": ITERATIONS}


def _peer(
    experiment: str,
    split: str,
    peer: str,
    files: tuple[str, str],
    columns: str,
    features: str | list[str],
    always: dict[str, Any],
    most_seconds: float = float("inf"),
) -> Cell:
    library, settings = PEERS[peer]
    options = {"features": features, "settings": settings}
    more = {**always, "threads": 1, "most_seconds": most_seconds}
    return Cell(experiment, split, peer, *files, "", columns or "word,label", options, library, **more)


def generated(cells: Iterable[Cell]) -> Splits:
    """The label-bias splits that some cells need; they are simulated."""
    splits: Splits = {}
    for cell in cells:
        if cell.experiment == "label-bias" and cell.train not in splits:
            splits[cell.train], splits[cell.test] = label_bias.sample(cell.seed)
    return splits


def grown(brown: Splits) -> Splits:
    """The smallest split of Brown with label sets of different sizes."""
    splits: Splits = {}
    for i, rule in enumerate(GROWTH.values()):
        for part in ("train", "test"):
            sentences = brown[f"brown-1000-4000.{part}"][:1000]
            splits[f"growth-{i}.{part}"] = [_relabelled(sentence, rule) for sentence in sentences]
    return splits


def _relabelled(sentence: Sentence, rule: Callable[[str, str], str]) -> Sentence:
    return [(word, rule(word, label)) for word, label in sentence]


def cost(cell: Cell, tokens: int, labels: int, budget: float) -> float:
    """A rough estimate of the seconds that a cell takes, to show the time left."""
    if cell.method in ("empirical", "separate", "polish", "default"):
        return 0.6 + tokens * (3e-6 if cell.method == "empirical" else 3e-5)
    pairs = tokens * (labels + 10) ** 2
    slow = {"standard": 1.5e-8, "piecewise": 1.9e-8, "memm": 2.0e-8}.get(cell.method, 8e-8)
    most = min(budget, cell.most_seconds)
    expected = 0.5 + pairs * slow + tokens * 1e-4
    return most / 3 if expected > 3 * most else min(expected, most) + 1.0
