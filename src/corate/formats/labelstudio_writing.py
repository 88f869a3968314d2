"""Writing of Label Studio's JSON: tasks with their texts, and the spans of labels as predictions or annotations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from corate.corpus import Column, Corpus
from corate.corpus.texts import Texts
from corate.corpus.tokenizer import Token
from corate.display import counted
from corate.errors import Argument, DataError
from corate.spans import Span, are_spans, spans

__all__ = ["write"]

#: The names of the tags in Label Studio's template for named entities.
_NAMES = {"from_name": "label", "to_name": "text"}
_KEPT = ("id", "meta")


def write(
    corpus: Corpus,
    labels: Column | None,
    *,
    predicted: bool = True,
    scores: Sequence[Sequence[float]] | None = None,
) -> str:
    """The tasks of a corpus: a list with a task on each line; sentences without tokens are omitted.

    Spans are predictions, with their ``scores``, or annotations. A corpus that was read from Label Studio keeps the
    data of its tasks. The text of other corpora is their words with spaces between, if the raw text is not known.

    >>> corpus = Corpus.from_sentences([[("Ann", "B-PER"), ("sings", "O")]])
    >>> print(write(corpus, corpus.labels, scores=[[0.9]]), end="")
    [
    {"data": {"text": "Ann sings"}, "predictions": [{"model_version": "corate", "score": 0.9, "result": [...]}]}
    ]
    """
    if labels is not None and not are_spans({"O", *_used(labels)}, strict=False) and set(_used(labels)) - {"O"}:
        raise DataError(
            f"the labels ({', '.join(_used(labels)[:4])}, ...) mark no spans, and Label Studio has spans; use the "
            "format 'jsonl', which can represent any label"
        )
    texts = corpus.texts if corpus.texts is not None else _joined_words(corpus)
    if scores is not None and len(scores) != len(corpus):
        raise DataError(f"{counted(len(corpus), 'sentence')} to write, but scores for {len(scores)}")
    tasks = []
    for s, (first, last) in enumerate(pairwise(corpus.offsets.tolist())):
        if first == last:
            continue
        task = _task(texts.texts[s], texts.records[s])
        if labels is not None:
            found = spans(labels.values(first, last))
            own = None if scores is None else list(scores[s])
            if own is not None and len(own) != len(found):
                raise DataError(f"{counted(len(found), 'span')}, but {counted(len(own), 'score')}", sentence=s)
            results = _results(texts, s, slice(first, last), found, own)
            if predicted:
                score = {} if not own else {"score": round(min(own), 6)}
                task["predictions"] = [{"model_version": "corate", **score, "result": results}]
            else:
                task["annotations"] = [{"result": results}]
        tasks.append(json.dumps(task, ensure_ascii=False))
    return "[\n" + ",\n".join(tasks) + "\n]\n"


def _used(labels: Column) -> list[str]:
    strings = labels.strings.to_list()
    return [strings[i] for i in np.unique(labels.ids).tolist()]


def _joined_words(corpus: Corpus) -> Texts:
    """Texts with a space between words."""
    if corpus.word is None:
        raise DataError(
            "the corpus has no words to write",
            f"write ready-made features with {Argument('format', 'items', of_output=True)}",
        )
    texts, tokens = [], []
    for s in range(len(corpus)):
        words = corpus.tokens(s)
        starts = [0, *accumulate(len(word) + 1 for word in words)]
        texts.append(" ".join(words))
        tokens.append([Token(word, start, start + len(word)) for word, start in zip(words, starts, strict=False)])
    return Texts.of(texts, tokens)


def _task(text: str, record: Mapping[str, Any]) -> dict[str, Any]:
    task = record.get("task")
    if task is None:
        return {"data": {"text": text}}
    return {**{key: task[key] for key in _KEPT if key in task}, "data": task["data"]}


def _results(
    texts: Texts, sentence: int, tokens: slice, found: list[Span], scores: list[float] | None
) -> list[dict[str, Any]]:
    """The spans of a sentence as Label Studio has them."""
    text, record = texts.texts[sentence], texts.records[sentence]
    starts, stops = texts.starts[tokens].tolist(), texts.stops[tokens].tolist()
    names = {key: record.get(key, name) for key, name in _NAMES.items()}
    results = []
    for i, span in enumerate(found):
        if not span.type:
            raise DataError("the labels have no types, as in B-PER, and spans of Label Studio have a label; add types")
        start, stop = starts[span.start], stops[span.stop - 1]
        extra = (_extra_units(text[:start]), _extra_units(text[:stop])) if record.get("utf16") else (0, 0)
        result: dict[str, Any] = {"id": f"corate-{i}", **names, "type": "labels"}
        if scores is not None:
            result["score"] = round(float(scores[i]), 6)
        places = {"start": start + extra[0], "end": stop + extra[1], "text": text[start:stop]}
        results.append({**result, "value": {**places, "labels": [span.type]}})
    return results


def _extra_units(text: str) -> int:
    """How many more UTF-16 code units than characters a text has."""
    return sum(char > "\uffff" for char in text)
