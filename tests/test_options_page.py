"""docs/options.md says what the classes of options say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_options_is_up_to_date() -> None:
    made = subprocess.run([sys.executable, DOCS / "make_options.py"], capture_output=True, text=True, check=True)
    assert (DOCS / "options.md").read_text(encoding="utf-8") == made.stdout, "run make docs/options.md"
