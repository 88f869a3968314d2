"""The tables of the report, from records, and the sentences that compare them with the paper."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from corate.display import counted
from corate_reproduction import label_bias, paper
from corate_reproduction.corpora import BROWN_SPLITS
from corate_reproduction.experiments import ABLATIONS, MU, PRIOR_VALUES, PRIORS
from corate_reproduction.report.summary import HEADERS, NAMES, PEER_COLUMNS, Record, number, points, seconds
from corate_reproduction.report.writing import Table

__all__ = [
    *("SEPARATE_METHODS", "SHORT", "Tables", "ablation", "label_bias_rounds", "memm_priors", "mu", "oov_rates"),
    *("others", "paper_table", "priors", "ratio", "ratio_text", "shortfalls", "verdict"),
]

Tables = Mapping[tuple[str, str], Mapping[str, Record]]

_METRICS = {
    "accuracy_oov": "OOV words, %",
    "accuracy_known": "known words, %",
    "accuracy": "all words, %",
    "f1": "F1 of spans, %",
}
SHORT = {"accuracy_oov": "OOV words", "accuracy_known": "known words", "accuracy": "all words"}
SEPARATE_METHODS = ("empirical", "sp1", "sp2", "sp2-features", "separate")
_COLUMNS = ("empirical", "sp2", "standard", "piecewise")
_SETTINGS = (*(f"c2 = {value:g}" for value in PRIOR_VALUES), "default")


# -- the paper's tables ----------------------------------------------------------------------------------------------


def paper_table(name: tuple[str, str], table: Mapping[str, Record]) -> Table:
    """The paper's layout: a column per method; a cell has our figure, the paper's, and those of similar peers."""
    columns = [method for method in NAMES if method in table and PEER_COLUMNS.get(method) not in table]
    rows = []
    for key, title in _METRICS.items():
        if any(cell[key] is not None for cell in table.values()):
            rows.append([title, *(_score_cell(table, column, key) for column in columns)])
    rows.append(["training, s", *(_time_cell(table, column) for column in columns)])
    caption = paper.TITLES.get(name, " ".join(name))
    for size in [cell for cell in table.values() if cell["sentences"]][:1]:
        text = f"{counted(size['sentences'], 'training sentence')}, {counted(size['tokens'], 'token')}"
        caption += f" ({text}, {counted(size['labels'], 'label')})"
    return Table(["", *(HEADERS[column] for column in columns)], rows, caption)


def _beside(table: Mapping[str, Record], column: str) -> list[Record]:
    return [table[peer] for peer, place in PEER_COLUMNS.items() if place == column and peer in table]


def _score_cell(table: Mapping[str, Record], column: str, key: str) -> str:
    cell = table[column]
    lines = [f"**{number(cell[key])}**" if cell[key] is not None else "-"]
    published = cell.get(f"paper_{key}")
    if published is not None:
        lines.append(f"paper {number(published)}")
    return "\n".join(lines + [f"{peer['method']} {number(peer[key])}" for peer in _beside(table, column)])


def _time_cell(table: Mapping[str, Record], column: str) -> str:
    cell = table[column]
    lines = [f"**{_time(cell)}**", *_pace(cell)]
    if cell["paper_seconds"] is not None:
        lines.append(f"paper {seconds(cell['paper_seconds'])}")
    for peer in _beside(table, column):
        lines += [f"{peer['method']} {_time(peer)}", *_pace(peer)]
    return "\n".join(lines)


def _time(cell: Record) -> str:
    if cell["seconds"] is None:
        return f"over {seconds(cell['budget'])}"
    return seconds(cell["seconds"], estimated=cell["estimated"])


def _pace(cell: Record) -> list[str]:
    if not cell["estimated"] or cell["seconds_per_iteration"] is None:
        return []
    return [f"{seconds(cell['seconds_per_iteration'])} per iteration"]


def ratio(table: Mapping[str, Record]) -> str:
    """The ratio of training times SP1 : SP2 : standard; empty if one is missing."""
    cells = [table.get(method) for method in ("empirical", "sp2", "standard")]
    times = [None if cell is None else cell["seconds"] for cell in cells]
    if times[0] is None or times[1] is None or times[2] is None:
        return ""
    estimated = " (estimated)" if cells[2] is not None and cells[2]["estimated"] else ""
    return f"1 : {_times(times[1] / times[0])} : {_times(times[2] / times[0])}{estimated}"


def _times(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def ratio_text(name: tuple[str, str], table: Mapping[str, Record]) -> str:
    """The ratio beside that of the paper; empty if a time is missing."""
    if not ratio(table):
        return ""
    published = paper.TABLES.get(name, {})
    times = [published[m].seconds for m in ("empirical", "sp2", "standard") if m in published]
    theirs = ""
    if len(times) == 3 and times[0] and times[1] and times[2]:
        theirs = f"; in the paper 1 : {_times(times[1] / times[0])} : {_times(times[2] / times[0])}"
    return f"Training time SP1 : SP2 : standard on {' '.join(name)}: **{ratio(table)}**{theirs}."


def shortfalls(table: Mapping[str, Record]) -> str:
    """Where SP1 and SP2 are below the paper, and by how much."""
    short = []
    for method in SEPARATE_METHODS:
        for key, words in SHORT.items():
            cell = table.get(method)
            difference = None if cell is None else points(cell[key], cell.get(f"paper_{key}"))
            if difference is not None and difference < -0.005:
                short.append(f"{NAMES[method]} on {words} by {-difference:.2f} points")
    if short:
        return f"**Below the paper:** {', '.join(short)}."
    return "SP1 and SP2, if they were run, reach or exceed every figure in the paper's table."


# -- label bias ------------------------------------------------------------------------------------------------------


def label_bias_rounds(rounds: Sequence[Record]) -> tuple[Table, str]:
    """Means and rounds with their differences from the optimal rule, and a verdict."""
    methods = list(dict.fromkeys(one["method"] for one in rounds))
    by = {(one["split"], one["method"]): one for one in rounds if one["accuracy"] is not None}
    differences: dict[str, list[float]] = {method: [] for method in methods}
    rows, rules = [], []
    for split, seed in dict.fromkeys((one["split"], one["seed"]) for one in rounds):
        rule = label_bias.PAPER.optimal(label_bias.sample(seed)[1])
        rules.append(rule)
        row = [split, f"{rule:.2f}"]
        for method in methods:
            cell = by.get((split, method))
            if cell is not None:
                differences[method].append(100 * cell["accuracy"] - rule)
            row.append("-" if cell is None else f"{100 * cell['accuracy']:.2f}\n{differences[method][-1]:+.2f}")
        rows.append(row)
    best = statistics.mean(rules)
    means = ["mean", f"**{best:.2f}**"]
    for method, found in differences.items():
        published = paper.figures("label-bias", "", method)
        theirs = "" if published is None else f"\npaper {published.accuracy}"
        mean = statistics.mean(found) if found else 0.0
        means.append(f"**{best + mean:.2f}**\n{mean:+.2f}{theirs}" if found else "-")
    header = ["round", "optimal\nrule", *(HEADERS[method] for method in methods)]
    caption = f"{paper.TITLES['label-bias', '']}; differences from the rule in points"
    return Table(header, [means, *rows], caption), verdict(differences)


def verdict(differences: Mapping[str, Sequence[float]]) -> str:
    """How far the methods are from the optimal rule, in words."""
    texts = []
    free = [method for method in (*SEPARATE_METHODS, "standard", "piecewise") if differences.get(method)]
    if free:
        worst = max(abs(d) for method in free for d in differences[method])
        mean = max(abs(statistics.mean(differences[m])) for m in free)
        texts.append(
            f"{', '.join(free)}: at most {worst:.2f} points from the optimal rule in any round, at most {mean:.2f} on "
            "average. (A tie counts half for the rule, but a tagger is either correct or wrong.)"
        )
    if differences.get("memm"):
        texts.append(f"memm: at least {-max(differences['memm']):.2f} points below it in every round.")
    return " ".join(texts)


def memm_priors(records: Sequence[Record]) -> Table | None:
    """The mean accuracy of the MEMM on the label-bias data for several priors."""
    found: dict[str, list[float]] = {}
    for one in records:
        if one["experiment"] == "memm-priors" and one["accuracy"] is not None:
            found.setdefault(one["split"].partition(", ")[2], []).append(one["accuracy"])
    row = ["mean accuracy, %", *(number(statistics.mean(values)) for values in found.values())]
    return Table(["MEMM", *found], [row]) if found else None


def others(records: Sequence[Record]) -> dict[str, Table]:
    """For each other data set, methods by priors: means of the rounds, and differences from the optimal rule."""
    tables = {}
    for name, simulation in label_bias.OTHERS.items():
        own = [one for one in records if one["experiment"] == "label-bias-others" and f"{name}, " in one["split"]]
        if own:
            tests = [label_bias.sample(seed, simulation)[1] for seed in sorted({one["seed"] for one in own})]
            rule = statistics.mean(map(simulation.optimal, tests))
            methods = dict.fromkeys(one["method"] for one in own)
            rows = [
                [HEADERS[method], *(_mean(own, method, setting, rule) for setting in _SETTINGS)] for method in methods
            ]
            tables[name] = Table(["", *_SETTINGS], rows, f"{name.capitalize()}; the optimal rule has {rule:.2f}")
    return tables


def _mean(records: Sequence[Record], method: str, setting: str, rule: float) -> str:
    own = [one for one in records if one["method"] == method and f", {setting}, " in one["split"]]
    found = [one["accuracy"] for one in own if one["accuracy"] is not None]
    return f"{number(statistics.mean(found))}\n{100 * statistics.mean(found) - rule:+.2f}" if found else "-"


# -- what the paper leaves open --------------------------------------------------------------------------------------


def oov_rates(tables: Tables) -> tuple[Table, str] | None:
    """The shares of OOV words that the paper's accuracies imply, beside the counted ones, and how many agree."""
    rows, inside = [], {"": 0, " shuffled": 0}
    intervals, measured = 0, set()
    for split in BROWN_SPLITS:
        implied = [paper.implied_oov_rate(paper.TABLES["pos", split][column]) for column in _COLUMNS]
        rates = {order: _counted(tables.get(("pos", f"{split}{order}"), {})) for order in inside}
        if not any(rates.values()):
            continue
        intervals += len(implied)
        for order, rate in rates.items():
            measured |= {order} if rate is not None else set()
            inside[order] += sum(rate is not None and low <= rate <= high for _, low, high in implied)
        shown = [f"{rate:.1f}\n{low:.1f} to {high:.1f}" for rate, low, high in implied]
        rows.append([split, *shown, *("-" if rate is None else f"**{rate:.1f}**" for rate in rates.values())])
    agree = [
        f"{inside[order]} of {intervals} intervals contain the share of the {order.strip() or 'file-order'} splits"
        for order in inside
        if order in measured
    ]
    header = ["split", *(f"{paper.COLUMNS[column]}\nimplied" for column in _COLUMNS), "file order", "shuffled"]
    return (Table(header, rows, "Share of OOV words among the test words, %"), "; ".join(agree)) if rows else None


