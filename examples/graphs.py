"""Label the fields of forms: a graph for each form, whose edges come from the places of its fields.

Which date is the date of payment? This depends on the word beside it or above it, so fields are nodes, and edges join
neighbouring fields. The forms are made up. The program trains on 200 of them, measures on 50, and then asks about one.

    python graphs.py [MODEL]      # MODEL: where the model is written, by default forms.corate
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import corate

#: The text, the label, the row and the column of a field.
Field = tuple[str, str, int, int]

#: What a form asks for, and the words for it.
KEYS = {
    "issued": ["issued", "date", "written"],
    "due": ["due", "until", "date"],
    "paid": ["paid", "received"],
    "total": ["total", "sum"],
    "tax": ["tax", "VAT"],
}


def made_up_form(rng: random.Random) -> list[Field]:
    """The fields of a form: text, label, row and column. Each value is beside its key, or below it."""
    fields: list[Field] = []
    row = 0
    for label in rng.sample(sorted(KEYS), 4):
        key = "?" * 5 if rng.random() < 0.15 else rng.choice(KEYS[label])  # some keys cannot be read
        value = f"{rng.randint(1, 999)}.{rng.randint(0, 99):02}" if label in ("total", "tax") else f"{row}-12-2025"
        beside = rng.random() < 0.5
        fields += [(key, f"{label} key", row, 0), (value, label, row + (not beside), int(beside))]
        row += 1 + (not beside) + rng.randint(0, 1)
    return fields


def node(text: str) -> list[str]:
    """The features of a field."""
    if text[0].isdigit():
        return ["a date" if "-" in text else "a number"]
    return [f"word={text}"] if text.strip("?") else ["not legible"]


def nearest(fields: Sequence[Field], *, across: bool) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
    """The edges from the nearest field on the left of each field, or from the nearest above it.

    Each has a feature: whether the two fields are in adjacent rows or columns.
    """
    edges: list[tuple[int, int]] = []
    adjacent = []
    for j, (_, _, row, column) in enumerate(fields):
        before = [
            (column - own_column if across else row - own_row, i)
            for i, (_, _, own_row, own_column) in enumerate(fields)
            if (own_row == row and own_column < column if across else own_column == column and own_row < row)
        ]
        for distance, i in sorted(before)[:1]:
            edges.append((i, j))
            adjacent.append(distance == 1)
    return edges, np.array(adjacent, float).reshape(-1, 1)


def graphs(forms: Sequence[Sequence[Field]], *, joined: bool = True) -> corate.Corpus:
    """The corpus of forms, with or without edges."""
    x = [[node(text) for text, *_ in fields] for fields in forms]
    y = [[label for _, label, *_ in fields] for fields in forms]
    if not joined:
        return corate.Corpus.from_graphs(x, y, edges=[{}] * len(forms))
    edges, features = [], []
    for fields in forms:
        right, _ = nearest(fields, across=True)
        below, adjacent = nearest(fields, across=False)
        edges.append({"right": right, "below": below})
        features.append({"below": adjacent})
    return corate.Corpus.from_graphs(x, y, edges=edges, edge_features=features)


def main(path: str = "forms.corate") -> None:
    """Train, measure, and ask."""
    rng = random.Random(0)
    forms = [made_up_form(rng) for _ in range(250)]
    corpus = graphs(forms)
    train, test = corpus[:200], corpus[200:]
    print("training on", train)
    tagger = corate.train(train)
    print(f"accuracy with edges: {corate.evaluate(tagger, test).accuracy:.1%}")
    alone = graphs(forms, joined=False)
    print(f"each field by itself: {corate.evaluate(corate.train(alone[:200]), alone[200:]).accuracy:.1%}")

    print("\nrates along the edges 'right', from the key 'due':")
    rates = tagger.edge_rates("right")
    for label in ("due", "paid", "tax"):
        print(f"  {label:6} {rates['due key', label]:8.2f}")

    tagger.save(path)
    tagger, graph, fields = corate.load(path), test[3], forms[203]
    print("\na form, with the labels that are found and their probabilities:")
    for (text, *_), label, shares in zip(fields, tagger.tag(graph), tagger.marginals(graph), strict=True):
        print(f"  {text:12} {label:12} {shares[label]:.2f}")
    print("inference is", "exact" if tagger.inference(graph).exact else "approximate")

    known = corate.Constraints(labels={3: "due"})
    print(
        "\nif the fourth field is known to be the date when payment is due:",
        *tagger.tag(graph, constraints=known),
        sep="\n  ",
    )
    print("\nwhy the fourth field had its label:")
    print(tagger.explain(graph, 3))


if __name__ == "__main__":
    main(*sys.argv[1:2])
