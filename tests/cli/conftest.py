"""Run commands in this process with streams of their own, on a small made-up corpus."""

import pytest

from command_line import run
from corate.demo import write_files


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
