"""Choices that depend on the corpus: pruned or full lattices, features, base scores, steps and passes.

A choice is made for an option that the user leaves unset. The order is chosen in :mod:`corate.training.chains`, and the
back-off in :mod:`corate.training.empirical`, because both depend on what has been counted. `refuse_too_many_labels`
checks that there is something to choose for.

`LatticeCosts` decides whether lattices are pruned or full, from the estimated cost of a token in a pass:

    full     TOKEN + K^2             all K labels are candidates everywhere; order 1
             TOKEN + K^3             if order 2 is asked for, and K exceeds MOST_TRIPLE_LABELS
    pruned   TOKEN + TRIPLE c^3      a token has c candidates on average; order 2

The unit is the cost of a label pair in a full lattice. TOKEN is the cost of the features of a token. c is estimated
from the counts of words: see :func:`mean_candidates`.

Labels that do not recur with a word count little: typing errors in a few labels should not change the lattice, and so
the accuracy of all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from corate.corpus import StringTable
from corate.corpus.corpus import unknown_label_error
from corate.counting.backoff import BackoffParameters
from corate.counting.counts import Table
from corate.counting.pooling import countable_features
from corate.errors import Argument, ConfigError, DataError
from corate.features.presets import pos_column
from corate.features.templates import Atom, Template
from corate.features.word_functions import WordFunction
from corate.label_parts import LabelParts
from corate.model.constraints import Constraints, check_scheme
from corate.optimize.penalty import L2
from corate.spans import are_spans, detect
from corate.training.methods import METHODS, OPTIONS, ChainMethod, FittedMethod, Method, Separate

if TYPE_CHECKING:
    from corate.training.source import Source

__all__ = [
    "MOST_TRIPLE_LABELS",
    "SUPPORT",
    "LatticeCosts",
    "Parameters",
    "chain_parameters",
    "choose_parts",
    "choose_preset",
    "choose_scheme",
    "choose_start",
    "edge_templates",
    "mean_candidates",
    "recurring_labels",
    "refuse_labels",
    "refuse_too_many_labels",
    "refuse_unusable_labels",
    "separate_parameters",
]


#: With many labels (see `LatticeCosts`), edge features need this many tokens for each label.
EDGE_TOKENS_PER_LABEL = 1500

#: Without words, pooled scores are made of every label for every token, if there are not more than this (400 MB).
MOST_POOLED_SCORES = 100_000_000

#: The weight of the base scores by base, and the L2 weight and step size of polish.
POLISH_TEMPERS = {"default": 0.55, "pooled": 0.8, "paper": 0.7, "none": 0.0}
POLISH_C2 = {"default": 0.5, "pooled": 1.0, "paper": 0.5, "none": 0.5}
POLISH_RATE = {"default": 0.06, "pooled": 0.06, "paper": 0.15, "none": 0.15}

#: The step size from the base default above MANY_TOKENS, where one pass less is made.
LARGE_RATE = 0.08

#: Above MANY_TOKENS, passes from the base pooled are independent, and their weights are averaged: their number, their
#: step size, and the most weight of the base scores, since the features know more.
INDEPENDENT_PASSES, INDEPENDENT_RATE, LARGE_TEMPER = 3, 0.12, 0.65

#: The base pooled has its full weight if it leaves OPEN_TEXT of the entropy of left-out labels unexplained, or more. At
#: CLOSED_TEXT or less, it has CLOSED_TEMPER, and passes have these larger steps: in text of few templates, it knows the
#: words of the training text by heart, and the features learn more from the neighbours of a word.
CLOSED_TEXT, OPEN_TEXT = 0.02, 0.08
CLOSED_TEMPER, CLOSED_PASSES, CLOSED_RATE = 0.4, 3, 0.12

#: The step size and the weight of the base scores from the base pooled if there are no words: without a back-off there
#: is more to learn, and the base is less accurate.
WORDLESS_RATE, WORDLESS_TEMPER = 0.15, 0.6

#: The L2 weight with weights of parts of labels.
PARTS_C2 = 2.0

#: The number of passes from bases that know so much that more training would fit noise.
POLISH_PASSES = {"default": 3, "pooled": 2}

#: Parts have weights if there are at least this many labels for each part that labels share, and at least this share of
#: the labels consists of two such parts or more.
LABELS_PER_PART = 1.5
COMPOSED_LABELS = 0.5
SEPARATE_TEMPERS = {"default": 0.4, "pooled": 0.7, "paper": 0.7, "none": 0.0}

#: The coupling weight that tuning starts from.
COUPLING_WEIGHT = 0.8

#: Stochastic passes of all other training. Below FEW_TOKENS there are up to three times as many.
PASSES, HALF_PASSES = 3, 2
FEW_TOKENS, MANY_TOKENS = 100_000, 150_000

#: Spans that cover more than this share of the tokens are chunks, and their features are those of chunking.
CHUNKS_COVER = 0.5


def choose_preset(source: Source) -> str:
    """The preset of features for a corpus.

    It is ``"pos"`` if labels are not spans, ``"chunking"`` if spans cover most tokens and the corpus has parts of
    speech, and else ``"ner"``.
    """
    labels = source.labels.to_list()
    if not are_spans(labels, strict=False):
        return "pos"
    outside = int(source.label_counts()[labels.index("O")]) if "O" in labels else 0
    covered = 1.0 - outside / source.n_tokens
    tagged = pos_column(source.columns) is not None
    return "chunking" if tagged and covered > CHUNKS_COVER else "ner"


def choose_scheme(constrain: str | None, source: Source) -> str | None:
    """The scheme that a model keeps to: the one that is asked for, or with ``"auto"`` that of the labels of the corpus.

    Raises ConfigError if the labels are not in the scheme.
    """
    if constrain is None:
        return None
    try:
        scheme = Constraints(scheme=constrain).scheme
        names = [name for name in source.labels.to_list() if name != source.unknown]
        if scheme == "auto":
            known = ([name if name in names else "O" for name in s] for s in source.label_sentences())
            scheme = detect(known) or "IOB2"
        check_scheme(names, scheme or "")
    except ConfigError as error:
        error.option = "constrain"
        raise
    return scheme


def choose_base(method: FittedMethod, source: Source, templates: Sequence[Template], *, few: bool) -> str:
    """The base of polish: ``"pooled"`` if the features can be counted, and there are ``few`` labels, spans or no words.

    Otherwise it is ``"default"``, or ``"none"`` without words: the default base is a back-off of words.
    """
    if method.base is not None:
        return method.base
    # Pooled scores are counted over features that are not numeric, and all labels must be known.
    ready, known = source.attributes, source.all_known()
    if source.word is None and ready is not None:
        some = countable_features(ready, len(ready.names))[ready.ids].any()
        few_scores = source.n_tokens * len(source.names) <= MOST_POOLED_SCORES
        return "pooled" if some and known and few_scores else "none"
    countable = (bool(templates) or ready is not None) and (ready is None or ready.values is None)
    spans = are_spans(source.names.to_list(), strict=False)
    return "pooled" if (few or spans) and countable and known else "default"


def choose_edge_templates(
    method: FittedMethod, source: Source, templates: Sequence[Template], *, few: bool
) -> list[Template]:
    """The edge templates of polish: none if there are many labels and too few tokens for each."""
    enough = few or source.n_tokens > EDGE_TOKENS_PER_LABEL * len(source.names)
    return edge_templates(templates, source, few=few) if enough else []


def choose_start(
    method: FittedMethod, source: Source, templates: Sequence[Template], costs: LatticeCosts | None
) -> tuple[list[Template], str]:
    """The templates with those of edge features, and the kind of the base scores. Without words there are no costs."""
    templates = list(templates)
    if method.refines_counts:
        few = costs is not None and costs.choose_full
        templates += choose_edge_templates(method, source, templates, few=few)
        return templates, choose_base(method, source, templates, few=few)
    if method.edges_given_nodes:
        return [*templates, *edge_templates(templates, source)], method.base or "none"
    return templates, "none"


def choose_parts(method: ChainMethod, labels: Sequence[str]) -> LabelParts | None:
    """The parts of labels that have weights; None for none.

    Unset, they have weights in polish if few parts make up most labels.
    Labels of spans are made of two parts each, and their parts have no weights unless they are asked for.
    """
    if method.parts is False or (method.parts is None and not method.refines_counts):
        return None
    parts = LabelParts.of(labels)
    if not len(parts):
        return None
    if method.parts is None:
        if len(labels) < LABELS_PER_PART * len(parts) or are_spans(labels, strict=False):
            return None
        if (np.diff(parts.offsets) >= 2).mean() < COMPOSED_LABELS:
            return None
    return parts


@dataclass(frozen=True)
class Parameters:
    """The numbers that a method trains with: its numeric options, none of them unset, as attributes.

    Options of other methods are 0.

    >>> from corate import Standard
    >>> p = Parameters.of(Standard(), {"rate": 0.1})
    >>> p.c2, p.rate, p.base_weight
    (0.5, 0.15, 0)
    """

    numbers: Mapping[str, Any]
    independent: bool = False  # whether each pass starts from the initial weights

    @classmethod
    def of(cls, method: FittedMethod, chosen: Mapping[str, Any], *, independent: bool = False) -> Parameters:
        """The numbers that were given, and those that were chosen for other options."""
        numbers = method.numbers().items()
        return cls({name: chosen.get(name) if value is None else value for name, value in numbers}, independent)

    def __getattr__(self, name: str) -> Any:
        if name not in OPTIONS:
            raise AttributeError(name)
        return self.numbers.get(name, 0)

    def changed(self, **numbers: float) -> Parameters:
        """The parameters with other numbers."""
        return replace(self, numbers={**self.numbers, **numbers})

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers by their names in model files."""
        return {OPTIONS[name].key: value for name, value in self.numbers.items()}

    @property
    def fingerprint(self) -> dict[str, Any]:
        """What must be the same to go on with a run that was stopped: all but the number of passes."""
        return {**self.numbers, "passes": 0, "independent": self.independent}

    @property
    def penalty(self) -> L2:
        """The L2 term of the weights; in separate training, of those of features at one token."""
        return L2(variance=self.sigma2) if "sigma2" in self.numbers else L2(2.0 * self.c2)

    @property
    def edge_penalty(self) -> L2:
        """The L2 term of the weights of edge features in separate training."""
        return L2(variance=self.edge_sigma2)


