"""Ready-made features: python-crfsuite's names and values, arrays, prepared sentences, and models of corate 0.1."""

from __future__ import annotations

import collections
import decimal
import fractions
import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import corate
from corate import Corpus, DataError, FeatureError, ItemSequence, Tagger
from corate.corpus import StringTable
from corate.corpus.attributes import Attributes
from corate.errors import FeatureTypeError
from corate.features.ready_made import groups_of
from golden import make
from reference.named_features import named

GOLDEN = Path(make.__file__).parent

# -- names and values --------------------------------------------------------------------------------------------------

#: Names and values that meet: "a:b" is a name, a key with a value, and a nested key.
texts = st.one_of(
    st.sampled_from(["a", "b", "a:b", "", ":", "é", "a=b", "0"]), st.text(st.characters(codec="ascii"), max_size=3)
)
names = texts.map(lambda text: text.replace("\0", ""))  # CRFsuite ends a name at a null character
strings = st.one_of(names, names.map(str.encode), names.map(np.str_))
numbers = st.one_of(
    st.booleans(),
    st.integers(-(2**20), 2**20),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([np.float64(0.5), np.float32(-2), np.int64(3), np.uint8(7), np.bool_(True), np.bool_(False)]),
    st.sampled_from([decimal.Decimal("2.5"), fractions.Fraction(1, 4), np.array(1.5)]),
)
element_lists = st.one_of(st.lists(strings, max_size=3), st.sets(names, max_size=3))
mappings = st.recursive(
    st.dictionaries(strings, st.one_of(strings, numbers, element_lists), max_size=4),
    lambda values: st.dictionaries(strings, st.one_of(values, strings, numbers), max_size=3),
    max_leaves=6,
)
tokens = st.one_of(mappings, mappings.map(collections.OrderedDict), element_lists, element_lists.map(tuple))
sentences = st.lists(tokens, max_size=3)


def in_single(value: float) -> float:
    """The shortest decimal number with the same 32 bits; python-crfsuite keeps 64 bits."""
    return float(np.format_float_scientific(np.float32(value), unique=True))


@given(st.integers(-999_999, 999_999), st.integers(-37, 32))
@example(1, 20)
@example(-1, -1)
def test_values_of_six_digits_are_given_back_as_they_were(digits: int, exponent: int) -> None:
    value = float(f"{digits}e{exponent}")
    assert ItemSequence([{"a": value}]).items() == [{"a": value}]


@given(sentences)
def test_items_are_those_of_python_crfsuite(sentence: list[Any]) -> None:
    found, expected = ItemSequence(sentence), pycrfsuite.ItemSequence(sentence)
    assert found.items() == [{name: in_single(v) for name, v in token.items()} for token in expected.items()]
    assert len(found) == len(expected)
    assert repr(found) == repr(expected)


arrays = st.sampled_from(
    [np.array([0.5, -1.0]), np.arange(4, dtype=np.float32), np.arange(6)[::2], np.array([True, False]), np.zeros(0)]
)
with_arrays = st.one_of(tokens, arrays, st.dictionaries(names, st.one_of(arrays, st.dictionaries(names, arrays))))


@given(st.lists(st.lists(with_arrays, max_size=3), max_size=3))
def test_every_name_of_a_token_is_read_once_for_each_time_it_is_given(sentences: list[list[Any]]) -> None:
    offsets, attributes = Attributes.of_sentences(sentences)
    assert offsets.tolist() == np.cumsum([0, *map(len, sentences)]).tolist()
    values = np.ones(len(attributes.ids), np.float32) if attributes.values is None else attributes.values
    table, ends = attributes.names.to_list(), attributes.offsets.tolist()
    for t, token in enumerate(token for sentence in sentences for token in sentence):
        here = slice(ends[t], ends[t + 1])
        found = [(table[i], v) for i, v in zip(attributes.ids[here].tolist(), values[here].tolist(), strict=True)]
        # A feature that is False is no feature. A number 0 is one: empirical training bins numbers.
        assert [pair for pair in found if pair[1]] == [pair for pair in named(token) if pair[1]]
    prepared, same = Attributes.of_sentences([ItemSequence(s).features for s in sentences])
    assert prepared.tolist() == offsets.tolist()
    assert same.ids.tolist() == attributes.ids.tolist()


def test_a_sentence_is_any_iterable_of_tokens() -> None:
    expected = [{"a:b": 1.0}, {"c": 1.0}]
    for sentence in ([{"a": "b"}, ["c"]], ({"a": "b"}, ("c",)), iter([{"a": "b"}, {"c": True}])):
        assert ItemSequence(sentence).items() == expected
    assert ItemSequence(collections.UserList([collections.UserDict({"a": "b"}), iter(["c"])])).items() == expected
    assert ItemSequence(ItemSequence([{"a": "b"}, ["c"]])).items() == expected


