"""Rebuild the corpora's splits as UTF-8 column files: `python -m benchmarks.corpora [FOLDER]`.

Columns are separated by tabs, sentences by a blank line. The zip files come from the folder named by CORATE_DATA, else
from `../shared/data` beside the checkout, the Greek text from the package py-sblgnt (in the `bench` extra); the splits
go to `data/` at the root of the checkout (git-ignored: none of this text may be passed on). Every count is compared
with the protocol's and a difference is an error.

- ned: one-word sentences dropped; word, pos, label. A -DOCSTART- line belongs to the sentence it stands in front of,
  as in the files, which is what gives the protocol's counts.
- brown: sentences that end with the word `.`, start with an upper-case letter and hold no -hl or -tl tag; shuffled with
  seed 13; the first 1,000 held out, the next 5,000 the subset of the three small splits; word, label.
- conll2000: as it is; word, pos, label.
- sblgnt: a verse of the Greek New Testament is a sentence; shuffled with seed 13, the last 800 are the test; word
  without punctuation, and part of speech and parsing as one label.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import sys
import zipfile
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

Sentence = list[tuple[str, ...]]  # one row of columns a token, the label last
Splits = dict[str, list[Sentence]]

ROOT = Path(__file__).resolve().parent.parent
ZIPS = ("brown.zip", "conll2002-ned.zip", "conll2000.zip")
BROWN_SPLITS = ("1000-4000", "2500-2500", "4000-1000", "17k-16k", "32k-1000")
COLUMNS = {"ned": "word,pos,label", "brown": "word,label", "conll2000": "word,pos,label", "sblgnt": "word,label"}
SENTENCES = {
    "ned.train": 13_221,
    "ned.testa": 2_306,
    "ned.testb": 4_211,
    "brown.held-out": 1_000,
    "brown-1000-4000.train": 1_000,
    "brown-1000-4000.test": 4_000,
    "brown-2500-2500.train": 2_500,
    "brown-2500-2500.test": 2_500,
    "brown-4000-1000.train": 4_000,
    "brown-4000-1000.test": 1_000,
    "brown-17k-16k.train": 17_268,
    "brown-17k-16k.test": 16_268,
    "brown-32k-1000.train": 32_536,
    "brown-32k-1000.test": 1_000,
    "conll2000.train": 8_936,
    "conll2000.test": 2_012,
    "sblgnt.train": 7_127,
    "sblgnt.test": 800,
}


class CorporaMissing(SystemExit):
    """The zip files, or a package with a corpus inside, are not here."""


def source_folder() -> Path:
    """The folder with the zip files; raises CorporaMissing, which names the places looked at."""
    named = os.environ.get("CORATE_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    missing = [name for name in ZIPS if not (folder / name).is_file()]
    if missing:
        raise CorporaMissing(
            f"corpora: {', '.join(missing)} not found in {folder}"
            + (" (from CORATE_DATA)" if named else "; set CORATE_DATA to the folder that holds them")
        )
    return folder


def require(name: str, found: int, expected: int) -> None:
    """Stop with a message unless a count is the protocol's."""
    if found != expected:
        raise SystemExit(
            f"corpora: {name}: {found:,} found, {expected:,} expected by the protocol; check where the text comes from"
        )


def column_sentences(text: str, separator: str) -> list[Sentence]:
    """Blank line between sentences; only newlines end a line and only the separator a column (U+0085 is in a word)."""
    sentences: list[Sentence] = []
    rows: Sentence = []
    for line in text.split("\n"):
        if line:
            rows.append(tuple(line.split(separator)))
        elif rows:
            sentences.append(rows)
            rows = []
    if rows:
        sentences.append(rows)
    return sentences


def read_columns(folder: Path, name: str, member: str, encoding: str) -> list[Sentence]:
    """One member of a zip of column files."""
    with zipfile.ZipFile(folder / name) as archive:
        return column_sentences(archive.read(member).decode(encoding), " ")


def ned(folder: Path) -> Splits:
    """CoNLL-2002 Dutch without its one-word sentences."""
    splits = {
        part: [s for s in read_columns(folder, "conll2002-ned.zip", f"conll2002/{part}", "utf-8") if len(s) > 1]
        for part in ("ned.train", "ned.testa", "ned.testb")
    }
    require("ned labels", len(labels(splits["ned.train"])), 9)
    return splits


def brown_sentences(folder: Path) -> list[Sentence]:
    """All 57,340 sentences of the Brown corpus in the order of the file names, then of the lines."""
    sentences: list[Sentence] = []
    with zipfile.ZipFile(folder / "brown.zip") as archive:
        names = sorted(name for name in archive.namelist() if re.fullmatch(r"brown/c[a-r]\d\d", name))
        require("brown files", len(names), 500)
        for name in names:
            for line in archive.read(name).decode("latin-1").split("\n"):
                tokens = [token.rpartition("/") for token in line.split()]
                if tokens:
                    sentences.append([(word, tag) for word, _, tag in tokens])
    require("brown sentences", len(sentences), 57_340)
    require("brown tags", len(labels(sentences)), 472)
    return sentences


