"""JSON lines: one sentence per line, as an object of columns or as a list of tokens.

An object has ``"tokens"``, optionally ``"labels"``, and other columns by name. All are lists of strings of one
length. Without ``"labels"``, the labels may be in ``"tags"``, ``"ner_tags"`` or ``"pos_tags"``; ``label`` names any
other list. A label that is null is unknown. Labels may be integers, as in Hugging Face datasets. Their names are
given, or in a first line without tokens, such as ``{"label_names": ["O", "B-PER"]}``. Other lists of integers, and
members that are not lists (an id, the raw text), are ignored. A list contains words, or one list of columns per
token. The last column is then the label, unless ``columns`` or ``labelled=False`` is given.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from corate.corpus import Column, Corpus
from corate.display import counted
from corate.errors import Argument, DataError
from corate.formats.format import Format, Head, Options, Writing
from corate.formats.label_names import checked_names, ids_of
from corate.formats.reading import labels_apart, names_of, nothing_error, warn_skipped
from corate.formats.rows import first_row
from corate.formats.sentence_limit import check_tokens
from corate.formats.writing import sentences_of, words_to_write

__all__ = ["JSONL", "read", "write"]

#: The column name of a member of an object.
_COLUMN_OF = {"tokens": "word", "words": "word", "labels": "label"}
#: Members that contain the labels if there is no member "labels".
_LABEL_MEMBERS = ("tags", "ner_tags", "pos_tags")
_NAMES_MEMBER = "label_names"
_MEMBER_OF = {"word": "tokens", "label": "labels"}

Sentence = dict[str, list[str | Any]]


def read(data: bytes, name: str, options: Options) -> Corpus:
    """Read UTF-8 bytes; ``name`` is their name in messages.

    >>> read(b'{"id": 7, "tokens": ["Ann", "sleeps"], "labels": ["NAME", "VERB"]}', "news", Options())
    Corpus(1 sentence, 2 tokens, columns: word, 2 labels)
    >>> read(b'[["Ann", "NAME"], ["sleeps", "VERB"]]', "news", Options())
    Corpus(1 sentence, 2 tokens, columns: word, 2 labels)
    """
    columns: Sentence = {}
    offsets = [0]
    skipped, first_bad = 0, -1
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip() or (options.comment and line.startswith(options.comment.encode())):
            continue
        try:
            value = _value(line)
            if not columns and (names := _header(value)) is not None:
                options = options if options.label_names is not None else replace(options, label_names=names)
                continue
            sentence = _sentence(value, line, options)
            check_tokens(max(map(len, sentence.values()), default=0), options.max_sentence)
            if columns and sentence and sentence.keys() != columns.keys():
                raise DataError(f"columns {', '.join(sentence)}, but the lines before have {', '.join(columns)}")
        except DataError as error:
            if not options.skip_bad:
                raise error.at(**options.place(name, number)) from None
            skipped, first_bad = skipped + 1, number if first_bad < 0 else first_bad
            continue
        if not sentence:
            continue
        for key, values in sentence.items():
            columns.setdefault(key, []).extend(values)
        offsets.append(offsets[-1] + len(values))
    if not columns:
        raise (
            DataError("no valid sentence", **options.place(name, first_bad)) if skipped else nothing_error(name, data)
        )
    warn_skipped(name, skipped, first_bad + options.lines_before, "sentence")
    observed, label = labels_apart(Column.of(key, values) for key, values in columns.items())
    return Corpus(observed, np.asarray(offsets, dtype=np.int64), label, layout=options.columns or ())


def _header(value: Any) -> tuple[str, ...] | None:
    """The names of integer labels, if this is a line that contains them and no tokens."""
    if not isinstance(value, dict) or _NAMES_MEMBER not in value or "tokens" in value or "words" in value:
        return None
    return checked_names(value[_NAMES_MEMBER])


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON ({error.msg}, column {error.colno}); each line must be one JSON value") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not usable JSON ({error})") from None


def _sentence(value: Any, line: bytes, options: Options) -> Sentence:
    """The columns of one line, by name; empty for a sentence without tokens."""
    if isinstance(value, dict):
        sentence = _of_object(value, options)
    elif isinstance(value, list):
        sentence = _of_list(value, options)
    else:
        raise DataError(f"a sentence must be an object or a list, not {line[:40].decode(errors='replace')!r}")
    if "label" in sentence:
        sentence["label"] = _named(sentence["label"], options.label_names)
    _check_values(sentence, escapes=b"\\u" in line)
    return sentence


def _of_object(value: dict[str, Any], options: Options) -> Sentence:
    sentence: Sentence = {}
    labels = _label_member(value, options)
    for member, values in value.items():
        if isinstance(values, list):
            column = "label" if member == labels else _COLUMN_OF.get(member, member)
            if column == "label" and member != labels and options.label is not None:
                continue  # "labels", if another member was named
            if column not in ("word", "label", *(options.columns or ())) and _are_integers(values):
                continue
            if column in sentence:
                raise DataError(f"two members for the column {column!r}")
            sentence[column] = values
    wanted = options.columns
    if wanted is None:
        wanted = tuple(name for name in sentence if options.labelled or name != "label")
    missing = [_MEMBER_OF.get(name, name) for name in wanted if name != "_" and name not in sentence]
    if missing or not any(name not in ("_", "label") for name in wanted):
        members = ", ".join(value) or "none"
        raise DataError(f"no list {', '.join(missing) or 'tokens'!r} in the object (members: {members})")
    sentence = {name: sentence[name] for name in wanted if name != "_"}
    lengths = {name: len(values) for name, values in sentence.items()}
    if len(set(lengths.values())) > 1:
        raise DataError("all lists must have the same length, not " + ", ".join(f"{k} {n}" for k, n in lengths.items()))
    return sentence if any(lengths.values()) else {}


def _label_member(value: dict[str, Any], options: Options) -> str | None:
    """The member with the labels: the one named, else "labels", else the only one of the usual names."""
    lists = [member for member, values in value.items() if isinstance(values, list)]
    if options.label is not None:
        if options.label not in lists and options.labelled:
            raise DataError(f"no list {options.label!r} in the object (members: {', '.join(value) or 'none'})")
        return options.label
    if "labels" in lists:
        return "labels"
    columns = options.columns or ()
    found = [member for member in _LABEL_MEMBERS if member in lists and member not in columns]
    if len(found) > 1 and options.labelled and "label" not in lists:
        raise DataError(f"the lists {' and '.join(found)} may be the labels", f"choose one with {Argument('label')}")
    return found[0] if found and "label" not in lists else None


def _are_integers(values: list[Any]) -> bool:
    return bool(values) and all(type(value) is int for value in values)


def _named(labels: list[Any], names: tuple[str, ...] | None) -> list[Any]:
    """The labels, with integers replaced by their names."""
    if not any(type(label) is int for label in labels):
        return labels
    if names is None:
        raise DataError(
            f"the labels are integers ({json.dumps(labels)[:40]})",
            f"give their names with {Argument('label_names')}, or in a first line such as "
            f'{{"{_NAMES_MEMBER}": ["O", "B-PER"]}}',
        )
    for label in labels:
        if type(label) is int and not 0 <= label < len(names):
            raise DataError(
                f"the label {label} has no name: there are {len(names)} names, from 0 to {len(names) - 1}",
                f"give one for each integer with {Argument('label_names')}",
            )
    return [names[label] if type(label) is int else label for label in labels]


def _of_list(value: list[Any], options: Options) -> Sentence:
    if not value:
        return {}
    if all(isinstance(token, str) for token in value):
        value = [[word] for word in value]
    width = len(value[0]) if isinstance(value[0], list) else 0
    names = names_of(width, options)
    for token in value:
        if not isinstance(token, list) or not token:
            raise DataError(f"a token must be a list of columns, not {json.dumps(token)[:40]}")
        if len(token) != len(names):
            raise DataError(f"{counted(len(token), 'column')} ({json.dumps(token)[:40]}), expected {', '.join(names)}")
    return {name: list(column) for name, column in zip(names, zip(*value, strict=True), strict=True) if name != "_"}


def _check_values(sentence: Sentence, *, escapes: bool) -> None:
    for name, values in sentence.items():
        for value in values:
            if value is None and name == "label":
                continue
            if not isinstance(value, str):
                raise DataError(f"column {name!r} contains {json.dumps(value)[:40]}; values must be strings")
            if escapes and any("\ud800" <= c <= "\udfff" for c in value):
                raise DataError(f"column {name!r} contains {value[:40]!r}, half of a surrogate pair")


# -- writing ---------------------------------------------------------------------------------------------------------


def write(corpus: Corpus, labels: Column | None, options: Writing) -> str:
    r"""The text of a corpus, one object per line; sentences without tokens are omitted.

    The member with the labels is ``options.label``, or ``"labels"``. With ``options.label_names``,
    labels are written as integers.

    >>> corpus = Corpus.from_sentences([[("Ann", "NNP", "B-PER")]])
    >>> write(corpus, corpus.labels, Writing())
    '{"tokens": ["Ann"], "pos": ["NNP"], "labels": ["B-PER"]}\n'
    """
    words_to_write(corpus)
    columns = [*corpus.columns, *([labels] if labels is not None else [])]
    member_of = {**_MEMBER_OF, "label": options.label or "labels"}
    members: dict[str, Any] = {member_of.get(column.name, column.name): column.values() for column in columns}
    if labels is not None and options.label_names is not None:
        members[member_of["label"]] = ids_of(labels.values(), options.label_names)
    if len(members) < len(columns) or any(c.name in _COLUMN_OF for c in corpus.columns):
        raise DataError(
            f"the columns {', '.join(c.name for c in columns)} cannot all be members of an object, because "
            f"'tokens' is the member of 'word' and {member_of['label']!r} of 'label'; rename them"
        )
    parts = zip(*(sentences_of(corpus, values) for values in members.values()), strict=True)
    sentences = (dict(zip(members, own, strict=True)) for own in parts)
    return "".join(json.dumps(sentence, ensure_ascii=False) + "\n" for sentence in sentences)


# -- the format ------------------------------------------------------------------------------------------------------


def _fits(head: Head) -> bool:
    try:
        return all(isinstance(json.loads(row), dict | list) for row in head.rows)
    except (ValueError, RecursionError):
        return False


def _settled(piece: bytes, options: Options) -> Options:
    """The options for all pieces of a text: the names of labels in its first line."""
    if options.label_names is not None or options.lines_before:
        return options
    try:
        return replace(options, label_names=_header(_value(first_row(piece, options.comment))))
    except DataError:
        return options  # the reader reports the line


JSONL = Format(
    "jsonl",
    "an element of a list",
    read,
    write,
    _fits,
    suffixes=(".jsonl", ".ndjson"),
    takes=("label", "label_names"),
    counts_tokens=True,
    unknown=True,
    settled=_settled,
)