WRONG = [
    ({"a": None}, "the feature 'a' has the value None"),
    ({"a": ("x",)}, r"the feature 'a' has the value \('x',\)"),
    ({"a": frozenset("x")}, "the feature 'a'"),
    ({"a": {"b": None}}, "the feature 'a:b' has the value None"),
    ({"a": {"b": [1]}}, "an element of the feature 'a:b' must be a string, not 1"),
    ({"a": [["x"]]}, "an element of the feature 'a' must be a string"),
    ({1: "x"}, "the name of a feature must be a string, not 1"),
    ([1], "the name of a feature must be a string, not 1"),
    ({"a": 1j}, "the feature 'a'"),
    ({"a": bytearray(b"x")}, "the feature 'a'"),
    ({"a": np.zeros((2, 2))}, "the feature 'a'"),
    ({"a": np.array(["x"])}, "the feature 'a'"),
    ("word", r"write \['word'\]"),
    (None, "must be a dict, a list of names or an array of numbers, not None"),
    (3, "must be a dict, a list of names or an array of numbers, not 3"),
    (np.zeros((2, 2)), "must be a dict, a list of names or an array of numbers"),
]
BAD = [
    ({"a": float("nan")}, "the feature 'a' is nan; omit"),
    ({"a": float("-inf")}, "the feature 'a' is -inf"),
    ({"a": 1e39}, "the feature 'a'"),
    ({"a": 10**400}, "the feature 'a'"),
    ({"a": np.array([0.0, np.nan])}, "the feature 'a:1' is nan"),
    ({"a": "\ud800"}, "the value of the feature 'a' cannot be encoded as UTF-8"),
    ({"\ud800": 1}, "the name of a feature cannot be encoded as UTF-8"),
    ({"a": b"\xff"}, "the value of the feature 'a' is given as bytes that are not UTF-8"),
]


@pytest.mark.parametrize(("token", "says"), WRONG)
def test_values_of_the_wrong_type_are_type_errors(token: Any, says: str, tagger: Tagger) -> None:
    with pytest.raises(TypeError, match=f"sentence 1, token 2: .*{says}") as error:
        Corpus.from_features([[], [["a"], ["b"], token]])
    assert isinstance(error.value, FeatureTypeError)
    assert isinstance(error.value, FeatureError)
    for call in (tagger.tag, ItemSequence, tagger.score):
        with pytest.raises(TypeError, match=f"token 1: .*{says}"):
            call([["a"], token])


@pytest.mark.parametrize(("token", "says"), BAD)
def test_values_out_of_range_are_errors(token: Any, says: str, tagger: Tagger) -> None:
    for call in (tagger.tag, ItemSequence, lambda s: tagger.tag_all([s])):
        with pytest.raises(FeatureError, match=f"token 1: {says}"):
            call([["a"], token])


def test_nesting_has_an_end() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    with pytest.raises(FeatureError, match="nested more than 64 deep"):
        ItemSequence([endless])


def test_a_value_may_change_its_mapping_while_it_is_read() -> None:
    class Unruly:
        def __init__(self, change: Callable[[], object]) -> None:
            self.change = change

        def __float__(self) -> float:
            self.change()
            return 2.0

    for change in (dict.clear, lambda d: d.update({str(i): i for i in range(1000)}), lambda d: d.pop("b")):
        token: dict[str, Any] = {}
        token.update(a=Unruly(lambda change=change, token=token: change(token)), b="x" * 100)  # type: ignore[misc]
        assert ItemSequence([token]).items()[0]["a"] == 2.0


def test_a_value_may_free_all_that_is_being_read() -> None:
    class Value:
        def __float__(self) -> float:
            nested.clear()
            token.clear()
            sentence.clear()
            return 2.0

    nested: dict[str, Any] = {"n": Value(), "m": "x"}
    token: dict[str, Any] = {"a": {"b": nested}, "after": "y"}
    sentence: list[Any] = [token]
    assert ItemSequence(sentence).items() == [{"a:b:n": 2.0}]


def test_a_value_may_tag_another_sentence_while_it_is_read(tagger: Tagger) -> None:
    class Value:
        def __float__(self) -> float:
            tagger.tag([{"w": "other"}] * 3)
            return 1.0

    plain: list[Any] = [{"w": "a", "n": 1.0, "shape": "x"}, {"w": "b"}]
    assert tagger.tag([{**plain[0], "n": Value()}, plain[1]]) == tagger.tag(plain)


