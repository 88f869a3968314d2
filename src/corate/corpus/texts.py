"""The raw texts of sentences, with the place of each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus.tokenizer import Token
from corate.errors import DataError

__all__ = ["Texts"]


@dataclass(frozen=True, eq=False)
class Texts:
    """The raw text of each sentence, and the place of each token in it.

    Token i is the characters ``starts[i]`` to ``stops[i]`` (exclusive) of the text of its sentence, in code points.
    ``records`` has, for each sentence, what else its file has about it.

    >>> texts = Texts.of(["Ann sings."], [[Token("Ann", 0, 3), Token("sings", 4, 9), Token(".", 9, 10)]])
    >>> texts.texts, texts.starts.tolist(), texts.stops.tolist()
    (('Ann sings.',), [0, 4, 9], [3, 9, 10])
    """

    texts: tuple[str, ...]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    records: tuple[Mapping[str, Any], ...]

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.records) or len(self.starts) != len(self.stops):
            raise DataError("the texts of a corpus need a record each, and its tokens a start and a stop each")

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        tokens: Sequence[Sequence[Token]],
        records: Sequence[Mapping[str, Any]] | None = None,
    ) -> Texts:
        """From texts and their tokens."""
        places = [token[1:] for sentence in tokens for token in sentence]
        starts, stops = np.array(places, dtype=np.int64).reshape(-1, 2).T
        return cls(tuple(texts), starts, stops, tuple(records) if records is not None else ({},) * len(texts))

    @classmethod
    def joined(cls, parts: Sequence[Texts]) -> Texts:
        """The texts of all parts, one part after another."""
        return cls(
            tuple(text for part in parts for text in part.texts),
            np.concatenate([part.starts for part in parts]),
            np.concatenate([part.stops for part in parts]),
            tuple(record for part in parts for record in part.records),
        )

    def take(self, sentences: NDArray[np.int64], tokens: NDArray[np.int64]) -> Texts:
        """The given sentences, which have the given tokens."""
        chosen = sentences.tolist()
        return Texts(
            tuple(self.texts[s] for s in chosen),
            self.starts[tokens],
            self.stops[tokens],
            tuple(self.records[s] for s in chosen),
        )
