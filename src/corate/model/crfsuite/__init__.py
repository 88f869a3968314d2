"""CRFsuite's model files, read and written."""

from __future__ import annotations

from corate.model.crfsuite.conversion import has_suffix, load, model_of, recognised, save, tagger_of

__all__ = ["has_suffix", "load", "model_of", "recognised", "save", "tagger_of"]
