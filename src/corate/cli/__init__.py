"""The command line. One module a command, each thin: it parses, calls the library and prints."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run ``corate`` with the arguments of the process and exit with its code."""
    from corate.cli.exits import exit_codes, orderly

    with orderly(), exit_codes():
        from corate.cli.app import app

        app(prog_name="corate")
