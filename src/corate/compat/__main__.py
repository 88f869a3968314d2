"""``python -m corate.compat script.py``: run a script or a module with corate in place of CRFsuite's packages."""

from __future__ import annotations

import os
import runpy
import sys

from corate.compat import install

_USAGE = """usage: python -m corate.compat SCRIPT [ARGUMENT ...]
       python -m corate.compat -m MODULE [ARGUMENT ...]

Run a Python script, or a module, in which pycrfsuite and sklearn_crfsuite are corate's."""


def main(arguments: list[str]) -> int:
    """Run what the arguments name; returns an exit code for wrong usage, or 0."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(_USAGE)
        return 0
    is_module = arguments[:1] == ["-m"]
    given = arguments[is_module:]
    if not given or (not is_module and given[0].startswith("-")):
        print(_USAGE, file=sys.stderr)
        return 2
    sys.argv = given
    install()
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(given[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(given[0]))
        runpy.run_path(given[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
