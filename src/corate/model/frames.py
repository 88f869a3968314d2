"""Tagging of data frames: their tokens to a corpus, and labels back to a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corate.arguments import check_threads
from corate.corpus import Column, Corpus, frames
from corate.errors import ConfigError, ModelError
from corate.model.lattice import pieces
from corate.types import F64

if TYPE_CHECKING:
    from corate.model.tagger import Tagger

__all__ = ["FrameTagging", "columns_read"]


def columns_read(tagger: Tagger) -> tuple[str, ...]:
    """The columns that a model reads. Raises ModelError if it reads ready-made features."""
    needed = tagger.columns if tagger.function is not None else tagger.vocabulary.columns
    if not needed or (tagger.vocabulary.attributes is not None and tagger.function is None):
        raise ModelError("the model reads ready-made features, which data frames of tokens do not have")
    return needed


class FrameTagging:
    """The part of a tagger that labels data frames."""

    def tag_frame(  # type: ignore[misc]
        self: Tagger,
        frame: Any,
        *,
        token: str,
        sentence: str | Sequence[str] | None = None,
        columns: Mapping[str, str] | None = None,
        output: str = "label",
        scores: bool | str = False,
        threads: int = 1,
    ) -> Any:
        """Label the sentences of a data frame of pandas or polars, or of an Arrow table.

        Requires ``pip install corate[frames]``. The result is a new frame of the same kind, with the rows, the columns
        and the index of ``frame``, and with new columns.

        Args:
            frame: a frame with a row for each token. If ``sentence`` is None, a frame with a row for each sentence,
                whose columns contain lists.
            token: the name of the column of the tokens.
            sentence: the name of the column that identifies the sentence, or a list of names of columns that do so
                together.
            columns: for other columns that the model reads, a mapping from their names in the model to their names in
                the frame. By default, the names are the same.
            output: the name of the new column of labels.
            scores: whether to add a column ``"scores"`` with the probability of each label. A string is the name of
                this column.
            threads: the number of threads. The labels do not depend on it.

        Raises DataError as ``Corpus.from_frame`` does, ConfigError if a column that the model reads is missing or a new
        column is already there, and ModelError if the model reads ready-made features.

        >>> import corate, pandas
        >>> tagger = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
        >>> frame = pandas.DataFrame({"id": [7, 7], "form": ["the", "dog"]}, index=["x", "y"])
        >>> tagger.tag_frame(frame, sentence="id", token="form")
           id form label
        x   7  the   DET
        y   7  dog  NOUN
        """
        needed = columns_read(self)
        word = str(self.record.get("word"))
        word = word if word in needed else needed[0]
        given = {word: token, **(columns or {})}
        table = frames.table_of(frame)
        names = {name: given.get(name, name) for name in needed}
        absent = next((name for name in names if name not in given and name not in table.names()), None)
        if absent is not None:
            raise ConfigError(
                f"the model reads the column {absent!r}, which the frame does not have; name it with "
                f"columns={{{absent!r}: ...}}",
                option="columns",
            )
        score = "scores" if scores is True else scores or None
        for option, name in (("output", output), ("scores", score)):
            if name in table.names() or (option == "scores" and name == output):
                raise ConfigError(
                    f"there is already a column {name!r}; choose another name with {option}=", option=option
                )
        read, offsets = frames.read(frame, names, sentence)
        corpus = Corpus(tuple(Column(name, ids, strings) for name, (strings, ids) in read.items()), offsets)
        labels, shares = _tagged(self, corpus, score is not None, check_threads(threads))
        new: dict[str, Any] = {output: (labels.ids, labels.strings)}
        if score is not None:
            new[score] = shares
        return frames.with_columns(table, new, offsets if sentence is None else None)


def _tagged(tagger: Tagger, corpus: Corpus, scores: bool, threads: int) -> tuple[Column, F64 | None]:
    """The best labels, and their probabilities if asked for."""
    if not scores:
        return tagger.tag_corpus(corpus, threads=threads), None
    ids, shares = [np.zeros(0, np.int32)], [np.zeros(0)]
    for piece in pieces(corpus):
        lattice = tagger.lattice(piece, threads=threads)
        best, _ = lattice.best()
        ids.append(best)
        shares.append(lattice.shares(best, lattice.marginals()[1]))
    return Column("label", np.concatenate(ids), tagger.model.labels), np.concatenate(shares)
