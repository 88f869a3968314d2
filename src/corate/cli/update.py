"""``corate update``: add labelled text to a model without training it again."""

from __future__ import annotations

import time
from typing import Any

from corate.cli.commands import argument, command, option
from corate.cli.shared_options import MODEL, Reading, Reporting, load_model, reading_options, refuse_inputs
from corate.cli.terminal import ProgressBar, counted, size
from corate.cli.train import described
from corate.io.atomic import check_writable

__all__ = ["Update"]

_EXAMPLES = """\
Examples:

\b
  corate update model.corate more.tsv
  corate update model.corate more.tsv -o larger.corate --json
  zcat today.tsv.gz | corate update model.corate - --quiet
"""


@command("update", _EXAMPLES, everyday="output half columns format json quiet")
class Update(Reporting):
    """Update a model with more labelled text.

    The counts of the new text are added to those in the model; tuned settings do not change. Words and labels may be
    new. Only models of empirical can be updated, unless they were written with --no-counts. To train other models
    further, except those of memm, use corate train --init.
    """

    model: str = MODEL
    file: str = argument("FILE", "More labelled text; - is standard input.")
    output: str | None = option("--output,-o MODEL2", "The model file to write. Default: replace MODEL.")
    half: bool = option("--half", "Store weights in 16 bits, for a smaller model.")
    reading: Reading = reading_options()

    def run(self) -> None:
        """Run the command."""
        target = self.model if self.output is None else self.output
        refuse_inputs(target, {"the text file itself": self.file})
        start = time.perf_counter()
        check_writable(target)
        with ProgressBar(self.quiet) as progress:
            progress("reading")
            old = load_model(self.model, self.file)
            corpus = self.reading.read_labelled(self.file, old)
            progress("learning")
            tagger = old.update(corpus)
            progress("saving")
            tagger.save(target, half=self.half)
        result = described(tagger.record, target)
        result["added"] = {key: result[key] - old.record[key] for key in ("sentences", "tokens", "labels", "features")}
        result["seconds_total"] = time.perf_counter() - start
        self.report(result, lambda: _show(result))


def _show(result: dict[str, Any]) -> None:
    added = result["added"]
    print(
        f"{counted(added['sentences'], 'sentence')}, {counted(added['tokens'], 'token')} and "
        f"{counted(added['labels'], 'label')} more, {counted(result['tokens'], 'token')} in all, "
        f"in {result['seconds_total']:.2f} s"
    )
    print(f"model: {result['model']}, {size(result['bytes'])}, {result['bytes_per_token']:.1f} bytes a token")
