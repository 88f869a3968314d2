"""Pre-annotate texts for Label Studio, and train on what people have corrected: `python examples/label_studio.py`.

It writes tasks with predictions, which Label Studio can import. Then it reads a JSON export of a project, and trains
the tagger further on it. Here, the export is made up: the same tasks, with the predictions as annotations.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import corate
from corate.demo import addresses

TEXTS = "Ann Lee, 12 Oak St, Boston\nBob Kim, 7 Elm Ave, Delft 🚲\n"


def main() -> None:
    """Predict, write, read and train."""
    sentences = list(addresses(1000, seed=1))
    tagger = corate.train(corate.Corpus.from_sentences(sentences))

    texts = corate.read(TEXTS.encode(), format="raw", labelled=False)
    lattice = tagger.lattice(texts)
    scores = [[entity.probability for entity in entities] for entities in lattice.entities()]
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "tasks.json"
        corate.write(texts, file, format="labelstudio", labels=lattice.tag(), scores=scores)
        tasks = json.loads(file.read_text("utf-8"))
        for task in tasks:
            for item in task["predictions"][0]["result"]:
                value = item["value"]
                places = f"{value['start']:3} to {value['end']:3}"
                print(f"{places}  {value['labels'][0]:8} {item['score']:.2f}  {value['text']}")
            task["annotations"] = task.pop("predictions")  # somebody has accepted all of them
        file.write_text(json.dumps(tasks), "utf-8")
        corrected = corate.read(file)
    print(corrected)
    print(corate.train(corrected, init=tagger))


if __name__ == "__main__":
    main()
