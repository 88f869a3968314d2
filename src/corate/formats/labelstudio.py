"""Label Studio's JSON: a list of tasks, each a text with spans of characters in annotations or predictions.

A text is split into tokens, and is one sentence. Spans become IOB2 labels. Label Studio counts characters in code
points; versions of 2021 and before counted UTF-16 code units, as JavaScript does. The text of a span tells which.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from corate.corpus import Column, Corpus
from corate.corpus.texts import Texts
from corate.corpus.tokenizer import Token, iterate_tokens, place_tokens
from corate.display import counted
from corate.errors import Argument, DataError, placed
from corate.formats.format import Format, Head, Options, Writing
from corate.formats.reading import warn_skipped, word_of
from corate.formats.sentence_limit import check_tokens
from corate.formats.writing import words_to_write
from corate.spans import Span, are_spans, written
from corate.spans import spans as find_spans

__all__ = ["LABELSTUDIO", "read", "write"]

#: Spans of these kinds are not offsets in plain text.
_OTHER_SPANS = ("hypertextlabels", "paragraphlabels", "timeserieslabels")
#: The names of the tags in Label Studio's template for named entities.
_TAGS = {"from_name": "label", "to_name": "text"}
_KEPT = ("id", "meta")
_REMEDY = f"correct it in Label Studio, or leave such spans out with {Argument('skip_bad', True)}"


class _Span(NamedTuple):
    """Characters ``start`` to ``stop`` of a text, in code points, with a label."""

    start: int
    stop: int
    label: str


class _SpanError(DataError):
    """A span cannot be used. With ``skip_bad`` it is left out."""


@dataclass
class _Skipped:
    """What was left out: the number, and the task of the first one. ``task`` is the one that is read."""

    allowed: bool
    task: Any = None
    count: int = 0
    first: Any = None

    @contextmanager
    def unless(self, error: type[DataError]) -> Iterator[None]:
        """Count the body as left out, if that is allowed, if it raises such an error."""
        try:
            yield
        except error:
            if not self.allowed:
                raise
            self.first = self.first if self.count else self.task
            self.count += 1


def read(data: bytes, name: str, options: Options) -> Corpus:
    """Read UTF-8 bytes; ``name`` is their name in messages.

    >>> span = b'{"type": "labels", "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}}'
    >>> tasks = b'[{"id": 1, "data": {"text": "Ann sings."}, "annotations": [{"result": [' + span + b']}]}]'
    >>> corpus = read(tasks, "export.json", Options())
    >>> corpus.tokens(0), corpus.labels_of(0), corpus.texts.stops.tolist()
    (['Ann', 'sings', '.'], ['B-PER', 'O', 'O'], [3, 9, 10])
    """
    texts, tokens, labels, records = list[str](), list[list[Token]](), list[list[str]](), list[dict[str, Any]]()
    skipped = _Skipped(options.skip_bad)
    split = options.tokenize or iterate_tokens
    for number, task in enumerate(_tasks(data, name)):
        skipped.task = task.get("id", number) if isinstance(task, dict) else number
        with placed(file=name, task=skipped.task), skipped.unless(DataError):
            text, member = _text(task, options)
            found = place_tokens(text, lambda text: islice(split(text), options.max_sentence + 1))
            check_tokens(len(found), options.max_sentence)
            results = _results(task) if options.labelled else []
            if not found or results is None:
                continue
            utf16 = _counts_utf16(text, results)
            spans = _spans(text, results, _places_of(text, utf16=utf16), skipped)
            labels.append(_labels(text, found, spans, options.widen_spans, skipped))
            texts.append(text)
            tokens.append(found)
            records.append({"task": task, "member": member, "utf16": utf16, **_names(task)})
    if not texts:
        raise _nothing(name, skipped, options)
    warn_skipped(name, skipped.count, skipped.first, "record", "task")
    named = next((_control(record) for record in records if "from_name" in record), {})
    column = word_of(options.layout)
    corpus = Corpus.from_sentences(
        [[token.text for token in own] for own in tokens], labels if options.labelled else None, columns=[column]
    )
    return replace(corpus, layout=(), texts=Texts.of(texts, tokens, [{**named, **record} for record in records]))


def _tasks(data: bytes, name: str) -> list[Any]:
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON ({error.msg})", "export the project as JSON", file=name, line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not usable JSON ({error})", file=name) from None
    value = [value] if isinstance(value, dict) else value
    if not isinstance(value, list):
        raise DataError(f"a list of tasks is needed, not {data[:40].decode(errors='replace')!r}", file=name)
    return value


def _nothing(name: str, skipped: _Skipped, options: Options) -> DataError:
    if skipped.count:
        return DataError("no valid task", file=name, task=skipped.first)
    what = "has an annotation" if options.labelled else "has a text"
    return DataError(f"no task {what}", "label some tasks in Label Studio, and export the project as JSON", file=name)


def _text(task: Any, options: Options) -> tuple[str, str]:
    """The text of a task, and its member of ``data``."""
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        raise DataError("the task has no member 'data'; export the project as JSON, not as JSON-MIN")
    if options.columns is not None and len(options.columns) != 1:
        raise DataError(
            f"{Argument('columns')} must name one member of 'data', the text, not {', '.join(options.columns)}"
        )
    texts = [member for member, value in data.items() if isinstance(value, str)]
    member = options.columns[0] if options.columns else "text"
    if not options.columns and member not in texts and len(texts) == 1:
        member = texts[0]
    if member not in texts:
        raise DataError(
            f"there is no text {member!r} in 'data' ({', '.join(data)})", f"name the text with {Argument('columns')}"
        )
    text = str(data[member])
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise DataError(f"the text {member!r} contains half of a surrogate pair; correct it")
    return text, member


def _results(task: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The spans of a task as they are in JSON; None if it is not annotated."""
    given = task.get("annotations", task.get("completions")) or []
    usable = _dicts(given, "result")
    if not isinstance(given, list) or len(usable) < len(given):
        raise DataError("the annotations have no results; export the project as JSON, with annotations")
    usable = [own for own in usable if not own.get("was_cancelled")]
    usable = [own for own in usable if own.get("ground_truth")] or usable
    found = [[item for item in own["result"] if _is_span(item)] for own in usable]
    if any(_places(own) != _places(found[0]) for own in found[1:]):
        raise DataError(
            f"{len(found)} annotations differ",
            "mark one of them as ground truth in Label Studio, or leave such tasks out with "
            f"{Argument('skip_bad', True)}",
        )
    return found[0] if found else None


