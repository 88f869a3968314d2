"""``corate convert``: write a model in another file format."""

from __future__ import annotations

from corate.cli.commands import argument, command, option
from corate.cli.shared_options import Reporting, refuse_inputs
from corate.cli.terminal import counted, size
from corate.io.atomic import check_writable

__all__ = ["Convert"]

_EXAMPLES = """\
Examples:

\b
  corate convert usaddr.crfsuite usaddr.corate         from CRFsuite: for every command of corate
  corate convert model.corate model.crfsuite           to CRFsuite: for python-crfsuite and others
  corate convert model.corate model --to crfsuite --bias bias
  corate convert model.corate small.corate --half
"""


@command("convert", _EXAMPLES)
class Convert(Reporting):
    """Convert a model between the file formats of corate and CRFsuite.

    A CRFsuite file can store first-order models with ready-made features, without weights for the start and the end
    of a sentence (--no-boundaries). Its weights have 64 bits; corate rounds them to 32.
    """

    model: str = argument("MODEL", "The model file, of corate or of CRFsuite.")
    output: str = argument("OUT", "The model file to write.")
    to: str | None = option(
        "--to",
        "The format of OUT. Default: crfsuite if it ends in .crfsuite, else corate.",
        choices=("corate", "crfsuite"),
    )
    bias: str | None = option(
        "--bias FEATURE",
        "For crfsuite: a feature that every token has. It gets the weights of single labels, which a CRFsuite file "
        "cannot store otherwise.",
    )
    half: bool = option("--half", "For corate: store weights in 16 bits.")

    def run(self) -> None:
        """Run the command."""
        refuse_inputs(self.output, {"the model itself": self.model}, "OUT")
        import corate
        from corate.model.crfsuite import has_suffix

        check_writable(self.output)
        tagger = corate.load(self.model)
        n_bytes = tagger.save(self.output, half=self.half, format=self.to, bias=self.bias)
        written = self.to or ("crfsuite" if has_suffix(self.output) else "corate")
        labels, features = len(tagger.labels), tagger.record["features"]
        facts = {"model": self.output, "format": written, "bytes": n_bytes, "labels": labels, "features": features}
        shown = f"{counted(labels, 'label')}, {counted(features, 'feature')}, {size(n_bytes)}"
        self.report(facts, lambda: print(f"{self.output}: {written}, {shown}"))