def chain_parameters(
    method: ChainMethod, tokens: int, base: str, *, parts: bool = False, words: bool = True, unexplained: float = 1.0
) -> Parameters:
    """The numbers for a number of tokens and a kind of base scores; with or without parts and words.

    ``unexplained`` is the share of the entropy of left-out labels that the base pooled does not explain.
    """
    if not method.refines_counts:
        return Parameters.of(method, {})
    rich, large = base in POLISH_PASSES, words and tokens > MANY_TOKENS
    rate = POLISH_RATE[base] if words else WORDLESS_RATE
    chosen = {
        "c2": PARTS_C2 if parts else POLISH_C2[base],
        "rate": LARGE_RATE if rich and large else rate,
        "passes": POLISH_PASSES[base] - large if rich else PASSES * _times(tokens),
        "base_weight": POLISH_TEMPERS[base] if words or base != "pooled" else WORDLESS_TEMPER,
    }
    independent = base == "pooled" and large and method.passes is None
    if base == "pooled" and words:
        chosen |= _pooled(unexplained, large=large, independent=independent)
    return _with_base(Parameters.of(method, chosen, independent=independent), base)


def _pooled(unexplained: float, *, large: bool, independent: bool) -> dict[str, Any]:
    """The parameters for the base pooled that depend on how much of the labels it explains."""
    part = float(np.clip((unexplained - CLOSED_TEXT) / (OPEN_TEXT - CLOSED_TEXT), 0.0, 1.0))

    def between(closed: float, usual: float) -> float:
        return round(closed + part * (usual - closed), 3)

    temper = between(CLOSED_TEMPER, POLISH_TEMPERS["pooled"])
    if not large:
        passes = round(between(CLOSED_PASSES, POLISH_PASSES["pooled"]))
        return {"base_weight": temper, "passes": passes, "rate": between(CLOSED_RATE, POLISH_RATE["pooled"])}
    found: dict[str, Any] = {"base_weight": min(LARGE_TEMPER, temper)}
    if independent:
        found |= {"passes": INDEPENDENT_PASSES, "rate": INDEPENDENT_RATE}
    return found


