"""Puts the folder of all tests on the path, for `reference` and `corpora`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
