"""Streams to open descriptors: every byte arrives, or there is an error."""

import errno
import gc
import os
import threading
from contextlib import contextmanager

import pytest

import corate
from corate.io.atomic import buffered

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes always block on Windows")
CORPUS = corate.Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]] * 20_000)
DATA = bytes(range(256)) * 2000  # more than a pipe holds


@contextmanager
def unblocking_pipe():
    """A pipe whose writing end does not block, and what a thread reads from it until the writing end is closed."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    received = bytearray()

    def read():
        with open(reading, "rb", buffering=0) as pipe:
            while block := pipe.read(1000):
                received.extend(block)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield writing, received
    finally:
        os.close(writing)
        reader.join()


def test_everything_arrives_in_a_pipe_that_does_not_block():
    with unblocking_pipe() as (writing, received), buffered(writing, "the pipe") as stream:
        for start in range(0, len(DATA), 100_000):
            stream.write(DATA[start : start + 100_000])
    assert received == DATA


def test_everything_is_written_to_a_file_without_a_buffer():
    with unblocking_pipe() as (writing, received), open(writing, "wb", buffering=0, closefd=False) as file:
        corate.write(CORPUS, file, format="columns")
    assert received == b"the\tDET\ndog\tNOUN\n\n" * 20_000


def test_the_descriptor_stays_open(tmp_path):
    with open(tmp_path / "file", "wb") as file:
        buffered(file.fileno(), "the file").write(b"one ")
        gc.collect()
        with buffered(file.fileno(), "the file") as stream:
            stream.write(b"two ")
        file.write(b"three")
    assert (tmp_path / "file").read_bytes() == b"one two three"


def test_errors_name_the_stream(tmp_path):
    (tmp_path / "file").touch()
    with open(tmp_path / "file", "rb") as file, pytest.raises(OSError, match="the file") as caught:  # noqa: PT012
        stream = buffered(file.fileno(), "the file")
        stream.write(b"text")
        stream.flush()
    assert (caught.value.errno, caught.value.filename) == (errno.EBADF, "the file")
    with pytest.raises(OSError, match="the closed file") as caught:
        buffered(1_000_000, "the closed file")
    assert caught.value.errno == errno.EBADF
