"""Examples in README.md and docs/ run in a folder of their own that holds what ``corate demo --write data`` writes."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _documents_have_data(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Path(request.node.path).suffix == ".md":
        from corate.demo import write_files

        folder = tmp_path_factory.mktemp("document")
        write_files(folder / "data")
        monkeypatch.chdir(folder)