def is_plain(sentence: Sentence) -> bool:
    """Ends with the word `.`, starts with an upper-case letter, holds no headline or title tag."""
    starts = sentence[0][0][:1].isupper()
    ends = sentence[-1][0] == "."
    return starts and ends and not any("-hl" in tag or "-tl" in tag for _, tag in sentence)


def brown(folder: Path) -> Splits:
    """The held-out set and the five splits."""
    kept = [sentence for sentence in brown_sentences(folder) if is_plain(sentence)]
    require("brown sentences kept", len(kept), 34_536)
    require("brown tags kept", len(labels(kept)), 252)
    random.Random(13).shuffle(kept)
    held_out, rest = kept[:1000], kept[1000:]
    small = rest[:5000]
    parts = {
        "1000-4000": (small[:1000], small[1000:]),
        "2500-2500": (small[:2500], small[2500:]),
        "4000-1000": (small[:4000], small[4000:]),
        "17k-16k": (rest[:17268], rest[17268:]),
        "32k-1000": (rest[:-1000], rest[-1000:]),
    }
    splits = {"brown.held-out": held_out}
    for split in BROWN_SPLITS:
        splits[f"brown-{split}.train"], splits[f"brown-{split}.test"] = parts[split]
    return splits


def conll2000(folder: Path) -> Splits:
    """CoNLL-2000 chunking as it is."""
    splits = {
        f"conll2000.{part}": read_columns(folder, "conll2000.zip", f"conll2000/{part}.txt", "ascii")
        for part in ("train", "test")
    }
    require("conll2000 labels", len(labels(splits["conll2000.train"])), 22)
    return splits


def sblgnt_folder() -> Path:
    """Where py-sblgnt keeps its text; raises CorporaMissing."""
    found = importlib.util.find_spec("pysblgnt")
    if found is None or found.origin is None:
        raise CorporaMissing('corpora: the package py-sblgnt is not installed; pip install ".[bench]"')
    return Path(found.origin).parent / "sblgnt"


def sblgnt() -> Splits:
    """The Greek New Testament with 602 labels. A row: reference, part of speech, parsing, code, text, word, ..."""
    verses: list[Sentence] = []
    for path in sorted(sblgnt_folder().glob("*-morphgnt.txt")):
        rows = [line.split() for line in path.read_text("utf-8").split("\n") if line]
        for _, verse in groupby(rows, key=lambda row: row[0]):
            verses.append([(row[5], f"{row[1]}|{row[2]}") for row in verse])
    require("sblgnt verses", len(verses), 7_927)
    require("sblgnt labels", len(labels(verses)), 602)
    random.Random(13).shuffle(verses)
    return {"sblgnt.train": verses[:-800], "sblgnt.test": verses[-800:]}


def labels(sentences: Iterable[Sentence]) -> set[str]:
    """The distinct labels."""
    return {row[-1] for sentence in sentences for row in sentence}


def build(folder: Path) -> Splits:
    """All splits by name, counts checked."""
    splits = {**ned(folder), **brown(folder), **conll2000(folder), **sblgnt()}
    require("splits", len(splits), len(SENTENCES))
    for name, expected in SENTENCES.items():
        require(f"{name} sentences", len(splits[name]), expected)
    return splits


def write(sentences: Sequence[Sentence], path: Path) -> None:
    """A column file, put in place only when it is whole."""
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("w", encoding="utf-8", newline="\n") as file:
        for sentence in sentences:
            file.writelines("\t".join(row) + "\n" for row in sentence)
            file.write("\n")
    unfinished.replace(path)


def load(path: Path) -> list[Sentence]:
    """A split as it was written."""
    return column_sentences(path.read_bytes().decode("utf-8"), "\t")


def target_folder() -> Path:
    """Where the splits are written unless a command line names another place."""
    return ROOT / "data"


def ensure(target: Path | None = None) -> Path:
    """The folder with all splits, written first when one is missing."""
    target = target or target_folder()
    if not all((target / name).is_file() for name in SENTENCES):
        source = source_folder()
        target.mkdir(parents=True, exist_ok=True)
        for name, sentences in build(source).items():
            write(sentences, target / name)
    return target


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the splits and list them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora", description="Write the corpora's splits.")
    parser.add_argument("folder", nargs="?", type=Path, default=target_folder(), help="where to (default: data/)")
    target: Path = parser.parse_args(arguments).folder
    splits = build(source_folder())
    target.mkdir(parents=True, exist_ok=True)
    for name, sentences in splits.items():
        write(sentences, target / name)
        tokens = sum(map(len, sentences))
        print(f"{name:24}{len(sentences):>8,} sentences {tokens:>9,} tokens {len(labels(sentences)):>5} labels")
    print(f"all counts as the protocol says; written to {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