def separate_parameters(method: Separate, tokens: int, base: str) -> Parameters:
    """The numbers of separate training for a number of tokens and a kind of base scores."""
    times = _times(tokens)
    chosen = {
        "passes": PASSES * times,
        "half_passes": HALF_PASSES * times,
        "pair_passes": PASSES * times,
        "base_weight": SEPARATE_TEMPERS[base],
        "coupling_weight": COUPLING_WEIGHT,
    }
    return _with_base(Parameters.of(method, chosen), base)


def _with_base(parameters: Parameters, base: str) -> Parameters:
    """The parameters; without base scores, their weight is 0 whatever was given."""
    return parameters.changed(base_weight=0.0) if base == "none" else parameters


def _times(tokens: int) -> int:
    """The factor of the number of passes, above 1 for a small corpus."""
    return int(np.clip(np.sqrt(FEW_TOKENS / max(1, tokens)), 1, 3))


#: The cost of the features of a token, and of a label triple in a pruned lattice, in label pairs of a full lattice.
#: Both were fitted to training times on masc and brown, with rare labels merged until 24 to 60 were left.
TOKEN, TRIPLE = 700.0, 2.0

#: A full lattice may cost this many times as much as a pruned one. It can have pooled base scores, which are better
#: than those of the back-off if labels are few: ned F1 76.4 against 74.9, Finnish parts of speech 90.2 against 89.5.
FULL_MAY_COST = 1.25

