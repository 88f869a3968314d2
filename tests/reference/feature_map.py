"""Features of templates as plain strings: the oracle of native/features/feature_map.cpp."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from corate.features.templates import Atom, Template
from reference.word_functions import apply


def value(atom: Atom, rows: Sequence[dict[str, str]], i: int, known: Collection[str]) -> str | None:
    """The value of an atom at token i; ``known`` are the words of its column in the training data."""
    j = i + atom.offset
    if j < 0:
        return f"<start-{-j}>"
    if j >= len(rows):
        return f"<end+{j - len(rows) + 1}>"
    word, f = rows[j][atom.column], atom.function
    if f.unseen_only and word in known:
        return None
    table = None if f.table is None else {key: f.table.get(key) or "" for key in f.table.keys.to_list()}
    return apply(f.name, word, f.number, f.text, table)


def feature(template: Template, rows: Sequence[dict[str, str]], i: int, known: Collection[str] = ()) -> str | None:
    """The feature's name, None if an atom has no value."""
    values = [value(atom, rows, i, known) for atom in template.atoms]
    return None if None in values else f"{template}={'|'.join(v or '' for v in values)}"
