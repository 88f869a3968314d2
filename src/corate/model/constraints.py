"""Constraints on labellings, and their translation into the ids of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Column
from corate.display import counted
from corate.errors import ConfigError, DataError
from corate.label_pairs import FORBIDDEN, EdgeScores, LabelPairs
from corate.model.chain import ChainModel
from corate.model.lattice import Lattice, Limits
from corate.rows import offsets_of
from corate.spans import SCHEMES, SpanLabels, parse, scheme_with
from corate.types import Csr, Ids, Offsets

__all__ = ["Constraints", "check_scheme", "limited", "with_scheme"]

#: The boundaries of a sentence in forbidden transitions, as in `Tagger.rates`.
START, END = "<s>", "</s>"

Names = str | Iterable[str]
_NONE: Mapping[Any, Names] = MappingProxyType({})


@dataclass(frozen=True)
class _Parts:
    """The parts of constraints, with sets of labels."""

    labels: Mapping[int, frozenset[str]]
    words: Mapping[str, frozenset[str]]
    forbidden: frozenset[tuple[str, str]]
    scheme: str | None
    one_block: frozenset[str]
    first: frozenset[str] | None
    last: frozenset[str] | None


@dataclass(frozen=True, init=False)
class Constraints(_Parts):
    """Restricts which labellings are allowed. The probabilities of the allowed labellings sum to 1.

    Args:
        labels: a mapping from the position of a token, counted from 0, to the label or labels that it can have:
            ``{3: "B-PER", 4: {"O", "I-PER"}}``.
        words: a mapping from a word to the label or labels that it can have wherever it occurs: ``{"Paris": "B-LOC"}``.
        forbidden: pairs of labels of which the second must not follow the first: ``{("B-LOC", "I-PER")}``. ``<s>`` is
            the start of a sentence, and ``</s>`` its end.
        scheme: allow only labellings that are valid in this scheme: ``"IOB1"``, ``"IOB2"`` (also called BIO),
            ``"IOBES"``, ``"BILOU"``, ``"BMEWO"`` or ``"BMES"``. ``"auto"`` is the scheme of the model's labels.
        one_block: labels or types of spans that occur at most once in a sentence: as one span, or as one run of
            neighbouring tokens with this label. With more than 6 of them, only the best labels are available, not
            probabilities, samples and n-best labellings.
        first: the label or labels that the first token can have.
        last: the label or labels that the last token can have.

    A label that is named for a token is a candidate there, even if it is unlikely for the word.

    Raises ConfigError for a wrong argument. A method that uses the constraints raises ConfigError for a label that the
    model does not have, and DataError if no labelling satisfies them.

    >>> import corate
    >>> tagger = corate.train(corate.Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET")]]))
    >>> tagger.tag(["the", "dog"], constraints=Constraints(labels={0: "NOUN"}))
    ['NOUN', 'NOUN']
    """

    def __init__(
        self,
        labels: Mapping[int, Names] = _NONE,
        words: Mapping[str, Names] = _NONE,
        forbidden: Iterable[tuple[str, str]] = (),
        scheme: str | None = None,
        one_block: Names = (),
        first: Names | None = None,
        last: Names | None = None,
    ) -> None:
        pairs = list(forbidden) if isinstance(forbidden, Iterable) else [forbidden]
        if not all(isinstance(pair, tuple | list) and list(map(type, pair)) == [str, str] for pair in pairs):
            raise ConfigError(f"forbidden: give pairs of labels, such as {_EXAMPLES['forbidden']}", option="forbidden")
        super().__init__(
            _names_by_key("labels", labels),
            _names_by_key("words", words),
            frozenset((left, right) for left, right in pairs),
            None if scheme is None else _scheme(scheme),
            _names("one_block", one_block),
            None if first is None else _names("first", first),
            None if last is None else _names("last", last),
        )
        for place in self.labels:
            if isinstance(place, bool) or not isinstance(place, int | np.integer) or place < 0:
                raise ConfigError(f"labels are by token, counted from 0, not by {place!r}", option="labels")


_EXAMPLES = {
    "labels": '{3: "B-PER", 4: {"O", "I-PER"}}',
    "words": '{"Paris": {"B-LOC"}}',
    "forbidden": '{("B-LOC", "I-PER")}',
}


def _names(option: str, value: object) -> frozenset[str]:
    names = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [None]
    if not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{option}: {value!r} must be a label or a set of labels", option=option)
    return frozenset(map(str, names))


def _names_by_key(option: str, given: Mapping[Any, Names]) -> dict[Any, frozenset[str]]:
    if not isinstance(given, Mapping):
        raise ConfigError(f"{option} must be a dict, such as {_EXAMPLES[option]}, not {given!r}", option=option)
    return {key: _names(option, value) for key, value in given.items()}


def _scheme(given: str) -> str:
    scheme = str(given).upper()
    scheme = {"BIO": "IOB2", "AUTO": "auto"}.get(scheme, scheme)
    if scheme != "auto" and scheme not in SCHEMES:
        some = f"auto or one of {', '.join(SCHEMES)}"
        raise ConfigError(f"unknown label scheme {given!r}; choose {some}", option="scheme")
    return scheme


# -- translation -------------------------------------------------------------------------------------------------


def limited(
    build: Callable[[Csr | None], Lattice],
    sentences: Offsets,
    words: Column | None,
    names: Sequence[str],
    edges: EdgeScores,
    constraints: Constraints | Sequence[Constraints],
) -> Lattice:
    """The lattice of a batch within constraints: the same for all sentences, or one for each.

    ``build`` makes the lattice with further candidates. The constraints of sentences may differ in ``labels`` only.
    A sentence that the candidates leave without a labelling gets all labels as candidates. Raises DataError if that
    does not help.
    """
    each = _for_each(constraints, len(sentences) - 1)
    shared = each[0] if each else Constraints()
    ids = {name: i for i, name in enumerate(names)}
    forbidden, blocks = _forbidden(shared, ids, edges), _blocks(shared, names)
    sets = _TokenSets(ids, sentences, words, each)
    lattice = sets.limit(build(sets.candidates([])), forbidden, blocks)
    empty = lattice.without_labelling().tolist()
    if empty:
        lattice = sets.limit(build(sets.candidates(empty)), forbidden, blocks)
        empty = lattice.without_labelling().tolist()
    if empty:
        raise DataError(f"no labelling of {sets.place(empty[0])} satisfies the constraints; relax them")
    return lattice


def _for_each(constraints: Constraints | Sequence[Constraints], n: int) -> list[Constraints]:
    each = [constraints] * n if isinstance(constraints, Constraints) else list(constraints)
    if not all(isinstance(one, Constraints) for one in each):
        raise ConfigError("constraints must be corate.Constraints(...), or one for each sentence", option="constraints")
    if len(each) != n:
        raise ConfigError(
            f"{counted(n, 'sentence')} but {counted(len(each), 'constraint')}; give one for each", option="constraints"
        )
    if not isinstance(constraints, Constraints) and each:
        shared = replace(each[0], labels={})
        if any(replace(one, labels={}) != shared for one in each):
            raise ConfigError("constraints of sentences in one batch may differ only in labels", option="constraints")
    return each


def _known(ids: Mapping[str, int], names: Iterable[str], option: str) -> list[int]:
    """The ids of labels; raises ConfigError for a label that the model does not have."""
    unknown = sorted(name for name in names if name not in ids)
    if unknown:
        some = ", ".join(list(ids)[:10]) + (", ..." if len(ids) > 10 else "")
        raise ConfigError(f"{option}: the model has no label {unknown[0]!r}; its labels are {some}", option=option)
    return sorted(ids[name] for name in names)


class _TokenSets:
    """The labels that each token can have, for the tokens that cannot have all."""

    def __init__(
        self, ids: Mapping[str, int], sentences: Offsets, words: Column | None, each: Sequence[Constraints]
    ) -> None:
        self.n_labels, self.sentences, self.words = len(ids), sentences, words
        self.of_token: dict[int, frozenset[int]] = {}
        known: dict[object, frozenset[int]] = {}

        def labels(names: Names, option: str) -> frozenset[int]:
            if names not in known:
                known[names] = frozenset(_known(ids, names, option))
            return known[names]

        for s, ((a, b), one) in enumerate(zip(pairwise(sentences.tolist()), each, strict=True)):
            for place, names in one.labels.items():
                if place >= b - a:
                    raise DataError(
                        f"labels: {self.place(s)} has {counted(b - a, 'token')}, so there is no token {place}"
                    )
                self._limit(a + int(place), labels(names, f"labels[{place}]"))
            if a < b and one.first is not None:
                self._limit(a, labels(one.first, "first"))
            if a < b and one.last is not None:
                self._limit(b - 1, labels(one.last, "last"))
        if each and each[0].words:
            self._limit_words({word: labels(names, f"words[{word!r}]") for word, names in each[0].words.items()})

    def _limit_words(self, by_word: Mapping[str, frozenset[int]]) -> None:
        if self.words is None:
            raise ConfigError("words: the model reads ready-made features and no words; use labels", option="words")
        strings = self.words.strings.to_list()
        wanted = {i: by_word[word] for i, word in enumerate(strings) if word in by_word}
        for token in np.flatnonzero(np.isin(self.words.ids, list(wanted))).tolist() if wanted else ():
            self._limit(token, wanted[int(self.words.ids[token])])

    def _limit(self, token: int, labels: frozenset[int]) -> None:
        left = labels & self.of_token.get(token, labels)
        if not left:
            s = int(np.searchsorted(self.sentences, token, side="right")) - 1
            token -= int(self.sentences[s])
            raise DataError(f"the constraints leave no label for token {token} of {self.place(s)}; relax them")
        self.of_token[token] = left

    def place(self, sentence: int) -> str:
        """How an error calls a sentence."""
        a, b = int(self.sentences[sentence]), int(self.sentences[sentence + 1])
        text = "" if self.words is None else f" ({' '.join(self.words.values(a, min(b, a + 6)))}{' ...' * (b > a + 6)})"
        return f"sentence {sentence}{text}"

    def candidates(self, every: Sequence[int]) -> Csr | None:
        """Further candidates: the labels of limited tokens, and all labels in the sentences ``every``."""
        more = dict(self.of_token)
        whole = frozenset(range(self.n_labels))
        for s in every:
            for token in range(int(self.sentences[s]), int(self.sentences[s + 1])):
                more.setdefault(token, whole)
        if not more:
            return None
        tokens = sorted(more)
        counts = np.zeros(int(self.sentences[-1]), np.int64)
        counts[tokens] = [len(more[token]) for token in tokens]
        return offsets_of(counts), np.array([y for token in tokens for y in sorted(more[token])], np.int32)

    def limit(
        self, lattice: Lattice, forbidden: NDArray[np.uint8] | None, blocks: _native.SpanLabels | None
    ) -> Lattice:
        """The lattice within these limits."""
        allowed = None
        if self.of_token:
            numbers: dict[frozenset[int], int] = {}
            set_of = np.zeros(len(lattice.offsets) - 1, np.int64)  # set 0 has all labels
            for token, labels in self.of_token.items():
                set_of[token] = numbers.setdefault(labels, len(numbers) + 1)
            table = np.zeros((len(numbers) + 1, self.n_labels), np.uint8)
            table[0] = 1
            for labels, number in numbers.items():
                table[number, list(labels)] = 1
            allowed = table[np.repeat(set_of, np.diff(lattice.offsets)), lattice.labels]
        return replace(lattice, limits=Limits(allowed, forbidden, blocks))


def _forbidden(constraints: Constraints, ids: Mapping[str, int], edges: EdgeScores) -> NDArray[np.uint8] | None:
    """The label pairs that constraints forbid, by their numbers."""
    if not constraints.forbidden and constraints.scheme is None:
        return None
    pairs = LabelPairs(len(ids))
    table = np.zeros(pairs.shape, bool)
    if constraints.scheme is not None:
        names = list(ids)
        table |= _invalid(names, _scheme_of(names, edges) if constraints.scheme == "auto" else constraints.scheme)
    for left, right in constraints.forbidden:
        y = pairs.boundary if left == START else _known(ids, [left], "forbidden")[0]
        table[y, pairs.boundary if right == END else _known(ids, [right], "forbidden")[0]] = True
    return table.astype(np.uint8).ravel()


def check_scheme(names: Sequence[str], scheme: str) -> None:
    """Raise ConfigError if labels are not in a scheme."""
    roles = {name: parse(name)[0] for name in names}
    strange = [name for name, role in roles.items() if role not in ("", "O") and name[0] not in SCHEMES[scheme]]
    if strange:
        raise ConfigError(f"the model's label {strange[0]!r} is not in {scheme}", option="scheme")
    if not set(roles.values()) - {"", "O"}:
        raise ConfigError("the labels of the model mark no spans, so no scheme applies", option="scheme")
    if scheme not in ("IOB1", "IOB2") and not {"E", "S"} & set(roles.values()):
        raise ConfigError(f"no label of the model ends a span, so its labels are not in {scheme}", option="scheme")


def _invalid(names: Sequence[str], scheme: str) -> NDArray[np.bool_]:
    """The label pairs that a scheme does not allow, (K + 1, K + 1)."""
    check_scheme(names, scheme)
    return SpanLabels.of(names).invalid(scheme)


def _scheme_of(names: Sequence[str], edges: EdgeScores) -> str:
    """The scheme of a model's labels.

    With B and I alone, the transitions that the model has tell IOB1 and IOB2 apart: after ``O`` or the start of a
    sentence, spans start with I in IOB1 and with B in IOB2.
    """
    prefixes = {name[0] for name in names if parse(name)[0] not in ("", "O")}
    if not prefixes <= set("BI"):
        found = scheme_with(prefixes)
        if found is None:
            raise ConfigError("the labels of the model are in no known scheme; name it", option="scheme")
        return found
    ids = {name: i for i, name in enumerate(names)}
    outside = [len(names), *(ids[name] for name in names if name == "O")]

    def seen(label: str) -> float:
        """The highest weight of a stored transition from outside."""
        if label not in ids:
            return -np.inf
        weights = [-np.inf]
        for y in outside:
            a, b = int(edges.offsets[y]), int(edges.offsets[y + 1])
            weights += edges.scores[a:b][edges.to[a:b] == ids[label]].tolist()
        return max(weights)

    inside = [name for name in names if parse(name)[0] == "I"]
    by_i = sum(seen(name) > seen("B" + name[1:]) for name in inside)
    return "IOB1" if 2 * by_i > len(inside) else "IOB2"


def with_scheme(model: ChainModel, scheme: str) -> ChainModel:
    """The model with scores that rule out labellings which are not valid in a scheme.

    All labels become candidates everywhere, because the candidates of a word may leave no valid labelling.
    """
    names = model.labels.to_list()
    table = model.edges.dense()
    table[_invalid(names, scheme)] = FORBIDDEN
    edges = replace(EdgeScores.of_dense(table, local=model.edges.local), triples=model.edges.triples)
    return replace(model, edges=edges, all_labels=True, by_features=False)


def _blocks(constraints: Constraints, names: Sequence[str]) -> _native.SpanLabels | None:
    """The labels of blocks: whole spans for the name of a type, else neighbouring tokens with the same label."""
    wanted = sorted(constraints.one_block)
    if not wanted:
        return None
    labels = SpanLabels.of(names)
    types, (type_of, opens, closes) = labels.types, labels.arrays()
    group: Ids = np.full(len(names), -1, np.int32)
    for number, name in enumerate(wanted):
        own = type_of == types.index(name) if name in types else np.array([label == name for label in names])
        if not own.any():
            _known({label: i for i, label in enumerate(names)}, [name], "one_block")
        if (group[own] >= 0).any():
            raise ConfigError(f"one_block names the labels of {name!r} twice", option="one_block")
        group[own] = number
        if name not in types:
            opens[own] = closes[own] = 0
    return group, opens, closes
