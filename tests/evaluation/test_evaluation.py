from __future__ import annotations

import io
import json
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.corpus import Attributes, Column, Corpus, StringTable
from corate.errors import DataError
from corate.evaluation.report import Report, compare_labels
from corate.spans import SpanLabels
from reference import chunks as reference

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from seqeval import metrics as seqeval
    from seqeval.metrics.sequence_labeling import get_entities

KINDS = ["PER", "LOC", "a-b"]


def labels_of(roles: str) -> list[str]:
    return ["O", *(f"{role}-{kind}" for role in roles for kind in KINDS)]


def pairs_of(labels: list[str]) -> st.SearchStrategy[list[tuple[list[str], list[str]]]]:
    """Sentences of gold and predicted labels, any sequence of them, well-formed or not, often alike."""
    token = st.sampled_from(labels).flatmap(lambda gold: st.tuples(st.just(gold), st.sampled_from([gold, *labels])))
    sentence = st.lists(token, max_size=8).map(lambda tokens: ([g for g, _ in tokens], [p for _, p in tokens]))
    return st.lists(sentence, min_size=1, max_size=5).filter(lambda sentences: any(gold for gold, _ in sentences))


def corpus_of(gold: list[list[str]]) -> Corpus:
    return Corpus.from_sentences([[f"w{i}" for i in range(len(labels))] for labels in gold], gold)


def unzip(sentences: list[tuple[list[str], list[str]]]) -> tuple[list[list[str]], list[list[str]]]:
    return [gold for gold, _ in sentences], [predicted for _, predicted in sentences]


# -- chunks and their scores -------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.sampled_from(labels_of("BIESLUMW")), max_size=10), max_size=5))
@settings(deadline=None)
def test_chunks_are_those_of_the_reference(sentences: list[list[str]]) -> None:
    table, ids = StringTable.intern(label for sentence in sentences for label in sentence)
    strings = table.to_list()
    offsets = np.cumsum([0, *map(len, sentences)])
    labels = SpanLabels.of(strings, typed=True)
    start, stop, kind = labels.find(ids, offsets)
    types = labels.types
    found = list(zip(start.tolist(), stop.tolist(), [types[k] for k in kind.tolist()], strict=True))
    assert found == [
        (a + base, b + base, kind)
        for base, sentence in zip(offsets.tolist(), sentences, strict=False)
        for a, b, kind in reference.chunks(sentence)
    ]


@given(st.lists(st.sampled_from(labels_of("BIES")), max_size=12))
def test_the_reference_finds_the_chunks_that_seqeval_finds(sentence: list[str]) -> None:
    assert reference.chunks(sentence) == [(a, b + 1, kind) for kind, a, b in get_entities(sentence)]


@pytest.mark.parametrize("labels", [labels_of("I"), labels_of("BI"), labels_of("BIES")])
def test_scores_are_those_of_seqeval_and_of_the_reference(labels: list[str]) -> None:
    @given(pairs_of(labels))
    @settings(deadline=None)
    def check(sentences: list[tuple[list[str], list[str]]]) -> None:
        gold, predicted = unzip(sentences)
        report = compare_labels(corpus_of(gold), predicted)
        want = reference.scores(gold, predicted)
        if report.f1 is None:
            assert not any(label[:2] in ("B-", "I-", "S-") for s in (*gold, *predicted) for label in s)
            return
        assert (report.precision, report.recall, report.f1) == pytest.approx(want.pop("")[:3])
        assert report.types.keys() >= want.keys()
        for kind, score in report.types.items():
            assert (score.precision, score.recall, score.f1, score.support) == pytest.approx(
                want.get(kind, (0.0, 0.0, 0.0, 0))
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert report.accuracy == pytest.approx(seqeval.accuracy_score(gold, predicted))
            assert report.precision == pytest.approx(seqeval.precision_score(gold, predicted, zero_division=0))
            assert report.recall == pytest.approx(seqeval.recall_score(gold, predicted, zero_division=0))
            assert report.f1 == pytest.approx(seqeval.f1_score(gold, predicted, zero_division=0))

    check()


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("I-X I-X O I-X", [(0, 2), (3, 4)]),  # IOB1
        ("I-X B-X I-X", [(0, 1), (1, 3)]),  # IOB1: B only between neighbours of one type
        ("B-X B-X I-X I-Y", [(0, 1), (1, 3), (3, 4)]),  # IOB2, and a type that changes without a B
        ("B-X E-X S-X B-X I-X E-X", [(0, 2), (2, 3), (3, 6)]),  # IOBES
        ("E-X E-X I-X", [(0, 1), (1, 2), (2, 3)]),  # nothing goes on after E
        ("B-X L-X U-X B-X M-X E-X W-X", [(0, 2), (2, 3), (3, 6), (6, 7)]),  # BILOU, BMEWO
    ],
)
def test_chunks_of_each_scheme(sentence: str, found: list[tuple[int, int]]) -> None:
    table, ids = StringTable.intern(sentence.split())
    start, stop, _ = SpanLabels.of(table.to_list(), typed=True).find(ids, np.array([0, len(ids)]))
    assert list(zip(start.tolist(), stop.tolist(), strict=True)) == found


