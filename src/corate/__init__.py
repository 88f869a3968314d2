"""Corate trains sequence labellers (conditional random fields) in seconds.

It counts first, and then improves the counted scores jointly, in a few passes over the sentences.

>>> import corate
>>> corpus = corate.Corpus.from_sentences([[("Ann", "NAME"), ("sleeps", "VERB")], [("Bob", "NAME"), ("sings", "VERB")]])
>>> tagger = corate.train(corpus)
>>> tagger.tag(["Ann", "sings"])
['NAME', 'VERB']
"""

from __future__ import annotations

from corate.errors import ConfigError, CorateError, DataError, FeatureError, ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from corate.corpus import Corpus
    from corate.corpus.attributes import ItemSequence
    from corate.corpus.tokenizer import tokenize
    from corate.evaluation.report import Report, evaluate
    from corate.features.word_classes import word_classes
    from corate.formats import read, read_graph, write
    from corate.graphs.model import GraphModel
    from corate.model.archive import load
    from corate.model.constraints import Constraints
    from corate.model.tagger import Tagger
    from corate.progress import ProgressEvent
    from corate.training.methods import MEMM, Empirical, Perceptron, Piecewise, Polish, Separate, Standard
    from corate.training.train import train, train_file
    from corate.versions import show_versions

__all__ = [
    "MEMM",
    "ConfigError",
    "Constraints",
    "CorateError",
    "Corpus",
    "DataError",
    "Empirical",
    "FeatureError",
    "GraphModel",
    "ItemSequence",
    "ModelError",
    "Perceptron",
    "Piecewise",
    "Polish",
    "ProgressEvent",
    "Report",
    "Separate",
    "Standard",
    "Tagger",
    "evaluate",
    "load",
    "read",
    "read_graph",
    "show_versions",
    "tokenize",
    "train",
    "train_file",
    "word_classes",
    "write",
]
__version__ = "0.2.0.dev0"

#: Where names are imported from when they are first used: the command line can then hear Ctrl-C before NumPy is here.
_MODULES = {
    "Constraints": "model.constraints",
    "Corpus": "corpus",
    "GraphModel": "graphs.model",
    "ItemSequence": "corpus.attributes",
    "Report": "evaluation.report",
    "evaluate": "evaluation.report",
    "ProgressEvent": "progress",
    "Tagger": "model.tagger",
    **dict.fromkeys(
        ("Empirical", "MEMM", "Perceptron", "Piecewise", "Polish", "Separate", "Standard"), "training.methods"
    ),
    "load": "model.archive",
    **dict.fromkeys(("read", "read_graph", "write"), "formats"),
    "show_versions": "versions",
    "tokenize": "corpus.tokenizer",
    "train": "training.train",
    "train_file": "training.train",
    "word_classes": "features.word_classes",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    module = f"{__name__}.{_MODULES.get(name, name)}"
    try:
        found = None if name.startswith("__") else import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        found = None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(found, name) if name in _MODULES else found
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
