"""Rebuild the corpora's splits as UTF-8 column files: `python -m benchmarks.corpora [FOLDER]`.

Columns are separated by tabs, sentences by a blank line. The zip files come from the folder named by CORATE_DATA, else
from `../shared/data` beside the checkout, the Greek text from the package py-sblgnt (in the `bench` extra); the splits
go to `data/` at the root of the checkout (git-ignored: this text may not be redistributed).
`corate_reproduction.corpora` has the protocol, and checks every count.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from corate_reproduction import corpora as splitting
from corate_reproduction.corpora import (
    BROWN_SPLITS,
    COLUMNS,
    CORPORA,
    SENTENCES,
    CorporaMissingError,
    Sentence,
    Splits,
    brown_sentences,
    column_sentences,
    is_plain,
    labels,
    require,
    write,
)

__all__ = [
    "BROWN_SPLITS",
    "COLUMNS",
    "ROOT",
    "SENTENCES",
    "CorporaMissing",
    "Sentence",
    "Splits",
    "all_brown",
    "brown_sentences",
    "build",
    "cut_tag",
    "ensure",
    "held_out",
    "is_plain",
    "labels",
    "load",
    "masc",
    "require",
    "source_folder",
    "treebank",
    "write",
]

ROOT = Path(__file__).resolve().parent.parent
ZIPS = ("brown.zip", "conll2002-ned.zip", "conll2000.zip")


class CorporaMissing(SystemExit):
    """The zip files, or a package with a corpus, are missing."""


def source_folder() -> Path:
    """The folder with the zip files; raises CorporaMissing, which names the searched folders."""
    named = os.environ.get("CORATE_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    missing = [name for name in ZIPS if not (folder / name).is_file()]
    if missing:
        raise CorporaMissing(
            f"corpora: {', '.join(missing)} not found in {folder}"
            + (" (from CORATE_DATA)" if named else "; set CORATE_DATA to the folder that contains them")
        )
    return folder


def build(folder: Path) -> Splits:
    """All splits by name, with checked counts."""
    try:
        return {name: split for corpus in CORPORA for name, split in splitting.build(corpus, [folder]).items()}
    except CorporaMissingError as error:
        raise CorporaMissing(f"corpora: {error}") from None


def load(path: Path) -> list[Sentence]:
    """Read a split."""
    return column_sentences(path.read_bytes().decode("utf-8"), "\t")


def held_out(sentences: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """The first nine tenths of the sentences, and the rest."""
    cut = len(sentences) * 9 // 10
    return list(sentences[:cut]), list(sentences[cut:])


def cut_tag(tag: str) -> str:
    """A tag of Brown without what follows the first ``-``, ``+`` or ``*`` after its first character."""
    return tag[:1] + re.split(r"[-+*]", tag[1:], maxsplit=1)[0]


def all_brown(folder: Path) -> tuple[list[Sentence], list[Sentence]]:
    """All of Brown with shorter tags, shuffled; the last tenth is for testing."""
    sentences: list[Sentence] = [[(w, cut_tag(tag)) for w, tag in one] for one in brown_sentences([folder])]
    require("tags of all of Brown", len(labels(sentences)), 93)
    random.Random(13).shuffle(sentences)
    return held_out(sentences)


def masc(folder: Path) -> tuple[list[Sentence], list[Sentence]]:
    """MASC, shuffled; the first 80 % are for training. Tokens without a word or without a tag are left out."""
    sentences: list[Sentence] = []
    with archive(folder, "masc.zip") as packed:
        for name in sorted(name for name in packed.namelist() if re.fullmatch(r"masc_tagged/\w+/[^/]+\.txt", name)):
            for line in packed.read(name).decode("utf-8").split("\n"):
                parts = [token.rpartition("_") for token in line.split()]
                rows: Sentence = [(word, tag) for word, _, tag in parts if word and tag]
                if rows:
                    sentences.append(rows)
    require("masc tokens", sum(map(len, sentences)), 592_447)
    random.Random(13).shuffle(sentences)
    cut = len(sentences) * 8 // 10
    require("masc sentences to train on", cut, 27_624)
    return sentences[:cut], sentences[cut:]


def treebank(folder: Path, name: str, label: str) -> tuple[list[Sentence], list[Sentence]]:
    """The dev file of a treebank for training, and its test file; `label` is ``upos`` or ``upos+feats``."""
    import corate

    with archive(folder, "ud-small.zip") as packed:
        files = [packed.read(f"{name}-ud-{part}.conllu") for part in ("dev", "test")]
    parts: list[list[Sentence]] = []
    for data in files:
        read = corate.read(data, format="conllu", label=label)
        parts.append([[*zip(read.tokens(i), read.labels_of(i), strict=True)] for i in range(len(read))])
    return parts[0], parts[1]


def archive(folder: Path, name: str) -> zipfile.ZipFile:
    """A zip file of corpora; raises CorporaMissing if it is not in the folder."""
    if not (folder / name).is_file():
        raise CorporaMissing(f"corpora: {name} not found in {folder}")
    return zipfile.ZipFile(folder / name)


def target_folder() -> Path:
    """The default folder of the splits."""
    return ROOT / "data"


def ensure(target: Path | None = None) -> Path:
    """The folder with all splits, which are written if one is missing."""
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
    parser.add_argument("folder", nargs="?", type=Path, default=target_folder(), help="target folder (default: data/)")
    target: Path = parser.parse_args(arguments).folder
    splits = build(source_folder())
    target.mkdir(parents=True, exist_ok=True)
    for name, sentences in splits.items():
        write(sentences, target / name)
        tokens = sum(map(len, sentences))
        print(f"{name:24}{len(sentences):>8,} sentences {tokens:>9,} tokens {len(labels(sentences)):>5} labels")
    print(f"all counts agree with the protocol; written to {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
