"""The corpora of the experiments: where to find them, and how the protocol splits them.

- ned: CoNLL-2002 Dutch, one-word sentences dropped; word, pos, label. A -DOCSTART- line belongs to the sentence that
  follows it, as in the files.
- brown: sentences that end with the word ``.``, start with an upper-case letter and have no -hl or -tl tag; word,
  label. Shuffled with seed 13 (brown), the first 1,000 are held out. In file order (brown-file), the 1,000 before the
  last 1,000 are held out. The first 5,000 of the others make the three small splits.
- conll2000: unchanged; word, pos, label.
- sblgnt: the Greek New Testament, one sentence per verse, shuffled with seed 13, the last 800 for testing; word, label.

Every count must agree with the protocol.
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from corate.errors import DataError
from corate.io.atomic import write_text

__all__ = [
    "BROWN_SPLITS",
    "COLUMNS",
    "CORPORA",
    "SENTENCES",
    "CorporaMissingError",
    "Sentence",
    "Splits",
    "build",
    "column_sentences",
    "folders",
    "is_plain",
    "labels",
    "require",
    "write",
]

Sentence = list[tuple[str, ...]]  # one row of columns per token, the label last
Splits = dict[str, list[Sentence]]

BROWN_SPLITS = ("1000-4000", "2500-2500", "4000-1000", "17k-16k", "32k-1000")
COLUMNS = {
    "ned": "word,pos,label",
    "brown": "word,label",
    "brown-file": "word,label",
    "conll2000": "word,pos,label",
    "sblgnt": "word,label",
}
#: The number of sentences in each split, from the protocol.
SENTENCES = {
    "ned.train": 13_221,
    "ned.testa": 2_306,
    "ned.testb": 4_211,
    **{
        f"{corpus}{part}": n
        for corpus in ("brown", "brown-file")
        for part, n in (
            (".held-out", 1_000),
            ("-1000-4000.train", 1_000),
            ("-1000-4000.test", 4_000),
            ("-2500-2500.train", 2_500),
            ("-2500-2500.test", 2_500),
            ("-4000-1000.train", 4_000),
            ("-4000-1000.test", 1_000),
            ("-17k-16k.train", 17_268),
            ("-17k-16k.test", 16_268),
            ("-32k-1000.train", 32_536),
            ("-32k-1000.test", 1_000),
        )
    },
    "conll2000.train": 8_936,
    "conll2000.test": 2_012,
    "sblgnt.train": 7_127,
    "sblgnt.test": 800,
}
#: Archives that may contain a corpus; the files are in a folder of that name, in the archive or unpacked beside it.
_ARCHIVES = {
    "brown": (("brown.zip",), "brown"),
    "ned": (("conll2002-ned.zip", "conll2002.zip"), "conll2002"),
    "conll2000": (("conll2000.zip",), "conll2000"),
}


class CorporaMissingError(DataError):
    """A corpus was not found; ``corpus`` names it."""

    def __init__(self, corpus: str, looked: Sequence[Path] = ()) -> None:
        self.corpus, self.looked = corpus, tuple(looked)
        places = ", ".join(map(str, looked)) or "this Python's packages"
        super().__init__(f"the corpus {corpus} was not found in {places}; {how_to_get(corpus)}")


def how_to_get(corpus: str) -> str:
    """How to get a corpus.

    >>> how_to_get("conll2000")
    "get it with NLTK: python -m nltk.downloader conll2000, then use --data FOLDER (NLTK's is ~/nltk_data)"
    """
    if corpus == "sblgnt":
        return "install it with pip install py-sblgnt"
    package = {"ned": "conll2002"}.get(corpus, corpus)
    return f"get it with NLTK: python -m nltk.downloader {package}, then use --data FOLDER (NLTK's is ~/nltk_data)"


def folders(data: str | os.PathLike[str] | None = None) -> list[Path]:
    """Where to look for corpora: ``data``, else CORATE_DATA, else the folders of NLTK's downloader."""
    given = data or os.environ.get("CORATE_DATA")
    if given:
        bases = [Path(given)]
    else:
        bases = [Path(path) for path in os.environ.get("NLTK_DATA", "").split(os.pathsep) if path]
        bases.append(Path.home() / "nltk_data")
    return [place for base in bases for place in (base, base / "corpora") if place.is_dir()] or bases