def test_another_thread_may_change_features_while_they_are_read(tagger: Tagger) -> None:
    """Labels may be of the features before or after a change; the process must not crash."""
    sentence: list[Any] = [{"w": "a", "near": {"w": "b"}} for _ in range(20)]
    done = threading.Event()

    def change() -> None:
        for i in itertools.cycle(range(20)):
            if done.is_set():
                return
            sentence[i] = {f"w{i}{j}": f"{j}" * j for j in range(i)} | {"w": "a", "near": {"w": f"{i}"}}
            sentence[(i + 1) % 20]["near"] = ["c", f"{i}"]
            sentence[(i + 2) % 20].clear()

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(300):
            assert len(tagger.tag(sentence)) == 20
    finally:
        done.set()
        changing.join()


def test_errors_of_values_are_passed_on() -> None:
    class Interrupted:
        def __float__(self) -> float:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ItemSequence([{"a": Interrupted()}])


# -- groups ------------------------------------------------------------------------------------------------------------


def test_features_of_one_key_are_one_expert() -> None:
    attributes = Attributes.of(
        [{"w": "a:b", "é": ["x", "y"], "last": {"w": "c"}, "n": True}, ["w=c", "flag"], {"w": "="}]
    )
    ids, groups = groups_of(attributes.names, attributes.key_lengths)
    assert groups == ["w", "é", "last:w", "n", "flag"]
    assert ids.tolist() == [0, 1, 1, 2, 3, 0, 4, 0]


def test_many_flags_are_one_expert() -> None:
    table = StringTable.intern([f"flag {i}" for i in range(100)] + ["w=x"])[0]
    ids, groups = groups_of(table)
    assert groups == ["(others)", "w"]
    assert ids.tolist() == [0] * 100 + [1]


# -- tagging -----------------------------------------------------------------------------------------------------------


def features_of(words: list[str], i: int) -> dict[str, Any]:
    word, last = words[i], words[i - 1] if i else "<s>"
    return {"w": word, "upper": word[0].isupper(), "length": float(len(word)), "last": {"w": last}}


X = [
    [features_of(s, i) for i in range(len(s))] for s in make.UNLABELLED + [[w for w, _ in s] for s in make.sentences()]
]
LABELLED = X[len(make.UNLABELLED) :], [[y for _, y in s] for s in make.sentences()]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return corate.train(Corpus.from_features(*LABELLED), "standard")


@pytest.mark.parametrize("method", ["polish", "empirical", "standard"])
def test_every_way_in_gives_the_same_labels(method: str) -> None:
    tagger = corate.train(Corpus.from_features(*LABELLED), method)
    one_by_one = [tagger.tag(s) for s in X]
    assert [tagger.tag(ItemSequence(s)) for s in X] == one_by_one
    assert [tagger.tag(iter(s)) for s in X] == one_by_one
    assert tagger.tag_all(X) == tagger.tag_all(X, threads=3) == one_by_one
    assert tagger.tag_all([ItemSequence(s) for s in X]) == one_by_one
    corpus = Corpus.from_features(X)
    assert tagger.tag_all(corpus) == one_by_one
    best, _ = tagger.lattice(X).best()
    assert [tagger.labels[y] for y in best] == [y for s in one_by_one for y in s]
    np.testing.assert_array_equal(tagger.lattice(corpus).scores, tagger.lattice(X).scores)
    assert tagger.score(ItemSequence(X[0])) == tagger.score(X[0])
    assert corate.evaluate(tagger, Corpus.from_features(*LABELLED)).accuracy > 0.6


def test_a_function_gives_what_its_features_give() -> None:
    def function(words: list[str], i: int) -> dict[str, Any]:
        return {
            "w": words[i].lower(),
            "last": {"w": words[i - 1] if i else "<s>"},
            "vector": np.arange(3) * len(words[i]),
        }

    corpus = Corpus.from_sentences(make.sentences())
    for method in ("standard", "polish"):
        tagger = corate.train(corpus, method, features=function)
        one_by_one = [tagger.tag(s) for s in make.UNLABELLED]
        assert tagger.tag_all(make.UNLABELLED) == one_by_one
        assert tagger.tag_all([[(w,) for w in s] for s in make.UNLABELLED]) == one_by_one
        with pytest.raises(FeatureError, match="not an ItemSequence"):
            tagger.tag(ItemSequence([{"w": "a"}]))


