"""How long does it take to build a corpus from a data frame, and to tag a data frame?

`python -m benchmarks.frames`

A frame has a row for each of 1,000,000 tokens of made-up addresses. The peer does the same by hand: it groups the rows
into lists with the functions of the frame's own package, and calls `Corpus.from_sentences`, or calls `Tagger.tag_all`
and adds the labels as a column. Both must give the same result. Times are processor seconds, the best of three calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from benchmarks.tables import Row, Table, parser

TOKENS = 1_000_000
Lists = Callable[[Any, Sequence[str]], list[Any]]


def pandas_frame(n_tokens: int) -> Any:
    """A row for each token of made-up addresses."""
    import pandas as pd

    from corate.demo import addresses

    sentences = addresses(n_tokens // 8, seed=1)  # an address has 9.4 tokens on average
    rows = ((s, word, label) for s, line in enumerate(sentences) for word, label in line)
    return pd.DataFrame(
        [row for row, _ in zip(rows, range(n_tokens), strict=False)], columns=["sentence", "word", "gold"]
    )


def pandas_lists(frame: Any, columns: Sequence[str]) -> list[Any]:
    """Columns of a pandas frame, as lists of sentences."""
    lists = frame.groupby("sentence", sort=False)[list(columns)].agg(list)
    return [lists[column].tolist() for column in columns]


def polars_lists(frame: Any, columns: Sequence[str]) -> list[Any]:
    """Columns of a polars frame, as lists of sentences."""
    lists = frame.group_by("sentence", maintain_order=True).agg(*columns)
    return [lists[column].to_list() for column in columns]


def arrow_lists(table: Any, columns: Sequence[str]) -> list[Any]:
    """Columns of an Arrow table, as lists of sentences."""
    lists = table.group_by("sentence", use_threads=False).aggregate([(column, "list") for column in columns])
    return [lists[f"{column}_list"].to_pylist() for column in columns]


def polars_with(frame: Any, labels: list[str]) -> Any:
    """A polars frame with a column of labels."""
    import polars as pl

    return frame.with_columns(pl.Series("label", labels))


def seconds(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The processor seconds of the fastest call, and its result."""
    best, result = float("inf"), None
    for _ in range(times):
        begin = time.process_time()
        result = work()
        best = min(best, time.process_time() - begin)
    return best, result


def main(arguments: Sequence[str] | None = None) -> None:
    """Build and tag, with every kind of frame."""
    options = parser("frames", "Seconds from a data frame to a corpus, and to labels.")
    options.add_argument("--tokens", type=int, default=TOKENS, help="rows of the frame")
    options.add_argument("--times", type=int, default=3, help="calls of each way, of which the fastest counts")
    given = options.parse_args(arguments)
    import polars as pl
    import pyarrow as pa

    import corate
    from corate.demo import addresses

    table = Table("frames", f"How long do {given.tokens:,} rows of a data frame take?")
    strings = pandas_frame(given.tokens)
    objects = strings.astype({"word": object, "gold": object})
    with_column = {
        "pandas": lambda frame, labels: frame.assign(label=labels),
        "polars": polars_with,
        "Arrow": lambda frame, labels: frame.append_column("label", [labels]),
    }
    kinds: dict[str, tuple[Any, Lists, str]] = {
        "pandas": (strings, pandas_lists, "groupby(...).agg(list)"),
        "pandas, columns of Python objects": (objects, pandas_lists, "groupby(...).agg(list)"),
        "polars": (pl.from_pandas(strings), polars_lists, "group_by(...).agg(...)"),
        "Arrow": (pa.Table.from_pandas(strings), arrow_lists, "group_by(...).aggregate(...)"),
    }
    tagger = corate.train(corate.Corpus.from_sentences(addresses(4000, seed=2)))
    sentences = strings["sentence"].nunique()

    def add(
        what: str, ours: Callable[[], Any], by_hand: Callable[[], Any], name: str, same: Callable[..., bool]
    ) -> None:
        own, found = seconds(ours, given.times)
        peer, wanted = seconds(by_hand, given.times)
        if not same(found, wanted):
            raise SystemExit(f"{what}: the results differ")
        row = Row(
            what,
            own,
            "s",
            peer=peer,
            peer_name=name,
            note=f"{given.tokens:,} tokens, {sentences:,} sentences",
            command="python -m benchmarks.frames",
        )
        table.add(row)

    def from_lists(frame: Any, lists: Lists) -> corate.Corpus:
        return corate.Corpus.from_sentences(*lists(frame, ("word", "gold")))

    def tagged_lists(frame: Any, lists: Lists, joined: Callable[[Any, list[str]], Any]) -> Any:
        return joined(frame, list(chain.from_iterable(tagger.tag_all(lists(frame, ("word",))[0]))))

    for kind, (frame, lists, name) in kinds.items():
        add(
            f"`Corpus.from_frame`, {kind}",
            partial(corate.Corpus.from_frame, frame, sentence="sentence", token="word", label="gold"),
            partial(from_lists, frame, lists),
            f"{name}, from_sentences",
            lambda a, b: list(a) == list(b),
        )
    for kind, (frame, lists, name) in kinds.items():
        add(
            f"`tag_frame`, {kind}",
            partial(tagger.tag_frame, frame, sentence="sentence", token="word"),
            partial(tagged_lists, frame, lists, with_column[kind.partition(",")[0]]),
            f"{name}, tag_all, a new column",
            lambda a, b: list(a["label"]) == list(b["label"]),
        )
    table.finish()


if __name__ == "__main__":
    main()
