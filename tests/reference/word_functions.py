"""Word functions in plain Python: the oracle of native/features/word_functions.cpp. None means no value."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Mapping

SUFFIXES = ("ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies")
HYPHENS = ("-", "\u2010", "\u2011")


def char_class(c: str) -> str:
    category = unicodedata.category(c)
    if category in ("Lu", "Lt"):
        return "upper"
    if category == "Ll":
        return "lower"
    if category == "Nd":
        return "digit"
    return {"L": "letter", "P": "punct", "S": "punct"}.get(category[0], "other")


def lower(word: str) -> str:
    """Lower case, character by character: no final sigma, and no letter becomes two."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in word)


def prefix(word: str, n: int) -> str | None:
    return word[:n] if n >= 1 and len(word) >= n else None


def suffix(word: str, n: int) -> str | None:
    return word[-n:] if n >= 1 and len(word) >= n else None


def shape(word: str) -> str:
    marks = {"upper": "X", "lower": "x", "letter": "a", "digit": "d"}
    return "".join(marks.get(char_class(c), c) for c in word)


def short_shape(word: str) -> str:
    return "".join(c for c, _ in itertools.groupby(shape(word)))


def has_hyphen(word: str) -> bool:
    return any(c in HYPHENS for c in word)


def case_pattern(word: str) -> str:
    classes = [char_class(c) for c in word]
    cased = [k for k in classes if k in ("upper", "lower")]
    if not cased:
        return "o" if "letter" in classes else "n"
    if "upper" not in cased:
        return "l"
    if "lower" not in cased and len(cased) > 1:
        return "U"
    return "u" if cased[0] == "upper" and "upper" not in cased[1:] else "m"


def letter_class(word: str) -> str:
    classes = {char_class(c) for c in word}
    value = case_pattern(word)
    if "digit" in classes:
        value += "d"
    if has_hyphen(word):
        value += "-"
    if not classes & {"upper", "lower", "letter", "digit"}:
        value += "p"
    return value


def spelling(word: str) -> str:
    tests = []
    if word and char_class(word[0]) == "digit":
        tests.append("digit")
    if word and char_class(word[0]) == "upper":
        tests.append("upper")
    if has_hyphen(word):
        tests.append("hyphen")
    tests += [s for s in SUFFIXES if word.endswith(s)]
    return "+".join(tests) or "none"


def ending(word: str, n: int) -> str | None:
    tail = suffix(word, n)
    return None if tail is None else f"{letter_class(word)}|{lower(tail)}"


def holds(name: str, word: str, text: str) -> bool:
    classes = [char_class(c) for c in word]
    return {
        "starts_digit": classes[:1] == ["digit"],
        "starts_upper": classes[:1] == ["upper"],
        "has_hyphen": has_hyphen(word),
        "has_digit": "digit" in classes,
        "has_punct": "punct" in classes,
        "all_digit": set(classes) == {"digit"},
        "all_punct": set(classes) == {"punct"},
        "all_upper": "upper" in classes and "lower" not in classes,
        "title": classes[:1] == ["upper"] and classes.count("upper") == 1,
        "mixed_case": case_pattern(word) == "m",
        "starts_with": word.startswith(text),
        "ends_with": word.endswith(text),
    }[name]


def beginnings(word: str) -> list[str]:
    """The word without its last characters (at most five), at least three characters long; the longest first."""
    return [word[: len(word) - last] for last in range(min(5, len(word) - 3) + 1)]


def related_start(word: str, usual: Mapping[str, str]) -> str | None:
    own = lower(word)
    for beginning in beginnings(own):
        for other, label in usual.items():
            if other != own and beginning in beginnings(other):
                return f"{letter_class(word)}|{label}-{other[len(beginning) :]}+{own[len(beginning) :]}"
    return None


def related_end(word: str, usual: Mapping[str, str]) -> str | None:
    own = lower(word)
    for i in range(max(1, len(own) - 32), len(own) - 2):
        if own[i:] in usual:
            return f"{'-' if own[i - 1] in HYPHENS else min(i, 4)}+{usual[own[i:]]}"
    return None


def apply(name: str, word: str, number: int = 0, text: str = "", table: Mapping[str, str] | None = None) -> str | None:
    """The value of the named function for a word."""
    if name in ("prefix", "suffix", "ending"):
        return {"prefix": prefix, "suffix": suffix, "ending": ending}[name](word, number)
    if name in ("lower_prefix", "lower_suffix"):
        part = prefix(word, number) if name == "lower_prefix" else suffix(word, number)
        return None if part is None else lower(part)
    if name in ("related_start", "related_end"):
        assert table is not None
        return related_start(word, table) if name == "related_start" else related_end(word, table)
    if name in ("in", "map"):
        assert table is not None
        return table.get(word, table.get(lower(word)) if number == 1 else None)
    if name == "length":
        return str(min(len(word), number) if number > 0 else len(word))
    if name == "folded":
        return "".join("0" if char_class(c) == "digit" else lower(c) for c in word)
    whole = {
        "identity": str,
        "lower": lower,
        "shape": shape,
        "short_shape": short_shape,
        "letter_class": letter_class,
        "unseen_class": letter_class,  # the vocabulary decides which words are unseen
        "spelling": spelling,
    }
    if name in whole:
        return whole[name](word)
    return "1" if holds(name, word, text) else None