#: The same with labels that do not recur.
FULL_MAY_COST_IN_ALL = 2.5

#: Order 2 on a full lattice takes at most this many labels: the cost grows with their cube.
MOST_TRIPLE_LABELS = 32

#: A label is a candidate in a pruned lattice if its probability is at least this share of that of the best label. A
#: word has at most this many candidates, apart from the labels that it was seen with.
SUPPORT: dict[str, float] = {"threshold": 1e-4, "cap": 12}


@dataclass(frozen=True)
class LatticeCosts:
    """The estimated cost of a token in a pass, with a full lattice and with a pruned lattice.

    >>> LatticeCosts(full=700 + 20**2, pruned=700 + 2 * 5**3).choose_full
    True
    >>> LatticeCosts(full=700 + 60**2, pruned=700 + 2 * 5**3).choose_full
    False
    """

    full: float
    pruned: float
    recurring: float | None = None  # of a full lattice of the labels that recur with a word; None: as ``full``

    @classmethod
    def of_words(cls, words: Table, n_labels: int, order: int | None = None) -> LatticeCosts:
        """The costs of a corpus, from the counts of labels by word. ``order`` is the one that is asked for, if any."""
        power = 3 if order == 2 and n_labels > MOST_TRIPLE_LABELS else 2
        pruned = TOKEN + TRIPLE * mean_candidates(words, n_labels) ** 3
        return cls(TOKEN + n_labels**power, pruned, TOKEN + recurring_labels(words) ** power)

    @property
    def choose_full(self) -> bool:
        """Whether all labels are candidates everywhere, because that does not cost much more."""
        recurring = self.full if self.recurring is None else self.recurring
        return recurring <= FULL_MAY_COST * self.pruned and self.full <= FULL_MAY_COST_IN_ALL * self.pruned

    def recorded(self) -> dict[str, int]:
        """The costs that a model records."""
        return {"full": round(self.full), "pruned": round(self.pruned)}


