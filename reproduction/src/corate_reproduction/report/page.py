"""Build the report from records, and write it as a web page and as Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from corate.display import counted
from corate.io.atomic import write_text
from corate.pages.charts import standalone
from corate_reproduction import label_bias, paper
from corate_reproduction.peers import PEERS, version
from corate_reproduction.report import choices, figures, simulations, worked
from corate_reproduction.report.blocks import Block, Figures, Heading, Items, Paragraph, Table, markdown, page
from corate_reproduction.report.summary import HEADERS, NAMES, PEER_COLUMNS, Record, by_table, number, points, seconds

__all__ = ["document", "write"]

TITLE = "Separate training, reproduced"
_FIGURES = "figures"
_METRICS = {
    "accuracy_oov": "OOV words, %",
    "accuracy_known": "known words, %",
    "accuracy": "all words, %",
    "f1": "F1 of spans, %",
}
_SHORT = {"accuracy_oov": "OOV words", "accuracy_known": "known words", "accuracy": "all words"}
_SEPARATE_METHODS = ("empirical", "sp1", "sp2", "sp2-features", "separate")
_OWN = {"chunking": "Chunking", "large-labels": "Large label sets"}


def write(records: Sequence[Record], folder: Path, *, budget: float, seed: int) -> None:
    """Write ``report.html``, ``report.md`` and the images of ``report.md``."""
    blocks = document(records, folder, budget=budget, seed=seed)
    write_text(folder / "report.html", page(TITLE, blocks))
    write_text(folder / "report.md", f"# {TITLE}\n\n{markdown(blocks, _FIGURES)}")
    drawn = folder / _FIGURES
    drawn.mkdir(exist_ok=True)
    for figure in [one for block in blocks if isinstance(block, Figures) for one in block.figures]:
        write_text(drawn / f"{figure.name}.svg", standalone(figure.svg))


def document(records: Sequence[Record], folder: Path, *, budget: float, seed: int) -> list[Block]:
    """All blocks of the report."""
    tables = by_table(records)
    has = {experiment for experiment, _ in tables}
    blocks: list[Block] = [
        Paragraph(
            "The experiments of Zhu, Hiemstra, Apers and Wombacher, *Separate Training for Conditional Random Fields "
            "Using Co-occurrence Rate Factorization* (2012), reproduced with Corate: our figures beside the figures of "
            "the paper and of current toolkits, on the same splits and features."
        ),
        *_in_short(tables),
    ]
    if "label-bias" in has:
        blocks += _label_bias(records, tables, seed)
    if "pos" in has:
        blocks += _part_of_speech(tables)
    if "ner" in has:
        blocks += [Heading("Named entities"), *_paper_tables("ner", tables)]
    blocks += [*choices.mu(tables), *choices.priors(tables)]
    for experiment, title in _OWN.items():
        if experiment in has:
            blocks += [Heading(title), Paragraph(_ABOUT[experiment]), *_paper_tables(experiment, tables)]
    blocks += _section("Accuracy against training time", _TIME, figures.accuracy_over_time(tables))
    blocks += _section("Learning curves", _CURVES, figures.learning_curves(tables))
    blocks += _section("How training time grows", _GROWTH, figures.growth(tables))
    blocks += _section("Which labels attract each other", _RATES, figures.rate_maps(folder))
    return [*blocks, *_measured(records, budget, seed)]


_ABOUT = {
    "chunking": "Not in the paper: CoNLL-2000 with the usual window of words and parts of speech (`chunking`).",
    "large-labels": "Not in the paper: the Greek New Testament with 602 labels (part of speech and parsing), features "
    "`pos`; 800 of 7,927 verses for testing.",
}
_TIME = (
    "Points on the left are fast, points at the top are accurate. Rings are the paper's own figures, in the colour of "
    "the method. A training that was stopped has a triangle at the bottom, at its estimated time. The time axis is "
    "logarithmic."
)
_CURVES = (
    "The splits of Brown, by number of training sentences. The first three splits are tested on the rest of 5,000 "
    "sentences, the others on different sentences, so the points of a curve do not share one test set."
)
_GROWTH = (
    "Over sentences: the splits of Brown. Over labels: the 1,000 sentences of the smallest split, with labels cut to "
    "their first characters, taken whole, and taken with the last letters of the word. Estimated times are "
    "included. Both axes are logarithmic."
)
_RATES = (
    "The co-occurrence rate of a label (row) with the next (column): red labels attract each other, blue labels avoid "
    "each other, white means independence; the full colour is 16 times above or below chance. `<s>` and `</s>` are the "
    "start and the end of a sentence."
)


_SPLITS = (
    "Brown in file order: the last 1,000 sentences are the test part of the largest split, and the 1,000 before them "
    "are held out. The first 5,000 make the three small splits."
)
_SHUFFLED = (
    "The same sentences, shuffled before they are split. Test sentences then come from the same texts as training "
    "sentences, so fewer words are OOV and every accuracy is higher. The paper's figures do not belong beside these."
)


def _section(title: str, text: str, found: list[Block]) -> list[Block]:
    return [Heading(title), Paragraph(text), *found] if found else []


# -- in short --------------------------------------------------------------------------------------------------------


def _in_short(tables: Mapping[tuple[str, str], Mapping[str, Record]]) -> list[Block]:
    """The main results."""
    texts = []
    for simulated in [table for (experiment, _), table in tables.items() if experiment == "label-bias"]:
        shown = [method for method in paper.COLUMNS if method in simulated]
        scores = ", ".join(f"{method} {number(simulated[method]['accuracy'])}" for method in shown)
        texts.append(f"**Label bias**, expected best {label_bias.EXPECTED:.2f}: {scores}.")
    compared = [cells for name, cells in tables.items() if name in paper.TABLES and name[0] in ("pos", "ner")]
    for method in _SEPARATE_METHODS:
        cells = [table[method] for table in compared if method in table and not table[method]["estimated"]]
        if cells:
            ends = {key: [points(cell[key], cell[f"paper_{key}"]) for cell in cells] for key in _SHORT}
            reached = {key: sum(p is not None and p > -0.005 for p in found) for key, found in ends.items()}
            texts.append(
                f"**{NAMES[method]}** reaches or exceeds the paper's accuracy on {reached['accuracy']} of "
                f"{counted(len(cells), 'table')}, on OOV words on {reached['accuracy_oov']}, on known words on "
                f"{reached['accuracy_known']}."
            )
    texts += [text for name, table in tables.items() if (text := _against_peers(name, table))]
    texts += [_ratio_text(name, table) for name, table in tables.items() if name[0] in ("pos", "ner") and _ratio(table)]
    return [Heading("In short"), Items(texts)] if texts else []


def _against_peers(name: tuple[str, str], table: Mapping[str, Record]) -> str:
    """Our best method and the best peer with the same features; empty if one is missing."""
    key = "f1" if name[0] == "chunking" else "accuracy"
    done = [cell for cell in table.values() if cell[key] is not None and cell["method"] != "default"]
    ours, theirs = [c for c in done if not c["library"]], [c for c in done if c["library"]]
    if name[0] not in ("pos", "ner", *_OWN) or not ours or not theirs:
        return ""
    best, peer = (max(cells, key=lambda cell: cell[key]) for cells in (ours, theirs))
    results = [f"{NAMES[cell['method']]} {number(cell[key])} in {seconds(cell['seconds'])} s" for cell in (best, peer)]
    return f"On {' '.join(name)}, the same features: **{results[0]}**; {results[1]}."


def _ratio(table: Mapping[str, Record]) -> str:
    """The ratio of training times SP1 : SP2 : standard; empty if one is missing."""
    cells = [table.get(method) for method in ("empirical", "sp2", "standard")]
    times = [None if cell is None else cell["seconds"] for cell in cells]
    if times[0] is None or times[1] is None or times[2] is None:
        return ""
    estimated = " (estimated)" if cells[2] is not None and cells[2]["estimated"] else ""
    return f"1 : {_times(times[1] / times[0])} : {_times(times[2] / times[0])}{estimated}"


def _times(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _ratio_text(name: tuple[str, str], table: Mapping[str, Record]) -> str:
    published = paper.TABLES.get(name, {})
    times = [published[m].seconds for m in ("empirical", "sp2", "standard") if m in published]
    theirs = ""
    if len(times) == 3 and times[0] and times[1] and times[2]:
        theirs = f"; in the paper 1 : {_times(times[1] / times[0])} : {_times(times[2] / times[0])}"
    return f"Training time SP1 : SP2 : standard on {' '.join(name)}: **{_ratio(table)}**{theirs}."


# -- tables ----------------------------------------------------------------------------------------------------------


def _part_of_speech(tables: Mapping[tuple[str, str], Mapping[str, Record]]) -> list[Block]:
    """The splits in file order, what they say about the paper's splits and our choices, and the shuffled splits."""
    shuffled = {name: table for name, table in tables.items() if name[0] == "pos" and "shuffled" in name[1]}
    in_file_order = {name: table for name, table in tables.items() if name not in shuffled}
    blocks: list[Block] = [Heading("Part-of-speech tagging"), Paragraph(_SPLITS), *_paper_tables("pos", in_file_order)]
    blocks += [*choices.oov_rates(tables), *choices.ablation(tables)]
    if shuffled:
        blocks += [Heading("Shuffled sentences", 3), Paragraph(_SHUFFLED), *_paper_tables("pos", shuffled)]
    return blocks


