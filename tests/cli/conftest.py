"""Run commands in this process with streams of their own, on a small made-up corpus."""

import io
import sys
from dataclasses import dataclass

import pytest

from corate.demo import write_files


@dataclass(frozen=True)
class Result:
    code: int
    out: bytes
    err: str

    @property
    def text(self):
        return self.out.decode()


class Screen(io.TextIOWrapper):
    """Standard output that a person looks at."""

    def isatty(self):
        return True


def run(*args, stdin=b"", screen=False, encoding="utf-8"):
    from corate.cli import main

    old = sys.stdin, sys.stdout, sys.stderr, sys.argv
    out = (Screen if screen else io.TextIOWrapper)(io.BytesIO(), encoding=encoding, write_through=True)
    err = io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), encoding="utf-8")
    sys.stdout, sys.stderr, sys.argv = out, err, ["corate", *map(str, args)]
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.stdin, sys.stdout, sys.stderr, sys.argv = old
    return Result(code, out.buffer.getvalue(), err.getvalue())


@pytest.fixture(name="corate")
def _corate():
    """Call with the arguments of a command line: gives exit code, standard output and standard error."""
    return run


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with train.tsv, test.tsv and new.txt."""
    folder = tmp_path_factory.mktemp("data")
    write_files(folder, n_train=300, n_test=60, seed=1)
    return folder


@pytest.fixture(scope="session")
def model(tmp_path_factory, data):
    """An empirical model trained by the command on the small corpus."""
    path = tmp_path_factory.mktemp("model") / "address.corate"
    result = run("train", data / "train.tsv", "-o", path, "--method", "empirical", "--quiet")
    assert (result.code, result.out, result.err) == (0, b"", "")
    return path
