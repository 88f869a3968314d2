"""JSON lines: one sentence per line, as an object of columns or as a list of tokens.

An object has ``"tokens"``, optionally ``"labels"``, and other columns by name. All are lists of strings of one length.
Members that are not lists (an id, the raw text) are ignored. A list contains words, or one list of columns per token.
The last column is then the label, unless ``columns`` or ``labelled=False`` is given.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np

from corate.corpus import Column, Corpus
from corate.errors import DataError
from corate.formats.reading import Options, names_of, nothing_error, warn_skipped

__all__ = ["read", "write"]

#: The column name of a member of an object.
_COLUMN_OF = {"tokens": "word", "words": "word", "labels": "label"}
_MEMBER_OF = {"word": "tokens", "label": "labels"}

Sentence = dict[str, list[str]]


def read(data: bytes, name: str, options: Options) -> Corpus:
    """Read UTF-8 bytes; ``name`` is their name in messages.

    >>> read(b'{"id": 7, "tokens": ["Ann", "sleeps"], "labels": ["NAME", "VERB"]}', "news", Options())
    Corpus(1 sentences, 2 tokens, columns: word, 2 labels)
    >>> read(b'[["Ann", "NAME"], ["sleeps", "VERB"]]', "news", Options())
    Corpus(1 sentences, 2 tokens, columns: word, 2 labels)
    """
    columns: Sentence = {}
    offsets = [0]
    skipped, first_bad = 0, -1
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip() or (options.comment and line.startswith(options.comment.encode())):
            continue
        try:
            sentence = _sentence(line, options)
            if columns and sentence and sentence.keys() != columns.keys():
                raise DataError(f"columns {', '.join(sentence)}, but the lines before have {', '.join(columns)}")
        except DataError as error:
            if not options.skip_bad:
                raise DataError(f"{name}, line {number}: {error}") from None
            skipped, first_bad = skipped + 1, number if first_bad < 0 else first_bad
            continue
        if not sentence:
            continue
        for key, values in sentence.items():
            columns.setdefault(key, []).extend(values)
        offsets.append(offsets[-1] + len(values))
    if not columns:
        raise DataError(f"{name}, line {first_bad}: no valid sentence") if skipped else nothing_error(name, data)
    warn_skipped(name, skipped, first_bad, "sentences")
    built = [Column.of(key, values) for key, values in columns.items()]
    label = next((c for c in built if c.name == "label"), None)
    observed = tuple(c for c in built if c.name != "label")
    return Corpus(observed, np.asarray(offsets, dtype=np.int64), label, layout=options.columns or ())


def _sentence(line: bytes, options: Options) -> Sentence:
    """The columns of one line, by name; empty for a sentence without tokens."""
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON ({error.msg}, column {error.colno}); each line must be one JSON value") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not usable JSON ({error})") from None
    if isinstance(value, dict):
        sentence = _of_object(value, options)
    elif isinstance(value, list):
        sentence = _of_list(value, options)
    else:
        raise DataError(f"a sentence must be an object or a list, not {line[:40].decode(errors='replace')!r}")
    _check_values(sentence, escapes=b"\\u" in line)
    return sentence


def _of_object(value: dict[str, Any], options: Options) -> Sentence:
    sentence: Sentence = {}
    for member, values in value.items():
        if isinstance(values, list):
            column = _COLUMN_OF.get(member, member)
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
            raise DataError(f"{len(token)} columns ({json.dumps(token)[:40]}), expected {', '.join(names)}")
    return {name: list(column) for name, column in zip(names, zip(*value, strict=True), strict=True) if name != "_"}


def _check_values(sentence: Sentence, *, escapes: bool) -> None:
    for name, values in sentence.items():
        for value in values:
            if not isinstance(value, str):
                raise DataError(f"column {name!r} contains {json.dumps(value)[:40]}; values must be strings")
            if escapes and any("\ud800" <= c <= "\udfff" for c in value):
                raise DataError(f"column {name!r} contains {value[:40]!r}, half of a surrogate pair")


# -- writing ---------------------------------------------------------------------------------------------------------


def write(corpus: Corpus, labels: Column | None) -> str:
    r"""The text of a corpus, one object per line; sentences without tokens are omitted.

    >>> corpus = Corpus.from_sentences([[("Ann", "NNP", "B-PER")]])
    >>> write(corpus, corpus.labels)
    '{"tokens": ["Ann"], "pos": ["NNP"], "labels": ["B-PER"]}\n'
    """
    columns = [*corpus.columns, *([labels] if labels is not None else [])]
    if not corpus.columns:
        raise DataError("the corpus has no columns to write; write ready-made features with format='items'")
    members = {_MEMBER_OF.get(column.name, column.name): column.values() for column in columns}
    if len(members) < len(columns) or any(c.name in _COLUMN_OF for c in corpus.columns):
        raise DataError(
            f"the columns {', '.join(c.name for c in columns)} cannot all be members of an object, because "
            f"'tokens' is the member of 'word' and 'labels' of 'label'; rename them"
        )
    ends = corpus.offsets.tolist()
    sentences = ({key: values[a:b] for key, values in members.items()} for a, b in itertools.pairwise(ends) if a < b)
    return "".join(json.dumps(sentence, ensure_ascii=False) + "\n" for sentence in sentences)
