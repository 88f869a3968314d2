"""The model file of a `CRF`. There is one only while someone asks for its name."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

from corate.compat.pycrfsuite.tagger import Tagger
from corate.compat.pycrfsuite.trainer import save_model
from corate.model.tagger import Tagger as Model

__all__ = ["FileResource"]


class FileResource:
    """The model of a `CRF` in memory, and its file.

    ``name`` is the given file name. Without one it is None before training; afterwards asking for it writes a temporary
    file, which is removed with this object unless ``keep_tempfiles``.
    """

    def __init__(self, filename: str | os.PathLike[str] | None = None, keep_tempfiles: bool = False) -> None:
        self.filename = filename
        self.keep_tempfiles = keep_tempfiles
        self.tagger: Tagger | None = None
        self.trained = False
        self._temporary: str | None = None

    @property
    def auto(self) -> bool:
        """Whether the file is a temporary one."""
        return self.filename is None

    @property
    def name(self) -> str | None:
        """The path of the file."""
        if self.filename is not None:
            return os.fspath(self.filename)
        if self._temporary is None and self.tagger is not None:
            self._temporary = _written(self.tagger)
            if not self.keep_tempfiles:
                weakref.finalize(self, Path(self._temporary).unlink, missing_ok=True)
        return self._temporary

    def keep(self, model: Model) -> None:
        """Keep a model that was trained, and write it to the given file, if any."""
        if self.filename is not None:
            save_model(model, self.filename)
        self.tagger, self.trained = Tagger.of(model), True

    def opened(self) -> Tagger | None:
        """The tagger of the model; None if there is no model."""
        if self.tagger is None and self.filename is not None:
            self.tagger = Tagger.of_file(self.filename)
        return self.tagger

    # -- pickling: a model without a file name of its own is in the pickle ----------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {
            "filename": self.filename,
            "keep_tempfiles": self.keep_tempfiles,
            "tagger": self.tagger if self.auto else None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a model, also from a pickle of sklearn-crfsuite."""
        theirs = "auto" in state
        filename = state.get("name") if theirs and not state["auto"] else state.get("filename")
        FileResource.__init__(self, filename, state["keep_tempfiles"])
        self.tagger = state.get("tagger")
        content = state.get("__FILE_RESOURCE_DATA__")
        if content is not None:
            self.tagger = Tagger.of_file(content)
        self.trained = self.tagger is not None


def _written(tagger: Tagger) -> str:
    descriptor, path = tempfile.mkstemp(".crfsuite", "model")
    os.close(descriptor)
    try:
        save_model(tagger.model, path)
    except BaseException:
        os.unlink(path)
        raise
    return path
