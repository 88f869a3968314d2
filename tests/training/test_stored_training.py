"""Training from disk: the same model as in memory, errors that say what to do, and no files left behind."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.corpus.stored_corpus import StoredCorpus
from corate.counting import stored_tokens
from corate.counting.stored_tokens import StoredTokens
from corate.errors import ConfigError, DataError, FeatureError, ModelError
from corate.io import tensor_file
from corate.model.tagger import Tagger
from corate.optimize import pieces
from corate.progress import ProgressEvent
from corate.training import choices, disk, separate
from corate.training.items import StoredItems, StoredNodes
from corate.training.methods import MEMM, ChainMethod, Empirical, Perceptron, Piecewise, Polish, Separate, Standard
from corate.training.source import RunContext
from corate.training.train import train_stored

AnyMethod = ChainMethod | Separate
ENOUGH = 10**10
TEMPLATES = ["word[0]", "suffix(word[0], 2)", "word[-1]|word[0]"]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of some thousand tokens is large, and has several pieces."""
    monkeypatch.setattr(pieces, "LARGE_TOKENS", 1000)
    monkeypatch.setattr(pieces, "PIECE_TOKENS", 900)
    monkeypatch.setattr(pieces, "RUN_SENTENCES", 8)
    monkeypatch.setattr(stored_tokens, "PIECE_TOKENS", 700)


def random_corpus(names: list[str], sentences: int = 500, seed: int = 0) -> Corpus:
    """Sentences of 0 to 13 words, whose label depends on the word and on the label before."""
    random, k = np.random.default_rng(seed), len(names)
    words = [f"w{i}" for i in range(150)] + [f"Wa{i}ing" for i in range(60)]
    found = []
    for _ in range(sentences):
        before, sentence = 0, []
        for w in random.integers(0, len(words), random.integers(0, 14)).tolist():
            before = (w * 7 + before * (w % 3) + int(random.random() < 0.1)) % k
            sentence.append((words[w], names[before]))
        found.append(sentence)
    return Corpus.from_sentences(found)


FEW = random_corpus([f"L{i}" for i in range(5)])
MANY = random_corpus([f"L{i}" for i in range(40)])
PARTS = random_corpus([f"{a}|{b}|{c}" for a in "NVA" for b in "sp" for c in "12345"])
SPANS = random_corpus(["O", "B-X", "I-X", "B-Y", "I-Y"])
PARTLY = Corpus.from_sentences(
    [
        [(w, None if y == "L1" else y) for (w,), y in zip(FEW.rows(s), FEW.labels_of(s), strict=True)]
        for s in range(500)
    ],
    columns=["word", "label"],
)


def from_disk(
    corpus: Corpus,
    method: AnyMethod,
    folder: Path,
    limit: int = ENOUGH,
    context: RunContext | None = None,
    **options: Any,
) -> Tagger:
    """Train from disk, and check that no files are left."""
    own = folder / "corpus"
    own.mkdir()
    work = folder / "work"
    work.mkdir()
    with StoredCorpus.write([corpus[:200], corpus[200:]], own) as stored:
        try:
            return train_stored(stored, method, work, limit, context or RunContext(), **options).tagger
        finally:
            shutil.rmtree(work)
            assert [*folder.iterdir()] == [own]


def assert_same(a: Tagger, b: Tagger, folder: Path) -> None:
    """The tensors are the same bytes, and the records are equal."""
    found = []
    for tagger in (a, b):
        path = folder / "model"
        tagger.save(path)
        found.append(tensor_file.read(path)[0])
        path.unlink()
    assert found[0].keys() == found[1].keys()
    for name, tensor in found[0].items():
        assert (tensor.dtype, tensor.shape) == (found[1][name].dtype, found[1][name].shape), name
        assert tensor.tobytes() == found[1][name].tobytes(), name
    assert {**a.record, "seconds": 0} == {**b.record, "seconds": 0}


