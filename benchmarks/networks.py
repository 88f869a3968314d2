"""The Bayesian networks inside the pgmpy 1.0.0 wheel, which is read and not installed."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile
from pathlib import Path

from benchmarks.corpora import ROOT

WHEEL = "pgmpy-1.0.0-py3-none-any.whl"
FOLDER = "pgmpy/utils/example_models/"
#: From the smallest file to the largest.
NAMES = (
    *(
        "cancer",
        "earthquake",
        "survey",
        "asia",
        "sachs",
        "child",
        "alarm",
        "insurance",
        "win95pts",
        "hailfinder",
        "hepar2",
    ),
    *(
        "andes",
        "pigs",
        "munin1",
        "water",
        "link",
        "munin2",
        "munin3",
        "munin",
        "munin4",
        "pathfinder",
        "barley",
        "mildew",
    ),
    "diabetes",
)


def wheel(given: Path | None) -> Path:
    """The wheel; it is downloaded into data/ if it is not there."""
    path = given or ROOT / "data" / WHEEL
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            str(path.parent),
            "pgmpy==1.0.0",
        ]
        subprocess.run(command, check=True)
    return path


def text(path: Path, name: str) -> str:
    """A network of the wheel in BIF."""
    with zipfile.ZipFile(path) as files:
        return gzip.decompress(files.read(f"{FOLDER}{name}.bif.gz")).decode()
