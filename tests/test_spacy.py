"""Documents of spaCy give a corpus and take labels, and a pipeline with a tagger is saved and loaded as a whole."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import ConfigError, Corpus, DataError, ModelError

try:
    import spacy
except ModuleNotFoundError:
    pytest.skip("SPACY IS NOT TESTED: it is not installed; pip install 'corate[spacy]'", allow_module_level=True)

from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from corate.spacy import from_docs, set_labels

ENTITIES = [
    [("Ann", "B-PER"), ("Lee", "I-PER"), ("lives", "O"), ("in", "O"), ("Boston", "B-LOC"), (".", "O")],
    [("Bob", "B-PER"), ("sings", "O"), (".", "O")],
]
TAGS = [[("the", "DT"), ("dog", "NN"), ("barks", "VB")], [("a", "DT"), ("cat", "NN")]]


VOCAB = spacy.blank("en").vocab


def document(words: list[str], nlp: Language | None = None, **options: Any) -> Doc:
    return Doc(VOCAB if nlp is None else nlp.vocab, words, **options)


@pytest.fixture(scope="module")
def ner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "ner.corate"
    corate.train(Corpus.from_sentences(ENTITIES * 3), "empirical").save(path)
    return path


@pytest.fixture(scope="module")
def tags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tags.corate"
    corate.train(Corpus.from_sentences(TAGS * 3), "empirical").save(path)
    return path


def pipeline(model: Path, **config: Any) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("corate", config={"model": str(model), **config})
    return nlp


def entities(doc: Doc) -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in doc.ents]


# -- documents -------------------------------------------------------------------------------------------------------


def test_white_space_is_left_out_and_sentences_are_those_of_the_document() -> None:
    doc = spacy.blank("en")("  Ann  Lee\n\nsings . She sleeps .")
    doc.ents = [Span(doc, 1, 4, "PER")]
    whole = from_docs([doc])
    assert whole.tokens(0) == ["Ann", "Lee", "sings", ".", "She", "sleeps", "."]
    assert whole.labels_of(0)[:3] == ["B-PER", "I-PER", "O"]
    for token in doc:
        token.is_sent_start = token.text == "She" or token.i == 0
    split = from_docs([doc, doc])
    assert [split.tokens(s) for s in range(4)] == [["Ann", "Lee", "sings", "."], ["She", "sleeps", "."]] * 2
    assert split.texts is not None
    assert split.texts.texts[0] == "Ann  Lee\n\nsings ."
    assert split.texts.starts.tolist()[:4] == [0, 5, 10, 16]


spans_or_none = st.sampled_from(["", "", "PER", "LOC"])
tokens = st.sampled_from(["Ann", "Lee", " ", "\n", "😀", "e\u0301", "日", "."])


@given(st.lists(st.lists(st.tuples(tokens, spans_or_none), max_size=6), max_size=3))
def test_labels_come_back_as_they_were(given_docs: list[list[tuple[str, str]]]) -> None:
    docs = []
    for rows in given_docs:
        doc = document([word for word, _ in rows])
        doc.ents = [Span(doc, i, i + 1, y) for i, (w, y) in enumerate(rows) if y and not w.isspace()]
        docs.append(doc)
    corpus = from_docs(docs)
    labels = [corpus.labels_of(s) for s in range(len(corpus))]
    copies = set_labels([document([word for word, _ in rows]) for rows in given_docs], labels)
    assert [entities(doc) for doc in copies] == [entities(doc) for doc in docs]
    bin = DocBin(docs=docs)
    again = from_docs(DocBin().from_bytes(bin.to_bytes()))
    assert [again.labels_of(s) for s in range(len(again))] == labels


def test_tags_other_columns_and_files(tmp_path: Path) -> None:
    doc = document(["the", "dog"], tags=["DT", "NN"], pos=["DET", "NOUN"])
    corpus = from_docs([doc], "pos_", columns={"pos": "tag_"})
    assert (corpus.rows(0), corpus.labels_of(0)) == ([("the", "DT"), ("dog", "NN")], ["DET", "NOUN"])
    DocBin(docs=[doc], attrs=["TAG"]).to_disk(tmp_path / "docs.spacy")
    assert from_docs(tmp_path / "docs.spacy", "tag_").labels_of(0) == ["DT", "NN"]
    assert from_docs([doc], None).labels is None
    assert len(from_docs([])) == len(from_docs([document([])])) == 0


def test_an_entity_over_a_sentence_boundary_begins_again() -> None:
    doc = document(["New", "York"], sent_starts=[True, True], ents=["B-LOC", "I-LOC"])
    corpus = from_docs([doc])
    assert [corpus.labels_of(s) for s in range(2)] == [["B-LOC"], ["B-LOC"]]


def test_missing_annotation_names_the_document_and_the_token(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"document 0, token 0 \('Ann'\): it is not known whether it is in an entity"):
        from_docs([document(["Ann"])])
    with pytest.raises(DataError, match=r"document 1, token 1 \('dog'\): tag_ is not set"):
        from_docs([document([]), document(["the", "dog"], tags=["DT", ""])], "tag_")
    with pytest.raises(ConfigError, match="tokens have no text 'tag'") as label:
        from_docs([document(["a"])], "tag")
    with pytest.raises(ConfigError, match="tokens have no text 'colour'") as columns:
        from_docs([document(["a"])], "tag_", columns={"colour": "colour"})
    assert (label.value.option, columns.value.option) == ("label", "columns")
    (tmp_path / "bad.spacy").write_bytes(b"no documents")
    with pytest.raises(DataError, match=r"bad\.spacy cannot be read as a file of spaCy documents"):
        from_docs(tmp_path / "bad.spacy")
    with pytest.raises(DataError, match="put it in a list"):
        from_docs(document(["a"]))


def test_labels_must_fit() -> None:
    with pytest.raises(DataError, match="document 0: a sentence has 2 tokens, but 1 label"):
        set_labels([document(["a", "b"])], [["O"]])
    with pytest.raises(DataError, match="labels for more sentences"):
        set_labels([document(["a"])], [["O"], ["O"]])
    with pytest.raises(DataError, match="the label 'B' has no type"):
        set_labels([document(["a"])], [["B"]])
    with pytest.raises(ConfigError, match="sets must be one of ents, tag_, not 'pos'"):
        set_labels([document(["a"])], [["O"]], sets="pos")


@pytest.mark.parametrize(
    ("overwrite", "expected"),
    [(True, [("Ann", "PER"), ("in Boston", "LOC")]), (False, [("Ann Lee", "ORG"), ("in Boston", "LOC")])],
)
def test_entities_that_are_there_already(overwrite: bool, expected: list[tuple[str, str]]) -> None:
    doc = document(["Ann", "Lee", "lives", "in", "Boston"])
    doc.ents = [Span(doc, 0, 2, "ORG"), Span(doc, 3, 5, "LOC")]
    set_labels([doc], [["B-PER", "O", "O", "O", "O"]], overwrite=overwrite)
    assert entities(doc) == expected


# -- the component ---------------------------------------------------------------------------------------------------


def test_the_component_sets_entities(ner: Path) -> None:
    nlp = pipeline(ner)
    texts = ["Ann  Lee lives\n in Boston .", "", "   ", "Bob sings ."] * 5
    expected = [[("Ann  Lee", "PER"), ("Boston", "LOC")], [], [], [("Bob", "PER")]] * 5
    assert [entities(nlp(text)) for text in texts] == expected
    assert [entities(doc) for doc in nlp.pipe(texts, batch_size=3)] == expected
    assert nlp.get_pipe("corate").labels == tuple(corate.load(ner).labels)
    tagger = corate.load(ner)
    doc = nlp("Ann Lee lives in Boston .")
    assert from_docs([doc]).labels_of(0) == tagger.tag([token.text for token in doc])


def test_the_component_sets_tags(tags: Path) -> None:
    doc = pipeline(tags)("the  cat barks")
    assert [token.tag_ for token in doc] == ["DT", "", "NN", "VB"]
    nlp = pipeline(tags, scores=True)
    doc = nlp("the  cat barks")
    expected = [max(own.values()) for own in corate.load(tags).marginals(["the", "cat", "barks"])]
    assert doc[1]._.corate_score is None
    assert [token._.corate_score for token in doc if not token.is_space] == pytest.approx(expected, abs=1e-5)


def test_sentence_boundaries_are_respected(ner: Path) -> None:
    nlp = pipeline(ner)
    nlp.add_pipe("sentencizer", first=True)
    doc = nlp("Bob sings . Ann Lee lives in Boston .")
    tagger = corate.load(ner)
    expected = [label for s in doc.sents for label in tagger.tag([token.text for token in s])]
    assert [token.ent_iob_ + ("-" + token.ent_type_) * bool(token.ent_type_) for token in doc] == expected


def test_spans_with_scores(ner: Path) -> None:
    nlp = pipeline(ner, scores=True, spans_key="found")
    docs = list(nlp.pipe(["Ann  Lee lives in Boston .", "x", "Bob sings ."]))
    for doc in docs:
        group = doc.spans["found"]
        assert [(span.text, span.label_) for span in group] == entities(doc)
        words = [token.text for token in doc if not token.is_space]
        probabilities = [entity.probability for entity in corate.load(ner).entities(words)]
        assert group.attrs["scores"].tolist() == pytest.approx(probabilities, abs=1e-5)
    again = Doc(nlp.vocab).from_bytes(docs[0].to_bytes())
    assert np.array_equal(again.spans["found"].attrs["scores"], docs[0].spans["found"].attrs["scores"])


@pytest.mark.parametrize(("overwrite", "expected"), [(False, "GPE"), (True, "LOC")])
def test_entities_of_other_components(ner: Path, overwrite: bool, expected: str) -> None:
    nlp = pipeline(ner, overwrite=overwrite)
    ruler = nlp.add_pipe("entity_ruler", first=True)
    ruler.add_patterns([{"label": "GPE", "pattern": "Boston"}, {"label": "VERB", "pattern": "lives"}])
    assert entities(nlp("Ann Lee lives in Boston .")) == [("Ann Lee", "PER"), ("lives", "VERB"), ("Boston", expected)]


@pytest.mark.parametrize(("overwrite", "expected"), [(False, ["X", "NN"]), (True, ["DT", "NN"])])
def test_tags_that_are_there_already(tags: Path, overwrite: bool, expected: list[str]) -> None:
    nlp = pipeline(tags, overwrite=overwrite)
    doc = nlp(document(["the", "cat"], nlp, tags=["X", ""]))
    assert [token.tag_ for token in doc] == expected


def test_a_saved_pipeline_has_the_model(ner: Path, tmp_path: Path) -> None:
    text = "Ann Lee lives in Boston ."
    copy = tmp_path / "copy.corate"
    copy.write_bytes(ner.read_bytes())
    nlp = pipeline(copy, scores=True)
    nlp.to_disk(tmp_path / "pipeline")  # before the first text
    data, config = nlp.to_bytes(), nlp.config
    copy.unlink()
    (tmp_path / "pipeline").rename(tmp_path / "elsewhere")
    loaded = spacy.load(tmp_path / "elsewhere")
    other = spacy.blank("en").from_config(config).from_bytes(data)
    for made in (nlp, loaded, other):
        assert entities(made(text)) == [("Ann Lee", "PER"), ("Boston", "LOC")]
        assert len(made(text).spans["corate"].attrs["scores"]) == 2
    loaded.to_disk(tmp_path / "again")
    assert entities(spacy.load(tmp_path / "again")(text)) == entities(nlp(text))


def test_a_component_can_be_sent_to_another_process(ner: Path) -> None:
    component = pickle.loads(pickle.dumps(pipeline(ner, scores=True).get_pipe("corate")))
    doc = component(document(["Bob", "sings", "."]))
    assert (entities(doc), len(doc.spans["corate"])) == ([("Bob", "PER")], 1)


def test_models_of_several_columns(tmp_path: Path) -> None:
    corpus = Corpus.from_sentences([[("a", "D", "X"), ("b", "N", "Y")], [("b", "D", "X")]] * 3)
    corate.train(corpus, features=["word[0]", "pos[0]"]).save(tmp_path / "two.corate")
    nlp = pipeline(tmp_path / "two.corate", columns={"pos": "pos_"})
    doc = nlp(document(["b", "a"], nlp, pos=["DET", "NOUN"]))
    expected = corate.load(tmp_path / "two.corate").tag([("b", "DET"), ("a", "NOUN")])
    assert [token.tag_ for token in doc] == expected
    with pytest.raises(ConfigError, match="the model reads the column 'pos'; name the attribute of tokens"):
        pipeline(tmp_path / "two.corate")("a b")


def test_what_a_component_cannot_do(tmp_path: Path, ner: Path) -> None:
    with pytest.raises(ModelError, match=r"needs the model file .*none.corate, which does not exist"):
        pipeline(tmp_path / "none.corate")("a")
    nlp = spacy.blank("en")
    nlp.add_pipe("corate")
    with pytest.raises(ModelError, match="the component 'corate' has no model"):
        nlp("a")
    with pytest.raises(ConfigError, match="sets must be one of ents, tag_, not 'pos'"):
        pipeline(ner, sets="pos")
    failed = []
    nlp = pipeline(tmp_path / "none.corate")
    nlp.set_error_handler(lambda name, component, docs, error: failed.append(type(error)))
    assert list(nlp.pipe(["a", "b"])) == []
    assert failed == [ModelError]


def test_entities_can_be_set_as_tags_and_tags_not_as_entities(ner: Path) -> None:
    doc = pipeline(ner, sets="tag_")("Bob sings .")
    assert [token.tag_ for token in doc] == ["B-PER", "O", "O"]


def test_spacy_finds_the_component_without_an_import(ner: Path) -> None:
    script = (
        "import spacy, sys\n"
        "nlp = spacy.blank('en')\n"
        "nlp.add_pipe('corate', config={'model': sys.argv[1]})\n"
        "print([ent.text for ent in nlp('Ann Lee lives in Boston .').ents])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(ner)], capture_output=True, text=True, check=False)
    assert done.stdout == "['Ann Lee', 'Boston']\n", done.stderr[-2000:]