def _is_span(item: Any) -> bool:
    """Whether a result is a span of text. Raises DataError for spans that are not of plain text."""
    kind = item.get("type") if isinstance(item, dict) else None
    if kind in _OTHER_SPANS:
        raise DataError(f"spans of the type {kind!r} are not offsets in plain text; label with the tag Text instead")
    return kind == "labels"


def _places(results: list[dict[str, Any]]) -> list[str]:
    values = [item.get("value") for item in results]
    return sorted(
        json.dumps([value.get("start"), value.get("end"), value.get("labels")])
        for value in values
        if isinstance(value, dict)
    )


def _names(task: dict[str, Any]) -> dict[str, str]:
    """The names of the tags in the project's configuration, as its results have them."""
    for own in [*_dicts(task.get("annotations"), "result"), *_dicts(task.get("predictions"), "result")]:
        for item in own["result"]:
            if isinstance(item, dict) and item.get("type") == "labels":
                return {key: str(item[key]) for key in ("from_name", "to_name") if key in item}
    return {}


def _dicts(values: Any, member: str) -> list[dict[str, Any]]:
    """Those of the values, if they are a list, that are objects with a list of this name."""
    given = values if isinstance(values, list) else []
    return [own for own in given if isinstance(own, dict) and isinstance(own.get(member), list)]


def _control(record: Mapping[str, Any]) -> dict[str, str]:
    return {key: record[key] for key in ("from_name", "to_name") if key in record}


# -- characters ------------------------------------------------------------------------------------------------------


