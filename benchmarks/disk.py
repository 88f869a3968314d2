"""How much disk does training need for text that is larger than memory? `python -m benchmarks.disk`

The text is that of `growth.py`. The size of the temporary files is read every 20 milliseconds.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from benchmarks import corpora, measure
from benchmarks.growth import write_sizes
from benchmarks.tables import Row, Table, data_folder, parser

TOKENS = 5_000_000
#: Methods, with limits that make them store their text on disk.
LIMITS = {"empirical": "200M", "polish": "1500M", "separate": "1500M"}


class Watch(threading.Thread):
    """Finds the largest size of the files in a folder, until it is stopped."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.most, self.over = folder, 0, threading.Event()

    def run(self) -> None:
        """Read the sizes again and again."""
        while not self.over.wait(0.02):
            self.most = max(self.most, sum(map(size, self.folder.rglob("*"))))

    def stop(self) -> int:
        """Stop, and return the largest size in bytes."""
        self.over.set()
        self.join()
        return self.most


def size(path: Path) -> int:
    """The bytes of a file; none if it is a folder, or was just removed."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Train within limits, and watch the temporary files."""
    data = data_folder(parser("disk", "Disk that training needs.").parse_args(arguments).data)
    folder = corpora.ROOT / data / "growth"
    folder.mkdir(exist_ok=True)
    text = folder / f"growth-{TOKENS}.train"
    if not text.is_file():
        write_sizes(corpora.load(corpora.ROOT / data / "brown-32k-1000.train"), [TOKENS], folder)
    table = Table("disk", f"How much disk does training need for {TOKENS:,} tokens?")
    for method, limit in LIMITS.items():
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            files = [str(data / "growth" / text.name), "-o", str(data / "models" / "limited.corate")]
            options = ["--method", method, "--memory", limit, "--columns", "word,label", "--threads", "2"]
            watch = Watch(Path(temporary))
            watch.start()
            try:
                measure.run(["corate", "train", *files, *options, "--temporary", temporary, "--json"])
            finally:
                most = watch.stop()
        name = f"{method}, --memory {limit}: largest size of the temporary files"
        note = f"{most / text.stat().st_size:.1f} times the size of the text"
        table.add(Row(name, most / TOKENS, "bytes a token", digits=0, note=note, command="python -m benchmarks.disk"))
    table.finish()


if __name__ == "__main__":
    main()
