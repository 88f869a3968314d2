"""Chunks and their scores token by token, as the conlleval script computes them: the oracle of evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

SAME_ROLE = {"L": "E", "U": "S", "M": "I", "W": "S"}


def split(label: str) -> tuple[str, str]:
    if label == "O":
        return "O", ""
    role, _, kind = label.partition("-")
    return SAME_ROLE.get(role, role), kind


def chunks(sentence: Sequence[str]) -> list[tuple[int, int, str]]:
    """(first token, one past the last, type) of each chunk of one sentence."""
    found: list[tuple[int, int, str]] = []
    open_at = -1
    last_role, last_kind = "O", ""
    for i, label in enumerate([*sentence, "O"]):
        role, kind = split(label)
        goes_on = role in ("I", "E") and last_role in ("B", "I") and kind == last_kind
        if open_at >= 0 and not goes_on:
            found.append((open_at, i, last_kind))
            open_at = -1
        if role != "O" and not goes_on:
            open_at = i
        last_role, last_kind = role, kind
    return found


def scores(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> dict[str, tuple[float, float, float, int]]:
    """Precision, recall, F1 and number of gold chunks by type; '' has the totals."""
    right: Counter[str] = Counter()
    there: Counter[str] = Counter()
    guessed: Counter[str] = Counter()
    for truth, guess in zip(gold, predicted, strict=True):
        wanted, given = chunks(truth), chunks(guess)
        for counter, found in ((there, wanted), (guessed, given), (right, [c for c in wanted if c in given])):
            for _, _, kind in found:
                counter[kind] += 1
                counter[""] += 1
    table = {}
    for kind in {*there, *guessed}:
        p = right[kind] / guessed[kind] if guessed[kind] else 0.0
        r = right[kind] / there[kind] if there[kind] else 0.0
        table[kind] = (p, r, 2 * p * r / (p + r) if p + r else 0.0, there[kind])
    return table
