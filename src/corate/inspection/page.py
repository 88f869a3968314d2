"""The page of a model: ``corate inspect``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from corate.arguments import check_whole
from corate.corpus import Corpus
from corate.display import count
from corate.display import size as file_size
from corate.errors import DataError
from corate.evaluation.calibration import GROUPS, calibration_chart, calibration_of_predictions
from corate.evaluation.errors import span_errors
from corate.evaluation.predictions import Predictions, predict
from corate.evaluation.report import Confusion, compare_labels
from corate.inspection.model_facts import description, feature_data, label_rates
from corate.inspection.text_data import label_names, text_data
from corate.model.tagger import Tagger
from corate.pages import charts
from corate.pages.colours import hues
from corate.pages.page import render
from corate.progress import OnProgress, ProgressEvent, ignore_progress
from corate.spans import are_spans

__all__ = ["inspect_page"]

#: A confusion matrix with more labels than this is cut to those with most errors.
_MATRIX_LABELS = 24
_MOST_CONFUSED = 20
_LABELS_LISTED = 60
_PAIRS = 10
#: A bin with fewer predictions is not drawn.
_FEW = 10
#: What most people want to know of a model; the rest of its record is shown on demand.
_MAIN = (
    *("method", "labels", "templates", "words", "sentences", "tokens"),
    *("features", "settings", "held_out", "temperature"),
)


def inspect_page(
    tagger: Tagger,
    corpus: Corpus | None = None,
    *,
    model: str = "",
    text: str = "",
    size: int | None = None,
    sentences: int = 5000,
    explained: int = 500,
    on_progress: OnProgress = ignore_progress,
) -> str:
    """A self-contained web page about a model, and about how it labels a corpus if there is one.

    If the corpus has labels, the page shows errors, the confusion matrix and the calibration, too. It needs no network
    and no other file.

    Args:
        tagger: the model.
        corpus: a text, with labels or without.
        model: the name of the model in the page, such as that of its file.
        text: the name of the text in the page.
        size: the size of the model file in bytes, if it is known.
        sentences: the page holds at most this many sentences, those with most doubt: 1 - P(best labelling). Scores
            are those of the whole corpus.
        explained: the tokens of this many sentences are explained, and all wrong tokens.
        on_progress: a function that receives the progress.

    >>> import corate
    >>> corpus = corate.Corpus.from_sentences([[("Ann", "B-PER"), ("sleeps", "O")]])
    >>> page = inspect_page(corate.train(corpus), corpus, model="names.corate")
    >>> page.startswith("<!DOCTYPE html>"), "<bdi>names.corate</bdi>" in page
    (True, True)
    """
    sentences, explained = check_whole("sentences", sentences, 1), check_whole("explained", explained, 0)
    if corpus is not None and not corpus.n_tokens:
        raise DataError("the text has no tokens; give some, or inspect the model alone")
    on_progress(ProgressEvent("reading the model"))
    data: dict[str, Any] = {"features": feature_data(tagger), "text": None}
    values: dict[str, Any] = {"report": None, "n_sentences": 0}
    if corpus is not None:
        found = predict(tagger, corpus, spans=corpus.labels is not None, progress=on_progress)
        if corpus.labels is not None:
            values |= _measured(tagger, corpus, found)
        data["text"] = text_data(
            tagger, corpus, found, sentences=sentences, explained=explained, on_progress=on_progress
        )
        values |= {"n_sentences": len(corpus), "n_tokens": corpus.n_tokens, "n_kept": min(sentences, len(corpus))}
    on_progress(ProgressEvent("writing the page"))
    facts, names = description(tagger), label_names(tagger, corpus)
    return render(
        "inspect.html",
        data=data,
        script="inspect.js",
        style="inspect.css",
        title=f"{model or tagger.method}: a model of Corate",
        model=model or repr(tagger),
        text=text,
        size=None if size is None else file_size(size),
        facts=[row for row in facts if row[0] in _MAIN],
        more_facts=[row for row in facts if row[0] not in _MAIN],
        labels=tagger.labels,
        most_labels=_LABELS_LISTED,
        hue=dict(zip(names, hues(names), strict=True)),
        explained=explained,
        **_rates(tagger),
        **values,
    )


def _rates(tagger: Tagger) -> dict[str, Any]:
    rates = label_rates(tagger)
    attract, avoid = tagger.rates(_PAIRS)
    return {
        "rates": rates,
        "heat_map": charts.heat_map("Which labels follow which", rates.rows, rates.columns, rates.logs),
        "pairs": {"attract": attract, "avoid": avoid},
    }


@dataclass(frozen=True, eq=False)
class _Matrix:
    """A confusion matrix as a table: labels with their ids in the page, and rows of (tokens, shade from 0 to 4)."""

    labels: list[tuple[int, str]]
    rows: list[list[tuple[int, int]]]
    n_labels: int


def _measured(tagger: Tagger, corpus: Corpus, found: Predictions) -> dict[str, Any]:
    """What a labelled corpus tells: scores, kinds of span errors, calibration and confusions."""
    report = compare_labels(corpus, found.labels, tagger.words if len(tagger.words) else None)
    groups = calibration_of_predictions(corpus, found, samples=200)
    errors = span_errors(corpus, found.labels) if are_spans(tagger.labels) else None
    place = {name: y for y, name in enumerate(label_names(tagger, corpus))}
    return {
        "report": report,
        "summary": report.scores(),
        "span_errors": [] if errors is None else [(title, count(number)) for title, number in errors.named()],
        "calibration": [(GROUPS[name], group) for name, group in groups.items()],
        "calibration_chart": calibration_chart(groups, _FEW),
        "few": _FEW,
        "matrix": _matrix(report.confusion, place),
        "confused": [(g, place[g], p, place[p], n) for g, p, n in report.confusion.most_confused(_MOST_CONFUSED)],
    }


def _matrix(confusion: Confusion, place: dict[str, int]) -> _Matrix:
    """The confusion matrix, of the labels with most errors if there are many, in the order of the page."""
    wrong = confusion.gold != confusion.predicted
    kept = confusion.most_wrong(_MATRIX_LABELS)
    order = sorted(range(len(kept.labels)), key=lambda i: place[kept.labels[i]])
    table = kept.matrix()[np.ix_(order, order)]
    most = max(int(confusion.counts[wrong].max(initial=1)), 1)
    rows = [
        [
            (tokens, 0 if i == j or not tokens else 1 + min(3, int(4 * np.sqrt(tokens / most))))
            for j, tokens in enumerate(row)
        ]
        for i, row in enumerate(table.tolist())
    ]
    labels = [(place[kept.labels[i]], kept.labels[i]) for i in order]
    return _Matrix(labels, rows, len(confusion.labels))
