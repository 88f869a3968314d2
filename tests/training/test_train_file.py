"""Training from a file within a memory limit gives the model of training in memory, and leaves no files behind."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate import stored_corpus
from corate.corpus import Corpus
from corate.counting import stored_counts
from corate.errors import ConfigError, DataError
from corate.io import chunks
from corate.io.runs import Runs
from corate.model import container
from corate.training import files
from corate.training.files import must_be_stored, train_file
from corate.training.options import METHODS
from small_corpora import corpus_of, random_sentences

WORDS = tuple(
    f"{stem}{end}" for stem in ("walk", "Talk", "sing", "x-", "4", "Zé") for end in ("", "s", "ing", "ed", "2")
)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "train.tsv"
    corate.write(corpus_of(random_sentences(400, words=WORDS)), path)
    return path


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some tokens, so that small text is stored and merged in many of them."""
    monkeypatch.setattr(chunks, "BLOCK_BYTES", 500)
    monkeypatch.setattr(files, "STORED_EMPIRICAL", (0, 0))
    sizes = stored_counts.Sizes(tokens=70, entries=50, rows=40)
    monkeypatch.setattr(stored_counts.Sizes, "within", classmethod(lambda cls, memory, threads: sizes))


def tensors_of(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    tensors, header = container.read(path)
    return {name: (str(a.dtype), a.tobytes()) for name, a in tensors.items()}, header


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.parametrize(
    "options",
    [{}, {"ladder": "default"}, {"ladder": "paper"}, {"rare": 3}, {"threads": 2}, {"seed": 3}, {"half": True}],
)
def test_empirical_models_are_the_same_bytes(text: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    saving = {"half": options.get("half", False)}
    training = {name: value for name, value in options.items() if name != "half"}
    corate.train(corate.read(text), "empirical", **training).save(tmp_path / "memory.corate", **saving)
    record = train_file(text, tmp_path / "disk.corate", "empirical", memory="1M", **options)
    assert tensors_of(tmp_path / "disk.corate") == tensors_of(tmp_path / "memory.corate")
    assert record["tokens"] == corate.load(tmp_path / "disk.corate").record["tokens"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk.corate", "memory.corate", "train.tsv"]


@pytest.mark.usefixtures("tiny_pieces")
def test_a_model_from_disk_is_updated_and_constrained(tmp_path: Path) -> None:
    spans = [[("Ann", "B-PER"), ("Lee", "I-PER"), ("sings", "O")], [("Bob", "B-PER"), ("sings", "O")]] * 30
    corate.write(corpus_of(spans), tmp_path / "train.tsv")
    train_file(tmp_path / "train.tsv", tmp_path / "disk.corate", "empirical", memory="1M", constrain="auto")
    tagger = corate.load(tmp_path / "disk.corate")
    assert tagger.record["constrain"] == "IOB2"
    assert tagger.tag(["Ann", "Lee", "sings"]) == ["B-PER", "I-PER", "O"]
    assert tagger.update(corpus_of(spans[:2])).record["sentences"] == 62


@pytest.mark.usefixtures("tiny_pieces")
def test_without_counts(text: Path, tmp_path: Path) -> None:
    train_file(text, tmp_path / "disk.corate", "empirical", memory="1M", counts=False)
    assert corate.load(tmp_path / "disk.corate").counts is None


def test_text_that_fits_is_trained_in_memory(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_corpus, "temporary_folder", None)  # calling it fails
    train_file(text, tmp_path / "model.corate", "empirical", memory="1G")
    assert corate.load(tmp_path / "model.corate").method == "empirical"


@pytest.mark.parametrize(
    ("method", "more", "message"),
    [
        ("standard", {}, "the method 'standard' needs the text in memory"),
        ("empirical", {"features": "pos"}, "with features needs the text in memory"),
        ("empirical", {"held_out": Corpus.from_sentences([[("a", "X")]])}, "held-out text needs the text in memory"),
        ("polish", {"raw": ["raw.txt"]}, "raw= needs the text in memory"),
    ],
)
def test_what_needs_the_text_in_memory(text: Path, method: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"{message}.*give more memory .about") as caught:
        must_be_stored(str(text), METHODS[method](), "1M", **more)
    assert caught.value.option == "memory"


def test_without_a_limit_it_only_warns(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "free_memory", lambda: 1000)
    with pytest.warns(UserWarning, match="takes the memory that it needs"):
        assert not must_be_stored(str(text), METHODS["standard"](), None)
    assert must_be_stored(str(text), METHODS["empirical"](), None)
    assert not must_be_stored("-", METHODS["empirical"](), None)


@pytest.mark.usefixtures("tiny_pieces")
def test_a_full_disk_leaves_nothing_behind(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Runs, *given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    old = tmp_path / "model.corate"
    old.write_bytes(b"old")
    monkeypatch.setattr(Runs, "append", fail)
    with pytest.raises(DataError, match=r"cannot write temporary files to .*No space left.*another folder"):
        train_file(text, old, "empirical", memory="1M")
    assert old.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.corate", "train.tsv"]
    with pytest.raises(DataError, match="no-such-folder"):
        train_file(text, old, "empirical", memory="1M", temporary=tmp_path / "no-such-folder")


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.parametrize("stage", ["reading", "counting", "tuning the default ladder", "building the model", "saving"])
def test_an_interruption_leaves_nothing_behind(text: Path, tmp_path: Path, stage: str) -> None:
    def interrupt(event: corate.ProgressEvent) -> None:
        if event.stage == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_file(text, tmp_path / "model.corate", "empirical", memory="1M", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]


@pytest.mark.usefixtures("tiny_pieces")
def test_words_that_do_not_fit_are_refused(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "STORED_EMPIRICAL", (0, 100_000))
    with pytest.raises(DataError, match=r"30 distinct words need about 3 MB, more than the limit of 1 MB"):
        train_file(text, tmp_path / "model.corate", "empirical", memory="1M")
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]


@pytest.mark.usefixtures("tiny_pieces")
def test_too_many_labels_are_refused(tmp_path: Path) -> None:
    words = [[(f"w{i}", f"l{i}")] for i in range(300)]
    corate.write(corpus_of(words), tmp_path / "train.tsv")
    with pytest.raises(DataError, match="is the label column right"):
        train_file(tmp_path / "train.tsv", tmp_path / "model.corate", "empirical", memory="1M")


def test_sizes_follow_the_limit() -> None:
    small, large = (stored_counts.Sizes.within(m, 2) for m in (10**7, 10**9))
    assert small.tokens < large.tokens
    assert small.entries < large.entries
    assert all(np.array([small.tokens, small.entries, small.rows]) >= 1000)
