"""python-crfsuite's trainers."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from corate.compat.pycrfsuite.log_parser import TrainLogParser
from corate.compat.pycrfsuite.log_writer import LogWriter
from corate.compat.pycrfsuite.parameters import Parameters
from corate.corpus import Corpus
from corate.corpus.attributes import FeatureSentence, ItemSequence
from corate.display import counted
from corate.errors import ConfigError, DataError, ModelError
from corate.io.atomic import check_writable
from corate.model import crfsuite
from corate.model.archive import load
from corate.model.tagger import Tagger
from corate.progress import ProgressEvent
from corate.training.crfsuite import GeneratedFeatures, Iteration, train_as_crfsuite
from corate.training.methods import METHODS
from corate.training.train import train_completely

__all__ = ["BaseTrainer", "Trainer"]


class BaseTrainer:
    """Holds training data, trains a model on it, and writes the model to a file.

    Args:
        algorithm: ``"lbfgs"`` (the default), ``"l2sgd"``, ``"ap"`` or ``"pa"``, or a method of corate such as
            ``"polish"``, whose options are the parameters.
        params: values of parameters by name.
        verbose: whether to print the log of the training.
    """

    verbose = True  #: Whether to print the log.
    threads = 1  #: The number of threads. The model does not depend on it.
    seed = 0  #: Determines the order of sequences in algorithms that shuffle them.

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        self.verbose = verbose
        self.select("lbfgs" if algorithm is None else algorithm)
        if params is not None:
            self.set_params(params)

    # As in python-crfsuite, a subclass need not call `__init__`.

    @cached_property
    def _data(self) -> list[tuple[FeatureSentence, Iterable[str], int]]:
        """The sequences, their labels and their groups."""
        return []

    @cached_property
    def _parameters(self) -> Parameters:
        return Parameters("lbfgs")

    # -- data ----------------------------------------------------------------------------------------------------

    def append(self, xseq: FeatureSentence, yseq: Iterable[str], group: int = 0) -> None:
        """Add a sequence with its labels. ``train`` can hold out the sequences of one group."""
        sequence, labels = ItemSequence(xseq), [_label(label) for label in yseq]
        if len(sequence) != len(labels):
            raise ValueError(f"The numbers of items and labels differ: |x| = {len(sequence)}, |y| = {len(labels)}")
        if not isinstance(group, int):
            raise TypeError(f"the group must be an integer, not {group!r}")
        self._data.append((sequence, labels, group))

    def extend(self, sequences: Iterable[FeatureSentence], labels: Iterable[Iterable[str]], group: int = 0) -> None:
        """Add many sequences. Features are read when training starts, so do not change them before."""
        sequences, labels = list(sequences), list(labels)
        if len(sequences) != len(labels):
            raise DataError(f"{counted(len(sequences), 'sequence')} but labels for {len(labels)}")
        if type(self).append is not BaseTrainer.append:
            for xseq, yseq in zip(sequences, labels, strict=True):
                self.append(xseq, yseq, group)
            return
        self._data += zip(sequences, labels, repeat(group), strict=False)

    def clear(self) -> None:
        """Remove all sequences."""
        self._data.clear()

    def _corpora(self, holdout: int) -> tuple[Corpus, Corpus | None]:
        """The sequences to train on, and those that are held out. They share labels and attributes."""
        keep_false = not self._parameters.is_method
        sequences, labels, groups = zip(*self._data, strict=True) if self._data else ((), (), ())
        corpus = Corpus.from_features(sequences, labels, keep_false=keep_false)
        if holdout < 0:
            return corpus, None
        held_out = np.array(groups) == holdout
        return corpus.take(np.flatnonzero(~held_out)), corpus.take(np.flatnonzero(held_out))

    # -- parameters ----------------------------------------------------------------------------------------------

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose the training algorithm. All parameters get their default values."""
        try:
            if type != "crf1d":
                raise ConfigError("the type of the model must be 'crf1d'")
            self._parameters = Parameters(algorithm.lower())
        except ConfigError as error:
            raise ConfigError(
                f"Bad arguments: algorithm={algorithm!r}, type={type!r}: {error}; methods of corate, such as "
                f"{next(iter(METHODS))!r}, can be given too",
                option="algorithm",
            ) from None

    def params(self) -> list[str]:
        """The names of the parameters of the algorithm."""
        return list(self._parameters.values)

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Set parameters by name."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """All parameters with their values."""
        return dict(self._parameters.values)

    def set(self, name: str, value: Any) -> None:
        """Set a parameter. Raises ValueError if the algorithm has no such parameter."""
        self._parameters.set(name, value)

    def get(self, name: str) -> Any:
        """The value of a parameter."""
        return self._parameters.get(name)

    def help(self, name: str) -> str:
        """What a parameter means."""
        return self._parameters.help(name)

    # -- training ------------------------------------------------------------------------------------------------

    def message(self, message: str) -> None:
        """Receive a line of the log. By default it is printed if ``verbose``."""
        if self.verbose:
            print(message, end="")

    def _before_train(self) -> None:
        pass

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Train, and write the model to the file ``model``; if that is empty, write nothing.

        The file is a CRFsuite model, which python-crfsuite can open. A model of a method of corate that such a file
        cannot hold is written as a corate model. The file is complete or not written at all.

        ``holdout`` is a group that is not trained on. The log shows how well it is labelled.
        """
        path = os.fspath(model)
        if path:
            check_writable(path)
        log = LogWriter(self.message)
        tagger, generated = self._trained(log, holdout)
        if path:
            log.storing(tagger, generated)
            start = time.perf_counter()
            save_model(tagger, path)
            log.stored(time.perf_counter() - start)

    def fit(self, holdout: int = -1) -> Tagger:
        """Train, and return the model without writing it."""
        if type(self).train is not BaseTrainer.train:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model")
                self.train(path, holdout)
                return load(path)
        log = LogWriter(self.message)
        tagger, generated = self._trained(log, holdout)
        log.storing(tagger, generated)
        log.stored(0.0)
        return tagger

    def _trained(self, log: LogWriter, holdout: int) -> tuple[Tagger, GeneratedFeatures | None]:
        self._before_train()
        start = time.perf_counter()
        log.start(holdout)
        run = self._run_method if self._parameters.is_method else self._run_algorithm
        tagger, generated = run(log, *self._corpora(holdout))
        if tagger.record.get("interrupted"):
            raise KeyboardInterrupt  # the model reached so far is not what was asked for
        log.total_seconds(time.perf_counter() - start)
        return tagger, generated

    def _run_algorithm(
        self, log: LogWriter, corpus: Corpus, held_out: Corpus | None
    ) -> tuple[Tagger, GeneratedFeatures]:
        algorithm, parameters = self._parameters.algorithm, self._parameters.values
        generated: list[GeneratedFeatures] = []

        def on_features(found: GeneratedFeatures) -> None:
            generated.append(found)
            log.features(parameters, found)
            log.parameters(algorithm, parameters)

        def on_iteration(found: Iteration) -> None:
            log.iteration(algorithm, found, held_out)

        tagger = train_as_crfsuite(
            corpus,
            algorithm,
            parameters,
            held_out=held_out,
            on_features=on_features,
            on_iteration=on_iteration,
            seed=self.seed,
            threads=self.threads,
        )
        log.end(algorithm, str(tagger.record.get("stopped")), tagger.record.get("loss"))
        return tagger, generated[0]

    def _run_method(self, log: LogWriter, corpus: Corpus, held_out: Corpus | None) -> tuple[Tagger, None]:
        method = METHODS[self._parameters.algorithm](**self._parameters.given)
        log.method(method.name, self._parameters.given)
        times = [time.perf_counter()]

        def progress(event: ProgressEvent) -> None:
            loss = event.objective if event.loss is None else event.loss
            if loss is not None:
                times.append(time.perf_counter())
                log.method_iteration(len(times) - 1, loss, times[-1] - times[-2])

        shared = {"held_out": held_out, "seed": self.seed, "threads": self.threads}
        return train_completely(corpus, method, **shared, progress=progress), None


