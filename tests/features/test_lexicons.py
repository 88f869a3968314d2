"""Files of words and classes: files and pipes are read, and what never ends is refused."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from command_line import run
from corate.errors import FeatureError
from corate.features import lexicons
from corate.features.lexicons import limited_bytes
from corate.features.templates import lexicons_of, load_templates, parse

needs_devices = pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there are no devices")
FUNCTIONS = ["in", "map"]


@needs_devices
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_are_refused(function: str, device: str, tmp_path: Path) -> None:
    template = f"{function}(word[0], {device})"
    with pytest.raises(FeatureError, match=f"cannot read {device}: it is a device; give a text file"):
        parse(template)
    (tmp_path / "train.tsv").write_text("a\tX\n\n", encoding="utf-8")
    found = run("train", tmp_path / "train.tsv", "-o", tmp_path / "model", "--features", template)
    assert (found.code, f"cannot read {device}: it is a device" in found.err) == (1, True)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_directories_are_refused(function: str, tmp_path: Path) -> None:
    with pytest.raises(FeatureError, match="it is a directory; give a text file"):
        parse(f'{function}(word[0], "{tmp_path.as_posix()}")')


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="there are no names for pipes")
def test_a_pipe_is_read_to_its_end() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader), os.fdopen(writer, "w", encoding="utf-8") as out:
        out.write("Delft\tcity\nMeuse\triver\n")
        out.close()
        template = parse(f"map(word[0], /dev/fd/{reader})")
    (lexicon,) = lexicons_of([template]).values()
    assert [lexicon.get(word) for word in ("Delft", "Meuse", "Ann")] == ["city", "river", None]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="there are no names for pipes")
def test_a_pipe_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicons, "MOST_BYTES", 5_000_000)
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb", buffering=0) as out:
            try:
                while True:
                    out.write(b"word\n" * 1000)
            except BrokenPipeError:
                pass

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with pytest.raises(FeatureError, match=r"it has more than 5,000,000 bytes; give a smaller file"):
            parse(f"in(word[0], /dev/fd/{reader})")
    finally:
        os.close(reader)
        thread.join()


def test_too_large_files_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    with open(path, "wb") as file:
        file.truncate(lexicons.MOST_BYTES + 1)
    with pytest.raises(FeatureError, match=r"words\.txt: it has more than 256,000,000 bytes"):
        parse(f'in(word[0], "{path.as_posix()}")')
    with pytest.raises(FeatureError, match=r"cannot read the template file .*words\.txt: it has more than 16,000,000"):
        load_templates(path)
    path.write_bytes(b"abc")
    assert limited_bytes(path, 3) == b"abc"
    with pytest.raises(OSError, match="more than 2 bytes"):
        limited_bytes(path, 2)
