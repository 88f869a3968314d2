"""``corate convert``: write a model in another file format."""

from __future__ import annotations

from corate.cli.commands import argument, command, option
from corate.cli.shared_options import refuse_inputs, shared
from corate.cli.terminal import counted, print_json, size
from corate.io.atomic import check_writable

__all__ = ["convert"]

_EXAMPLES = """\
Examples:

\b
  corate convert usaddr.crfsuite usaddr.corate         from CRFsuite: for every command of corate
  corate convert model.corate model.crfsuite           to CRFsuite: for python-crfsuite and others
  corate convert model.corate model --to crfsuite --bias bias
  corate convert model.corate small.corate --half
"""


@command("convert", _EXAMPLES)
@argument("MODEL", "The model file, of corate or of CRFsuite.")
@argument("OUT", "The model file to write.", "output")
@option(
    "--to", "The format of OUT. Default: crfsuite if it ends in .crfsuite, else corate.", choices=("corate", "crfsuite")
)
@option(
    "--bias FEATURE",
    "For crfsuite: a feature that every token has. It gets the weights of single labels, which a CRFsuite file cannot "
    "store otherwise.",
)
@option("--half", "For corate: store weights in 16 bits.")
@shared("json", "quiet")
def convert(model: str, output: str, to: str | None, bias: str | None, half: bool, json: bool, quiet: bool) -> None:
    """Convert a model between the file formats of corate and CRFsuite.

    A CRFsuite file can store first-order models with ready-made features, without weights for the start and the end
    of a sentence (--no-boundaries). Its weights have 64 bits; corate rounds them to 32.
    """
    refuse_inputs(output, {"the model itself": model}, "OUT")
    import corate
    from corate.model.crfsuite import has_suffix

    check_writable(output)
    tagger = corate.load(model)
    n_bytes = tagger.save(output, half=half, format=to, bias=bias)
    written = to or ("crfsuite" if has_suffix(output) else "corate")
    labels, features = len(tagger.labels), tagger.record["features"]
    if json:
        print_json({"model": output, "format": written, "bytes": n_bytes, "labels": labels, "features": features})
    elif not quiet:
        print(f"{output}: {written}, {counted(labels, 'label')}, {counted(features, 'feature')}, {size(n_bytes)}")
