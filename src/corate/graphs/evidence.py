"""Evidence as users give it: one row as a dict of states, many rows as a frame or a list of dicts.

Soft evidence about a variable is a likelihood for each of its states: a factor. It applies to all rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.display import counted
from corate.errors import ConfigError, DataError
from corate.graphs.bins import Edges
from corate.graphs.variables import States, code_column, names_of, opened
from corate.inference.trees import Factor, Given
from corate.rate import Counts
from corate.rate.counted import check_lengths
from corate.types import F64

__all__ = ["EvidenceRows", "decoded", "read_evidence"]

#: Rows with equal evidence are computed once where finding them is cheap.
_MOST_COMPARED = 4_000_000


@dataclass(frozen=True, eq=False)
class EvidenceRows:
    """Distinct rows of evidence; ``rows`` is the distinct row of each row, ``single`` whether one dict was given.

    ``soft`` has the likelihoods of soft evidence.
    """

    given: Given
    rows: NDArray[np.int64]
    single: bool
    soft: tuple[Factor, ...] = ()

    def require_memory(self, what: str, cells: int, memory: int) -> None:
        """Raise ConfigError if answers with so many cells for every row need more bytes than ``memory``."""
        if 8 * cells * len(self.rows) > memory:
            raise ConfigError(
                f"the {what} of {counted(len(self.rows), 'row')}, each with {counted(cells, 'number')}, need more than "
                f"the memory budget of {counted(memory, 'byte')}; ask for fewer rows or variables at a time",
                option="memory",
            )

    def require_possible(self, logs: NDArray[np.float64]) -> None:
        """Raise DataError if a row has the probability zero."""
        impossible = np.flatnonzero(~(logs[self.rows] > -np.inf))
        if len(impossible):
            which = "the evidence" if self.single else f"row {impossible[0]} of the evidence"
            raise DataError(
                f"{which} has the probability zero, so nothing follows from it; check its states, or fit with a prior "
                "above 0"
            )


def read_evidence(evidence: Any, variables: Sequence[str], states: Mapping[str, States], bins: Edges) -> EvidenceRows:
    """Evidence as state numbers; None, NaN and empty texts are not observed."""
    numbers = {name: i for i, name in enumerate(variables)}
    if evidence is None:
        evidence = {}
    if isinstance(evidence, Sequence) and not isinstance(evidence, str | bytes):
        evidence = _frame_of(evidence, variables)
    soft: tuple[Factor, ...] = ()
    if isinstance(evidence, Mapping):
        likelihoods = {
            name: found
            for name, value in evidence.items()
            if name in numbers and (found := _likelihoods(value, name, states[name], name in bins)) is not None
        }
        soft = tuple(((numbers[name],), table) for name, table in likelihoods.items())
        evidence = {name: value for name, value in evidence.items() if name not in likelihoods}
    single = isinstance(evidence, Mapping) and not any(_is_column(value) for value in evidence.values())
    data = {name: [value] for name, value in evidence.items()} if single else opened(evidence)
    if isinstance(data, Counts):
        raise DataError("evidence must be a dict of states, a frame or a list of dicts, not Counts")
    names = names_of(data)
    for name in names:
        if name not in numbers:
            have = ", ".join(variables[:12]) + (", ..." if len(variables) > 12 else "")
            raise DataError(f"evidence about {name!r}, which is no variable of the model (variables: {have})")
    coded = {name: code_column(data[of], name, states[name], bins.get(name))[0] for name, of in names.items()}
    check_lengths(coded)
    columns = [np.asarray(codes, dtype=np.int32) for codes in coded.values()]
    count = len(columns[0]) if columns else 1 if single else _length(data)
    if count == 0:
        raise DataError("the evidence has no rows; pass at least one, or None for no evidence")
    whole = np.stack(columns, axis=1) if columns else np.zeros((count, 0), dtype=np.int32)
    ids = np.array([numbers[name] for name in names], dtype=np.int32)
    if not 1 < whole.size <= _MOST_COMPARED or count < 2:
        return EvidenceRows((ids, np.ascontiguousarray(whole)), np.arange(count), single, soft)
    distinct, rows = np.unique(whole, axis=0, return_inverse=True)
    return EvidenceRows((ids, np.ascontiguousarray(distinct)), rows.reshape(-1), single, soft)


def decoded(codes: NDArray[np.int32], states: States) -> NDArray[Any]:
    """The states of some numbers, as an array of their common type, or of objects."""
    kinds = {type(state) for state in states}
    if len(kinds) == 1 and kinds <= {int, float, bool, str}:
        return np.asarray(np.array(states)[codes])
    objects = np.empty(len(states), dtype=object)
    objects[:] = states
    return np.asarray(objects[codes])


def _likelihoods(value: Any, name: str, states: States, binned: bool) -> F64 | None:
    """The likelihoods of all states: a dict, or a list of numbers, of which one is neither whole nor a state."""
    if isinstance(value, Mapping):
        if set(value) != set(states):
            some = ", ".join(map(repr, states[:8])) + (", ..." if len(states) > 8 else "")
            raise DataError(f"soft evidence about {name} needs a number for each of its states: {some}")
        listed = [value[state] for state in states]
    elif binned or not _is_column(value) or len(value) != len(states):
        return None
    else:
        listed = list(value)
        known = {*states, *map(str, states)}
        if not all(isinstance(one, int | float | np.number) for one in listed):
            return None
        if all(one % 1 == 0 or one != one or one in known or str(one) in known for one in listed):
            return None
    try:
        table = np.array(listed, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"soft evidence about {name} must be numbers, not {value!r}") from None
    if not (np.isfinite(table).all() and (table >= 0).all() and table.any()):
        raise DataError(f"soft evidence about {name} must be numbers that are not negative, and not all zero: {listed}")
    return table


def _is_column(value: Any) -> bool:
    return not isinstance(value, str | bytes | tuple) and hasattr(value, "__len__")


def _length(data: Any) -> int:
    return int(data.num_rows) if hasattr(data, "num_rows") else 1 if isinstance(data, Mapping) else len(data)


def _frame_of(rows: Sequence[Any], variables: Sequence[str]) -> dict[str, list[Hashable]]:
    """A list of dicts as columns; what a dict does not have is not observed."""
    if not rows:
        raise DataError("the list of evidence is empty; pass at least one dict of states")
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise DataError(f"row {i} of the evidence is {row!r}; each row must be a dict of states")
    names = list(dict.fromkeys(name for row in rows for name in row)) or [variables[0]]
    return {str(name): [row.get(name) for row in rows] for name in names}
