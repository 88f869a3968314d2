"""Files are written whole or not at all, and keep who may read them."""

import errno
import os
import stat

import pytest

import corate
from corate.io import atomic
from corate.io.atomic import check_writable, descriptor_of, replacing, write_text
from corate.io.streams import open_output

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
CORPUS = corate.Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]])


def save_output(path):
    with open_output(str(path)) as stream:
        stream.write(b"new")


#: Everything that writes a file.
WRITERS = {
    "text": lambda path: write_text(path, "new"),
    "output": save_output,
    "corpus": lambda path: corate.write(CORPUS, path),
    "model": lambda path: corate.train(CORPUS, "empirical").save(path),
}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@posix
@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("old", [0o600, 0o640, 0o664, 0o755])
def test_a_file_that_was_there_keeps_its_mode(tmp_path, kind, old):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(old)
    WRITERS[kind](path)
    assert path.read_bytes() != b"old"
    assert mode(path) == old


@posix
@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_mode_of_a_new_file_follows_the_umask(tmp_path, kind, umask):
    before = os.umask(umask)
    try:
        WRITERS[kind](tmp_path / "file")
    finally:
        os.umask(before)
    assert mode(tmp_path / "file") == 0o666 & ~umask


@posix
def test_no_one_else_may_read_a_private_file_while_it_is_written(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path) as file:
        file.write(b"new")
        assert {mode(one) for one in tmp_path.iterdir()} == {0o600}


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away")
def test_the_owner_and_the_group_stay(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space"), KeyboardInterrupt(), SystemExit(143)])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(type(failure)) as caught, replacing(path) as file:  # noqa: PT012
        file.write(b"new")
        raise failure
    if isinstance(failure, OSError):
        assert caught.value.filename == str(path)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("file", b"old")]


@pytest.mark.parametrize("write", [check_writable, lambda path: write_text(path, "new")])
def test_places_where_no_file_can_be_written(tmp_path, write):
    (tmp_path / "file").write_bytes(b"old")
    for place, why in (
        (tmp_path, "this is a directory"),
        (tmp_path / "absent" / "file", "there is no directory"),
        (tmp_path / "file" / "below", "there is no directory"),
    ):
        with pytest.raises(OSError, match=why) as caught:
            write(place)
        assert caught.value.filename == os.fspath(place)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_an_error_names_the_file_and_not_the_temporary_one(tmp_path, monkeypatch):
    def full(temporary, target):
        raise OSError(errno.ENOSPC, "No space", temporary, None, target)

    monkeypatch.setattr(atomic.os, "replace", full)
    with pytest.raises(OSError, match="No space") as caught:
        write_text(tmp_path / "file", "new")
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "file"), None)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/fd/0"), reason="needs /dev/fd")
def test_paths_of_open_files(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "1").touch()
    (tmp_path / "log").symlink_to("stream")
    (tmp_path / "stream").symlink_to("/dev/stdout")
    (tmp_path / "round").symlink_to("round")
    streams = {"/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/7": 7, "/dev//fd/7": 7, str(tmp_path / "log"): 1}
    for path, number in streams.items():
        assert descriptor_of(path) == number
    for path in ("file", "1", "absent", "round", "absent/1"):
        assert descriptor_of(tmp_path / path) is None
    assert descriptor_of("/dev/null") is None


@pytest.mark.skipif(not os.path.exists("/dev/fd/0"), reason="needs /dev/fd")
@pytest.mark.parametrize("kind", WRITERS)
def test_an_open_file_is_never_replaced(tmp_path, kind):
    log = tmp_path / "log"
    log.write_bytes(b"first\n")
    with open(log, "ab") as file:
        path = f"/dev/fd/{file.fileno()}"
        if kind in ("output", "corpus"):
            WRITERS[kind](path)
            assert len(log.read_bytes()) > len(b"first\n")
        else:
            with pytest.raises(
                (OSError, corate.CorateError), match="this is a stream, which is not replaced"
            ) as caught:
                WRITERS[kind](path)
            assert path in str(caught.value)
    assert log.read_bytes().startswith(b"first\n")
    assert [one.name for one in tmp_path.iterdir()] == ["log"]
