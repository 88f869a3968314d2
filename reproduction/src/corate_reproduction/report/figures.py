"""The figures of the report, from records: accuracy over time, learning curves, growth, label rates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corate.io.atomic import write_text
from corate.pages.charts import COLOURS, Axis, Series, chart
from corate_reproduction import paper
from corate_reproduction.corpora import Splits
from corate_reproduction.report.summary import NAMES, Record, number, seconds
from corate_reproduction.report.writing import Figure

if TYPE_CHECKING:
    from corate.rate.heatmap import HeatMap

__all__ = ["accuracy_over_time", "growth", "keep_rates", "learning_curves", "rate_maps"]

_RATES = "rates.json"
_MAP_LABELS = 30
_MAPS = {
    "ned": ("ned.train", "Dutch entities"),
    "brown": ("brown-file-32k-1000.train", "Brown, the most frequent labels"),
    "conll2000": ("conll2000.train", "English chunks"),
}
#: The experiments with charts of accuracy and time.
_MEASURED = ("pos", "ner", "chunking", "large-labels")
#: The colour of each method in all charts.
COLOUR = dict(zip(NAMES, COLOURS, strict=False))
_PAPER = "the paper"
Tables = Mapping[tuple[str, str], Mapping[str, Record]]


def _short(value: float) -> str:
    """A round number for an axis with many of them.

    >>> _short(0.1), _short(1000.0), _short(100_000.0), _short(1e6)
    ('0.1', '1,000', '100k', '1M')
    """
    if value < 10_000:
        return f"{value:,g}"
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k"


def _mark(record: Record) -> str:
    return "square" if record["library"] else "full"


def _figure(name: str, title: str, what: str, across: Axis, up: Axis, series: Sequence[Series]) -> list[Figure]:
    """A chart, unless all trainings were stopped."""
    drawn = any(one.mark != "stopped" for one in series)
    return [Figure(name, title, chart(what, across, up, series))] if drawn else []


def accuracy_over_time(tables: Tables) -> list[Figure]:
    """A chart for each table: a point for every method and peer, and rings for the paper's figures.

    Legends have the short names of methods; tooltips have the long ones.
    """
    figures: list[Figure] = []
    for (experiment, split), cells in tables.items():
        if experiment not in _MEASURED:
            continue
        key = "f1" if experiment == "chunking" else "accuracy"
        series = [_point(cell, key) for cell in cells.values() if cell[key] is not None]
        series += [
            Series(f"{m}, stopped", [(c["seconds"], 0.0, _stopped(m, c))], COLOUR[m], "stopped")
            for m, c in cells.items()
            if c["estimated"] and c["seconds"]
        ]
        for m, f in paper.TABLES.get((experiment, split), {}).items():
            if f.seconds is not None and m in cells:
                text = f"the paper's {m}: {f.accuracy}, {seconds(f.seconds)} s"
                series.append(Series(_PAPER, [(f.seconds, f.accuracy, text)], COLOUR[m], "hollow"))
        what, title = "F1" if key == "f1" else "accuracy", f"{experiment} {split}"
        name, said = f"time-{experiment}-{split.replace(' ', '-')}", f"{what} against training time: {title}"
        axes = Axis("training seconds", log=True, text=_short), Axis(f"{what}, %", most=100.0)
        figures += _figure(name, title, said, *axes, series)
    return figures


def _point(cell: Record, key: str) -> Series:
    method = cell["method"]
    text = f"{NAMES[method]}: {number(cell[key])}, {seconds(cell['seconds'])} s"
    return Series(method, [(max(cell["seconds"], 1e-3), 100 * cell[key], text)], COLOUR[method], _mark(cell))


def _stopped(method: str, cell: Record) -> str:
    return f"{NAMES[method]}: stopped, an estimated {seconds(cell['seconds'])} s"


def _lines(cells: Sequence[Record], across: str, up: str, scale: float = 1.0, *, stopped: bool = False) -> list[Series]:
    """A line for each method, over cells with both values."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for cell in cells:
        if cell[up] is None or cell[across] is None or (cell["estimated"] and not stopped):
            continue
        text = f"{NAMES[cell['method']]}: {across} {cell[across]:,}, {scale * cell[up]:.4g}"
        found.setdefault(cell["method"], []).append((cell[across], max(scale * cell[up], 1e-3), text))
    by = {cell["method"]: _mark(cell) for cell in cells}
    return [Series(m, sorted(points), COLOUR[m], by[m], line=True) for m, points in found.items()]


