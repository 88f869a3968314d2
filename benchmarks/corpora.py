"""Rebuild the corpora's splits as UTF-8 column files: `python -m benchmarks.corpora [FOLDER]`.

Columns are separated by tabs, sentences by a blank line. The zip files come from the folder named by CORATE_DATA, else
from `../shared/data` beside the checkout, the Greek text from the package py-sblgnt (in the `bench` extra); the splits
go to `data/` at the root of the checkout (git-ignored: this text may not be redistributed).
`corate.reproduction.corpora` has the protocol, and checks every count.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from corate.reproduction import corpora as splitting
from corate.reproduction.corpora import (
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
    "brown_sentences",
    "build",
    "ensure",
    "is_plain",
    "labels",
    "load",
    "require",
    "source_folder",
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
