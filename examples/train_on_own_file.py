"""Train on a file of your own, measure the tagger, and tag new text: `python examples/train_on_own_file.py FILE`.

FILE has a token and its label on each line, and a blank line after each sentence. Other formats are recognised, too. A
tenth of the sentences is held out for evaluation. Without FILE, the program uses made-up addresses.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import corate
from corate.demo import write_files


def main(path: Path) -> None:
    """Train, evaluate, save, load and tag."""
    train, test = corate.read(path).split(0.1, seed=1)
    print(f"training on {len(train):,} sentences, testing on {len(test):,}")

    tagger = corate.train(train)
    print(corate.evaluate(tagger, test))

    with tempfile.TemporaryDirectory() as folder:
        size = tagger.save(Path(folder) / "model.corate")
        print(f"the model has {size / 1e6:.1f} MB")
        loaded = corate.load(Path(folder) / "model.corate")

    for i in range(min(3, len(test))):
        print(loaded.show(test.tokens(i)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as data:
            main(write_files(Path(data))[0])
