"""The figures in the paper, by experiment and split, in percent and seconds.

Columns: SP1 is ``sp1`` and our variant of it ``empirical``; SP2 is ``sp2``, ``sp2-features`` and our variant
``separate``; CRF++ ``standard``, PW ``piecewise``, MEMMs ``memm``. The label-bias table has only accuracies; the others
have no MEMM.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COLUMNS", "TABLES", "TITLES", "Figures", "figures", "implied_oov_rate"]

#: The paper's names of the methods.
COLUMNS = {
    "empirical": "SP1",
    "sp1": "SP1",
    "sp2": "SP2",
    "standard": "CRF++",
    "piecewise": "PW",
    "memm": "MEMMs",
}


@dataclass(frozen=True)
class Figures:
    """One column of one table; None if the paper does not have the figure."""

    accuracy: float
    accuracy_oov: float | None = None
    accuracy_known: float | None = None
    seconds: float | None = None


_Row = tuple[float, float, float, float]


def _table(oov: _Row, known: _Row, every: _Row, seconds: _Row) -> dict[str, Figures]:
    columns = ("empirical", "sp2", "standard", "piecewise")
    return {name: Figures(every[i], oov[i], known[i], seconds[i]) for i, name in enumerate(columns)}


#: The paper's captions, with its own split sizes.
TITLES = {
    ("label-bias", ""): "Table 1, Accuracy For Label Bias Problem",
    ("pos", "1000-4000"): "Table 2, 1000-4000",
    ("pos", "2500-2500"): "Table 3, 2500-2500",
    ("pos", "4000-1000"): "Table 4, 4000-1000",
    ("pos", "17k-16k"): "Table 5, 17311-16312",
    ("pos", "32k-1000"): "Table 6, 32623-1000",
    ("ner", "ned"): "Table 7, Named Entity Recognition Accuracy",
}

#: By experiment and split, then by method.
TABLES: dict[tuple[str, str], dict[str, Figures]] = {
    ("label-bias", ""): {
        "empirical": Figures(95.8),
        "sp2": Figures(95.9),
        "standard": Figures(95.9),
        "piecewise": Figures(96.0),
        "memm": Figures(66.6),
    },
    ("pos", "1000-4000"): _table(
        oov=(55.9, 56.3, 39.3, 47.5),
        known=(94.9, 94.9, 86.8, 75.3),
        every=(86.7, 86.8, 76.8, 69.4),
        seconds=(0.4, 4.3, 6180.3, 30704.8),
    ),
    ("pos", "2500-2500"): _table(
        oov=(58.2, 58.6, 43.2, 49.5),
        known=(95.5, 95.6, 91.2, 80.0),
        every=(90.0, 90.2, 84.1, 75.5),
        seconds=(0.6, 13.25, 28408.2, 66257.8),
    ),
    ("pos", "4000-1000"): _table(
        oov=(60.5, 61.4, 44.6, 52.5),
        known=(96.1, 96.2, 92.9, 83.0),
        every=(91.7, 91.9, 87.0, 79.25),
        seconds=(0.95, 23.5, 59954.35, 138406.4),
    ),
    ("pos", "17k-16k"): _table(
        oov=(60.8, 61.0, 62.3, 50.4),
        known=(96.4, 96.4, 95.3, 80.8),
        every=(94.18, 94.2, 93.2, 78.9),
        seconds=(2.2, 124.6, 1064384.7, 1946706.3),
    ),
    ("pos", "32k-1000"): _table(
        oov=(70.1, 70.4, 71.7, 59.9),
        known=(96.9, 96.8, 96.1, 84.0),
        every=(95.6, 95.6, 95.4, 82.9),
        seconds=(3.9, 294.9, 4571806.5, 3791648.2),
    ),
    ("ner", "ned"): _table(
        oov=(72.6, 72.7, 68.3, 69.6),
        known=(98.8, 98.8, 97.0, 97.2),
        every=(96.11, 96.14, 94.1, 94.4),
        seconds=(1.6, 53.1, 1070.7, 4616.5),
    ),
}


def figures(experiment: str, split: str, method: str) -> Figures | None:
    """The paper's figures for a method on a split; all label-bias rounds share one table.

    >>> figures("pos", "1000-4000", "separate").accuracy, figures("pos", "1000-4000", "memm")
    (86.8, None)
    >>> figures("label-bias", "round 3", "memm").accuracy
    66.6
    """
    key = (experiment, "" if experiment == "label-bias" else split)
    columns = {"sp1": "empirical", "separate": "sp2", "sp2-features": "sp2"}
    return TABLES.get(key, {}).get(columns.get(method, method))


def implied_oov_rate(found: Figures) -> tuple[float, float, float]:
    """The share of OOV words that three accuracies imply, in percent, and the interval that their rounding allows.

    From all = (1 - rate) known + rate OOV follows rate = (known - all) / (known - OOV).

    >>> [round(rate, 1) for rate in implied_oov_rate(figures("pos", "1000-4000", "empirical"))]
    [21.0, 20.8, 21.3]
    """
    known, every, oov = found.accuracy_known, found.accuracy, found.accuracy_oov
    assert known is not None
    assert oov is not None
    a, b, c = (_half_unit(value) for value in (known, every, oov))
    return (
        _oov_rate(known, every, oov),
        _oov_rate(known - a, every + b, oov - c),
        _oov_rate(known + a, every - b, oov + c),
    )


def _oov_rate(known: float, every: float, oov: float) -> float:
    return 100 * (known - every) / (known - oov)


def _half_unit(value: float) -> float:
    """Half a unit of the last printed decimal.

    >>> _half_unit(94.18), _half_unit(90.0)
    (0.005, 0.05)
    """
    return float(0.5 / 10 ** len(repr(value).partition(".")[2]))
