"""The experiments: which methods are measured on which splits, with which settings.

With the paper's features (word and spelling) every method uses the same information:

- ``empirical`` (SP1) uses the paper's own back-off; mu_oov, interpreted as an exponent, and the weight of the edges are
  tuned on the held-out sentences.
- ``sp1`` is SP1 with pair probabilities that depend on the words (``pairs="words"``). Nothing is tuned.
- ``sp2`` is SP2 as the paper states it: a node model and a pair model, fitted independently of each other to their
  optimum by L-BFGS with a Gaussian prior.
- ``sp2-features`` is the same with the probability space as the paper prints it: a token can have the labels that some
  of its features was seen with.
- ``separate`` is our variant of SP2: its nodes start from the paper's back-off, and its pairs are fitted given the
  nodes.
- ``standard``, ``piecewise`` and ``memm`` make at most 500 iterations of L-BFGS.
- ``polish`` is not in the paper: it trains a conditional random field with stochastic passes from the paper's back-off.
- ``default`` is ``corate.train`` without options: ``polish`` with its default features.

On simulated data other than the paper's, each method is trained with all the values of its prior.

The priors of ``sp2``, ``sp2-features``, ``standard``, ``piecewise`` and ``memm`` are chosen from the same values by
their accuracy on the held-out sentences of the corpus, after training on its first sentences (the experiment
``priors``). Where there are no held-out sentences, ``PRIORS`` has the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from corate_reproduction import label_bias
from corate_reproduction.cells import Cell
from corate_reproduction.corpora import BROWN_SPLITS, COLUMNS, Sentence, Splits
from corate_reproduction.peers import PEERS

__all__ = [
    "ABLATIONS",
    "EXPERIMENTS",
    "GROWTH",
    "METHODS",
    "MU",
    "OTHER_ROUNDS",
    "PRIOR_VALUES",
    "ROUNDS",
    "SPLIT_ORDERS",
    "chosen_prior",
    "corpora_of",
    "cost",
    "generated",
    "grown",
    "plan",
    "samples",
    "training_options",
]

#: The paper's methods in the order of its columns, then ours.
METHODS = (
    *("empirical", "sp1", "sp2", "sp2-features", "separate"),
    *("standard", "piecewise", "memm", "polish", "default"),
)
EXPERIMENTS = ("label-bias", "pos", "ner", "chunking", "large-labels")
#: In which order the sentences of Brown are split, and the corpus of each order.
SPLIT_ORDERS = {"file": ("brown-file",), "shuffled": ("brown",), "both": ("brown-file", "brown")}
ROUNDS, OTHER_ROUNDS = 10, 3
#: The most iterations of L-BFGS.
ITERATIONS = 500
#: The budget, in seconds, of cells that show how time grows with the number of labels.
GROWTH_SECONDS = 30.0
#: The budget, in seconds, of a row of the ablation.
ABLATION_SECONDS = 60.0

#: The values of c2 to choose from, and the value where there are no held-out sentences. For SP2, sigma2 = 1 / (2 c2).
PRIOR_VALUES = (1.0, 0.1, 0.01, 0.001)
PRIORS = {"sp2": 0.1, "sp2-features": 0.1, "standard": 0.1, "piecewise": 0.1, "memm": 0.01}
#: The sentences that priors are chosen with: the first ones of a training file, and the held-out sentences.
_PRIOR_SAMPLES = {
    "brown-file": ("brown-file-1000-4000.train", 1000, "brown-file.held-out"),
    "brown": ("brown-1000-4000.train", 1000, "brown.held-out"),
    "ned": ("ned.train", 2000, "ned.testa"),
}
#: Values of mu_oov as a weight, with the weight of the edges held at 1.
MU = (0.25, 0.5, 1.0, 2.0, 4.0)
_EMPIRICAL = {"method": "empirical", "backoff": "paper"}
_SEPARATE = {"method": "separate", "features": "paper", "base": "paper"}
#: Our choices, switched off (-) one at a time, or what we could have added (+): options of each row of the ablation.
ABLATIONS: dict[str, dict[str, Any]] = {
    "empirical: - tuned edge weight": {**_EMPIRICAL, "edge": 1.0},
    "empirical: - tuned mu": {**_EMPIRICAL, "oov": 1.0},
    "empirical: - anything tuned": {**_EMPIRICAL, "edge": 1.0, "oov": 1.0},
    "empirical: - smoothed rates": {**_EMPIRICAL, "edge_k": 1e-6},
    "empirical: + smoothed words": {**_EMPIRICAL, "word_k": 0.5},
    "empirical: + our back-off (endings, neighbours)": {"method": "empirical", "backoff": "default"},
    "separate: - tuned coupling": {**_SEPARATE, "coupling_weight": 1.0},
    "separate: - base": {**_SEPARATE, "base": "none"},
    "separate: - support (every label possible)": {**_SEPARATE, "base": "none", "all_labels": True},
}
_ABLATION_SPLITS = ("1000-4000", "32k-1000")
#: SP2 as published, with both readings of its probability space.
_AS_PUBLISHED = ("sp2", "sp2-features")
_CORPORA = {"ner": ("ned",), "chunking": ("conll2000",), "large-labels": ("sblgnt",)}

#: Label sets of different sizes, made from the labels of Brown, to show how time grows with the number of labels.
GROWTH: dict[str, Callable[[str, str], str]] = {
    "first character": lambda word, label: label[:1],
    "first 2 characters": lambda word, label: label[:2],
    "whole labels": lambda word, label: label,
    "and the last letter": lambda word, label: f"{label}_{word[-1]}",
    "and the last 2 letters": lambda word, label: f"{label}_{word[-2:]}",
}


def corpora_of(experiment: str, order: str = "file") -> tuple[str, ...]:
    """The corpora an experiment needs.

    >>> corpora_of("ner"), corpora_of("label-bias"), corpora_of("pos", "both")
    (('ned',), (), ('brown-file', 'brown'))
    """
    return SPLIT_ORDERS[order] if experiment == "pos" else _CORPORA.get(experiment, ())


def plan(
    experiments: Iterable[str],
    *,
    methods: Sequence[str] = METHODS,
    peers: Sequence[str] = (),
    quick: bool = False,
    order: str = "file",
    seed: int = 0,
    threads: int = 1,
) -> list[Cell]:
    """The cells of some experiments, in the order they are measured.

    >>> [cell.method for cell in plan(["ner"], quick=True)]
    ['empirical', 'sp1', 'sp2', 'sp2-features', 'separate']
    """
    found: list[Cell] = []
    for experiment in experiments:
        always: dict[str, Any] = {"seed": seed, "threads": threads}
        kept = [m for m in methods if not quick or experiment in ("label-bias", "pos") or m in METHODS[:5]]
        if experiment == "pos":
            found += _pos(SPLIT_ORDERS[order], kept, peers, quick, always)
        else:
            found += _PLANS[experiment](kept, peers, quick, always)
    return found


def _label_bias(methods: Sequence[str], peers: Sequence[str], quick: bool, always: dict[str, Any]) -> list[Cell]:
    cells = []
    for number in range(ROUNDS):
        files = (f"label-bias-{always['seed'] + number}.train", f"label-bias-{always['seed'] + number}.test")
        seeded = {**always, "seed": always["seed"] + number}
        for method in methods:
            if method not in ("default", "sp2-features"):  # words alone: the space is that of sp2
                options = training_options(method, ["word[0]"], "paper")
                cells.append(Cell("label-bias", f"round {number}", method, *files, options=options, **seeded))
        cells += [_peer("label-bias", f"round {number}", peer, files, "", ["word[0]"], seeded) for peer in peers]
        if "memm" in methods:
            cells += [
                Cell(
                    "memm-priors",
                    f"round {number}, c2 = {value:g}",
                    "memm",
                    *files,
                    options=training_options("memm", ["word[0]"], "paper", value),
                    **seeded,
                )
                for value in PRIOR_VALUES
            ]
    return cells if quick else cells + _other_simulations(methods, always)


def _other_simulations(methods: Sequence[str], always: dict[str, Any]) -> list[Cell]:
    """Simulated data other than the paper's: all values of a prior, or the default of a method that chooses none."""
    cells = []
    for name in label_bias.OTHERS:
        for seed in range(always["seed"], always["seed"] + OTHER_ROUNDS):
            files = (f"{name} {seed}.train", f"{name} {seed}.test")
            for method in methods:
                options = training_options(method, ["word[0]"], "paper")
                priors = {f"c2 = {value:g}": with_prior(method, value) for value in PRIOR_VALUES}
                chosen = priors if method in (*PRIORS, "separate") else {"default": {}}
                cells += [
                    Cell(
                        "label-bias-others",
                        f"{name}, {prior}, round {seed - always['seed']}",
                        method,
                        *files,
                        options=options | value,
                        **{**always, "seed": seed},
                    )
                    for prior, value in chosen.items()
                    if method != "default"
                ]
    return cells


