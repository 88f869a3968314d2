"""Examples in README.md and docs/ run in a folder of their own that holds what ``corate demo --write data`` writes."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# No test times: on a loaded machine any example may be slow.
settings.register_profile("corate", deadline=None)
settings.load_profile("corate")

# What commands print does not depend on how long they take.
os.environ["CORATE_PROGRESS"] = "0"

# A shell has its background jobs ignore Ctrl-C, and nohup SIGHUP; so would the programs that tests start and end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for _name in ("SIGHUP", "SIGTERM"):
    if hasattr(signal, _name) and signal.getsignal(getattr(signal, _name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, _name), signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _documents_have_data(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Path(request.node.path).suffix == ".md":
        from corate.demo import write_files

        folder = tmp_path_factory.mktemp("document")
        write_files(folder / "data")
        monkeypatch.chdir(folder)
