"""Taggers: every way in gives the same labels, scores are probabilities, and odd input is refused or survived."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import corate
from corate import Corpus, _native
from corate.counting.counts import PairCounts, label_ids
from corate.counting.rates import edge_scores
from corate.errors import DataError, ModelError
from corate.model.tagger import Tagger
from corate.training import choices
from small_corpora import WORDS, corpus_of, random_sentences, words_of

UNSEEN = ("THe", "Cats", "runs", "X-2", "44", "ü", "", " ")
CONTEXTS = ["word[0]", "pos[-1]|pos[0]", "suffix(word[0], 2)|word[1]", "word[-2]|pos[0]|pos[1]"]


def with_pos(words: list[str]) -> list[tuple[str, str]]:
    return [(w, "U" if w[:1].isupper() else "L") for w in words]


@pytest.fixture(scope="module")
def taggers() -> dict[str, Tagger]:
    labelled = random_sentences(60)
    two = Corpus.from_sentences(
        [[(*pair, y) for pair, (_, y) in zip(with_pos([w for w, _ in s]), s, strict=True)] for s in labelled]
    )
    return {
        "default": corate.train(corpus_of(labelled), "empirical", backoff="default"),
        "paper": corate.train(corpus_of(labelled), "empirical", backoff="paper"),
        "pairs of words": corate.train(corpus_of(labelled), "empirical", pairs="words"),
        "all labels": corate.train(corpus_of(labelled), "empirical", backoff="default", all_labels=True),
        "pooled": corate.train(
            corpus_of(labelled), "empirical", backoff="pooled", features=["word[0]", "word[-1]|word[0]"]
        ),
        "columns": corate.train(two, "empirical", backoff="pooled", features=CONTEXTS),
    }


@pytest.fixture(scope="module")
def tagger(taggers: dict[str, Tagger]) -> Tagger:
    return taggers["default"]


# -- every way in ------------------------------------------------------------------------------------------------------

tokens = st.sampled_from(WORDS + UNSEEN[:-2])
texts = st.lists(st.lists(tokens, min_size=1, max_size=7), max_size=6)


def as_text(sentences: list[list[Any]]) -> bytes:
    lines = ["\n".join("\t".join([t] if isinstance(t, str) else t) for t in s) for s in sentences]
    return "\n\n".join(lines).encode()


def parsed(text: bytes) -> list[list[str]]:
    """The last column of each line, a list a sentence."""
    blocks = [block.splitlines() for block in text.decode().split("\n\n")]
    return [[line.split("\t")[-1] for line in block if line] for block in blocks if any(block)]


@given(texts, st.integers(1, 5))
@settings(deadline=None)
def test_lists_corpora_text_and_lattices_give_the_same_labels(
    taggers: dict[str, Tagger], sentences: list[list[str]], threads: int
) -> None:
    for name, tagger in taggers.items():
        given_as = [with_pos(s) for s in sentences] if name == "columns" else sentences
        one_by_one = [tagger.tag(s) for s in given_as]
        assert tagger.tag_all(given_as, threads=threads) == one_by_one
        corpus = Corpus.from_sentences(given_as, columns=tagger.columns)
        assert tagger.tag_all(corpus, threads=threads) == one_by_one
        text, n = tagger.tag_text(as_text(given_as), threads=threads)
        assert parsed(text) == one_by_one
        assert n == sum(map(len, sentences))
        best, _ = tagger.lattice(corpus).best()
        assert [tagger.labels[y] for y in best] == [y for s in one_by_one for y in s]


def test_tuples_mappings_and_words_are_all_tokens(taggers: dict[str, Tagger], tagger: Tagger) -> None:
    words = ["the", "dogs", "Unseen"]
    expected = tagger.tag(words)
    assert tagger.tag(tuple(words)) == expected
    assert tagger.tag(iter(words)) == expected  # type: ignore[arg-type]
    assert tagger.tag(np.array(words)) == expected  # type: ignore[arg-type]
    assert tagger.tag([{"word": w} for w in words]) == expected
    assert tagger.tag([(w,) for w in words]) == expected
    two = taggers["columns"]
    assert two.tag([{"pos": p, "word": w} for w, p in with_pos(words)]) == two.tag(with_pos(words))


def test_a_sequence_may_lie_about_its_length(tagger: Tagger) -> None:
    class Short(list[str]):
        def __len__(self) -> int:
            return 1

    assert tagger.tag(Short(["the"] * 1000)) == tagger.tag(["the"] * 1000)


@pytest.mark.parametrize(
    ("tokens", "says"),
    [("the dogs", "split"), ([1], "word"), ([None], "word"), (["\ud800"], "UTF-8"), ([("a", "b", "c")], "columns")],
)
def test_what_is_no_sentence_is_refused(tagger: Tagger, tokens: Any, says: str) -> None:
    for call in (tagger.tag, lambda s: tagger.tag_all([s]), tagger.score):
        with pytest.raises(DataError, match=says):
            call(tokens)


def test_missing_columns_are_named(taggers: dict[str, Tagger]) -> None:
    two = taggers["columns"]
    with pytest.raises(DataError, match="pos"):
        two.tag(["the"])
    with pytest.raises(DataError, match="pos"):
        two.tag([{"word": "the"}])
    with pytest.raises(DataError, match="pos"):
        two.tag_all(Corpus.from_sentences([["the"]]))
    with pytest.raises(DataError, match="pos"):
        two.tag_text(b"the\n", columns=["word"])


# -- probabilities -----------------------------------------------------------------------------------------------------


@given(words=st.lists(tokens, max_size=3))
@settings(deadline=None, max_examples=30)
def test_scores_of_all_labellings_are_probabilities(taggers: dict[str, Tagger], words: list[str]) -> None:
    for name in ("default", "paper", "all labels", "pooled"):
        tagger = taggers[name]
        scores = {p: tagger.score(words, list(p)) for p in itertools.product(tagger.labels, repeat=len(words))}
        assert sum(np.exp(list(scores.values()))) == pytest.approx(1.0, abs=1e-4)
        best = tuple(tagger.tag(words))
        assert scores[best] == pytest.approx(max(scores.values()), abs=1e-5)
        assert tagger.score(words) == pytest.approx(scores[best], abs=1e-6)
        lattice = tagger.lattice([words])
        paths = {p: lattice.path_score(0, np.array([tagger.labels.index(y) for y in p], np.int32)) for p in scores}
        total = np.logaddexp.reduce(list(paths.values()))
        assert [scores[p] for p in paths] == pytest.approx([v - total for v in paths.values()], abs=1e-4)


def test_impossible_labellings_score_minus_infinity(tagger: Tagger) -> None:
    assert tagger.score(["the"], ["NOSUCH"]) == -np.inf
    with pytest.raises(DataError, match="1 token but 2 labels"):
        tagger.score(["the"], ["D", "D"])


# -- text --------------------------------------------------------------------------------------------------------------


def test_text_keeps_its_lines_and_gains_a_column(tagger: Tagger) -> None:
    a, b, c = *tagger.tag(["the", "dogs"]), *tagger.tag(["42"])
    for text, expected in (
        ("", ""),
        ("\n\n", "\n\n"),
        ("the\ndogs\n\n42\n", f"the\t{a}\ndogs\t{b}\n\n42\t{c}\n"),
        ("the\ndogs\n\n42", f"the\t{a}\ndogs\t{b}\n\n42\t{c}\n"),
        ("the\r\ndogs\r\n\r\n42\r\n", f"the\t{a}\r\ndogs\t{b}\r\n\r\n42\t{c}\r\n"),
        ("\n\nthe\ndogs\n \t\n\n42\n\n", f"\n\nthe\t{a}\ndogs\t{b}\n \t\n\n42\t{c}\n\n"),
        ("the x y\ndogs x y\n", f"the x y {a}\ndogs x y {b}\n"),
        ("the\tx y\ndogs\tx y\n", f"the\tx y\t{a}\ndogs\tx y\t{b}\n"),
        ("  the\ndogs  \n", f"  the {a}\ndogs   {b}\n"),
    ):
        assert tagger.tag_text(text.encode())[0].decode() == expected


def test_comments_separators_and_named_columns(taggers: dict[str, Tagger], tagger: Tagger) -> None:
    a, b = tagger.tag(["the", "dogs"])
    assert tagger.tag_text(b"# x\nthe\n# y\ndogs\n", comment="#") == (f"# x\nthe\t{a}\n# y\ndogs\t{b}\n".encode(), 2)
    assert tagger.tag_text(b"1,the\n2,dogs\n", columns=["n", "word"], separator=",")[0] == (
        f"1,the,{a}\n2,dogs,{b}\n".encode()
    )
    spaced, _ = tagger.tag_text(b"the dogs\tx\n", separator="\t")
    assert spaced.decode() == f"the dogs\tx\t{tagger.tag(['the dogs'])[0]}\n"
    two = taggers["columns"]
    y = two.tag([("The", "U")])[0]
    assert two.tag_text(b"U x The\n", columns=["pos", "other", "word"])[0] == f"U x The {y}\n".encode()
    for separator in (",,", "é"):
        with pytest.raises(DataError, match="separated"):
            tagger.tag_text(b"a\n", separator=separator)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_a_line_with_too_few_columns_is_named(taggers: dict[str, Tagger], threads: int) -> None:
    text = b"the L\n\n" * 500 + b"dogs L\nthe\n\n" + b"the L\n\n" * 500
    with pytest.raises(DataError, match=r"line 1002: 1 column,.*pos"):
        taggers["columns"].tag_text(text, threads=threads)
    with pytest.raises(DataError, match="line 9: 1 column"):
        taggers["columns"].tag_text(b"the\n", first_line=9)


@given(st.binary(max_size=60), st.sampled_from(["", ",", "\t"]), st.sampled_from(["", "#"]), st.integers(1, 3))
@settings(deadline=None)
def test_any_bytes_come_back_with_labels_appended(
    tagger: Tagger, data: bytes, separator: str, comment: str, threads: int
) -> None:
    found, n = tagger.tag_text(data, separator=separator, comment=comment, threads=threads)
    lines, tagged = data.split(b"\n"), found.split(b"\n")
    tokens = 0
    for line, other in zip(lines, tagged, strict=False):
        body = line.rstrip(b"\r")
        end = line[len(body) :]
        token = body.strip(b" \t\r") and not (comment and body.startswith(comment.encode()))
        tokens += bool(token)
        assert other.startswith(body)
        assert other.endswith(end)
        assert (other == line) or token
    assert n == tokens


#: Rows of one column, and blank lines, with the white space that counts and the characters that are none.
ROWS = ["the", " dogs", "42 \r", "\x0b", "\x0c42", "the\x0c\r\r", "", "\r", " \t", "\r\r", "\t\r ", "#", "#the"]


@given(st.lists(st.sampled_from(ROWS), max_size=12).map("\n".join), st.sampled_from(["", "#"]), st.integers(1, 8))
@example("the\ndogs\n\r\r\n42\n\n" * 3, "", 4)
@settings(deadline=None)
def test_text_is_tagged_as_it_is_read(tagger: Tagger, text: str, comment: str, threads: int) -> None:
    data = f"{text}\nthe\n".encode()
    corpus = corate.read(data, format="columns", comment=comment, labelled=False)
    found, n = tagger.tag_text(data, comment=comment, threads=threads)
    again = corate.read(found, format="columns", comment=comment)
    assert n == corpus.n_tokens
    assert again.offsets.tolist() == corpus.offsets.tolist()
    assert again.column("word").values() == corpus.column("word").values()
    assert again.require_labels().values() == tagger.tag_corpus(corpus).values()


@given(
    st.lists(st.sampled_from(["the", "dogs", " ", "\t", "\r", "\n", "\n\n", "\r\r\n", "\x0b", "\x0c", "#"])).map(
        "".join
    ),
    st.sampled_from(["", "\t"]),
    st.sampled_from(["", "#"]),
    st.integers(2, 8),
)
@settings(deadline=None)
def test_any_text_is_tagged_alike_on_any_number_of_threads(
    tagger: Tagger, text: str, separator: str, comment: str, threads: int
) -> None:
    given_text = text.encode()
    alone = tagger.tag_text(given_text, separator=separator, comment=comment)
    assert tagger.tag_text(given_text, separator=separator, comment=comment, threads=threads) == alone


def test_text_is_given_as_bytes(tagger: Tagger) -> None:
    with pytest.raises(DataError, match=r"UTF-8 bytes, not as str; give it text\.encode\(\)"):
        tagger.tag_text("the\ndogs\n")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("label", "text", "separator", "fits"),
    [
        ("B\nX", b"the\n", None, False),
        ("B\tX", b"the\n", None, False),
        ("", b"the\n", None, False),
        ("X\r", b"the\n", None, False),
        (" X", b"the\n", None, False),
        ("B X", b"the\n", None, True),
        ("B X", b"the x\n", None, False),
        ("B X", b"the x\ty\n", "\t", True),
        ("B,X", b"the,y\n", ",", False),
        ("B\x0bX", b"the\n", None, True),
    ],
)
def test_labels_that_rows_cannot_hold_are_refused(
    label: str, text: bytes, separator: str | None, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choices, "refuse_unusable_labels", lambda *_: None)  # models of earlier versions have ""
    tagger = corate.train(Corpus.from_sentences([[("the", label), ("dog", "Y")]]), "empirical")
    if fits:
        assert tagger.tag_text(text, separator=separator)[0].decode().endswith(f"{label}\n")
        return
    with pytest.raises(DataError, match="cannot be written in the format 'columns'; use the format 'jsonl'") as error:
        tagger.tag_text(text, separator=separator)
    assert repr(label) in str(error.value)


# -- sizes -------------------------------------------------------------------------------------------------------------


def test_a_token_of_a_megabyte_and_a_sentence_of_two_hundred_thousand_tokens(taggers: dict[str, Tagger]) -> None:
    huge = "x" * 1_000_000
    for name in ("default", "pooled"):
        tagger = taggers[name]
        assert len(tagger.tag(["the", huge, "dogs"])) == 3
        text, n = tagger.tag_text(f"the\n{huge}\n".encode())
        assert (n, len(text)) == (2, 1_000_000 + 9)
        words = ["the", "dogs", "Unseen", "walking"] * 50_000
        labels = tagger.tag(words)
        assert len(labels) == 200_000
        assert parsed(tagger.tag_text("\n".join(words).encode(), threads=3)[0]) == [labels]
        assert np.isfinite(tagger.score(words[:5000]))


def test_no_tokens_are_no_trouble(taggers: dict[str, Tagger]) -> None:
    for tagger in taggers.values():
        assert tagger.tag([]) == []
        assert tagger.tag_all([]) == []
        assert tagger.tag_all([[], []]) == [[], []]
        assert tagger.tag_all([[], []], threads=4) == [[], []]
        assert tagger.tag_text(b"") == (b"", 0)
        assert tagger.score([]) == 0.0
        assert tagger.tag_corpus(Corpus.from_sentences([], columns=tagger.columns)).values() == []


@pytest.mark.parametrize("threads", [2, 1000, 10**9])
def test_any_number_of_threads_gives_the_same_labels(tagger: Tagger, threads: int) -> None:
    sentences = words_of(random_sentences(300, 5))
    expected = tagger.tag_all(sentences)
    assert tagger.tag_all(sentences, threads=threads) == expected
    assert parsed(tagger.tag_text(as_text(sentences), threads=threads)[0]) == expected


# -- looking in --------------------------------------------------------------------------------------------------------


def test_rates_list_the_label_pairs_that_attract_and_repel() -> None:
    corpus = Corpus.from_sentences([[("a", "A"), ("b", "B")]] * 9 + [[("b", "B"), ("a", "A"), ("b", "B")]])
    tagger = corate.train(corpus, "empirical", backoff="default")
    attractive, repulsive = tagger.rates(2)
    assert ("A", "B") in [pair[:2] for pair in attractive]
    assert ("B", "A") in [pair[:2] for pair in repulsive]
    assert [pair.rate for pair in attractive] == sorted((pair.rate for pair in attractive), reverse=True)
    assert all(pair.rate > 1 and pair.weight > 0 for pair in attractive)
    assert all(pair.rate < 1 and pair.weight < 0 for pair in repulsive)


@pytest.mark.parametrize("backoff", ["default", "paper"])
def test_rates_of_a_counted_model_are_those_of_its_text(backoff: str) -> None:
    """Whatever their weight in the model; and no other model has rates."""
    corpus = corpus_of(random_sentences(60))
    tagger = corate.train(corpus, "empirical", backoff=backoff, expert={"edge": 0.3})
    names, ids = label_ids(corpus)
    logs = edge_scores(PairCounts(*_native.count_pairs(ids, corpus.offsets, len(names))), len(names), 0.5).dense()
    places = {name: i for i, name in enumerate([*tagger.labels, "</s>"])} | {"<s>": len(tagger.labels)}
    for pair in itertools.chain(*tagger.rates(100)):
        assert pair.rate == pytest.approx(np.exp(logs[places[pair.left], places[pair.right]]), rel=1e-4)
    for method in ("polish", "separate", "standard"):
        fitted = corate.train(corpus, method, features=["word[0]"]).rates(3)
        assert {pair.rate for side in fitted for pair in side} == {None}


@pytest.mark.parametrize("method", ["empirical", "separate"])
@pytest.mark.parametrize("n", [0, 1, 7, 10**6])
def test_the_strongest_weights_are_those_of_all_weights_sorted(method: str, n: int) -> None:
    tagger = corate.train(corpus_of(random_sentences(60)), method, features=["word[0]", "word[-1]|word[0]"])
    weights = tagger.model.weights
    rows = np.repeat(np.arange(len(weights)), np.diff(weights.offsets))
    scores = weights.scores.tolist()
    positive = sorted((w for w in scores if w > 0), reverse=True)[:n]
    negative = sorted(w for w in scores if w < 0)[:n]
    favoured, opposed = tagger.strongest(n)
    assert ([w.weight for w in favoured], [w.weight for w in opposed]) == (positive, negative)
    named = zip(rows.tolist(), weights.labels.tolist(), scores, strict=True)
    assert {*favoured, *opposed} <= {(tagger.vocabulary.name(f), tagger.labels[y], w) for f, y, w in named}


def test_a_tagger_says_what_it_is(taggers: dict[str, Tagger]) -> None:
    tagger = taggers["columns"]
    assert repr(tagger) == "Tagger(empirical, 4 labels, 15 words, trained on 60 sentences)"
    assert set(CONTEXTS) <= set(tagger.features)
    assert tagger.columns == ("word", "pos")
    assert tagger.method == "empirical"
    assert sorted(tagger.words.to_list()) == sorted(WORDS)


def test_a_vocabulary_that_grew_behind_the_model_does_not_mislead_it(taggers: dict[str, Tagger]) -> None:
    """Words, spellings and features that were numbered after training have no scores, and are as unknown as before."""
    words = ["9-ing", "brandnew", "the", "8-ed", "Zion", "X-ity", "7-ies", "-ly"]
    for name, tagger in taggers.items():
        given_as = with_pos(words) if name == "columns" else words
        grown = Tagger(tagger.vocabulary.copy(), tagger.model, tagger.record, tagger.columns)
        grown.vocabulary.fit(Corpus.from_sentences([given_as] * 3, columns=tagger.columns))
        assert len(grown.tag(given_as)) == len(words)
        if name == "paper":  # the others look at the neighbours of unseen words, and these are no longer unseen
            np.testing.assert_array_equal(grown.lattice([words]).scores, tagger.lattice([words]).scores)
            assert grown.tag(words) == tagger.tag(words)


def test_models_whose_parts_do_not_fit_are_refused(tagger: Tagger) -> None:
    model = tagger.model
    two = np.zeros(2, np.float32)
    for changed in (
        replace(model, bias=two),
        replace(model, bias=np.full(4, np.nan, np.float32)),
        replace(model, levels=model.levels[:-1]),
        replace(model, levels=(*model.levels[:-1], 99)),
        replace(model, level_bases=(0, *model.level_bases[1:])),
        replace(model, word_column=1),
        replace(model, floor=float("inf")),
        replace(model, edges=replace(model.edges, row=-model.edges.row)),
        replace(
            model,
            edges=replace(model.edges, row=model.edges.row * np.float32(1e30), col=model.edges.col * np.float32(1e30)),
        ),
        replace(model, weights=replace(model.weights, labels=model.weights.labels + np.int32(9))),
        replace(model, rows=replace(model.rows, offsets=model.rows.offsets[:-1])),
    ):
        with pytest.raises(ModelError, match="train it again"):
            Tagger(tagger.vocabulary, changed, tagger.record)


def test_a_level_of_another_column_is_refused(taggers: dict[str, Tagger]) -> None:
    """Its values are numbered by another column's strings: to follow it would be to read past their end."""
    tagger = taggers["columns"]
    other = next(i for i, (column, _) in enumerate(tagger.vocabulary.functions()) if column == "pos")
    levels = (*tagger.model.levels[:-1], other)
    with pytest.raises(ModelError, match="levels"):
        Tagger(tagger.vocabulary, replace(tagger.model, levels=levels), tagger.record)


