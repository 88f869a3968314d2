"""``corate classes``: learn word classes from text without labels."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from corate.cli import shared_options as options
from corate.cli.exits import silence_warnings
from corate.cli.terminal import ProgressBar, counted, print_json
from corate.io.atomic import check_writable

__all__ = ["EXAMPLES", "classes"]

EXAMPLES = """\
Examples:

\b
  corate classes news.txt -o classes.tsv
  corate classes news.txt.gz books.txt -o classes.tsv --classes 128 --threads 2
  corate train train.tsv -o model.corate --features 'word[0]; map(word[0], classes.tsv, lower)'
  corate train train.tsv -o model.corate --raw news.txt          the same in one step, with the usual features
"""


def classes(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Text, one sentence per line; - is standard input."),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")],
    number: Annotated[int, typer.Option("--classes", "-c", min=2, metavar="N", help="The number of classes.")] = 256,
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of the text.")] = "utf-8",
    threads: options.Threads = 1,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn word classes from text without labels.

    Words with similar neighbours get the same class. The output has a word in lower case and its class on each line,
    frequent words first. Use it in templates: map(word[0], FILE, lower).
    """
    if output in files and output != "-":
        raise typer.BadParameter(f"{output} is also a file to read", param_hint="--output")
    from corate.features.word_classes import learn_word_classes, write_word_classes
    from corate.formats import read_unlabelled
    from corate.io.streams import save

    if quiet:
        silence_warnings()
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