class _Source:
    """The files of one corpus, in an archive or unpacked."""

    def __init__(self, corpus: str, places: Sequence[Path]) -> None:
        self.corpus, self.places = corpus, places
        archives, self.inside = _ARCHIVES[corpus]
        found = [place / name for place in places for name in archives if (place / name).is_file()]
        self.archive = found[0] if found else None
        unpacked = [place / self.inside for place in places if (place / self.inside).is_dir()]
        self.folder = unpacked[0] if unpacked else None
        if self.archive is None and self.folder is None:
            raise CorporaMissingError(corpus, places)

    def names(self) -> list[str]:
        """The names of all files, without their folder."""
        if self.archive is None:
            assert self.folder is not None
            return sorted(path.name for path in self.folder.iterdir())
        with zipfile.ZipFile(self.archive) as packed:
            start = f"{self.inside}/"
            return sorted(name[len(start) :] for name in packed.namelist() if name.startswith(start))

    def read(self, names: Iterable[str]) -> list[str]:
        """The texts of files, in UTF-8 or else in Latin-1."""
        if self.archive is None:
            assert self.folder is not None
            missing = [name for name in names if not (self.folder / name).is_file()]
            if missing:
                raise CorporaMissingError(self.corpus, [self.folder / missing[0]])
            return [_decoded((self.folder / name).read_bytes()) for name in names]
        try:
            with zipfile.ZipFile(self.archive) as packed:
                return [_decoded(packed.read(f"{self.inside}/{name}")) for name in names]
        except (zipfile.BadZipFile, KeyError) as error:
            raise DataError(f"{self.archive}: {error}; download the archive again") from error


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def require(name: str, found: int, expected: int) -> None:
    """Raise DataError unless a count agrees with the protocol."""
    if found != expected:
        raise DataError(f"{name}: found {found:,}, but the protocol expects {expected:,}; check the files")


def labels(sentences: Iterable[Sentence]) -> set[str]:
    """The distinct labels.

    >>> sorted(labels([[("a", "X"), ("b", "Y")], [("a", "X")]]))
    ['X', 'Y']
    """
    return {row[-1] for sentence in sentences for row in sentence}


def column_sentences(text: str, separator: str) -> list[Sentence]:
    """Sentences end at blank lines; only newlines end a line, only the separator a column (a word has U+0085)."""
    sentences: list[Sentence] = []
    rows: Sentence = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line:
            rows.append(tuple(line.split(separator)))
        elif rows:
            sentences.append(rows)
            rows = []
    if rows:
        sentences.append(rows)
    return sentences


def ned(places: Sequence[Path]) -> Splits:
    """CoNLL-2002 Dutch without its one-word sentences."""
    names = ("ned.train", "ned.testa", "ned.testb")
    texts = _Source("ned", places).read(names)
    splits = {
        name: [s for s in column_sentences(text, " ") if len(s) > 1] for name, text in zip(names, texts, strict=True)
    }
    require("ned labels", len(labels(splits["ned.train"])), 9)
    return splits


def brown_sentences(places: Sequence[Path]) -> list[Sentence]:
    """All 57,340 sentences of the Brown corpus, ordered by file name, then by line."""
    source = _Source("brown", places)
    names = [name for name in source.names() if re.fullmatch(r"c[a-r]\d\d", name)]
    require("brown files", len(names), 500)
    sentences: list[Sentence] = []
    for text in source.read(names):
        for line in text.split("\n"):
            tokens = [token.rpartition("/") for token in line.split()]
            if tokens:
                sentences.append([(word, tag) for word, _, tag in tokens])
    require("brown sentences", len(sentences), 57_340)
    require("brown tags", len(labels(sentences)), 472)
    return sentences


