"""The words of the addresses, for eight countries. All people and most places are made up from the parts in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["COMPANY_FORMS", "COUNTRIES", "NOTES", "TITLES", "TRADES", "Country"]


@dataclass(frozen=True)
class Country:
    """How one country writes addresses.

    In ``layouts`` an upper-case word is a part, a word in brackets is optional, and a comma is itself. In ``postcode``,
    ``house`` and ``units``, 9 means any digit, 8 a digit from 1 to 9 and A a letter; in ``streets``, the asterisk means
    the name of the street. Every list inside ``streets`` and ``regions``, and ``called``, have the long form first,
    then the short forms. Texts are words with spaces between; an underscore in a word stands for a space.
    """

    called: list[str]
    layouts: list[str]
    given: str
    surnames: list[str]
    cities: str
    city_parts: list[str]
    street_names: str
    streets: list[list[str]]
    house: list[str]
    units: list[str]
    postcode: list[str]
    regions: list[list[str]]


_DATA: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
TITLES: list[str] = _DATA["titles"]
NOTES: list[str] = _DATA["notes"]
TRADES: str = _DATA["trades"]
COMPANY_FORMS: list[str] = _DATA["company_forms"]
COUNTRIES = [Country(**country) for country in _DATA["countries"]]
