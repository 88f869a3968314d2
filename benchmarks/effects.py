"""How do some choices change accuracy, probabilities and size? `python -m benchmarks.effects`

- ned with the column of words alone: F1 on ned.testb, the mean of three seeds.
- A temperature: the calibration errors on ned.testb, and at two temperatures on a random tenth of ned.train.
- Parts of labels: accuracy on the dev files of four treebanks, in three folds of every third sentence, with one seed.
  Labels are parts of speech with features.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import corate
from benchmarks import corpora
from benchmarks.tables import Row, Table, data_folder, parser
from corate.evaluation.calibration import Calibration, calibration
from corate.training.held_out import with_temperature

COMMAND = "python -m benchmarks.effects"
SEEDS = (0, 1, 2)
TREEBANKS = ("fi_tdt", "sv_talbanken", "de_gsd", "en_ewt")
FOLDS = 3
TEMPERATURES = (1.1, 1.2)


def words_alone(data: Path) -> Row:
    """F1 on ned.testb without the column of parts of speech."""
    train, test = (corate.read(data / f"ned.{part}", columns="word,_,label") for part in ("train", "testb"))
    scores = [100 * (corate.evaluate(corate.train(train, seed=seed), test).f1 or 0.0) for seed in SEEDS]
    note = f"seeds {min(scores):.2f} to {max(scores):.2f}"
    return Row("ned, words alone, F1", statistics.mean(scores), "%", note=note, command=COMMAND)


def errors(name: str, found: dict[str, Calibration]) -> Row:
    """The calibration error of spans, and in the note those of tokens."""
    inside = found["inside"]
    note = (
        f"tokens other than O {100 * inside.error:.2f} % (95% interval: {100 * inside.low:.2f} to "
        f"{100 * inside.high:.2f} %), all tokens {100 * found['tokens'].error:.2f} %"
    )
    return Row(f"{name}, calibration error of spans", 100 * found["spans"].error, "%", note=note, command=COMMAND)


def temperatures(data: Path) -> Iterator[Row]:
    """Calibration without and with a temperature."""
    train, held_out, test = (corate.read(data / f"ned.{part}") for part in ("train", "testa", "testb"))
    plain = corate.train(train, held_out=held_out)
    calibrated = corate.train(train, held_out=held_out, calibrate=True)
    yield errors("ned.testb, no temperature", calibration(plain, test))
    name = f"ned.testb, `--calibrate`, temperature {calibrated.record['temperature']:.2f}"
    yield errors(name, calibration(calibrated, test))
    rest, tenth = train.split(0.1)
    tagger = corate.train(rest)
    for temperature in TEMPERATURES:
        found = calibration(with_temperature(tagger, temperature), tenth)
        yield errors(f"a tenth of ned.train, temperature {temperature:.2f}", found)


def parts_of_labels(name: str, source: Path) -> Row:
    """Accuracy with parts of labels, which are the default here, and without."""
    sentences, _ = corpora.treebank(source, name, "upos+feats")
    found: dict[bool, list[tuple[float, float, int]]] = {True: [], False: []}
    for fold in range(FOLDS):
        train = corate.Corpus.from_sentences([one for i, one in enumerate(sentences) if i % FOLDS != fold])
        test = corate.Corpus.from_sentences(sentences[fold::FOLDS])
        for parts, results in found.items():
            tagger = corate.train(train) if parts else corate.train(train, parts=False)
            report = corate.evaluate(tagger, test)
            results.append((100 * report.accuracy, 100 * (report.accuracy_oov or 0.0), size(tagger)))
    accuracy, oov, large = (statistics.mean(column) for column in zip(*found[True], strict=True))
    without, without_oov, small = (statistics.mean(column) for column in zip(*found[False], strict=True))
    note = f"OOV words {oov:.1f} %; `--no-parts` {without:.2f} %, OOV words {without_oov:.1f} %; "
    note += f"the model is {large / small:.1f} times as large"
    return Row(f"{name}, parts of labels, accuracy", accuracy, "%", note=note, command=COMMAND)


def size(tagger: corate.Tagger) -> int:
    """The bytes of the model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.corate")
        tagger.save(path)
        return path.stat().st_size


def main(arguments: Sequence[str] | None = None) -> None:
    """Train with and without."""
    given = parser("effects", "The effects of some choices.").parse_args(arguments)
    data = corpora.ROOT / data_folder(given.data)
    table = Table("effects", "How do some choices change accuracy, probabilities and size?")
    table.add(words_alone(data))
    for row in temperatures(data):
        table.add(row)
    for name in TREEBANKS:
        table.add(parts_of_labels(name, corpora.source_folder()))
    table.finish()


if __name__ == "__main__":
    main()