def _pos(
    corpora: Sequence[str], methods: Sequence[str], peers: Sequence[str], quick: bool, always: dict[str, Any]
) -> list[Cell]:
    cells = []
    for corpus in corpora:
        if not quick:
            cells += _priors(corpus, COLUMNS[corpus], methods, always)
        for split in BROWN_SPLITS[:1] if quick else BROWN_SPLITS:
            files = (f"{corpus}-{split}.train", f"{corpus}-{split}.test")
            # The paper has no MEMM here. One split shows it.
            kept = [method for method in methods if method != "memm" or split == BROWN_SPLITS[0]]
            name = split if corpus == "brown-file" else f"{split} shuffled"
            cells += _paper_cells("pos", name, files, corpus, kept, peers, quick, always)
    if quick:
        return cells
    if "brown-file" in corpora:
        cells += _ablation(methods, always)
    return cells + _growth(corpora[0], methods, peers, always)


def _ner(methods: Sequence[str], peers: Sequence[str], quick: bool, always: dict[str, Any]) -> list[Cell]:
    priors = [] if quick else _priors("ned", COLUMNS["ned"], methods, always)
    cells = priors + _paper_cells("ner", "ned", ("ned.train", "ned.testb"), "ned", methods, peers, quick, always)
    return cells if quick else cells + _mu("ned", ("ned.train", "ned.testb"), "ned", methods, always)