@pytest.mark.parametrize(
    ("corpus", "method"),
    [
        pytest.param(FEW, Polish(), id="full lattice, pooled"),
        pytest.param(MANY, Polish(), id="pruned lattice"),
        pytest.param(MANY, Polish(lattice="full", order=1), id="full lattice, many labels"),
        pytest.param(MANY, Polish(cutoff=3), id="cutoff"),
        pytest.param(FEW, Polish(base="default"), id="default base"),
        pytest.param(MANY, Polish(base="paper"), id="paper base"),
        pytest.param(MANY, Polish(base="none"), id="no base"),
        pytest.param(MANY, Polish(base="pooled", order=2), id="pooled base, order 2"),
        pytest.param(PARTS, Polish(parts=True, cutoff=2), id="parts"),
        pytest.param(FEW, Polish(unknown="L1"), id="unknown labels"),
        pytest.param(PARTLY, Polish(), id="labels that are None"),
        pytest.param(PARTLY, Standard(optimizer="adagrad", passes=2, unknown="L2"), id="both kinds of unknown labels"),
        pytest.param(MANY, Polish(tune=True, passes=1), id="tuned"),
        pytest.param(FEW, Polish(batch=0, rate=60.0), id="divergent"),
        pytest.param(FEW, Perceptron(passes=3), id="perceptron"),
        pytest.param(MANY, Standard(optimizer="adagrad", passes=2, lattice="pruned", order=2), id="standard"),
        pytest.param(FEW, Piecewise(optimizer="adagrad", passes=2), id="piecewise"),
        pytest.param(FEW, MEMM(optimizer="adagrad", passes=2), id="MEMM"),
        pytest.param(FEW, Separate(), id="separate"),
        pytest.param(MANY, Separate(), id="separate, pruned candidates"),
        pytest.param(MANY, Separate(cutoff=3), id="separate, cutoff"),
        pytest.param(FEW, Separate(base="pooled"), id="separate, pooled base"),
        pytest.param(MANY, Separate(base="pooled", cutoff=2), id="separate, pooled base, cutoff"),
        pytest.param(MANY, Separate(base="paper"), id="separate, paper base"),
        pytest.param(MANY, Separate(base="none"), id="separate, no base"),
        pytest.param(MANY, Separate(all_labels=True), id="separate, all labels"),
        pytest.param(MANY, Separate(tune=True, passes=1), id="separate, tuned"),
    ],
)
@pytest.mark.filterwarnings("ignore:the loss rose")
def test_same_model_as_in_memory(corpus: Corpus, method: AnyMethod, tmp_path: Path) -> None:
    stored = from_disk(corpus, method, tmp_path, context=RunContext(1, 3))
    assert_same(corate.train(corpus, method, seed=3), stored, tmp_path)


@pytest.mark.parametrize(
    ("corpus", "options"),
    [
        pytest.param(MANY, {"features": [*TEMPLATES, "edge: word[0]"]}, id="edge templates"),
        pytest.param(FEW, {"features": [*TEMPLATES, "related_start(word[0])"]}, id="learned lexicon"),
        pytest.param(FEW, {"held_out": random_corpus(["L0", "L1", "L7"], 60, 1)}, id="held-out sentences"),
        pytest.param(SPANS, {"constrain": "auto"}, id="constrained"),
    ],
)
@pytest.mark.parametrize("method", [Polish(), Separate()], ids=["polish", "separate"])
def test_same_model_as_in_memory_with(
    corpus: Corpus, options: dict[str, Any], method: AnyMethod, tmp_path: Path
) -> None:
    stored = from_disk(corpus, method, tmp_path, **options)
    assert_same(corate.train(corpus, method, **options), stored, tmp_path)


