"""Train on a data frame and tag another one: `python examples/frames.py`.

Needs `pip install 'corate[frames]'`. It makes addresses as a pandas frame with a row for each token, trains on it, tags
a polars frame, and prints some rows. With --measure it times how a frame of a million tokens becomes a corpus.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pandas as pd
import polars as pl
import pyarrow as pa

import corate
from corate.demo import addresses


def labelled(n: int, seed: int) -> pd.DataFrame:
    """A row for each token of made-up addresses."""
    rows = [(s, word, label) for s, line in enumerate(addresses(n, seed)) for word, label in line]
    return pd.DataFrame(rows, columns=["sentence", "word", "label"])


def measure() -> None:
    """Time how a frame becomes a corpus: the best of three with Corpus.from_frame, and once by hand."""
    one = labelled(20_000, seed=1)
    sentences = one["sentence"].max() + 1
    copies = [one.assign(sentence=one["sentence"] + i * sentences) for i in range(1_000_000 // len(one) + 1)]
    frame = pd.concat(copies, ignore_index=True)[:1_000_000]
    columns = {"sentence": "sentence", "token": "word", "label": "label"}

    def grouped() -> corate.Corpus:
        groups = frame.groupby("sentence", sort=False)
        return corate.Corpus.from_sentences([list(zip(g["word"], g["label"], strict=True)) for _, g in groups])

    def as_lists() -> corate.Corpus:
        lists = frame.groupby("sentence", sort=False).agg(list)
        return corate.Corpus.from_sentences(lists["word"].tolist(), lists["label"].tolist())

    frames = {
        "pandas": frame,
        "pandas, columns of objects": frame.astype({"word": object, "label": object}),
        "polars": pl.from_pandas(frame),
        "Arrow": pa.Table.from_pandas(frame),
    }
    ways: dict[str, Callable[[], corate.Corpus]] = {
        name: lambda own=own: corate.Corpus.from_frame(own, **columns) for name, own in frames.items()
    }
    for name, way in {**ways, "groupby by hand": grouped, "groupby(...).agg(list)": as_lists}.items():
        times = []
        for _ in range(3 if name in ways else 1):
            start = time.perf_counter()
            corpus = way()
            times.append(time.perf_counter() - start)
        print(f"{name:28} {min(times):6.2f} s  {corpus.n_tokens:,} tokens, {len(corpus):,} sentences")


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
    measure() if "--measure" in sys.argv else main()
