"""How do distinct words and word pairs grow with the text, and what does that mean for very large corpora?

`python -m benchmarks.context_growth`

Heaps' law says that n tokens have about k * n ** b distinct words or pairs. k and b are fitted by least squares of
logarithms on the first tokens of each corpus: a sixteenth, an eighth, a fourth, half and all of them. The estimates for
a cluster use the law of brown, and speeds measured here on one core:

    time = n / (workers * counting speed) + bytes of the merged counts / network + distinct contexts / merging speed

where the network has 1 Gbit/s, and the driver merges what the last two halves of a tree send.
"""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import corpora
from benchmarks.growth import slope
from benchmarks.tables import Row, Table, data_folder, parser

if TYPE_CHECKING:
    from corate import Corpus

CORPORA = ("brown-32k-1000", "ned", "conll2000", "sblgnt")
NETWORK = 125e6  # bytes a second
CLUSTERS = ((10**9, 10), (10**9, 100), (10**11, 10), (10**11, 100))
TEMPLATES = ("word[0]", "word[-1]|word[0]", "word[0]|word[1]")


def contexts(corpus: Corpus, tokens: int) -> tuple[int, int]:
    """The distinct words, and the distinct pairs of neighbours, of the first tokens."""
    ids = corpus.word.ids[:tokens].astype(np.int64)
    pairs = ids[:-1] << 32 | ids[1:]
    return len(np.unique(ids)), len(np.unique(pairs))


def fitted(sizes: Sequence[int], found: Sequence[int]) -> tuple[float, float]:
    """k and b of Heaps' law."""
    b = slope(sizes, [float(n) for n in found])
    return math.exp(sum(math.log(n) - b * math.log(s) for s, n in zip(sizes, found, strict=True)) / len(sizes)), b


def measured(corpus: Corpus) -> tuple[float, float, float]:
    """Tokens counted in a second, contexts merged in a second, and bytes for each context of counts that are sent."""
    from corate.counting.counts import Counts
    from corate.features.templates import parse
    from corate.features.vocabulary import Vocabulary

    templates = [parse(text) for text in TEMPLATES]
    half = len(corpus) // 2
    begin = time.perf_counter()
    first = Counts.of(corpus[:half], Vocabulary.of(templates), None)[0]
    second = Counts.of(corpus[half:], Vocabulary.of(templates), None)[0]
    counting = time.perf_counter() - begin
    begin = time.perf_counter()
    merged = first.merged(second)
    merging = time.perf_counter() - begin
    size = len(pickle.dumps(merged)) / len(merged.table)
    return corpus.n_tokens / counting, len(merged.table) / merging, size


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit Heaps' law on the corpora, and estimate the time on clusters."""
    import corate

    data = data_folder(parser("context_growth", "Growth of distinct contexts.").parse_args(arguments).data)
    table = Table("context_growth", "How do distinct words and pairs grow with the text?")
    laws = {}
    for name in CORPORA:
        path = corpora.ROOT / data / f"{name}.train"
        columns = next((c for key, c in corpora.COLUMNS.items() if name.startswith(key)), None)
        corpus = corate.read(Path(path), columns=columns)
        sizes = [corpus.n_tokens >> k for k in (4, 3, 2, 1, 0)]
        found = [contexts(corpus, size) for size in sizes]
        for what, numbers in (("words", [w for w, _ in found]), ("pairs", [p for _, p in found])):
            k, b = laws[name, what] = fitted(sizes, numbers)
            note = f"{numbers[-1]:,} in {sizes[-1]:,} tokens; k = {k:.2f}"
            table.add(Row(f"{name}: exponent of distinct {what}", b, "", note=note))
        if name == CORPORA[0]:
            counting, merging, size = measured(corpus)
    table.add(Row("counting, one core", counting / 1e6, "million tokens/s"))
    table.add(Row("merging, one core", merging / 1e6, "million contexts/s"))
    table.add(Row("counts that are sent", size, "bytes a context"))
    for tokens, workers in CLUSTERS:
        (k, b), (kw, bw) = laws[CORPORA[0], "pairs"], laws[CORPORA[0], "words"]
        distinct = 2 * k * tokens**b + kw * tokens**bw
        parts = tokens / workers / counting, distinct * size / NETWORK, distinct / merging
        note = (
            f"counting {parts[0] / 60:,.1f}, sending {parts[1] / 60:,.1f}, merging {parts[2] / 60:,.1f} minutes; "
            f"{distinct / 1e6:,.0f} million contexts, {distinct * size / 1e9:,.1f} GB"
        )
        table.add(
            Row(
                f"estimate: 1e{int(math.log10(tokens))} tokens, {workers} workers",
                sum(parts) / 60,
                "minutes",
                note=note,
            )
        )
    table.finish()


if __name__ == "__main__":
    main()