def _places_of(text: str, *, utf16: bool) -> Sequence[int]:
    """The offset of each character and of the end, in code points or in UTF-16 code units.

    >>> [*_places_of("a😀b", utf16=False)], _places_of("a😀b", utf16=True)
    ([0, 1, 2, 3], [0, 1, 3, 4])
    """
    return [0, *accumulate(1 + (char > "\uffff") for char in text)] if utf16 else range(len(text) + 1)


def _counts_utf16(text: str, results: list[dict[str, Any]]) -> bool:
    """Whether offsets are in UTF-16 code units: the texts of the spans fit those, and do not fit code points."""
    if not text or max(text) <= "\uffff":
        return False
    values = [value for item in results if isinstance(value := item.get("value"), dict) and value.get("text")]

    def fit(places: Sequence[int]) -> int:
        found = [_between(places, value.get("start"), value.get("end")) for value in values]
        pairs = [(text[slice(*own)], v["text"]) for own, v in zip(found, values, strict=True) if own is not None]
        return sum((own == shown) + _same(own, shown) for own, shown in pairs)

    return fit(_places_of(text, utf16=True)) > fit(_places_of(text, utf16=False))


def _between(places: Sequence[int], start: Any, stop: Any) -> tuple[int, int] | None:
    """The characters between two offsets; None if there are no such offsets among the places of the characters."""
    if type(start) is not int or type(stop) is not int or not 0 <= start <= stop <= places[-1]:
        return None
    found = bisect_left(places, start), bisect_left(places, stop)
    return found if (places[found[0]], places[found[1]]) == (start, stop) else None


def _same(text: str, shown: Any) -> bool:
    """Whether the text of a span is the one that Label Studio shows, which may have other line ends."""
    return isinstance(shown, str) and text.split() == shown.replace("\\n", "\n").split()


def _spans(text: str, results: list[dict[str, Any]], places: Sequence[int], skipped: _Skipped) -> list[_Span]:
    """The spans of a task, from left to right."""
    found = set()
    for item in results:
        with skipped.unless(_SpanError):
            found.add(_span(text, item.get("value"), places))
    return sorted(filter(None, found), key=lambda span: (span.start, -span.stop, span.label))


def _span(text: str, value: Any, places: Sequence[int]) -> _Span | None:
    """One span; None if it has no label."""
    if not isinstance(value, dict):
        raise _SpanError("a span has no value", _REMEDY)
    labels, start, stop, shown = value.get("labels"), value.get("start"), value.get("end"), value.get("text")
    if not labels:
        return None
    place = f"the span {_short(shown)} ({start} to {stop})"
    if not isinstance(labels, list) or len(labels) != 1 or not isinstance(labels[0], str) or not labels[0]:
        raise _SpanError(f"{place} has the labels {labels!r:.60}, and must have one", _REMEDY)
    found = _between(places, start, stop)
    if found is None:
        raise _SpanError(f"{place} is not in the text, which has {counted(len(text), 'character')}", _REMEDY)
    if shown is not None and not _same(text[found[0] : found[1]], shown):
        raise _SpanError(f"{place} is {_short(text[found[0] : found[1]])} in the text", _REMEDY)
    return _Span(*found, labels[0])


def _short(text: Any) -> str:
    shown = repr(text) if text is not None else "without a text"
    return shown if len(shown) <= 60 else shown[:57] + "...'"


def _labels(text: str, tokens: list[Token], spans: list[_Span], widen: bool, skipped: _Skipped) -> list[str]:
    """The IOB2 labels of tokens."""
    found: list[Span] = []
    starts, stops = [token.start for token in tokens], [token.stop for token in tokens]
    before, end = _Span(0, 0, ""), 0
    for span in spans:
        first, last = bisect_right(stops, span.start), bisect_left(starts, span.stop)
        with skipped.unless(_SpanError):
            _check_tokens(text, span, tokens[first:last], widen)
            if first < end:
                raise _SpanError(
                    f"the spans {_quoted(text, before)} and {_quoted(text, span)} overlap, and a token has one label",
                    "remove one of them in Label Studio, or leave the second one out with "
                    f"{Argument('skip_bad', True)}",
                )
            found.append(Span(first, last, span.label))
            before, end = span, last
    return written(found, len(tokens))