def test_independent_passes_are_the_same_from_disk_with_threads_and_after_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choices, "MANY_TOKENS", 1000)
    whole = corate.train(FEW, Polish())
    assert whole.record["independent_passes"]
    settings = whole.record["settings"]
    same = {"passes": settings["passes"], "rate": settings["rate"], "base_weight": settings["temper"]}
    continued = corate.train(FEW, Polish(**same))  # if their number is given, passes go on from one another
    assert "independent_passes" not in continued.record
    assert not np.array_equal(continued.model.weights.scores, whole.model.weights.scores)
    folder = tmp_path / "disk"
    folder.mkdir()
    assert_same(whole, from_disk(FEW, Polish(), folder), tmp_path)
    assert_same(whole, corate.train(FEW, Polish(), threads=2), tmp_path)
    file = tmp_path / "checkpoint"

    def stop(event: ProgressEvent) -> None:
        if event.step == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        corate.train(FEW, Polish(checkpoint=file), progress=stop)
    assert_same(whole, corate.train(FEW, Polish(checkpoint=file)), tmp_path)


def test_pairs_are_fitted_on_a_sample_of_a_large_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separate, "PAIR_TOKENS", 1500)
    monkeypatch.setattr(separate, "TUNING_TOKENS", 800)
    assert_same(corate.train(MANY, "separate"), from_disk(MANY, Separate(), tmp_path), tmp_path)


def test_a_half_without_sentences(tmp_path: Path) -> None:
    """One sentence belongs to one half; the other half is then replaced by the whole."""
    tokens = [(word, label) for s in range(200) for word, label in zip(FEW.tokens(s), FEW.labels_of(s), strict=True)]
    corpus = Corpus.from_sentences([tokens])
    assert corpus.n_tokens > pieces.LARGE_TOKENS
    assert_same(corate.train(corpus, "separate"), from_disk(corpus, Separate(), tmp_path), tmp_path)


