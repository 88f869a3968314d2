"""``corate explain``: why a token has its label."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from corate.cli.commands import Run, argument, command, option
from corate.cli.shared_options import JSON, MODEL, Reading, reading_options
from corate.cli.terminal import counted, print_json, show_table
from corate.errors import Argument, ConfigError, DataError

if TYPE_CHECKING:
    from corate import Corpus, Tagger
    from corate.model.explanation import Explanation

__all__ = ["Explain"]

_EXAMPLES = """\
Examples:

\b
  corate explain address.corate "12 Main Street"                      # the token that the model is least sure of
  corate explain address.corate "12 Main Street" --token 1            # tokens are counted from 0
  corate explain ner.corate "Ann visits Paris" -t 2 --against B-ORG   # why not this label?
  corate explain ner.corate --file test.tsv --sentence 17             # a sentence of a file
  corate explain m.corate --file nodes.csv --edges edges.csv -t 7     # node 7 of a graph
"""


@command("explain", _EXAMPLES)
class Explain(Run):
    """Explain why a token has its label, and not another one.

    The best labelling with the one label is compared with the best labelling with the other. The difference of their
    scores is a sum of contributions: of each feature, of the counts of the word, of the neighbouring labels and of the
    other tokens. For graphs, they are those of features, edges and the other nodes. If the difference is 0, both
    labellings are equally probable. If it is 1, the first is 2.7 times as probable as the second.
    """

    model: str = MODEL
    text: str | None = argument("[TEXT]", "Words, with spaces between them.", required=False)
    file: str | None = option("--file FILE", "Take the sentence from this file.")
    reading: Reading = reading_options("format", "edges", "edge_numbers")
    sentence: int = option(
        "--sentence N", "The number of the sentence or graph in the file, from 1 on.", default=1, least=1
    )
    token: int | None = option(
        "--token,-t N",
        "The number of the token or node to explain, from 0 on. Default: the one that the model is least sure of.",
        least=0,
    )
    label: str | None = option("--label LABEL", "The label to explain. Default: the best.")
    against: str | None = option("--against LABEL", "The label to compare with. Default: the second best.")
    top: int = option("--top N", "Show this many contributions.", default=15, least=1)
    json: bool = JSON

    def run(self) -> None:
        """Run the command."""
        import corate

        tagger = corate.load(self.model)
        if tagger.model.graph is not None:
            self._explain_node(tagger)
            return
        if self.reading.edges is not None:
            raise ConfigError(f"the model was trained without edges; omit {Argument('edges')}", option="edges")
        tokens = _tokens(tagger, self.text, self.file, self.reading.format, self.sentence)
        if self.token is not None:
            chosen = tagger.explain(tokens, self.token, self.label, self.against)
            every = [chosen]
        else:
            every = [tagger.explain(tokens, i, None, None) for i in range(len(tokens))]
            place = min(range(len(every)), key=lambda i: every[i].difference)
            chosen = (
                tagger.explain(tokens, place, self.label, self.against) if self.label or self.against else every[place]
            )
        if self.json:
            print_json(_facts(tokens, chosen))
            return
        if self.token is None:
            _show_tokens(tokens, every)
        _show(tokens, chosen, self.top)

    def _explain_node(self, tagger: Tagger) -> None:
        """Explain a node of a graph."""
        if self.file is None or self.text is not None:
            remedy = "name the file of its nodes with --file, and its edges with --edges"
            raise ConfigError("the model labels graphs, so there is no text to explain", remedy, option="file")
        corpus = self.reading.read(self.file, tagger, labelled=False)
        if self.sentence > len(corpus):
            raise DataError(f"{self.file} has {counted(len(corpus), 'graph')}; there is no graph {self.sentence}")
        graph = corpus[self.sentence - 1]
        place = self.token
        if place is None:
            import numpy as np

            ordered = np.sort(tagger.graph_lattice(graph).label_marginals(), axis=1)
            place = 0 if ordered.shape[1] < 2 else int(np.argmin(ordered[:, -1] - ordered[:, -2]))
        found = tagger.explain(graph, place, self.label, self.against)
        named = next((column for column in graph.columns if column.name == "node"), graph.word)
        nodes = [str(v) for v in range(graph.n_tokens)] if named is None else named.values()
        if self.json:
            print_json(_facts(nodes, found))
        else:
            _show(nodes, found, self.top, "node")


def _tokens(tagger: Tagger, text: str | None, file: str | None, format: str, sentence: int) -> list[Any]:
    """The tokens of the sentence to explain."""
    import corate

    if (text is None) == (file is None):
        raise ConfigError("give a text or --file, and not both")
    if text is not None:
        if len(tagger.vocabulary.columns) != 1:
            reads = (
                f"the columns {', '.join(tagger.vocabulary.columns)}"
                if tagger.vocabulary.columns
                else "ready-made features"
            )
            raise ConfigError(f"the model reads {reads}; give a sentence with --file")
        if not text.split():
            raise DataError("the text has no words")
        if os.path.isfile(text):
            warnings.warn(f"{text} is explained as a word; give a file with --file {text}", stacklevel=2)
        return text.split()
    assert file is not None
    corpus = corate.read(file, format=format, layout=tagger.layout)
    if sentence > len(corpus):
        raise DataError(f"{file} has {counted(len(corpus), 'sentence')}; there is no sentence {sentence}")
    here = range(int(corpus.offsets[sentence - 1]), int(corpus.offsets[sentence]))
    if not tagger.vocabulary.columns:
        return [_features(corpus, t) for t in here]
    columns = [corpus.column(name) for name in tagger.vocabulary.columns]
    rows = [tuple(column.strings[int(column.ids[t])] for column in columns) for t in here]
    return [row[0] for row in rows] if len(columns) == 1 else rows


def _features(corpus: Corpus, token: int) -> dict[str, float]:
    """The ready-made features of a token."""
    found = corpus.attributes
    if found is None:
        raise DataError("the model reads ready-made features; give a file of items")
    here = slice(int(found.offsets[token]), int(found.offsets[token + 1]))
    values = [1.0] * (here.stop - here.start) if found.values is None else found.values[here].tolist()
    return {found.names[i]: value for i, value in zip(found.ids[here].tolist(), values, strict=True)}


def _word(token: Any) -> str:
    if isinstance(token, dict):
        return ", ".join(list(token)[:3])
    return token if isinstance(token, str) else str(token[0])


def _facts(tokens: Sequence[Any], found: Explanation) -> dict[str, Any]:
    return {
        "tokens": [_word(token) for token in tokens],
        "token": found.position,
        "label": found.label,
        "against": found.against,
        "difference": found.difference if found.against is not None else None,
        "labels": found.labels,
        "labels_against": found.labels_against,
        "contributions": [{"source": c.source, "name": c.name, "score": c.score} for c in found.contributions],
    }


def _show_tokens(tokens: list[Any], every: list[Explanation]) -> None:
    rows = [
        [str(e.position), _word(token), e.label, e.against or "", f"{e.difference:.2f}" if e.against else ""]
        for token, e in zip(tokens, every, strict=True)
    ]
    show_table(rows, ["token", "word", "label", "second best", "difference"])
    print()


def _show(tokens: Sequence[Any], found: Explanation, top: int, one: str = "token") -> None:
    if found.against is None:
        print(str(found))
        return
    print(
        f"{_word(tokens[found.position])!r} ({one} {found.position}): {found.label} and not {found.against}, "
        f"difference {found.difference:+.3f}"
    )
    shown, rest = found.contributions[:top], found.contributions[top:]
    rows = [[f"{c.score:+.3f}", c.source, c.name] for c in shown]
    if rest:
        rows.append([f"{sum(c.score for c in rest):+.3f}", "others", counted(len(rest), "smaller contribution")])
    show_table(rows, ["score", "source", "name"])
