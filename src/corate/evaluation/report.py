"""Evaluation of predicted labels: token accuracy (all, known, OOV words), entity precision, recall and F1, confusions.

    accuracy = correct tokens / tokens    precision = correct entities / predicted entities
    F1 = 2 P R / (P + R)                  recall    = correct entities / gold entities

An entity is correct if its type and both its ends are. Entities are the chunks that the conlleval script of the CoNLL
shared tasks counts, in all schemes of `corate.spans`. Ill-formed sequences are accepted: see `corate.spans.SpanLabels`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus, StringTable, check_corpus
from corate.display import counted, percent
from corate.errors import DataError
from corate.evaluation.tally import Confusion, Tally, common_ids, matched_entities
from corate.model.tagger import Tagger
from corate.pages.tables import Table, tables_html

if TYPE_CHECKING:
    from rich.console import Group

__all__ = [
    "Confusion",
    "Report",
    "Score",
    "common_ids",
    "compare_labels",
    "evaluate",
    "matched_entities",
    "report_of",
]

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1 of the entities of one type, with the numbers of gold and predicted entities."""

    precision: float
    recall: float
    f1: float
    support: int
    predicted: int

    @classmethod
    def of(cls, right: int, support: int, predicted: int) -> Score:
        """The score from counts; a ratio with a denominator of 0 is 0, as in conlleval.

        >>> Score.of(right=1, support=2, predicted=1)
        Score(precision=1.0, recall=0.5, f1=0.6666666666666666, support=2, predicted=1)
        """
        both = support + predicted
        return cls(
            right / predicted if predicted else 0.0,
            right / support if support else 0.0,
            2 * right / both if both else 0.0,
            support,
            predicted,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The result of `evaluate`. Scores are fractions from 0 to 1; None if there is nothing to measure.

    Attributes:
        tokens: the number of tokens.
        sentences: the number of sentences.
        accuracy: the fraction of tokens with the correct label.
        sentence_accuracy: the fraction of sentences without an error.
        accuracy_known: the accuracy on tokens whose word is among the known words.
        accuracy_oov: the accuracy on tokens whose word is not among the known words (out of vocabulary).
        tokens_oov: the number of these tokens.
        precision: the fraction of predicted entities that are correct; None if the labels do not mark spans.
        recall: the fraction of entities in the corpus that were predicted; None if the labels do not mark spans.
        f1: the harmonic mean of precision and recall; None if the labels do not mark spans.
        types: a mapping from each type of entity to its ``precision``, ``recall``, ``f1``, ``support`` (the number in
            the corpus) and ``predicted`` (the number of predictions). For graphs whose labels mark no spans, the same
            for each label.
        confusion: the confusion matrix. ``confusion.most_confused(n)`` lists the ``n`` most frequent errors as (correct
            label, predicted label, number of tokens).
        units: what tokens and sentences are called: ``("graph", "node")`` for graphs.

    >>> gold = Corpus.from_sentences([[("Ann", "B-PER"), ("sleeps", "O"), ("in", "O"), ("Delft", "B-LOC")]])
    >>> report = evaluate([["B-PER", "O", "O", "O"]], gold)
    >>> report.accuracy, report.precision, report.recall, sorted(report.types)
    (0.75, 1.0, 0.5, ['LOC', 'PER'])
    """

    tokens: int
    sentences: int
    accuracy: float
    sentence_accuracy: float
    accuracy_known: float | None = None
    accuracy_oov: float | None = None
    tokens_oov: int | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    types: Mapping[str, Score] = field(default_factory=dict)
    confusion: Confusion = field(kw_only=True)
    units: tuple[str, str] = field(default=("sentence", "token"), kw_only=True)

    def to_dict(self, *, confused: int = 20) -> dict[str, Any]:
        """All numbers as a dict for JSON, with the ``confused`` most frequent errors."""
        scores = {name: value for name, value in vars(self).items() if name not in ("types", "confusion", "units")}
        types = {name: vars(score).copy() for name, score in self.types.items()}
        errors = [
            {"gold": gold, "predicted": predicted, "tokens": tokens}
            for gold, predicted, tokens in self.confusion.most_confused(confused)
        ]
        return {**scores, "types": types, "most_confused": errors}

    def __repr__(self) -> str:
        parts = ", ".join(map(" ".join, self.scores()))
        many, one = self.units
        return f"Report({parts}; {counted(self.tokens, one)}, {counted(self.sentences, many)})"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def __rich__(self) -> Group:
        return self.table()

    def _repr_html_(self) -> str:
        return tables_html(self.tables())

    def table(self) -> Group:
        """The report as tables of the package rich: the summary, the types of entities and the most frequent errors."""
        from rich.console import Group

        return Group(*self.tables())

    def tables(self) -> list[Table]:
        """The summary, the types of entities and the most frequent errors, without those that are empty."""
        types = [
            (name, percent(s.precision), percent(s.recall), percent(s.f1), str(s.support), str(s.predicted))
            for name, s in self.types.items()
        ]
        errors = [(gold, predicted, str(tokens)) for gold, predicted, tokens in self.confusion.most_confused(5)]
        many, one = (f"{unit}s" for unit in self.units)
        sizes = [(one, str(self.tokens)), (many, str(self.sentences))]
        spans = self.precision is not None or one == "tokens"
        headings = _TYPE_HEADINGS if spans else ("label", "precision", "recall", "F1", one, "predicted")
        tables = [Table([*self.scores(), *sizes]), Table(types, headings), Table(errors, ("gold", "predicted", one))]
        return [table for table in tables if table.rows]

    def scores(self) -> list[tuple[str, str]]:
        """The names of the scores and their values in percent, without those that are None."""
        values = {
            "accuracy": self.accuracy,
            "known words": self.accuracy_known,
            "OOV words": self.accuracy_oov,
            f"whole {self.units[0]}s": self.sentence_accuracy,
            "precision": self.precision,
            "recall": self.recall,
            "F1": self.f1,
        }
        return [(name, percent(value)) for name, value in values.items() if value is not None]


def evaluate(
    predicted: Tagger | Sequence[Sequence[str]] | Column,
    corpus: Corpus,
    *,
    known_words: Collection[str] | StringTable | None = None,
    threads: int = 1,
) -> Report:
    """Evaluate a tagger, or the labels that another program predicted, on a labelled corpus.

    The report has the accuracy on all words, on known words and on unknown words. If the labels mark spans, it also has
    precision, recall and F1.

    Args:
        predicted: a tagger, which labels the corpus; or predicted labels: a list for each sentence, or a column from
            :meth:`corate.Tagger.tag_corpus`.
        corpus: sentences with their correct labels. Tokens whose label is unknown (None) are left out.
        known_words: the words of the training data. By default, the words of the tagger. For predicted labels,
            there is no accuracy on known and unknown words without this argument.
        threads: the number of threads for tagging.

    Raises DataError if the corpus has no labels or no tokens, or if the numbers of tokens and predicted labels differ.

    >>> from corate import train
    >>> corpus = Corpus.from_sentences([[("Ann", "NAME"), ("sleeps", "VERB")], [("Bob", "NAME"), ("sings", "VERB")]])
    >>> evaluate(train(corpus), corpus).accuracy
    1.0
    >>> evaluate([["NAME", "VERB"], ["VERB", "VERB"]], corpus).accuracy
    0.75
    """
    check_corpus(corpus)
    if isinstance(predicted, Tagger):
        if known_words is None and len(predicted.words):
            known_words = predicted.words
        predicted = predicted.tag_corpus(corpus, threads=threads)
    return compare_labels(corpus, predicted, known_words)


def compare_labels(
    gold: Corpus,
    predicted: Sequence[Sequence[str]] | Column,
    known_words: Collection[str] | StringTable | None = None,
) -> Report:
    """Compare predicted labels with the gold labels of a corpus.

    ``predicted`` is a list of labels per sentence, or one `Column` of label ids for all tokens. Labels that only one
    side has count as wrong. ``known_words`` are the words of the training data, for the accuracy on known and unknown
    words. Entities are counted if the gold labels mark spans (`corate.spans.are_spans`). Then a predicted label of
    another form is not part of an entity.

    Raises DataError if there are no labels, no tokens, or if the numbers of labels and tokens differ.

    >>> gold = Corpus.from_sentences([[("Ann", "B-PER"), ("Lee", "I-PER"), ("left", "O")], [("Rome", "B-LOC")]])
    >>> compare_labels(gold, [["B-PER", "I-PER", "O"], ["B-PER"]], known_words={"Ann", "left"})
    Report(accuracy 75.00%, known words 100.00%, OOV words 50.00%, whole sentences 50.00%, precision 50.00%,
    recall 50.00%, F1 50.00%; 4 tokens, 2 sentences)
    """
    gold.require_labels()
    if not gold.n_tokens:
        raise DataError("the data has no tokens; give some to evaluate on")
    guess = predicted if isinstance(predicted, Column) else _column(predicted, gold.offsets)
    _check_column(guess, gold.n_tokens)
    report = report_of(Tally.of(gold, guess, known_words))
    if gold.edges is None:
        return report
    types = report.types if report.precision is not None else _by_label(report.confusion)
    return replace(report, units=("graph", "node"), types=types)


def report_of(tally: Tally) -> Report:
    """The report of what was counted. Raises DataError if there are no tokens with a known label."""
    if not tally.tokens:
        raise DataError("the data has no tokens with a known label; give some to evaluate on")
    total, types = None, dict[str, Score]()
    if tally.has_spans():
        types = {name: Score.of(*counts) for name, counts in sorted(tally.entities.items())}
        total = Score.of(*(sum(counts) for counts in zip(*tally.entities.values(), strict=True))) if types else None
        total = total or Score.of(0, 0, 0)
    known = tally.known
    return Report(
        tokens=tally.tokens,
        sentences=tally.sentences,
        accuracy=tally.correct / tally.tokens,
        sentence_accuracy=tally.correct_sentences / tally.sentences,
        accuracy_known=None if known is None or not known.tokens else known.correct / known.tokens,
        accuracy_oov=None if known is None or not known.oov else known.correct_oov / known.oov,
        tokens_oov=None if known is None else known.oov,
        precision=None if total is None else total.precision,
        recall=None if total is None else total.recall,
        f1=None if total is None else total.f1,
        types=types,
        confusion=tally.confusion,
    )


def _by_label(confusion: Confusion) -> dict[str, Score]:
    """The scores of each label that nodes have, or were given."""
    gold, predicted = (
        np.bincount(ids, confusion.counts, len(confusion.labels)).astype(np.int64)
        for ids in (confusion.gold, confusion.predicted)
    )
    right = np.diagonal(confusion.matrix())
    scores = zip(confusion.labels, right.tolist(), gold.tolist(), predicted.tolist(), strict=True)
    return {label: Score.of(*counts) for label, *counts in scores if any(counts)}


# -- the parts of a report -------------------------------------------------------------------------------------------


def _column(predicted: Sequence[Sequence[str]], offsets: Int64) -> Column:
    if any(isinstance(labels, str) for labels in predicted):
        raise DataError("the predicted labels must be a list of labels for each sentence, not one string")
    have = np.fromiter(map(len, predicted), dtype=np.int64, count=len(predicted))
    want = np.diff(offsets)
    if len(have) != len(want):
        raise DataError(f"{counted(len(want), 'sentence')} but predicted labels for {len(have)}")
    for s in np.flatnonzero(have != want)[:1].tolist():
        raise DataError(f"{counted(want[s], 'token')} but {counted(have[s], 'predicted label')}", sentence=s)
    return Column.of("label", itertools.chain.from_iterable(predicted))


def _check_column(column: Column, n: int) -> None:
    if len(column.ids) != n:
        raise DataError(f"{counted(n, 'token')} but {counted(len(column.ids), 'predicted label')}")
    if column.ids.min() < 0 or column.ids.max() >= len(column.strings):
        raise DataError(f"the ids of the predicted labels must lie between 0 and {len(column.strings) - 1}")


# -- display ---------------------------------------------------------------------------------------------------------

_TYPE_HEADINGS = ("type", "precision", "recall", "F1", "entities", "predicted")