def _priors(corpus: str, columns: str, methods: Sequence[str], always: dict[str, Any]) -> list[Cell]:
    """Every method with a prior, trained with each value and tested on the held-out sentences."""
    files = (f"{corpus}.prior", _PRIOR_SAMPLES[corpus][2])
    return [
        Cell(
            "priors",
            f"{corpus}, c2 = {value:g}",
            method,
            *files,
            columns=columns,
            options=training_options(method, "paper", "paper", value),
            **always,
        )
        for method in methods
        if method in PRIORS
        for value in PRIOR_VALUES
    ]


def _paper_cells(
    experiment: str,
    split: str,
    files: tuple[str, str],
    corpus: str,
    methods: Sequence[str],
    peers: Sequence[str],
    quick: bool,
    always: dict[str, Any],
) -> list[Cell]:
    """All methods with the paper's features, and ``default`` with its own."""
    cells, columns, held_out = [], COLUMNS[corpus], _PRIOR_SAMPLES[corpus][2]
    for method in methods:
        options = training_options(method, "paper", "paper")
        tuned, prior = ("", "" if quick else corpus) if method in PRIORS else ("" if method == "sp1" else held_out, "")
        cells.append(Cell(experiment, split, method, *files, tuned, columns, options, prior=prior, **always))
    return cells + [_peer(experiment, split, peer, files, columns, "paper", always) for peer in peers]


def _ablation(methods: Sequence[str], always: dict[str, Any]) -> list[Cell]:
    """Our choices, switched off one at a time, and values of mu, on splits of Brown in file order."""
    cells = []
    for split in _ABLATION_SPLITS:
        files = (f"brown-file-{split}.train", f"brown-file-{split}.test")
        cells += [
            Cell(
                "ablation",
                split,
                name,
                *files,
                "brown-file.held-out",
                COLUMNS["brown-file"],
                options,
                most_seconds=ABLATION_SECONDS,
                **always,
            )
            for name, options in ABLATIONS.items()
            if name.partition(":")[0] in methods
        ]
        cells += _mu(split, files, "brown-file", methods, always)
    return cells


def _mu(split: str, files: tuple[str, str], corpus: str, methods: Sequence[str], always: dict[str, Any]) -> list[Cell]:
    values = MU if "empirical" in methods else ()
    held_out, columns = _PRIOR_SAMPLES[corpus][2], COLUMNS[corpus]
    return [
        Cell("mu", split, f"mu = {mu:g}", *files, held_out, columns, _EMPIRICAL | {"edge": 1.0, "oov": mu}, **always)
        for mu in values
    ]


def _own(
    experiment: str, corpus: str, features: str, backoff: str
) -> Callable[[Sequence[str], Sequence[str], bool, dict[str, Any]], list[Cell]]:
    """An experiment that is not in the paper, with one of our feature presets. SP1 and SP2 as read are left out."""

    def cells(methods: Sequence[str], peers: Sequence[str], quick: bool, always: dict[str, Any]) -> list[Cell]:
        files, columns = (f"{corpus}.train", f"{corpus}.test"), COLUMNS[corpus]
        own = [
            Cell(experiment, corpus, method, *files, "", columns, training_options(method, features, backoff), **always)
            for method in methods
            if method not in ("default", "sp1", *_AS_PUBLISHED)
        ]
        return own + [_peer(experiment, corpus, peer, files, columns, features, always) for peer in peers]

    return cells


def _growth(corpus: str, methods: Sequence[str], peers: Sequence[str], always: dict[str, Any]) -> list[Cell]:
    """Label sets of different sizes on the smallest split of a corpus."""
    cells = []
    for i, name in enumerate(GROWTH):
        files = (f"{corpus}-growth-{i}.train", f"{corpus}-growth-{i}.test")
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
    "ner": _ner,
    "chunking": _own("chunking", "conll2000", "chunking", "pooled"),
    "large-labels": _own("large-labels", "sblgnt", "pos", "default"),
}