def test_a_name_that_a_token_has_twice_counts_twice() -> None:
    labels = [["A", "B"], ["B", "A"]] * 5
    twice = [[["x", "x", "y"], ["y"]], [["y", "y"], ["x"]]] * 5
    doubled = [[{"x": 2, "y": 1}, {"y": 1}], [{"y": 2}, {"x": 1}]] * 5
    once = [[["x", "y"], ["y"]], [["y"], ["x"]]] * 5
    a, b, c = (corate.train(Corpus.from_features(x, labels), "standard") for x in (twice, doubled, once))
    np.testing.assert_allclose(a.lattice(twice).scores, a.lattice(doubled).scores, rtol=1e-6)
    np.testing.assert_allclose(a.lattice(twice).scores, b.lattice(twice).scores, atol=0.01)
    assert np.abs(a.lattice(twice).scores - c.lattice(twice).scores).max() > 0.1


def test_arrays_are_features_by_number(tagger: Tagger) -> None:
    rng = np.random.default_rng(0)
    y = [[str(i) for i in rng.integers(3, size=5)] for _ in range(30)]
    vectors = [rng.normal(size=(5, 4)) + 2 * np.array(s, dtype=int)[:, None] for s in y]
    written = [[{str(i): v for i, v in enumerate(row)} for row in s] for s in vectors]
    trained = corate.train(Corpus.from_features(vectors, y), "standard")
    same = corate.train(Corpus.from_features(written, y), "standard")
    assert trained.tag_all(vectors) == same.tag_all(written) == [same.tag(s) for s in vectors]
    assert [trained.tag(s.astype(np.float32)) for s in vectors] == trained.tag_all(vectors)
    keyed = [[{"w": "x", "vec": row} for row in s] for s in vectors]
    with_key = corate.train(Corpus.from_features(keyed, y), "standard")
    assert with_key.vocabulary.attributes is not None
    assert with_key.vocabulary.attributes.to_list() == ["w:x", "vec:0", "vec:1", "vec:2", "vec:3"]
    assert [with_key.tag(s) for s in keyed] == with_key.tag_all(keyed)
    assert corate.evaluate(with_key, Corpus.from_features(keyed, y)).accuracy > 0.9
    # Unknown numbers, and an array that is longer than in training.
    longer = [[{"w": "x", "vec": np.append(row, [9.0, 9.0]), "other": row} for row in s] for s in vectors]
    assert [with_key.tag(s) for s in longer] == with_key.tag_all(keyed)


def test_numbers_that_are_binned_are_found_in_arrays() -> None:
    y = [["low", "high"], ["high", "low"]] * 10
    x = [[{"v": np.array([1.0 if label == "low" else 5.0, 0.0])} for label in s] for s in y]
    tagger = corate.train(Corpus.from_features(x, y), "empirical")
    assert [tagger.tag(s) for s in x] == tagger.tag_all(x) == tagger.tag_all(Corpus.from_features(x)) == y


def test_work_memory_is_not_shared_between_threads(tagger: Tagger) -> None:
    """Sentences of different lengths with arrays of different widths, on threads that lend each other their memory."""
    extra = [[{**token, "vec": np.arange(k % 7)} for k, token in enumerate(s)] for s in X]
    expected = tagger.tag_all(extra)
    wrong: list[int] = []

    def work(first: int) -> None:
        for k in range(200):
            s = (first + k) % len(extra)
            if tagger.tag(extra[s]) != expected[s]:
                wrong.append(s)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_words_are_no_features_and_features_no_words(tagger: Tagger) -> None:
    with pytest.raises(FeatureError, match=r"write \['the'\]"):
        tagger.tag(["the", "dog"])
    of_words = corate.train(Corpus.from_sentences(make.sentences()), "empirical")
    with pytest.raises(DataError):
        of_words.tag([["w:the"], ["w:dog", "x"]])


# -- functions that change their list ----------------------------------------------------------------------------------


def changing(change: Callable[[list[Any]], object]) -> Callable[[Any, int], dict[str, Any]]:
    """A feature function that changes the list it is given, at the word "odd"."""

    def features(words: Any, i: int) -> dict[str, Any]:
        found = {"w": words[i][0] if isinstance(words[i], tuple) else words[i]}
        if found["w"] == "odd":
            change(words)
        return found

    return features


PLAIN = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]] * 3)
COLUMNS = Corpus.from_sentences([[("the", "a", "DET"), ("dog", "b", "NOUN")]] * 3)