def _counted(table: Mapping[str, Record]) -> float | None:
    """The share of OOV words in percent, from the unrounded accuracies of any method."""
    for cell in table.values():
        known, every, oov = (cell[key] for key in ("accuracy_known", "accuracy", "accuracy_oov"))
        if known is not None and oov is not None and abs(known - oov) > 1e-3:
            return float(100 * (known - every) / (known - oov))
    return None


def ablation(tables: Tables) -> Table | None:
    """What each of our choices adds: a row for each, a column for each split."""
    splits = [split for experiment, split in tables if experiment == "ablation"]
    rows = []
    for method in ("empirical", "separate"):
        names = {f"**{NAMES[method]}**": ("pos", method)}
        names |= {"- label rates (`sp1`: pairs of words)": ("pos", "sp1")} if method == "empirical" else {}
        names |= {name.partition(": ")[2]: ("ablation", name) for name in ABLATIONS if name.startswith(method)}
        for shown, (experiment, name) in names.items():
            cells = [tables.get((experiment, split), {}).get(name) for split in splits]
            rows.append([shown, *(_scores(cell, "accuracy_known", "accuracy_oov") for cell in cells)])
    for method, name in (("empirical", "SP1"), ("sp2", "SP2")):
        found = [paper.TABLES["pos", split][method] for split in splits]
        rows.append([f"the paper's {name}", *(f"{f.accuracy}\n{f.accuracy_known}, {f.accuracy_oov}" for f in found)])
    return Table(["", *splits], rows, "Accuracy of all words, %; below it known and OOV words") if splits else None


