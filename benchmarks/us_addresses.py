"""Made-up addresses of the United States with 29 labels, and features of their tokens as nested dicts.

The features are of the kind that address parsers with CRFsuite have: about ten facts of a token, and the same facts of
the token before and after, some 30 in all. `python -m benchmarks.us_addresses` shows one address.
"""

from __future__ import annotations

from random import Random
from typing import Any

Address = list[tuple[str, str]]


def _listed(text: str) -> list[str]:
    return text.split()


STREETS = _listed("""
    Oak Maple Cedar Pine Elm Washington Lake Hill Walnut Spring North Ridge Church Willow Meadow Highland Forest Jackson
    River Lincoln Franklin Park Mill Sunset Railroad Jefferson Chestnut Center Adams Madison Monroe Clay Dogwood Hickory
    Laurel Poplar Birch Spruce Magnolia Valley Orchard Prospect Summit Canyon Mesa Harbor Bay Union Liberty Market
""")
TYPES = _listed("St Street Ave Avenue Rd Road Blvd Boulevard Dr Drive Ln Lane Ct Court Pl Place Way Ter Cir Pkwy")
CITIES = _listed("""
    Springfield Franklin Clinton Greenville Bristol Fairview Salem Madison Georgetown Arlington Ashland Dover Oxford
    Jackson Burlington Manchester Milton Newport Auburn Centerville Clayton Dayton Lexington Milford Riverside Hudson
    Cleveland Kingston Marion Winchester Chicago Houston Phoenix Denver Boston Portland Austin Columbus
""")
STATES = _listed(
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC OH"
)
STATE_NAMES = _listed("Alabama Alaska Arizona California Colorado Florida Georgia Illinois Indiana Iowa Texas Ohio")
FIRST = _listed("Ann Bob Carl Dora Earl Faye Gus Hope Ivan Joan Kurt Lena Mark Nora Otto Pam Ray Sue Tom Una Vic Will")
LAST = _listed("Smith Jones Brown Miller Davis Wilson Moore Taylor White Harris Clark Lewis Young King Hill Green")
ORDINALS = _listed("1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 21st 42nd")
SYLLABLES = _listed("ba den fo ger hal ko len mor ni pel ran so tu ver wil zan ster ton ham by")

DIRECTIONS = {"n", "s", "e", "w", "ne", "nw", "se", "sw", "north", "south", "east", "west"}
STREET_NAMES = {t.lower() for t in TYPES}


def addresses(n: int, seed: int = 0) -> list[Address]:
    """``n`` labelled addresses, the same for the same seed."""
    rng = Random(seed)
    return [_address(rng) for _ in range(n)]


def _word(rng: Random, words: list[str]) -> str:
    """One of the words, or a made-up one: names of streets and towns never end."""
    if rng.random() < 0.7:
        return rng.choice(words)
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 3))).title()


def _address(rng: Random) -> Address:
    out: Address = []

    def put(label: str, text: str, chance: float = 1.0) -> None:
        if rng.random() < chance:
            out.extend((token, label) for token in text.split())

    kind = rng.random()
    if rng.random() < 0.3:
        put("Recipient", f"{rng.choice(FIRST)} {_word(rng, LAST)}", 0.7)
        put("Recipient", f"{_word(rng, LAST)} {rng.choice(['Inc', 'LLC', 'Company', 'Bros', '& Sons'])}", 0.2)
        put("NotAddress", rng.choice(["Attn", "c/o", "Tel 555", "Hours 9-5", "Re"]), 0.1)
    if kind < 0.12:
        put("USPSBoxType", rng.choice(["PO Box", "P.O. Box", "POB", "P O Box"]))
        put("USPSBoxID", str(rng.randint(1, 9999)))
        put("USPSBoxGroupType", rng.choice(["RR", "HC", "Rural Route"]), 0.2)
        put("USPSBoxGroupID", str(rng.randint(1, 99)), 0.2)
    elif kind < 0.2:
        put("CornerOf", rng.choice(["corner of", "Corner", "junction"]), 0.4)
        _street(rng, put)
        put("IntersectionSeparator", rng.choice(["&", "and", "at", "@"]))
        _street(rng, put)
    else:
        put("LandmarkName", f"{_word(rng, STREETS)} {rng.choice(['Park', 'Mall', 'Station', 'Plaza'])}", 0.08)
        put("BuildingName", f"{_word(rng, LAST)} {rng.choice(['Building', 'Tower', 'Hall', 'House'])}", 0.08)
        put("AddressNumberPrefix", rng.choice(["No.", "#", "N"]), 0.04)
        put("AddressNumber", str(rng.randint(1, 20000)))
        put("AddressNumberSuffix", rng.choice(["1/2", "A", "B", "R"]), 0.06)
        _street(rng, put)
    _rest(rng, put)
    return _noisy(rng, out)


