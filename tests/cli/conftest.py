"""Run commands in this process with streams of their own, on a small made-up corpus."""

import pytest

import corate as library
from command_line import run
from corate.demo import write_files
from small_corpora import TEXT


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


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with a very small text and its model."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "train.tsv").write_bytes(TEXT * 20)
    library.train(library.read(folder / "train.tsv"), "empirical").save(folder / "m.corate")
    return folder
