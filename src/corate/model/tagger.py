"""The tagger: a chain model with its vocabulary and features. Taggers label text, and are saved, loaded and pickled.

What a model file or a pickle may name is in :mod:`corate.model.archive`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.arguments import check_threads
from corate.corpus import Column, Corpus, StringTable, listed
from corate.corpus.attributes import ItemSequence
from corate.counting.counts import Counts
from corate.display import counted
from corate.errors import Argument, ConfigError, DataError, ModelError
from corate.features.ready_made import Bins, FeatureFunction, check_picklable
from corate.features.vocabulary import Vocabulary
from corate.formats import conllu
from corate.formats.columns import unwritable_label, width_of
from corate.formats.reading import comment_hint, word_of
from corate.formats.rows import first_row
from corate.formats.writing import check_labels
from corate.model.answers import Answers
from corate.model.chain import ChainModel
from corate.model.constraints import Constraints, limited
from corate.model.frames import FrameTagging
from corate.model.graph_lattice import MEMORY, GraphLattice, Inference, within
from corate.model.graph_scores import GraphField, NodeClassifier, NodeFeatures, check_graphs, given_scores
from corate.model.inputs import Inputs, Sentence
from corate.model.lattice import Lattice
from corate.model.notebook import tagger_html, tagger_text
from corate.model.shrinking import shrunk
from corate.model.weights import FeatureWeight, LabelPair, extremes, feature_names, feature_weights, rate_scale
from corate.types import Csr, Offsets

if TYPE_CHECKING:
    from corate.model.explanation import Explanation, Question

__all__ = ["FeatureWeight", "LabelPair", "Tagger"]


@dataclass(frozen=True, eq=False)
class Tagger(Answers, FrameTagging):
    """Labels sentences, and answers questions about their labels.

    Made by :func:`corate.train` and :func:`corate.load`, not by the constructor. Any number of threads may use one
    tagger. Taggers can be pickled and copied. Best labels and probabilities are exact over the candidate labels of each
    token.

    Attributes:
        vocabulary: the features that the model knows.
        model: the weights.
        record: a dict with facts about the training, such as ``record["settings"]``, the values of the options.
        columns: the names of the columns of the training data, without the label.
        counts: the counts that :meth:`update` needs; None if the model has none.
        bins: how numeric features were divided into bins; None if they were not.
        function: the feature function; None if there is none.
        classifier: what gives the probabilities of the labels of nodes of graphs, if it is not the model. It is not
            saved; without it, graphs need ``node_log_probs``.

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
    classifier: NodeClassifier | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.model.graph is not None:
            self.model.check_graph(self.vocabulary)
        else:
            _ = self._engine  # raises ModelError now, not at the first sentence, if the parts do not fit together

    @cached_property
    def _engine(self) -> _native.Engine:
        return self.model.engine(self.vocabulary, self._inputs.names, self._edge_features)

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
        return self.model.edge_features(self.vocabulary)

    @cached_property
    def labels(self) -> list[str]:
        """The labels that the model knows, in the order of their ids."""
        return self.model.labels.to_list()

    @cached_property
    def _check_separator(self) -> Callable[[str], None]:
        """A function that raises DataError if a label contains a separator of column text. It checks each one once."""
        return cache(lambda between: check_labels(self.labels, unwritable_label(between), "columns"))

    @property
    def method(self) -> str:
        """The name of the training method, such as ``"polish"``."""
        return str(self.record["method"])

    @property
    def counted(self) -> bool:
        """Whether all its scores are derived from counts, so that counts of more text can be added."""
        return self.counts is not None or "ladder" in self.record

    @property
    def layout(self) -> tuple[str, ...]:
        """The names of the columns of the training data in order, with ``label``, and with ``_`` for omitted columns.

        ``corate.read(source, layout=tagger.layout)`` reads data with the same columns. Empty if the model was trained
        on ready-made features.
        """
        layout = self.record.get("layout")
        usual = (*self.columns, "label") if self.columns else ()
        return tuple(map(str, layout)) if isinstance(layout, list) else usual

    @property
    def label_source(self) -> str:
        """Where the labels were in CoNLL-U training data, such as ``"upos"``; empty for other formats.

        For CSV files of nodes, it is the name of the column.
        """
        return str(self.record.get("label_source", ""))

    @property
    def edge_source(self) -> str:
        """What the edges of the training data were, such as ``"tree"``; empty for sentences and for other edges."""
        return str(self.record.get("edge_source", ""))

    @property
    def features(self) -> tuple[str, ...]:
        """The templates of the features, as strings such as ``"word[0]"``."""
        return tuple(str(t) for t in self.vocabulary.templates)

    @cached_property
    def words(self) -> StringTable:
        """The words of the training data, an iterable of strings; empty for a model of ready-made features."""
        word = self.record.get("word")
        return self.vocabulary.strings(word) if word in self.vocabulary.columns else StringTable.intern([])[0]

    def __repr__(self) -> str:
        return tagger_text(self)

    _repr_html_ = tagger_html

    # -- tagging -------------------------------------------------------------------------------------------------

    def tag(
        self, tokens: Sentence | Corpus, *, decode: str | None = None, constraints: Constraints | None = None
    ) -> list[str]:
        """The labels of one sentence, a label for each token. A tagger of graphs takes a corpus with one graph.

        Args:
            tokens: a list of tokens. A token is a word, or a tuple or mapping of columns if the model reads several
                columns. If the model was trained on ready-made features, a token is a dict of features, a list of names
                or an array of numbers, and the sentence may be a :class:`~corate.ItemSequence`.
            decode: ``"best"`` for the most probable labelling of the sentence, or ``"posterior"`` for the most probable
                label of each token by itself. The default is ``"best"``, and ``"posterior"`` for graphs with loops.
            constraints: which labellings are allowed. By default, all.

        Raises DataError if ``tokens`` is a string, if columns are missing, or if no labelling satisfies the
        constraints.

        >>> import corate
        >>> rows = [("the", "DT", "O"), ("dog", "NN", "B")]
        >>> tagger = corate.train(Corpus.from_sentences([rows]), features=["word[0]", "pos[0]"])
        >>> tagger.tag([("the", "DT"), ("dog", "NN")])
        ['O', 'B']
        """
        if constraints is not None or decode not in (None, "best") or self.model.graph is not None:
            return self.lattice(self._single(tokens), constraints=constraints).tag(decode)[0]
        if type(tokens) is list and self._tag_features is not None:
            return self._tag_features(tokens)
        given = self._inputs.sentence(tokens)
        if given is not None:
            labels = self._engine.tag_sentence(*given)
            if labels is not None:
                return labels
        return self.tag_all([tokens])[0]

    def tag_all(self, sentences: Corpus | Iterable[Sentence], *, threads: int = 1) -> list[list[str]]:
        """The labels of many sentences, a list for each sentence.

        Args:
            sentences: a corpus, or an iterable of sentences as for :meth:`tag`.
            threads: the number of threads. The result does not depend on it.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
        >>> tagger.tag_all([["the", "dog"], ["dog"]])
        [['DET', 'NOUN'], ['NOUN']]
        """
        labels, offsets = self._tagged(sentences, threads)
        flat = labels.values()
        return [flat[a:b] for a, b in pairwise(offsets.tolist())]

    def tag_corpus(self, corpus: Corpus, *, threads: int = 1) -> Column:
        """The labels of a corpus as one column. Its method ``values()`` returns a list with the label of each token."""
        return self._tagged(corpus, threads)[0]

    def _tagged(self, sentences: Corpus | Iterable[Sentence], threads: int) -> tuple[Column, Offsets]:
        """The labels of all tokens, and the offsets of the sentences."""
        if self.model.graph is not None:
            graphs = self.graph_lattice(sentences, threads=threads)
            return Column("label", graphs.label_ids(), self.model.labels), graphs.sentences
        columns, offsets, ready = self._inputs.batch(self._without_edges(sentences))
        ids = self._engine.tag_columns(columns, offsets, ready, check_threads(threads))
        return Column("label", ids, self.model.labels), offsets

    def _single(self, tokens: Sentence | Corpus) -> Any:
        """One sentence as a batch; for a model of graphs, the corpus with the one graph."""
        if self.model.graph is None:
            return [tokens]
        check_graphs(tokens)
        assert isinstance(tokens, Corpus)
        if len(tokens) != 1:
            raise DataError(
                f"this takes one graph, and the corpus has {counted(len(tokens), 'graph')}",
                "take one, as in corpus[0], or use tag_all or lattice for many",
            )
        return tokens

    def _without_edges(self, sentences: Any) -> Any:
        """The sentences. Raises DataError for graphs, whose edges the model would not see."""
        if isinstance(sentences, Corpus) and sentences.edges is not None:
            raise DataError(
                "the model was trained on sentences, so it does not see the edges of graphs",
                "train a model on graphs, or remove the edges with dataclasses.replace(corpus, edges=None)",
            )
        return sentences

    def _refuse_graphs(self, what: str, instead: str) -> None:
        if self.model.graph is not None:
            raise ModelError(f"{what} is for sentences, and this model labels graphs", f"use {instead}")

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
        r"""Label text in columns, and return the same lines with a label added to each, and the number of tokens.

        Args:
            data: the text, as UTF-8 bytes: a token per line, and blank lines between sentences.
            columns: the names of the columns. By default, those of :meth:`text_columns`.
            separator: the character between columns. By default, any run of spaces and tabs.
            comment: lines that begin with this string are copied without a label.
            threads: the number of threads. The result does not depend on it.
            first_line: the number of the first line, for error messages.

        Raises DataError if a column that the model reads is missing, or if a label of the model cannot be written in
        such rows, for example because it contains a line feed. Raises ModelError if the model reads ready-made
        features.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
        >>> tagger.tag_text(b"the\ndog\n")
        (b'the\tDET\ndog\tNOUN\n', 2)
        """
        self._refuse_graphs("tagging text", "corate.read with edges, and tag_corpus")
        self._check_reads_text(data)
        threads = check_threads(threads)
        names = self.text_columns(data, separator, comment) if columns is None else tuple(columns)
        missing = [c for c in self.vocabulary.columns if c not in names]
        if missing:
            has = f"the model reads the column {missing[0]!r}; the text has {', '.join(names)}"
            raise DataError(has, f"use {Argument('columns')}")
        if separator and len(separator.encode()) > 1:
            raise DataError(f"columns are separated by one ASCII character, not by {separator!r}")
        between = separator or (" " if b" " in first_row(data, comment).strip(b" \t\r") else "\t")
        self._check_separator(between)
        positions = [names.index(c) for c in self.vocabulary.columns]
        try:
            return self._engine.tag_text(
                data, self.labels, positions, separator or "", comment or "", threads, first_line
            )
        except RuntimeError as error:
            line, width = error.args
            hint = comment_hint(*data.split(b"\n"), comment=comment)
            raise DataError(
                f"{counted(width, 'column')}, but the model reads column {max(positions) + 1} "
                f"({', '.join(self.vocabulary.columns)})",
                f"name the columns with {Argument('columns')}{hint}",
                line=line,
            ) from None

    def tag_conllu(
        self,
        data: bytes,
        *,
        label: str | None = None,
        edges: str | None = None,
        threads: int = 1,
        first_line: int = 1,
    ) -> tuple[bytes, int]:
        r"""Label CoNLL-U text, and return it with the labels of its tokens replaced, and the number of tokens.

        Args:
            data: the text, as UTF-8 bytes. All bytes except the labels stay as they are.
            label: where labels are written: ``"upos"``, ``"xpos"``, ``"feats"``, ``"upos+feats"``, a key of FEATS
                such as ``"feats:Case"``, or a key of MISC. By default, where they were in the training data, else
                ``"upos"``.
            edges: the edges of the text, as for :func:`corate.read`. By default, those of the training data.
            threads: the number of threads. The result does not depend on it.
            first_line: the number of the first line, for error messages.

        Raises DataError for a line that is not CoNLL-U, and ModelError if the model reads ready-made features.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
        >>> tagger.tag_conllu(b"# text = dog\n1\tdog\t_\t_\t_\t_\t_\t_\t_\tRef=7\n")
        (b'# text = dog\n1\tdog\t_\tNOUN\t_\t_\t_\t_\t_\tRef=7\n', 1)
        """
        self._check_reads_text(data)
        place = conllu.label_place(label or self.label_source or None)
        word = word_of(self.layout)
        positions, written = conllu.positions_of(self.vocabulary.columns, word), place.written(self.labels)
        threads, edges = check_threads(threads), edges or self.edge_source
        if not edges:
            self._refuse_graphs("text without edges", f"{Argument('edges', 'tree')}, or other edges")
        try:
            if positions is not None and not edges:
                return self._engine.tag_conllu(data, positions, *written, threads, first_line)
            layout = tuple(name for name in self.layout if name in (word, *self.vocabulary.columns))
            corpus = conllu.read_tokens(data, layout, edges, first_line)
            if corpus is None:
                return data, 0
            ids = self.tag_corpus(corpus, threads=threads).ids
            return _native.label_conllu(data, ids, *written, first_line), len(ids)
        except RuntimeError as error:
            line, _ = error.args
            row = data.split(b"\n", line - first_line + 1)[line - first_line]
            raise DataError(conllu.bad_row(row), line=line) from None

    def _check_reads_text(self, data: bytes) -> None:
        if not isinstance(data, bytes):
            raise DataError(f"text to tag is given as UTF-8 bytes, not as {type(data).__name__}; give it text.encode()")
        if not self.vocabulary.columns or self.vocabulary.attributes is not None:
            raise ModelError("the model reads ready-made features, not columns; use tag or tag_all")

    def text_columns(self, data: bytes, separator: str | None = None, comment: str | None = None) -> tuple[str, ...]:
        r"""The names of the columns of a text, which has the layout of the training data, with or without labels.

        ``data`` is the text as bytes; ``separator`` and ``comment`` are as for :meth:`tag_text`. If the label was the
        last column in training, the names do not contain it. Otherwise, the number of columns in the first row
        decides whether the text has labels. Raises DataError if this number does not fit the layout.

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
            f"{len(self.layout)} ({', '.join(self.layout)})",
            f"name the columns with {Argument('columns')}",
        )

    def lattice(
        self,
        sentences: Corpus | Iterable[Sentence],
        *,
        threads: int = 1,
        constraints: Constraints | Sequence[Constraints] | None = None,
        memory: int = MEMORY,
    ) -> Lattice:
        """The lattice of many sentences: the candidate labels of each token, and their scores.

        Its methods answer the questions that the tagger answers for one sentence, with a list of answers: ``tag``,
        ``nbest``, ``entities``, ``confidence``, ``entropy`` and ``sample``.

        Args:
            sentences: a corpus, or an iterable of sentences as for :meth:`tag`.
            threads: the number of threads. The answers do not depend on it.
            constraints: constraints for all sentences, or a list with constraints for each sentence. In a list, they
                may differ only in ``labels``.
            memory: for graphs, the most bytes of the clique tree of a component. Larger ones are answered by messages,
                which are approximate.

        A tagger of graphs takes a corpus of graphs. Its lattice has the same methods, except ``entities``, and also
        ``edge_marginals`` and ``inference``.
        Raises DataError if no labelling of a sentence satisfies the constraints.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
        >>> tagger.lattice([["the", "dog"], ["dog"]]).tag()
        [['DET', 'NOUN'], ['NOUN']]
        """
        if self.model.graph is not None:
            graphs: Any = self.graph_lattice(sentences, threads=threads, constraints=constraints, memory=memory)
            return cast(Lattice, graphs)  # it answers the same questions
        sentences = self._without_edges(sentences)
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

    def graph_lattice(
        self,
        graphs: Corpus | Iterable[Sentence],
        *,
        threads: int = 1,
        constraints: Constraints | Sequence[Constraints] | None = None,
        memory: int = MEMORY,
    ) -> GraphLattice:
        """The lattice of a corpus of graphs: see :meth:`lattice`. It reads no labels of the corpus."""
        corpus, graph, threads = check_graphs(graphs), self.model.graph, check_threads(threads)
        assert graph is not None
        if graph.given:
            if corpus.node_log_probs is None and self.classifier is not None:
                scores = self.classifier.with_scores(corpus, self.labels)
                corpus = replace(corpus, node_log_probs=scores, labels=None)
            features = NodeFeatures.given(given_scores(corpus, self.labels))
        else:
            features = self._inputs.node_features(corpus)
        nodes = self.model.node_scores(features, threads)
        if constraints is not None:
            words = None if corpus.word is None else corpus.word.values()
            nodes = within(nodes, corpus.offsets, words, self.labels, constraints)
        tables = graph.tables_of(corpus.edges or (), len(self.model.labels))
        return GraphLattice(
            GraphField.of(corpus.offsets, corpus.edges or (), nodes, tables), self.labels, memory, threads
        )

    def edge_marginals(
        self, graph: Corpus, type: str, *, constraints: Constraints | None = None
    ) -> NDArray[np.float64]:
        """The probabilities of pairs of labels of the edges of a type, ``(edges, labels, labels)``, for one graph.

        Labels are in the order of :attr:`labels`: first that of the first end of an edge, then that of the second.
        """
        return self._graph(graph, constraints).edge_marginals(type)

    def inference(self, graph: Corpus) -> Inference:
        """How the answers about one graph are computed: exactly, or by messages, and how these converged."""
        return self._graph(graph, None).inference()

    def _graph(self, graph: Corpus, constraints: Constraints | None) -> GraphLattice:
        if self.model.graph is None:
            raise ModelError("this model labels sentences, which have no typed edges", "use pair_marginals")
        return self.graph_lattice(self._single(graph), constraints=constraints)

    def edge_rates(self, type: str) -> dict[tuple[str, str], float]:
        """The rates of pairs of labels along the edges of a type, of a model of graphs.

        A rate above 1 says that the two labels attract each other. Rates are between the label of the first end of an
        edge and that of the second. With features of edges, they are those of an edge whose features are all zero.

        >>> import corate
        >>> edges = np.array([[0, 1], [1, 2], [2, 3], [4, 5]])
        >>> x = [{"red"}, {"red"}, {"red"}, {"blue"}, {"blue"}, {"red"}]
        >>> corpus = Corpus.from_graphs(list(map(list, x)), list("RRRBBB"), edges=edges)
        >>> rates = corate.train(corpus, "separate").edge_rates("edge")
        >>> rates["R", "R"] > rates["R", "B"]
        True
        """
        for own in () if self.model.graph is None else self.model.graph.edges:
            if own.type == type:
                names = self.labels
                rates = np.exp(own.table.astype(np.float64)).tolist()
                return {(a, b): rates[i][j] for i, a in enumerate(names) for j, b in enumerate(names)}
        known = () if self.model.graph is None else self.model.graph.edges
        raise DataError(f"the model has no edges of the type {type!r}; its types are {[own.type for own in known]}")

    def explain(
        self, tokens: Sentence | Corpus, position: int, label: str | None = None, against: str | None = None
    ) -> Explanation:
        """Explain why a token, or a node of a graph, has one label and not another one.

        The best labelling with ``label`` is compared with the best labelling with ``against``. The result has their
        ``difference``, the logarithm of the ratio of their probabilities, and a list of ``contributions``, which sum
        to the difference. Each has a ``source`` (such as a feature, the counts of the word, the neighbouring labels or
        the other tokens), a ``name`` and a ``score``. ``print`` shows them as a table.

        Args:
            tokens: the sentence, as for :meth:`tag`.
            position: the index of the token, counted from 0.
            label: the label to explain. By default, the best label.
            against: the label to compare with. By default, the second best label.

        A tagger of graphs takes a corpus with one graph and the index of a node. The contributions are those of its
        features (``vector[3]`` is column 3 of its vector), of each of its edges, with the label of the node at the
        other end, and of changes at the other nodes. Where inference is exact, the two labellings are the best. In
        components that are answered by messages, they are the best that messages find, and the contributions sum to
        the difference of these. There, the default label is the most probable one of the node, which need not be in
        the best labelling.

        Raises DataError if there is no such token or label.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("b", "Y"), ("a", "X")]]))
        >>> found = tagger.explain(["a", "b"], 1)
        >>> found.label, found.against, abs(sum(c.score for c in found.contributions) - found.difference) < 1e-4
        ('Y', 'X', True)
        """
        from corate.model.explanation import Question, explain

        if self.model.graph is not None:
            return self.explanations(self._single(tokens), [Question(0, position, label, against)])[0]
        sentence = tokens if isinstance(tokens, ItemSequence) else list(listed(tokens, "a sentence", "tokens"))
        return explain(self.model, self._inputs, self.lattice, [sentence], [Question(0, position, label, against)])[0]

    def explanations(self, corpus: Corpus, questions: Sequence[Question], most: int | None = None) -> list[Explanation]:
        """Explain many tokens of a corpus together, as :meth:`explain` does.

        A question has the index of a sentence, the position of a token and, if wanted, ``label`` and ``against``. With
        ``most``, each answer has only this many contributions, the largest ones.

        >>> import corate
        >>> from corate.model.explanation import Question
        >>> corpus = Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("b", "Y"), ("a", "X")]])
        >>> [found.label for found in corate.train(corpus).explanations(corpus, [Question(0, 1), Question(1, 1)])]
        ['Y', 'X']
        """
        from corate.model.explanation import explain

        if self.model.graph is not None:
            from corate.model.graph_explanation import explain_nodes

            return explain_nodes(self.model, self._inputs, self.graph_lattice, corpus, questions, most)
        return explain(self.model, self._inputs, self.lattice, corpus, questions, most)

    def rates(self, n: int = 10) -> tuple[list[LabelPair], list[LabelPair]]:
        """Two lists: the ``n`` label pairs that attract each other most, and the ``n`` that avoid each other most.

        A pair has the attributes ``left``, ``right``, ``weight`` and ``rate``. Labels with a weight above 0 attract
        each other; labels with a weight below 0 avoid each other. ``<s>`` is the start of a sentence, ``</s>`` its end.

        ``rate`` is the co-occurrence rate, above 1 for labels that attract each other. Only models of the method
        ``"empirical"``, except with the ladder pooled, have rates; in others, ``rate`` is None. A pair without a stored
        weight is not listed.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]] * 2))
        >>> attract, avoid = tagger.rates(1)
        >>> attract[0].left, attract[0].right, attract[0].weight > 0 > avoid[0].weight
        ('DET', 'NOUN', True)

        Raises ModelError for a model of graphs: :meth:`edge_rates` has the rates of each type of edges.
        """
        self._refuse_graphs("rates", "edge_rates, which has the rates of a type of edges")
        edges = self.model.edges
        names, scale = self.labels, rate_scale(self.record)
        origin = edges.owners
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
        """Two lists: the ``n`` highest weights of a feature for a label, and the ``n`` lowest.

        An item has the attributes ``feature``, ``label`` and ``weight``. In models with weights for parts of labels,
        ``label`` may be a part, such as ``Case=Gen``. The counted scores of words are not weights of features, and are
        not listed. In models of graphs, the feature ``vector[3]`` is column 3 of the vectors of nodes.

        >>> import corate
        >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("the", "DET"), ("cat", "NOUN")]])
        >>> favoured, opposed = corate.train(corpus, "separate", features=["word[0]"]).strongest(1)
        >>> favoured[0].feature, favoured[0].label
        ('word[0]=the', 'DET')
        """
        weights, parts = feature_weights(self.model), self.model.parts
        columns = [*self.labels, *([] if parts is None else parts.names.to_list())]

        def named(places: NDArray[np.int64]) -> list[FeatureWeight]:
            rows = np.searchsorted(weights.offsets, places, side="right") - 1
            features = feature_names(self.vocabulary, rows.tolist())
            labels = [columns[column] for column in weights.labels[places].tolist()]
            return list(map(FeatureWeight, features, labels, weights.scores[places].tolist()))

        highest, lowest = extremes(weights.scores, n)
        return named(highest), named(lowest)

    # -- learning, saving ----------------------------------------------------------------------------------------

    def update(self, corpus: Corpus) -> Tagger:
        """A new tagger that has also counted another corpus. Tuned settings do not change.

        Raises ModelError if the model has no counts: only models of the method ``"empirical"`` have counts, unless they
        were saved without them. To train a model of another method further, except memm, use
        ``corate.train(corpus, init=tagger)``.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]), "empirical")
        >>> tagger.update(Corpus.from_sentences([[("an", "DET"), ("emu", "NOUN")]]))
        Tagger(empirical, 2 labels, 4 words, trained on 2 sentences)
        """
        from corate.training.train import update

        return update(self, corpus)

    def pruned(self, rare: int) -> Tagger:
        """Deprecated: use :meth:`shrunk` with ``rare``."""
        _use_shrunk("Tagger.pruned")
        return self.shrunk(rare=rare)

    def shrunk(self, *, drop_below: float = 0.0, rare: int = 0, counts: bool = True) -> Tagger:
        """A smaller tagger, without training again. It may return other labels, so evaluate it.

        Args:
            drop_below: drop weights of features between ``-drop_below`` and ``drop_below``, and then features without
                weights.
            rare: drop combined features (such as word pairs) that were seen fewer times than this; 0 drops none. Their
                counts are dropped too, so a later :meth:`update` does not know them.
            counts: whether to keep the counts. Without them, the tagger cannot be updated.

        ``save(half=True)`` makes the model file still smaller. Raises ModelError if ``rare`` is given and the model has
        no counts; see :meth:`update`.

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

        The file is written under a temporary name and then renamed. A classifier of nodes is not saved, with a warning:
        the loaded model takes the log-probabilities that it gives.

        Args:
            path: the path of the file.
            counts: whether to store the counts. Without them, the file is smaller, and the model cannot be updated.
            half: store scores in 16 bits, for a smaller file.
            rare: deprecated; use :meth:`shrunk` before.
            format: ``"corate"`` or ``"crfsuite"``. By default, ``"crfsuite"`` for a path that ends in ``.crfsuite``,
                else ``"corate"``.
            bias: for CRFsuite: the name of a feature that every token has. It gets the weights of single labels, which
                a CRFsuite file cannot store otherwise.

        Raises ModelError if the file cannot be written, or if the format cannot store the model. A CRFsuite file can
        store first-order models with ready-made features, and only weights of features and of label pairs.
        """
        if format not in (None, "corate", "crfsuite"):
            raise ConfigError(f"format must be 'corate' or 'crfsuite', not {format!r}", option="format")
        tagger = self
        if rare:
            _use_shrunk("Tagger.save(rare=...)")
            tagger = self.shrunk(rare=rare)
        from corate.model import archive, crfsuite

        if format == "crfsuite" or (format is None and crfsuite.has_suffix(path)):
            if half:
                raise ConfigError(
                    "a CRFsuite file stores weights in 64 bits", f"omit {Argument('half', True)}", option="half"
                )
            return crfsuite.save(tagger, path, bias)
        if bias is not None:
            raise ConfigError(
                f"{Argument('bias')} is for CRFsuite files", "a corate file stores the weights of labels", option="bias"
            )
        self._warn_of_classifier()
        return archive.save(tagger, path, counts=counts, half=half)

    # A pickle holds the bytes of the model file, which are checked when they are read, and the function by reference.
    def __reduce__(self) -> tuple[Any, ...]:
        from corate.model.archive import from_bytes, to_bytes

        check_picklable(self.function)
        self._warn_of_classifier()
        return from_bytes, (to_bytes(self), self.function)

    def __copy__(self) -> Tagger:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tagger:
        from corate.model.archive import from_bytes, to_bytes

        return replace(from_bytes(to_bytes(self), self.function), classifier=self.classifier)

    def _warn_of_classifier(self) -> None:
        if self.classifier is not None:
            warnings.warn(
                "the classifier of nodes is not saved with the model; save it apart, and give the loaded model its "
                "log-probabilities with Corpus.from_graphs(..., node_log_probs=)",
                stacklevel=3,
            )


def _use_shrunk(old: str) -> None:
    warnings.warn(
        f"{old} is deprecated, and will be removed in version 0.4; use Tagger.shrunk(rare=...)",
        FutureWarning,
        stacklevel=3,
    )
