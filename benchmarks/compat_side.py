"""One side of `benchmarks.compat`: a process in which pycrfsuite and sklearn_crfsuite are the originals or corate's.

It reads one request a line on standard input, the name of a function below with its arguments as JSON, and writes one
line of JSON for each.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.two_threads import on_threads, two_threads

SIDES = ("original", "corate")

Labels = list[list[str]]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and the result."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


# -- made-up text -----------------------------------------------------------------------------------------------------


@cache
def lines(n: int, seed: int = 0) -> list[str]:
    """Addresses as text."""
    from corate.demo.addresses import addresses

    return [" ".join(token for token, _ in line) for line in addresses(n, seed)]


def labelled(n: int, seed: int) -> list[list[tuple[str, str]]]:
    """Addresses as tokens and labels, without punctuation, which usaddress takes only with a word."""
    from corate.demo.addresses import addresses

    return [[pair for pair in line if any(map(str.isalnum, pair[0]))] for line in addresses(n, seed)]


@cache
def names(n: int) -> list[str]:
    """The names of people and companies in addresses."""
    from corate.demo.addresses import addresses

    found = ([token for token, label in line if label.endswith("-NAME")] for line in addresses(n, 1))
    return [" ".join(tokens) for tokens in found if tokens]


# -- usaddress --------------------------------------------------------------------------------------------------------


@cache
def usaddress_features(n: int) -> list[Any]:
    """The feature dicts of addresses, as usaddress makes them."""
    import usaddress

    return [usaddress.tokens2features(tokens) for tokens in map(usaddress.tokenize, lines(n)) if tokens]


def usaddress_tag(n: int) -> tuple[float, Labels]:
    """usaddress's model tags ready dicts, one address a call."""
    import usaddress

    tag, features = usaddress.TAGGER.tag, usaddress_features(n)
    return timed(lambda: [tag(sentence) for sentence in features])


def usaddress_parse(n: int) -> tuple[float, Labels]:
    """Addresses are parsed from text."""
    import usaddress

    seconds, parsed = timed(lambda: [usaddress.parse(line) for line in lines(n)])
    return seconds, [[label for _, label in line] for line in parsed]


def usaddress_components(n: int) -> tuple[float, Labels]:
    """`usaddress.tag`: the names of the parts, or of the error."""
    import usaddress

    def parts(line: str) -> list[str]:
        try:
            return [f"{name}={text}" for name, text in usaddress.tag(line)[0].items()]
        except usaddress.RepeatedLabelError:
            return ["RepeatedLabelError"]

    return timed(lambda: [parts(line) for line in lines(n)])


def usaddress_threads(n: int, threads: int) -> tuple[float, Labels]:
    """Threads share a tagger, and each tags all addresses. The labels are those of the last thread."""
    import usaddress

    tag, features = usaddress.TAGGER.tag, usaddress_features(n)
    found: list[Labels] = []
    seconds = on_threads(threads, lambda: found.append([tag(sentence) for sentence in features]))
    if len(found) != threads or any(labels != found[0] for labels in found):
        raise SystemExit("threads that share a tagger gave different labels")
    return seconds, found[0]


def usaddress_two_threads(n: int, seconds: float) -> tuple[float, float, str]:
    """Two threads share a tagger: seconds of one call, the gain of the second thread, and a note."""
    import usaddress

    tag, features = usaddress.TAGGER.tag, usaddress_features(n)
    found = two_threads(lambda: [tag(sentence) for sentence in features], seconds)
    return found.seconds / n, found.times, found.note


# -- other packages ---------------------------------------------------------------------------------------------------


def probablepeople_parse(n: int) -> tuple[float, Labels]:
    """Names are parsed from text."""
    import probablepeople

    seconds, parsed = timed(lambda: [probablepeople.parse(name) for name in names(n)])
    return seconds, [[label for _, label in line] for line in parsed]


def parserator_train(n: int) -> tuple[float, Labels]:
    """parserator trains a model with usaddress's features, which then tags other addresses."""
    import pycrfsuite
    import usaddress
    from parserator.training import trainModel

    training = [("", line) for line in labelled(n, 2)]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "learned_settings.crfsuite")
        seconds, _ = timed(lambda: trainModel(training, usaddress, model))
        tagger = pycrfsuite.Tagger()
        with tagger.open(model):
            other = [[token for token, _ in line] for line in labelled(n, 3)]
            return seconds, [tagger.tag(usaddress.tokens2features(tokens)) for tokens in other]