def _brown(tables: Tables) -> list[Record]:
    """The cells of the splits of Brown in file order, or if there are none, of the shuffled ones."""
    cells = [cell for (experiment, _), table in tables.items() if experiment == "pos" for cell in table.values()]
    in_file_order = [cell for cell in cells if "shuffled" not in cell["split"]]
    return in_file_order or cells


def learning_curves(tables: Tables) -> list[Figure]:
    """Accuracy over the number of training sentences, on the splits of Brown."""
    cells = _brown(tables)
    if len({cell["split"] for cell in cells}) < 2:
        return []
    across = Axis("training sentences", log=True, text=_short)
    figures: list[Figure] = []
    for key, title in (("accuracy", "all words"), ("accuracy_oov", "OOV words"), ("accuracy_known", "known words")):
        series, said = _lines(cells, "sentences", key, 100.0), f"Learning curve, {title}"
        figures += _figure(f"learning-{key}", said, said, across, Axis("accuracy, %", most=100.0), series)
    return figures


def growth(tables: Tables) -> list[Figure]:
    """Training time over sentences and over labels."""
    pos = _brown(tables)
    grown = [c for (experiment, _), table in tables.items() if experiment == "label-growth" for c in table.values()]
    sizes = {(cell["split"]): cell["labels"] for cell in grown if cell["labels"]}
    grown = [{**cell, "labels": sizes.get(cell["split"])} for cell in grown]
    counts = {(cell["split"]): cell["sentences"] for cell in pos if cell["sentences"]}
    pos = [{**cell, "sentences": counts.get(cell["split"])} for cell in pos]
    figures: list[Figure] = []
    for cells, across, title in ((pos, "sentences", "training sentences"), (grown, "labels", "labels")):
        if len({cell["split"] for cell in cells}) < 2:
            continue
        series = _lines(cells, across, "seconds", stopped=True)
        said, axes = (
            f"Training time over {title}",
            (Axis(title, log=True, text=_short), Axis("training seconds", log=True, text=_short)),
        )
        figures += _figure(f"growth-{across}", said, said, *axes, series)
    return figures


def keep_rates(splits: Splits, folder: Path) -> None:
    """Write the label rates of the given corpora: labels and numbers, no text."""
    import corate

    path = folder / _RATES
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    for name, (split, _) in _MAPS.items():
        if split in splits:
            found = _rates(corate.Corpus.from_sentences(splits[split]))
            kept[name] = {"rows": found.rows, "columns": found.columns, "logs": found.logs.round(4).tolist()}
    if kept:
        write_text(path, json.dumps(kept) + "\n")


def _rates(corpus: Any) -> HeatMap:
    """The rates of neighbouring labels, the most frequent labels first, smoothed as ``corate rates`` does."""
    import numpy as np

    from corate import _native
    from corate.counting.counts import PairCounts, label_ids
    from corate.counting.rates import edge_scores
    from corate.rate.heatmap import HeatMap

    table, ids = label_ids(corpus)
    pairs = PairCounts(*_native.count_pairs(ids, corpus.offsets, len(table)))
    logs = edge_scores(pairs, len(table), 0.5).dense()
    often = np.argsort(-np.bincount(ids, minlength=len(table)), kind="stable")[: _MAP_LABELS - 1]
    kept = [*often.tolist(), len(table)]
    names = table.to_list()
    shown = [names[k] for k in kept[:-1]]
    return HeatMap((*shown, "<s>"), (*shown, "</s>"), logs[np.ix_(kept, kept)])


def rate_maps(folder: Path) -> list[Figure]:
    """The heat maps of the stored rates."""
    import numpy as np

    from corate.rate.heatmap import HeatMap

    path = folder / _RATES
    if not path.is_file():
        return []
    kept = json.loads(path.read_text("utf-8"))
    figures: list[Figure] = []
    for name, (_, title) in _MAPS.items():
        if name in kept:
            one = kept[name]
            found = HeatMap(tuple(one["rows"]), tuple(one["columns"]), np.array(one["logs"]))
            figures.append(Figure(f"rates-{name}", title, found.chart()))
    return figures