def _paper_tables(experiment: str, tables: Mapping[tuple[str, str], Mapping[str, Record]]) -> list[Block]:
    blocks: list[Block] = []
    for name, table in tables.items():
        if name[0] != experiment:
            continue
        blocks.append(_table(name, table))
        if _ratio(table):
            blocks.append(Paragraph(_ratio_text(name, table), note=True))
        if name in paper.TABLES:
            blocks.append(Paragraph(_shortfalls(table), note=True))
    return blocks


def _table(name: tuple[str, str], table: Mapping[str, Record]) -> Table:
    """The paper's layout: a column per method; a cell has our figure, the paper's, and those of similar peers."""
    columns = [method for method in NAMES if method in table and PEER_COLUMNS.get(method) not in table]
    rows = []
    for key, title in _METRICS.items():
        if any(cell[key] is not None for cell in table.values()):
            rows.append([title, *(_score_cell(table, column, key) for column in columns)])
    rows.append(["training, s", *(_time_cell(table, column) for column in columns)])
    caption = f"{paper.TITLES[name]}" if name in paper.TITLES else " ".join(name)
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
    lines += [f"{peer['method']} {number(peer[key])}" for peer in _beside(table, column)]
    return "\n".join(lines)


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


def _shortfalls(table: Mapping[str, Record]) -> str:
    """Where SP1 and SP2 are below the paper, and by how much."""
    short = []
    for method in _SEPARATE_METHODS:
        for key, words in _SHORT.items():
            cell = table.get(method)
            difference = None if cell is None else points(cell[key], cell.get(f"paper_{key}"))
            if difference is not None and difference < -0.005:
                short.append(f"{NAMES[method]} on {words} by {-difference:.2f} points")
    if short:
        return f"**Below the paper:** {', '.join(short)}."
    return "SP1 and SP2, if they were run, reach or exceed every figure in the paper's table."


