"""Do programs that use python-crfsuite and sklearn-crfsuite do the same with Corate in their place, and how fast?

`python -m benchmarks.compat`

Two processes (benchmarks/compat_side.py) have the same packages, one with the original pycrfsuite and sklearn_crfsuite
and one with Corate's (`corate.compat.install`). They take turns, round by round; a ratio is that of the medians.

Then fourteen clients (benchmarks/compat_clients.py) run in processes of their own, once with the original and once with
`python -m corate.compat`. It needs packages that the group `bench` does not have, and skips what is missing:

    pip install usaddress probablepeople parserator nltk eli5 sklearn-crfsuite

The clients may be in another environment, which `--clients` names, because some need old packages:

    python -m venv build/clients
    build/clients/bin/pip install . usaddress probablepeople parserator khmer-nltk khmercut ssg pythainlp pyvi nltk \\
      pycrfsuite-spacing autopager formasaurus eli5 sklearn-crfsuite
    build/clients/bin/pip install --no-deps pyidaungsu emoji fasttext-wheel
    python -m benchmarks.compat --clients build/clients/bin/python
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks import compat_clients, corpora
from benchmarks.compat_side import SIDES, Labels
from benchmarks.compat_texts import TEXTS
from benchmarks.tables import Row, Table, data_folder, parser

COMMAND = "python -m benchmarks.compat"
CHUNKS = {"c1": 0.1, "c2": 0.1}


class Side:
    """A process in which the packages are the originals or Corate's."""

    def __init__(self, name: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.compat_side", name],
            cwd=corpora.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, question: str, *arguments: Any) -> Any:
        """The answer to a question: the name of a function of compat_side."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([question, arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{question} failed; its error is above")
        return json.loads(line)

    def __enter__(self) -> Side:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Pair:
    """Both sides, which take turns."""

    def __init__(self, original: Side, corate: Side, rounds: int) -> None:
        self.original, self.corate, self.rounds = original, corate, rounds

    def ask(self, question: str, *arguments: Any, rounds: int = 0) -> tuple[float, float, Labels, Labels]:
        """Median seconds of the original and of Corate, and their labels."""
        times: tuple[list[float], list[float]] = ([], [])
        labels: list[Labels] = [[], []]
        for _ in range(rounds or self.rounds):
            for i, side in enumerate((self.original, self.corate)):
                seconds, labels[i] = side.ask(question, *arguments)
                times[i].append(seconds)
        return statistics.median(times[0]), statistics.median(times[1]), labels[0], labels[1]


def same(a: Labels, b: Labels) -> float:
    """The share of labels that are equal, in per cent."""
    if [len(sentence) for sentence in a] != [len(sentence) for sentence in b]:
        return 0.0
    pairs = [x == y for s, t in zip(a, b, strict=True) for x, y in zip(s, t, strict=True)]
    return 100 * sum(pairs) / max(len(pairs), 1)


def missing(*packages: str) -> bool:
    """Whether a package is not installed; says how to install it."""
    absent = [name for name in packages if importlib.util.find_spec(name.replace("-", "_")) is None]
    if absent:
        print(f"  skipped: pip install {' '.join(absent)}", flush=True)
    return bool(absent)


def speed_rows(table: Table, pair: Pair, n: int) -> None:
    """usaddress: ready dicts, and text."""
    for question, least, what in (
        ("usaddress_tag", 3.0, "usaddress's model on ready dicts"),
        ("usaddress_parse", 1.6, "`usaddress.parse`"),
    ):
        theirs, ours, a, b = pair.ask(question, n)
        note = f"{theirs / n * 1e6:.1f} and {ours / n * 1e6:.1f} us an address"
        table.add(Row(f"{what}, times as fast", theirs / ours, at_least=least, note=note, command=COMMAND))
        equal = 100 * sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
        table.add(Row(f"{what}, same output", equal, "% of addresses", at_least=100.0, note=f"{n:,} addresses"))


def thread_row(table: Table, pair: Pair, n: int) -> None:
    """Threads that share a tagger, each with all the work."""
    _, times, note = pair.corate.ask("usaddress_two_threads", min(n, 300), 2.0 * pair.rounds)
    labels, eight = (pair.corate.ask("usaddress_threads", n, threads)[1] for threads in (1, 8))
    note += f"; 8 threads give {'the same' if eight == labels else 'OTHER'} labels"
    table.add(Row("2 threads on one tagger, times one thread", times, at_least=1.7, note=note, command=COMMAND))


def package_rows(table: Table, pair: Pair, n: int) -> None:
    """Other packages: they run, and give the same labels.

    Models that are trained by L-BFGS on both sides may differ in 0.1 % of the labels: both searches follow the same
    path for about fifty iterations, up to rounding, and then stop at different points near the same minimum.
    """
    for packages, question, what, count, least in (
        (("usaddress",), "usaddress_components", "`usaddress.tag`", n, 100.0),
        (("probablepeople",), "probablepeople_parse", "`probablepeople.parse`", n, 100.0),
        (("parserator", "usaddress"), "parserator_train", "parserator trains; labels of its model", n // 5, 99.9),
        (("nltk",), "nltk_train", "NLTK's CRFTagger trains; its labels", n // 5, 99.9),
    ):
        if not missing(*packages):
            add_same(table, what, pair.ask(question, count, rounds=1), least)
    if not missing("eli5", "sklearn-crfsuite"):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "addresses.crfsuite"))
            pair.original.ask("write_model", path, n // 5)
            add_same(table, "eli5, 20 features of each label of a model", pair.ask("eli5_weights", path, 20, rounds=1))


def add_same(table: Table, what: str, found: tuple[float, float, Labels, Labels], least: float = 100.0) -> None:
    """Add a row with the share of labels that are equal."""
    note = f"{found[0]:.2f} s and {found[1]:.2f} s"
    table.add(Row(f"{what}, same", same(*found[2:]), "%", at_least=least, note=note, command=COMMAND))


def span_f1(gold: Labels, labels: Labels) -> float:
    """The F1 of chunks, in per cent."""
    from corate import Corpus
    from corate.corpus import Column
    from corate.evaluation.report import compare_labels

    corpus = Corpus.from_sentences([[("-", label) for label in sentence] for sentence in gold])
    found = compare_labels(corpus, Column.of("label", [label for sentence in labels for label in sentence])).f1
    return 100 * (found or 0.0)


def chunk_rows(table: Table, pair: Pair, data: Path, sentences: int) -> None:
    """sklearn-crfsuite's tutorial on conll2000."""
    train, test = str(corpora.ROOT / data / "conll2000.train"), corpora.ROOT / data / "conll2000.test"
    theirs, ours, _, _ = pair.ask("chunks_fit", train, sentences, "lbfgs", CHUNKS, rounds=1)
    predict = pair.ask("chunks_predict", str(test), "lbfgs")
    gold = [[row[-1] for row in sentence] for sentence in corpora.load(test)]
    their_f1, our_f1 = (span_f1(gold, labels) for labels in predict[2:])
    note = f"{theirs:.1f} s and {ours:.1f} s"
    name = "conll2000, `CRF(lbfgs, c1=0.1, c2=0.1)`"
    table.add(Row(f"{name}, fit, times as fast", theirs / ours, at_least=5.0, note=note, command=COMMAND))
    note = f"{predict[0]:.2f} s and {predict[1]:.2f} s; {same(*predict[2:]):.2f} % of labels equal"
    table.add(Row(f"{name}, predict, times as fast", predict[0] / predict[1], at_least=4.0, note=note))
    table.add(Row(f"{name}, F1", our_f1, at_least=their_f1 - 0.1, peer=their_f1, peer_name="sklearn-crfsuite"))
    polish, _ = pair.corate.ask("chunks_fit", train, sentences, "polish", {})
    _, labels = pair.corate.ask("chunks_predict", str(test), "polish")
    name = "the same with `algorithm='polish'`"
    table.add(Row(f"{name}, fit, times as fast", theirs / polish, at_least=20.0, note=f"{polish:.1f} s"))
    table.add(Row(f"{name}, F1", span_f1(gold, labels), at_least=their_f1, peer=their_f1, peer_name="sklearn-crfsuite"))


