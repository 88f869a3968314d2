"""``corate shrink``: write a smaller model, without training again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import command, option
from corate.cli.evaluate import measure, one_line
from corate.cli.shared_options import MODEL, THREADS, Reading, Reporting, reading_options, refuse_inputs
from corate.cli.terminal import ProgressBar, count, size
from corate.io.atomic import check_writable

if TYPE_CHECKING:
    from corate import Tagger

__all__ = ["Shrink"]

_EXAMPLES = """\
Examples:

\b
  corate shrink model.corate -o small.corate                          --half and --no-counts
  corate shrink model.corate -o small.corate --test test.tsv          with the accuracy before and after
  corate shrink model.corate -o small.corate --half --drop-below 0.05 --test test.tsv
  corate shrink model.corate -o small.corate --drop-rare 3 --no-counts
"""


@command("shrink", _EXAMPLES, everyday="output half drop_below drop_rare no_counts test threads json quiet")
class Shrink(Reporting):
    """Write a smaller model, without training again.

    By default, weights are stored in 16 bits and the counts are dropped, which hardly ever changes a label. If you give
    one of --half, --no-counts, --drop-below and --drop-rare, only the given options apply. The last two may change
    labels; --test FILE shows how many are still correct.
    """

    model: str = MODEL
    output: str = option("--output,-o SMALL", "The model file to write.", required=True)
    half: bool = option("--half", "Store weights in 16 bits.")
    drop_below: float = option(
        "--drop-below X",
        "Drop weights of features between -X and X, and features without weights. Try 0.05 to 0.3.",
        default=0.0,
        least=0.0,
    )
    drop_rare: int = option(
        "--drop-rare N",
        "Drop word pairs and other combined features seen fewer than N times in training. For models of empirical that "
        "have counts.",
        default=0,
        least=0,
    )
    no_counts: bool = option("--no-counts", "Drop the counts, which only corate update needs.")
    test: str | None = option("--test FILE", "Labelled text to measure the accuracy on, before and after.")
    threads: int = THREADS
    reading: Reading = reading_options()

    def run(self) -> None:
        """Run the command."""
        refuse_inputs(self.output, {"the model itself; name another file": self.model})
        import corate
        from corate.model.crfsuite import has_suffix

        if has_suffix(self.output):
            raise click.BadParameter("shrink writes models of corate; use another suffix", param_hint="--output")
        usual = not (self.half or self.drop_below or self.drop_rare or self.no_counts)
        half, counts = usual or self.half or _is_half(self.model), not (usual or self.no_counts)
        check_writable(self.output)
        with ProgressBar(self.quiet) as progress:
            progress("reading")
            before = corate.load(self.model)
            if self.drop_rare > 1 and before.counts is None:
                raise click.BadParameter(_no_counts(before, self.drop_rare), param_hint="--drop-rare")
            corpus = None if self.test is None else self.reading.read_labelled(self.test, before)
            progress("shrinking")
            before.shrunk(drop_below=self.drop_below, rare=self.drop_rare, counts=counts).save(self.output, half=half)
            after = corate.load(self.output)
            result: dict[str, Any] = {
                "model": self.output,
                "bytes_before": os.stat(self.model).st_size,
                "bytes": os.stat(self.output).st_size,
                "weights_before": len(before.model.weights.scores),
                "weights": len(after.model.weights.scores),
            }
            if corpus is not None:
                result["test_before"], _ = measure(before, corpus, self.threads, progress)
                result["test"], _ = measure(after, corpus, self.threads, progress)
        self.report(result, lambda: _show(result))


def _no_counts(tagger: Tagger, rare: int) -> str:
    """Why rare features cannot be dropped, and what to do instead."""
    if tagger.method == "empirical":
        return "the model was saved without its counts, so rare features are not known; use --drop-below"
    return (
        f"a model of {tagger.method} does not know how often features were seen; use --drop-below, or train with "
        f"--cutoff {rare}"
    )


def _show(result: dict[str, Any]) -> None:
    old, new = result["bytes_before"], result["bytes"]
    print(f"{result['model']}: {size(new)}, {new / old:.0%} of {size(old)}")
    print(f"weights: {count(result['weights'])} of {count(result['weights_before'])}")
    if "test" in result:
        print(f"test before: {one_line(result['test_before'])}")
        print(f"test after:  {one_line(result['test'])}")


def _is_half(model: str) -> bool:
    """Whether a model file has its scores in 16 bits, which it then keeps."""
    from corate.io import tensor_file
    from corate.model import crfsuite

    if crfsuite.recognised(model):
        return False
    scores = tensor_file.read(model, mmap=True)[0].get("weights.scores")
    return scores is not None and scores.dtype.itemsize == 2
