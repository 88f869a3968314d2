"""``corate rates --between``: co-occurrence rates of the values of named columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from corate.cli.shared_options import Reading, names_in
from corate.cli.terminal import count, escaped, is_terminal, print_json, show_table

if TYPE_CHECKING:
    from corate.rate import IndependenceTest, ValueRate

__all__ = ["show_column_rates"]


def show_column_rates(
    source: str, reading: Reading, between: str, given: str | None, *, n: int, smooth: float, json: bool
) -> None:
    """Read a table, and print the values of its columns that attract and avoid each other."""
    from corate.formats.tables import read_table
    from corate.rate import Counts

    columns, conditions = names_in(between), [] if given is None else names_in(given)
    _check(columns, conditions, reading)
    table = read_table(
        source,
        [*columns, *conditions],
        encoding=reading.encoding,
        separator=reading.separator_text(),
        skip_bad=reading.skip_bad,
    )
    counts = Counts.of_frame(table)
    attractive, repulsive = counts.rates(columns, conditions, n, smooth=smooth)
    tests = [counts.test(columns[:k], columns[k], conditions) for k in range(1, len(columns))]
    listed = {"attractive": attractive, "repulsive": repulsive}
    if json:
        facts = {"source": source, "between": columns, "given": conditions, "rows": len(table[columns[0]])}
        tested = {"tests": [_test_facts(test) for test in tests]}
        print_json(facts | tested | {k: [_facts(r, columns, conditions) for r in rates] for k, rates in listed.items()})
    else:
        _show(listed, tests, [*columns, *conditions])


def _check(columns: Sequence[str], conditions: Sequence[str], reading: Reading) -> None:
    """Raise BadParameter for names and options that do not go together."""
    names = [*columns, *conditions]
    if len(columns) < 2:
        raise click.BadParameter("name at least two columns, such as sky,ground", param_hint="--between")
    if "" in names:
        raise click.BadParameter("a name is missing between two commas", param_hint="--between or --given")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise click.BadParameter(f"{twice!r} is named twice", param_hint="--between or --given")
    plain = Reading()
    for option in ("format", "columns", "comment", "docstart", "label", "label_names"):
        if getattr(reading, option) != getattr(plain, option):
            hint = f"--{option.replace('_', '-')}"
            raise click.BadParameter("this is for labelled text, not for a table", param_hint=hint)


def _facts(rate: ValueRate, columns: Sequence[str], conditions: Sequence[str]) -> dict[str, Any]:
    """A rate for JSON."""
    values = dict(zip(columns, map(_plain, rate.values), strict=True))
    given = {"given": dict(zip(conditions, map(_plain, rate.given), strict=True))} if conditions else {}
    return {"values": values, **given, "observed": int(rate.observed), "expected": rate.expected, "rate": rate.rate}


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float) else str(value)


def _test_facts(test: IndependenceTest) -> dict[str, Any]:
    left, right, given = test.independence
    numbers = {"G2": test.statistic, "degrees": test.degrees, "p_value": test.p_value}
    return {"left": left, "right": right, "given": given, **numbers}


def _show(listed: dict[str, list[ValueRate]], tests: Sequence[IndependenceTest], names: Sequence[str]) -> None:
    for title, kind in (("attract", "attractive"), ("avoid", "repulsive")):
        if listed[kind]:
            cells = [
                [*map(str, (*r.values, *r.given)), count(r.observed), f"{r.expected:,.2f}", f"{r.rate:.3g}"]
                for r in listed[kind]
            ]
            show_table(cells, [*names, "observed", "expected", "rate"], title=f"values that {title} each other")
            print()
    if not any(listed.values()):
        print("no values attract or avoid each other\n")
    print("G-squared test; a small p contradicts the independence")
    for test in tests:
        print(escaped(str(test)) if is_terminal() else test)
