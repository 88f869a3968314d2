"""Questions about the labels of one sentence that a tagger answers, beyond the best labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from corate.corpus import Corpus
from corate.display import counted
from corate.errors import DataError
from corate.model.constraints import Constraints
from corate.model.inputs import Sentence
from corate.model.lattice import Entity, Lattice
from corate.model.notebook import LabelledText, labelled_text
from corate.tokenizer import Tokenizer, place_tokens, tokenize

__all__ = ["Questions"]


class Questions:
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

    @abstractmethod
    def lattice(
        self,
        sentences: Corpus | Iterable[Sentence],
        *,
        threads: int = 1,
        constraints: Constraints | Sequence[Constraints] | None = None,
    ) -> Lattice:
        """Candidate labels and scores of each token, for questions about many sentences."""

    def score(self, tokens: Sentence, labels: Sequence[str] | None = None) -> float:
        """log P(labels | tokens), by default of the best labels; minus infinity if the labels are impossible.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("c", "Z"), ("b", "Y")]]))
        >>> tagger.score(["a", "b"]) >= tagger.score(["a", "b"], ["Y", "Y"])
        True
        """
        lattice = self.lattice([tokens])
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
        """The ``n`` best labellings with their probabilities, best first; fewer if there are fewer.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> best, second = tagger.nbest(["a", "b"], 2)
        >>> best[1] >= second[1], best[0] == tagger.tag(["a", "b"])
        (True, True)
        """
        return self.lattice([tokens], constraints=constraints).nbest(n)[0]

    def marginals(self, tokens: Sentence, *, constraints: Constraints | None = None) -> list[dict[str, float]]:
        """The probability of each label at each token.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> first = tagger.marginals(["a", "b"])[0]
        >>> sorted(first), round(sum(first.values()), 4)
        (['X', 'Y'], 1.0)
        """
        lattice = self.lattice([tokens], constraints=constraints)
        return [dict(zip(lattice.names, row, strict=True)) for row in lattice.label_marginals().tolist()]

    def pair_marginals(
        self, tokens: Sentence, *, constraints: Constraints | None = None
    ) -> list[dict[tuple[str, str], float]]:
        """The probability of each pair of labels, for the first and the second token, the second and the third, ...

        Pairs of labels that are not candidates of their tokens are left out; their probability is 0.
        """
        lattice = self.lattice([tokens], constraints=constraints)
        offsets = lattice.offsets.tolist()
        names = [lattice.names[y] for y in lattice.labels.tolist()]
        found = []
        for t, pairs in enumerate(lattice.pair_marginals()):
            left, right = names[offsets[t] : offsets[t + 1]], names[offsets[t + 1] : offsets[t + 2]]
            rows = pairs.tolist()
            found.append({(y, z): rows[i][k] for i, y in enumerate(left) for k, z in enumerate(right)})
        return found

    def entities(
        self, tokens: Sentence | str, *, tokenize: Tokenizer = tokenize, constraints: Constraints | None = None
    ) -> list[Entity]:
        """The spans of the best labels, each with the exact probability of this span.

        A string is raw text: one sentence, which ``tokenize`` splits into tokens, by default :func:`corate.tokenize`.
        Then the entities have their characters. Raises ModelError if the labels of the model mark no spans.

        >>> import corate
        >>> rows = [[("Ann", "B-PER"), ("sings", "O"), (".", "O")], [("Lee", "B-PER"), ("sleeps", "O")]]
        >>> tagger = corate.train(corate.Corpus.from_sentences(rows))
        >>> [(found.text, found.start_char, found.stop_char) for found in tagger.entities("Ann Lee sleeps.")]
        [('Ann', 0, 3), ('Lee', 4, 7)]
        """
        if not isinstance(tokens, str):
            return self.lattice([tokens], constraints=constraints).entities()[0]
        placed = place_tokens(tokens, tokenize)
        found = []
        for entity in self.lattice([[token.text for token in placed]], constraints=constraints).entities()[0]:
            first, last = placed[entity.start].start, placed[entity.stop - 1].stop
            found.append(replace(entity, text=tokens[first:last], start_char=first, stop_char=last))
        return found

    def show(
        self, tokens: Sentence | str, *, tokenize: Tokenizer = tokenize, constraints: Constraints | None = None
    ) -> LabelledText:
        """The sentence with its entities and their probabilities, in colour in a notebook.

        If the labels of the model mark no spans, each token has its label. A string is raw text, as in `entities`.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("c", "Z"), ("b", "Y")]]))
        >>> tagger.show(["a", "b"])
        [a: X ...%] [b: Y ...%]
        >>> tagger.show("a  b")
        [a: X ...%] [b: Y ...%]
        """
        if isinstance(tokens, str):
            tokens = [token.text for token in place_tokens(tokens, tokenize)]
        return labelled_text(self.lattice([tokens], constraints=constraints))

    def confidence(self, tokens: Sentence, *, constraints: Constraints | None = None) -> float:
        """The probability of the best labels of the sentence, all together.

        >>> import corate
        >>> tagger = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> tagger.confidence(["a", "b"]) == tagger.nbest(["a", "b"], 1)[0][1]
        True
        """
        return self.lattice([tokens], constraints=constraints).confidence()[0]

    def entropy(self, tokens: Sentence, *, constraints: Constraints | None = None) -> float:
        """How uncertain the labels are: the entropy of the labellings in nats, 0 if there is no doubt."""
        return self.lattice([tokens], constraints=constraints).entropy()[0]

    def sample(
        self, tokens: Sentence, n: int, seed: int = 0, *, constraints: Constraints | None = None
    ) -> list[list[str]]:
        """``n`` labellings, drawn at random from their distribution. The same seed gives the same labellings."""
        return self.lattice([tokens], constraints=constraints).sample(n, seed)[0]
