"""Training from a file to a model file within a memory limit.

Text that fits is read into memory and trained on as by :func:`corate.train`. Larger text is read in pieces and stored
on disk as ids. The model is the same.
"""

from __future__ import annotations

import os
import shutil
import time
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corate import formats
from corate.arguments import check_seed, check_threads
from corate.corpus import Corpus
from corate.display import counted
from corate.errors import Argument, ConfigError, CorateWarning, DataError, InterruptedWarning
from corate.features import FeatureSource
from corate.io.atomic import partial_of
from corate.io.compression import compression_of
from corate.memory import free_memory, parse_memory, shown_memory
from corate.optimize.pieces import cut_into_pieces
from corate.progress import OnProgress, ProgressEvent
from corate.training.api import Trained, reporter, train_on, train_until_interrupted
from corate.training.checks import refuse_too_many_labels
from corate.training.defaults import choose_scheme
from corate.training.memory import check_corpus_fits, check_counting_fits
from corate.training.options import Method
from corate.training.resolve import resolve_method
from corate.training.start import RunContext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corate.corpus.stored_corpus import StoredCorpus
    from corate.model.tagger import Tagger

__all__ = ["beside", "count_stored", "must_be_stored", "save_trained", "train_file", "train_stored"]

#: The memory that training in memory takes, by itself and for each byte of text in columns, measured on text of
#: benchmarks/growth.py and on conll2000: empirical, and other methods.
EMPIRICAL, OTHERS = (80_000_000, 14), (200_000_000, 46)
#: The memory that storing text on disk takes, by itself and for each distinct string.
STORED_TEXT = (100_000_000, 100)
#: The memory that counting on disk takes, by itself and for each distinct word; up to a tenth more is accepted.
STORED_EMPIRICAL = (100_000_000, 420)
#: With fewer words, a model would be of little use.
FEWEST_WORDS = 10_000


