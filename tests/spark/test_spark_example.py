"""The example runs as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "spark_tagging.py"


@pytest.mark.slow
def test_the_example_trains_tags_and_measures(spark: SparkSession) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Tagger(empirical" in done.stdout
    assert "problem" in done.stdout
    assert float(done.stdout.split("accuracy")[1].split("%")[0]) > 90
