"""The features of one of Corate's presets as CRFsuite's items."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pycrfsuite

from corate.corpus import Corpus
from corate.counting.counts import label_ids
from corate.features import resolve
from corate.features.related_words import learn_lexicons
from corate.features.vocabulary import Vocabulary
from corate.training.choices import choose_preset
from corate.training.source import MemorySource


class PresetItems:
    """Attributes are named by template and number within it. Features that training has not seen are left out.

    Without a preset, it is the one that training chooses for the corpus.
    """

    def __init__(self, preset: str | None, *, bias: bool = False) -> None:
        self.preset, self.always = preset, ["bias"] * bias

    def fit(self, train: Corpus) -> list[Any]:
        """Number the features of a training corpus, and return its item sequences."""
        templates, _ = resolve(
            self.preset or choose_preset(MemorySource(train)), [column.name for column in train.columns]
        )
        learned = learn_lexicons(templates, train, *label_ids(train))
        self.vocabulary = Vocabulary.of([template for template in learned if template.atoms])
        return self.named(self.vocabulary.fit(train)[0], train)

    def transform(self, corpus: Corpus) -> list[Any]:
        """The item sequences of another corpus."""
        return self.named(self.vocabulary.transform(corpus)[0], corpus)

    def named(self, ids: Any, corpus: Corpus) -> list[Any]:
        """An item sequence for each sentence; `ids` has a row for each template and a column for each token."""
        rows = ids.T.tolist()
        named = [[*self.always, *(f"{t}:{value}" for t, value in enumerate(row) if value >= 0)] for row in rows]
        return [pycrfsuite.ItemSequence(named[begin:end]) for begin, end in pairwise(corpus.offsets.tolist())]