def training_options(method: str, features: str | list[str], backoff: str, c2: float | None = None) -> dict[str, Any]:
    """The arguments of ``corate.train``, except the data.

    >>> training_options("sp2", "paper", "paper", 0.1)["sigma2"]
    5.0
    """
    if method == "default":
        return {}
    if method == "sp1":
        return {"method": "empirical", "pairs": "words"}
    if method == "empirical":
        return {"method": method, "backoff": backoff, **({"features": features} if backoff == "pooled" else {})}
    published = method in _AS_PUBLISHED
    options: dict[str, Any] = {"method": "separate" if published else method, "features": features}
    if method in ("separate", "polish"):
        return options | ({"base": "paper"} if backoff == "paper" else {})
    options |= with_prior(method, PRIORS[method] if c2 is None else c2) | {"iterations": ITERATIONS}
    if published:
        options |= {"base": "none", "coupling": "joint", "optimizer": "lbfgs"}
    return options | ({"space": "features"} if method == "sp2-features" else {})


def with_prior(method: str, c2: float) -> dict[str, float]:
    """The option of a method for the prior c2: objective - c2 times the sum of squared weights.

    >>> with_prior("standard", 0.1), with_prior("sp2", 0.1)
    ({'c2': 0.1}, {'sigma2': 5.0})
    """
    return {"sigma2": 1 / (2 * c2)} if method in (*_AS_PUBLISHED, "separate") else {"c2": c2}


def chosen_prior(cell: Cell, records: Iterable[Mapping[str, Any]]) -> Cell:
    """The cell with the prior that was best on held-out sentences, among the records of its corpus and method.

    If no training of the experiment ``priors`` has ended, the cell keeps the prior it has.
    """
    found = [
        (one["accuracy"], -PRIOR_VALUES.index(c2), c2)
        for one in records
        for c2 in PRIOR_VALUES
        if one["experiment"] == "priors"
        and one["method"] == cell.method
        and one["split"] == f"{cell.prior}, c2 = {c2:g}"
        and one["accuracy"] is not None
    ]
    options = {**cell.options, **(with_prior(cell.method, max(found)[2]) if found else {})}
    return replace(cell, options=options, prior="")


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
    """The splits of simulated data that some cells need."""
    splits: Splits = {}
    for cell in cells:
        if cell.experiment == "label-bias" and cell.train not in splits:
            splits[cell.train], splits[cell.test] = label_bias.sample(cell.seed)
        elif cell.experiment == "label-bias-others" and cell.train not in splits:
            simulation = label_bias.OTHERS[cell.split.partition(",")[0]]
            splits[cell.train], splits[cell.test] = label_bias.sample(cell.seed, simulation)
    return splits


def samples(splits: Splits) -> Splits:
    """The training sentences of the experiment ``priors``."""
    wanted = {name: sample for name, sample in _PRIOR_SAMPLES.items() if sample[0] in splits}
    return {f"{name}.prior": splits[train][:size] for name, (train, size, _) in wanted.items()}


def grown(splits: Splits) -> Splits:
    """The smallest splits of Brown with label sets of different sizes."""
    found: Splits = {}
    for corpus in SPLIT_ORDERS["both"]:
        for i, rule in enumerate(GROWTH.values()):
            for part in ("train", "test"):
                sentences = splits.get(f"{corpus}-1000-4000.{part}", [])[:1000]
                found[f"{corpus}-growth-{i}.{part}"] = [_relabelled(sentence, rule) for sentence in sentences]
    return found


def _relabelled(sentence: Sentence, rule: Callable[[str, str], str]) -> Sentence:
    return [(word, rule(word, label)) for word, label in sentence]


def cost(cell: Cell, tokens: int, labels: int, budget: float) -> float:
    """A rough estimate of the seconds that a cell takes, to show the time left."""
    most = min(budget, cell.most_seconds)
    if cell.method in _AS_PUBLISHED:
        return min(most, 0.5 + tokens * (2e-4 if cell.method == "sp2" else 6e-4))
    if cell.method not in ("standard", "piecewise", "memm") and not cell.library:
        return 0.6 + tokens * (3e-6 if cell.method in ("empirical", "sp1") else 3e-5)
    pairs = tokens * (labels + 10) ** 2
    slow = {"standard": 1.5e-7, "piecewise": 1.9e-7, "memm": 2.0e-7}.get(cell.method, 8e-8)
    expected = 0.5 + pairs * slow + tokens * 1e-4
    return most / 6 if expected > 2 * most else min(expected, most) + 1.0