def nltk_train(n: int) -> tuple[float, Labels]:
    """NLTK's CRFTagger learns the parts of addresses, and tags others."""
    from nltk.tag import CRFTagger

    with nltk_folder() as folder:
        tagger = CRFTagger()
        training = labelled(n, 2)
        seconds, _ = timed(lambda: tagger.train(training, os.path.join(folder, "model.crf.tagger")))
        tagged = tagger.tag_sents([[token for token, _ in line] for line in labelled(n, 3)])
        return seconds, [[label for _, label in line] for line in tagged]


@contextmanager
def nltk_folder() -> Iterator[str]:
    """A folder in which NLTK may write: some versions allow only their own."""
    import nltk.data

    with tempfile.TemporaryDirectory() as folder:
        yield nltk.data.make_staging_dir() if hasattr(nltk.data, "make_staging_dir") else folder


def write_model(path: str, n: int) -> None:
    """Write a model of addresses."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(params={"c1": 0.1, "c2": 0.1}, verbose=False)
    for line in labelled(n, 2):
        tokens, labels = zip(*line, strict=True)
        trainer.append([{"word": token.lower(), "shape": token.istitle()} for token in tokens], labels)
    trainer.train(path)


def eli5_weights(path: str, n: int) -> tuple[float, Labels]:
    """eli5 explains a model: its labels, each with the names of the `n` features with the highest weights."""
    import eli5
    from sklearn_crfsuite import CRF

    crf = CRF(model_filename=path)
    seconds, explained = timed(lambda: eli5.format_as_dict(eli5.explain_weights(crf, top=(n, 0))))
    shown = [
        [target["target"], *(weight["feature"] for weight in target["feature_weights"]["pos"])]
        for target in explained["targets"]
    ]
    return seconds, shown


# -- sklearn_crfsuite on conll2000 ------------------------------------------------------------------------------------


def token_features(sentence: Sequence[Sequence[str]], i: int) -> dict[str, Any]:
    """The features of sklearn-crfsuite's tutorial: the word, its part of speech and those beside it."""
    word, pos = sentence[i][0], sentence[i][1]
    found: dict[str, Any] = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": pos,
        "postag[:2]": pos[:2],
    }
    for step, edge in ((-1, "BOS"), (1, "EOS")):
        if not 0 <= i + step < len(sentence):
            found[edge] = True
            continue
        word, pos = sentence[i + step][0], sentence[i + step][1]
        found[f"{step:+d}:word.lower()"] = word.lower()
        found[f"{step:+d}:word.istitle()"] = word.istitle()
        found[f"{step:+d}:word.isupper()"] = word.isupper()
        found[f"{step:+d}:postag"] = pos
        found[f"{step:+d}:postag[:2]"] = pos[:2]
    return found


@cache
def chunks(path: str, n: int) -> tuple[list[Any], Labels]:
    """The features and labels of the first sentences of a file; of all of them if `n` is 0."""
    from benchmarks.corpora import load

    sentences = load(Path(path))[: n or None]
    features = [[token_features(sentence, i) for i in range(len(sentence))] for sentence in sentences]
    return features, [[row[-1] for row in sentence] for sentence in sentences]


_fitted: dict[str, Any] = {}


def chunks_fit(path: str, n: int, algorithm: str, parameters: dict[str, Any]) -> tuple[float, Labels]:
    """A CRF is fitted to chunks."""
    from sklearn_crfsuite import CRF

    features, labels = chunks(path, n)
    crf = CRF(algorithm=algorithm, **parameters)
    seconds, _ = timed(lambda: crf.fit(features, labels))
    _fitted[algorithm] = crf
    return seconds, []


def chunks_predict(path: str, algorithm: str) -> tuple[float, Labels]:
    """The CRF that was fitted last labels other sentences."""
    features, _ = chunks(path, 0)
    seconds, labels = timed(lambda: _fitted[algorithm].predict(features))
    return seconds, [list(sentence) for sentence in labels]


# -- the process ------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> None:
    """Answer requests until standard input ends."""
    if arguments[0] == "corate":
        from corate.compat import install

        install()
    output, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        name, given = json.loads(line)
        print(json.dumps(globals()[name](*given)), file=output, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