def train_file(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    method: str | Method = "polish",
    *,
    memory: int | str | None = None,
    temporary: str | os.PathLike[str] | None = None,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    constrain: str | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: OnProgress | None = None,
    counts: bool = True,
    half: bool = False,
    keep_partial: bool = False,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Train on a file, which may be larger than memory, and write the model file.

    If training would need more memory than the limit, the text is read in pieces and stored in temporary files. The
    model is the same.

    Args:
        source: the path of a file with labelled text; ``"-"`` is standard input.
        output: the path of the model file to write.
        method: as for :func:`corate.train`. These can train on text larger than memory: ``"polish"``, except with the
            base separate; ``"empirical"`` without ``features`` and ``held_out``; ``"separate"`` with the default
            coupling; ``"perceptron"``; and the other methods with the optimizer adagrad.
        memory: the most memory to use: a number of bytes, or a string with a unit, such as ``"2G"``. By default, half
            of the free memory. The weights must fit into it, except for ``"empirical"``.
        temporary: the folder for temporary files. By default, the folder of ``output``.
        features, held_out, constrain, threads, seed, progress: as for :func:`corate.train`.
        counts, half: as for :meth:`corate.Tagger.save`.
        keep_partial: if Ctrl-C ends training after the first pass or iteration, write the model reached so far to
            ``output``. By default, it is written to a file beside it, with ``.partial`` after its name, ``output`` is
            not changed, and KeyboardInterrupt is raised.
        reading: arguments for :func:`corate.read`, such as ``{"columns": "word,label"}``.
        **options: options of a method that is given by name, as for :func:`corate.train`.

    Returns:
        The record of the model, a dict like ``Tagger.record``. If ``interrupted`` is true, as is possible with
        ``keep_partial``, there is also a UserWarning.

    Raises ConfigError if the text does not fit into ``memory`` and the method or an argument needs the text in memory.
    If ``memory`` is None, there is a warning instead, and training takes the memory that it needs.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = Path(folder, "train.tsv")
    ...     size = text.write_text("the\\tDET\\ndog\\tNOUN\\n\\n" * 20)
    ...     record = train_file(text, Path(folder, "model.corate"), "empirical", memory="200M")
    >>> record["tokens"]
    40
    """
    started = time.perf_counter()
    chosen = resolve_method(method, options)
    context = RunContext(check_threads(threads), check_seed(seed), reporter(progress))
    path = os.fspath(source)
    limit = _limit(memory)
    given: dict[str, Any]
    if not must_be_stored(path, chosen, memory, features=features, held_out=held_out):
        corpus = formats.read(path, **dict(reading or {}))
        given = {"features": features, "held_out": held_out, "constrain": constrain}
        tagger = train_until_interrupted(corpus, chosen, **given, **vars(context))
        save_trained(tagger, output, keep_partial=keep_partial, counts=counts, half=half)
        return _warned(tagger.record, output)
    from corate.corpus.stored_corpus import StoredCorpus
    from corate.io.ahead import one_ahead

    assert limit is not None
    with _work_folder(temporary, output) as folder:

        def reported(done: float | None) -> None:
            context.progress(ProgressEvent("reading", done or 0.0))

        pieces = formats.read_pieces(path, progress=reported, **dict(reading or {}))
        if context.threads > 1:
            pieces = one_ahead(pieces)
        with StoredCorpus.write(pieces, _subfolder(folder, "corpus"), _most_strings(limit)) as stored:
            given = {"features": features, "held_out": held_out, "constrain": constrain}
            train = count_stored if chosen.counts_only else train_stored
            with beside(stored.folder) as work:
                trained = train(stored, chosen, work, limit, context, **given)
                context.progress(ProgressEvent("saving"))
                save_trained(trained, output, keep_partial=keep_partial, counts=counts, half=half)
    record = trained.record
    record["seconds"] = round(time.perf_counter() - started, 4)
    return _warned(record, output)


def save_trained(tagger: Tagger | Trained, output: str | os.PathLike[str], *, keep_partial: bool, **how: Any) -> None:
    """Save a tagger. If its training was interrupted, save it beside ``output`` and raise KeyboardInterrupt.

    With ``keep_partial``, it is saved to ``output`` in any case. ``how`` are arguments of :meth:`corate.Tagger.save`.
    """
    if keep_partial or not tagger.record.get("interrupted"):
        tagger.save(output, **how)
        return
    partial = partial_of(output)
    tagger.save(partial, **how)
    raise KeyboardInterrupt(f"{partial} contains the model reached so far; {os.fspath(output)} was not written")


def _warned(record: dict[str, Any], output: str | os.PathLike[str]) -> dict[str, Any]:
    """The record of the model; a warning says that its training was interrupted."""
    if record.get("interrupted"):
        message = f"training was interrupted; {os.fspath(output)} contains the model reached so far"
        warnings.warn(InterruptedWarning(message), stacklevel=3)
    return record


def must_be_stored(
    path: str,
    method: Method,
    memory: int | str | None,
    *,
    features: FeatureSource = None,
    held_out: object = None,
    **others: object,
) -> bool:
    """Whether training on a file would take more memory than the limit, and so has to store the text on disk.

    Standard input and compressed files have no known size: they are stored if a limit is given. ``others`` are
    arguments that need the text in memory. If a limit is given, they raise ConfigError; without a limit, training takes
    the memory that it needs.
    """
    limit, size = _limit(memory), _size(path)
    if limit is None or (size is None and memory is None):
        return False
    program, each = EMPIRICAL if method.counts_only else OTHERS
    need = None if size is None else program + size * each
    if need is not None and need <= limit:
        return False
    problem = _unsupported(method, features, held_out, others)
    if problem is None:
        return True
    about = "" if need is None else f" (about {shown_memory(need)})"
    if memory is not None:
        other = _stochastic(method)
        able = other is not None and _unsupported(other, features, held_out, others) is None
        stochastic = f"use {Argument('optimizer', 'adagrad')}, " if able else ""
        advice = f"give more memory{about}, {stochastic}or use polish or empirical alone"
        raise ConfigError(problem, advice, option="memory")
    warning = CorateWarning(f"{problem}, so training takes the memory that it needs{about}")
    warnings.warn(warning, stacklevel=3)
    return False


def _stochastic(method: Method) -> Method | None:
    """The method with stochastic passes instead of L-BFGS; None if it already has them, or cannot have them."""
    if method.counts_only or method.in_passes:
        return None
    try:
        return method.changed(optimizer="adagrad")
    except ConfigError:  # with c1
        return None


def _unsupported(method: Method, features: FeatureSource, held_out: object, others: Mapping[str, object]) -> str | None:
    """Why text cannot be trained on from disk, None if it can."""
    named = next((name for name, value in others.items() if value), None)
    if named is not None:
        return f"{Argument(named)} needs the text in memory"
    refused = method.refused("disk", features=features, held_out=held_out)
    if refused is not None:
        return f"{refused.as_argument} needs the text in memory"
    return "a feature function needs the text in memory" if callable(features) else None


def _limit(memory: int | str | None) -> int | None:
    """The limit in bytes, None if there is none."""
    if memory is not None:
        return parse_memory(memory)
    free = free_memory()
    return None if free is None else free // 2


def _size(path: str) -> int | None:
    """The size of the text of a file, None if it is not known."""
    if path == "-" or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return None if compression_of(path, file.read(16)) is not None else os.stat(path).st_size


def train_stored(
    stored: StoredCorpus,
    method: Method,
    folder: Path,
    memory: int,
    context: RunContext,
    *,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    constrain: str | None = None,
) -> Trained:
    """Train a tagger on a corpus on disk, with stochastic passes. The model is that of :func:`corate.train`.

    Temporary files are in ``folder``. A small corpus is trained in memory. Raises DataError if the vocabulary and the
    weights need more than ``memory`` bytes.
    """
    from corate.training.disk import DiskSource

    given: dict[str, Any] = {"features": features, "held_out": held_out}
    if stored.n_tokens == 0:
        raise DataError("there are no tokens to train on")
    lengths = np.diff(stored.offsets)
    filled = np.flatnonzero(lengths)
    pieces = cut_into_pieces(filled, lengths[filled], context.seed)
    if pieces is None:
        check_corpus_fits(stored.n_tokens, memory)
        corpus = stored.sentences(0, len(stored))
        return Trained(train_until_interrupted(corpus, method, constrain=constrain, **given, **vars(context)))
    _check_options(method)
    check_counting_fits(stored.n_tokens, memory)
    source = DiskSource(stored, method.unknown, pieces, folder, memory)
    scheme = choose_scheme(constrain, source)
    refuse_too_many_labels(source, method.name, method.many_labels)
    return train_on(source, method, context, scheme=scheme, **given)


def count_stored(
    stored: StoredCorpus,
    method: Method,
    folder: Path,
    memory: int,
    context: RunContext,
    *,
    constrain: str | None = None,
    **given: Any,
) -> Trained:
    """Train a tagger on a corpus on disk by counting. Temporary files are in ``folder``.

    Rare words are left out if all words need more than ``memory`` bytes.
    """
    from corate.training.disk_backoff import BackoffSource

    words = len(stored.strings[stored.columns.index(stored.word)])
    source = BackoffSource(stored, folder, memory, _most_words(words, memory))
    refuse_too_many_labels(source, method.name, method.many_labels)
    scheme = choose_scheme(constrain, source)
    return train_on(source, method, context, scheme=scheme, **given)


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """A new folder for temporary files, which is removed at the end, beside a folder."""
    from corate.corpus.stored_corpus import temporary_folder, writing_to

    with writing_to(folder):
        found = temporary_folder(folder.parent)
    try:
        yield found
    finally:
        shutil.rmtree(found, ignore_errors=True)


def _check_options(method: Method) -> None:
    """Raise ConfigError for options that are only for training in memory."""
    refused = method.refused("disk")
    if refused is not None:
        raise ConfigError(
            f"{refused.what} is only for training in memory; {refused.remedy}, or give no memory limit",
            option=refused.option,
        )


def _most_strings(memory: int) -> int:
    """The number of distinct strings of a text that can be stored on disk within the limit."""
    program, each = STORED_TEXT
    if memory <= program:
        what = f"a memory limit of {shown_memory(memory)} is too small for any text"
        raise ConfigError(f"{what}; give more than {shown_memory(program)}", option="memory")
    return (memory - program) // each


def _most_words(words: int, memory: int) -> int:
    """The number of words that empirical training can count within the limit, given the number of distinct words."""
    program, each = STORED_EMPIRICAL
    need, most = program + each * words, max(0, memory - program) // max(1, each)
    if need <= 1.1 * memory:
        return words
    if most < min(words, FEWEST_WORDS):
        what = f"counting {counted(words, 'distinct word')} needs about {shown_memory(need)}"
        raise DataError(f"{what}, more than the limit of {shown_memory(memory)}; give more memory")
    warnings.warn(
        f"{most:,} of {words:,} distinct words fit in {shown_memory(memory)}; the others, which are rare, are "
        f"left out and will be labelled like unseen words; about {shown_memory(need)} of memory would keep them all",
        stacklevel=2,
    )
    return most


@contextmanager
def _work_folder(temporary: str | os.PathLike[str] | None, output: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder for temporary files, which is removed at the end. Errors of the disk name it, and the remedy."""
    from corate.corpus.stored_corpus import temporary_folder, writing_to

    parent = Path(temporary) if temporary is not None else Path(output).absolute().parent
    with writing_to(parent / "temporary"):
        folder = temporary_folder(parent)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _subfolder(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name
