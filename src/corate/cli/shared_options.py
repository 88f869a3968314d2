"""The options that several commands share, and how they control the reading of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from corate.arguments import LARGEST_SEED, MOST_TOKENS
from corate.cli.commands import Bundle, Field, Options, Run, argument, fields_of, option
from corate.cli.exits import silence_warnings
from corate.cli.graph_files import check_edges_given, is_file_of_edges, read_graphs
from corate.cli.terminal import print_json
from corate.errors import ConfigError, DataError, ModelError
from corate.formats.registry import FORMATS
from corate.io.encodings import is_model
from corate.io.streams import NamedBytes, bare_suffix, joined, name_of, text_blocks

if TYPE_CHECKING:
    from corate.corpus import Corpus
    from corate.model.tagger import Tagger

__all__ = [
    *("JSON", "LABELLED", "MANY_LABELS", "MODEL", "QUIET", "READING", "SCHEMES", "SEED", "SHARED", "THREADS"),
    *("Reading", "Reporting", "is_model_file", "load_model", "names_in", "naming", "reading_options", "refuse_inputs"),
]

#: The section of the help.
READING = "Reading"
#: The titles of the formats that have a place for labels, by their names.
LABELLED = {name: entry.title for name, entry in FORMATS.items() if entry.labelled}

#: A copy of the names in ``corate.spans``: importing it would slow down the start.
SCHEMES = ("IOB1", "IOB2", "IOBES", "BILOU", "BMEWO", "BMES")
#: The argument of most commands.
MODEL: Any = argument("MODEL", "The model file.")


def _silence(quiet: bool) -> bool:
    if quiet:
        silence_warnings()
    return quiet


def _reading(spec: str, help: str, **more: Any) -> Any:
    return option(spec, help, panel=READING, shared=True, **more)


#: Options of several commands.
THREADS: Any = option("--threads,-j N", "Number of threads.", default=1, least=1, shared=True)
SEED: Any = option(
    "--seed N", "Random seed; the same seed gives the same result.", default=0, least=0, most=LARGEST_SEED, shared=True
)
JSON: Any = option("--json", "Print one JSON object and nothing else.", shared=True)
QUIET: Any = option("--quiet,-q", "Print only errors.", check=_silence, shared=True)
#: Reading options that are not for text to tag.
_LABELLED = ("encoding", "docstart", "skip_bad", "widen_spans")
MANY_LABELS: Any = option(
    "--many-labels", "Train even if the number of labels suggests that the label column is wrong.", shared=True
)


class Reporting(Run):
    """A command with a result, which it prints as text or as JSON, or not at all."""

    json: bool = JSON
    quiet: bool = QUIET

    def report(self, result: Mapping[str, Any], show: Callable[[], object]) -> None:
        """Print the result as JSON, or let ``show`` print it."""
        if self.json:
            print_json(result)
        elif not self.quiet:
            show()


def names_in(text: str) -> list[str]:
    """The names in an option, separated by commas; a name with a comma is in double quotes.

    >>> names_in('sky, "wind, in knots"')
    ['sky', 'wind, in knots']
    """
    import csv

    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def refuse_inputs(output: str | None, inputs: Mapping[str, str | None], hint: str = "--output") -> None:
    """Refuse an output file that is also an input file; ``inputs`` are files by what the error calls them."""
    for what, path in inputs.items():
        if output is not None and path is not None and _same(output, path):
            raise click.BadParameter(f"{output} is {what}", param_hint=hint)


def _same(a: str, b: str) -> bool:
    """Whether two arguments are the same file, which need not exist."""
    if "-" in (a, b):
        return False
    if os.path.exists(a) and os.path.exists(b):
        return os.path.samefile(a, b)
    return os.path.realpath(a) == os.path.realpath(b)


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Add the name of the file to DataErrors, except those about an option."""
    try:
        yield
    except ConfigError:
        raise
    except DataError as error:
        raise error.at(file=name_of(file)) from None


def load_model(model: str, text: str | None = None) -> Tagger:
    """Load a model. If it is not one, but the text is one, the error says that the model comes first."""
    import corate

    try:
        return corate.load(model)
    except ModelError:
        if text is not None and is_model_file(text) and not is_model_file(model):
            raise ModelError(
                f"{model} is not a model, but {text} is one; give the model first, then the text"
            ) from None
        raise


