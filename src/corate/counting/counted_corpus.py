"""A counted corpus, and the sentences that are held out of its counts. Every training method uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.counting.backoff import MOST_CANDIDATES, BackoffPreset, BackoffTables, backoff_tables
from corate.counting.counts import Counts, Table, Tokens, TokenStore
from corate.counting.held_out import held_out_tokens, slices, without
from corate.errors import DataError
from corate.features.lexicons import Lexicon
from corate.features.templates import Atom, Template, lexicons_of
from corate.features.vocabulary import BOUNDARIES, Vocabulary
from corate.rows import distinct

__all__ = ["CountedCorpus", "HeldOut", "counted_templates", "vocabulary_of"]

#: The limit on the cost of tuning, over all folds. A token costs the square of the number of labels seen with its word,
#: plus the number of all labels. 40 labels for each word and 900 in all stay below it.
MOST_TUNING_COST = 30_000_000


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Tokens that are not counted in the table, and the vocabulary with the ids of their strings."""

    tokens: Tokens
    vocabulary: Vocabulary
    table: Table


def counted_templates(
    templates: Sequence[Template], presets: Sequence[BackoffPreset], word: str
) -> tuple[list[Template], list[Template], list[Atom]]:
    """The templates that are counted, those that are derived from counts later, and the levels of the back-offs."""
    counted = {t: None for preset in presets for t in preset.templates(word)}
    counted.update(dict.fromkeys(templates))
    derived = [t for preset in presets for t in preset.derived(word)]
    return [*counted], derived, [atom for preset in presets for atom in preset.atoms(word)]


def vocabulary_of(
    templates: Sequence[Template],
    presets: Sequence[BackoffPreset],
    word: str,
    learn: Callable[[list[Atom]], dict[str, Lexicon]],
) -> Vocabulary:
    """The empty vocabulary of templates and back-offs. ``learn`` returns the lexicons that some atoms need."""
    counted, derived, levels = counted_templates(templates, presets, word)
    known = lexicons_of(templates)  # the templates may already have the lexicons that the levels need
    known |= learn([atom for atom in levels if atom.with_lexicons(known).function.table is None])
    return Vocabulary.of([*counted, *derived], [atom.with_lexicons(known) for atom in levels])


class CountedCorpus:
    """Counts of (feature, label) pairs, for templates and the levels of back-offs, and of label pairs.

    Without ``held_out`` sentences, parts of the corpus are taken out of the counts and serve as held-out sentences:
    those of ``folds``, or else of `slices`. ``given`` says whether there were held-out sentences.
    """

    def __init__(
        self,
        counts: Counts,
        tokens: TokenStore,
        word: str | None,
        presets: tuple[BackoffPreset, ...] = (),
        seed: int = 0,
        *,
        held_out: Corpus | None = None,
        folds: list[NDArray[np.int64]] | None = None,
    ) -> None:
        self.counts, self.tokens, self.word, self.presets, self.seed = counts, tokens, word, presets, seed
        self.n_labels, self.given = len(counts.labels), held_out is not None
        if held_out is not None:
            self.held_out = [self._all_of(held_out)]
        else:
            self.held_out = self._folds(slices(tokens.offsets, seed) if folds is None else folds)

    def _all_of(self, corpus: Corpus) -> HeldOut:
        if corpus.n_tokens == 0:
            raise DataError("there are no held-out tokens to tune on; give some, or omit held_out")
        tokens, vocabulary = held_out_tokens(self.counts, corpus, self.word)
        return HeldOut(tokens, vocabulary, self.counts.table)

    def _folds(self, folds: list[NDArray[np.int64]]) -> list[HeldOut]:
        parts = [self._affordable(self.tokens.take(s), MOST_TUNING_COST / len(folds)) for s in folds]
        parts = [part for part in parts if len(part.offsets) > 1]
        return [HeldOut(part, self.counts.vocabulary, without(self.counts, part)) for part in parts]

    def _affordable(self, tokens: Tokens, most: float) -> Tokens:
        """The first sentences of a fold, as many as can be scored and decoded at a cost of at most ``most``."""
        if tokens.words is None:
            return tokens
        words = self.counts.of_template(0)
        seen = np.minimum(words.lengths[BOUNDARIES:], MOST_CANDIDATES)
        cost = np.cumsum(np.concatenate([[0], seen[tokens.words] ** 2 + self.n_labels]))
        return tokens.take(np.flatnonzero(cost[tokens.offsets[1:]] <= most))

    def tables(self, preset: BackoffPreset, vocabulary: Vocabulary, table: Table) -> BackoffTables:
        """The tables of a back-off, from a table of counts. The vocabulary may have strings that were not counted."""
        return backoff_tables(replace(self.counts, table=table), preset, self.word or "", vocabulary)

    def all_tables(self, preset: BackoffPreset) -> BackoffTables:
        """The tables of a back-off on all counts."""
        return self.tables(preset, self.counts.vocabulary, self.counts.table)

    def release_held_out(self) -> None:
        """Release the held-out sentences, after tuning."""
        self.held_out = []

    def described(self) -> dict[str, Any]:
        """The record's entries about what was counted."""
        return {}

    def held_out_tables(self, preset: BackoffPreset, held_out: HeldOut) -> BackoffTables:
        """The tables of a back-off without the held-out tokens."""
        return self.tables(preset, held_out.vocabulary, held_out.table)

    def sample(self, tokens: int) -> Tokens:
        """About this many tokens: whole sentences, in blocks spread over the corpus."""
        offsets = self.tokens.offsets
        sentences = len(offsets) - 1
        want = tokens / max(1, int(offsets[-1])) * sentences
        if want >= sentences:
            return self.tokens.take(np.arange(sentences))
        blocks = 50
        starts = (np.arange(blocks) + np.random.default_rng(self.seed + 1).random()) / blocks * sentences
        picks = (starts.astype(np.int64)[:, None] + np.arange(max(1, round(want / blocks)))) % sentences
        return self.tokens.take(distinct(picks))
