"""How many tokens per second does `corate tag` label, file to file, on one thread?

`python -m benchmarks.tag_speed [--tokens 2000000] [--runs 3] [--sample 50000] [--only TEXT]`

The text has every sentence of Brown, ned and conll2000 once, in random order (seed 7). The rest, up to two million
tokens, is spliced from the beginning of one random sentence and the end of another, so that the text does not repeat.
Start-up (the median time of tagging one token) is subtracted. CRFsuite labels a sample of the same sentences in the
same run, in Python, without files. The ratio uses its speed from ready-made lists of attributes; the note has its
speeds with features built in Python and from its own item sequences.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpora, measure, peers
from benchmarks.corpora import COLUMNS, Sentence
from benchmarks.tables import Row, Table, data_folder, joined, parser


@dataclass(frozen=True)
class Model:
    """A Corate model to tag with, the file's columns it reads, and the CRFsuite model beside it."""

    name: str
    train: str
    corpus: str
    columns: int
    options: tuple[str, ...]
    at_least: float | None
    peer: str
    method: str = "empirical"


MODELS = [
    Model("brown 32k", "brown-32k-1000.train", "brown", 1, (), 400_000, "brown-32k"),
    Model(
        "brown 32k, --ladder default", "brown-32k-1000.train", "brown", 1, ("--ladder", "default"), None, "brown-32k"
    ),
    Model("ned", "ned.train", "ned", 2, (), 1_500_000, "ned"),
    Model("ned, --ladder default", "ned.train", "ned", 2, ("--ladder", "default"), None, "ned"),
    Model(
        "ned, --features ner --ladder pooled",
        "ned.train",
        "ned",
        2,
        ("--features", "ner", "--ladder", "pooled"),
        None,
        "",
    ),
    Model(
        "brown 32k, --method polish --features pos",
        "brown-32k-1000.train",
        "brown",
        1,
        ("--features", "pos"),
        150_000,
        "",
        "polish",
    ),
]


def all_sentences(source: Path, data: Path) -> list[Sentence]:
    """Word and part of speech of all sentences: the whole of Brown, not only the sentences in the splits."""
    found: list[Sentence] = list(corpora.brown_sentences([source]))
    for name in ("ned.train", "ned.testa", "ned.testb", "conll2000.train", "conll2000.test"):
        found += [[row[:2] for row in sentence] for sentence in corpora.load(corpora.ROOT / data / name)]
    return found


def mixed(sentences: list[Sentence], tokens: int, seed: int) -> Iterator[Sentence]:
    """Each sentence once in random order, then splices, up to a number of tokens."""
    chance = random.Random(seed)
    order = sentences[:]
    chance.shuffle(order)
    left = tokens
    for sentence in order:
        if left <= 0:
            return
        yield sentence[:left]
        left -= len(sentence)
    while left > 0:
        first, second = chance.choice(sentences), chance.choice(sentences)
        spliced = first[: chance.randint(1, len(first))] + second[chance.randrange(len(second)) :]
        yield spliced[:left]
        left -= len(spliced)


def write_text(sentences: Sequence[Sentence], columns: int, path: Path) -> None:
    """Write the first columns, without labels."""
    corpora.write([[row[:columns] for row in sentence] for sentence in sentences], corpora.ROOT / path)


def train_command(model: Model, data: Path) -> list[str]:
    """The model is named after its training file and options."""
    named = [] if model.method == "empirical" else [model.method]
    suffix = "-".join([*named, *model.options]).replace("--", "") or "plain"
    path = data / "models" / f"tag-{model.train}-{suffix}.corate"
    always = ["--columns", COLUMNS[model.corpus], "--threads", "1", "--json"]
    return [
        "corate",
        "train",
        str(data / model.train),
        "-o",
        str(path),
        "--method",
        model.method,
        *model.options,
        *always,
    ]


def tag(model: Path, text: Path, output: Path, runs: int) -> list[measure.Run]:
    """Tag a file, with the output to a file."""
    command = ["corate", "tag", str(model), str(text), "--threads", "1", "--quiet"]
    return measure.repeat(command, runs, corpora.ROOT / output)


def corate_row(model: Model, data: Path, tokens: int, runs: int, peer: peers.Rates | None) -> Row:
    """Train, tag the long file and the file of one token, subtract."""
    trained = measure.run(train_command(model, data))
    path = Path(train_command(model, data)[4])
    output = data / "tagged.txt"
    started = tag(path, data / f"one-token-{model.columns}.txt", output, max(runs, 5))
    start, start_cpu = (statistics.median(getattr(one, key) for one in started) for key in ("wall", "cpu"))
    done = tag(path, data / f"mixed-{model.columns}.txt", output, runs)
    lines = (corpora.ROOT / output).read_bytes().split(b"\n")
    labelled = sum(line.count(b"\t") == model.columns for line in lines)
    if labelled != tokens:
        raise SystemExit(f"{model.name}: {labelled:,} labelled lines in {output}, {tokens:,} expected")
    walls = [one.wall - start for one in done]
    rate = tokens / statistics.median(walls)
    peak = max(one.peak_mb for one in done)
    by_processor = tokens / (statistics.median(one.cpu for one in done) - start_cpu)
    note = f"best {tokens / min(walls):,.0f}; by processor seconds {by_processor:,.0f}; "
    note += f"start-up {start:.2f} s subtracted; peak {peak:.0f} MB"
    if peer:
        note += f"; CRFsuite with features built in Python {peer.built:,.0f}, from item sequences {peer.sequences:,.0f}"
    shown = joined([trained.command, done[0].command])
    return Row(
        model.name,
        rate,
        "tokens/s",
        at_least=model.at_least,
        peer=peer.lists if peer else None,
        peer_name="CRFsuite, ready lists",
        note=note,
        command=shown,
        digits=0,
    )


def peer_rate(name: str, data: Path, sample: Sequence[Sentence]) -> peers.Rates:
    """CRFsuite's tokens per second; trains a model if there is none (one pass for brown 32k, ten for ned)."""
    model = corpora.ROOT / data / "models" / f"{name}.crfsuite"
    if not model.is_file():
        print(f"  CRFsuite: training {name} ...", flush=True)
        train, passes = ("ned.train", 10) if name == "ned" else ("brown-32k-1000.train", 1)
        peers.train(corpora.ROOT / data / train, model, "simple", "ap", passes)
    return peers.Tagger(model, "simple").tokens_per_second(sample)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the text, tag it with each model."""
    options = parser("tag_speed", "Tokens per second, file to file.")
    options.add_argument("--tokens", type=int, default=2_000_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--sample", type=int, default=50_000, help="tokens for CRFsuite; 0 omits it")
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--only", default="", help="only the models whose name contains this text")
    given = options.parse_args(arguments)
    models = [model for model in MODELS if given.only in model.name]
    data = data_folder(given.data)
    everything = all_sentences(corpora.source_folder(), data)
    text = list(mixed(everything, given.tokens, given.seed))
    for columns in (1, 2):
        write_text(text, columns, data / f"mixed-{columns}.txt")
        write_text([[("The", "at")]], columns, data / f"one-token-{columns}.txt")
    table = Table("tag_speed", f"How fast is tagging {given.tokens:,} tokens of mixed text, file to file, one thread?")
    sample = list(mixed(everything, given.sample, given.seed))
    wanted = {model.peer: None for model in models if model.peer and sample}
    rates = {name: peer_rate(name, data, sample) for name in wanted}
    del everything, text
    for model in models:
        table.add(corate_row(model, data, given.tokens, given.runs, rates.get(model.peer)))
    table.finish()


if __name__ == "__main__":
    main()
