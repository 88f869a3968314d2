"""A program for sklearn-crfsuite that runs on Corate: `python examples/move_from_sklearn_crfsuite.py`.

Only the import has changed. It was:

    import sklearn_crfsuite
    from sklearn_crfsuite import metrics
"""

from __future__ import annotations

from typing import Any

from corate.compat import sklearn_crfsuite
from corate.compat.sklearn_crfsuite import metrics
from corate.demo import addresses


def word2features(sentence: list[tuple[str, str]], i: int) -> dict[str, Any]:
    """The features of a word, as programs for CRFsuite write them."""
    word = sentence[i][0]
    found = {"bias": 1.0, "word.lower()": word.lower(), "word[-3:]": word[-3:], "word.isdigit()": word.isdigit()}
    if i > 0:
        found["-1:word.lower()"] = sentence[i - 1][0].lower()
    else:
        found["BOS"] = True
    return found


def main() -> None:
    """Train with CRFsuite's algorithm and parameters, then with Corate's default method."""
    lines = list(addresses(1200, seed=1))
    X = [[word2features(line, i) for i in range(len(line))] for line in lines]
    y = [[label for _, label in line] for line in lines]
    for parameters in ({"algorithm": "lbfgs", "c1": 0.1, "c2": 0.1, "max_iterations": 50}, {"algorithm": "polish"}):
        crf = sklearn_crfsuite.CRF(**parameters)
        crf.fit(X[:1000], y[:1000])
        score = metrics.flat_f1_score(y[1000:], crf.predict(X[1000:]), average="weighted")
        print(f"{parameters['algorithm']:7} weighted F1 {score:.3f}")


if __name__ == "__main__":
    main()
