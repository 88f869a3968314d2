"""Train and tag on Spark: `python examples/spark_tagging.py`.

Requires PySpark (the extra `spark`) and Java 17. It makes addresses, writes them as Parquet, trains on them with two
local worker threads, tags other addresses and evaluates the labels. On a cluster, change three things:

1. Use the session of the cluster: SparkSession.builder.getOrCreate() without master(), and submit this file with
   spark-submit. Every worker needs Corate with the extra `spark`: install it there, or send an environment with
   --archives.
2. Read your own data with spark.read. It needs a row for each sentence, with a column of tokens, array<string>. To
   split text, use pyspark.sql.functions.split, or corate.tokenize before the text is sent to Spark.
3. Save the model where the next program can read it. The model is built on the driver, and tagger.save writes there.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import corate
import corate.spark
from corate.demo import addresses


def labelled(spark: SparkSession, n: int, seed: int) -> DataFrame:
    """A data frame with the tokens and labels of made-up addresses."""
    rows = [([word for word, _ in line], [label for _, label in line]) for line in addresses(n, seed)]
    return spark.createDataFrame(rows, "tokens array<string>, labels array<string>")


def main() -> None:
    """Make addresses, train, tag and evaluate."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers use the same Python
    spark = SparkSession.builder.master("local[2]").appName("addresses").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        labelled(spark, 2000, seed=1).write.parquet(f"{folder}/train")
        labelled(spark, 500, seed=2).write.parquet(f"{folder}/test")

        tagger = corate.spark.train(spark.read.parquet(f"{folder}/train").repartition(4), "empirical")
        tagger.save(Path(folder) / "addresses.corate")
        print(tagger)

        unlabelled = spark.read.parquet(f"{folder}/test").drop("labels")
        tagged = corate.spark.tag(unlabelled, Path(folder) / "addresses.corate", scores=True, errors="problem")
        tagged.show(5, truncate=60)

        print(corate.spark.evaluate(spark.read.parquet(f"{folder}/test"), tagger))
    spark.stop()


if __name__ == "__main__":
    main()
