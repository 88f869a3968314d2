"""Sections about what the paper leaves open: the sentences of its splits, priors, mu_oov, and our choices."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from corate_reproduction import paper
from corate_reproduction.corpora import BROWN_SPLITS
from corate_reproduction.experiments import ABLATIONS, MU, PRIOR_VALUES, PRIORS
from corate_reproduction.report.blocks import Block, Heading, Paragraph, Table
from corate_reproduction.report.summary import NAMES, Record, number

__all__ = ["ablation", "memm_priors", "mu", "oov_rates", "priors"]

Tables = Mapping[tuple[str, str], Mapping[str, Record]]
_COLUMNS = ("empirical", "sp2", "standard", "piecewise")


def oov_rates(tables: Tables) -> list[Block]:
    """The shares of OOV words that the paper's accuracies imply, beside the counted ones."""
    rows, inside = [], {"": 0, " shuffled": 0}
    intervals = 0
    for split in BROWN_SPLITS:
        published = paper.TABLES["pos", split]
        implied = [paper.implied_oov_rate(published[column]) for column in _COLUMNS]
        counted = {order: _counted(tables.get(("pos", f"{split}{order}"), {})) for order in inside}
        if counted[""] is None and counted[" shuffled"] is None:
            continue
        intervals += len(implied)
        for order, rate in counted.items():
            inside[order] += sum(rate is not None and low <= rate <= high for _, low, high in implied)
        shown = [f"{rate:.1f}\n{low:.1f} to {high:.1f}" for rate, low, high in implied]
        rows.append([split, *shown, *("-" if rate is None else f"**{rate:.1f}**" for rate in counted.values())])
    if not rows:
        return []
    measured = [
        f"{inside[order]} of {intervals} intervals contain the share of the {name} splits"
        for order, name in (("", "file-order"), (" shuffled", "shuffled"))
        if any(row[-2 if order == "" else -1] != "-" for row in rows)
    ]
    return [
        Heading("Which sentences did the paper split?", 3),
        Paragraph(
            "The paper does not say in which order it split Brown. Its accuracies tell: all = (1 - r) known + r OOV, "
            "so the share r of OOV words is (known - all) / (known - OOV). The second line is the interval that the "
            f"rounding of the three figures allows. {'; '.join(measured)}. A column that is far from the others was "
            "not measured on the same words, or was printed wrongly."
        ),
        Table(
            ["split", *(f"{paper.COLUMNS[column]}\nimplied" for column in _COLUMNS), "file order", "shuffled"],
            rows,
            "Share of OOV words among the test words, %",
        ),
    ]


def _counted(table: Mapping[str, Record]) -> float | None:
    """The share of OOV words in percent, from the unrounded accuracies of any method."""
    for cell in table.values():
        known, every, oov = (cell[key] for key in ("accuracy_known", "accuracy", "accuracy_oov"))
        if known is not None and oov is not None and abs(known - oov) > 1e-3:
            return float(100 * (known - every) / (known - oov))
    return None


def ablation(tables: Tables) -> list[Block]:
    """What each of our choices adds: a row for each, a column for each split."""
    splits = [split for experiment, split in tables if experiment == "ablation"]
    if not splits:
        return []
    rows = []
    for method in ("empirical", "separate"):
        whole = {split: tables.get(("pos", split), {}).get(method) for split in splits}
        rows.append([f"**{NAMES[method]}**", *(_scores(whole[split]) for split in splits)])
        if method == "empirical":
            found = [tables.get(("pos", split), {}).get("sp1") for split in splits]
            rows.append(["- label rates (`sp1`: pairs of words)", *(_scores(cell) for cell in found)])
        for name in ABLATIONS:
            if name.startswith(method):
                found = [tables["ablation", split].get(name) for split in splits]
                rows.append([name.partition(": ")[2], *(_scores(cell) for cell in found)])
    published = [[f"the paper's {name}", *(_published(split, m) for split in splits)] for m, name in _PUBLISHED]
    return [
        Heading("Why we are above the paper", 3),
        Paragraph(
            "Our choices, switched off one at a time (-), and what the tables could have used but do not (+). The "
            "paper's spelling features alone are used in every row but the one with our ladder, and words are not "
            "smoothed in any row but the one that says so. One choice makes the difference: the paper estimates the "
            "probability of a label pair *given the words*, from the pairs of words in the training data, and falls "
            "back to pairs of the same spelling. `empirical` uses the co-occurrence rate of the labels, which does not "
            "depend on the words and is counted from all of them. With pairs of words (`sp1`), SP1 comes out near the "
            "paper's figures."
        ),
        Table(["", *splits], rows + published, "Accuracy of all words, %; below it known and OOV words"),
    ]