def is_model_file(path: str) -> bool:
    """Whether a path is the file of a model, of Corate or of CRFsuite."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return is_model(file.read(64))


class Reading(Options):
    """How a command reads text: the options for this."""

    format: str = _reading(
        "--format,-f",
        f"The format: {' or '.join(', '.join(LABELLED.values()).rsplit(', ', 1))}. auto: detect it.",
        default="auto",
        choices=("auto", *LABELLED),
    )
    columns: str | None = _reading(
        "--columns NAMES",
        "The names of the columns in order, such as word,pos,label; _ omits a column. Default: those of the training "
        "text; in training, the last column is the label. For CoNLL-U: the columns that features use. For Label "
        "Studio: the member of data with the text.",
    )
    encoding: str = _reading("--encoding NAME", "The encoding of the text.", default="utf-8")
    separator: str | None = _reading(
        "--separator CHARACTER",
        "The character between columns; 'tab' is a tab. Default: a tab if tabs fit all rows, otherwise any white "
        "space.",
    )
    comment: str | None = _reading("--comment PREFIX", "Skip lines that start with this text, such as '#'.")
    docstart: str = _reading("--docstart", "Keep or drop -DOCSTART- lines.", default="keep", choices=("keep", "drop"))
    skip_bad: bool = _reading("--skip-bad", "Skip malformed lines, with a warning; they are errors otherwise.")
    label: str | None = _reading(
        "--label NAME",
        "Where the labels are. In CoNLL-U: upos, xpos, feats, upos+feats, a key of FEATS such as feats:Case, or a key "
        "of MISC; default: as in training, or upos. In JSON lines: the name of the list of labels. In CSV files of "
        "nodes: the column; default: as in training.",
    )
    edges: str | None = _reading(
        "--edges EDGES|FILE",
        "Which tokens edges join: tree (heads and dependents in CoNLL-U), chain (neighbours), skip:COLUMN (tokens with "
        "the same value in a column), or several with + between them. Default: as in training, or none. For graphs: a "
        "CSV file with two nodes in each row and, in the column type, the type of the edge. FILE is then a CSV file "
        "with the name, the features and the label of a node in each row. A column graph in it tells graphs apart. "
        "--columns chooses columns of texts.",
    )
    edge_numbers: str | None = _reading(
        "--edge-numbers NAMES",
        "The columns of a CSV file of edges with numeric features, separated by commas. Default: all others.",
    )
    label_names: str | None = _reading(
        "--label-names FILE|NAMES",
        "For JSON lines with integers as labels: the names of the labels from 0 on, such as O,B-PER,I-PER, or a file: "
        "one name per line, a JSON list, or dataset_info.json.",
    )
    widen_spans: bool = _reading(
        "--widen-spans", "For Label Studio: widen spans that start or end within a token to whole tokens."
    )
    max_sentence: int = _reading(
        "--max-sentence N",
        "Refuse longer sentences, in tokens: they suggest that blank lines are missing or that the format is wrong.",
        default=MOST_TOKENS,
        least=1,
    )

    def read(
        self,
        file: str | NamedBytes,
        like: Corpus | Tagger | None = None,
        *,
        labelled: bool = True,
        format: str | None = None,
        symmetric: Iterable[str] = (),
    ) -> Corpus:
        """Read one file; ``-`` is standard input. What the options do not say is as in ``like``.

        ``symmetric`` are the types of edges in a file that have no direction.
        """
        from corate import formats
        from corate.model.tagger import Tagger

        if isinstance(like, Tagger):
            check_edges_given(like, self.edges)
        if is_file_of_edges(self.edges):
            return read_graphs(self, file, like, labelled=labelled, symmetric=symmetric)
        given = self.arguments() | ({} if format is None else {"format": format})
        if isinstance(file, NamedBytes):
            given["encoding"] = "utf-8"
        if like is not None:
            given |= {"layout": like.layout, "label_source": like.label_source}
            given["edges"] = self.edges or like.edge_source or None
        return formats.read(file, labelled=labelled, **given)

    def text_and_format(self, file: str, *, labelled: bool = False) -> tuple[NamedBytes, str]:
        """The whole text of a file, for `read`, and its format. With ``labelled``, it may have labels, too."""
        from corate.formats.detection import by_suffix, detect, head_of
        from corate.formats.sentence_limit import limited

        name, (head, blocks) = name_of(file), head_of(text_blocks(file, self.encoding))
        format = by_suffix(bare_suffix(file)) if self.format == "auto" else self.format
        if format is None and labelled:
            with suppress(DataError):
                format = detect(head, name, comment=self.comment)
        format = format or detect(head, name, comment=self.comment, kind="unlabelled")
        return NamedBytes(joined(limited(blocks, name, format, self.max_sentence, self.comment)), name), format

    def read_labelled(self, file: str, like: Corpus | Tagger | None = None, *, symmetric: Iterable[str] = ()) -> Corpus:
        """Like `read`. Raises DataError, which names the file, if it has no labels."""
        corpus = self.read(file, like, symmetric=symmetric)
        with naming(file):
            corpus.require_labels()
        return corpus

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``corate.read`` for these options."""
        from corate.formats.label_names import names_or_file

        names = None if self.label_names is None else names_or_file(self.label_names)
        given = {name: value for name, value in vars(self).items() if name != "edge_numbers"}
        return given | {"separator": self.separator_text(), "label_names": names}

    def text_options(self, name: str) -> dict[str, Any]:
        """The arguments of ``TextOptions`` for a text of this name."""
        given = self.arguments() | {"name": name, "columns": self.column_names()}
        return {key: value for key, value in given.items() if key not in _LABELLED}

    def column_names(self) -> list[str] | None:
        """The names given with ``--columns``.

        >>> Reading(columns="word, pos,label").column_names()
        ['word', 'pos', 'label']
        """
        return None if self.columns is None else [name.strip() for name in self.columns.split(",")]

    def edge_number_names(self) -> list[str] | None:
        """The names given with ``--edge-numbers``."""
        return None if self.edge_numbers is None else names_in(self.edge_numbers)

    def separator_text(self) -> str | None:
        r"""The separator character. A tab is hard to type in a shell, so ``tab`` and ``\t`` are valid, too."""
        return {"tab": "\t", "\\t": "\t", "space": " "}.get(self.separator or "", self.separator)


def reading_options(*names: str, **own: Field) -> Any:
    """A field with a `Reading`, from these or all of its options; ``own`` are options that the command declares itself.

    >>> [param.name for param in reading_options("label", format=option("--format", "")).parameters("reading", "")]
    ['format', 'label']
    """
    known = fields_of(Reading)
    taken = {name: known[name] for name in (*own, *(names or known))}
    return Bundle(Reading, taken | {name: (field, "str") for name, field in own.items()})


#: All shared options, by their names. A file with options may set them for all commands.
SHARED = {"threads": THREADS, "seed": SEED, "json": JSON, "quiet": QUIET, "many_labels": MANY_LABELS}
SHARED |= {name: field for name, (field, _) in fields_of(Reading).items()}
