"""``corate tag`` with questions: n-best labellings, probabilities, constraints. Column text is tagged row by row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from corate.cli.shared_options import one_of
from corate.display import counted
from corate.errors import DataError
from corate.formats.rows import RowFormat
from corate.spans import SCHEMES

if TYPE_CHECKING:
    from corate import Constraints, Corpus, Tagger
    from corate.model.lattice import Lattice

__all__ = [
    "Asked",
    "Constrain",
    "Fixed",
    "NBest",
    "OnlySure",
    "Scores",
    "tag_corpus",
    "tag_rows",
    "tag_spans",
]

_PANEL = "Probabilities and constraints"

NBest = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Write the N best labellings of each sentence. A line '# RANK PROBABILITY' precedes each labelling.",
        rich_help_panel=_PANEL,
    ),
]
Scores = Annotated[
    bool, typer.Option("--scores", help="Add the probability of each label as a column.", rich_help_panel=_PANEL)
]
Constrain = Annotated[
    str | None,
    one_of(("auto", *SCHEMES), "Allow only label sequences that are valid in this scheme. auto: the model's.", _PANEL),
]
OnlySure = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="P",
        help="Write _ for labels less probable than P; Label Studio: omit the span.",
        rich_help_panel=_PANEL,
    ),
]
Fixed = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The name or number of a column with known labels, which are kept. Tokens with _ or nothing in this "
        "column are labelled by the model.",
        rich_help_panel=_PANEL,
    ),
]

#: The label of a token that is not sure enough, and the mark of a token whose label is not fixed.
FREE = "_"


@dataclass(frozen=True)
class Asked:
    """What the options of ``corate tag`` ask for beyond the best labels."""

    nbest: int | None = None
    scores: bool = False
    scheme: str | None = None
    only_sure: float | None = None
    fixed: str | None = None

    def __bool__(self) -> bool:
        return self != Asked()

    def constraints(self) -> Constraints | None:
        """The constraints that all sentences share."""
        from corate import Constraints

        return None if self.scheme is None else Constraints(scheme=self.scheme)

    def rows_only(self) -> str | None:
        """The option, if any, that needs rows of columns."""
        given = (("--nbest", self.nbest is not None), ("--scores", self.scores), ("--fixed", self.fixed is not None))
        return next((option for option, used in given if used), None)

    def added(self, labels: Sequence[str], probabilities: Sequence[float] | None) -> list[list[str]]:
        """What is added to each row: the label, or ``_`` if it is not sure enough, and its probability."""
        if probabilities is None:
            return [[label] for label in labels]
        least = self.only_sure or 0.0
        shown = [label if p >= least else FREE for label, p in zip(labels, probabilities, strict=True)]
        if not self.scores:
            return [[label] for label in shown]
        return [[label, f"{p:.4f}"] for label, p in zip(shown, probabilities, strict=True)]


def tag_corpus(tagger: Tagger, corpus: Corpus, asked: Asked, threads: int) -> list[list[str]]:
    """The labels of a corpus, with ``--constrain`` and ``--only-sure``."""
    lattice = tagger.lattice(corpus, threads=threads, constraints=asked.constraints())
    labels = lattice.tag()
    if asked.only_sure is None:
        return labels
    of = _Marginals(lattice)
    return [[label for (label,) in asked.added(own, of.labels(s, own))] for s, own in enumerate(labels)]


def tag_spans(tagger: Tagger, corpus: Corpus, asked: Asked, threads: int) -> tuple[list[list[str]], list[list[float]]]:
    """The labels of a corpus and the probabilities of their spans. Spans that are not sure enough are left out."""
    from corate.model.lattice import pieces

    labels, scores = list[list[str]](), list[list[float]]()
    for piece in pieces(corpus):
        lattice = tagger.lattice(piece, threads=threads, constraints=asked.constraints())
        for own, entities in zip(lattice.tag(), lattice.entities(), strict=True):
            sure = [entity for entity in entities if entity.probability >= (asked.only_sure or 0.0)]
            kept = {i for entity in sure for i in range(entity.start, entity.stop)}
            labels.append([label if i in kept else "O" for i, label in enumerate(own)])
            scores.append([entity.probability for entity in sure])
    return labels, scores


def tag_rows(
    tagger: Tagger, pieces: Iterable[tuple[bytes, int]], rows: RowFormat, asked: Asked, name: str, threads: int
) -> Iterator[bytes]:
    """Column text with labels, and whatever else was asked for, added to its rows.

    ``pieces`` are whole sentences, each with the number of its first line.
    """
    from corate.formats.columns import unwritable_label
    from corate.formats.writing import check_labels

    check_labels(tagger.labels, unwritable_label(rows.separator or "\t"), "columns")
    missing = [column for column in tagger.vocabulary.columns if column not in rows.columns]
    if missing or not tagger.vocabulary.columns:
        what = f"the column {missing[0]!r}" if missing else "ready-made features"
        raise DataError(f"{name}: the model reads {what}; the text has {', '.join(rows.columns)}; use --columns")
    fixed = None if asked.fixed is None else _column(tagger, rows, asked.fixed)
    for piece, line in pieces:
        try:
            yield "".join(_tagged(tagger, _sentences(piece.decode()), rows, asked, fixed, line, threads)).encode()
        except DataError as error:
            raise DataError(f"{name}: {error}") from None


def _column(tagger: Tagger, rows: RowFormat, fixed: str) -> int:
    """The place of the column with fixed labels: a name, or a number from 1."""
    for names in (rows.columns, tagger.layout):
        if fixed in names:
            return list(names).index(fixed)
    if fixed.isdecimal() and int(fixed) > 0:
        return int(fixed) - 1
    raise typer.BadParameter(
        f"the text has the columns {', '.join(rows.columns)}, not {fixed!r}; name its columns with --columns, or give "
        "the number of the column",
        param_hint="--fixed",
    )


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
    asked: Asked,
    fixed: int | None,
    first_line: int,
    threads: int,
) -> Iterator[str]:
    """The lines of tagged sentences."""
    from corate import Constraints

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
                    raise DataError(
                        f"line {number} has {counted(len(cells[-1]), 'column')}, but the model reads "
                        f"column {max(needed) + 1}"
                    )
                label = FREE if fixed is None else _fixed_label(cells[-1], fixed)
                if label != FREE and label not in tagger.labels:
                    some = ", ".join(tagger.labels[:10]) + ", ..." * (len(tagger.labels) > 10)
                    raise DataError(
                        f"line {number}: the model has no label {label!r}; write one of {some} for --fixed, "
                        f"or {FREE} where the model decides"
                    )
            number += 1
        tokens.append([dict(zip(names, (row[i] for i in needed), strict=True)) for row in cells])
        if fixed is not None:
            given = {i: _fixed_label(row, fixed) for i, row in enumerate(cells)}
            each.append(replace(shared, labels={i: label for i, label in given.items() if label != FREE}))
    lattice = tagger.lattice(tokens, threads=threads, constraints=asked.constraints() if fixed is None else each)
    of = _Marginals(lattice) if asked.scores or asked.only_sure is not None else None

    def added(s: int, labels: Sequence[str]) -> list[list[str]]:
        return asked.added(labels, None if of is None else of.labels(s, labels))

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


class _Marginals:
    """The probabilities of labels at the tokens of a lattice."""

    def __init__(self, lattice: Lattice) -> None:
        self.sentences, self.offsets = lattice.sentences.tolist(), lattice.offsets.tolist()
        self.candidates, self.shares = lattice.labels.tolist(), lattice.marginals()[1].tolist()
        self.ids = {name: i for i, name in enumerate(lattice.names)}

    def labels(self, sentence: int, labels: Sequence[str]) -> list[float]:
        """The probability of each label of a sentence at its token."""
        found = []
        for t, label in enumerate(labels, self.sentences[sentence]):
            a, b = self.offsets[t], self.offsets[t + 1]
            found.append(self.shares[bisect_left(self.candidates, self.ids[label], a, b)])
        return found
