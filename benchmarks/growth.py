"""Do time and memory of training grow linearly, from 100 thousand to 10 million tokens?

`python -m benchmarks.growth [--largest 10000000]`

The text is the brown 32k training file, repeated. From the second copy on, words with at most five tokens are renamed,
because a larger real corpus has new words: letters that number the copy are inserted after the first character, so that
capitals and endings stay. The slope is the least-squares slope of log(cost) over log(tokens): 1 is linear. The cost of
a run on a hundred tokens (start-up) is subtracted first. Up to a million tokens the best of three runs counts; above,
there is one run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from benchmarks import corpora, measure
from benchmarks.corpora import COLUMNS, Sentence
from benchmarks.tables import Row, Table, data_folder, parser

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
RARE = 5
LINEAR = 1.1  # a slope up to here is called linear


def renamed(word: str, copy: int) -> str:
    """A new word for each copy, with the same first character and ending; digits stay digits."""
    code, digits = "", copy
    while digits:
        digits, digit = divmod(digits, 10)
        code += str(digit) if word[-1:].isdigit() else "abcdefghij"[digit]
    return word[:1] + code + word[1:]


def grown(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """The corpus, repeated endlessly."""
    counts = Counter(row[0] for sentence in sentences for row in sentence)
    yield from sentences
    for copy in count(1):
        names = {word: renamed(word, copy) for word, n in counts.items() if n <= RARE}
        for sentence in sentences:
            yield [(names.get(word, word), label) for word, label in sentence]


def write_sizes(sentences: Sequence[Sentence], sizes: Sequence[int], folder: Path) -> list[Path]:
    """A file for each size, cut at the exact token, written in one pass."""
    paths = [folder / f"growth-{size}.train" for size in sizes]
    for size, path in zip(sizes, paths, strict=True):
        left = size
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for sentence in grown(sentences):
                file.write("".join(f"{word}\t{label}\n" for word, label in sentence[:left]) + "\n")
                left -= len(sentence)
                if left <= 0:
                    break
    return paths


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Least squares of log(cost) over log(size)."""
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return covariance / sum((a - mean_x) ** 2 for a in x)


def add_slopes(table: Table, sizes: Sequence[int], runs: Sequence[measure.Run], floor: measure.Run) -> None:
    """Time and memory above the floor, over all sizes and over the last two."""
    costs = {
        "wall time": [run.wall - floor.wall for run in runs],
        "memory": [float(run.peak_bytes - floor.peak_bytes) for run in runs],
    }
    for name, values in costs.items():
        usable = [(size, value) for size, value in zip(sizes, values, strict=True) if value > 0]
        if len(usable) < 2:
            continue
        fitted = slope(*zip(*usable, strict=True))
        last = slope(*zip(*usable[-2:], strict=True))
        note = f"{'linear or below' if fitted <= LINEAR else 'MORE than linear'}; last step {last:.2f}"
        table.add(Row(f"slope of {name}", fitted, "", at_most=LINEAR, note=note))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files, train on each, fit the slopes."""
    options = parser("growth", "Time and memory of training as the corpus grows.")
    options.add_argument("--largest", type=int, default=SIZES[-1], help="omit larger sizes")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    folder = corpora.ROOT / data / "growth"
    folder.mkdir(exist_ok=True)
    sizes = [size for size in SIZES if size <= given.largest]
    paths = write_sizes(corpora.load(corpora.ROOT / data / "brown-32k-1000.train"), [100, *sizes], folder)
    table = Table("growth", "Do time and memory of training grow linearly?")
    runs: list[measure.Run] = []
    for size, path in zip([100, *sizes], paths, strict=True):
        shown = str(data / "growth" / path.name)
        model = str(data / "models" / "growth.corate")
        always = ["--method", "empirical", "--columns", COLUMNS["brown"], "--threads", "1", "--json"]
        times = 3 if size <= 1_000_000 else 1
        tried = measure.repeat(["corate", "train", shown, "-o", model, *always], times)
        run = min(tried, key=lambda one: one.wall)
        runs.append(run)
        inside = run.json()["seconds"]
        bytes_each = (corpora.ROOT / model).stat().st_size / size
        note = f"training alone {inside:.2f} s; peak {run.peak_mb:,.0f} MB; model {bytes_each:.1f} bytes a token"
        table.add(Row(f"{size:,} tokens", run.wall, "s", note=note, command=run.command))
        path.unlink()
    add_slopes(table, sizes, runs[1:], runs[0])
    table.finish()


if __name__ == "__main__":
    main()
