"""docs/options.md and docs/commands.md say what the program says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("page", ["options", "commands"])
def test_a_page_that_is_made_from_the_program_is_up_to_date(page: str) -> None:
    made = subprocess.run([sys.executable, DOCS / f"make_{page}.py"], capture_output=True, text=True, check=True)
    assert (DOCS / f"{page}.md").read_text(encoding="utf-8") == made.stdout, f"run make docs/{page}.md"