def recurring_labels(words: Table) -> int:
    """The number of labels that some word has twice, and no other label more often.

    >>> recurring_labels(Table(np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([5, 2, 1])))
    1
    """
    best = np.zeros(len(words), words.counts.dtype)
    np.maximum.at(best, words.owners, words.counts)
    usual = (words.counts > 1) & (words.counts == best[words.owners])
    return len(np.unique(words.labels[usual]))


def mean_candidates(words: Table, n_labels: int) -> float:
    """The estimated mean number of candidates of a token in a pruned lattice, from the counts of labels by word.

    A token is left out of the counts of its word, w. The candidates are the labels seen with the word, or the labels
    that are likely enough by a back-off of one level, r, the mean of rare words; those of the two that are more:

        P(y | w) = (n(w, y) + k P(y | r)) / (n(w) + k)

    >>> frequent = Table(np.array([0, 1, 2]), np.array([0, 1]), np.array([10**6, 10**6]))
    >>> mean_candidates(frequent, 2)
    1.0
    """
    backoff = BackoffParameters()
    totals = words.totals()
    own = words.counts / totals[words.owners]
    rare = totals[words.owners] <= backoff.rare
    sums = np.bincount(words.labels[rare], own[rare], minlength=n_labels)
    likely = -np.sort(-sums) / max(float(sums.sum()), 1.0)
    others = np.maximum(totals - 1, 0)
    best = np.zeros(len(totals))
    np.maximum.at(best, words.owners, own)
    best = np.where(others > 0, best, likely.max(initial=0.0))
    least = SUPPORT["threshold"] * best * (others + backoff.word_k) / backoff.word_k
    backed_off = np.minimum(np.searchsorted(-likely, -least, side="right"), SUPPORT["cap"])
    candidates = np.maximum(backed_off, np.where(others > 0, words.lengths, 1))
    return float(np.average(candidates, weights=totals)) if totals.sum() else 1.0


#: The most labels of all methods except empirical, and the most labels times words of empirical.
MOST_LABELS = 10_000
MOST_WORD_LABELS = 1_000_000_000

#: More than FEWEST_DOUBTED labels look like a wrong column if they exceed DOUBTED_SHARE of the distinct words, and have
#: fewer than DOUBTED_TOKENS tokens each. On treebanks of four languages, from 300 to 25,000 tokens: part-of-speech tags
#: with all their features stay below 0.5 of the words (0.35 if there are 200 or more), and with rules for lemmas below
#: 0.63. If lemmas are read as labels, they are 0.57 to 0.9 of the words. If words are read as labels, there are many
#: times more labels than values in the word column, with 2 to 20 tokens each.
FEWEST_DOUBTED = 200
DOUBTED_SHARE = 2 / 3
DOUBTED_TOKENS = 50


def refuse_labels(source: Source, method: Method) -> None:
    """Raise DataError for labels that the method cannot be trained on: too many, empty, or not known."""
    refuse_too_many_labels(source, method.name, method.many_labels)
    refuse_unusable_labels(source, method)


def refuse_unusable_labels(source: Source, method: Method) -> None:
    """Raise DataError, with the place, for an empty label, and for an unknown one if the method needs every label."""
    names = source.names.to_list()
    if "" in names:
        sentence, token = source.first_token(names.index("")) or (None, "of the data")
        place: dict[str, Any] = {"graph" if source.on_graphs else "sentence": sentence}
        raise DataError(
            f"the label of {'node' if source.on_graphs else 'token'} {token} is empty",
            f"give it a name, or None if it is not known; a file can have a name for unknown labels, such as "
            f"{Argument('unknown', '?')}",
            **place,
        )
    if not method.learns_unknown and not source.on_graphs and not source.all_known():
        raise unknown_label_error(*(source.first_token(-1) or (0, 0)), f"the method {method.name!r}")


