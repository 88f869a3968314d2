"""Exit code 0 means that all output was written, with and without buffers in Python."""

import errno
import os
import subprocess
import sys

import pytest

from command_line import PROGRAM
from limited_output import BUFFERING, environment, run_limited

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of files and /dev/stdout are POSIX's")

#: A command, and the room in bytes. It is less than one line where Python writes lines one by one.
LIMITED = {
    "tag m test.tsv": 1000,
    "tag m test.tsv --to jsonl": 1000,
    "tag m test.tsv --nbest 2": 1000,
    "graph sample g -n 500": 1000,
    "active m new.txt -n 20": 100,
    "eval m test.tsv --json": 10,
    "info m": 10,
    "rates test.tsv": 10,
    "train test.tsv -o new --method empirical": 10,
    "demo --sentences 50": 10,
    "compare test.tsv --test test.tsv --methods empirical,perceptron --plot p.svg": 10,
    "--help": 10,
    "--version": 10,
}
FULL = f"corate: error: standard output: {os.strerror(errno.EFBIG)}\n".encode()


@pytest.fixture(params=BUFFERING, ids=["buffered", "unbuffered"])
def env(request):
    return environment(request.param) | {"CORATE_PROGRESS": "0"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, data, model):
    from corate.graphs import GraphModel

    folder = tmp_path_factory.mktemp("complete")
    (folder / "m").write_bytes(model.read_bytes())
    for name in ("test.tsv", "new.txt"):
        (folder / name).write_bytes((data / name).read_bytes())
    GraphModel.fit({"sky": ["sun", "rain"] * 9, "wind": ["in", "out", "in"] * 6}, [("sky", "wind")]).save(folder / "g")
    return folder


def command(text):
    return [*PROGRAM, *text.split()]


@pytest.mark.parametrize("text", LIMITED)
def test_a_full_disk_is_exit_code_1_and_one_line(folder, env, text):
    room = LIMITED[text]
    ended = run_limited(command(text), room, folder / "out", cwd=folder, env=env)
    assert (ended.returncode, ended.stderr) == (1, FULL)
    assert len(ended.stdout) <= room
    if "--plot" in text:  # files first
        assert (folder / "p.svg").read_text().rstrip().endswith("</svg>")
        (folder / "p.svg").unlink()


def test_a_disk_with_just_enough_room_is_no_error(folder, env, corate):
    whole = corate("tag", folder / "m", folder / "test.tsv").out
    ended = run_limited(command("tag m test.tsv"), len(whole), folder / "out", cwd=folder, env=env)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, whole, b"")


def test_a_pipe_that_does_not_block_gets_everything(folder, env, corate):
    text = (folder / "test.tsv").read_bytes() * 30
    whole = corate("tag", folder / "m", stdin=text).out
    assert len(whole) > 4 * (1 << 16), "more than a pipe holds"
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    (folder / "long.tsv").write_bytes(text)
    with subprocess.Popen(
        command("tag m long.tsv"), cwd=folder, env=env, stdout=writing, stderr=subprocess.PIPE
    ) as process:
        os.close(writing)
        with open(reading, "rb") as pipe:
            received = pipe.read()
        assert process.stderr.read() == b""
    assert process.returncode == 0
    assert received == whole


@pytest.mark.parametrize("text", ["--version", "compare test.tsv --test test.tsv --methods empirical --plot p.html"])
def test_a_reader_that_leaves_loses_no_file(folder, env, text):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as cut_off:
        ended = subprocess.run(command(text), cwd=folder, env=env, stdout=cut_off, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, b"")
    if "--plot" in text:
        assert (folder / "p.html").read_text().rstrip().endswith("</html>")
        (folder / "p.html").unlink()


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_named_standard_output_is_appended_to(folder, env, corate):
    log = folder / "log"
    for text, code, added in (
        ("tag m test.tsv -o /dev/stdout", 0, corate("tag", folder / "m", folder / "test.tsv").out),
        ("train test.tsv -o /dev/stdout --method empirical", 1, b""),
    ):
        log.write_bytes(b"first\n")
        with open(log, "ab") as file:
            ended = subprocess.run(command(text), cwd=folder, env=env, stdout=file, stderr=subprocess.PIPE)
        assert ended.returncode == code
        assert ended.stderr.count(b"\n") == code
        assert log.read_bytes() == b"first\n" + added


def test_writing_from_python(folder, env):
    code = "import corate; corate.write(corate.read('test.tsv'), '-')"
    ended = run_limited([sys.executable, "-c", code], 1000, folder / "out", cwd=folder, env=env)
    assert ended.returncode != 0
    assert b"File too large" in ended.stderr
