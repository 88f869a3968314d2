"""``corate demo``: train, evaluate and use a tagger."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING

from corate.cli.commands import Run, command, option
from corate.cli.evaluate import measure
from corate.cli.shared_options import SEED
from corate.cli.terminal import count, counted, is_terminal, percent, show_table, size

if TYPE_CHECKING:
    from corate import Tagger
    from corate.demo import Address
    from corate.model.notebook import Part

__all__ = ["Demo"]

_EXAMPLES = """\
Examples:

\b
  corate demo
  corate demo --sentences 20000
  corate demo --write data
  corate train data/train.tsv -o address.corate --test data/test.tsv
"""

_SHOWN, _SHORT = 6, 10
_COLOURS = {
    "NAME": "bright_magenta",
    "HOUSE": "bright_cyan",
    "STREET": "bright_green",
    "UNIT": "cyan",
    "CITY": "bright_yellow",
    "REGION": "yellow",
    "POSTCODE": "bright_blue",
    "COUNTRY": "bright_red",
}
_NEXT = """
For your own text, write one token and its label per line, and a blank line after each sentence:

  corate train train.tsv -o my.corate --test test.tsv
  corate tag my.corate new.tsv > tagged.tsv

Without such a file, `corate demo --write data` writes these addresses as train.tsv, test.tsv and new.txt."""


@command("demo", _EXAMPLES)
class Demo(Run):
    """Show how Corate works, offline, in seconds.

    Trains on invented postal addresses of eight countries, shows the scores and tags a few lines.
    """

    sentences: int = option("--sentences N", "Number of address lines to train on.", default=4000, least=50)
    seed: int = SEED
    write: str | None = option("--write DIR", "Write the lines as files into DIR and do nothing else.")

    def run(self) -> None:
        """Run the command."""
        from corate.demo import addresses, write_files

        n_test = max(20, self.sentences // 4)
        if self.write is not None:
            for path in write_files(self.write, self.sentences, n_test, self.seed):
                print(path)
            return
        import corate

        lines = list(addresses(self.sentences + n_test, self.seed))
        tagger = corate.train(corate.Corpus.from_sentences(lines[: self.sentences]), seed=self.seed)
        if tagger.record["interrupted"]:
            raise KeyboardInterrupt
        scores, _ = measure(tagger, corate.Corpus.from_sentences(lines[self.sentences :]))
        tested = f"{counted(scores['tokens'], 'token')} in {counted(n_test, 'new line')}"
        rows = [
            ["trained on", f"{counted(self.sentences, 'address line')}, {counted(tagger.record['tokens'], 'token')}"],
            ["training time", f"{tagger.record['seconds']:.2f} s"],
            ["accuracy", f"{percent(scores['accuracy'])} of {tested}"],
            ["accuracy, new words", percent(scores["accuracy_oov"])],
            ["F1 of whole parts", percent(scores["f1"])],
            ["tagging speed", f"{count(scores['tokens_per_second'])} tokens a second"],
            ["model size", size(_size_on_disk(tagger))],
        ]
        show_table(rows)
        _show_tagged(tagger, lines[self.sentences :])
        print(_NEXT)


def _size_on_disk(tagger: Tagger) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "demo.corate")
        tagger.save(path)
        return os.stat(path).st_size


def _show_tagged(tagger: Tagger, lines: list[Address]) -> None:
    print(f"\n{_SHOWN} new lines, tagged:\n")
    for line in [line for line in lines if len(line) <= _SHORT][:_SHOWN]:
        parts = tagger.show([token for token, _ in line]).parts
        if is_terminal():
            _print_coloured(parts)
        else:
            print("  " + " ".join(f"[{part.label} {part.text}]" if part.label else part.text for part in parts))


def _print_coloured(parts: Sequence[Part]) -> None:
    from rich.console import Console
    from rich.text import Text

    line = Text("  ")
    for part in parts:
        colour = _COLOURS.get(part.label, "default")
        line.append(part.text, f"bold {colour}" if part.label else "dim")
        line.append(f" {part.label.lower()}" if part.label else "", f"dim {colour}")
        line.append("  ")
    Console(highlight=False).print(line, soft_wrap=True)
