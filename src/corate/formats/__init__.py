"""Reading and writing corpora: one module per format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from corate.arguments import MOST_TOKENS, check_whole
from corate.corpus import Corpus, check_corpus
from corate.corpus.tokenizer import Tokenizer
from corate.errors import Argument, DataError
from corate.formats import columns as column_files
from corate.formats import conllu, detection, items, jsonl, labelstudio, lines, pieces
from corate.formats.label_names import LabelNames, label_names_of
from corate.formats.reading import Options, SkippedWarning, check_options, check_separator
from corate.formats.sentence_limit import limited
from corate.formats.writing import labels_to_write
from corate.io.streams import Source, Target, bare_suffix, joined, name_of, save, text_blocks

__all__ = ["SkippedWarning", "read", "read_pieces", "read_unlabelled", "write"]

_READERS: dict[str, Callable[[bytes, str, Options], Corpus]] = {
    "columns": column_files.read,
    "conllu": conllu.read,
    "slashed": lines.read_slashed,
    "items": items.read,
    "jsonl": jsonl.read,
    "labelstudio": labelstudio.read,
    "text": lines.read_text,
    "raw": lines.read_raw,
}


def read(
    source: Source,
    *,
    format: str = "auto",
    columns: str | Sequence[str] | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    comment: str | None = None,
    docstart: str = "keep",
    skip_bad: bool = False,
    labelled: bool = True,
    layout: Sequence[str] = (),
    label: str | None = None,
    label_names: LabelNames | None = None,
    label_source: str = "",
    tokenize: Tokenizer | None = None,
    widen_spans: bool = False,
    max_sentence: int = MOST_TOKENS,
) -> Corpus:
    """Read a corpus from a file.

    Raises DataError if the data cannot be read as text in the format. The message names the file, the line and the
    remedy.

    Args:
        source: a path, ``"-"`` for standard input, bytes, or an open file. Data compressed by gzip, bzip2, xz or
            Zstandard is decompressed.
        format: ``"columns"`` (one token per line, blank lines between sentences), ``"conllu"``, ``"slashed"``
            (``word/label`` tokens, one sentence per line), ``"items"`` (CRFsuite), ``"jsonl"`` (one JSON object or list
            per sentence), ``"labelstudio"`` (a JSON export of Label Studio), ``"text"`` (words, one sentence per line),
            ``"raw"`` (one sentence per line, split by ``tokenize``) or ``"auto"``. ``"auto"`` detects the format from
            the suffix of the file, or else from its first lines. It detects plain text only if ``labelled`` is False,
            and never detects raw text.
        columns: the names of the columns, as a list or as a string such as ``"word,pos,label"``. The column ``label``
            contains the labels. Columns with the name ``_`` are omitted. By default, the last column is the label, and
            the others are word, pos, column2, column3, and so on. For CoNLL-U, the columns to read, such as
            ``"word,lemma"``; default: word. For Label Studio, the member of ``data`` that contains the text; default:
            text.
        encoding: the encoding of the text.
        separator: the character between columns. By default, a tab if it fits all rows, else any run of spaces and
            tabs.
        comment: skip lines that begin with this string. They do not end a sentence. By default, no line is skipped.
        docstart: ``"keep"`` reads the ``-DOCSTART-`` rows of a column file as tokens, ``"drop"`` omits them.
        skip_bad: omit malformed data, and issue one ``corate.formats.SkippedWarning`` with the number of omissions.
            Malformed data are rows of another width, tokens without a label, invalid JSON lines, and spans of Label
            Studio that overlap or that start or end within a token. If False, malformed data raises DataError.
        labelled: whether the data has labels. If False, the last column is not taken as the label.
        layout: the columns of the training data of a model (``tagger.layout``). Used instead of the default names if
            ``columns`` is None.
        label: where the labels are. For CoNLL-U: ``"upos"`` (the default), ``"xpos"``, ``"feats"``, ``"upos+feats"``
            or a key of MISC. For JSON lines: the name of the list of labels, such as ``"ner_tags"``.
        label_names: the names of integer labels in JSON lines, from 0: a list, a mapping from integers to names, the
            features of a Hugging Face dataset (``dataset.features``), or the path of a file. The file contains one of
            these as JSON, such as ``dataset_info.json``, or one name per line.
        label_source: where the labels were in the CoNLL-U training data of a model (``tagger.label_source``). Used if
            ``label`` is None.
        tokenize: for raw text and Label Studio: a function that splits a text into tokens, which are strings or
            :class:`~corate.corpus.tokenizer.Token` objects. Default: :func:`corate.tokenize`.
        widen_spans: for Label Studio: widen spans that start or end within a token to whole tokens. If False, such
            spans are malformed.
        max_sentence: the most tokens of a sentence. A longer one raises DataError before it takes much memory: blank
            lines may be missing, or the format may be wrong. A sentence of more than 64 MB is refused, too, or of 64 MB
            for each million of ``max_sentence``.

    >>> read(b"Ann B-PER\\nsleeps O\\n\\nBob B-PER\\n")
    Corpus(2 sentences, 3 tokens, columns: word, 2 labels)
    >>> read(b"Ann sleeps\\nBob sings too\\n", format="text").tokens(1)
    ['Bob', 'sings', 'too']
    >>> read(b"Bob sings, too.", format="raw", labelled=False).tokens(0)
    ['Bob', 'sings', ',', 'too', '.']
    """
    options = _options(
        format,
        docstart,
        columns=columns,
        separator=separator,
        comment=comment,
        skip_bad=skip_bad,
        labelled=labelled,
        layout=layout,
        label=label,
        label_names=label_names,
        label_source=label_source,
        tokenize=tokenize,
        widen_spans=widen_spans,
        max_sentence=max_sentence,
    )
    name = name_of(source)
    text = text_blocks(source, encoding)
    if format == "auto":
        found = detection.by_suffix(bare_suffix(source))
        head, text = detection.head_of(text)
        format = found or detection.detect(head, name, comment=comment, labelled=labelled)
    check_options(format, options)
    data = joined(limited(text, name, format, options.max_sentence, comment))
    return _READERS[format](data, name, options)


def read_pieces(
    path: str,
    *,
    format: str = "auto",
    encoding: str = "utf-8",
    docstart: str = "keep",
    progress: Callable[[float | None], None] = lambda done: None,
    **options: Any,
) -> Iterator[Corpus]:
    """Read a labelled corpus in pieces of whole sentences, of some megabytes each, for files larger than memory.

    The arguments are those of :func:`read`. All pieces have the format, the separator and the columns of the first one.
    ``progress`` receives the fraction of the file that was read, None for standard input.
    """
    chosen = _options(format, docstart, **options)
    found = format if format != "auto" else detection.by_suffix(bare_suffix(path))
    yield from pieces.read(path, name_of(path), found, encoding, chosen, _READERS, progress)


def _options(format: str, docstart: str, **given: Any) -> Options:
    """The options of a reader, checked."""
    if format != "auto" and format not in _READERS:
        raise DataError(f"unknown format {format!r}; choose one of auto, {', '.join(_READERS)}")
    if docstart not in ("keep", "drop"):
        raise DataError(f"docstart must be 'keep' or 'drop', not {docstart!r}")
    if given.get("separator"):
        check_separator(given["separator"])
    if "max_sentence" in given:
        given["max_sentence"] = check_whole("max_sentence", given["max_sentence"], 1)
    given["columns"] = _names(given.get("columns"))
    given["layout"] = tuple(given.get("layout", ()))
    given["label_names"] = label_names_of(given.get("label_names"), given.get("label"))
    return Options(drop_docstart=docstart == "drop", **given)


def read_unlabelled(source: Source, *, encoding: str = "utf-8") -> Corpus:
    """Read text for its words only: one sentence per line, or another format if the text is clearly in it.

    Malformed lines are omitted with a :class:`SkippedWarning`.

    >>> read_unlabelled(b"Ann sleeps\\nBob sings too\\n").tokens(1)
    ['Bob', 'sings', 'too']
    >>> read_unlabelled(b"Ann\\tNAME\\nsleeps\\tVERB\\n\\nBob\\tNAME\\n").tokens(0)
    ['Ann', 'sleeps']
    """
    name, (head, text) = name_of(source), detection.head_of(text_blocks(source, encoding))
    format = detection.by_suffix(bare_suffix(source)) or detection.detect_unlabelled(head)
    data = joined(limited(text, name, format))
    return _READERS[format](data, name, Options(labelled=False, skip_bad=True))


def write(
    corpus: Corpus,
    target: Target,
    *,
    format: str = "columns",
    labels: Sequence[Sequence[str]] | None = None,
    separator: str = "\t",
    encoding: str = "utf-8",
    label: str | None = None,
    label_names: LabelNames | None = None,
    scores: Sequence[Sequence[float]] | None = None,
) -> None:
    """Write a corpus in one of the formats that :func:`read` reads, except raw text.

    A file is written under a temporary name and then renamed. It is compressed if its suffix is .gz, .bz2, .xz or .zst.
    Sentences without tokens are omitted.

    Raises DataError if the file cannot be written, or if the format cannot represent a value, for example a word with a
    tab in a column file.

    Args:
        corpus: the corpus to write.
        target: a path, ``"-"`` for standard output, or an open file.
        format: ``"columns"``, ``"conllu"``, ``"slashed"``, ``"items"``, ``"jsonl"``, ``"labelstudio"`` or ``"text"``.
        labels: a list of labels for each sentence, to write instead of the labels of the corpus.
        separator: the character between the columns of a column file.
        encoding: the encoding of the text.
        label: where to write the labels, as for :func:`read`. For CoNLL-U, by default where they were read, else
            ``"upos"``. For JSON lines, by default ``"labels"``.
        label_names: for JSON lines: the names of the labels, as for :func:`read`. The labels are then written as
            integers.
        scores: for Label Studio: a list for each sentence with the probability of each span that the labels mark.

    >>> import io
    >>> file = io.StringIO()
    >>> write(Corpus.from_sentences([["Ann", "sleeps"]]), file, format="slashed", labels=[["NAME", "VERB"]])
    >>> file.getvalue()
    'Ann/NAME sleeps/VERB\\n'
    """
    check_corpus(corpus)
    check_separator(separator)
    column = labels_to_write(corpus, labels)
    if scores is not None and format != "labelstudio":
        raise DataError(f"scores= is for {Argument('format', 'labelstudio')}, not for the format {format!r}", "omit it")
    if label_names is not None and format != "jsonl":
        raise DataError(
            f"{Argument('label_names')} is for integer labels in JSON lines, not for the format {format!r}", "omit it"
        )
    if format == "columns":
        text = column_files.write(corpus, column, separator)
    elif format == "conllu":
        text = conllu.write(corpus, column, label)
    elif format == "slashed":
        text = lines.write_slashed(corpus, column)
    elif format == "items":
        text = items.write(corpus, column)
    elif format == "jsonl":
        text = jsonl.write(corpus, column, label, label_names_of(label_names, label))
    elif format == "labelstudio":
        text = labelstudio.write(corpus, column, predicted=labels is not None, scores=scores)
    elif format == "text":
        text = lines.write_text(corpus)
    elif format == "raw":
        raise DataError("a corpus has tokens and not the raw text", f"use {Argument('format', 'text', of_output=True)}")
    else:
        raise DataError(f"unknown format {format!r}; choose one of {', '.join(detection.FORMATS)}")
    save(text, target, encoding)


def _names(columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    names = tuple(name.strip() for name in (columns.split(",") if isinstance(columns, str) else columns))
    kept = [name for name in names if name != "_"]
    given = ", ".join(names)
    if not kept or "" in names:
        raise DataError(f"the column names ({given}) must each be a name, or _ to omit the column")
    if kept == ["label"]:
        raise DataError(f"the column names ({given}) contain only a label; name a word column, too")
    if len(set(kept)) < len(kept):
        raise DataError(f"two columns have the same name ({given}); use _ for columns to omit")
    return names