def test_a_chunk_never_crosses_a_sentence() -> None:
    report = compare_labels(corpus_of([["B-X"], ["I-X"]]), [["B-X"], ["I-X"]])
    assert report.types["X"].support == 2


@pytest.mark.parametrize(
    "labels", [["NN", "VB"], ["O", "O"], ["B-", "O"], ["B", "I"], ["B-X", "NN"], ["b-X", "O"], ["X-B", "O"]]
)
def test_labels_that_are_no_spans_have_no_f1(labels: list[str]) -> None:
    report = compare_labels(corpus_of([labels]), [labels])
    assert (report.precision, report.recall, report.f1, dict(report.types)) == (None, None, None, {})
    assert report.accuracy == 1.0


def test_a_predicted_label_of_another_form_is_outside() -> None:
    report = compare_labels(corpus_of([["B-X", "I-X", "I-X"]]), [["B-X", "NN", "I-X"]])
    assert (report.precision, report.recall) == (0.0, 0.0)
    assert report.types["X"].predicted == 2


def test_entities_found_where_there_are_none_cost_precision() -> None:
    report = compare_labels(corpus_of([["O", "O"]]), [["B-X", "O"]])
    assert (report.precision, report.recall, report.f1) == (0.0, 0.0, 0.0)
    assert compare_labels(corpus_of([["B-X", "O"]]), [["O", "O"]]).recall == 0.0


# -- tokens ------------------------------------------------------------------------------------------------------------


@given(pairs_of(["A", "B", "C", "D"]), st.sets(st.sampled_from([f"w{i}" for i in range(8)])))
@settings(deadline=None)
def test_accuracies_and_confusions_are_counts_of_tokens(sentences: Any, known: set[str]) -> None:
    gold, predicted = unzip(sentences)
    report = compare_labels(corpus_of(gold), predicted, known)
    pairs = [(f"w{i}", *pair) for g, p in sentences for i, pair in enumerate(zip(g, p, strict=True))]

    def accuracy(tokens: list[tuple[str, str, str]]) -> float | None:
        return sum(g == p for _, g, p in tokens) / len(tokens) if tokens else None

    assert report.tokens == len(pairs)
    assert report.accuracy == pytest.approx(accuracy(pairs))
    assert report.accuracy_known == accuracy([t for t in pairs if t[0] in known])
    assert report.accuracy_oov == accuracy([t for t in pairs if t[0] not in known])
    assert report.tokens_oov == sum(word not in known for word, _, _ in pairs)
    assert report.sentence_accuracy == pytest.approx(np.mean([g == p for g, p in sentences]))
    counts = Counter((g, p) for _, g, p in pairs)
    labels, matrix = report.confusion.labels, report.confusion.matrix()
    assert {(labels[i], labels[j]): matrix[i, j] for i, j in np.argwhere(matrix)} == counts
    errors = report.confusion.most_confused(100)
    assert {(g, p): n for g, p, n in errors} == {pair: n for pair, n in counts.items() if pair[0] != pair[1]}
    assert [n for _, _, n in errors] == sorted((n for _, _, n in errors), reverse=True)


def test_known_words_may_be_any_collection_of_words() -> None:
    corpus = Corpus.from_sentences([["a", "b", "c"]], [["X", "Y", "Z"]])
    for known in ({"a", "d"}, ["d", "a"], {"a": 1}.keys(), StringTable.intern(["d", "a"])[0]):
        report = compare_labels(corpus, [["X", "X", "Z"]], known)
        assert (report.accuracy_known, report.accuracy_oov, report.tokens_oov) == (1.0, 0.5, 2)


def test_without_known_words_or_without_words_nothing_is_said_of_them() -> None:
    assert compare_labels(corpus_of([["X"]]), [["X"]]).accuracy_known is None
    features = Corpus.from_features([[["f"]]], [["X"]])
    assert isinstance(features.attributes, Attributes)
    report = compare_labels(features, [["X"]], {"f"})
    assert (report.accuracy_known, report.accuracy_oov, report.tokens_oov) == (None, None, None)


