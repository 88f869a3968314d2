"""The trainer of `CRF`: its log has one line for each iteration."""

from __future__ import annotations

from typing import Any

from corate.compat.pycrfsuite.trainer import Trainer

__all__ = ["LinePerIterationTrainer"]

#: The numbers in the line of an iteration.
_SHOWN = (
    ("time", "time={:<5.2f}"),
    ("loss", "loss={:<8.2f}"),
    ("active_features", "active={:<5}"),
    ("avg_precision", "precision={:.3f} "),
    ("avg_recall", "recall={:.3f} "),
    ("avg_f1", "F1={:.3f} "),
    ("item_accuracy_float", "Acc(item/seq)={:.3f}"),
    ("instance_accuracy_float", "{:.3f} "),
    ("feature_norm", "feature_norm={:<8.2f}"),
)


class LinePerIterationTrainer(Trainer):
    """Prints one line for each iteration, and at the end the scores of each label on held-out data."""

    def on_iteration(self, log: str, info: Any) -> None:
        """Print the numbers of an iteration."""
        shown = [form.format(info[name]) for name, form in _SHOWN if name in info]
        print(" ".join([f"Iter {info['num']:<3}", *shown]).rstrip())

    def on_optimization_end(self, log: str) -> None:
        """Print the scores of each label after the last iteration."""
        assert self.logparser is not None
        scores = (self.logparser.last_iteration or {}).get("scores", {})
        if scores:
            width = max(len("Label"), *map(len, scores))
            head = f"{'Label':<{width}}  Precision  Recall     F1  Support"
            print("=" * len(head), head, "-" * len(head), sep="\n")
            for label, score in sorted(scores.items()):
                ratios = (score.precision or 0, score.recall or 0, score.f1 or 0)
                print("{:<{width}}  {:9.3f}  {:6.3f}  {:5.3f}  {:7}".format(label, *ratios, score.ref, width=width))
            print("-" * len(head))
        super().on_optimization_end(log)
