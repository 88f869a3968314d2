"""Training on data frames of Spark: as in memory, with another source and another way to fit.

The orchestration is that of :mod:`corate.training.train`. :mod:`corate.spark.counting` is the source, which counts on
the executors; :mod:`corate.spark.chains` fits weights on partitions. What is not possible on Spark is refused here.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from corate.arguments import check_seed, check_whole
from corate.errors import ConfigError
from corate.features import FeatureSource
from corate.model.tagger import Tagger
from corate.progress import OnProgress
from corate.spark.chains import fit_on_cluster
from corate.spark.counting import SparkSource, Where
from corate.spark.frames import TokenColumns, check_columns, named_columns
from corate.training.choices import refuse_labels
from corate.training.methods import METHODS, Method, resolve_method
from corate.training.source import RunContext
from corate.training.train import reporter, train_on

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["train"]


def train(
    df: DataFrame,
    method: str | Method = "empirical",
    *,
    tokens: TokenColumns = "tokens",
    labels: str = "labels",
    features: FeatureSource = None,
    rounds: int | None = None,
    seed: int = 0,
    progress: OnProgress | None = None,
    **options: Any,
) -> Tagger:
    """Train a tagger on the labelled sentences of a data frame. There are three methods:

    - ``"empirical"`` counts each partition and adds up the counts. The tensors of the model are the same, byte for
      byte, for any partitions, order of rows and number of executors. Settings are tuned on a sample of sentences,
      which is chosen by a hash of their tokens.
    - ``"polish"`` makes a stochastic pass over each partition, all from the same weights, and then averages the weights
      of the partitions. This is a round. The weights depend on the partitions. Accuracy is close to that of training
      on one machine.
    - ``"standard"`` uses L-BFGS, with gradients that are summed over the partitions. The model is the same as on one
      machine, up to rounding.

    Args:
        df: a row for each sentence. Rows whose tokens are null or empty are left out.
        method: the name of the method, or its options, such as ``corate.Polish(c2=0.1)``.
        tokens: the column of the tokens, ``array<string>``; for several columns, a mapping from their names in
            templates to columns of ``df``, such as ``{"word": "tokens", "pos": "tags"}``.
        labels: the column of the labels, ``array<string>``, one label for each token.
        features: as in :func:`corate.train`, without feature functions.
        rounds: the number of rounds of ``"polish"``; by default, the number of passes that it makes on one machine.
        seed: the random seed. It determines which sentences are held out, and the order of stochastic steps.
        progress: a function that is called with a :class:`~corate.ProgressEvent` during training.
        **options: options of a method that is given by name. Some are not available on Spark.

    Raises ConfigError for a method or an option that is not available on Spark, FeatureError for a feature function,
    and DataError if a column is missing or has another type, or if there are no tokens. If the labels of a row are
    null, or differ in number from its tokens, Spark raises ``pyspark.errors.PythonException``, whose message shows the
    row.
    """
    chosen = resolve_method(method, options)
    _check(chosen, rounds)
    columns = named_columns(tokens, ("word",) if isinstance(tokens, str) else ())
    check_columns(df, [*columns.values(), labels])
    where = Where(columns, labels)
    context = RunContext(1, check_seed(seed), reporter(progress))
    if chosen.counts_only:  # one pass over the data is enough
        return train_on(SparkSource(df, where, context), chosen, context, features=features).tagger
    data = where.selected(df).persist()
    try:
        fit = partial(fit_on_cluster, data, where, rounds)
        source = SparkSource(data, where, context)
        refuse_labels(source, chosen)
        return train_on(source, chosen, context, features=features, fit=fit).tagger
    finally:
        data.unpersist()


def _check(method: Method, rounds: int | None) -> None:
    """Raise ConfigError for methods and options that are not for Spark."""
    if "spark" not in method.places:
        able = [repr(name) for name, other in METHODS.items() if "spark" in other.places]
        raise ConfigError(
            f"Spark trains the methods {', '.join(able[:-1])} and {able[-1]}, not {method.name!r}", option="method"
        )
    if rounds is not None:
        if not method.in_passes:
            raise ConfigError("rounds is for the method 'polish'", option="rounds")
        check_whole("rounds", rounds, 1)
    refused = method.refused("spark")
    if refused is not None:
        raise ConfigError(f"{refused.what} is not for training on Spark; {refused.remedy}", option=refused.option)
