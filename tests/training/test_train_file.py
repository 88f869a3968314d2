"""Training from a file within a memory limit gives the model of training in memory, and leaves no files behind."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus, stored_corpus
from corate.counting import stored_counts
from corate.errors import ConfigError, DataError
from corate.io import chunks, tensor_file
from corate.io.runs import Runs
from corate.optimize import pieces
from corate.training import disk
from corate.training.disk import limit_passed
from corate.training.methods import METHODS, Method
from corate.training.train import train_file
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
    monkeypatch.setattr(disk, "STORED_EMPIRICAL", (0, 0))
    monkeypatch.setattr(disk, "STORED_TEXT", (0, 1))
    sizes = stored_counts.Sizes(tokens=70, entries=50, rows=40)
    monkeypatch.setattr(stored_counts.Sizes, "within", classmethod(lambda cls, memory, threads: sizes))


def tensors_of(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    tensors, header = tensor_file.read(path)
    return {name: (str(a.dtype), a.tobytes()) for name, a in tensors.items()}, header


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"backoff": "default"},
        {"backoff": "paper"},
        {"expert": {"rare": 3}},
        {"threads": 2},
        {"seed": 3},
        {"half": True},
    ],
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


@pytest.fixture
def always_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small text is stored on disk and visited in pieces by methods with stochastic passes, too."""
    monkeypatch.setattr(disk, "OTHERS", (10**12, 0))
    monkeypatch.setattr(pieces, "LARGE_TOKENS", 500)
    monkeypatch.setattr(pieces, "PIECE_TOKENS", 400)


@pytest.mark.usefixtures("always_stored")
@pytest.mark.parametrize("method", ["polish", "separate"])
def test_other_models_are_the_same_bytes(text: Path, tmp_path: Path, method: str) -> None:
    corate.train(corate.read(text), method).save(tmp_path / "memory.corate")
    record = train_file(text, tmp_path / "disk.corate", method, memory="1G")
    assert tensors_of(tmp_path / "disk.corate")[0] == tensors_of(tmp_path / "memory.corate")[0]
    assert record["tokens"] == corate.load(tmp_path / "disk.corate").record["tokens"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk.corate", "memory.corate", "train.tsv"]


@pytest.mark.usefixtures("always_stored")
@pytest.mark.parametrize("method", ["polish", "separate"])
@pytest.mark.parametrize("stage", ["reading", "counting", "preparing sentences", "building the model", "saving"])
def test_an_interruption_of_other_methods_leaves_nothing_behind(
    text: Path, tmp_path: Path, method: str, stage: str
) -> None:
    def interrupt(event: corate.ProgressEvent) -> None:
        if event.stage == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_file(text, tmp_path / "model.corate", method, memory="1G", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]


@pytest.mark.usefixtures("always_stored")
@pytest.mark.parametrize("limit", [{"memory": "1G"}, {"memory": "1G", "base": "none"}, {}], ids=str)
def test_an_unfinished_model_replaces_no_file_unless_asked_for(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: dict[str, Any]
) -> None:
    if not limit:  # in memory
        monkeypatch.setattr(disk, "OTHERS", (0, 0))

    def trained(**options: Any) -> dict[str, Any]:
        pressed: list[corate.ProgressEvent] = []

        def interrupt(event: corate.ProgressEvent) -> None:
            if event.step == 1 and not pressed:
                pressed.append(event)
                raise KeyboardInterrupt

        return train_file(text, output, "polish", passes=3, progress=interrupt, **limit, **options)

    output = tmp_path / "model.corate"
    output.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt, match=r"model\.corate\.partial contains the model reached so far"):
        trained()
    assert output.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.corate", "model.corate.partial", "train.tsv"]
    with pytest.warns(UserWarning, match=r"training was interrupted; .*model\.corate contains the model reached"):
        record = trained(keep_partial=True)
    assert record["interrupted"] is True
    assert output.read_bytes() == (tmp_path / "model.corate.partial").read_bytes()
    assert corate.load(output).record["interrupted"] is True


def test_text_that_fits_is_trained_in_memory(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_corpus, "temporary_folder", None)  # calling it fails
    train_file(text, tmp_path / "model.corate", "empirical", memory="1G")
    assert corate.load(tmp_path / "model.corate").method == "empirical"


@pytest.mark.parametrize(
    ("method", "more", "message"),
    [
        ("standard", {}, "the optimizer 'lbfgs' needs the text in memory"),
        ("empirical", {"features": "pos"}, "with features needs the text in memory"),
        ("empirical", {"held_out": Corpus.from_sentences([[("a", "X")]])}, "held-out text needs the text in memory"),
        ("polish", {"raw": ["raw.txt"]}, "raw= needs the text in memory"),
        ("separate", {"init": "a model"}, "init= needs the text in memory"),
        (corate.Polish(base="separate"), {}, "the base 'separate' needs the text in memory"),
        (corate.Separate(optimizer="lbfgs"), {}, "the optimizer 'lbfgs' needs the text in memory"),
        (corate.Separate(coupling="joint"), {}, "the coupling 'joint' needs the text in memory"),
        (corate.Separate(label_weights={"N": 2.0}), {}, "label_weights= needs the text in memory"),
        (corate.Separate(sentence_weights=[1.0] * 400), {}, "sentence_weights= needs the text in memory"),
    ],
)
def test_what_needs_the_text_in_memory(text: Path, method: str | Method, more: dict[str, Any], message: str) -> None:
    chosen = METHODS[method]() if isinstance(method, str) else method
    with pytest.raises(ConfigError, match=f"{message}.*give more memory .about") as caught:
        limit_passed(str(text), chosen, "1M", **more)
    assert caught.value.option == "memory"


