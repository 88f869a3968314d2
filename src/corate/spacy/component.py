"""A component of spaCy pipelines that sets the labels of a tagger."""

# Without postponed annotations: spaCy checks the configuration of a component by them.

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from spacy import util
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup, Token

from corate.corpus import Corpus
from corate.errors import ConfigError, CorateError, ModelError
from corate.model.archive import from_bytes, load, to_bytes
from corate.model.frames import columns_read
from corate.model.tagger import Tagger
from corate.spacy.docs import SETS, corpus_of, sentences_of, set_labels, spans_of
from corate.spans import are_spans

__all__ = ["SCORE", "CorateComponent", "make_component"]

#: The extension of tokens with the probability of a tag: ``token._.corate_score``.
SCORE = "corate_score"
_FILE = "model.corate"


class CorateComponent(Pipe):
    """A component of spaCy pipelines: a tagger that sets the entities or the tags of documents.

    ``nlp.add_pipe("corate", config={"model": "model.corate"})`` adds it to a pipeline. The arguments below, except
    ``name``, are the keys of ``config``.

    Args:
        name: the name of the component in its pipeline.
        model: the path of the model file. It is read when the component is first used. A pipeline that was saved with
            its model does not need it.
        sets: ``"ents"`` sets entities, ``"tag_"`` sets the tags of tokens. By default, entities if the labels of the
            model mark spans, else tags.
        overwrite: whether new tags replace existing tags, and new entities replace the entities that they overlap. The
            default is False, as for spaCy's tagger and entity ruler: the annotation of earlier components is kept.
        scores: whether to set probabilities, too: those of entities in the span group ``spans_key``, those of tags in
            ``token._.corate_score``.
        spans_key: with ``scores``, the key of the span group of all entities that the tagger found:
            ``doc.spans[spans_key]``. Its ``attrs["scores"]`` has their probabilities.
        columns: for a model that reads more columns than the word: a mapping from the name of each to an attribute of
            tokens, such as ``{"pos": "tag_"}``.

    >>> import corate, spacy
    >>> sentences = [[("Ann", "B-PER"), ("Lee", "I-PER"), ("sings", "O")]]
    >>> nlp = spacy.blank("en")
    >>> component = nlp.add_pipe("corate")
    >>> component.tagger = corate.train(corate.Corpus.from_sentences(sentences * 3))
    >>> nlp("Ann Lee sings").ents
    (Ann Lee,)
    """

    def __init__(
        self,
        name: str = "corate",
        *,
        model: str | None = None,
        sets: str | None = None,
        overwrite: bool = False,
        scores: bool = False,
        spans_key: str = "corate",
        columns: dict[str, str] | None = None,
    ) -> None:
        if sets is not None and sets not in SETS:
            raise ConfigError(f"sets must be one of {', '.join(SETS)}, not {sets!r}", option="sets")
        self.name = name
        self.model = model
        self.overwrite = overwrite
        self.scores = scores
        self.spans_key = spans_key
        self.columns = dict(columns or {})
        self._sets = sets
        self._tagger: Tagger | None = None
        if scores and not Token.has_extension(SCORE):
            Token.set_extension(SCORE, default=None)

    @property
    def tagger(self) -> Tagger:
        """The tagger. It can be set; otherwise it is read from the model file. Raises ModelError if there is none."""
        if self._tagger is None:
            if self.model is None:
                raise ModelError(
                    f"the component {self.name!r} has no model; add it with a model file: "
                    "nlp.add_pipe('corate', config={'model': 'model.corate'})"
                )
            if not os.path.exists(self.model):
                raise ModelError(f"the component {self.name!r} needs the model file {self.model}, which does not exist")
            self._tagger = load(self.model)
        return self._tagger

    @tagger.setter
    def tagger(self, tagger: Tagger) -> None:
        self._tagger = tagger

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the model; an empty tuple if there is no model yet."""
        try:
            return tuple(self.tagger.labels)
        except CorateError:
            return ()

    @property
    def sets(self) -> str:
        """What the labels are set as: ``"ents"`` or ``"tag_"``."""
        return self._sets or ("ents" if are_spans(self.tagger.labels) else "tag_")

    def __call__(self, doc: Doc) -> Doc:
        """Set the labels of one document."""
        return next(self.pipe([doc], batch_size=1))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Set the labels of documents, ``batch_size`` documents at a time; yields the documents.

        spaCy calls it. If a batch fails, the error handler of the pipeline is called, which by default raises the
        error.
        """
        handle: Callable[..., Any] = self.get_error_handler()
        rest = iter(stream)
        while docs := list(islice(rest, batch_size)):
            try:
                self._set(docs)
            except Exception as error:
                handle(self.name, self, docs, error)
            else:
                yield from docs

    def _set(self, docs: list[Doc]) -> None:
        corpus = corpus_of(docs, self._columns())
        labels = self._set_scores(docs, corpus) if self.scores else self.tagger.tag_all(corpus)
        set_labels(docs, labels, sets=self.sets, overwrite=self.overwrite)

    def _columns(self) -> dict[str, str]:
        """The columns that the model reads, with attributes of tokens."""
        needed = columns_read(self.tagger)
        word = self.tagger.record.get("word")
        word = word if word in needed else needed[0]
        missing = [name for name in needed if name != word and name not in self.columns]
        if missing:
            raise ConfigError(
                f"the model reads the column {missing[0]!r}; name the attribute of tokens that it is in the "
                f"configuration of the component, as in columns={{{missing[0]!r}: 'tag_'}}",
                option="columns",
            )
        return {name: self.columns.get(name, "text") for name in needed}

    def _set_scores(self, docs: list[Doc], corpus: Corpus) -> list[list[str]]:
        """Set the probabilities of the best labels, and return the labels."""
        lattice = self.tagger.lattice(corpus)
        labels = lattice.tag()
        if self.sets == "tag_":
            shares = iter(lattice.shares(lattice.best()[0], lattice.marginals()[1]).tolist())
            for token in (token for doc in docs for tokens in sentences_of(doc) for token in tokens):
                token._.set(SCORE, next(shares))
            return labels
        found = iter(zip(labels, lattice.entities(), strict=True))
        for doc in docs:
            spans, scores = list[Span](), list[float]()
            for tokens in sentences_of(doc):
                own, entities = next(found)
                spans += spans_of(doc, tokens, own)
                scores += [entity.probability for entity in entities]
            group = SpanGroup(doc, name=self.spans_key, spans=spans)
            group.attrs["scores"] = np.array(scores, np.float32)
            doc.spans[self.spans_key] = group
        return labels

    # -- saving --------------------------------------------------------------------------------------------------

    def _bytes(self) -> bytes:
        return to_bytes(replace(self.tagger, counts=None))

    def _write(self, path: Path) -> None:
        Path(path).write_bytes(self._bytes())

    def _read(self, data: bytes) -> None:
        self._tagger = from_bytes(data)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model as bytes. The pipeline saves the configuration of the component.

        The counts, which :meth:`corate.Tagger.update` needs, are left out. ``exclude=["model"]`` leaves out the
        model.
        """
        return util.to_bytes({_FILE: self._bytes}, list(exclude))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "CorateComponent":
        """Read the model from the bytes that :meth:`to_bytes` returned; returns the component."""
        util.from_bytes(data, {_FILE: self._read}, list(exclude))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into the folder ``path``, as ``model.corate``. The counts are left out."""
        util.to_disk(path, {_FILE: self._write}, list(exclude))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "CorateComponent":
        """Read the model from the folder ``path``; returns the component."""
        util.from_disk(path, {_FILE: lambda file: self._read(Path(file).read_bytes())}, list(exclude))
        return self


@Language.factory(
    "corate",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "token.tag"],
    default_config={
        "model": None,
        "sets": None,
        "overwrite": False,
        "scores": False,
        "spans_key": "corate",
        "columns": {},
    },
)
def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    sets: str | None,
    overwrite: bool,
    scores: bool,
    spans_key: str,
    columns: dict[str, str],
) -> CorateComponent:
    """Make the component of a pipeline from its configuration."""
    return CorateComponent(
        name, model=model, sets=sets, overwrite=overwrite, scores=scores, spans_key=spans_key, columns=columns
    )
