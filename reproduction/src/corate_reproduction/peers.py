"""Other toolkits on the same features: python-crfsuite and, if installed, sklearn-crfsuite and chaine.

They get ready-made features: an attribute for each template and value, as Corate's vocabulary finds them. Their time
does not include building these features; ours does. L-BFGS uses our c2 and at most 500 iterations; the averaged
perceptron makes 10 passes.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from corate.corpus import Corpus

__all__ = ["PEERS", "Report", "attributes", "fit", "installed"]

#: Called with the number of finished iterations and their limit.
Report = Callable[[int, int], None]

_LBFGS = {"algorithm": "lbfgs", "c2": 0.1, "max_iterations": 500}
_AP = {"algorithm": "ap", "max_iterations": 10}
#: The package and the settings of each method.
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "crfsuite-lbfgs": ("pycrfsuite", _LBFGS),
    "crfsuite-ap": ("pycrfsuite", _AP),
    "sklearn-crfsuite": ("sklearn_crfsuite", _LBFGS),
    "chaine": ("chaine", _AP),
}


def installed() -> list[str]:
    """The installed peers."""
    return [name for name, (package, _) in PEERS.items() if importlib.util.find_spec(package) is not None]


def version(package: str) -> str:
    """The version of a peer's package; empty if it is unknown."""
    import importlib.metadata

    names = {"pycrfsuite": "python-crfsuite", "sklearn_crfsuite": "sklearn-crfsuite"}
    try:
        return importlib.metadata.version(names.get(package, package))
    except importlib.metadata.PackageNotFoundError:
        return ""


def attributes(features: Any, train: Corpus, test: Corpus) -> list[list[list[list[str]]]]:
    """The features of both corpora as lists of strings: by sentence, then by token.

    >>> train = Corpus.from_sentences([[("a", "X"), ("b", "Y")]])
    >>> attributes(["word[0]"], train, Corpus.from_sentences([[("c", "X"), ("a", "Y")]]))
    [[[['0:16'], ['0:17']]], [[[], ['0:16']]]]
    """
    from corate.counting.counts import label_ids
    from corate.features import resolve
    from corate.features.related_words import learn_lexicons
    from corate.features.vocabulary import Vocabulary

    templates, _ = resolve(features, [column.name for column in train.columns])
    templates = learn_lexicons(templates, train, *label_ids(train))
    vocabulary = Vocabulary.of([template for template in templates if template.atoms])
    both = []
    for corpus, ids in ((train, vocabulary.fit(train)[0]), (test, vocabulary.transform(test)[0])):
        rows = [[f"{t}:{value}" for t, value in enumerate(row) if value >= 0] for row in ids.T.tolist()]
        both.append([rows[begin:end] for begin, end in pairwise(corpus.offsets.tolist())])
    return both


def fit(
    library: str,
    settings: dict[str, Any],
    train: Corpus,
    test: Corpus,
    features: Any,
    ready: Callable[[], None],
    report: Report,
) -> tuple[float, list[list[str]]]:
    """Training seconds, and the labels of the test sentences; ``ready`` is called when training begins."""
    items, unseen = attributes(features, train, test)
    labels = [train.labels_of(i) for i in range(len(train))]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        return _FITS[library](settings, model, items, labels, unseen, ready, report)


def _trainer(report: Report, limit: int) -> Any:
    """A trainer class of python-crfsuite that reports its iterations even if it prints nothing."""
    import pycrfsuite

    class Reporting(pycrfsuite.Trainer):  # type: ignore[misc]
        seen = 0

        def message(self, message: Any) -> None:
            super().message(message)
            done = len(self.logparser.iterations)
            if done > self.seen:
                self.seen = done
                report(done, limit)

    return Reporting


def _crfsuite(
    settings: dict[str, Any],
    model: str,
    items: Sequence[Any],
    labels: Sequence[Sequence[str]],
    unseen: Sequence[Any],
    ready: Callable[[], None],
    report: Report,
) -> tuple[float, list[list[str]]]:
    import pycrfsuite

    sequences = [pycrfsuite.ItemSequence(item) for item in items]
    rest = {key: value for key, value in settings.items() if key != "algorithm"}
    trainer = _trainer(report, settings["max_iterations"])(algorithm=settings["algorithm"], params=rest, verbose=False)
    ready()
    started = time.perf_counter()
    for sequence, given in zip(sequences, labels, strict=True):
        trainer.append(sequence, given)
    trainer.train(model)
    seconds = time.perf_counter() - started
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return seconds, [tagger.tag(item) for item in unseen]


def _sklearn(
    settings: dict[str, Any],
    model: str,
    items: Sequence[Any],
    labels: Sequence[Sequence[str]],
    unseen: Sequence[Any],
    ready: Callable[[], None],
    report: Report,
) -> tuple[float, list[list[str]]]:
    import sklearn_crfsuite

    trainer = _trainer(report, settings["max_iterations"])
    crf = sklearn_crfsuite.CRF(model_filename=model, trainer_cls=trainer, **settings)
    ready()
    started = time.perf_counter()
    crf.fit(items, labels)
    seconds = time.perf_counter() - started
    return seconds, [list(found) for found in crf.predict(unseen)]


def _chaine(
    settings: dict[str, Any],
    model: str,
    items: Sequence[Any],
    labels: Sequence[Sequence[str]],
    unseen: Sequence[Any],
    ready: Callable[[], None],
    report: Report,
) -> tuple[float, list[list[str]]]:
    import chaine

    as_dicts = [[[dict.fromkeys(token, True) for token in sentence] for sentence in part] for part in (items, unseen)]
    ready()
    started = time.perf_counter()
    trained = chaine.train(as_dicts[0], labels, model_filepath=model, verbose=0, **settings)
    seconds = time.perf_counter() - started
    return seconds, [list(found) for found in trained.predict(as_dicts[1])]


_FITS = {"pycrfsuite": _crfsuite, "sklearn_crfsuite": _sklearn, "chaine": _chaine}
