"""Training within a memory limit: time, peak memory, and the same tensors. `python -m benchmarks.memory`

The text is that of `growth.py`. Peaks are those of resident memory (`getrusage`), of the whole process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from benchmarks import corpora, measure
from benchmarks.corpora import COLUMNS
from benchmarks.growth import slope, write_sizes
from benchmarks.tables import Row, Table, data_folder, parser

SIZES = (1_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000)
LIMIT = "1G"
WITH_PASSES = ("polish", "separate")


def tensors(path: Path) -> str:
    """A hash of the tensors of a model, in order."""
    from corate.model import container

    digest = hashlib.sha256()
    for name, tensor in sorted(container.read(path, mmap=True)[0].items()):
        digest.update(f"{name} {tensor.dtype}".encode())
        digest.update(tensor.data)
    return digest.hexdigest()


def trained(data: Path, path: Path, model: str, method: str, limit: str) -> measure.Run:
    """A run of `corate train` on two threads with a memory limit."""
    shown = str(data / "growth" / path.name)
    always = ["--method", method, "--columns", COLUMNS["brown"], "--threads", "2", "--memory", limit, "--json"]
    return measure.run(["corate", "train", shown, "-o", str(data / "models" / model), *always])


def add_empirical(table: Table, data: Path, paths: dict[int, Path]) -> None:
    """Empirical training from 1 to 50 million tokens, within a limit and without one."""
    models = corpora.ROOT / data / "models"
    runs = {}
    for size, path in paths.items():
        run = runs[size] = trained(data, path, "limited.corate", "empirical", LIMIT)
        bounds = {"at_most": 100.0} if size == 50_000_000 else {}
        note = f"peak {run.peak_mb:,.0f} MB"
        table.add(
            Row(
                f"empirical, {size:,} tokens, --memory {LIMIT}", run.wall, "s", note=note, command=run.command, **bounds
            )
        )
        if size == 5_000_000:
            small = trained(data, path, "small.corate", "empirical", "200M")
            free = trained(data, path, "free.corate", "empirical", "16G")
            same = tensors(models / "small.corate") == tensors(models / "free.corate")
            note = f"peak {small.peak_mb:,.0f} MB, {free.peak_mb:,.0f} MB in memory"
            table.add(Row("same tensors with --memory 200M, 5 million tokens", float(same), "", at_least=1, note=note))
    if (largest := 50_000_000) in runs:
        table.add(Row("its peak memory", runs[largest].peak_mb / 1000, "GB", at_most=1.15))
        free = trained(data, paths[largest], "free.corate", "empirical", "16G")
        note = f"peak {free.peak_mb:,.0f} MB"
        table.add(
            Row("empirical, 50,000,000 tokens, in memory", free.wall, "s", at_most=50, note=note, command=free.command)
        )
    sizes = sorted(runs)
    walls = [runs[size].wall for size in sizes]
    peaks = [float(runs[size].peak_bytes) for size in sizes]
    table.add(Row("slope of time, 1 to 50 million tokens", slope(sizes, walls), "", at_most=1.1))
    note = ", ".join(f"{size // 10**6}: {peak / 1e6:,.0f} MB" for size, peak in zip(sizes, peaks, strict=True))
    last = slope(sizes[-2:], peaks[-2:])
    table.add(Row("slope of memory, last step", last, "", note=note))


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
    for method in WITH_PASSES:
        if given.only in (None, method) and 10_000_000 in paths:
            add_passes(table, data, paths[10_000_000], method)
    table.finish()


if __name__ == "__main__":
    main()
