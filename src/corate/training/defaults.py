"""Defaults that depend on the corpus, for options that the user leaves unset: features, base scores, passes, steps.

The order is chosen in :mod:`corate.training.chains`, and the back-off in :mod:`corate.training.empirical`, because both
depend on what has been counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from corate.counting.pooling import countable_features
from corate.errors import ConfigError
from corate.features.presets import pos_column
from corate.features.templates import Template
from corate.label_parts import LabelParts
from corate.model.constraints import Constraints, check_scheme
from corate.optimize.penalty import L2
from corate.spans import are_spans, detect
from corate.training.edge_features import edge_templates
from corate.training.lattice_costs import LatticeCosts
from corate.training.options import ChainMethod, FittedMethod, Separate
from corate.training.source import Source

__all__ = [
    "ChainParameters",
    "SeparateParameters",
    "choose_base",
    "choose_edge_templates",
    "choose_parts",
    "choose_preset",
    "choose_scheme",
    "choose_start",
    "recorded",
]

#: With many labels (see `corate.training.lattice_costs`), edge features need this many tokens for each label.
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
class ChainParameters:
    """The parameters of training on whole sentences: the options of the same names, none of them unset."""

    c1: float = 0.0
    c2: float = 0.0
    rate: float = 0.0
    passes: int = 0
    iterations: int = 0
    batch: int = 0
    temper: float = 0.0
    edge: float = 0.0
    cutoff: int = 1
    independent: bool = False  # whether each pass starts from the initial weights

    @classmethod
    def choose(
        cls,
        method: ChainMethod,
        tokens: int,
        base: str,
        *,
        parts: bool = False,
        words: bool = True,
        unexplained: float = 1.0,
    ) -> ChainParameters:
        """The numbers for a number of tokens and a kind of base scores; with or without parts and words.

        ``unexplained`` is the share of the entropy of left-out labels that the base pooled does not explain.
        """
        chosen: dict[str, Any] = {}
        if method.refines_counts:
            rich, large = base in POLISH_PASSES, words and tokens > MANY_TOKENS
            rate = POLISH_RATE[base] if words else WORDLESS_RATE
            chosen = {
                "c2": PARTS_C2 if parts else POLISH_C2[base],
                "rate": LARGE_RATE if rich and large else rate,
                "passes": POLISH_PASSES[base] - large if rich else PASSES * _times(tokens),
                "temper": POLISH_TEMPERS[base] if words or base != "pooled" else WORDLESS_TEMPER,
            }
            if base == "pooled" and words:
                chosen |= _pooled(unexplained, large=large, passes_given=method.passes is not None)
        return cls(**(chosen | _given(cls, method, base)))

    @property
    def penalty(self) -> L2:
        """The L2 term."""
        return L2(2.0 * self.c2)


def _pooled(unexplained: float, *, large: bool, passes_given: bool) -> dict[str, Any]:
    """The parameters for the base pooled that depend on how much of the labels it explains."""
    part = float(np.clip((unexplained - CLOSED_TEXT) / (OPEN_TEXT - CLOSED_TEXT), 0.0, 1.0))

    def between(closed: float, usual: float) -> float:
        return round(closed + part * (usual - closed), 3)

    temper = between(CLOSED_TEMPER, POLISH_TEMPERS["pooled"])
    if not large:
        passes = round(between(CLOSED_PASSES, POLISH_PASSES["pooled"]))
        return {"temper": temper, "passes": passes, "rate": between(CLOSED_RATE, POLISH_RATE["pooled"])}
    found: dict[str, Any] = {"temper": min(LARGE_TEMPER, temper)}
    if not passes_given:
        found |= {"passes": INDEPENDENT_PASSES, "rate": INDEPENDENT_RATE, "independent": True}
    return found


@dataclass(frozen=True)
class SeparateParameters:
    """The parameters of separate training: the options of the same names, none of them unset."""

    sigma2: float
    edge_sigma2: float
    rate: float
    passes: int
    half_passes: int
    pair_passes: int
    temper: float
    cutoff: int
    coupling_weight: float

    @classmethod
    def choose(cls, method: Separate, tokens: int, base: str) -> SeparateParameters:
        """The numbers for a corpus with this number of tokens, and base scores of this kind."""
        times = _times(tokens)
        chosen = {
            "passes": PASSES * times,
            "half_passes": HALF_PASSES * times,
            "pair_passes": PASSES * times,
            "temper": SEPARATE_TEMPERS[base],
            "coupling_weight": COUPLING_WEIGHT,
        }
        return cls(**(chosen | _given(cls, method, base)))

    @property
    def penalty(self) -> L2:
        """The L2 term of the weights of features at one token."""
        return L2(variance=self.sigma2)

    @property
    def edge_penalty(self) -> L2:
        """The L2 term of the weights of edge features."""
        return L2(variance=self.edge_sigma2)


def _given(parameters: type, method: FittedMethod, base: str) -> dict[str, Any]:
    """The options of a method that have a value. The weight of the base scores is left out if there are none."""
    given = {f.name: method.given().get(f.name) for f in fields(parameters)}
    return {name: v for name, v in given.items() if v is not None and not (name == "temper" and base == "none")}


def _times(tokens: int) -> int:
    """The factor of the number of passes, above 1 for a small corpus."""
    return int(np.clip(np.sqrt(FEW_TOKENS / max(1, tokens)), 1, 3))


def recorded(parameters: ChainParameters | SeparateParameters, method: FittedMethod) -> dict[str, Any]:
    """The parameters that a model records: those that are options of its method."""
    return {name: value for name, value in asdict(parameters).items() if method.has(name)}
