"""Corate trains conditional random fields in seconds, one factor at a time.

>>> import corate
>>> corpus = corate.Corpus.from_sentences([[("Ann", "NAME"), ("sleeps", "VERB")], [("Bob", "NAME"), ("sings", "VERB")]])
>>> tagger = corate.train(corpus)
>>> tagger.tag(["Ann", "sings"])
['NAME', 'VERB']
"""

from corate.archive import load
from corate.corpus import Corpus
from corate.errors import CorateError, DataError, FeatureError, ModelError
from corate.evaluation import Report
from corate.evaluation import evaluate as _evaluate
from corate.formats import read, write
from corate.tagger import Tagger
from corate.training import train

__all__ = [
    "CorateError",
    "Corpus",
    "DataError",
    "FeatureError",
    "ModelError",
    "Report",
    "Tagger",
    "evaluate",
    "load",
    "read",
    "train",
    "write",
]
__version__ = "0.1.0"


def evaluate(tagger: Tagger, corpus: Corpus, *, threads: int = 1) -> Report:
    """Tag a labelled corpus and compare: accuracy for all, known and unknown words, and chunks where labels are spans.

    >>> corpus = Corpus.from_sentences([[("Ann", "NAME"), ("sleeps", "VERB")], [("Bob", "NAME"), ("sings", "VERB")]])
    >>> evaluate(train(corpus), corpus).accuracy
    1.0
    """
    if not isinstance(corpus, Corpus):
        raise DataError(f"a corpus is needed, not a {type(corpus).__name__}; make one with Corpus.from_sentences")
    known = tagger.words if len(tagger.words) else None
    return _evaluate(corpus, tagger.tag_corpus(corpus, threads=threads), known)
