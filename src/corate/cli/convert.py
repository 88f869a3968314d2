"""``corate convert``: write a model in another file format."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from corate.cli import shared_options as options
from corate.cli.exits import silence_warnings
from corate.cli.shared_options import one_of
from corate.cli.terminal import counted, print_json, size
from corate.io.atomic import check_writable

__all__ = ["EXAMPLES", "convert"]

EXAMPLES = """\
Examples:

\b
  corate convert usaddr.crfsuite usaddr.corate         from CRFsuite: for every command of corate
  corate convert model.corate model.crfsuite           to CRFsuite: for python-crfsuite and others
  corate convert model.corate model --to crfsuite --bias bias
  corate convert model.corate small.corate --half
"""


def convert(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model file, of corate or of CRFsuite.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="The model file to write.")],
    to: Annotated[
        str | None,
        one_of(("corate", "crfsuite"), "The format of OUT. Default: crfsuite if it ends in .crfsuite, else corate."),
    ] = None,
    bias: Annotated[
        str | None,
        typer.Option(
            metavar="FEATURE",
            help="For crfsuite: a feature that every token has. It gets the weights of single labels, which a CRFsuite "
            "file cannot store otherwise.",
        ),
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="For corate: store weights in 16 bits.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Convert a model between the file formats of corate and CRFsuite.

    A CRFsuite file can store first-order models with ready-made features, without weights for the start and the end
    of a sentence (--no-boundaries). Its weights have 64 bits; corate rounds them to 32.
    """
    if os.path.exists(model) and os.path.exists(output) and os.path.samefile(model, output):
        raise typer.BadParameter(f"{output} is the model itself", param_hint="OUT")
    import corate
    from corate.model.crfsuite import has_suffix

    if quiet:
        silence_warnings()
    check_writable(output)
    tagger = corate.load(model)
    n_bytes = tagger.save(output, half=half, format=to, bias=bias)
    written = to or ("crfsuite" if has_suffix(output) else "corate")
    labels, features = len(tagger.labels), tagger.record["features"]
    if json:
        print_json({"model": output, "format": written, "bytes": n_bytes, "labels": labels, "features": features})
    elif not quiet:
        print(f"{output}: {written}, {counted(labels, 'label')}, {counted(features, 'feature')}, {size(n_bytes)}")
