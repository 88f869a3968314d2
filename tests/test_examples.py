"""The examples run as they stand. (That of Spark has a test of its own.)"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "needs", "printed"),
    [
        ("frames", "polars", "accuracy 9"),
        ("label_studio", "json", " 20 to  25  CITY "),
        ("spacy_pipeline", "spacy", "Boston       CITY "),
    ],
)
def test_an_example_prints_what_it_promises(name: str, needs: str, printed: str) -> None:
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"THE EXAMPLE {name} IS NOT TESTED: {needs} is not installed")
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert printed in done.stdout
