"""Text in every format, written without Corate's writers, and reading options; many are wrong."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.materials import LABELS, WORDS, Labelled, labelled
from fuzz.mutations import mutated

__all__ = ["ENCODINGS", "SEPARATORS", "options", "packed", "text"]

_ENDS = ("\n", "\n", "\n", "\r\n", "\r", "\r\r\n", "\u2028", " \n", "\t\n")
_PIECES = (
    b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"BZh", b"\x1f\x8b\x08", b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
    *(piece.encode()
    for piece in (
        "\n", "\n\n", "\r", "\r\r\n", "\r\n", "\t", " ", "\t\t", "\n \n", "\n\t\n", "\u2028", "\x0b", "\0", "#",
        "/", "=", ":", "\\:", "{}", "[]", '{"tokens": []}', '{"tokens": ["a"], "labels": []}', '"labels": null',
        "[[", "1e999", "NaN", ":1e39", ":nan", ":-inf", ":1e-320", "\ufeff", "-DOCSTART- -X- O O\n\n", "BZh91AY&SY",
    )),
)  # fmt: skip

ENCODINGS = ("utf-8", "utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "ascii", "utf-7",
             "iso2022_jp", "gb18030", "cp037", "idna", "punycode", "rot13", "hex", "zlib", "base64", "mbcs",
             "undefined", "unicode_escape", "raw_unicode_escape", "no-such", "", "\0", "utf-8\0", "é")  # fmt: skip
SEPARATORS = ("\t", " ", ",", "tab", "space", "\\t", "", "  ", "ab", "é", "\n", "\r", "\0", "#", "/")


def _columns(sentences: Labelled, rng: Random, end: str) -> str:
    between = rng.choice(("\t", "\t", " ", "  ", " \t", ","))
    more = rng.choice((0, 0, 1, 3))
    rows = [[between.join([word, *["x"] * more, label]) for word, label in sentence] for sentence in sentences]
    return "".join(end.join(sentence) + end + end for sentence in rows)


def _slashed(sentences: Labelled, rng: Random, end: str) -> str:
    return "".join(" ".join(f"{word}/{label}" for word, label in sentence) + end for sentence in sentences)


def _items(sentences: Labelled, rng: Random, end: str) -> str:
    values = ("", "", ":2", ":0.5", ":-1e9", ":3.4e38", ":1e39", ":1e-45", ":nan", ":x")
    rows = [
        [f"{label}\tw={word}{rng.choice(values)}\tn{rng.choice(values)}" for word, label in sentence]
        for sentence in sentences
    ]
    return "".join(end.join(sentence) + end + end for sentence in rows)


def _jsonl(sentences: Labelled, rng: Random, end: str) -> str:
    def line(sentence: list[tuple[str, str]]) -> Any:
        words, labels = [w for w, _ in sentence], [y for _, y in sentence]
        numbers = [{"w": w, "n": rng.choice((1, 0.5, 1e30, True, None, [1], "x"))} for w in words]
        return rng.choice((
            {"tokens": words, "labels": labels},
            {"tokens": words, "labels": labels, "pos": labels},
            {"tokens": words},
            {"features": numbers, "labels": labels},
            [[w, y] for w, y in sentence],
            {"labels": labels},
        ))  # fmt: skip

    first = rng.getstate()
    lines = []
    for sentence in sentences:
        if rng.random() < 0.8:
            rng.setstate(first)  # usually all lines have the same layout
        lines.append(json.dumps(line(sentence), ensure_ascii=rng.random() < 0.5))
    rng.seed(rng.getrandbits(64) ^ len(sentences))
    return "".join(made + end for made in lines)


def _text(sentences: Labelled, rng: Random, end: str) -> str:
    return "".join(" ".join(word for word, _ in sentence) + end for sentence in sentences)


def _conllu(sentences: Labelled, rng: Random, end: str) -> str:
    ids = ("{}", "{}", "{}", "{}", "{}-9", "{}.1")

    def row(i: int, word: str, label: str) -> str:
        number = rng.choice(ids).format(i)
        return "\t".join((number, word, "_", label, "_", label, "_", "_", "_", rng.choice(("_", f"NER={label}|A=b"))))

    made = ([row(i, *token) for i, token in enumerate(sentence, 1)] for sentence in sentences)
    return "".join(end.join((rng.choice(("# text", "#")), *rows, "", "")) for rows in made)


def _labelstudio(sentences: Labelled, rng: Random, end: str) -> str:
    def task(sentence: list[tuple[str, str]]) -> dict[str, object]:
        text = " ".join(word for word, _ in sentence)
        result = []
        for word, label in sentence:
            start = max(0, text.find(word)) + rng.choice((0, 0, 0, 1))
            value = {"start": start, "end": start + len(word), "text": word, "labels": [label]}
            result.append({"type": rng.choice(("labels", "labels", "choices")), "value": value})
        annotation = {"result": result[: rng.choice((0, 1, 9))]}
        return {"id": 1, "data": {"text": text}, rng.choice(("annotations", "predictions")): [annotation]}

    return json.dumps([task(sentence) for sentence in sentences], indent=rng.choice((None, 1))) + end


FORMATS: dict[str, Callable[[Labelled, Random, str], str]] = {
    "columns": _columns,
    "conllu": _conllu,
    "slashed": _slashed,
    "items": _items,
    "jsonl": _jsonl,
    "labelstudio": _labelstudio,
    "text": _text,
}


def text(rng: Random, format: str) -> bytes:
    """Text in a format; half of it is altered."""
    odd = rng.random() < 0.5
    words = tuple(rng.sample(WORDS, 12)) if odd else WORDS[:12]
    labels = tuple(rng.sample(LABELS, 5)) if odd else LABELS[:4]
    made = FORMATS[format](labelled(rng.choice((0, 1, 3, 8)), rng, words, labels), rng, rng.choice(_ENDS))
    data = made.encode("utf-8", "surrogatepass")
    return mutated(data, rng, _PIECES) if rng.random() < 0.5 else data


def packed(data: bytes, rng: Random) -> tuple[bytes, str]:
    """The bytes, compressed or not, with a suffix that may show it; some are altered."""
    kind = rng.choice(("", "", "", "", ".gz", ".bz2", ".xz", ".zst"))
    if kind == ".gz":
        data = gzip.compress(data, mtime=0)
    elif kind == ".bz2":
        data = bz2.compress(data)
    elif kind == ".xz":
        data = lzma.compress(data)
    elif kind == ".zst":
        import zstandard

        data = zstandard.ZstdCompressor().compress(data)
    if kind and rng.random() < 0.3:
        data = mutated(data, rng)
    elif kind and rng.random() < 0.1:
        data += data
    return data, kind if rng.random() < 0.6 else rng.choice(
        ("", ".gz", ".bz2", ".xz", ".zst", ".txt", ".tsv", ".jsonl")
    )


def options(rng: Random, format: str) -> dict[str, Any]:
    """Arguments of `corate.read`, some of which do not fit."""
    chosen: dict[str, Any] = {}
    if rng.random() < 0.7:
        chosen["format"] = format if rng.random() < 0.8 else rng.choice((*FORMATS, "auto"))
    if rng.random() < 0.2:
        chosen["columns"] = rng.choice(
            ("word,label", "label,word", "word", "label", "_", "word,_,label", "", ",", "a,a", "word,pos,label", "é",
             "a b,label", "#0,label", "w[0],label", "word,label,label", "x" * 99)
        )  # fmt: skip
    if rng.random() < 0.15:
        chosen["encoding"] = rng.choice(ENCODINGS)
    if rng.random() < 0.15:
        chosen["separator"] = rng.choice(SEPARATORS)
    if rng.random() < 0.15:
        chosen["comment"] = rng.choice(("#", "", "the", "\n", "é", "# "))
    if rng.random() < 0.15:
        chosen["docstart"] = rng.choice(("keep", "drop"))
    if rng.random() < 0.3:
        chosen["skip_bad"] = True
    return chosen
