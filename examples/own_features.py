"""Three ways to choose the features of a tagger: `python examples/own_features.py`.

They are a preset, a preset with a template and a word list of your own, and a Python function. Each is evaluated on the
same text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import corate
from corate.demo import write_files


def features(words: Sequence[str], i: int) -> dict[str, Any]:
    """The features of one token: strings, numbers and booleans, in dicts that may be nested."""
    found: dict[str, Any] = {"lower": words[i].lower(), "title": words[i].istitle(), "length": len(words[i])}
    if i > 0:
        found["before"] = {"lower": words[i - 1].lower(), "digit": words[i - 1].isdigit()}
    if i + 1 < len(words):
        found["after"] = {"lower": words[i + 1].lower()}
    return found


def main(folder: Path) -> None:
    """Train three taggers, and print their accuracy and F1."""
    train, test = (corate.read(path) for path in write_files(folder)[:2])
    (folder / "cities.txt").write_text("Boston\nDelft\nOslo\n", encoding="utf-8")
    templates = folder / "my.templates"  # names of files in it are relative to it
    templates.write_text("ner\nword[-2]|word[-1]\nin(word[0], cities.txt)\n", encoding="utf-8")
    ways: dict[str, Any] = {
        "the preset ner": "ner",
        "ner, a template and a word list": templates,
        "a function": features,
    }
    for name, way in ways.items():
        report = corate.evaluate(corate.train(train, features=way), test)
        print(f"{name:32} accuracy {report.accuracy:.1%}, F1 {report.f1:.1%}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as data:
        main(Path(data))
