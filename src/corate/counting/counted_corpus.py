"""A counted corpus, and the sentences that are held out of its counts. Every training method uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.counting.counts import Counts, Table, Tokens, label_ids
from corate.counting.held_out import first_slices, held_out_tokens, slices, take, without
from corate.counting.ladder import MOST_CANDIDATES, LadderPreset, LadderTables, ladder_tables
from corate.counting.stored_tokens import StoredTokens
from corate.errors import DataError
from corate.features.lexicons import Lexicon
from corate.features.related_words import learned_lexicons
from corate.features.templates import Atom, Template, WordFunction, lexicons_of
from corate.features.vocabulary import BOUNDARIES, Vocabulary
from corate.rows import distinct
from corate.types import Offsets

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
    templates: Sequence[Template], presets: Sequence[LadderPreset], word: str
) -> tuple[list[Template], list[Template], list[Atom]]:
    """The templates that are counted, those that are derived from counts later, and the rungs of the ladders."""
    counted = {t: None for preset in presets for t in preset.templates(word)}
    counted.update(dict.fromkeys(templates))
    derived = [t for preset in presets for t in preset.derived(word)]
    return [*counted], derived, [atom for preset in presets for atom in preset.atoms(word)]


def vocabulary_of(
    templates: Sequence[Template],
    presets: Sequence[LadderPreset],
    word: str,
    learn: Callable[[list[Atom]], dict[str, Lexicon]],
) -> Vocabulary:
    """The empty vocabulary of templates and ladders. ``learn`` returns the lexicons that some atoms need."""
    counted, derived, rungs = counted_templates(templates, presets, word)
    known = lexicons_of(templates)  # the templates may already have the lexicons that the rungs need
    known |= learn([atom for atom in rungs if atom.with_lexicons(known).function.table is None])
    return Vocabulary.of([*counted, *derived], [atom.with_lexicons(known) for atom in rungs])


class CountedCorpus:
    """Counts of (feature, label) pairs, for templates and the rungs of ladders, and of label pairs.

    Without ``held_out`` sentences, parts of the corpus are taken out of the counts and serve as held-out sentences.
    """

    stored: StoredTokens | None = None  # the tokens, if they are on disk; ``tokens`` has none then

    def __init__(
        self,
        corpus: Corpus,
        templates: Sequence[Template] = (),
        *,
        presets: tuple[LadderPreset, ...] = (),
        held_out: Corpus | None = None,
        seed: int = 0,
        unknown: str | None = None,
        threads: int = 1,
    ) -> None:
        if corpus.n_tokens == 0:
            raise DataError("there are no tokens to train on")
        if corpus.word is None and corpus.attributes is None:
            raise DataError("the data has labels but neither words nor features; give words or features")
        self.word = None if corpus.word is None else corpus.word.name
        if self.word is not None:
            Atom(WordFunction(), self.word, 0)  # raises an error for a name that no template can contain
        self.presets, self.seed = presets if self.word is not None else (), seed
        vocabulary = self._vocabulary(templates, corpus, unknown)
        self.counts, self.tokens = Counts.of(corpus, vocabulary, self.word, unknown, threads)
        self.n_labels = len(self.counts.labels)
        self.held_out = self._held_out(held_out)

    @classmethod
    def of_counts(
        cls, counts: Counts, sample: Tokens, word: str, presets: tuple[LadderPreset, ...] = (), seed: int = 0
    ) -> CountedCorpus:
        """A corpus that was counted elsewhere, with a sample of its sentences in random order.

        ``counts`` are those of the templates of `counted_templates`. The first sentences of the sample are held out.
        """
        found = cls.__new__(cls)
        found.word, found.presets, found.seed = word, presets, seed
        found.counts, found.tokens, found.n_labels = counts, sample, len(counts.labels)
        found.held_out = found._folds(first_slices(sample.offsets, counts.tokens, counts.sentences))
        return found

    @classmethod
    def of_stored(
        cls,
        counts: Counts,
        tokens: StoredTokens,
        word: str,
        *,
        presets: tuple[LadderPreset, ...] = (),
        held_out: Corpus | None = None,
        seed: int = 0,
    ) -> CountedCorpus:
        """A corpus that was counted elsewhere, whose tokens are on disk. It is the same as that of the corpus."""
        found = cls.__new__(cls)
        found.word, found.presets, found.seed = word, presets, seed
        found.counts, found.n_labels = counts, len(counts.labels)
        found.stored, found.tokens = tokens, tokens.take(np.zeros(0, np.int64))
        found.held_out = found._held_out(held_out)
        return found

    @property
    def offsets(self) -> Offsets:
        """The offsets of the sentences."""
        return self.tokens.offsets if self.stored is None else self.stored.offsets

    def take(self, sentences: NDArray[np.int64]) -> Tokens:
        """The tokens of some sentences."""
        return take(self.tokens, sentences) if self.stored is None else self.stored.take(sentences)

    def _vocabulary(self, templates: Sequence[Template], corpus: Corpus, unknown: str | None) -> Vocabulary:
        if self.word is None:
            return Vocabulary.of(templates)
        names = label_ids(corpus, unknown)
        return vocabulary_of(templates, self.presets, self.word, lambda atoms: learned_lexicons(atoms, corpus, *names))

    def _held_out(self, corpus: Corpus | None) -> list[HeldOut]:
        if corpus is not None:
            if corpus.n_tokens == 0:
                raise DataError("there are no held-out tokens to tune on; give some, or omit held_out")
            tokens, vocabulary = held_out_tokens(self.counts, corpus, self.word)
            return [HeldOut(tokens, vocabulary, self.counts.table)]
        return self._folds(slices(self.offsets, self.seed))

    def _folds(self, folds: list[NDArray[np.int64]]) -> list[HeldOut]:
        parts = [self._affordable(self.take(sentences), MOST_TUNING_COST / len(folds)) for sentences in folds]
        parts = [part for part in parts if len(part.offsets) > 1]
        return [HeldOut(part, self.counts.vocabulary, without(self.counts, part)) for part in parts]

    def _affordable(self, tokens: Tokens, most: float) -> Tokens:
        """The first sentences of a fold, as many as can be scored and decoded at a cost of at most ``most``."""
        if tokens.words is None:
            return tokens
        words = self.counts.of_template(0)
        seen = np.minimum(words.lengths[BOUNDARIES:], MOST_CANDIDATES)
        cost = np.cumsum(np.concatenate([[0], seen[tokens.words] ** 2 + self.n_labels]))
        return take(tokens, np.flatnonzero(cost[tokens.offsets[1:]] <= most))

    def tables(self, preset: LadderPreset, vocabulary: Vocabulary, table: Table) -> LadderTables:
        """The tables of a ladder, from a table of counts. The vocabulary may have strings that were not counted."""
        return ladder_tables(replace(self.counts, table=table), preset, self.word or "", vocabulary)

    def held_out_tables(self, preset: LadderPreset, held_out: HeldOut) -> LadderTables:
        """The tables of a ladder without the held-out tokens."""
        return self.tables(preset, held_out.vocabulary, held_out.table)

    def sample(self, tokens: int) -> Tokens:
        """About this many tokens: whole sentences, in blocks spread over the corpus."""
        offsets = self.offsets
        sentences = len(offsets) - 1
        want = tokens / max(1, int(offsets[-1])) * sentences
        if want >= sentences:
            return self.take(np.arange(sentences))
        blocks = 50
        starts = (np.arange(blocks) + np.random.default_rng(self.seed + 1).random()) / blocks * sentences
        picks = (starts.astype(np.int64)[:, None] + np.arange(max(1, round(want / blocks)))) % sentences
        return self.take(distinct(picks))