def _scores(cell: Record | None, *below: str) -> str:
    """The accuracy, and other scores below it."""
    if cell is None or cell["accuracy"] is None:
        return "-"
    names = {"f1": "F1 "}
    shown = [names.get(key, "") + number(cell[key]) for key in below if cell[key] is not None or key != "f1"]
    return f"{number(cell['accuracy'])}\n{', '.join(shown)}"


def mu(tables: Tables) -> Table | None:
    """Accuracy for several values of mu_oov, with a fixed weight of the edges."""
    splits = [split for experiment, split in tables if experiment == "mu"]
    rows = [
        [name, *(_scores(tables["mu", split].get(name), "accuracy_oov", "f1") for split in splits)]
        for name in (f"mu = {value:g}" for value in MU)
    ]
    caption = "Accuracy of all words, %; below it OOV words, and F1 of spans"
    return Table(["", *splits], rows, caption) if splits else None


def priors(tables: Tables) -> Table | None:
    """Held-out accuracy of every prior; the best one of each method is used in the tables."""
    found = {split: table for (experiment, split), table in tables.items() if experiment == "priors"}
    rows = []
    for corpus in dict.fromkeys(split.partition(",")[0] for split in found):
        for method in PRIORS:
            cells = [found.get(f"{corpus}, c2 = {value:g}", {}).get(method) for value in PRIOR_VALUES]
            values = [None if cell is None else cell["accuracy"] for cell in cells]
            best = max((value for value in values if value is not None), default=None)
            if best is not None:
                shown = [number(value) if value != best else f"**{number(value)}**" for value in values]
                rows.append([f"{corpus} {method}", *shown])
    header = ["", *(f"c2 = {value:g}" for value in PRIOR_VALUES)]
    return Table(header, rows, "Accuracy on held-out sentences, %") if rows else None
