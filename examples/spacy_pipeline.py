"""A tagger in a spaCy pipeline: `python examples/spacy_pipeline.py`.

Requires spaCy (the extra `spacy`). It trains an entity recogniser on documents, adds it to a pipeline, saves the
pipeline together with the model, loads it, and prints the entities of a text with their probabilities.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin

import corate
from corate.demo import addresses
from corate.spacy import from_docs


def main() -> None:
    """Train, save, load and tag."""
    nlp = spacy.blank("en")
    documents = DocBin()
    for line in addresses(2000, seed=1):
        documents.add(Doc(nlp.vocab, [word for word, _ in line], ents=[label for _, label in line]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents.to_disk(folder / "train.spacy")
        tagger = corate.train(from_docs(folder / "train.spacy"))
        tagger.save(folder / "address.corate")

        nlp.add_pipe("corate", config={"model": str(folder / "address.corate"), "scores": True})
        nlp.to_disk(folder / "pipeline")
        (folder / "address.corate").unlink()  # the pipeline has the model

        loaded = spacy.load(folder / "pipeline")
    doc = loaded("Ann Lee, 12 Oak St, Boston")
    for span, score in zip(doc.spans["corate"], doc.spans["corate"].attrs["scores"], strict=True):
        print(f"{span.text:12} {span.label_:8} {score:.2f}")


if __name__ == "__main__":
    main()