def test_a_label_that_only_one_side_knows_is_counted_wrong() -> None:
    report = compare_labels(corpus_of([["A", "new"]]), [["A", "B"]])
    assert report.accuracy == 0.5
    assert report.confusion.most_confused() == [("new", "B", 1)]


@pytest.mark.parametrize("labels", [labels_of("BIES"), [f"t{i}" for i in range(5000)]])
def test_ids_with_another_numbering_give_the_same_report(labels: list[str]) -> None:
    rng = np.random.default_rng(0)
    ids = rng.integers(0, len(labels), (40, 25))
    guesses = np.where(rng.random(ids.shape) < 0.7, ids, rng.integers(0, len(labels), ids.shape))
    gold = corpus_of([[labels[i] for i in row] for row in ids])
    order = rng.permutation(len(labels))
    place = np.argsort(order)
    table = StringTable.intern([labels[i] for i in order] + ["never predicted"])[0]
    column = Column("label", place[guesses.reshape(-1)].astype(np.int32), table)
    by_ids = compare_labels(gold, column)
    by_strings = compare_labels(gold, [[labels[i] for i in row] for row in guesses])
    assert by_ids.to_dict(confused=1000) == by_strings.to_dict(confused=1000)
    assert by_ids.accuracy == pytest.approx((ids == guesses).mean())


def test_a_slice_is_judged_by_its_own_labels() -> None:
    corpus = Corpus.from_sentences([[("a", "NN")], [("b", "B-X"), ("c", "O")]])
    assert compare_labels(corpus, [["NN"], ["B-X", "O"]]).f1 is None
    assert compare_labels(corpus[1], [["B-X", "O"]]).f1 == 1.0


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ([["X", "X"]], "2 sentences but predicted labels for 1"),
        ([["X", "X"], ["X"], ["X"]], "2 sentences but predicted labels for 3"),
        ([["X"], ["X", "X"]], "sentence 0: 2 tokens but 1 predicted label"),
        ([["X", "X"], []], "sentence 1: 1 token but 0 predicted labels"),
        (["XX", "X"], "not one string"),
        (Column.of("label", ["X"]), "3 tokens but 1 predicted label"),
        (Column("label", np.array([0, 0, -1], dtype=np.int32), StringTable.intern(["X"])[0]), "between 0 and 0"),
        (Column("label", np.array([0, 0, 1], dtype=np.int32), StringTable.intern(["X"])[0]), "between 0 and 0"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(predicted: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        compare_labels(corpus_of([["X", "X"], ["X"]]), predicted)


def test_no_labels_and_no_tokens_are_refused() -> None:
    with pytest.raises(DataError, match="no labels"):
        compare_labels(Corpus.from_sentences([["a"]]), [["X"]])
    with pytest.raises(DataError, match="no tokens"):
        compare_labels(Corpus.from_sentences([], []), [])


# -- showing -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def report() -> Report:
    gold = Corpus.from_sentences([[("Ann", "B-PER"), ("Lee", "I-PER"), ("left", "O")], [("Rome", "B-[red]")]])
    return compare_labels(gold, [["B-PER", "I-PER", "O"], ["B-PER"]], known_words={"Ann", "left"})


def test_the_dictionary_is_json_with_the_names_scripts_rely_on(report: Report) -> None:
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data == report.to_dict()
    assert {name: data[name] for name in ("accuracy", "accuracy_known", "accuracy_oov", "tokens", "sentences")} == {
        "accuracy": 0.75, "accuracy_known": 1.0, "accuracy_oov": 0.5, "tokens": 4, "sentences": 2
    }  # fmt: skip
    assert (data["precision"], data["recall"], data["f1"]) == (0.5, 0.5, 0.5)
    assert data["types"]["PER"] == {"precision": 0.5, "recall": 1.0, "f1": 2 / 3, "support": 1, "predicted": 2}
    assert data["most_confused"] == [{"gold": "B-[red]", "predicted": "B-PER", "tokens": 1}]
    plain = json.loads(json.dumps(compare_labels(corpus_of([["NN"]]), [["NN"]]).to_dict()))
    assert (plain["f1"], plain["accuracy_oov"], plain["types"]) == (None, None, {})


def test_the_report_reads_well_in_text_and_in_rich(report: Report) -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=100)
    console.print(report)
    for text in (str(report), console.file.getvalue()):  # type: ignore[attr-defined]
        for word in ("accuracy", "75.00%", "OOV words", "F1", "PER", "66.67%", "[red]"):
            assert word in text
    assert "F1 50.00%" in repr(report)
    assert "\n" not in repr(report)
    assert "F1" not in str(compare_labels(corpus_of([["NN"]]), [["NN"]]))
