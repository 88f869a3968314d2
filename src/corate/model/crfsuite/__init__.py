"""CRFsuite's model files, read and written."""

from __future__ import annotations

from corate.model.crfsuite.conversion import (
    MAGIC,
    from_bytes,
    has_suffix,
    header,
    load,
    model_of,
    recognised,
    save,
    tagger_of,
)

__all__ = ["MAGIC", "from_bytes", "has_suffix", "header", "load", "model_of", "recognised", "save", "tagger_of"]
