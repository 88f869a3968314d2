"""Prints the notes of a release, the section of CHANGELOG.md: ``python tools/release_notes.py v0.2.0``.

Fails if the tag is not the version of the package, or if the changelog has no section of this version with a date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version() -> str:
    """The version of the package."""
    text = (ROOT / "src" / "corate" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


def notes(changelog: str, version: str) -> str:
    """The section of a version, without its heading; raises ValueError if there is none, or if it has no date."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    for section in sections:
        heading, _, text = section.partition("\n")
        if heading.split(",")[0].strip() == version:
            if re.search(r"\d{4}-\d\d-\d\d", heading) is None:
                raise ValueError(f"the heading of {version} in CHANGELOG.md has no date: {heading}")
            return text.strip() + "\n"
    raise ValueError(f"CHANGELOG.md has no section of {version}")


def main(tag: str) -> str:
    """The notes of a tag."""
    if tag != f"v{version()}":
        raise ValueError(f"the tag is {tag}, but the version is {version()}")
    return notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version())


if __name__ == "__main__":
    try:
        print(main(sys.argv[1]), end="")
    except ValueError as error:
        sys.exit(f"release_notes: {error}")
