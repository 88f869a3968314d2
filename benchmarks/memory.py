"""Training within a memory limit: time, peak memory, and the same tensors. `python -m benchmarks.memory`

The text is that of `growth.py`. Peaks are those of resident memory (`getrusage`), of the whole process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import corate
from benchmarks import corpora, measure
from benchmarks.corpora import COLUMNS
from benchmarks.growth import slope, write_sizes
from benchmarks.tables import Row, Table, data_folder, parser
from corate.memory import parse_memory

SIZES = (1_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000)
GROWTH_LIMIT = "500M"
WITH_PASSES = ("polish", "separate")


def tensors(path: Path) -> str:
    """A hash of the tensors of a model, in order."""
    from corate.io import tensor_file

    digest = hashlib.sha256()
    for name, tensor in sorted(tensor_file.read(path, mmap=True)[0].items()):
        digest.update(f"{name} {tensor.dtype}".encode())
        digest.update(tensor.data)
    return digest.hexdigest()


def trained(data: Path, path: Path, model: str, method: str, limit: str) -> measure.Run:
    """A run of `corate train` on two threads with a memory limit."""
    shown = str(data / "growth" / path.name)
    always = ["--method", method, "--columns", COLUMNS["brown"], "--threads", "2", "--memory", limit, "--json"]
    return measure.run(["corate", "train", shown, "-o", str(data / "models" / model), *always])


def add_empirical(table: Table, data: Path, paths: dict[int, Path]) -> None:
    """Empirical training on 50 million tokens, within a limit and without one, and the same model for 5 million."""
    models = corpora.ROOT / data / "models"
    if (size := 5_000_000) in paths:
        small = trained(data, paths[size], "small.corate", "empirical", "200M")
        free = trained(data, paths[size], "free.corate", "empirical", "16G")
        same = tensors(models / "small.corate") == tensors(models / "free.corate")
        note = f"peak {small.peak_mb:,.0f} MB, {free.peak_mb:,.0f} MB in memory"
        table.add(Row("same tensors with --memory 200M, 5 million tokens", float(same), "", at_least=1, note=note))
    if (size := 50_000_000) in paths:
        free = trained(data, paths[size], "free.corate", "empirical", "16G")
        note = f"peak {free.peak_mb:,.0f} MB"
        name = f"empirical, {size:,} tokens"
        table.add(Row(f"{name}, in memory", free.wall, "s", at_most=50, note=note, command=free.command))
        limited = trained(data, paths[size], "limited.corate", "empirical", "1G")
        table.add(Row(f"{name}, --memory 1G", limited.wall, "s", at_most=100, command=limited.command))
        table.add(Row("its peak memory", limited.peak_mb / 1000, "GB", at_most=1.15))


def add_growth(table: Table, data: Path, paths: dict[int, Path]) -> None:
    """Time and memory of empirical training from 1 to 50 million tokens, with a limit that the largest texts reach."""
    runs = {size: trained(data, path, "limited.corate", "empirical", GROWTH_LIMIT) for size, path in paths.items()}
    for size, run in runs.items():
        note = f"peak {run.peak_mb:,.0f} MB"
        table.add(
            Row(f"empirical, {size:,} tokens, --memory {GROWTH_LIMIT}", run.wall, "s", note=note, command=run.command)
        )
    sizes, walls = sorted(runs), [runs[size].wall for size in sorted(runs)]
    peaks = [float(runs[size].peak_bytes) for size in sizes]
    table.add(Row("slope of time, 1 to 50 million tokens", slope(sizes, walls), "", at_most=1.1))
    table.add(Row("largest peak / limit", max(peaks) / parse_memory(GROWTH_LIMIT), "", at_most=1.15))
    reached = [i for i, peak in enumerate(peaks) if peak >= 0.9 * parse_memory(GROWTH_LIMIT)]
    if len(reached) > 1:
        found = slope([sizes[i] for i in reached], [peaks[i] for i in reached])
        names = ", ".join(f"{sizes[i] // 10**6}" for i in reached)
        note = f"{names} million tokens"
        table.add(Row("slope of memory, where the limit is reached", found, "", at_most=0.15, note=note))


def add_left_out_words(table: Table, data: Path) -> None:
    """Accuracy of an empirical model of brown 32k of which a third of the words fits in memory, on held-out text."""
    train, test = corpora.held_out(corpora.load(corpora.ROOT / data / "brown-32k-1000.train"))
    paths = [corpora.ROOT / data / "growth" / name for name in ("brown-first.train", "brown-last.train")]
    for sentences, path in zip((train, test), paths, strict=True):
        corpora.write(sentences, path)
    found = []
    for limit in ("105M", "16G"):
        trained(data, paths[0], "words.corate", "empirical", limit)
        tagger = corate.load(corpora.ROOT / data / "models" / "words.corate")
        accuracy = 100 * corate.evaluate(tagger, corate.read(paths[1], columns=COLUMNS["brown"])).accuracy
        found.append((accuracy, len(tagger.vocabulary.strings(tagger.record["word"]))))
    (some, words), (every, all_words) = found
    note = f"{words:,} of {all_words:,} words; with all words {every:.2f} %"
    table.add(Row("accuracy on held-out Brown, --memory 105M", some, "%", note=note))


def add_passes(table: Table, data: Path, path: Path, method: str) -> None:
    """A method with stochastic passes on 10 million tokens, within a limit and in memory."""
    free = trained(data, path, "free.corate", method, "16G")
    limited = trained(data, path, "limited.corate", method, "3G")
    models = corpora.ROOT / data / "models"
    same = tensors(models / "limited.corate") == tensors(models / "free.corate")
    note = f"in memory {free.wall:.1f} s, peak {free.peak_mb:,.0f} MB"
    ratio = limited.wall / free.wall
    table.add(
        Row(f"{method}, 10,000,000 tokens, --memory 3G: time / in memory", ratio, "", at_most=1.3, note=note,
            command=limited.command)
    )  # fmt: skip
    table.add(Row("its time", limited.wall, "s"))
    table.add(Row("its peak memory", limited.peak_mb / 1000, "GB", at_most=3.4))
    table.add(Row("same tensors as in memory", float(same), "", at_least=1))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files, train within limits."""
    options = parser("memory", "Training within a memory limit.")
    options.add_argument("--largest", type=int, default=SIZES[-1], help="omit larger sizes")
    options.add_argument("--only", choices=("empirical", *WITH_PASSES), help="one method only")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    folder = corpora.ROOT / data / "growth"
    folder.mkdir(exist_ok=True)
    sizes = [size for size in SIZES if size <= given.largest]
    missing = [size for size in sizes if not (folder / f"growth-{size}.train").is_file()]
    write_sizes(corpora.load(corpora.ROOT / data / "brown-32k-1000.train"), missing, folder)
    paths = {size: folder / f"growth-{size}.train" for size in sizes}
    table = Table("memory", "Does training keep to a memory limit, with the same model?")
    if given.only in (None, "empirical"):
        add_empirical(table, data, paths)
        add_growth(table, data, paths)
        add_left_out_words(table, data)
    for method in WITH_PASSES:
        if given.only in (None, method) and 10_000_000 in paths:
            add_passes(table, data, paths[10_000_000], method)
    table.finish()


if __name__ == "__main__":
    main()
