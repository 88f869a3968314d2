"""Malformed templates of both languages, template files and lexicons."""

from __future__ import annotations

from pathlib import Path
from random import Random

import corate
from corate import Corpus
from corate.features import resolve
from corate.features.templates import load_templates, parse
from corate.features.word_functions import FUNCTIONS
from fuzz.materials import LEXICON, WORDS, labelled
from fuzz.mutations import mutated
from fuzz.worker import CaseFailedError

__all__ = ["Cases"]

_PIECES = tuple(
    piece.encode()
    for piece in (
        "|", "(", ")", "[", "]", ",", '"', "\\", '\\"', "#", "#0[0]", "#9[0]", "edge:", "edge", "bias", "word[0]",
        "word[", "[-9]", "[99999999999]", "word[+0]", "%x[0,0]", "%x[-1,9]", "%x[", "%", "U00:", "B", "B01:%x[0,0]",
        "in(", ", lower)", "\n", "\r", "\u2028", "\0", "é", "99999999999", "-1", "0", " ",
        "word[\u0663]", "suffix(word[0], \u0663)", "%x[\u0663,\u0660]",
    )
)  # fmt: skip
_NUMBERS = ("1", "3", "0", "-1", "200", "99999999999999999999", "x", "")


def _atom(rng: Random, lexicon: Path) -> str:
    cell = f"{rng.choice(('word', 'pos', '#0', '#1'))}[{rng.choice((0, 0, 0, -1, 1, 2, -8, 8))}]"
    function = rng.choice(["", "", "", *FUNCTIONS])
    if not function:
        return cell
    takes = FUNCTIONS[function][1]
    file = rng.choice((f'"{lexicon.as_posix()}"', lexicon.name, "nosuch", "/", '""'))
    number = rng.choice(_NUMBERS) if rng.random() < 0.3 else "2"
    more = {"count": f", {number}", "count?": f", {number}", "text": rng.choice((", ing", ', ","', ', "a\\"b"', ", ")),
            "file": f", {file}{rng.choice(('', ', lower'))}"}.get(takes, "")  # fmt: skip
    return f"{function}({cell}{more})"


def _own(rng: Random, lexicon: Path) -> str:
    joined = "|".join(_atom(rng, lexicon) for _ in range(rng.choice((1, 1, 1, 2, 3, 9))))
    return rng.choice(("", "", "", "edge: ", "edge:")) + joined


def _crfpp(rng: Random) -> str:
    cells = [
        f"%x[{rng.choice((0, 0, -1, 1, -2, 9, -99))},{rng.choice((0, 0, 1, 7))}]"
        for _ in range(rng.choice((0, 1, 1, 2)))
    ]
    return rng.choice("UUUB") + rng.choice(("", "00:", "x:")) + "/".join(cells)


class Cases:
    def __init__(self, materials: Path) -> None:
        sentences = labelled(6, Random(3), WORDS)
        self.corpus = Corpus.from_sentences([[(w, w[:1], y) for w, y in s] for s in sentences])

    def run(self, rng: Random, folder: Path) -> None:
        lexicon = folder / "lexicon.tsv"
        words = LEXICON.encode() if rng.random() < 0.5 else "\n".join(f"{w}\tc" for w in rng.sample(WORDS, 5)).encode()
        lexicon.write_bytes(mutated(words, rng, _PIECES) if rng.random() < 0.3 else words)
        own = rng.random() < 0.7
        lines = [_own(rng, lexicon) if own else _crfpp(rng) for _ in range(rng.choice((1, 1, 2, 4)))]
        if rng.random() < 0.4:
            lines = mutated("\n".join(lines).encode(), rng, _PIECES).decode(errors="replace").split("\n")
        file = folder / "templates"
        file.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
        if rng.random() < 0.1:
            file.write_bytes(mutated(file.read_bytes(), rng, _PIECES))
        doing = rng.random()
        if doing < 0.3:
            template = parse(lines[0], folder=folder)
            if parse(str(template), folder=folder) != template:
                raise CaseFailedError(f"a template reads back as another: {lines[0]!r}, {template}")
        elif doing < 0.5:
            load_templates(file)
        elif doing < 0.6:
            resolve("; ".join(lines), ["word", "pos"])
        else:
            features = rng.choice((file, lines, "\n".join(lines)))
            method = rng.choice(("empirical", "empirical", "perceptron", "standard"))
            few = {"iterations": 2} if method == "standard" else {"passes": 1} if method == "perceptron" else {}
            tagger = corate.train(self.corpus, method, features=features, **few)
            tagger.tag_all(self.corpus)
            tagger.save(folder / "model.corate")
            corate.load(folder / "model.corate").strongest(3)
