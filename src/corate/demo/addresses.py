"""Labelled postal addresses of eight countries, with the noise of real ones.

The addresses are synthetic: :func:`addresses` draws names and places from :mod:`corate.demo.names`, arranges them as
each country does, then abbreviates, omits, swaps, misspells and changes case. The result depends only on the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from corate.demo.names import COMPANY_FORMS, COUNTRIES, NOTES, TITLES, TRADES, Country

__all__ = ["PARTS", "Address", "addresses"]

#: The parts of an address; labels are ``B-`` for the first token of a part, ``I-`` for the rest, ``O`` between.
PARTS = ("NAME", "HOUSE", "STREET", "UNIT", "CITY", "REGION", "POSTCODE", "COUNTRY")

#: One labelled line: (token, label) pairs.
Address = list[tuple[str, str]]
#: A piece of a line: the part it belongs to, or "" for punctuation, and its text.
_Piece = tuple[str, str]

_OPTIONAL_PRESENT = 0.5
_PART_MISSING = 0.1
_SWAPPED = 0.2
_NO_COMMAS = 0.6
_LOWER, _UPPER = 0.2, 0.1
_TYPO = 0.06
_MADE_UP = 0.5
_BORROWED = 0.3
_NOTE = 0.1
_FEWEST_PARTS = 3


def addresses(n: int, seed: int = 0) -> Iterator[Address]:
    """Yield ``n`` labelled address lines. A line is a list of (token, label) pairs.

    The labels are IOB2 labels of the parts NAME, HOUSE, STREET, UNIT, CITY, REGION, POSTCODE and COUNTRY. The same
    ``seed`` gives the same lines.

    >>> for token, label in next(addresses(1, seed=10)):
    ...     print(f"{token:10}{label}")
    Marshwell B-NAME
    Optics    I-NAME
    SARL      I-NAME
    ,         O
    60        B-HOUSE
    Sunset    B-STREET
    Rd.       I-STREET
    ,         O
    Ste       B-UNIT
    627       I-UNIT
    ,         O
    Jacson    B-CITY
    IL        B-REGION
    85358     B-POSTCODE
    """
    rng = Random(seed)
    for _ in range(n):
        yield _address(rng)


def _address(rng: Random) -> Address:
    country = rng.choice(COUNTRIES)
    while True:
        groups = _laid_out(rng, country)
        if rng.random() < _SWAPPED and len(groups) > 1:
            i = rng.randrange(len(groups) - 1)
            groups[i], groups[i + 1] = groups[i + 1], groups[i]
        if sum(bool(part) for group in groups for part, _ in group) >= _FEWEST_PARTS:
            if rng.random() < _NOTE:
                groups.append([("", _filled(rng, rng.choice(NOTES)))])
            return _noisy(rng, _labelled(groups, commas=rng.random() >= _NO_COMMAS))


def _laid_out(rng: Random, country: Country) -> list[list[_Piece]]:
    """The parts of one address, a list for each group between commas."""
    groups: list[list[_Piece]] = [[]]
    for symbol in rng.choice(country.layouts).split():
        if symbol == ",":
            groups.append([])
        elif symbol.isalpha() or symbol.startswith("["):
            optional = symbol.startswith("[")
            part = symbol.strip("[]")
            if rng.random() < (_OPTIONAL_PRESENT if optional else 1 - _PART_MISSING):
                groups[-1].append((part, _text(rng, country, part)))
        else:
            groups[-1].append(("", symbol))
    return [g for g in groups if any(part for part, _ in g)]


def _labelled(groups: list[list[_Piece]], *, commas: bool) -> Address:
    line: Address = []
    for g, group in enumerate(groups):
        if g and commas:
            line.append((",", "O"))
        for part, text in group:
            tokens = text.split()
            labels = [f"B-{part}"] + [f"I-{part}"] * (len(tokens) - 1) if part else ["O"] * len(tokens)
            line.extend(zip(tokens, labels, strict=True))
    return line


# -- parts -------------------------------------------------------------------------------------------------------------


def _text(rng: Random, country: Country, part: str) -> str:
    if part == "NAME":
        return _company(rng, country) if rng.random() < 0.25 else _person(rng, country)
    if part == "HOUSE":
        return _filled(rng, rng.choice(country.house))
    if part == "STREET":
        street = _filled(rng, _form(rng, rng.choice(country.streets)))
        return street.replace("*", _street_name(rng, country))
    if part == "UNIT":
        return _filled(rng, rng.choice(country.units))
    if part == "CITY":
        return _city(rng, country)
    if part == "POSTCODE":
        return _filled(rng, rng.choice(country.postcode))
    return _form(rng, rng.choice(country.regions) if part == "REGION" else country.called)


def _person(rng: Random, country: Country) -> str:
    given = _word(rng, country.given)
    if rng.random() < 0.2:
        given = f"{given[0]}."
    if rng.random() < 0.15:
        given = f"{given} {rng.choice('ABCDEFGHJKLMNPRST')}."
    surname = _surname(rng, country)
    if rng.random() < 0.08:
        return f"{surname} {given}"
    title = f"{rng.choice(TITLES)} " if rng.random() < 0.2 else ""
    return f"{title}{given} {surname}"


def _company(rng: Random, country: Country) -> str:
    owner = _city(rng, country) if rng.random() < 0.3 else _surname(rng, country)
    middle = f" {_word(rng, TRADES)}" if rng.random() < 0.8 else ""
    form = f" {rng.choice(COMPANY_FORMS)}" if rng.random() < 0.5 or not middle else ""
    return f"{owner}{middle}{form}"


def _street_name(rng: Random, country: Country) -> str:
    """Streets are named after places and people too, which makes addresses hard to label."""
    if rng.random() >= _BORROWED:
        return _word(rng, country.street_names)
    return _city(rng, country) if rng.random() < 0.5 else _surname(rng, country)


def _surname(rng: Random, country: Country) -> str:
    return _word(rng, country.surnames[0]) + _word(rng, country.surnames[1])


def _city(rng: Random, country: Country) -> str:
    if rng.random() >= _MADE_UP:
        return _word(rng, country.cities)
    return _word(rng, country.city_parts[0]) + _word(rng, country.city_parts[1])


def _word(rng: Random, words: str) -> str:
    return rng.choice(words.split()).replace("_", " ")


def _form(rng: Random, forms: list[str]) -> str:
    """The long form half of the time, else one of the short ones."""
    return forms[0] if len(forms) == 1 or rng.random() < 0.5 else rng.choice(forms[1:])


def _filled(rng: Random, pattern: str) -> str:
    """Replace 9 by any digit, 8 by a digit from 1 to 9, and an A that is alone or beside a digit by a letter.

    >>> _filled(Random(1), "AA9 9AA"), _filled(Random(1), "P.O. Box 899"), _filled(Random(1), "Apt 8A")
    ('EW1 4DS', 'P.O. Box 391', 'Apt 3W')
    """
    if not any(c.isdigit() for c in pattern):
        return pattern[:-1] + rng.choice("ABCD") if pattern.endswith(" A") else pattern
    out = []
    for i, c in enumerate(pattern):
        beside = pattern[max(0, i - 1) : i + 2]
        if c == "9":
            out.append(rng.choice("0123456789"))
        elif c == "8":
            out.append(rng.choice("123456789"))
        elif c == "A" and all(b in "A0123456789 /-" for b in beside):
            out.append(rng.choice("ABCDEFGHJKLMNPRSTUWXYZ"))
        else:
            out.append(c)
    return "".join(out)


# -- noise -------------------------------------------------------------------------------------------------------------


def _noisy(rng: Random, line: Address) -> Address:
    case = rng.random()
    noisy = []
    for token, label in line:
        word = _misspelt(rng, token) if len(token) > 3 and token.isalpha() and rng.random() < _TYPO else token
        word = word.lower() if case < _LOWER else word.upper() if case > 1 - _UPPER else word
        noisy.append((word, label))
    return noisy


def _misspelt(rng: Random, word: str) -> str:
    """One typing error: a letter omitted, doubled or swapped with the next, or the word cut short."""
    i = rng.randrange(1, len(word) - 1)
    slip = rng.randrange(4)
    if slip == 3:
        return word[: i + 1] + "."
    if slip == 0:
        return word[:i] + word[i + 1 :]
    if slip == 1:
        return word[:i] + word[i] + word[i:]
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
