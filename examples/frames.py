"""Train on a data frame and tag another one: `python examples/frames.py`.

Requires pandas, polars and PyArrow (the extra `frames`). It makes addresses as a pandas data frame with a row for each
token, trains on it, tags a polars data frame, and prints some rows and the accuracy.
"""

from __future__ import annotations

import pandas as pd
import polars as pl

import corate
from corate.demo import addresses


def labelled(n: int, seed: int) -> pd.DataFrame:
    """A row for each token of made-up addresses."""
    rows = [(s, word, label) for s, line in enumerate(addresses(n, seed)) for word, label in line]
    return pd.DataFrame(rows, columns=["sentence", "word", "label"])


def main() -> None:
    """Train, tag and compare."""
    train = corate.Corpus.from_frame(labelled(2000, seed=1), sentence="sentence", token="word", label="label")
    tagger = corate.train(train)
    print(tagger)
    test = pl.from_pandas(labelled(500, seed=2))
    tagged = tagger.tag_frame(test, sentence="sentence", token="word", output="found", scores=True)
    print(tagged.head(8))
    right = tagged.select((pl.col("label") == pl.col("found")).mean()).item()
    print(f"accuracy {100 * right:.2f}%")


if __name__ == "__main__":
    main()