@pytest.mark.parametrize("corpus", [FEW, MANY], ids=["full lattice", "pruned lattice"])
@pytest.mark.parametrize("method", [Polish(), Separate()], ids=["polish", "separate"])
def test_threads_and_limits_do_not_change_the_model(
    corpus: Corpus, method: AnyMethod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = from_disk(corpus, method, tmp_path, context=RunContext(2))
    monkeypatch.setattr(stored_tokens, "PIECE_TOKENS", 10_000)
    assert_same(once, from_disk(corpus, method, tmp_path, limit=2 * ENOUGH), tmp_path)
    assert_same(once, corate.train(corpus, method, threads=2), tmp_path)


@pytest.mark.parametrize("method", [Polish(), Separate()], ids=["polish", "separate"])
def test_small_corpora_are_trained_in_memory_in_the_usual_order(
    method: AnyMethod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_pieces = corate.train(FEW, method)
    monkeypatch.setattr(pieces, "LARGE_TOKENS", FEW.n_tokens)
    usual = corate.train(FEW, method)
    assert usual.model.weights.scores.tobytes() != in_pieces.model.weights.scores.tobytes()
    assert_same(usual, from_disk(FEW, method, tmp_path), tmp_path)
    with pytest.raises(DataError, match=r"tokens need .* bytes .*, more than the limit of 1,000,000; give more memory"):
        from_disk(FEW, method, tmp_path, limit=1_000_000)


# -- stopping and resuming -------------------------------------------------------------------------------------------


def interrupt_at(stage: str, fraction: float = 0.0) -> RunContext:
    """Press Ctrl-C once, when this fraction of a stage is done."""
    pressed = False

    def progress(event: ProgressEvent) -> None:
        nonlocal pressed
        if event.stage == stage and (event.fraction or 0.0) >= fraction and not pressed:
            pressed = True
            raise KeyboardInterrupt

    return RunContext(progress=progress)


@pytest.mark.parametrize("method", [Polish(), Separate(cutoff=2)], ids=["polish", "separate"])
def test_a_checkpoint_is_resumed(method: AnyMethod, tmp_path: Path) -> None:
    file, folder = tmp_path / "checkpoint", tmp_path / "work"
    folder.mkdir()
    more = replace(method, passes=3)
    from_disk(MANY, replace(method, passes=1, checkpoint=file), folder)
    resumed = from_disk(MANY, replace(more, checkpoint=file), folder)
    assert_same(corate.train(MANY, more), resumed, folder)
    with pytest.raises(ModelError, match="the checkpoint is of other data or settings"):
        from_disk(MANY[:-1], replace(more, checkpoint=file), folder)


def test_a_checkpoint_of_separate_training_is_resumed_after_an_interrupt(tmp_path: Path) -> None:
    file, folder = tmp_path / "checkpoint", tmp_path / "work"
    folder.mkdir()
    stopping = interrupt_at("fitting the nodes", 0.5)
    stopped = from_disk(MANY, Separate(checkpoint=file), folder, context=stopping)
    assert stopped.record["interrupted"]
    assert_same(corate.train(MANY, "separate"), from_disk(MANY, Separate(checkpoint=file), folder), folder)


@pytest.mark.parametrize(
    ("method", "stage", "fraction"),
    [
        (Polish(passes=2, cutoff=2), "polish", 0.7),
        (Separate(passes=2, cutoff=2), "fitting the nodes", 0.7),
        (Separate(), "fitting half 1 of 2", 0.3),
        (Separate(cutoff=2), "fitting half 2 of 2", 0.6),
        (Separate(), "fitting the pairs", 0.0),
        (Separate(), "tuning the coupling", 0.0),
    ],
)
def test_an_interrupt_after_the_first_pass_keeps_its_model(
    method: AnyMethod, stage: str, fraction: float, tmp_path: Path
) -> None:
    stopped = from_disk(MANY, method, tmp_path, context=interrupt_at(stage, fraction))
    assert stopped.record["interrupted"]
    with pytest.warns(UserWarning, match="training was interrupted"):
        in_memory = corate.train(MANY, method, progress=interrupt_at(stage, fraction).progress)
    assert_same(in_memory, stopped, tmp_path)


@pytest.mark.parametrize(
    ("method", "stage"),
    [
        (Polish(), "counting"),
        (Polish(), "preparing sentences"),
        (Polish(), "polish"),
        (Separate(), "counting"),
        (Separate(), "preparing sentences"),
        (Separate(), "fitting the nodes"),
        (Separate(), "building the model"),
        (Separate(tune=True), "tuning"),
    ],
)
def test_an_interrupt_before_that_leaves_no_files(method: AnyMethod, stage: str, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        from_disk(FEW, method, tmp_path, context=interrupt_at(stage, 0.1 if stage != "building the model" else 0.0))


@pytest.mark.parametrize(
    ("method", "stages"),
    [(Polish(passes=2), ["polish"]), (Separate(), ["fitting half 1 of 2", "fitting half 2 of 2", "fitting the nodes"])],
    ids=["polish", "separate"],
)
def test_progress_has_the_fraction_done(method: AnyMethod, stages: list[str], tmp_path: Path) -> None:
    events: list[ProgressEvent] = []
    from_disk(FEW, method, tmp_path, context=RunContext(progress=events.append))
    for stage in ("counting", "preparing sentences", *stages):
        done = [event.fraction for event in events if event.stage == stage and event.fraction is not None]
        assert len(done) > 3
        assert done == sorted(done)
        assert done[-1] == 1.0 or stage == "preparing sentences"


# -- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("owner", "method"),
    [(StoredTokens, Polish()), (StoredItems, Polish()), (StoredTokens, Separate()), (StoredNodes, Separate())],
    ids=["tokens", "items", "separate, tokens", "separate, nodes"],
)
def test_a_full_disk_is_an_error_that_names_the_folder(
    owner: type, method: AnyMethod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(owner, "add", full)
    with pytest.raises(DataError, match=r"cannot write temporary files to .*No space left on device") as caught:
        from_disk(FEW, method, tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("method", [Polish(order=1, base="none"), Separate(base="none")], ids=["polish", "separate"])
def test_weights_that_do_not_fit_are_refused_with_a_cutoff_that_fits(
    method: AnyMethod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "PROGRAM_BYTES", 0)
    monkeypatch.setattr(disk, "WEIGHT_BYTES", 10**6)
    monkeypatch.setattr(disk, "NODE_WEIGHT_BYTES", 10**6)
    limit = 3 * 10**9
    features = {"features": TEMPLATES}
    pattern = (
        r"need ([\d,]+) bytes .* more than the limit of 3,000,000,000; give more memory, or a cutoff of at least (\d+)"
    )
    with pytest.raises(DataError, match=pattern) as caught:
        from_disk(MANY, method, tmp_path, limit, **features)
    cutoff = int(str(caught.value).rsplit(maxsplit=1)[1])
    assert cutoff > 2
    from_disk(MANY, replace(method, cutoff=cutoff), tmp_path, limit, **features)
    with pytest.raises(DataError, match=f"a cutoff of at least {cutoff}"):
        from_disk(MANY, replace(method, cutoff=cutoff - 1), tmp_path, limit, **features)


def test_weights_that_fit_with_no_cutoff_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "PROGRAM_BYTES", 0)
    monkeypatch.setattr(disk, "PAIR_BYTES", 10**6)
    with pytest.raises(DataError, match="give more memory, or fewer templates as features"):
        from_disk(MANY, Polish(), tmp_path, 10**9)


def test_a_corpus_with_too_many_tokens_to_count_is_refused(tmp_path: Path) -> None:
    limit = disk.PROGRAM_BYTES + disk.COUNTED_TOKEN_BYTES * FEW.n_tokens
    with pytest.raises(DataError, match=r"counting [\d,]+ tokens needs .*; give more memory"):
        from_disk(FEW, Polish(), tmp_path, limit - 1)


def test_a_vocabulary_that_outgrows_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "PROGRAM_BYTES", 0)
    monkeypatch.setattr(disk, "COUNTED_TOKEN_BYTES", 0)
    with pytest.raises(DataError, match=r"after [\d,]+ of [\d,]+ tokens, the vocabulary needs .* give more memory"):
        from_disk(MANY, Polish(), tmp_path, 50_000)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (Standard(), "use the optimizer 'adagrad'"),
        (Polish(base="separate"), "'separate' is only for training in memory"),
        (Polish(label_weights={"L0": 2.0}), "label_weights is only for training in memory"),
        (Polish(sentence_weights=[1.0] * 500), "sentence_weights is only for training in memory"),
        (Separate(optimizer="lbfgs"), "use the optimizer 'adagrad'"),
        (Separate(coupling="joint"), "the coupling 'joint' is only for training in memory"),
        (Separate(label_weights={"L0": 2.0}), "label_weights is only for training in memory"),
    ],
)
def test_options_for_training_in_memory_are_refused(method: AnyMethod, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        from_disk(FEW, method, tmp_path)


def test_a_feature_function_is_refused(tmp_path: Path) -> None:
    function: Callable[..., list[str]] = lambda sentence, i: [sentence[i]]  # noqa: E731
    with pytest.raises(FeatureError, match="a feature function is only for training in memory"):
        from_disk(FEW, Polish(), tmp_path, features=function)


def test_no_tokens_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there are no tokens to train on"):
        from_disk(FEW[:0], Polish(), tmp_path)


@pytest.mark.parametrize("method", [Separate(), Perceptron(), Empirical()], ids=lambda method: method.name)
def test_an_unknown_label_on_disk_is_refused_with_its_place(method: Any, tmp_path: Path) -> None:
    labels = [PARTLY.labels_of(s) for s in range(500)]
    sentence = next(s for s, own in enumerate(labels) if None in own)
    with pytest.raises(DataError, match=f"label of token {labels[sentence].index(None)} is unknown") as error:
        from_disk(PARTLY, method, tmp_path)
    assert error.value.sentence == sentence


def test_an_empty_label_on_disk_is_refused_with_its_place(tmp_path: Path) -> None:
    corpus = Corpus.joined([FEW, Corpus.from_sentences([[("a", "L1"), ("b", "")]])])
    with pytest.raises(DataError, match="label of token 1 is empty") as error:
        from_disk(corpus, Polish(), tmp_path)
    assert error.value.sentence == 500