# -- clients in processes of their own --------------------------------------------------------------------------------


def asked_client(python: str, name: str, texts: Path, *, corate: bool) -> dict[str, Any] | None:
    """The answer of `benchmarks.compat_clients` for a client; None, with the reason printed, if it does not run."""
    script = [*(["-m", "corate.compat"] if corate else []), compat_clients.__file__]
    run = subprocess.run([python, *script, name, str(texts)], capture_output=True, text=True, check=False)
    if run.returncode:
        print(f"  {name}: {(run.stderr.strip() or 'failed').splitlines()[-1]}", flush=True)
        return None
    found: dict[str, Any] = json.loads(run.stdout)
    if found["used"] != ("corate" if corate else "pycrfsuite"):
        raise SystemExit(f"{name} used the pycrfsuite of {found['used']}")
    return found


def client_rows(table: Table, python: str, n: int, rounds: int) -> None:
    """Each client: the share of texts with equal output, and the processor time of import and first output."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (_, kind, _) in compat_clients.CLIENTS.items():
            path = Path(folder, f"{kind}.json")
            path.write_text(json.dumps(TEXTS[kind](n), ensure_ascii=False), encoding="utf-8")
            runs = [
                (asked_client(python, name, path, corate=False), asked_client(python, name, path, corate=True))
                for _ in range(rounds)
            ]
            pairs = [(theirs, ours) for theirs, ours in runs if theirs is not None and ours is not None]
            if not pairs:
                continue
            equal = [x == y for x, y in zip(pairs[0][0]["outputs"], pairs[0][1]["outputs"], strict=True)]
            first, rest = (
                [statistics.median(pair[i][part] for pair in pairs) for i in (0, 1)] for part in ("first", "rest")
            )
            each = [1000 * seconds / max(n - 1, 1) for seconds in rest]
            note = (
                f"first call {first[0]:.2f} s and {first[1]:.2f} s, others {each[0]:.2f} ms and {each[1]:.2f} ms each"
            )
            share = 100 * sum(equal) / len(equal)
            table.add(
                Row(f"client {name}, same output", share, f"% of {n}", at_least=100.0, note=note, command=COMMAND)
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask both sides."""
    options = parser("compat", "Programs for python-crfsuite with Corate in its place.")
    options.add_argument("--addresses", type=int, default=10_000, help="how many made-up addresses (default: 10,000)")
    options.add_argument("--sentences", type=int, default=0, help="how many sentences of conll2000 (default: all)")
    options.add_argument("--rounds", type=int, default=5, help="how often quick measurements are taken (default: 5)")
    options.add_argument(
        "--clients", default=sys.executable, help="the Python that has the clients (default: this one)"
    )
    options.add_argument("--texts", type=int, default=300, help="how many texts each client gets (default: 300)")
    options.add_argument("--only-clients", action="store_true", help="run only the clients in processes of their own")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    table = Table("compat", "Do programs that use python-crfsuite do the same with Corate in its place, and how fast?")
    client_rows(table, given.clients, given.texts, given.rounds)
    if given.only_clients:
        table.finish()
        return
    with ExitStack() as stack:
        sides = [stack.enter_context(Side(name)) for name in SIDES]
        pair = Pair(sides[0], sides[1], given.rounds)
        if not missing("usaddress"):
            speed_rows(table, pair, given.addresses)
            thread_row(table, pair, given.addresses)
        package_rows(table, pair, given.addresses)
        if not missing("sklearn-crfsuite"):
            chunk_rows(table, pair, data, given.sentences)
    table.finish()


if __name__ == "__main__":
    main()
