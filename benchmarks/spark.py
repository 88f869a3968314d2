"""How fast is tagging on Spark, and how good are models that it trains? `python -m benchmarks.spark`

Spark runs with two local workers. The times exclude the start of the session, which is stated, and the first job, which
starts the Python workers. It needs the extra `spark` and Java 17. The text to tag is that of benchmarks/growth.py.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import corpora, growth, measure
from benchmarks.corpora import Sentence
from benchmarks.tables import Row, Table, data_folder, parser

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from corate import Tagger

SHARE = 0.8  # of the speed of `corate tag --threads 2`
POINTS = 0.15  # the accuracy that mixing may lose
PARTITIONS = (1, 7, 64)
WORKERS = 2
SCHEMA = "tokens array<string>, labels array<string>"


def start() -> tuple[SparkSession, float]:
    """A session with two workers, and the seconds that it took."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    began = time.perf_counter()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
    }
    spark = SparkSession.builder.master(f"local[{WORKERS}, 4]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark, time.perf_counter() - began


def frame(spark: SparkSession, sentences: Sequence[Sentence], path: Path) -> DataFrame:
    """A data frame of labelled sentences, from a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "tokens": [[row[0] for row in sentence] for sentence in sentences],
        "labels": [[row[-1] for row in sentence] for sentence in sentences],
    }
    kind = pa.list_(pa.string())
    table = pa.table({name: pa.array(values, kind) for name, values in columns.items()})
    pq.write_table(table, path, row_group_size=20_000)
    return spark.read.parquet(str(path))


def tagging_rows(
    table: Table, spark: SparkSession, data: Path, tokens: int, folder: Path, threads: int, started: float
) -> None:
    """Tokens a second of Spark and of the command line, for two methods."""
    import corate.spark

    text = data / "growth" / "spark-tokens.txt"
    (measure.ROOT / text).parent.mkdir(exist_ok=True)
    sentences, n = [], 0
    for sentence in growth.grown(corpora.load(measure.ROOT / data / "brown-32k-1000.train")):
        sentences.append(sentence)
        n += len(sentence)
        if n >= tokens:
            break
    (measure.ROOT / text).write_text(
        "\n".join("".join(f"{word}\n" for word, _ in s) for s in sentences), encoding="utf-8"
    )
    df = frame(spark, sentences, folder / "text.parquet").select("tokens").repartition(2 * WORKERS)
    df.write.parquet(str(folder / "parts"))
    df = spark.read.parquet(str(folder / "parts"))
    for method in ("polish", "empirical"):
        model = data / "models" / f"spark-{method}.corate"
        measure.run(["corate", "train", str(data / "brown-32k-1000.train"), "-o", str(model), "--method", method, "-q"])
        command = ["corate", "tag", str(model), str(text), "-o", os.devnull, "--threads", str(threads)]
        nothing = ["corate", "tag", str(model), os.devnull, "-o", os.devnull]
        loading = min(run.wall for run in measure.repeat(nothing, 3))
        alone = min(run.wall for run in measure.repeat(command, 3)) - loading
        seconds = []
        for _ in range(4):
            began = time.perf_counter()
            corate.spark.tag(df, measure.ROOT / model).write.format("noop").mode("overwrite").save()
            seconds.append(time.perf_counter() - began)
        table.add(
            Row(
                f"tagging, {method}, brown 32k, {n:,} tokens, local[{WORKERS}], share of the speed of the command line",
                alone / min(seconds[1:]),
                at_least=SHARE if method == "polish" else None,
                note=f"Spark {n / min(seconds[1:]):,.0f} tokens/s, the first job {seconds[0]:.1f} s, session "
                f"{started:.1f} s; corate tag {n / alone:,.0f} tokens/s without loading the model ({loading:.2f} s)",
                command=" ".join(command),
            )
        )


def tensors_row(spark: SparkSession, sentences: Sequence[Sentence], folder: Path) -> Row:
    """How many of the runs on other partitions, on shuffled rows and with a failed task give the same tensors."""
    from pyspark.sql import functions as f

    import corate.spark

    def failing(batches: Any) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        yield next(batches)
        if context.partitionId() == 0 and context.attemptNumber() == 0:
            raise RuntimeError("the first attempt fails")
        yield from batches

    df = frame(spark, sentences, folder / "train.parquet")
    found, seconds = [], []
    for partitions in PARTITIONS:
        given = df.orderBy(f.rand(seed=partitions)).repartition(partitions) if found else df.coalesce(1)
        given = given.mapInArrow(failing, SCHEMA) if partitions == PARTITIONS[-1] else given
        began = time.perf_counter()
        found.append(tensors(corate.spark.train(given)))
        seconds.append(time.perf_counter() - began)
    return Row(
        f"empirical, {sum(map(len, sentences)):,} tokens: runs with the same tensors, of {len(PARTITIONS)}",
        sum(own == found[0] for own in found),
        at_least=len(PARTITIONS),
        digits=0,
        note=f"{', '.join(map(str, PARTITIONS))} partitions, rows shuffled but for the first, a task of the last fails "
        f"once; {', '.join(f'{s:.1f}' for s in seconds)} s",
    )


def tensors(tagger: Tagger) -> list[bytes]:
    """The bytes of all tensors of a model file."""
    from corate.model.archive import _content

    return [tensor.tobytes() for _, tensor in sorted(_content(tagger, counts=True, half=False)[0].items())]


def polish_row(
    spark: SparkSession, name: str, train: Sequence[Sentence], test: Sequence[Sentence], folder: Path
) -> Row:
    """The accuracy that mixing the weights of four partitions loses."""
    import corate
    import corate.spark

    corpus, held = corate.Corpus.from_sentences(train), corate.Corpus.from_sentences(test)
    began = time.perf_counter()
    one = corate.train(corpus, threads=WORKERS)
    alone = time.perf_counter() - began
    df = frame(spark, train, folder / f"{name.replace(' ', '-')}.parquet").repartition(4)
    began = time.perf_counter()
    mixed = corate.spark.train(df, "polish")
    seconds = time.perf_counter() - began
    best, found = (100 * corate.evaluate(tagger, held).accuracy for tagger in (one, mixed))
    return Row(
        f"polish, {name}, 4 partitions: accuracy above that of one machine",
        found - best,
        "points",
        at_least=-POINTS,
        note=f"{found:.2f} %, one machine {best:.2f} %; {mixed.record['rounds']} rounds in "
        f"{seconds:.1f} s, one machine {alone:.1f} s with {WORKERS} threads",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Tag and train with two workers."""
    options = parser("spark", "Tagging and training on Spark, with two local workers.")
    options.add_argument("--tokens", type=int, default=5_000_000, help="the text to tag (default: 5000000)")
    options.add_argument("--only", default="", help="only the rows of tagging, tensors or polish")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    spark, started = start()
    table = Table("spark", "How fast is tagging on Spark, and how good are the models that it trains?")
    brown = [corpora.load(measure.ROOT / data / f"brown-32k-1000.{part}") for part in ("train", "test")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.only in "tensors":
            table.add(tensors_row(spark, [*islice(growth.grown(brown[0]), 2 * len(brown[0]))], folder))
        if given.only in "tagging":
            tagging_rows(table, spark, data, given.tokens, folder, WORKERS, started)
        if given.only in "polish":
            table.add(polish_row(spark, "brown 32k", *brown, folder))
            table.add(polish_row(spark, "masc", *corpora.masc(corpora.source_folder()), folder))
        spark.stop()
    table.finish()


if __name__ == "__main__":
    main()