@pytest.mark.parametrize(
    ("change", "now"),
    [(list.pop, 2), (lambda words: words.append("more"), 4), (list.clear, 0)],
    ids=["pop", "append", "clear"],
)
@pytest.mark.parametrize("corpus", [PLAIN, COLUMNS], ids=["words", "columns"])
def test_a_function_that_changes_the_number_of_tokens_is_named(
    corpus: Corpus, change: Callable[[list[Any]], object], now: int
) -> None:
    tagger = corate.train(corpus, features=changing(change))
    words: list[Any] = ["the", "odd", "dog"]
    sentence = words if corpus is PLAIN else [(word, "a") for word in words]
    kept = list(sentence)
    why = rf"token 1 \(.*'odd'.*\): it had 3 tokens and now has {now}; change a copy"
    for number, ask in [(0, tagger.tag), (0, tagger.marginals), (1, lambda tokens: tagger.tag_all([kept[:1], tokens]))]:
        with pytest.raises(FeatureError, match=f"changed its list of tokens at sentence {number}, {why}"):
            ask(sentence)
        assert sentence == kept
    with pytest.raises(FeatureError, match=r"changed its list of tokens at sentence 1, token 0 .* it had 1 token and"):
        corate.train(
            Corpus.joined([corpus[:1], Corpus.from_sentences([[("odd", *["a"] * (len(corpus.columns) - 1), "DET")]])]),
            features=changing(change),
        )


def test_a_function_never_changes_the_list_of_the_caller() -> None:
    tagger = corate.train(PLAIN, features=changing(lambda words: words.__setitem__(slice(None), ["x"] * len(words))))
    sentence = ["the", "odd", "dog"]
    for ask in (tagger.tag, tagger.marginals, lambda words: tagger.tag_all([words])):
        ask(sentence)
        assert sentence == ["the", "odd", "dog"]


# -- models of corate 0.1 ----------------------------------------------------------------------------------------------

OLD = ["v1-standard-ready-made", "v1-polish-ready-made", "v1-empirical-numbers", "v1-standard-numbers"]


@pytest.mark.parametrize("file", OLD)
def test_an_old_model_reads_features_as_it_did(file: str) -> None:
    tagger = corate.load(GOLDEN / f"{file}.corate")
    assert tagger.vocabulary.joiner == "="
    given = make.unlabelled(file.removeprefix("v1-"))
    expected = tagger.lattice(given).scores
    # None was no feature, a key could be any object, and lists hold whole names.
    odd = [[{**token, "nothing": None, 7: "x"} for token in s] for s in given]
    np.testing.assert_array_equal(tagger.lattice(odd).scores, expected)
    assert [tagger.tag(s) for s in odd] == tagger.tag_all(given) == [tagger.tag(ItemSequence(s)) for s in given]
    listed = [[[f"lower={token['lower']}"] for token in s] for s in given]
    joined = [[{"lower": token["lower"]} for token in s] for s in given]
    np.testing.assert_array_equal(tagger.lattice(listed).scores, tagger.lattice(joined).scores)
    # A corpus is joined with colons before it meets a model.
    np.testing.assert_array_equal(tagger.lattice(Corpus.from_features(given)).scores, expected)
    assert corate.evaluate(tagger, make.MODELS[file.removeprefix("v1-")][0](make.sentences())).accuracy > 0.6


def test_an_old_model_keeps_its_joiner_when_it_is_trained_further(tmp_path: Path) -> None:
    tagger = corate.load(GOLDEN / "v1-standard-ready-made.corate")
    more = Corpus.from_features([[{"lower": "emu"}, {"lower": "runs"}]] * 5, [["NOUN", "VERB"]] * 5)
    further = corate.train(more, "standard", init=tagger)
    assert further.vocabulary.joiner == "="
    assert further.vocabulary.attributes is not None
    assert {"lower=emu", "lower=the"} < set(further.vocabulary.attributes.to_list())
    further.save(tmp_path / "further.corate")
    assert corate.load(tmp_path / "further.corate").tag([{"lower": "emu"}]) == ["NOUN"]
    counted = corate.load(GOLDEN / "v1-empirical-numbers.corate").update(more)
    assert counted.vocabulary.attributes is not None
    assert "lower=emu" in counted.vocabulary.attributes.to_list()


def test_a_model_of_numbers_learns_more_after_it_was_saved(tmp_path: Path) -> None:
    """The experts are those of the training: nested keys are not taken for values."""
    tagger = corate.train(Corpus.from_features(*LABELLED), "empirical")
    tagger.save(tmp_path / "model")
    more = Corpus.from_features([[{"w": "emu", "last": {"w": "the"}}]] * 5, [["NOUN"]] * 5)
    a, b = tagger.update(more), corate.load(tmp_path / "model").update(more)
    np.testing.assert_array_equal(a.lattice(X).scores, b.lattice(X).scores)
    assert set(tagger.record["settings"]["weights"]) == {"w", "upper", "length", "last:w"}