def refuse_too_many_labels(source: Source, method: str, many_labels: bool) -> None:
    """Raise DataError if there are too many labels for tables of label pairs, or if labels look like words."""
    if len(source.labels) <= FEWEST_DOUBTED:
        return
    labels, tokens = source.used("label"), source.n_tokens
    words = 0 if source.word is None else source.used(source.word)
    attributes = [] if source.attributes is None else [len(source.attributes.names)]
    values = max([*map(source.used, source.columns), *attributes], default=0)
    counts_only = method in METHODS and METHODS[method].counts_only
    if not counts_only and labels > MOST_LABELS:
        raise DataError(
            f"{labels:,} labels are more than the {MOST_LABELS:,} that this method takes",
            f"name the columns with {Argument('columns')} if another one contains the labels, or "
            "use the method 'empirical'",
        )
    if counts_only and labels * words > MOST_WORD_LABELS:
        raise DataError(
            f"{labels:,} labels times {words:,} words are more than the {MOST_WORD_LABELS:,} that this method takes",
            f"name the columns with {Argument('columns')} if another one contains the labels, or train on less text",
        )
    doubted = labels > max(FEWEST_DOUBTED, DOUBTED_SHARE * values) and tokens < DOUBTED_TOKENS * labels
    if doubted and not many_labels:
        raise DataError(
            f"{labels:,} labels in {tokens:,} tokens (distinct words: {values:,})",
            f"is the label column right? Name the columns with {Argument('columns')}, or train on "
            f"these labels with {Argument('many_labels', True)}",
        )


#: Templates with fewer than FEW_VALUES values also make edge features, if there are VALUE_TOKENS tokens for each value.
FEW_VALUES = 60
VALUE_TOKENS = 200
FIRST_WORDS = 1000


def edge_templates(templates: Sequence[Template], source: Source, *, few: bool = True) -> list[Template]:
    """Edge templates made from node templates with few values: each at both ends of an edge.

    If labels are not ``few``, the previous word replaces those made from templates of the word.

    >>> from corate.features.templates import parse
    >>> from corate.corpus import Corpus
    >>> from corate.training.source import MemorySource
    >>> sentences = [[("a", "DET", "B"), ("dog", "NN", "I")]] * 500
    >>> source = MemorySource(Corpus.from_sentences(sentences))
    >>> wanted = [parse(t) for t in ("word[0]", "suffix(word[0], 2)", "starts_upper(word[0])", "pos[0]")]
    >>> [str(t) for t in edge_templates(wanted[2:], source)]
    ['edge: starts_upper(word[0])', 'edge: starts_upper(word[-1])', 'edge: pos[0]', 'edge: pos[-1]']
    >>> [str(t) for t in edge_templates(wanted, source, few=False)]
    ['edge: word[-1]', 'edge: pos[0]', 'edge: pos[-1]']
    """
    if any(t.edge for t in templates):
        return []  # the user has chosen edge templates
    found = []
    word = None if few else source.word
    if any(word in t.columns for t in templates):
        found.append(Template((Atom(WordFunction(), str(word), -1),), edge=True))
    for template in templates:
        if len(template.atoms) != 1 or template.atoms[0].offset != 0 or template.atoms[0].column == word:
            continue
        atom = template.atoms[0]
        if not atom.function.learns and _has_few_values(atom.function, source.strings(atom.column), source.n_tokens):
            found += [Template((replace(atom, offset=offset),), edge=True) for offset in (0, -1)]
    return found


def _has_few_values(function: WordFunction, words: StringTable, tokens: int) -> bool:
    """Whether a function has few values, with many tokens for each."""
    most = min(FEW_VALUES, tokens / VALUE_TOKENS)
    # The first words are checked first: for most functions they suffice to find many values.
    return all(int(function.apply(some)[0].max(initial=-1)) < most for some in (words.head(FIRST_WORDS), words))