def _street(rng: Random, put: Any) -> None:
    put("StreetNamePreModifier", rng.choice(["Old", "Upper", "Little", "Big"]), 0.05)
    put("StreetNamePreDirectional", rng.choice(["N", "S", "E", "W", "North", "NE", "S."]), 0.25)
    put("StreetNamePreType", rng.choice(["Highway", "Avenue", "US", "State Route", "County Road", "Calle"]), 0.12)
    put("StreetName", rng.choice(ORDINALS) if rng.random() < 0.2 else _word(rng, STREETS))
    put("StreetName", _word(rng, STREETS), 0.1)
    put("StreetNamePostType", rng.choice(TYPES) + rng.choice(["", "", "."]), 0.85)
    put("StreetNamePostDirectional", rng.choice(["N", "SE", "W", "NW", "South"]), 0.1)
    put("StreetNamePostModifier", rng.choice(["Ext", "Extension", "Bypass", "Spur"]), 0.04)


def _rest(rng: Random, put: Any) -> None:
    put("OccupancyType", rng.choice(["Apt", "Apt.", "Suite", "Ste", "Unit", "#", "Rm"]), 0.3)
    put("OccupancyIdentifier", rng.choice(["3B", "12", "101", "A", "4-C", str(rng.randint(1, 999))]), 0.3)
    put("SubaddressType", rng.choice(["Floor", "Fl", "Bldg", "Wing", "Level"]), 0.1)
    put("SubaddressIdentifier", rng.choice(["2", "C", "East", "III", "5th"]), 0.1)
    put("PlaceName", _word(rng, CITIES) + ",", 0.5)
    put("PlaceName", f"{rng.choice(['San', 'New', 'Fort', 'St.', 'Lake'])} {_word(rng, CITIES)}", 0.35)
    put("StateName", rng.choice(STATES) if rng.random() < 0.8 else rng.choice(STATE_NAMES), 0.85)
    put("ZipCode", f"{rng.randint(501, 99950):05}", 0.8)
    put("ZipPlus4", f"{rng.randint(1, 9999):04}", 0.08)
    put("CountryName", rng.choice(["USA", "US", "United States"]), 0.1)


def _noisy(rng: Random, address: Address) -> Address:
    """The address with some tokens dropped, in another case or with another end."""
    style = rng.random()
    out = []
    for token, label in address:
        if rng.random() < 0.04 and len(address) > 4:
            continue
        if style < 0.15:
            token = token.upper()
        elif style < 0.35:
            token = token.lower()
        if rng.random() < 0.15 and token[-1].isalnum():
            token += ","
        out.append((token, label))
    return out or address


def facts(token: str) -> dict[str, Any]:
    """What is known of a token alone."""
    clean = token.strip(" .,;").lower()
    digits = sum(c.isdigit() for c in token)
    return {
        "word": clean if not clean.isdigit() else False,
        "short": token.endswith("."),
        "digits": "all" if clean.isdigit() else "some" if digits else "none",
        "length": f"{'d' if clean.isdigit() else 'w'}{len(clean)}",
        "end": token[-1] if not token[-1].isalnum() else False,
        "direction": clean in DIRECTIONS,
        "street": clean in STREET_NAMES,
        "vowels": any(c in "aeiou" for c in clean[1:]),
        "zeros": clean[len(clean.rstrip("0")) :],
        "suffix": clean[-3:],
        "shape": "X" if token.isupper() else "Xx" if token[:1].isupper() else "x",
    }


def features(words: list[str]) -> list[dict[str, Any]]:
    """The features of each token: its own facts, and those of its neighbours under ``previous`` and ``next``."""
    own = [facts(word) for word in words]
    out: list[dict[str, Any]] = [dict(f) for f in own]
    for i, token in enumerate(out):
        if i > 0:
            token["previous"] = own[i - 1]
        if i + 1 < len(words):
            token["next"] = own[i + 1]
    out[0]["first"] = out[-1]["last"] = True
    return out


def columns(given: list[Address]) -> tuple[list[list[dict[str, Any]]], list[list[str]]]:
    """The features and the labels of addresses."""
    return [features([w for w, _ in a]) for a in given], [[y for _, y in a] for a in given]


if __name__ == "__main__":
    example = addresses(1, seed=3)[0]
    for (token, label), found in zip(example, features([w for w, _ in example]), strict=True):
        print(f"{token:12}{label:26}{found}")
