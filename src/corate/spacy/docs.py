"""From documents of spaCy to a corpus, and from labels to entities and tags of documents.

Tokens are those of spaCy, without the ones that are white space only. A sentence is one of ``doc.sents`` if sentence
boundaries are set, else the whole document.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from spacy.tokens import Doc, DocBin, Span, Token
from spacy.vocab import Vocab

from corate.corpus import Column, Corpus
from corate.corpus.texts import Texts
from corate.corpus.tokenizer import Token as PlacedToken
from corate.display import counted
from corate.errors import ConfigError, DataError
from corate.spans import spans

__all__ = ["SETS", "corpus_of", "from_docs", "sentences_of", "set_labels", "spans_of"]

#: What labels can be set as.
SETS = ("ents", "tag_")


def from_docs(
    docs: Iterable[Doc] | DocBin | str | os.PathLike[str],
    label: str | None = "ents",
    *,
    columns: Mapping[str, str] | None = None,
) -> Corpus:
    """Make a corpus from spaCy documents.

    The corpus has the sentences of the documents. A document without sentence boundaries is one sentence. Tokens that
    are white space are left out.

    Args:
        docs: the documents, a :class:`~spacy.tokens.DocBin`, or the path of a ``.spacy`` file.
        label: ``"ents"`` for the entities as IOB2 labels, or the attribute of tokens that has the labels, such as
            ``"tag_"`` or ``"pos_"``; None for a corpus without labels.
        columns: more columns for templates: a mapping from the name of each to an attribute of tokens, such as
            ``{"pos": "tag_"}``. The column ``word`` has the text of the tokens.

    Raises DataError if an annotation is missing, or if the file cannot be read, and ConfigError if tokens have no such
    attribute, or if its value is not a string.

    >>> import spacy
    >>> from spacy.tokens import Span
    >>> doc = spacy.blank("en")("Ann Lee lives in  Boston")
    >>> doc.ents = [Span(doc, 0, 2, "PER")]
    >>> corpus = from_docs([doc])
    >>> corpus.tokens(0), corpus.labels_of(0)
    (['Ann', 'Lee', 'lives', 'in', 'Boston'], ['B-PER', 'I-PER', 'O', 'O', 'O'])
    """
    given = list(_documents(docs))
    corpus = corpus_of(given, {"word": "text", **(columns or {})})
    if label is None:
        return corpus
    read = _entity_labels if label == "ents" else lambda d, tokens: _values(d, tokens, label, "label")
    found = [value for d, doc in enumerate(given) for own in sentences_of(doc) for value in read(d, own)]
    return replace(corpus, labels=Column.of("label", found))


def corpus_of(docs: Sequence[Doc], columns: Mapping[str, str]) -> Corpus:
    """The sentences of documents. ``columns`` are names with attributes of tokens; the first is the word."""
    sentences = [(d, tokens) for d, doc in enumerate(docs) for tokens in sentences_of(doc)]
    offsets = Corpus.from_sentences([[token.text for token in own] for _, own in sentences])
    built = tuple(
        Column.of(name, [value for d, own in sentences for value in _values(d, own, attribute, "columns")])
        for name, attribute in columns.items()
    )
    texts, places = [], []
    for d, own in sentences:
        first = own[0].idx
        texts.append(docs[d].text[first : own[-1].idx + len(own[-1])])
        places.append([PlacedToken(token.text, token.idx - first, token.idx - first + len(token)) for token in own])
    return replace(offsets, columns=built, texts=Texts.of(texts, places))


def _documents(docs: Iterable[Doc] | DocBin | str | os.PathLike[str]) -> Iterator[Doc]:
    if isinstance(docs, Doc):
        raise DataError("give a list of documents, not a Doc by itself; put it in a list")
    if isinstance(docs, str | os.PathLike):
        path = os.fspath(docs)
        try:
            docs = DocBin().from_disk(path)
        except (OSError, ValueError, KeyError, zlib.error) as error:
            raise DataError(f"{path} cannot be read as a file of spaCy documents: {error}") from None
    yield from docs.get_docs(Vocab()) if isinstance(docs, DocBin) else docs


def sentences_of(doc: Doc) -> list[list[Token]]:
    """The tokens of each sentence that are not white space; sentences without any are left out."""
    whole: Iterable[Iterable[Token]] = doc.sents if len(doc) and doc.has_annotation("SENT_START") else [doc]
    return [tokens for own in whole if (tokens := [token for token in own if not token.text.isspace()])]


def _values(document: int, tokens: list[Token], attribute: str, option: str) -> Iterator[str]:
    """An attribute of tokens, as text. ``option`` is the argument that names it."""
    for token in tokens:
        value = getattr(token, attribute, None)
        if not isinstance(value, str):
            raise ConfigError(
                f"tokens have no text {attribute!r}; name an attribute such as 'tag_', 'pos_' or 'lemma_'",
                option=option,
            )
        if not value and attribute != "text":
            raise DataError(
                f"document {document}, token {token.i} ({token.text!r}): {attribute} is not set; set it for all tokens"
            )
        yield value


def _entity_labels(document: int, tokens: list[Token]) -> Iterator[str]:
    """The IOB2 labels of the entities. One that goes on from another sentence begins again."""
    for i, token in enumerate(tokens):
        if not token.ent_iob_:
            raise DataError(
                f"document {document}, token {token.i} ({token.text!r}): it is not known whether it is in an entity; "
                "set doc.ents, which may be empty"
            )
        starts = token.ent_iob_ == "B" or i == 0 or _starts_after_space(tokens[i - 1], token)
        yield "O" if token.ent_iob_ == "O" else f"{'B' if starts else 'I'}-{token.ent_type_}"


def _starts_after_space(before: Token, token: Token) -> bool:
    """Whether an entity starts with white space between two tokens, which a corpus does not have."""
    return any(between.ent_iob_ == "B" for between in token.doc[before.i + 1 : token.i])


def set_labels(
    docs: Iterable[Doc], labels: Iterable[Sequence[str]], *, sets: str = "ents", overwrite: bool = True
) -> list[Doc]:
    """Set the entities or tags of documents from labels; returns the documents as a list.

    Args:
        docs: the documents, which are changed.
        labels: a list of labels for each sentence, in the order of :func:`from_docs`, such as
            ``tagger.tag_all(from_docs(docs, None))``.
        sets: ``"ents"`` sets entities, from labels that mark spans; ``"tag_"`` sets the tags of tokens.
        overwrite: whether new tags replace existing tags, and new entities replace the entities that they overlap. If
            False, the existing ones are kept, and new entities that overlap them are left out. Entities that do not
            overlap are always kept, as with spaCy's entity ruler. The default is True, because the caller gives
            these labels. For :class:`CorateComponent` it is False, so that a pipeline keeps what other components set.

    Raises DataError if the number of labels is not that of the tokens, or if a span has no type.

    >>> import spacy
    >>> docs = [spacy.blank("en")("Ann Lee lives in Boston")]
    >>> set_labels(docs, [["B-PER", "I-PER", "O", "O", "B-LOC"]])[0].ents
    (Ann Lee, Boston)
    """
    given, rest = list(docs), iter(labels)
    if sets not in SETS:
        raise ConfigError(f"sets must be one of {', '.join(SETS)}, not {sets!r}", option="sets")
    for d, doc in enumerate(given):
        found = []
        for tokens in sentences_of(doc):
            own = list(next(rest, ()))
            if len(own) != len(tokens):
                raise DataError(
                    f"document {d}: a sentence has {counted(len(tokens), 'token')}, but {counted(len(own), 'label')}"
                )
            found.append((tokens, own))
        if sets == "tag_":
            _set_tags(found, overwrite)
        else:
            _set_entities(doc, [span for tokens, own in found for span in spans_of(doc, tokens, own)], overwrite)
    if next(rest, None) is not None:
        raise DataError("there are labels for more sentences than the documents have")
    return given


def spans_of(doc: Doc, tokens: Sequence[Token], labels: Sequence[str]) -> list[Span]:
    """The spans of the labels of a sentence."""
    found = []
    for span in spans(labels):
        if not span.type:
            raise DataError(
                f"the label {labels[span.start]!r} has no type, as in B-PER, and entities need one; add types"
            )
        found.append(Span(doc, tokens[span.start].i, tokens[span.stop - 1].i + 1, label=span.type))
    return found


def _set_tags(sentences: list[tuple[list[Token], list[str]]], overwrite: bool) -> None:
    for tokens, labels in sentences:
        for token, label in zip(tokens, labels, strict=True):
            if overwrite or not token.tag:
                token.tag_ = label


def _set_entities(doc: Doc, found: list[Span], overwrite: bool) -> None:
    before = list(doc.ents)
    first, second = (found, before) if overwrite else (before, found)
    taken = {i for span in first for i in range(span.start, span.end)}
    doc.ents = [*first, *(span for span in second if taken.isdisjoint(range(span.start, span.end)))]
