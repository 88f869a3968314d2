"""A corpus that is counted once, and the sentences that are held out of its counts. Every method stands on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.counting.counts import Counts, Table, Tokens, label_ids
from corate.counting.held_out import held_out_tokens, slices, take, without
from corate.counting.ladder import MOST_CANDIDATES, LadderPreset, LadderTables, ladder_tables
from corate.errors import DataError
from corate.features.related_words import learned_lexicons
from corate.features.templates import Atom, Template, WordFunction, lexicons_of
from corate.features.vocabulary import BOUNDARIES, Vocabulary

__all__ = ["CountedCorpus", "HeldOut"]

#: What tuning may look at in the folds, pairs of labels that a word was seen with, and for every token all labels: more
#: than there is with 40 labels for each word and 900 in all.
MOST_LOOKS = 30_000_000


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Tokens that the table does not count, with the vocabulary that numbers their strings."""

    tokens: Tokens
    vocabulary: Vocabulary
    table: Table


class CountedCorpus:
    """Counts of the features that templates and the rungs of ladders look at, with each label, and of label pairs.

    Without ``held_out`` sentences, parts of the corpus are taken out of the counts to be looked at.
    """

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
            raise DataError("the data has labels and nothing to tell them from; give words or features")
        self.word = None if corpus.word is None else corpus.word.name
        if self.word is not None:
            Atom(WordFunction(), self.word, 0)  # refuses a name that no template could hold
        self.presets, self.seed = presets if self.word is not None else (), seed
        vocabulary = self._vocabulary(templates, corpus, unknown)
        self.counts, self.tokens = Counts.of(corpus, vocabulary, self.word, unknown, threads)
        self.n_labels = len(self.counts.labels)
        self.held_out = self._held_out(held_out)

    def _vocabulary(self, templates: Sequence[Template], corpus: Corpus, unknown: str | None) -> Vocabulary:
        if self.word is None:
            return Vocabulary.of(templates)
        counted = {t: None for preset in self.presets for t in preset.templates(self.word)}
        counted.update(dict.fromkeys(templates))
        derived = [t for preset in self.presets for t in preset.derived(self.word)]
        rungs = [atom for preset in self.presets for atom in preset.atoms(self.word)]
        known = lexicons_of(templates)  # perhaps they have learned what the rungs need
        learning = [atom for atom in rungs if atom.with_lexicons(known).function.table is None]
        known |= learned_lexicons(learning, corpus, *label_ids(corpus, unknown))
        return Vocabulary.of([*counted, *derived], [atom.with_lexicons(known) for atom in rungs])

    def _held_out(self, corpus: Corpus | None) -> list[HeldOut]:
        if corpus is not None:
            if corpus.n_tokens == 0:
                raise DataError("there are no held-out tokens to tune on; give some, or leave held_out away")
            tokens, vocabulary = held_out_tokens(self.counts, corpus, self.word)
            return [HeldOut(tokens, vocabulary, self.counts.table)]
        folds = slices(self.tokens.offsets, self.seed)
        kept = [self._affordable(sentences, MOST_LOOKS / len(folds)) for sentences in folds]
        parts = [take(self.tokens, sentences) for sentences in kept if len(sentences)]
        return [HeldOut(part, self.counts.vocabulary, without(self.counts, part)) for part in parts]

    def _affordable(self, sentences: NDArray[np.int64], most: float) -> NDArray[np.int64]:
        """The first sentences of a fold, as far as scoring and decoding them does not look at more than ``most``."""
        if self.tokens.words is None:
            return sentences
        words = self.counts.of_template(0)
        seen = np.minimum(np.diff(words.offsets)[BOUNDARIES:], MOST_CANDIDATES)
        looks = np.concatenate([[0], np.cumsum(seen[self.tokens.words] ** 2 + self.n_labels)])
        spent = np.cumsum(looks[self.tokens.offsets[sentences + 1]] - looks[self.tokens.offsets[sentences]])
        return sentences[spent <= most]

    def tables(self, preset: LadderPreset, vocabulary: Vocabulary, table: Table) -> LadderTables:
        """What a ladder reads of a table of counts; the vocabulary may have grown by strings that were not counted."""
        return ladder_tables(replace(self.counts, table=table), preset, self.word or "", vocabulary)

    def sample(self, tokens: int) -> Tokens:
        """Whole sentences in blocks spread over the corpus, about so many tokens."""
        sentences = len(self.tokens.offsets) - 1
        want = tokens / max(1, int(self.tokens.offsets[-1])) * sentences
        if want >= sentences:
            return self.tokens
        blocks = 50
        starts = (np.arange(blocks) + np.random.default_rng(self.seed + 1).random()) / blocks * sentences
        picks = (starts.astype(np.int64)[:, None] + np.arange(max(1, round(want / blocks)))) % sentences
        return take(self.tokens, np.unique(picks))
