"""The answers of a tagger about the labels of one sentence, beyond the best labels. A new answer is a method here.

Each asks a `Lattice`, which answers for many sentences by one native call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np

from corate.corpus.tokenizer import Tokenizer, place_tokens, tokenize
from corate.display import counted
from corate.errors import DataError
from corate.model.constraints import Constraints
from corate.model.inputs import Sentence
from corate.model.lattice import Entity, Lattice
from corate.model.notebook import LabelledText, labelled_text

__all__ = ["Answers"]


class Answers:
    """Methods of :class:`~corate.Tagger`. All answers are exact. ``constraints`` limit the labellings that count.

    >>> import corate
    >>> sentences = [[("Ann", "B-PER"), ("Lee", "I-PER"), ("sings", "O")], [("Lee", "B-PER"), ("sleeps", "O")]]
    >>> tagger = corate.train(corate.Corpus.from_sentences(sentences))
    >>> [labels for labels, probability in tagger.nbest(["Lee", "sings"], 2)]
    [['B-PER', 'O'], ['I-PER', 'O']]
    >>> entity = tagger.entities(["Ann", "Lee", "sleeps"])[0]
    >>> entity.type, entity.start, entity.stop, entity.text, entity.probability > 0.5
    ('PER', 0, 2, 'Ann Lee', True)
    >>> tagger.nbest(["Lee", "sings"], 1, constraints=Constraints(labels={0: "O"}))[0][0]
    ['O', 'O']
    """

    lattice: Callable[..., Lattice]
    _single: Callable[[Any], Any]
    _refuse_graphs: Callable[[str, str], None]

    def score(self, tokens: Sentence, labels: Sequence[str] | None = None) -> float:
        """The natural logarithm of P(labels | tokens). By default, of the most probable labels.

        Minus infinity if the labels are impossible. Raises DataError if there is not one label for each token.

        >>> import corate
        >>> tagger = corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("c", "Z"), ("b", "Y")]]))
        >>> tagger.score(["a", "b"]) >= tagger.score(["a", "b"], ["Y", "Y"])
        True
        """
        lattice = self.lattice(self._single(tokens))
        if labels is None:
            ids, _ = lattice.best()
        else:
            if len(labels) != lattice.sentences[1]:
                raise DataError(f"{counted(lattice.sentences[1], 'token')} but {counted(len(labels), 'label')}")
            known = {name: i for i, name in enumerate(lattice.names)}
            ids = np.array([known.get(label, -1) for label in labels], dtype=np.int32)
        log_z, _ = lattice.marginals()
        return lattice.path_score(0, ids) - float(log_z[0])

    def nbest(
        self, tokens: Sentence, n: int, *, constraints: Constraints | None = None
    ) -> list[tuple[list[str], float]]:
        """The ``n`` most probable labellings with their probabilities, best first; fewer if there are not so many.

        ``constraints`` limit the labellings, as for ``tag``.

        >>> import corate
        >>> tagger = corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> best, second = tagger.nbest(["a", "b"], 2)
        >>> best[1] >= second[1], best[0] == tagger.tag(["a", "b"])
        (True, True)
        """
        return self.lattice(self._single(tokens), constraints=constraints).nbest(n)[0]

    def marginals(self, tokens: Sentence, *, constraints: Constraints | None = None) -> list[dict[str, float]]:
        """A dict for each token, from each label to its probability at this token.

        >>> import corate
        >>> tagger = corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> first = tagger.marginals(["a", "b"])[0]
        >>> sorted(first), round(sum(first.values()), 4)
        (['X', 'Y'], 1.0)
        """
        lattice = self.lattice(self._single(tokens), constraints=constraints)
        return [dict(zip(lattice.names, row, strict=True)) for row in lattice.label_marginals().tolist()]

    def pair_marginals(
        self, tokens: Sentence, *, constraints: Constraints | None = None
    ) -> list[dict[tuple[str, str], float]]:
        """A dict for each pair of neighbouring tokens, from pairs of labels to their probability.

        A sentence of n tokens has n - 1 dicts. Pairs with a label that is not a candidate for its token are left out;
        their probability is 0.

        >>> import corate
        >>> tagger = corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> pairs = tagger.pair_marginals(["a", "b"])
        >>> len(pairs), sorted(pairs[0]), round(sum(pairs[0].values()), 4)
        (1, [('X', 'X'), ('X', 'Y'), ('Y', 'X'), ('Y', 'Y')], 1.0)
        """
        self._refuse_graphs("pair_marginals", "edge_marginals")
        lattice = self.lattice(self._single(tokens), constraints=constraints)
        names = [lattice.names[y] for y in lattice.labels.tolist()]
        candidates = [names[a:b] for a, b in pairwise(lattice.offsets.tolist())]
        pairs = zip(pairwise(candidates), lattice.pair_marginals(), strict=True)
        return [dict(zip(product(*both), shares.ravel().tolist(), strict=True)) for both, shares in pairs]

    def entities(
        self, tokens: Sentence | str, *, tokenize: Tokenizer = tokenize, constraints: Constraints | None = None
    ) -> list[Entity]:
        """The spans that the best labels mark.

        An entity has the attributes ``type``, ``start`` and ``stop`` (the index of its first token, and of the token
        after its last), ``text``, and ``probability``: the sum of the probabilities of all labellings with exactly this
        span. If the sentence is a string, ``start_char`` and ``stop_char`` are the position of the span in it.

        Args:
            tokens: a list of tokens, as for ``tag``, or a string with the raw text of one sentence.
            tokenize: the function that splits a string into tokens. Default: :func:`corate.tokenize`.
            constraints: which labellings are allowed, as for ``tag``.

        Raises ModelError if the labels of the model do not mark spans.

        >>> import corate
        >>> rows = [[("Ann", "B-PER"), ("sings", "O"), (".", "O")], [("Lee", "B-PER"), ("sleeps", "O")]]
        >>> tagger = corate.train(corate.Corpus.from_sentences(rows))
        >>> [(found.text, found.start_char, found.stop_char) for found in tagger.entities("Ann Lee sleeps.")]
        [('Ann', 0, 3), ('Lee', 4, 7)]
        """
        self._refuse_graphs("entities", "tag")
        if not isinstance(tokens, str):
            return self.lattice(self._single(tokens), constraints=constraints).entities()[0]
        placed = place_tokens(tokens, tokenize)
        found = []
        for entity in self.lattice([[token.text for token in placed]], constraints=constraints).entities()[0]:
            first, last = placed[entity.start].start, placed[entity.stop - 1].stop
            found.append(replace(entity, text=tokens[first:last], start_char=first, stop_char=last))
        return found

    def show(
        self, tokens: Sentence | str, *, tokenize: Tokenizer = tokenize, constraints: Constraints | None = None
    ) -> LabelledText:
        """The sentence with its entities and their probabilities, for display: as text, or in colour in a notebook.

        If the labels of the model do not mark spans, each token is shown with its label. The arguments are those of
        ``entities``.

        >>> import corate
        >>> tagger = corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("c", "Z"), ("b", "Y")]]))
        >>> tagger.show(["a", "b"])
        [a: X ...%] [b: Y ...%]
        >>> tagger.show("a  b")
        [a: X ...%] [b: Y ...%]
        """
        self._refuse_graphs("show", "marginals")
        if isinstance(tokens, str):
            tokens = [token.text for token in place_tokens(tokens, tokenize)]
        return labelled_text(self.lattice(self._single(tokens), constraints=constraints))

    def confidence(self, tokens: Sentence, *, constraints: Constraints | None = None) -> float:
        """The probability of the most probable labelling of the whole sentence.

        >>> import corate
        >>> tagger = corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> tagger.confidence(["a", "b"]) == tagger.nbest(["a", "b"], 1)[0][1]
        True
        """
        return self.lattice(self._single(tokens), constraints=constraints).confidence()[0]

    def entropy(self, tokens: Sentence, *, constraints: Constraints | None = None) -> float:
        """The entropy of the distribution of labellings, in nats. It is 0 if only one labelling is possible."""
        return self.lattice(self._single(tokens), constraints=constraints).entropy()[0]

    def sample(
        self, tokens: Sentence, n: int, seed: int = 0, *, constraints: Constraints | None = None
    ) -> list[list[str]]:
        """``n`` labellings, drawn at random from their distribution. The same seed gives the same labellings.

        >>> import corate
        >>> tagger = corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> len(tagger.sample(["a", "b"], 3, seed=1))
        3
        """
        return self.lattice(self._single(tokens), constraints=constraints).sample(n, seed)[0]