_PUBLISHED = (("empirical", "SP1"), ("sp2", "SP2"))


def _scores(cell: Record | None) -> str:
    if cell is None or cell["accuracy"] is None:
        return "-"
    return f"{number(cell['accuracy'])}\n{number(cell['accuracy_known'])}, {number(cell['accuracy_oov'])}"


def _published(split: str, method: str) -> str:
    found = paper.TABLES["pos", split][method]
    return f"{found.accuracy}\n{found.accuracy_known}, {found.accuracy_oov}"


def mu(tables: Tables) -> list[Block]:
    """Accuracy for several values of mu_oov, with a fixed weight of the edges."""
    splits = [split for experiment, split in tables if experiment == "mu"]
    rows = [
        [f"mu = {value:g}", *(_with_f1(tables["mu", split].get(f"mu = {value:g}")) for split in splits)] for value in MU
    ]
    if not splits:
        return []
    return [
        Heading("mu_oov", 2),
        Paragraph(
            "As the paper writes it, mu_oov multiplies P(y | x) of every OOV word by one constant. That adds the same "
            "number to the score of every labelling, so it cannot change the best one. We read it as an exponent, "
            "P(y | x)^mu. Here the weight of the edges is 1 in every row, so that only mu changes."
        ),
        Table(["", *splits], rows, "Accuracy of all words, %; below it OOV words, and F1 of spans"),
    ]


def _with_f1(cell: Record | None) -> str:
    if cell is None or cell["accuracy"] is None:
        return "-"
    f1 = "" if cell["f1"] is None else f", F1 {number(cell['f1'])}"
    return f"{number(cell['accuracy'])}\n{number(cell['accuracy_oov'])}{f1}"


def priors(tables: Tables) -> list[Block]:
    """Held-out accuracy of every prior; the best one of each method is used in the tables."""
    found = {split: table for (experiment, split), table in tables.items() if experiment == "priors"}
    corpora = list(dict.fromkeys(split.partition(",")[0] for split in found))
    rows = []
    for corpus in corpora:
        for method in PRIORS:
            cells = [found.get(f"{corpus}, c2 = {value:g}", {}).get(method) for value in PRIOR_VALUES]
            values = [None if cell is None else cell["accuracy"] for cell in cells]
            best = max((value for value in values if value is not None), default=None)
            if best is None:
                continue
            shown = [number(value) if value != best else f"**{number(value)}**" for value in values]
            rows.append([f"{corpus} {method}", *shown])
    if not rows:
        return []
    return [
        Heading("Priors", 2),
        Paragraph(
            "Every method with a Gaussian prior chooses it from the same values, by accuracy on the held-out sentences "
            "after training on the first 1,000 sentences of Brown or 2,000 of the Dutch data. The prior subtracts c2 "
            "times the sum of squared weights; for sp2 and sp2-features, sigma2 = 1 / (2 c2). `separate` and `polish` "
            "use their defaults and choose nothing."
        ),
        Table(["", *(f"c2 = {value:g}" for value in PRIOR_VALUES)], rows, "Accuracy on held-out sentences, %"),
    ]


def memm_priors(records: Sequence[Record]) -> list[Block]:
    """The mean accuracy of the MEMM on the label-bias data for several priors."""
    found: dict[str, list[float]] = {}
    for one in records:
        if one["experiment"] == "memm-priors" and one["accuracy"] is not None:
            found.setdefault(one["split"].partition(", ")[2], []).append(one["accuracy"])
    if not found:
        return []
    return [
        Paragraph(
            "The prior of the MEMM hardly matters unless it is so strong that it keeps local probabilities below 1, "
            "which hides a part of the label bias:"
        ),
        Table(
            ["MEMM", *found],
            [["mean accuracy, %", *(number(statistics.mean(values)) for values in found.values())]],
        ),
    ]