# -- label bias ------------------------------------------------------------------------------------------------------


def _label_bias(
    records: Sequence[Record], tables: Mapping[tuple[str, str], Mapping[str, Record]], seed: int
) -> list[Block]:
    rounds = [one for one in records if one["experiment"] == "label-bias"]
    splits = list(dict.fromkeys(one["split"] for one in rounds))
    methods = list(dict.fromkeys(one["method"] for one in rounds))
    by = {(one["split"], one["method"]): one for one in rounds}
    differences: dict[str, list[float]] = {method: [] for method in methods}
    rows, rules = [], []
    for split in splits:
        number_ = next(one["seed"] for one in rounds if one["split"] == split)
        rule = label_bias.PAPER.optimal(label_bias.sample(number_)[1])
        rules.append(rule)
        row = [split, f"{rule:.2f}"]
        for method in methods:
            cell = by.get((split, method))
            if cell is None or cell["accuracy"] is None:
                row.append("-")
                continue
            differences[method].append(100 * cell["accuracy"] - rule)
            row.append(f"{100 * cell['accuracy']:.2f}\n{differences[method][-1]:+.2f}")
        rows.append(row)
    means = ["mean", f"**{sum(rules) / len(rules):.2f}**"]
    for method in methods:
        found = differences[method]
        mean = sum(found) / len(found) if found else float("nan")
        published = paper.figures("label-bias", "", method)
        theirs = "" if published is None else f"\npaper {published.accuracy}"
        means.append(f"**{sum(rules) / len(rules) + mean:.2f}**\n{mean:+.2f}{theirs}" if found else "-")
    header = ["round", "optimal\nrule", *(HEADERS[method] for method in methods)]
    return [
        Heading("Label bias"),
        Paragraph(
            "Two label sequences, R1 I B and R2 O B. R1 and R2 emit the symbol r, I emits i, O emits o and B emits b, "
            "each with probability 29/32, and each of the other three symbols with probability 1/32. A round draws "
            "1,000 training and 250 test sentences of each sequence."
        ),
        Table(header, [means, *rows], f"{paper.TITLES['label-bias', '']}; differences from the rule in points"),
        Paragraph(_verdict(differences), note=True),
        *choices.memm_priors(records),
        *worked.rule(),
        *worked.blocks(worked.worked(seed)),
        *simulations.others(records),
    ]


