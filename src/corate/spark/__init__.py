"""Training, tagging and evaluation on Apache Spark. It needs PySpark 4, PyArrow (the extra ``spark``) and Java 17.

Rows are sentences: a column with the tokens (``array<string>``) and, for training, one with their labels.
"""

from __future__ import annotations

try:
    import pyarrow  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "corate.spark needs pyarrow and pyspark; install them with: pip install 'corate[spark]'", name=error.name
    ) from error

from corate.spark.tagging import evaluate, tag
from corate.spark.training import train

__all__ = ["evaluate", "tag", "train"]
