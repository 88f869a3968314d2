"""Read corpora from files, at once or in pieces, and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from corate.arguments import MOST_TOKENS, check_whole
from corate.corpus import Corpus, check_corpus
from corate.corpus.tokenizer import Tokenizer
from corate.errors import Argument, DataError
from corate.formats.detection import recognised
from corate.formats.edges import edge_source, with_edges
from corate.formats.format import Format, Kind, Options, Writing
from corate.formats.label_names import LabelNames, label_names_of
from corate.formats.reading import NoSentenceError, check_separator, nothing_error
from corate.formats.registry import check_options, format_of
from corate.formats.sentence_limit import limited
from corate.formats.writing import check_known, labels_to_write
from corate.io.chunks import open_blocks
from corate.io.encodings import utf8
from corate.io.streams import Source, Target, bare_suffix, joined, name_of, save, text_blocks

__all__ = ["read", "read_pieces", "read_unlabelled", "write"]


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
    edges: str | None = None,
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
        label: where the labels are. For CoNLL-U: ``"upos"`` (the default), ``"xpos"``, ``"feats"``, ``"upos+feats"``,
            a key of FEATS such as ``"feats:Case"``, or a key of MISC. For JSON lines: the name of the list of labels,
            such as ``"ner_tags"``.
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
        edges: the edges of the corpus, whose sentences are then graphs. ``"tree"``: the dependency tree of CoNLL-U. An
            edge joins a head (``left``) to its dependent (``right``), and its type is the relation and where the
            dependent stands, such as ``"nsubj before head"``. ``"chain"``: neighbours, of the type ``"next"``.
            ``"skip:lemma"``: each token and the next one with the same value in a column, here the lemma.
            ``"tree+chain"`` has both. By default, None: sentences.

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
        edges=edges,
    )
    name, text = name_of(source), text_blocks(source, encoding)
    found, text = _opened(text, name, bare_suffix(source), format, options)
    corpus = found.read(joined(text), name, options)
    return corpus if options.edges is None or corpus.edges is not None else with_edges(corpus, options.edges, name)


def _opened(
    text: Iterator[bytes], name: str, suffix: str, format: str, options: Options
) -> tuple[Format, Iterator[bytes]]:
    """The format of a text, and its blocks, whose sentences are limited. Raises DataError if the options do not fit."""
    if format == "auto":
        kind: Kind = "labelled" if options.labelled else "unlabelled"
        format, text = recognised(text, name, suffix, kind, options.comment)
    check_options(format, options)
    return format_of(format), limited(text, name, format, options.max_sentence, options.comment)


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
    chosen, name = _options(format, docstart, **options), name_of(path)
    if chosen.edges is not None:
        raise DataError(f"{Argument('edges')} needs the text in memory", "use corate.read", file=name)
    with open_blocks(path) as blocks:
        text = utf8(_reported(blocks, progress), encoding, name)
        found, text = _opened(text, name, bare_suffix(path), format, chosen)
        yield from _parsed(found.cut(text), name, found, chosen)


def _reported(
    blocks: Iterable[tuple[bytes, float | None]], progress: Callable[[float | None], None]
) -> Iterator[bytes]:
    for block, done in blocks:
        yield block
        progress(done)


def _parsed(pieces: Iterable[bytes], name: str, format: Format, options: Options) -> Iterator[Corpus]:
    """The corpus of each piece of text. Pieces without a sentence are omitted."""
    found = False
    for piece in pieces:
        options = format.settled(piece, options)
        try:
            corpus = format.read(piece, name, options)
        except NoSentenceError:
            pass
        else:
            options = replace(options, width=len(corpus.layout), layout=corpus.layout or options.layout)
            found = True
            yield corpus
        options = replace(options, lines_before=options.lines_before + piece.count(b"\n"))
    if not found:
        raise nothing_error(name, b"\n" * min(options.lines_before, 1))


def _options(format: str, docstart: str, **given: Any) -> Options:
    """The options of a reader, checked."""
    if format != "auto":
        format_of(format)
    if docstart not in ("keep", "drop"):
        raise DataError(f"docstart must be 'keep' or 'drop', not {docstart!r}")
    if given.get("separator"):
        check_separator(given["separator"])
    if "max_sentence" in given:
        given["max_sentence"] = check_whole("max_sentence", given["max_sentence"], 1)
    given["columns"] = _names(given.get("columns"))
    given["layout"] = tuple(given.get("layout", ()))
    given["edges"] = None if given.get("edges") is None else edge_source(given["edges"])
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
    name = name_of(source)
    format, text = recognised(text_blocks(source, encoding), name, bare_suffix(source), "words")
    return format_of(format).read(joined(limited(text, name, format)), name, Options(labelled=False, skip_bad=True))


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
        labels: a list of labels for each sentence, to write instead of the labels of the corpus. A label may be None in
            JSON lines.
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
    chosen = Writing(separator, label, label_names_of(label_names, label), scores, predicted=labels is not None)
    check_options(format, replace(chosen, label=None))
    write_text = format_of(format).write
    if write_text is None:
        raise DataError("a corpus has tokens and not the raw text", f"use {Argument('format', 'text', of_output=True)}")
    if column is not None and not format_of(format).unknown:
        check_known(column, corpus.offsets)
    save(write_text(corpus, column, chosen), target, encoding)


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