def is_plain(sentence: Sentence) -> bool:
    """Whether it ends with the word ``.``, starts with an upper-case letter, and has no headline or title tag.

    >>> is_plain([("It", "pps"), ("rains", "vbz"), (".", ".")]), is_plain([("rain", "nn"), (".", ".")])
    (True, False)
    """
    starts = sentence[0][0][:1].isupper()
    ends = sentence[-1][0] == "."
    return starts and ends and not any("-hl" in tag or "-tl" in tag for _, tag in sentence)


def kept_sentences(places: Sequence[Path]) -> list[Sentence]:
    """The 34,536 sentences of Brown that the experiments use, in file order."""
    kept = [sentence for sentence in brown_sentences(places) if is_plain(sentence)]
    require("brown sentences kept", len(kept), 34_536)
    require("brown tags kept", len(labels(kept)), 252)
    return kept


def brown(places: Sequence[Path]) -> Splits:
    """The held-out set and the five splits of shuffled sentences."""
    kept = kept_sentences(places)
    random.Random(13).shuffle(kept)
    return _brown_splits("brown", kept[:1000], kept[1000:])


def brown_file(places: Sequence[Path]) -> Splits:
    """The held-out set and the five splits in file order, very likely those of the paper."""
    kept = kept_sentences(places)
    return _brown_splits("brown-file", kept[-2000:-1000], kept[:-2000] + kept[-1000:])


def _brown_splits(name: str, held_out: list[Sentence], rest: list[Sentence]) -> Splits:
    small = rest[:5000]
    parts = {
        "1000-4000": (small[:1000], small[1000:]),
        "2500-2500": (small[:2500], small[2500:]),
        "4000-1000": (small[:4000], small[4000:]),
        "17k-16k": (rest[:17268], rest[17268:]),
        "32k-1000": (rest[:-1000], rest[-1000:]),
    }
    splits = {f"{name}.held-out": held_out}
    for split in BROWN_SPLITS:
        splits[f"{name}-{split}.train"], splits[f"{name}-{split}.test"] = parts[split]
    return splits


def conll2000(places: Sequence[Path]) -> Splits:
    """CoNLL-2000 chunking, unchanged."""
    texts = _Source("conll2000", places).read(("train.txt", "test.txt"))
    splits = {
        f"conll2000.{part}": column_sentences(text, " ") for part, text in zip(("train", "test"), texts, strict=True)
    }
    require("conll2000 labels", len(labels(splits["conll2000.train"])), 22)
    return splits


def sblgnt(places: Sequence[Path]) -> Splits:
    """The Greek New Testament, part of speech and parsing as one label; read from a package, not from ``places``."""
    found = importlib.util.find_spec("pysblgnt")
    if found is None or not found.submodule_search_locations:
        raise CorporaMissingError("sblgnt")
    files = sorted(Path(found.submodule_search_locations[0], "sblgnt").glob("*-morphgnt.txt"))
    verses: dict[str, Sentence] = {}
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            reference, part, parsing, *_, word, _, _ = line.split()
            verses.setdefault(reference, []).append((word, f"{part}|{parsing}"))
    kept = list(verses.values())
    require("sblgnt verses", len(kept), 7_927)
    require("sblgnt tokens", sum(map(len, kept)), 137_554)
    require("sblgnt labels", len(labels(kept)), 602)
    random.Random(13).shuffle(kept)
    return {"sblgnt.train": kept[:-800], "sblgnt.test": kept[-800:]}


#: How each corpus is read and split.
CORPORA: dict[str, Callable[[Sequence[Path]], Splits]] = {
    "ned": ned,
    "brown": brown,
    "brown-file": brown_file,
    "conll2000": conll2000,
    "sblgnt": sblgnt,
}


def build(corpus: str, places: Sequence[Path]) -> Splits:
    """The splits of a corpus by name, with checked counts; raises CorporaMissingError if it is not found."""
    splits = CORPORA[corpus](places)
    for name, sentences in splits.items():
        require(f"{name} sentences", len(sentences), SENTENCES[name])
    return splits


def write(sentences: Sequence[Sentence], path: Path) -> None:
    """Write a UTF-8 column file with tabs between columns, atomically."""
    write_text(path, "".join("".join("\t".join(row) + "\n" for row in sentence) + "\n" for sentence in sentences))
