"""The interface of python-crfsuite 0.9, with training and tagging by corate.

>>> import os, tempfile
>>> from corate.compat.pycrfsuite import Tagger, Trainer
>>> trainer = Trainer(params={"c2": 0.1}, verbose=False)
>>> trainer.append([{"w": "the"}, {"w": "dog"}], ["DET", "NOUN"])
>>> trainer.append([{"w": "a"}, {"w": "cat"}], ["DET", "NOUN"])
>>> with tempfile.TemporaryDirectory() as folder:
...     trainer.train(os.path.join(folder, "small.crfsuite"))
...     tagger = Tagger()
...     _ = tagger.open(os.path.join(folder, "small.crfsuite"))
>>> tagger.tag([{"w": "a"}, {"w": "dog"}])
['DET', 'NOUN']
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from corate.compat.pycrfsuite.dump import ParsedDump
    from corate.compat.pycrfsuite.tagger import Tagger
    from corate.compat.pycrfsuite.trainer import BaseTrainer, Trainer
    from corate.corpus.attributes import ItemSequence

__all__ = ["CRFSUITE_VERSION", "BaseTrainer", "CRFSuiteError", "ItemSequence", "ParsedDump", "Tagger", "Trainer"]

#: Where names are imported from when they are first used: programs that only tag do not import the trainer.
_MODULES = {
    "BaseTrainer": f"{__name__}.trainer",
    "ItemSequence": "corate.corpus.attributes",
    "ParsedDump": f"{__name__}.dump",
    "Tagger": f"{__name__}.tagger",
    "Trainer": f"{__name__}.trainer",
}
#: The version of CRFsuite whose model files and parameters these are.
CRFSUITE_VERSION = "0.12.2"


class CRFSuiteError(Exception):
    """The error of python-crfsuite for failures in CRFsuite, so that programs can name it. Corate does not raise it."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CRFsuite error {code}")
        self.code = code


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