def _verdict(differences: Mapping[str, Sequence[float]]) -> str:
    """How far the methods are from the optimal rule, in words."""
    texts = []
    free = [method for method in (*_SEPARATE_METHODS, "standard", "piecewise") if differences.get(method)]
    if free:
        worst = max(abs(d) for method in free for d in differences[method])
        mean = max(abs(sum(differences[m]) / len(differences[m])) for m in free)
        texts.append(
            f"{', '.join(free)}: at most {worst:.2f} points from the optimal rule in any round, at most {mean:.2f} on "
            "average. (A tie counts half for the rule, but a tagger is either correct or wrong.)"
        )
    if differences.get("memm"):
        texts.append(f"memm: at least {-max(differences['memm']):.2f} points below it in every round.")
    return " ".join(texts)


# -- how it was measured ---------------------------------------------------------------------------------------------


def _measured(records: Sequence[Record], budget: float, seed: int) -> list[Block]:
    from corate import __version__

    libraries = sorted({one["library"] for one in records if one["library"]})
    peers = ", ".join(f"{name} {version(name)}" for name in libraries) or "none"
    threads = ", ".join(sorted({str(one["threads"]) for one in records}))
    rows = [
        ["Corate", __version__],
        ["peers", peers],
        ["Python", f"{platform.python_version()}, {platform.system()}"],
        ["processor", f"{_processor()}, {counted(os.cpu_count() or 1, 'core')}"],
        ["threads", threads],
        ["seed", str(seed)],
        ["budget", f"{budget:g} s per cell"],
        ["cells", str(len(records))],
    ]
    texts = [
        "**Time** is training time only. Our time runs from the corpus in memory to the tagger and includes feature "
        "extraction; peers get ready-made features. Tagging is not included.",
        "**Stopped.** Training stops at the end of the budget, or after a sixth of it if all iterations would need "
        "more than twice the budget. The time is marked `~ est.`: the time of an iteration times the limit of "
        "iterations, which is an upper bound. There is no accuracy.",
        "**Features** are the paper's word and spelling features (`paper`) unless a section says otherwise; `default` "
        "is `corate.train` without options, with its default features.",
        "**empirical** uses the paper's ladder (the word, else words of the same spelling). mu_oov is an exponent. It "
        "and the weight of the edges are tuned on the held-out sentences.",
        "**sp1** is SP1 with the probabilities of label pairs given pairs of words, as the paper states them "
        '(`method="empirical", pairs="words"`). It tunes nothing. A pair with one OOV word averages over pairs with '
        "the same known word and the same spelling of the other; a pair of two OOV words, over the pairs with the same "
        "spelling of both. Two known words that were never seen together have the rates of their labels.",
        "**sp2** is SP2 as the paper states it: a node model and a pair model that know nothing of each other, each "
        'fitted to its optimum by L-BFGS (`method="separate", base="none", coupling="joint", optimizer="lbfgs"`). '
        "**sp2-features** is the same with the probability space as the paper prints it: a token can have the labels "
        'that any of its features was seen with (`space="features"`), and not those of its word. '
        "**separate** is our variant: nodes start from the counted ladder, and pairs are fitted given the nodes "
        '(`base="paper"`).',
        "**standard**, **piecewise**, **memm**, **sp2** and **sp2-features** make at most 500 iterations of L-BFGS and "
        "choose their prior on held-out sentences (section Priors); the time is that of the training with the chosen "
        "prior. Peers use c2 = 0.1 and the same limit, or 10 passes of the averaged perceptron. **polish** trains a "
        "conditional random field with a few stochastic passes from the paper's ladder.",
        "**OOV** words do not occur in the training data. F1 counts whole spans, as conlleval does.",
        "**Known differences.** The paper keeps 34,623 sentences of Brown and does not describe its filter in detail; "
        "our filter keeps 34,536, with the same 252 tags. Its splits 17311-16312 and 32623-1000 are 17,268-16,268 and "
        "32,536-1,000 here. It ran on an Intel Xeon E5345 of 2.33 GHz, separate training in Java, CRF++ in C++.",
    ]
    return [Heading("How it was measured"), Table(["", ""], rows), Items(texts)]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


assert set(PEERS) <= set(NAMES)
