"""Makes the golden model files of this folder: python tests/golden/make.py [folder].

They are made once for each version of the model format and then kept as they are: tests/test_archive.py checks that
this and every later corate loads them and tags with them as when they were made.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import corate
from corate import Corpus

SENTENCES = """
the/DET cat/NOUN sees/VERB a/DET dog/NOUN ./.
Ann/NAME saw/VERB the/DET old/ADJ saw/NOUN ./.
a/DET small/ADJ dog/NOUN barks/VERB ./.
Bob/NAME and/CONJ Ann/NAME walk/VERB ./.
the/DET walk/NOUN was/VERB long/ADJ ./.
does/VERB Bob/NAME bark/VERB ?/.
42/NUM cats/NOUN walked/VERB ./.
"""
ANIMALS = "cat\tfelid\ncats\tfelid\ndog\tcanid\nfox\tcanid\n"
TEMPLATES = ["word[0]", "suffix(word[0], 2)", "word[-1]|word[0]", "map(word[0], animals.tsv)", "pos[-1]|pos[0]|pos[1]"]


def sentences() -> list[list[tuple[str, str]]]:
    """Words with their labels."""
    lines = SENTENCES.strip().splitlines()
    return [[(t.rpartition("/")[0], t.rpartition("/")[2]) for t in line.split()] for line in lines]


def shape(word: str) -> str:
    """A second column, for the pooled model."""
    return "A" if word.isalpha() else "1" if word.isdigit() else "."


def main(folder: Path) -> None:
    """Write both files."""
    labelled = sentences()
    corate.train(Corpus.from_sentences(labelled), ladder="default").save(folder / "v1.corate")
    os.chdir(folder)
    Path("animals.tsv").write_text(ANIMALS, encoding="utf-8")
    with_shapes = Corpus.from_sentences([[(w, shape(w), y) for w, y in s] for s in labelled])
    corate.train(with_shapes, ladder="pooled", features=TEMPLATES).save("v1-pooled.corate", half=True)
    Path("animals.tsv").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent).resolve())
