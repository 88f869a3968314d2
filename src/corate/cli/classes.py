"""``corate classes``: learn word classes from text without labels."""

from __future__ import annotations

import time
from collections.abc import Sequence

from corate.cli.commands import argument, command, option
from corate.cli.shared_options import THREADS, Reporting, refuse_inputs
from corate.cli.terminal import ProgressBar, counted
from corate.io.atomic import check_writable

__all__ = ["Classes"]

_EXAMPLES = """\
Examples:

\b
  corate classes news.txt -o classes.tsv
  corate classes news.txt.gz books.txt -o classes.tsv --classes 128 --threads 2
  corate train train.tsv -o model.corate --features 'word[0]; map(word[0], classes.tsv, lower)'
  corate train train.tsv -o model.corate --raw news.txt          the same in one step, with the usual features
"""


@command("classes", _EXAMPLES)
class Classes(Reporting):
    """Learn word classes from text without labels.

    Words with similar neighbours get the same class. The output has a word in lower case and its class on each line,
    frequent words first. Use it in templates: map(word[0], FILE, lower).
    """

    files: Sequence[str] = argument(
        "FILE...", "Text, one sentence per line; - is standard input.", nargs=-1, required=True
    )
    output: str = option("--output,-o FILE", "The file to write.", required=True)
    number: int = option("--classes,-c N", "The number of classes.", default=256, least=2)
    encoding: str = option("--encoding NAME", "The encoding of the text.", default="utf-8")
    threads: int = THREADS

    def run(self) -> None:
        """Run the command."""
        for file in self.files:
            refuse_inputs(self.output, {"also a file to read": file})
        from corate.features.word_classes import learn_word_classes, write_word_classes
        from corate.formats import read_unlabelled
        from corate.io.streams import save

        start = time.perf_counter()
        check_writable(self.output)
        with ProgressBar(self.quiet) as progress:
            progress("reading")
            corpora = [read_unlabelled(file, encoding=self.encoding) for file in self.files]
            (lexicon,), facts = learn_word_classes(corpora, [self.number], threads=self.threads, progress=progress.show)
            save(write_word_classes(lexicon), self.output)
        facts["seconds_total"] = time.perf_counter() - start
        words, tokens = counted(facts["words"], "word"), counted(facts["tokens"], "token")
        shown = f"{words} of {tokens} in {counted(self.number, 'class')}, {facts['seconds_total']:.2f} s"
        self.report({"file": self.output, **facts}, lambda: self.output == "-" or print(f"{self.output}: {shown}"))
