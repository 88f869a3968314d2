"""The options that several commands share, and how they control the reading of a file."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corate.arguments import LARGEST_SEED, MOST_TOKENS
from corate.errors import ConfigError, DataError, ModelError
from corate.formats.registry import FORMATS
from corate.io.encodings import is_model
from corate.io.streams import name_of

if TYPE_CHECKING:
    from corate.corpus import Corpus
    from corate.io.streams import NamedBytes
    from corate.model.tagger import Tagger

__all__ = [
    "Columns",
    "Comment",
    "Docstart",
    "DocstartOption",
    "Encoding",
    "FormatOption",
    "Json",
    "Label",
    "LabelNames",
    "ManyLabels",
    "MaxSentence",
    "Quiet",
    "Reading",
    "Seed",
    "Separator",
    "SkipBad",
    "Threads",
    "WidenSpans",
    "is_model_file",
    "load_model",
    "naming",
    "one_of",
    "with_reading_options",
]


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Begin the messages of DataErrors with the name of the file. Errors about an option stay as they are."""
    try:
        yield
    except ConfigError:
        raise
    except DataError as error:
        raise DataError(f"{name_of(file)}: {error}") from None


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


def one_of(names: Sequence[str], help: str, panel: str | None = None, *, flags: Sequence[str] = ()) -> Any:
    """An option whose value is one of the given names. Its flags are those of its parameter, if there are none."""

    def checked(value: str | None) -> str | None:
        if value is not None and value not in names:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(names)}")
        return value

    def completed(start: str) -> list[str]:
        return [name for name in names if name.startswith(start)]

    metavar = f"<{'|'.join(names)}>"
    return typer.Option(
        *flags, metavar=metavar, help=help, callback=checked, autocompletion=completed, rich_help_panel=panel
    )


_LABELLED = {name: entry.title for name, entry in FORMATS.items() if entry.labelled}


class Docstart(str, Enum):
    """Whether to keep ``-DOCSTART-`` lines."""

    keep = "keep"
    drop = "drop"


_READING = "Reading"

FormatOption = Annotated[
    str,
    one_of(
        ("auto", *_LABELLED),
        f"The format: {' or '.join(', '.join(_LABELLED.values()).rsplit(', ', 1))}. auto: detect it.",
        _READING,
        flags=("--format", "-f"),
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="The names of the columns in order, such as word,pos,label; _ omits a column. Default: those of the "
        "training text; in training, the last column is the label. For CoNLL-U: the columns that features use. For "
        "Label Studio: the member of data with the text.",
        rich_help_panel=_READING,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Where the labels are. In CoNLL-U: upos, xpos, feats, upos+feats or a key of MISC; default: as in "
        "training, or upos. In JSON lines: the name of the list of labels.",
        rich_help_panel=_READING,
    ),
]
LabelNames = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAMES",
        help="For JSON lines with integers as labels: the names of the labels from 0 on, such as O,B-PER,I-PER, or a "
        "file: one name per line, a JSON list, or dataset_info.json.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="The encoding of the text.", rich_help_panel=_READING)]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="The character between columns; 'tab' is a tab. Default: a tab if tabs fit all rows, otherwise any white "
        "space.",
        rich_help_panel=_READING,
    ),
]
Comment = Annotated[
    str | None,
    typer.Option(metavar="PREFIX", help="Skip lines that start with this text, such as '#'.", rich_help_panel=_READING),
]
DocstartOption = Annotated[
    Docstart, typer.Option("--docstart", help="Keep or drop -DOCSTART- lines.", rich_help_panel=_READING)
]
WidenSpans = Annotated[
    bool,
    typer.Option(
        "--widen-spans",
        help="For Label Studio: widen spans that start or end within a token to whole tokens.",
        rich_help_panel=_READING,
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Skip malformed lines, with a warning; they are errors otherwise.", rich_help_panel=_READING
    ),
]
MaxSentence = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Refuse longer sentences, in tokens: they suggest that blank lines are missing or that the format is "
        "wrong.",
        rich_help_panel=_READING,
    ),
]
Threads = Annotated[int, typer.Option("--threads", "-j", min=1, metavar="N", help="Number of threads.")]
Seed = Annotated[
    int,
    typer.Option(min=0, max=LARGEST_SEED, metavar="N", help="Random seed; the same seed gives the same result."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
ManyLabels = Annotated[
    bool,
    typer.Option("--many-labels", help="Train even if the number of labels suggests that the label column is wrong."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]


@dataclass(frozen=True)
class Reading:
    """The reading options of a command."""

    format: FormatOption = "auto"
    columns: Columns = None
    encoding: Encoding = "utf-8"
    separator: Separator = None
    comment: Comment = None
    docstart: DocstartOption = Docstart.keep
    skip_bad: SkipBad = False
    label: Label = None
    label_names: LabelNames = None
    widen_spans: WidenSpans = False
    max_sentence: MaxSentence = MOST_TOKENS

    def read(
        self,
        file: str | NamedBytes,
        like: Corpus | Tagger | None = None,
        *,
        labelled: bool = True,
        format: str | None = None,
    ) -> Corpus:
        """Read one file; ``-`` is standard input. What the options do not say is as in ``like``."""
        from corate import formats

        given = self.arguments() | ({} if format is None else {"format": format})
        if like is not None:
            given |= {"layout": like.layout, "label_source": like.label_source}
        return formats.read(file, labelled=labelled, **given)

    def read_labelled(self, file: str, like: Corpus | Tagger | None = None) -> Corpus:
        """Like `read`. Raises DataError, which names the file, if it has no labels."""
        corpus = self.read(file, like)
        with naming(file):
            corpus.require_labels()
        return corpus

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``corate.read`` for these options."""
        from corate.formats.label_names import names_or_file

        return {
            "format": self.format,
            "columns": self.columns,
            "encoding": self.encoding,
            "separator": self.separator_text(),
            "comment": self.comment,
            "docstart": self.docstart.value,
            "skip_bad": self.skip_bad,
            "label": self.label,
            "widen_spans": self.widen_spans,
            "max_sentence": self.max_sentence,
            "label_names": None if self.label_names is None else names_or_file(self.label_names),
        }

    def column_names(self) -> list[str] | None:
        """The names given with ``--columns``.

        >>> Reading(columns="word, pos,label").column_names()
        ['word', 'pos', 'label']
        """
        return None if self.columns is None else [name.strip() for name in self.columns.split(",")]

    def separator_text(self) -> str | None:
        r"""The separator character. A tab is hard to type in a shell, so ``tab`` and ``\t`` are valid, too."""
        return {"tab": "\t", "\\t": "\t", "space": " "}.get(self.separator or "", self.separator)


def with_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of its parameter ``reading``, the options that make a :class:`Reading`.

    An option of the command itself replaces the one of the same name.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "reading" and p.kind is not p.VAR_KEYWORD]
    rest = [p for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
    every = inspect.signature(Reading, eval_str=True).parameters.values()
    derived = [p.replace(kind=p.KEYWORD_ONLY) for p in every if p.name not in signature.parameters]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        reading = Reading(**{p.name: given.pop(p.name) for p in derived})
        command(reading=reading, **given)

    parameters = [*(p.replace(kind=p.KEYWORD_ONLY) for p in own), *derived, *rest]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run
