"""Write the made-up addresses to files, to try the commands on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from corate.demo.addresses import Address, addresses
from corate.io.atomic import write_text

__all__ = ["write_files"]


def write_files(
    directory: str | os.PathLike[str], n_train: int = 4000, n_test: int = 1000, seed: int = 0
) -> list[Path]:
    """Write the files ``train.tsv``, ``test.tsv`` and ``new.txt`` with made-up addresses; returns their paths.

    Lines of ``train.tsv`` and ``test.tsv`` have a token, a tab and a label, with an empty line after each address.
    ``new.txt`` has 20 addresses without labels, one on each line, with spaces between the tokens.

    Args:
        directory: the folder of the files. It is created if it is missing.
        n_train: the number of addresses in ``train.tsv``.
        n_test: the number of addresses in ``test.tsv``.
        seed: the random seed. The same seed gives the same files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_files(folder)]
    ['train.tsv', 'test.tsv', 'new.txt']
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    lines = addresses(n_train + n_test + 20, seed)
    texts = {
        "train.tsv": _columns(islice(lines, n_train)),
        "test.tsv": _columns(islice(lines, n_test)),
        "new.txt": "".join(" ".join(token for token, _ in line) + "\n" for line in lines),
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _columns(lines: Iterable[Address]) -> str:
    return "".join("".join(f"{token}\t{label}\n" for token, label in line) + "\n" for line in lines)