def _check_tokens(text: str, span: _Span, tokens: list[Token], widen: bool) -> None:
    """Raise an error if a span has no tokens, or has a part of a token only."""
    if not tokens:
        raise _SpanError(f"the span {_quoted(text, span)} has no tokens", _REMEDY)
    cut = [token for token in (tokens[0], tokens[-1]) if token.start < span.start or token.stop > span.stop]
    if cut and not widen:
        raise _SpanError(
            f"the span {_quoted(text, span)} cuts the token {cut[0].text!r}",
            "correct it in Label Studio, widen such spans to whole tokens with "
            f"{Argument('widen_spans', True)}, or leave them out with {Argument('skip_bad', True)}",
        )


def _quoted(text: str, span: _Span) -> str:
    return f"{_short(text[span.start : span.stop])} ({span.start} to {span.stop}, {span.label})"


# -- writing ---------------------------------------------------------------------------------------------------------


def write(corpus: Corpus, labels: Column | None, options: Writing) -> str:
    """The tasks of a corpus: a list with a task on each line; sentences without tokens are omitted.

    Spans are annotations, or predictions with their scores. A corpus that was read from Label Studio keeps the
    data of its tasks. The text of other corpora is their words with spaces between, if the raw text is not known.

    >>> corpus = Corpus.from_sentences([[("Ann", "B-PER"), ("sings", "O")]])
    >>> print(write(corpus, corpus.labels, Writing(scores=[[0.9]], predicted=True)), end="")
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
    scores = options.scores
    if scores is not None and len(scores) != len(corpus):
        raise DataError(f"{counted(len(corpus), 'sentence')} to write, but scores for {len(scores)}")
    tasks = []
    for s, (first, last) in enumerate(pairwise(corpus.offsets.tolist())):
        if first == last:
            continue
        task = _task(texts.texts[s], texts.records[s])
        if labels is not None:
            found = find_spans(labels.values(first, last))
            own = None if scores is None else list(scores[s])
            if own is not None and len(own) != len(found):
                raise DataError(f"{counted(len(found), 'span')}, but {counted(len(own), 'score')}", sentence=s)
            results = _written_spans(texts, s, slice(first, last), found, own)
            if options.predicted:
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
    words_to_write(corpus)
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


def _written_spans(
    texts: Texts, sentence: int, tokens: slice, found: list[Span], scores: list[float] | None
) -> list[dict[str, Any]]:
    """The spans of a sentence as Label Studio has them."""
    text, record = texts.texts[sentence], texts.records[sentence]
    starts, stops = texts.starts[tokens].tolist(), texts.stops[tokens].tolist()
    offsets = _places_of(text, utf16=bool(record.get("utf16")))
    names = {key: record.get(key, name) for key, name in _TAGS.items()}
    results = []
    for i, span in enumerate(found):
        if not span.type:
            raise DataError("the labels have no types, as in B-PER, and spans of Label Studio have a label; add types")
        start, stop = starts[span.start], stops[span.stop - 1]
        result: dict[str, Any] = {"id": f"corate-{i}", **names, "type": "labels"}
        if scores is not None:
            result["score"] = round(float(scores[i]), 6)
        places = {"start": offsets[start], "end": offsets[stop], "text": text[start:stop]}
        results.append({**result, "value": {**places, "labels": [span.type]}})
    return results


# -- the format ------------------------------------------------------------------------------------------------------

_JSON_OBJECTS = re.compile(rb"\s*\[\s*\{")
_TASK_MEMBER = re.compile(rb'"(?:data|annotations|predictions|completions)"\s*:')


def _fits(head: Head) -> bool:
    """Whether the text is a JSON list of objects with a member of tasks. JSON lines have no lists of objects."""
    return _JSON_OBJECTS.match(head.data) is not None and _TASK_MEMBER.search(head.data) is not None


LABELSTUDIO = Format(
    "labelstudio",
    "a token of the [tokeniser](#the-tokeniser)",
    read,
    write,
    _fits,
    takes=("tokenize", "widen_spans", "scores"),
    whole=True,
)