class Trainer(BaseTrainer):
    """A trainer that reads its own log: ``logparser`` has the numbers of each iteration.

    Subclasses may override ``on_iteration`` and the other methods that begin with ``on_``. They are called if
    ``verbose``, and print a part of the log by default.
    """

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Receive a line of the log."""
        parser = self.logparser
        assert parser is not None
        event = parser.feed(message)
        if event is None or not self.verbose:
            return
        if event == "featgen_progress":
            self.on_featgen_progress(parser.last_log, parser.featgen_percent)
        elif event == "iteration":
            self.on_iteration(parser.last_log, parser.last_iteration)
        else:
            getattr(self, f"on_{event}")(parser.last_log)

    def on_start(self, log: str) -> None:
        """The log begins."""
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Some features are generated."""
        print(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """All features are generated."""
        print(log, end="")

    def on_prepared(self, log: str) -> None:
        """The first iteration begins."""
        print(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """Training ended before the first iteration."""
        print(log, end="")

    def on_iteration(self, log: str, info: Any) -> None:
        """An iteration ended; ``info`` has its numbers."""
        print(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """All iterations ended."""
        print(log, end="")

    def on_end(self, log: str) -> None:
        """The model is written."""
        print(log, end="")


def save_model(tagger: Tagger, path: str | os.PathLike[str]) -> None:
    """Write a CRFsuite file, or a corate file if a CRFsuite file cannot hold the model."""
    try:
        crfsuite.save(tagger, path)
    except ModelError:
        tagger.save(path, format="corate")


def _label(label: Any) -> str:
    if isinstance(label, bytes):
        return label.decode()
    if not isinstance(label, str):
        raise TypeError(f"labels must be strings, not {type(label).__name__} ({label!r})")
    return label
