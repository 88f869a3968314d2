"""``corate classes``: learn word classes from text without labels."""

from __future__ import annotations

import time
from collections.abc import Sequence

from corate.cli.commands import argument, command, option
from corate.cli.shared_options import refuse_inputs, shared
from corate.cli.terminal import ProgressBar, counted, print_json
from corate.io.atomic import check_writable

__all__ = ["classes"]

_EXAMPLES = """\
Examples:

\b
  corate classes news.txt -o classes.tsv
  corate classes news.txt.gz books.txt -o classes.tsv --classes 128 --threads 2
  corate train train.tsv -o model.corate --features 'word[0]; map(word[0], classes.tsv, lower)'
  corate train train.tsv -o model.corate --raw news.txt          the same in one step, with the usual features
"""


@command("classes", _EXAMPLES)
@argument("FILE...", "Text, one sentence per line; - is standard input.", "files", nargs=-1, required=True)
@option("--output,-o FILE", "The file to write.", required=True)
@option("--classes,-c N", "The number of classes.", name="number", default=256, number=int, least=2)
@option("--encoding NAME", "The encoding of the text.", default="utf-8")
@shared("threads", "json", "quiet")
def classes(
    files: Sequence[str], output: str, number: int, encoding: str, threads: int, json: bool, quiet: bool
) -> None:
    """Learn word classes from text without labels.

    Words with similar neighbours get the same class. The output has a word in lower case and its class on each line,
    frequent words first. Use it in templates: map(word[0], FILE, lower).
    """
    for file in files:
        refuse_inputs(output, {"also a file to read": file})
    from corate.features.word_classes import learn_word_classes, write_word_classes
    from corate.formats import read_unlabelled
    from corate.io.streams import save

    start = time.perf_counter()
    check_writable(output)
    with ProgressBar(quiet) as progress:
        progress("reading")
        corpora = [read_unlabelled(file, encoding=encoding) for file in files]
        (lexicon,), facts = learn_word_classes(corpora, [number], threads=threads, progress=progress.show)
        save(write_word_classes(lexicon), output)
    facts["seconds_total"] = time.perf_counter() - start
    if json:
        print_json({"file": output, **facts})
    elif not quiet and output != "-":
        words, tokens = counted(facts["words"], "word"), counted(facts["tokens"], "token")
        print(f"{output}: {words} of {tokens} in {counted(number, 'class')}, {facts['seconds_total']:.2f} s")
