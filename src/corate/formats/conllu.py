"""CoNLL-U: one token per line in ten columns between tabs, comments (``# ...``), a blank line between sentences.

The columns are ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS and MISC, and ``_`` is an empty value. Multiword
tokens (ID ``3-4``) and empty nodes (ID ``3.1``) are not tokens: they have no labels and are not read. FORM is the
column ``word``; other columns are read if they are named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from corate import _native
from corate.corpus import Column, Corpus, StringTable
from corate.display import counted
from corate.errors import Argument, DataError
from corate.formats.edges import EdgeSource, edge_source, heads_and_relations, joined_parts, tree_edges
from corate.formats.format import Format, Head, Options, Writing
from corate.formats.reading import NoSentenceError, check_parsed, columns_of, word_of
from corate.formats.trees import NO_HEADS, OF_HEAD, document_offsets, head_column, heads_of, token_line
from corate.formats.writing import check_labels, check_values, rows_to_text, words_to_write
from corate.spans import are_spans

__all__ = [
    "COLUMNS",
    "CONLLU",
    "LabelPlace",
    "bad_row",
    "label_place",
    "position",
    "positions_of",
    "read",
    "read_tokens",
    "write",
]

#: The names of the columns. FORM is called ``word``.
COLUMNS = ("id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_ID, _FORM, _FEATS, _HEAD, _DEPREL, _MISC = 0, 1, 5, 6, 7, 9
#: The columns that are read with a tree if none are named, except those with the labels.
_OF_TREE = ("word", "upos", "deprel", "head.word")
_EMPTY = "_"
#: How a label begins that is a key of FEATS.
_OF_FEATS = "feats:"
_UNWRITABLE = r"\A\Z|[\t\r\n\0]"


@dataclass(frozen=True)
class LabelPlace:
    """Where the labels are: in one column, in UPOS and FEATS, or in the entries of FEATS or MISC with a key."""

    name: str
    columns: tuple[int, ...]
    key: str = ""

    def texts(self, labels: Sequence[str]) -> list[list[str]]:
        """The text of each label for each column: a value, or an entry of FEATS or MISC (empty for ``_``).

        Raises DataError for a label that cannot be written there.

        >>> label_place("upos+feats").texts(["NOUN|Case=Gen", "PUNCT|_"])
        [['NOUN', 'PUNCT'], ['Case=Gen', '_']]
        >>> label_place("NER").texts(["B-PER", "_"])
        [['NER=B-PER', '']]
        """
        if len(self.columns) == 2:
            check_labels(labels, rf"{_UNWRITABLE}|\A\||\|\Z", "conllu")
            if whole := [label for label in labels if "|" not in label]:
                raise DataError(
                    f"the label {whole[0][:40]!r} is not UPOS|FEATS, such as 'NOUN|Number=Sing' or 'PUNCT|_'",
                    f"write the labels elsewhere with {Argument('label')}",
                )
            parts = [label.split("|", 1) for label in labels]
            return [[upos for upos, _ in parts], [feats for _, feats in parts]]
        if not self.key:
            check_labels(labels, _UNWRITABLE, "conllu")
            return [list(labels)]
        check_labels(labels, rf"{_UNWRITABLE}|\|", "conllu")
        return [["" if label == _EMPTY else f"{self.key}={label}" for label in labels]]

    def written(self, labels: Sequence[str]) -> tuple[list[int], list[list[str]], str]:
        """Where and how labels are written, as the native code takes it."""
        return list(self.columns), self.texts(labels), self.key


def label_place(label: str | None) -> LabelPlace:
    """The place that ``label`` names: a column, ``upos+feats``, a key of FEATS or one of MISC; by default ``upos``.

    >>> label_place("upos+feats").columns, label_place("NER")
    ((3, 5), LabelPlace(name='NER', columns=(9,), key='NER'))
    >>> label_place("feats:Case")
    LabelPlace(name='feats:Case', columns=(5,), key='Case')
    """
    name = "upos" if label is None else label.strip()
    if name.lower() == "upos+feats":
        return LabelPlace("upos+feats", (COLUMNS.index("upos"), _FEATS))
    if name.lower() in COLUMNS[2:_MISC]:
        return LabelPlace(name.lower(), (COLUMNS.index(name.lower()),))
    of_feats = name[: len(_OF_FEATS)].lower() == _OF_FEATS
    key = name[len(_OF_FEATS) :].strip() if of_feats else name
    if not key or any(c in key for c in "=|+\t\r\n\0") or name.lower() in (*COLUMNS, "form"):
        raise DataError(f"{name!r} cannot be the label of CoNLL-U", _choose_label())
    return LabelPlace(_OF_FEATS + key, (_FEATS,), key) if of_feats else LabelPlace(key, (_MISC,), key)


def _choose_label() -> str:
    return (
        f"choose upos, xpos, feats, upos+feats, feats:KEY such as feats:Case, or a key of MISC with {Argument('label')}"
    )


def position(name: str, word: str = "word", argument: str = "columns") -> int:
    """The position of a column by its name, which is from an argument. ``word`` is another name for FORM.

    >>> position("lemma"), position("form"), position("token", word="token")
    (2, 1, 1)
    """
    if name in (word, "form"):
        return _FORM
    if name not in COLUMNS:
        raise DataError(
            f"CoNLL-U has no column {name!r}", f"name some of {', '.join(COLUMNS)} with {Argument(argument)}"
        )
    return COLUMNS.index(name)


def positions_of(names: Sequence[str], word: str) -> list[int] | None:
    """The positions of columns; None if one is a column of heads, which no single row contains.

    >>> positions_of(["word", "upos"], "word"), positions_of(["word", "head.word"], "word")
    ([1, 3], None)
    """
    return None if any(map(_of_head, names)) else [position(name, word) for name in names]


def read(data: bytes, name: str, options: Options) -> Corpus:
    """Read UTF-8 bytes; ``name`` is their name in messages.

    >>> rows = b"# text = don't\\n1-2\\tdon't" + b"\\t_" * 8 + b"\\n"
    >>> rows += b"1\\tdo\\tdo\\tAUX" + b"\\t_" * 6 + b"\\n2\\tn't\\tnot\\tPART" + b"\\t_" * 6 + b"\\n"
    >>> corpus = read(rows, "a.conllu", Options())
    >>> corpus.tokens(0), corpus.labels_of(0)
    (['do', "n't"], ['AUX', 'PART'])
    """
    _check(options, name)
    place = label_place(options.label or options.label_source or None)
    source = options.edges or EdgeSource()
    names, positions = _observed(options, place, source)
    skipped = [position(column, argument="edges") for column in source.skips]
    with_heads = source.tree or any(map(_of_head, names))
    linked = [_ID, _HEAD] * with_heads + [_DEPREL] * source.tree + skipped
    labelled = list(place.columns) if options.labelled else []
    fields = list(dict.fromkeys(positions + labelled + linked))
    parsed = _native.parse_conllu(data, fields, options.skip_bad)

    def bad(line: int, width: int) -> DataError:
        row, remedy = data.split(b"\n", line)[line - 1], f"or omit such lines with {Argument('skip_bad', True)}"
        return DataError(bad_row(row), remedy, **options.place(name, line))

    def unlinked(token: int, problem: str, remedy: str) -> DataError:
        return DataError(problem, remedy, **options.place(name, token_line(data, token)))

    check_parsed(parsed, data, name, options, bad)
    sentences = parsed[1]
    built = dict(zip(fields, columns_of(parsed, ["label"] * len(fields)), strict=True))
    heads = heads_of(built[_ID], built[_HEAD], sentences, unlinked) if with_heads else NO_HEADS
    observed = tuple(
        head_column(built[field], heads, own) if _of_head(own) else replace(built[field], name=own)
        for own, field in zip(names, positions, strict=True)
    )
    labels = _labels([built[field] for field in labelled], place, name) if labelled else None
    corpus = Corpus(observed, sentences, labels, layout=(*names, "label"), label_source=place.name if labelled else "")
    if options.edges is None:
        return corpus
    graphs = document_offsets(data, sentences) if source.skips else sentences
    tree = tree_edges(heads, built[_DEPREL], graphs) if source.tree else ()
    edges = joined_parts(source, tree, [built[field] for field in skipped], sentences, graphs)
    return replace(corpus, offsets=graphs, edges=edges, edge_source=str(source))


def read_tokens(data: bytes, layout: tuple[str, ...], edges: str, first_line: int) -> Corpus | None:
    """The tokens of a text to tag, with these columns and edges; None if there are none."""
    source = edge_source(edges) if edges else None
    options = Options(labelled=False, layout=layout, edges=source, lines_before=first_line - 1)
    try:
        return read(data, "", options)
    except NoSentenceError:
        return None
    except DataError as error:
        error.file = None  # which the caller knows
        raise


def bad_row(row: bytes) -> str:
    r"""What is wrong with a row that is not a row of CoNLL-U, and what to do.

    >>> bad_row(b"1 Ann")
    '1 column, but CoNLL-U has 10 with tabs between them; fix the line'
    """
    fields = row.rstrip(b"\r").split(b"\t")
    if len(fields) != len(COLUMNS):
        return f"{counted(len(fields), 'column')}, but CoNLL-U has {len(COLUMNS)} with tabs between them; fix the line"
    number = fields[0].decode(errors="replace")
    if not fields[_FORM] and number.isdigit():
        return "the token has an empty FORM; fill it in"
    return f"the ID {number[:40]!r} is not a number (3), a range (3-4) or a decimal (3.1); fix it"


def _check(options: Options, name: str) -> None:
    if options.separator not in (None, "\t"):
        raise DataError(
            f"tabs separate the columns of CoNLL-U, not {options.separator!r}",
            f"omit {Argument('separator')}",
            file=name,
        )
    if options.comment not in (None, "#"):
        raise DataError(
            f"comments of CoNLL-U begin with '#', not {options.comment!r}", f"omit {Argument('comment')}", file=name
        )


def _of_head(name: str) -> bool:
    return name.startswith(OF_HEAD)


def _observed(options: Options, place: LabelPlace, source: EdgeSource) -> tuple[list[str], list[int]]:
    """The names and positions of the columns to read: those named, else those of the layout, else the usual ones.

    The position of a column of the head, such as ``head.word``, is that of the column itself.
    """
    names = options.columns if options.columns is not None else options.layout
    usual = not names
    observed = [name for name in names or (_OF_TREE if source.tree else ("word",)) if name not in ("label", _EMPTY)]
    word = word_of(tuple(observed)) if options.columns is None else "word"
    positions = [position(name.removeprefix(OF_HEAD), word) for name in observed]
    if not options.labelled:
        return observed, positions
    linking = [position(column, argument="edges") for column in source.skips] + [_HEAD, _DEPREL] * source.tree
    if set(linking) & set(place.columns):
        raise DataError(
            f"{Argument('edges', str(source))} reads the labels ({place.name})",
            f"choose other edges, or other labels with {Argument('label')}",
        )
    if usual:
        kept = [i for i, field in enumerate(positions) if field not in place.columns]
        return [observed[i] for i in kept], [positions[i] for i in kept]
    for name, place_of in zip(observed, positions, strict=True):
        if place_of in place.columns:
            raise DataError(
                f"the column {name!r} contains the labels ({place.name}), so it cannot be a column of features",
                f"leave it out of {Argument('columns')}, or choose other labels with {Argument('label')}",
            )
    return observed, positions


def _labels(columns: list[Column], place: LabelPlace, name: str) -> Column:
    """The label column, with labels numbered as they first occur."""
    if place.key:
        return _key_labels(columns[0], place, name)
    if all(c.strings.to_list() == [_EMPTY] for c in columns):
        raise DataError(
            f"{place.name.upper()} is {_EMPTY} for every token",
            _choose_label(),
            file=name,
        )
    if len(columns) == 1:
        return columns[0]
    upos, feats = columns
    pairs = upos.ids.astype(np.int64) * len(feats.strings) + feats.ids
    _, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.argsort(order).astype(np.int32)
    texts = map("|".join, zip(upos.take(first[order]).values(), feats.take(first[order]).values(), strict=True))
    table, ids = StringTable.intern(texts)
    return Column("label", ids[rank[inverse]], table)


def _key_labels(column: Column, place: LabelPlace, name: str) -> Column:
    """The values of a key. Tokens without it get ``_``; ``O`` if the key is of MISC, and its values mark spans."""
    key = place.key
    entries = [dict(_entry(text) for text in value.split("|")) for value in column.strings.to_list()]
    found = {values[key] for values in entries if key in values}
    if not found:
        keys = ", ".join(sorted({k for values in entries for k in values} - {_EMPTY})[:12]) or "none"
        raise DataError(
            f"no token has the key {key!r} in {COLUMNS[place.columns[0]].upper()} (keys: {keys})",
            f"choose another label with {Argument('label')}",
            file=name,
        )
    spans = place.columns == (_MISC,) and are_spans(sorted(found | {"O"}))
    missing = "O" if spans else _EMPTY
    table, ids = StringTable.intern(values.get(key, missing) for values in entries)
    return Column("label", ids[column.ids], table)


def _entry(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value or _EMPTY


# -- writing ---------------------------------------------------------------------------------------------------------


def write(corpus: Corpus, labels: Column | None, options: Writing) -> str:
    """The text of a corpus, with numbered tokens; sentences without tokens are omitted. Unknown values are ``_``.

    The edges of a tree are written as HEAD and DEPREL. With a key, labels are entries of FEATS or MISC among others.

    >>> corpus = Corpus.from_sentences([[("Ann", "PROPN"), ("sleeps", "VERB")]])
    >>> print(write(corpus, corpus.labels, Writing()), end="")  # doctest: +NORMALIZE_WHITESPACE
    1  Ann     _  PROPN  _  _  _  _  _  _
    2  sleeps  _  VERB   _  _  _  _  _  _
    <BLANKLINE>
    """
    word = words_to_write(corpus)
    place = label_place(options.label or corpus.label_source or None)
    columns = [[_EMPTY] * corpus.n_tokens for _ in COLUMNS]
    if edge_source(corpus.edge_source or "chain").tree:
        columns[_HEAD], columns[_DEPREL] = heads_and_relations(corpus)
    for column in corpus.columns:
        if not _of_head(column.name):
            check_values(column, _UNWRITABLE, "column")
            columns[position(column.name, word.name)] = column.values()
    targets, texts, key = place.written([] if labels is None else labels.strings.to_list())
    if labels is not None and not key:
        for target, own in zip(targets, texts, strict=True):
            columns[target] = [own[i] for i in labels.ids.tolist()]
    columns[0] = [str(i) for length in np.diff(corpus.offsets).tolist() for i in range(1, length + 1)]
    text = rows_to_text(corpus, list(map("\t".join, zip(*columns, strict=True))))
    if labels is None or not key:
        return text
    data = _native.label_conllu(text.encode(errors="surrogatepass"), labels.ids, targets, texts, key, 1)
    return data.decode(errors="surrogatepass")


# -- the format ------------------------------------------------------------------------------------------------------

_NUMBERED = re.compile(r"[0-9]+(?:[-.][0-9]+)?\t")


def _fits(head: Head) -> bool:
    """Whether most rows have ten columns and an ID first. The parser reports the others."""
    rows = [row for row in head.rows if not row.startswith("#")]
    fitting = sum(row.count("\t") == 9 and _NUMBERED.match(row) is not None for row in rows)
    return 10 * fitting > 9 * len(rows)


CONLLU = Format(
    "conllu",
    "a line of ten columns",
    read,
    write,
    _fits,
    suffixes=(".conllu",),
    takes=("label",),
    blank_line=re.compile(rb"^\r*\n", re.MULTILINE),
    comment="#",
)
