"""The real corpora, for tests: a folder named by CORATE_DATA, else ../shared/data beside the checkout, else a skip."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest


def real_file(archive: str, member: str) -> bytes:
    """A file of an archive, packed or unpacked in the data folder; skips the test where there is no such folder."""
    named = os.environ.get("CORATE_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if (folder / member).is_file():
        return (folder / member).read_bytes()
    if (folder / archive).is_file():
        with zipfile.ZipFile(folder / archive) as packed:
            return packed.read(member)
    pytest.skip(f"no real corpora: set CORATE_DATA to a folder with {archive}")