def test_scores_do_not_depend_on_the_sentences_before() -> None:
    """Sums of weights are kept for strings, and dropped when there are too many of them."""
    labels = [f"L{k}" for k in range(60)]
    rows = [[(f"w{k % 90}", labels[k % 60]), (f"v{k}", labels[k * 7 % 60])] for k in range(120)]
    features = ["word[0]", "suffix(word[0], 1)", "suffix(word[0], 2)|word[0]", "word[-1]", "word[1]|word[0]", "word[2]"]
    tagger = corate.train(corpus_of(rows), "standard", features=features, iterations=5, all_labels=True)
    sentences = [[f"w{k}", f"x{k + 1}", f"w{k % 90}"] for k in range(30_000)]
    whole = tagger.lattice(sentences)
    for first in (0, 100, 29_900):
        part = tagger.lattice(sentences[first : first + 100])
        assert np.array_equal(part.scores, whole.scores[first * 180 : (first + 100) * 180])
    assert tagger.tag(sentences[29_999]) == whole.tag()[29_999]


@pytest.mark.parametrize("all_labels", [True, False])
def test_scores_depend_on_the_words_around_only(all_labels: bool) -> None:
    """The features of long sentences are looked up in pieces."""
    rng = np.random.default_rng(1)
    rows = [[(f"w{k}", f"L{k % 5}") for k in rng.integers(0, 40, 12).tolist()] for _ in range(60)]
    features = ["word[0]", "suffix(word[0], 1)", "word[-2]", "word[1]", "word[-1]|word[0]", "word[0]|word[1]|word[2]"]
    tagger = corate.train(corpus_of(rows), "polish", features=features, all_labels=all_labels)
    words = [f"w{k}" for k in rng.integers(0, 60, 350).tolist()]
    whole = tagger.lattice([words])
    for i in range(2, 348):
        part = tagger.lattice([words[i - 2 : i + 3]])
        a, b = whole.offsets[i : i + 2]
        c, d = part.offsets[2:4]
        assert whole.labels[a:b].tolist() == part.labels[c:d].tolist()
        assert whole.scores[a:b].tolist() == part.scores[c:d].tolist()


@pytest.mark.parametrize("all_labels", [True, False])
def test_marginals_do_not_depend_on_the_calls_before(all_labels: bool) -> None:
    """Words are kept between calls, unless there are too many of them."""
    rng = np.random.default_rng(2)
    rows = [[(f"w{k}", f"L{k % 5}") for k in rng.integers(0, 40, 12).tolist()] for _ in range(60)]
    tagger = corate.train(corpus_of(rows), features="ner", all_labels=all_labels)
    sentences = [[f"w{k}" for k in rng.integers(0, 80, 9).tolist()] for _ in range(50)]
    marginals, labels = tagger.lattice(sentences).label_marginals(), tagger.tag_all(sentences)
    for first in range(0, 40_000, 10_000):
        tagger.tag_all([[f"W{k}-{k}" for k in range(first, first + 10_000)], *sentences[::-1]])
        for threads in (1, 3):
            again = tagger.lattice(sentences, threads=threads)
            assert np.array_equal(again.label_marginals(), marginals)
            assert again.tag() == labels == tagger.tag_all(sentences, threads=threads)
    assert [tagger.tag(sentence) for sentence in sentences] == labels
