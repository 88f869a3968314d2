"""A CSV file of the nodes of graphs with the predicted labels as a further column."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from corate.errors import ConfigError, DataError
from corate.formats.tables import read_rows, separator_of
from corate.io.streams import NamedBytes
from corate.model.constraints import Constraints
from corate.model.tagged_text import FREE, Questions

if TYPE_CHECKING:
    from corate.corpus import Corpus
    from corate.model.tagger import Tagger

__all__ = ["tagged_nodes"]

#: The names of the further columns.
_LABEL, _PROBABILITY = "predicted", "probability"


def tagged_nodes(
    tagger: Tagger,
    nodes: NamedBytes,
    corpus: Corpus,
    asked: Questions,
    *,
    separator: str | None = None,
    threads: int = 1,
) -> bytes:
    """The CSV file of the nodes of a corpus with the predicted labels, and their probabilities if wanted.

    The label of a node that is not sure enough is empty. Raises ConfigError for questions about sentences.
    """
    for option, given in (("nbest", asked.nbest), ("constrain", asked.scheme)):
        if given is not None:
            raise ConfigError("this option is for sentences, and the file has the nodes of graphs", option=option)
    data = nodes.getvalue()
    header, lines, columns = read_rows(nodes, separator=separator)
    known = None if asked.fixed is None else _known(tagger, corpus, asked.fixed, header, lines, columns, nodes.name)
    lattice = tagger.graph_lattice(corpus, threads=threads, constraints=known)
    ids = lattice.label_ids()
    labels = [tagger.labels[y] for y in ids.tolist()]
    added = {_LABEL: labels}
    if asked.scores or asked.only_sure is not None:
        p = lattice.label_marginals()[np.arange(len(ids)), ids].tolist()
        least = asked.only_sure or 0.0
        added[_LABEL] = [label if own >= least else "" for label, own in zip(labels, p, strict=True)]
        if asked.scores:
            added[_PROBABILITY] = [f"{own:.4f}" for own in p]
    out = io.StringIO()
    end = "\r\n" if b"\r\n" in data[: data.find(b"\n") + 1] else "\n"
    writer = csv.writer(out, delimiter=separator or separator_of(data.decode()), lineterminator=end)
    names = list(header)
    for name in added:
        names.append(_free(name, names))
    writer.writerow(names)
    writer.writerows(zip(*columns, *added.values(), strict=True))
    return out.getvalue().encode()


def _free(name: str, taken: Sequence[str]) -> str:
    """A name that no column has: the name, or the name with a number."""
    numbered = (f"{name}_{n}" for n in range(2, len(taken) + 3))
    return name if name not in taken else next(other for other in numbered if other not in taken)


def _known(
    tagger: Tagger,
    corpus: Corpus,
    fixed: str,
    header: Sequence[str],
    lines: Sequence[int],
    columns: Sequence[Sequence[str]],
    file: str,
) -> list[Constraints]:
    """The labels of a column as constraints, for each graph. Empty cells and ``_`` are labelled by the model."""
    if fixed not in header and not (fixed.isdecimal() and 0 < int(fixed) <= len(header)):
        raise ConfigError(f"{file} has the columns {', '.join(header)}, not {fixed!r}", option="fixed")
    labels = columns[header.index(fixed) if fixed in header else int(fixed) - 1]
    wrong = next((i for i, label in enumerate(labels) if label not in ("", FREE, *tagger.labels)), None)
    if wrong is not None:
        some = ", ".join(tagger.labels[:10]) + ", ..." * (len(tagger.labels) > 10)
        remedy = f"write one of {some} as a fixed label, or nothing where the model decides"
        raise DataError(f"the model has no label {labels[wrong]!r}", remedy, file=file, line=lines[wrong])
    graphs = (labels[a:b] for a, b in pairwise(corpus.offsets.tolist()))
    return [Constraints(labels={v: {y} for v, y in enumerate(own) if y not in ("", FREE)}) for own in graphs]
