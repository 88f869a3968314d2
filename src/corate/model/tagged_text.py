"""Text with labels added: from blocks of a text to blocks of tagged text, a piece of whole sentences at a time.

Columns, CoNLL-U and plain text are tagged piece by piece. Other formats are read completely first.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from corate import formats
from corate.arguments import MOST_TOKENS
from corate.display import counted
from corate.errors import Argument, ConfigError, DataError, placed
from corate.formats import detection
from corate.formats.columns import Separation
from corate.formats.reading import word_of
from corate.formats.registry import format_of, takers
from corate.formats.rows import RowFormat, first_row
from corate.formats.sentence_limit import limited
from corate.formats.writing import check_labels
from corate.io.chunks import cut_at_blank_lines, cut_at_lines
from corate.io.streams import NamedBytes, bare_suffix
from corate.model.constraints import Constraints
from corate.model.lattice import pieces as pieces_of
from corate.progress import OnProgress, ProgressEvent

if TYPE_CHECKING:
    from corate.corpus import Corpus
    from corate.model.lattice import Lattice
    from corate.model.tagger import Tagger

__all__ = ["Questions", "TextOptions", "tagged_blocks"]

_HEAD_BYTES = 1 << 16
#: The options with which any text is read.
_READ = ("format", "columns", "separator", "comment", "max_sentence")


@dataclass(frozen=True)
class TextOptions:
    """How text is read, and in which format it is written. ``auto``: detect the format; write the same one."""

    name: str
    format: str = "auto"
    to: str = "auto"
    columns: Sequence[str] | None = None
    separator: str | None = None
    comment: str | None = None
    label: str | None = None
    edges: str | None = None
    label_names: Sequence[str] | None = None
    max_sentence: int = MOST_TOKENS
    threads: int = 1

    def resolved(self, first: bytes) -> TextOptions:
        """With both formats named. ``first`` are the first lines."""
        found = self.format
        if found == "auto":
            known = detection.by_suffix(bare_suffix(self.name))
            found = known or detection.detect(first, self.name, comment=self.comment, kind="unlabelled")
        to = self.to if self.to != "auto" else "columns" if format_of(found).words is not None else found
        return replace(self, format=found, to=to)

    @property
    def by_rows(self) -> bool:
        """Whether the text is tagged row by row, and written as columns."""
        rows = self.format == "columns" or format_of(self.format).words is not None
        return self.to == "columns" and rows and not self.edges

    def check(self, asked: Questions) -> None:
        """Raise ConfigError for options that the formats have no place for."""
        only_rows = {"nbest": asked.nbest, "scores": asked.scores or None, "fixed": asked.fixed}
        written = next((option for option, value in only_rows.items() if value is not None), None)
        if format_of(self.format).words is not None and len(self.columns or ()) > 1:
            raise ConfigError(
                f"{self.name} is plain text, which has one column; omit this option, or say --format columns",
                option="columns",
            )
        for option, places in (("label", ("format", "to")), ("label_names", ("to",))):
            if getattr(self, option) is not None and not takers(option).keys() & {getattr(self, own) for own in places}:
                which = f"{' and '.join(takers(option).values())}; name the format with --{' or --'.join(places)}"
                raise ConfigError(f"this option is for {which}", option=option)
        if written is not None and not self.by_rows:
            raise ConfigError(
                f"this option is for columns and plain text, written as columns, not for {self.format} written as "
                f"{self.to}{' with edges' if self.edges else ''}; omit it, or give the text as columns",
                option=written,
            )
        if asked and self.to == "conllu":
            raise ConfigError(
                "CoNLL-U is written with the best labels only; omit this option, or write another format, such as "
                "jsonl, with --to",
                option="constrain" if asked.scheme else "only_sure",
            )


#: The label of a token that is not sure enough, and the mark of a token whose label is not fixed.
FREE = "_"


@dataclass(frozen=True)
class Questions:
    """What to answer beyond the best labels."""

    nbest: int | None = None
    scores: bool = False
    scheme: str | None = None
    only_sure: float | None = None
    fixed: str | None = None

    def __bool__(self) -> bool:
        return self != Questions()

    def constraints(self) -> Constraints | None:
        """The constraints that all sentences share."""
        return None if self.scheme is None else Constraints(scheme=self.scheme)

    def sure(self, labels: Sequence[str], probabilities: Sequence[float]) -> list[str]:
        """The labels, with ``_`` for those that are not sure enough."""
        least = self.only_sure or 0.0
        return [label if p >= least else FREE for label, p in zip(labels, probabilities, strict=True)]


# -- the pipeline -----------------------------------------------------------------------------------------------------


def tagged_blocks(
    tagger: Tagger,
    blocks: Iterator[bytes],
    text: TextOptions,
    asked: Questions,
    *,
    interactive: bool = False,
    progress: OnProgress | None = None,
) -> Iterator[bytes]:
    """Tag a text, which comes as blocks of UTF-8.

    ``interactive`` text is answered as soon as its first sentence is complete. Raises ConfigError for options that do
    not suit the text or its format, and DataError, which names the text and the line, for text that cannot be tagged.
    """
    blocks, first = _first_lines(blocks, interactive=interactive)
    text = replace(text, edges=text.edges or tagger.edge_source).resolved(first)
    text.check(asked)
    blocks = limited(blocks, text.name, text.format, text.max_sentence, text.comment)
    if text.format == text.to == "conllu":
        within = "skip:" not in (text.edges or "")  # sentences; equal values may be joined within documents
        whole = cut_at_blank_lines(blocks) if within else iter([b"".join(blocks)])
        return _answered(_numbered(whole), _conllu_answer(tagger, text), text)
    if text.by_rows:
        pieces, rows = _rows(tagger, blocks, text)
        return _answered(pieces, _row_answer(tagger, rows, asked, text), text)
    return _tagged_whole(tagger, blocks, text, asked, progress)


class _Piece(NamedTuple):
    """Whole sentences, the number of their first line, and how their rows are split (empty: white space)."""

    text: bytes
    line: int = 1
    separator: str = ""


def _answered(pieces: Iterable[_Piece], answer: Callable[[_Piece], bytes], text: TextOptions) -> Iterator[bytes]:
    """The answer to each piece."""
    for piece in pieces:
        with placed(file=text.name):
            tagged = answer(piece)
        yield tagged


def _conllu_answer(tagger: Tagger, text: TextOptions) -> Callable[[_Piece], bytes]:
    """The function that replaces the labels of a piece of CoNLL-U."""
    options: dict[str, Any] = {"label": text.label, "edges": text.edges, "threads": text.threads}
    return lambda piece: tagger.tag_conllu(piece.text, first_line=piece.line, **options)[0]


def _first_lines(blocks: Iterator[bytes], *, interactive: bool) -> tuple[Iterator[bytes], bytes]:
    """The blocks again, and the first lines, to detect the format. ``interactive`` input needs only one sentence."""
    read_already: list[bytes] = []
    seen = b""
    cut = -1
    for block in blocks:
        read_already.append(block)
        seen += block
        if len(seen) > _HEAD_BYTES or (interactive and (b"\n\n" in seen or b"\n\r\n" in seen)):
            cut = seen.rfind(b"\n", 0, _HEAD_BYTES)  # ignore an incomplete line
            break
    return chain(read_already, blocks), seen[: cut + 1] if cut >= 0 else seen


def _numbered(pieces: Iterable[bytes]) -> Iterator[_Piece]:
    """Pieces with the numbers of their first lines."""
    line = 1
    for piece in pieces:
        yield _Piece(piece, line)
        line += piece.count(b"\n")


def _rows(tagger: Tagger, blocks: Iterator[bytes], text: TextOptions) -> tuple[Iterator[_Piece], RowFormat]:
    """Pieces of rows, and the format of the rows of the first piece that has any."""
    words_of = format_of(text.format).words
    if words_of is not None:
        made = _rows_of_words(blocks, words_of, text.comment)
        return (_Piece(piece) for piece in made if piece), RowFormat([word_of(tagger.layout)], "", "")
    pieces, seen, first = _separated(_numbered(cut_at_blank_lines(blocks)), text), list[_Piece](), _Piece(b"")
    while not first_row(first.text, text.comment) and (piece := next(pieces, None)) is not None:
        seen.append(first := piece)
    with placed(file=text.name):
        names = text.columns or tagger.text_columns(first.text, first.separator, text.comment)
    return chain(seen, pieces), RowFormat(names, first.separator, text.comment or "")


def _separated(pieces: Iterable[_Piece], text: TextOptions) -> Iterator[_Piece]:
    """The pieces with their separators."""
    separation = Separation(text.name, text.comment)
    for piece in pieces:
        own = separation.separator(piece.text, piece.line) if text.separator is None else text.separator
        yield piece._replace(separator=own)


def _rows_of_words(
    blocks: Iterable[bytes], words_of: Callable[[bytes], list[bytes]], comment: str | None
) -> Iterator[bytes]:
    """Text with one sentence a line, as rows of one word."""
    skipped = comment.encode() if comment else b"\n"
    for piece in cut_at_lines(blocks):
        sentences = (words_of(line) for line in piece.split(b"\n") if not line.startswith(skipped))
        yield b"".join(b"\n".join(words) + b"\n\n" for words in sentences if words)


def _tagged_whole(
    tagger: Tagger, blocks: Iterable[bytes], text: TextOptions, asked: Questions, progress: OnProgress | None
) -> Iterator[bytes]:
    """A text that is read completely, in the format to write."""
    data = b"".join(blocks)
    if progress is not None:
        progress(ProgressEvent("tagging the whole text"))
    written = format_of(text.to)
    if written.unwritable is not None:
        check_labels(tagger.labels, written.unwritable, text.to)
    options: dict[str, Any] = {name: getattr(text, name) for name in _READ}
    options |= {"labelled": False, "layout": tagger.layout, "label": text.label if text.format == "jsonl" else None}
    corpus = formats.read(NamedBytes(data, text.name), **options, edges=text.edges or None)
    labels, scores = _tag_corpus(tagger, corpus, asked, text.threads, spans="scores" in written.takes)
    sentences = formats.read(NamedBytes(data, text.name), **options) if text.edges and scores is None else corpus
    if len(sentences) != len(corpus):  # the graphs are documents
        flat = [label for own in labels for label in own]
        labels, corpus = [flat[a:b] for a, b in pairwise(sentences.offsets.tolist())], sentences
    label = text.label or (tagger.label_source if text.to == "conllu" else "") or None
    out = io.BytesIO()
    formats.write(corpus, out, format=text.to, labels=labels, label=label, label_names=text.label_names, scores=scores)
    yield out.getvalue()


# -- rows with answers ------------------------------------------------------------------------------------------------


def _row_answer(tagger: Tagger, rows: RowFormat, asked: Questions, text: TextOptions) -> Callable[[_Piece], bytes]:
    """The function that adds labels, and whatever else was asked for, to a piece of rows."""
    if not asked:
        return lambda piece: tagger.tag_text(
            piece.text,
            columns=rows.columns,
            separator=piece.separator,
            comment=rows.comment or None,
            first_line=piece.line,
            threads=text.threads,
        )[0]
    with placed(file=text.name):
        tagger.tag_text(b"", columns=rows.columns, separator=rows.separator)  # makes the same checks
    fixed = None if asked.fixed is None else _column(tagger, rows, asked.fixed)

    def answer(piece: _Piece) -> bytes:
        own, sentences = replace(rows, separator=piece.separator), _sentences(piece.text.decode())
        return "".join(_tagged(tagger, sentences, own, asked, fixed, piece.line, text.threads)).encode()

    return answer


def _column(tagger: Tagger, rows: RowFormat, fixed: str) -> int:
    """The place of the column with fixed labels: a name, or a number from 1."""
    for names in (rows.columns, tagger.layout):
        if fixed in names:
            return list(names).index(fixed)
    if fixed.isdecimal() and int(fixed) > 0:
        return int(fixed) - 1
    raise ConfigError(
        f"the text has the columns {', '.join(rows.columns)}, not {fixed!r}",
        f"name its columns with {Argument('columns')}, or give the number of the column",
        option="fixed",
    )


def _tag_corpus(
    tagger: Tagger, corpus: Corpus, asked: Questions, threads: int, *, spans: bool
) -> tuple[list[list[str]], list[list[float]] | None]:
    """The labels of a corpus with ``--constrain`` and ``--only-sure``, and the probabilities of ``spans`` if wanted.

    Labels, or spans, that are not sure enough are left out.
    """
    if not asked and not spans:
        return tagger.tag_all(corpus, threads=threads), None
    labels, scores = list[list[str]](), list[list[float]]()
    for piece in pieces_of(corpus):
        lattice = tagger.lattice(piece, threads=threads, constraints=asked.constraints())
        best = lattice.tag()
        if not spans:
            of = None if asked.only_sure is None else map(_probabilities(lattice), count(), best)
            labels += best if of is None else map(asked.sure, best, of)
            continue
        for own, entities in zip(best, lattice.entities(), strict=True):
            sure = [entity for entity in entities if entity.probability >= (asked.only_sure or 0.0)]
            kept = {i for entity in sure for i in range(entity.start, entity.stop)}
            labels.append([label if i in kept else "O" for i, label in enumerate(own)])
            scores.append([entity.probability for entity in sure])
    return labels, scores if spans else None


def _probabilities(lattice: Lattice) -> Callable[[int, Sequence[str]], list[float]]:
    """A function for the probabilities of labels: of each token of a sentence, given its number."""
    starts, marginals = lattice.sentences.tolist(), lattice.marginals()[1]
    ids = {name: i for i, name in enumerate(lattice.names)}
    return lambda s, labels: lattice.shares(
        np.array([ids[label] for label in labels], np.int32), marginals, starts[s]
    ).tolist()


def _sentences(text: str) -> list[list[str]]:
    """The lines of each sentence, with the blank lines after it, without line feeds.

    >>> _sentences("a\\nb\\n\\n\\nc")
    [['a', 'b', '', ''], ['c']]
    """
    found: list[list[str]] = []
    after_blank = True
    for line in text.removesuffix("\n").split("\n") if text else ():
        blank = not line.strip(" \t\r")
        if not found or (after_blank and not blank):
            found.append([])
        found[-1].append(line)
        after_blank = blank
    return found


def _tagged(
    tagger: Tagger,
    sentences: list[list[str]],
    rows: RowFormat,
    asked: Questions,
    fixed: int | None,
    first_line: int,
    threads: int,
) -> Iterator[str]:
    """The lines of tagged sentences."""
    names = tagger.vocabulary.columns
    needed = [list(rows.columns).index(column) for column in names]
    tokens, each, number = [], [], first_line
    shared = asked.constraints() or Constraints()
    for sentence in sentences:
        cells = []
        for line in sentence:
            if rows.is_token(line):
                cells.append(rows.cells(line))
                if len(cells[-1]) <= max(needed):
                    has = f"{counted(len(cells[-1]), 'column')}, but the model reads column {max(needed) + 1}"
                    raise DataError(has, line=number)
                label = FREE if fixed is None else _fixed_label(cells[-1], fixed)
                if label != FREE and label not in tagger.labels:
                    some = ", ".join(tagger.labels[:10]) + ", ..." * (len(tagger.labels) > 10)
                    remedy = f"write one of {some} as a fixed label, or {FREE} where the model decides"
                    raise DataError(f"the model has no label {label!r}", remedy, line=number)
            number += 1
        tokens.append([dict(zip(names, (row[i] for i in needed), strict=True)) for row in cells])
        if fixed is not None:
            given = {i: _fixed_label(row, fixed) for i, row in enumerate(cells)}
            each.append(replace(shared, labels={i: frozenset({y}) for i, y in given.items() if y != FREE}))
    lattice = tagger.lattice(tokens, threads=threads, constraints=asked.constraints() if fixed is None else each)
    probabilities = _probabilities(lattice) if asked.scores or asked.only_sure is not None else None

    def added(s: int, labels: Sequence[str]) -> list[list[str]]:
        if probabilities is None:
            return [[label] for label in labels]
        of = probabilities(s, labels)
        shown = asked.sure(labels, of)
        return [[label, f"{p:.4f}"] if asked.scores else [label] for label, p in zip(shown, of, strict=True)]

    if asked.nbest is None:
        for s, (sentence, labels) in enumerate(zip(sentences, lattice.tag(), strict=True)):
            yield _written(sentence, rows, added(s, labels))
        return
    for s, (sentence, found) in enumerate(zip(sentences, lattice.nbest(asked.nbest), strict=True)):
        if not any(map(rows.is_token, sentence)):
            yield _written(sentence, rows, [])
            continue
        last = max(i for i, line in enumerate(sentence, 1) if line.strip(" \t\r"))
        for rank, (labels, probability) in enumerate(found, 1):
            yield f"# {rank} {probability:.4f}\n{_written(sentence[:last], rows, added(s, labels))}"
            yield "\n" if rank < len(found) else _written(sentence[last:], rows, [])


def _fixed_label(row: Sequence[str], column: int) -> str:
    """The label that a row fixes, or `FREE`."""
    return (row[column] if column < len(row) else "") or FREE


def _written(sentence: Sequence[str], rows: RowFormat, added: Sequence[Sequence[str]]) -> str:
    """The lines of a sentence with further columns in the rows of tokens."""
    columns = iter(added)
    lines = []
    for line in sentence:
        content = line.rstrip("\r")
        token = rows.with_columns(content, next(columns)) if rows.is_token(line) else content
        lines.append(token + line[len(content) :] + "\n")
    return "".join(lines)
