"""The tagger: a chain model with its vocabulary and features. Taggers label sentences, and are saved and loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.arguments import check_threads
from corate.attributes import ItemSequence
from corate.corpus import Column, Corpus, StringTable, listed
from corate.counting.counts import Counts
from corate.display import counted
from corate.errors import ConfigError, DataError, ModelError
from corate.features.ready_made import Bins, FeatureFunction, check_picklable
from corate.features.vocabulary import Vocabulary
from corate.formats import conllu
from corate.formats.columns import first_row, unwritable_label, width_of
from corate.formats.reading import comment_hint, word_of
from corate.formats.writing import check_labels
from corate.label_scores import FeatureWeight, LabelPair, extremes, rate_scale
from corate.model.chain import ChainModel
from corate.model.constraints import Constraints, limited
from corate.model.frames import FrameTagging
from corate.model.inputs import Inputs, Sentence
from corate.model.lattice import Lattice
from corate.model.notebook import tagger_html, tagger_text
from corate.model.pruning import pruned, shrunk
from corate.model.questions import Questions
from corate.types import Csr

if TYPE_CHECKING:
    from corate.model.explanation import Explanation, Question

__all__ = ["FeatureWeight", "LabelPair", "Tagger"]


@dataclass(frozen=True, eq=False)
class Tagger(Questions, FrameTagging):
    """Labels sentences. Any number of threads may use one tagger, and taggers can be pickled and copied.

    >>> import corate
    >>> sentences = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")], [("a", "DET"), ("cat", "NOUN")]]
    >>> tagger = corate.train(Corpus.from_sentences(sentences))
    >>> tagger.tag(["the", "cat", "barks"])
    ['DET', 'NOUN', 'VERB']
    >>> tagger
    Tagger(polish, 3 labels, 5 words, trained on 2 sentences)
    """

    vocabulary: Vocabulary
    model: ChainModel
    record: dict[str, Any]
    columns: tuple[str, ...] = ("word",)
    counts: Counts | None = None
    bins: Bins | None = None
    function: FeatureFunction | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _ = self._engine  # raises ModelError now, not at the first sentence, if the parts do not fit together

    @cached_property
    def _engine(self) -> _native.Engine:
        return self.model.engine(self.vocabulary, self._inputs.names)

    @cached_property
    def _inputs(self) -> Inputs:
        return Inputs(self.vocabulary, self.columns, self.bins, self.function)

    @cached_property
    def _tag_features(self) -> Callable[[list[Any]], list[str]] | None:
        """A function for :meth:`tag` with as little work as possible: the labels of a list of ready-made features.

        None if the model reads other input.
        """
        return self._engine.tag_features if self._inputs.only_features else None

    @cached_property
    def _edges(self) -> _native.Edges:
        return self.model.edges.native()

    @cached_property
    def _edge_features(self) -> _native.EdgeFeatureWeights | None:
        weights = self.model.edge_weights
        return _native.EdgeFeatureWeights(*weights.arrays()) if len(weights) else None

    @cached_property
    def labels(self) -> list[str]:
        """The labels, in the order of their ids."""
        return self.model.labels.to_list()

    @cached_property
    def _fitting(self) -> set[str]:
        """Separators of column text that no label contains, as far as they were checked."""
        return set()

    @property
    def method(self) -> str:
        """The training method."""
        return str(self.record["method"])

    @property
    def layout(self) -> tuple[str, ...]:
        """The columns of the training data in their order, with ``label``, and ``_`` for columns that were skipped.

        Pass it to :func:`corate.read` to read data of the same layout. Empty for a model of ready-made features.
        """
        layout = self.record.get("layout")
        usual = (*self.columns, "label") if self.columns else ()
        return tuple(map(str, layout)) if isinstance(layout, list) else usual

    @property
    def label_source(self) -> str:
        """Where the labels were in the CoNLL-U file of the training data; empty if it had another format."""
        return str(self.record.get("label_source", ""))

    @property
    def features(self) -> tuple[str, ...]:
        """The templates, as text."""
        return tuple(str(t) for t in self.vocabulary.templates)

    @cached_property
    def words(self) -> StringTable:
        """The words seen in training; empty for a model of ready-made features."""
        word = self.record.get("word")
        return self.vocabulary.strings(word) if word in self.vocabulary.columns else StringTable.intern([])[0]

    def __repr__(self) -> str:
        return tagger_text(self)

    _repr_html_ = tagger_html

    # -- tagging -------------------------------------------------------------------------------------------------

    def tag(self, tokens: Sentence, *, decode: str = "best", constraints: Constraints | None = None) -> list[str]:
        """The labels of one sentence: a list of words, or of tuples or mappings if the model reads several columns.

        For a model of ready-made features, give the features of each token: a dict, a list of names or an array of
        numbers. A sentence may also be an :class:`~corate.ItemSequence`.

        ``decode="posterior"`` returns the most probable label of each token, not the most probable labelling.

        >>> import corate
        >>> rows = [("the", "DT", "O"), ("dog", "NN", "B")]
        >>> tagger = corate.train(Corpus.from_sentences([rows]), features=["word[0]", "pos[0]"])
        >>> tagger.tag([("the", "DT"), ("dog", "NN")])
        ['O', 'B']
        """
        if constraints is not None or decode != "best":
            return self.lattice([tokens], constraints=constraints).tag(decode)[0]
        if type(tokens) is list and self._tag_features is not None:
            return self._tag_features(tokens)
        given = self._inputs.sentence(tokens)
        if given is not None:
            labels = self._engine.tag_sentence(*given)
            if labels is not None:
                return labels
        return self.tag_all([tokens])[0]

    def tag_all(self, sentences: Corpus | Iterable[Sentence], *, threads: int = 1) -> list[list[str]]:
        """The labels of many sentences. The result does not depend on the number of threads."""
        columns, offsets, ready = self._inputs.batch(sentences)
        ids = self._engine.tag_columns(columns, offsets, ready, check_threads(threads))
        flat = Column("label", ids, self.model.labels).values()
        return [flat[a:b] for a, b in pairwise(offsets.tolist())]

    def tag_corpus(self, corpus: Corpus, *, threads: int = 1) -> Column:
        """The labels of a corpus as a column of ids."""
        columns, offsets, ready = self._inputs.batch(corpus)
        ids = self._engine.tag_columns(columns, offsets, ready, check_threads(threads))
        return Column("label", ids, self.model.labels)

    def tag_text(
        self,
        data: bytes,
        *,
        columns: Sequence[str] | None = None,
        separator: str | None = None,
        comment: str | None = None,
        threads: int = 1,
        first_line: int = 1,
    ) -> tuple[bytes, int]:
        r"""Label column text (UTF-8): returns the same lines with the label appended, and the number of tokens.

        ``columns`` names the columns of the text (default: :meth:`text_columns`). Raises DataError if a label of the
        model cannot be written in such rows, for example because it contains a line feed.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
        >>> tagger.tag_text(b"the\ndog\n")
        (b'the\tDET\ndog\tNOUN\n', 2)
        """
        self._check_reads_text(data)
        threads = check_threads(threads)
        names = self.text_columns(data, separator, comment) if columns is None else tuple(columns)
        missing = [c for c in self.vocabulary.columns if c not in names]
        if missing:
            raise DataError(f"the model reads the column {missing[0]!r}; the text has {', '.join(names)}")
        if separator and len(separator.encode()) > 1:
            raise DataError(f"columns are separated by one ASCII character, not by {separator!r}")
        between = separator or (" " if b" " in first_row(data, comment).strip(b" \t\r") else "\t")
        if between not in self._fitting:
            check_labels(self.labels, unwritable_label(between), "columns")
            self._fitting.add(between)
        positions = [names.index(c) for c in self.vocabulary.columns]
        try:
            return self._engine.tag_text(
                data, self.labels, positions, separator or "", comment or "", threads, first_line
            )
        except RuntimeError as error:
            hint = comment_hint(*data.split(b"\n"), comment=comment)
            raise DataError(
                f"{error} ({', '.join(self.vocabulary.columns)}); name the columns with columns={hint}"
            ) from None

    def tag_conllu(
        self, data: bytes, *, label: str | None = None, threads: int = 1, first_line: int = 1
    ) -> tuple[bytes, int]:
        r"""Label CoNLL-U text (UTF-8): returns it with the labels of its tokens replaced, and the number of tokens.

        ``label`` is where labels are written: ``"upos"``, ``"xpos"``, ``"feats"``, ``"upos+feats"`` or a key of MISC;
        by default where they were in training, else ``"upos"``. All other bytes stay as they are.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
        >>> tagger.tag_conllu(b"# text = dog\n1\tdog\t_\t_\t_\t_\t_\t_\t_\tRef=7\n")
        (b'# text = dog\n1\tdog\t_\tNOUN\t_\t_\t_\t_\t_\tRef=7\n', 1)
        """
        self._check_reads_text(data)
        place = conllu.label_place(label or self.label_source or None)
        word = word_of(self.layout)
        positions = [conllu.position(name, word) for name in self.vocabulary.columns]
        texts = place.texts(self.labels)
        try:
            return self._engine.tag_conllu(
                data, positions, list(place.columns), texts, place.key, check_threads(threads), first_line
            )
        except RuntimeError as error:
            line = int(str(error))
            row = data.split(b"\n", line - first_line + 1)[line - first_line]
            raise DataError(f"line {line}: {conllu.bad_row(row)}") from None

    def _check_reads_text(self, data: bytes) -> None:
        if not isinstance(data, bytes):
            raise DataError(f"text to tag is given as UTF-8 bytes, not as {type(data).__name__}; give it text.encode()")
        if not self.vocabulary.columns or self.vocabulary.attributes is not None:
            raise ModelError("the model reads ready-made features, not columns; use tag or tag_all")

    def text_columns(self, data: bytes, separator: str | None = None, comment: str | None = None) -> tuple[str, ...]:
        r"""The names of the columns of a text, from the layout of the training data. The text may have labels or not.

        If the label is not the last column, the width of the first row decides whether the text has labels.

        >>> import corate
        >>> tagger = corate.train(corate.read(b"O Ann\nO sings\n", columns="label,word"))
        >>> tagger.text_columns(b"O Bob"), tagger.text_columns(b"Bob")
        (('label', 'word'), ('word',))
        """
        observed = tuple(name for name in self.layout if name != "label")
        if self.layout[: len(observed)] == observed:
            return observed
        width = width_of(first_row(data, comment), separator)
        if width in (0, len(self.layout)):
            return self.layout
        for names in (observed, tuple(name for name in observed if name != "_")):
            if width == len(names):
                return names
        raise DataError(
            f"the first row has {counted(width, 'column')}, but the training data had "
            f"{len(self.layout)} ({', '.join(self.layout)}); name the columns with columns="
        )

    def lattice(
        self,
        sentences: Corpus | Iterable[Sentence],
        *,
        threads: int = 1,
        constraints: Constraints | Sequence[Constraints] | None = None,
    ) -> Lattice:
        """Candidate labels and scores of each token, for questions about many sentences.

        ``constraints`` are the same for all sentences, or one for each that differ in ``labels`` only. Raises DataError
        if no labelling of a sentence satisfies them.
        """
        given, words = self._inputs.with_words(sentences, self.record.get("word"))
        columns, tokens, ready = self._inputs.batch(given)
        threads = check_threads(threads)

        def build(more: Csr | None = None) -> Lattice:
            offsets, labels, scores, places, ids = self._engine.lattice(columns, tokens, ready, threads, more)
            extra = None if self._edge_features is None else (places, ids, self._edge_features)
            return Lattice(tokens, offsets, labels, scores, self._edges, extra, self.labels, words, threads=threads)

        if constraints is None:
            return build()
        return limited(build, tokens, words, self.labels, self.model.edges, constraints)

    def explain(
        self, tokens: Sentence, position: int, label: str | None = None, against: str | None = None
    ) -> Explanation:
        """Explain why the token at ``position`` has ``label`` and not the label ``against``; by default the two best.

        The contributions of features, counts, neighbouring labels and other tokens sum to the difference of the scores.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("b", "Y"), ("a", "X")]]))
        >>> found = tagger.explain(["a", "b"], 1)
        >>> found.label, found.against, round(sum(c.score for c in found.contributions) - found.difference, 3)
        ('Y', 'X', 0.0)
        """
        from corate.model.explanation import Question, explain

        sentence = tokens if isinstance(tokens, ItemSequence) else list(listed(tokens, "a sentence", "tokens"))
        return explain(self.model, self._inputs, self.lattice, [sentence], [Question(0, position, label, against)])[0]

    def explanations(self, corpus: Corpus, questions: Sequence[Question], most: int | None = None) -> list[Explanation]:
        """Explain many tokens of a corpus together, as :meth:`explain` does; with the ``most`` largest contributions.

        >>> import corate
        >>> from corate.model.explanation import Question
        >>> corpus = Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("b", "Y"), ("a", "X")]])
        >>> [found.label for found in corate.train(corpus).explanations(corpus, [Question(0, 1), Question(1, 1)])]
        ['Y', 'X']
        """
        from corate.model.explanation import explain

        return explain(self.model, self._inputs, self.lattice, corpus, questions, most)

    def rates(self, n: int = 10) -> tuple[list[LabelPair], list[LabelPair]]:
        """The ``n`` label pairs that attract each other most, and the ``n`` that avoid each other most.

        Weights are above 0 for labels that attract each other. Only models of the method ``"empirical"`` with a ladder
        have co-occurrence rates; their weights are the logarithms of the rates times a constant. The boundaries of a
        sentence are written ``<s>`` and ``</s>``. Only pairs whose weight is stored are listed.
        """
        edges = self.model.edges
        names, scale = self.labels, rate_scale(self.record)
        origin = np.repeat(np.arange(len(edges.row)), np.diff(edges.offsets))
        boundary = len(edges.row) - 1
        inner = np.flatnonzero((origin != boundary) | (edges.to != boundary))

        def pairs(chosen: NDArray[np.int64]) -> list[LabelPair]:
            weights = edges.scores[inner[chosen]].astype(np.float64)
            with np.errstate(over="ignore"):
                rates = [None] * len(weights) if scale is None else np.exp(weights / scale).tolist()
            ends = zip(origin[inner[chosen]].tolist(), edges.to[inner[chosen]].tolist(), strict=True)
            return [
                LabelPair(names[a] if a < boundary else "<s>", names[b] if b < boundary else "</s>", weight, rate)
                for (a, b), weight, rate in zip(ends, weights.tolist(), rates, strict=True)
            ]

        highest, lowest = extremes(edges.scores[inner], n)
        return pairs(highest), pairs(lowest)

    def strongest(self, n: int = 10) -> tuple[list[FeatureWeight], list[FeatureWeight]]:
        """The ``n`` features with the highest weights for a label, and the ``n`` with the lowest.

        In models with weights of parts of labels, the label may be a part, such as ``Case=Gen``.
        Models with a ladder also have counted scores of whole words. They are not weights of features, and not listed.

        >>> import corate
        >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("the", "DET"), ("cat", "NOUN")]])
        >>> favoured, opposed = corate.train(corpus, "separate", features=["word[0]"]).strongest(1)
        >>> favoured[0].feature, favoured[0].label
        ('word[0]=the', 'DET')
        """
        weights, parts = self.model.weights, self.model.parts
        columns = [*self.labels, *([] if parts is None else parts.names.to_list())]

        def named(places: NDArray[np.int64]) -> list[FeatureWeight]:
            features = self.vocabulary.names((np.searchsorted(weights.offsets, places, side="right") - 1).tolist())
            labels = [columns[column] for column in weights.labels[places].tolist()]
            return list(map(FeatureWeight, features, labels, weights.scores[places].tolist()))

        highest, lowest = extremes(weights.scores, n)
        return named(highest), named(lowest)

    # -- learning, saving ----------------------------------------------------------------------------------------

    def update(self, corpus: Corpus) -> Tagger:
        """A tagger that has also learned from another corpus. Tuned settings do not change.

        For models of the method ``"empirical"``. Raises ModelError if the model has no counts. To train a model of
        another method further, use ``corate.train(corpus, init=tagger)``.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]), "empirical")
        >>> tagger.update(Corpus.from_sentences([[("an", "DET"), ("emu", "NOUN")]]))
        Tagger(empirical, 2 labels, 4 words, trained on 2 sentences)
        """
        from corate.training.api import update

        return update(self, corpus)

    def pruned(self, rare: int) -> Tagger:
        """A smaller tagger without combined features, such as word pairs, seen fewer than ``rare`` times.

        Needs the counts. Rare counts are dropped too, so a later ``update`` does not know them.
        """
        return pruned(self, rare)

    def shrunk(self, *, drop_below: float = 0.0, rare: int = 0, counts: bool = True) -> Tagger:
        """A smaller tagger, without training again. Its labels may differ; evaluate it.

        Weights of features closer to 0 than ``drop_below`` are dropped, and features without weights. ``rare`` is as
        for :meth:`pruned`. Without ``counts``, the tagger cannot be updated. ``save(half=True)`` halves what is left.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET")]]))
        >>> small = tagger.shrunk(drop_below=0.05)
        >>> small.record["features"] < tagger.record["features"], small.tag(["the", "dog"])
        (True, ['DET', 'NOUN'])
        """
        return shrunk(self, drop_below, rare, counts)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        counts: bool = True,
        half: bool = False,
        rare: int = 0,
        format: str | None = None,
        bias: str | None = None,
    ) -> int:
        """Write the model file and return its size in bytes.

        Without ``counts`` the file is smaller, and the model cannot be updated. ``half`` stores scores in 16 bits.
        Combined features seen fewer than ``rare`` times are left out.

        ``format`` is ``"corate"`` or ``"crfsuite"``. By default it is ``"crfsuite"`` for a path that ends in
        ``.crfsuite``, else ``"corate"``. A CRFsuite file can store first-order models with ready-made features, and
        only weights of features and of label pairs. If the model has anything else, ModelError names it. Weights of
        single labels become weights of the feature ``bias``, which every token must then have.
        """
        if format not in (None, "corate", "crfsuite"):
            raise ConfigError(f"format must be 'corate' or 'crfsuite', not {format!r}", option="format")
        tagger = self if rare < 2 else self.pruned(rare)
        from corate.model import archive, crfsuite

        if format == "crfsuite" or (format is None and crfsuite.has_suffix(path)):
            if half:
                raise ConfigError("a CRFsuite file stores weights in 64 bits; omit half=True", option="half")
            return crfsuite.save(tagger, path, bias)
        if bias is not None:
            raise ConfigError("bias= is for CRFsuite files; a corate file stores the weights of labels", option="bias")
        return archive.save(tagger, path, counts=counts, half=half)

    # A pickle holds the bytes of the model file, which are checked when they are read, and the function by reference.
    def __reduce__(self) -> tuple[Any, ...]:
        from corate.model.archive import from_bytes, to_bytes

        check_picklable(self.function)
        return from_bytes, (to_bytes(self), self.function)

    def __copy__(self) -> Tagger:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tagger:
        from corate.model.archive import from_bytes, to_bytes

        return from_bytes(to_bytes(self), self.function)