@pytest.mark.parametrize(
    ("method", "more", "able"),
    [
        (corate.Standard(), {}, True),
        (corate.Piecewise(), {}, True),
        (corate.MEMM(), {}, True),
        (corate.Separate(optimizer="lbfgs"), {}, True),
        (corate.Standard(c1=0.1), {}, False),
        (corate.Separate(optimizer="lbfgs", coupling="joint"), {}, False),
        (corate.Standard(), {"init": "a model"}, False),
        (corate.Polish(base="separate"), {}, False),
    ],
)
def test_the_error_recommends_adagrad_if_it_works(
    text: Path, method: corate.Method, more: dict[str, Any], able: bool
) -> None:
    with pytest.raises(ConfigError, match="or use polish or empirical alone") as caught:
        limit_passed(str(text), method, "1M", **more)
    assert ("use optimizer='adagrad'" in str(caught.value)) == able
    if able:
        assert limit_passed(str(text), replace(method, optimizer="adagrad"), "1M", **more)  # type: ignore[call-arg]


def test_without_a_limit_it_only_warns(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "free_memory", lambda: 1000)
    with pytest.warns(UserWarning, match="takes the memory that it needs"):
        assert not limit_passed(str(text), METHODS["standard"](), None)
    assert limit_passed(str(text), METHODS["empirical"](), None)
    assert limit_passed(str(text), METHODS["separate"](), None)
    assert not limit_passed("-", METHODS["empirical"](), None)


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
@pytest.mark.parametrize(
    "stage", ["reading", "counting", "tuning the default back-off", "building the model", "saving"]
)
def test_an_interruption_leaves_nothing_behind(text: Path, tmp_path: Path, stage: str) -> None:
    def interrupt(event: corate.ProgressEvent) -> None:
        if event.stage == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_file(text, tmp_path / "model.corate", "empirical", memory="1M", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]


@pytest.mark.usefixtures("tiny_pieces")
def test_words_that_do_not_fit_are_refused(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "STORED_EMPIRICAL", (0, 100_000))
    with pytest.raises(DataError, match=r"counting 30 distinct words needs about 3 MB, more than the limit of 1 MB"):
        train_file(text, tmp_path / "model.corate", "empirical", memory="1M")
    monkeypatch.setattr(disk, "STORED_TEXT", (0, 50_000))
    with pytest.raises(DataError, match=r"after \d+ tokens, the text has more than 20 distinct strings"):
        train_file(text, tmp_path / "model.corate", "empirical", memory="1M")
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]


def test_a_limit_below_any_need_is_refused(text: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"50 MB is too small for any text; give more than 100 MB"):
        train_file(text, tmp_path / "model.corate", "empirical", memory="50M")
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]


def counts_of(path: Path) -> dict[str, dict[int, int]]:
    """The label counts of each word and pair that a model has counted, by name."""
    counts = corate.load(path).counts
    assert counts is not None
    names, table = counts.vocabulary.names(range(len(counts.table))), counts.table
    rows = [table.between(i, i + 1) for i in range(len(table))]
    return {
        name: dict(zip(row.labels.tolist(), row.counts.tolist(), strict=True))
        for name, row in zip(names, rows, strict=True)
        if len(row.labels)
    }


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.parametrize("backoff", ["default", "paper"])
def test_rare_words_are_left_out_if_not_all_fit(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backoff: str
) -> None:
    monkeypatch.setattr(disk, "STORED_EMPIRICAL", (0, 50_000))
    monkeypatch.setattr(disk, "FEWEST_WORDS", 5)
    corate.train(corate.read(text), "empirical", backoff=backoff).save(tmp_path / "all.corate")
    with pytest.warns(UserWarning, match=r"20 of 30 distinct words fit in 1 MB.*about 2 MB of memory would keep"):
        record = train_file(text, tmp_path / "some.corate", "empirical", backoff=backoff, memory="1M")
    assert record["words_left_out"] == corate.load(tmp_path / "some.corate").record["words_left_out"] == 10
    assert record["held_out"]["tokens"] > 0
    everything, some = counts_of(tmp_path / "all.corate"), counts_of(tmp_path / "some.corate")
    words = {name for name in everything if name.count("|") == 0}
    kept = {name for name in some if name.count("|") == 0}
    tokens = {name: sum(everything[name].values()) for name in words}
    assert len(kept) == 20
    assert kept >= set(sorted(words, key=lambda name: -tokens[name])[:15])
    unknown = {name.removeprefix("word[0]=") for name in words - kept}
    assert some == {
        name: counted for name, counted in everything.items() if not unknown & set(name.partition("=")[2].split("|"))
    }


@pytest.mark.usefixtures("tiny_pieces")
def test_words_left_out_do_not_depend_on_threads_or_pieces(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "STORED_EMPIRICAL", (0, 50_000))
    monkeypatch.setattr(disk, "FEWEST_WORDS", 5)
    found = []
    for threads, tokens in ((1, 70), (2, 70), (2, 1000)):
        sizes = stored_counts.Sizes(tokens=tokens, entries=tokens, rows=tokens)
        monkeypatch.setattr(stored_counts.Sizes, "within", classmethod(lambda cls, memory, threads, sizes=sizes: sizes))
        with pytest.warns(UserWarning, match="distinct words fit"):
            train_file(text, tmp_path / "some.corate", "empirical", memory="1M", threads=threads)
        found.append(tensors_of(tmp_path / "some.corate"))
    assert found[0] == found[1] == found[2]


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
