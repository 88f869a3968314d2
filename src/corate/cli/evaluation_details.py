"""The parts of ``corate eval`` that look closer: calibration, sentences with errors, and unsure sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corate.cli.terminal import count, counted, escaped, is_terminal, percent, show_table

if TYPE_CHECKING:
    from corate import Tagger
    from corate.corpus import Corpus
    from corate.evaluation.calibration import Calibration
    from corate.evaluation.errors import LabelledSentence, SpanErrors
    from corate.evaluation.report import Report
    from corate.progress import OnProgress

__all__ = ["details", "drawing", "plain_details", "show_details"]

_WIDTH = 100
#: A confusion matrix with more labels than this is cut to those with most errors.
_DRAWN_LABELS = 40


def details(
    tagger: Tagger, corpus: Corpus, calibration: bool, errors: int, unsure: int, progress: OnProgress
) -> dict[str, Any]:
    """What was asked for, by the names that ``--json`` uses."""
    found: dict[str, Any] = {}
    if not (calibration or errors or unsure):
        return found
    from corate.evaluation.calibration import calibration_of_predictions
    from corate.evaluation.errors import least_sure, span_errors, wrong_sentences
    from corate.evaluation.predictions import predict
    from corate.spans import are_spans

    predicted = predict(
        tagger, corpus, spans=calibration, progress=lambda event: progress(replace(event, stage="probabilities"))
    )
    if calibration:
        found["calibration"] = calibration_of_predictions(corpus, predicted)
    if errors:
        if are_spans(tagger.labels):
            found["span_errors"] = span_errors(corpus, predicted.labels)
        found["errors"] = wrong_sentences(corpus, predicted, errors)
    if unsure:
        found["least_sure"] = least_sure(corpus, predicted, unsure)
    return found


def plain_details(found: Mapping[str, Any]) -> dict[str, Any]:
    """The details, ready for JSON."""
    plain: dict[str, Any] = {key: [s.to_dict() for s in found[key]] for key in ("errors", "least_sure") if key in found}
    if "calibration" in found:
        plain["calibration"] = {name: group.to_dict() for name, group in found["calibration"].items()}
    if "span_errors" in found:
        plain["span_errors"] = found["span_errors"].to_dict()
    return plain


def show_details(found: Mapping[str, Any]) -> None:
    """Print the details as text."""
    if "calibration" in found:
        _show_calibration(found["calibration"])
    if "span_errors" in found:
        _show_span_errors(found["span_errors"])
    for key, title in (("errors", "sentences with errors"), ("least_sure", "sentences with the least sure labels")):
        if key in found:
            print(f"\n{title} (* marks wrong labels)")
            for sentence in found[key]:
                print()
                print("\n".join(_lines(sentence)))
            if not found[key]:
                print("\nnone")


def drawing(report: Report, groups: dict[str, Calibration] | None, *, page: bool, title: str) -> str:
    """A picture of the confusion matrix or, with ``groups``, of the calibration; or a page with the scores and both."""
    from corate.evaluation.calibration import calibration_chart
    from corate.pages import charts
    from corate.pages.page import render

    pictures = []
    if groups is not None:
        pictures.append(calibration_chart(groups))
    if page or groups is None:
        kept = report.confusion.most_wrong(_DRAWN_LABELS)
        cut = len(kept.labels) < len(report.confusion.labels)
        drawn = f"Confusion matrix{f' of the {_DRAWN_LABELS} labels with most errors' * cut}"
        pictures.append(charts.confusion(drawn, kept.labels, kept.matrix()))
    if not page:
        return charts.standalone(pictures[0])
    return render(
        "evaluation.html",
        title=f"{title}: evaluation",
        summary=f"{counted(report.tokens, 'token')} in {counted(report.sentences, 'sentence')}",
        pictures=pictures,
        rows=report.scores(),
    )


def _show_calibration(groups: dict[str, Calibration]) -> None:
    from corate.evaluation.calibration import GROUPS

    header = ["calibration", "predictions", "confidence", "accuracy", "error", "95% interval"]
    rows = [
        [
            GROUPS[name],
            count(group.count),
            percent(group.confidence),
            percent(group.accuracy),
            percent(group.error),
            f"{percent(group.low)} to {percent(group.high)}",
        ]
        for name, group in groups.items()
    ]
    print()
    show_table(rows, header)
    for name, group in groups.items():
        print()
        cells = [
            [f"{b.low:.1f} to {b.high:.1f}", count(b.count), percent(b.confidence), percent(b.accuracy)]
            for b in group.bins
        ]
        show_table(cells, ["probability", "predictions", "confidence", "accuracy"], title=GROUPS[name])


def _show_span_errors(errors: SpanErrors) -> None:
    print()
    show_table([[title, count(number)] for title, number in errors.named()], ["spans", "number"])


def _lines(sentence: LabelledSentence) -> list[str]:
    """A sentence with its gold and predicted labels below the tokens, in lines of limited width."""
    from rich.text import Text

    wrong = (
        f"{count(sentence.errors)} of {counted(len(sentence.tokens), 'label')} wrong" if sentence.errors else "no error"
    )
    lines = [f"sentence {count(sentence.sentence + 1)}: {wrong}, probability {percent(sentence.probability)}"]
    names = ("token", "gold", "predicted")
    margin = max(map(len, names)) + 4
    block: list[Sequence[str]] = []
    used = margin
    for token, gold, predicted in zip(sentence.tokens, sentence.gold, sentence.predicted, strict=True):
        column = [_safe(cell) for cell in ("*" * (gold not in (None, predicted)) + token, gold or "-", predicted)]
        width = max(Text(cell).cell_len for cell in column)
        if block and used + width > _WIDTH:
            lines += [*_block(names, margin, block), ""]
            block, used = [], margin
        block.append([cell + " " * (width - Text(cell).cell_len) for cell in column])
        used += width + 2
    return [*lines, *_block(names, margin, block)]


def _safe(text: str) -> str:
    """Text for one line; safe to print if the output is a terminal."""
    line = re.sub(r"\s", " ", text)
    return escaped(line) if is_terminal() else line


def _block(names: Sequence[str], margin: int, columns: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"  {name:{margin - 2}}{'  '.join(column[i] for column in columns)}".rstrip() for i, name in enumerate(names)
    ]
