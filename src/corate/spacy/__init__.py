"""Documents of spaCy: corpora from them, labels into them, and a component for pipelines. It needs spaCy 3.7 or newer.

``nlp.add_pipe("corate", config={"model": "model.corate"})`` adds the component; see docs/spacy.md.
"""

from __future__ import annotations

try:
    import spacy  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "corate.spacy needs spaCy; install it with: pip install 'corate[spacy]'", name=error.name
    ) from error

from corate.spacy.component import CorateComponent
from corate.spacy.docs import from_docs, set_labels

__all__ = ["CorateComponent", "from_docs", "set_labels"]
