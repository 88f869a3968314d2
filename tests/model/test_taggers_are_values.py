"""Taggers are values: they are pickled, copied, sent to other processes, and shared by threads."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest

import corate
from corate import Corpus, FeatureError, ModelError, Tagger
from small_corpora import corpus_of, random_sentences, words_of

LABELLED = random_sentences(60)
SENTENCES = words_of(random_sentences(40, 3))


def features(words: list[str], i: int) -> dict[str, Any]:
    """A feature function that pickle finds by its name."""
    return {"word": words[i], "upper": words[i].isupper(), "length": float(len(words[i]))}


def ready_made(sentences: list[list[str]]) -> list[list[dict[str, Any]]]:
    return [[features(s, i) for i in range(len(s))] for s in sentences]


def _of_features(method: str) -> Tagger:
    labels = [[y for _, y in s] for s in LABELLED]
    return corate.train(Corpus.from_features(ready_made(words_of(LABELLED)), labels), method)


MAKE: dict[str, Callable[[], Tagger]] = {
    "words": lambda: corate.train(corpus_of(LABELLED)),
    "counts": lambda: corate.train(corpus_of(LABELLED), "empirical"),
    "second order": lambda: corate.train(corpus_of(LABELLED), order=2),
    "function": lambda: corate.train(corpus_of(LABELLED), features=features),
    "features": lambda: _of_features("standard"),
    "bins": lambda: _of_features("empirical"),
}


@pytest.fixture(scope="module", params=list(MAKE))
def tagger(request: pytest.FixtureRequest) -> Tagger:
    return MAKE[request.param]()


def sentences_for(tagger: Tagger) -> list[list[Any]]:
    return SENTENCES if tagger.columns else ready_made(SENTENCES)  # type: ignore[return-value]


def scores_of(tagger: Tagger) -> Any:
    return tagger.lattice(sentences_for(tagger)).scores


def labels_in_another_process(tagger: Tagger) -> list[list[str]]:
    return [tagger.tag(s) for s in sentences_for(tagger)]


# -- pickles and copies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_tagger_is_the_same_tagger(tagger: Tagger, protocol: int) -> None:
    again = pickle.loads(pickle.dumps(tagger, protocol))
    np.testing.assert_array_equal(scores_of(again), scores_of(tagger))
    assert again.tag_all(sentences_for(tagger)) == tagger.tag_all(sentences_for(tagger))
    assert again.function is tagger.function
    assert repr(again) == repr(tagger)
    # What is not stored in a model file is not pickled: the seconds that training took.
    assert again.record == {name: value for name, value in tagger.record.items() if name != "seconds"}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copied_tagger_is_the_same_tagger(tagger: Tagger, copied: Callable[[Tagger], Tagger]) -> None:
    again = copied(tagger)
    assert again is not tagger
    np.testing.assert_array_equal(scores_of(again), scores_of(tagger))


def test_a_deep_copy_shares_nothing_that_can_change() -> None:
    tagger = MAKE["counts"]()
    again = copy.deepcopy(tagger)
    again.record["method"] = "other"
    assert tagger.method == "empirical"
    assert again.counts is not None
    assert tagger.counts is not None
    assert not np.shares_memory(again.counts.table.counts, tagger.counts.table.counts)


def test_a_pickled_tagger_learns_more() -> None:
    tagger, more = MAKE["counts"](), corpus_of(random_sentences(20, 9))
    again = pickle.loads(pickle.dumps(tagger))
    np.testing.assert_array_equal(scores_of(again.update(more)), scores_of(tagger.update(more)))


def test_a_damaged_pickle_is_refused() -> None:
    data = bytearray(pickle.dumps(MAKE["words"]()))
    data[len(data) // 2] ^= 1
    with pytest.raises(ModelError, match="damaged"):
        pickle.loads(bytes(data))


def test_a_function_without_a_name_cannot_be_pickled_but_copied() -> None:
    def inner(words: list[str], i: int) -> list[str]:
        return [words[i]]

    for function, name in ((lambda words, i: [words[i]], "<lambda>"), (inner, "inner")):
        tagger = corate.train(corpus_of(LABELLED), "standard", features=function)
        with pytest.raises(FeatureError, match=rf"{name}.* cannot be imported by name.*define.*def"):
            pickle.dumps(tagger)
        assert copy.deepcopy(tagger).tag(SENTENCES[0]) == tagger.tag(SENTENCES[0])


def test_a_callable_object_is_pickled_as_it_pickles_itself() -> None:
    tagger = corate.train(corpus_of(LABELLED), "standard", features=Suffixes(2))
    again = pickle.loads(pickle.dumps(tagger))
    assert again.tag_all(SENTENCES) == tagger.tag_all(SENTENCES)


class Suffixes:
    def __init__(self, length: int) -> None:
        self.length = length

    def __call__(self, words: list[str], i: int) -> list[str]:
        return [words[i][-self.length :]]


# -- processes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # the test runner has threads
def test_other_processes_tag_the_same(method: str) -> None:
    taggers = [MAKE["words"](), MAKE["features"](), MAKE["function"]()]
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.map(labels_in_another_process, taggers)
    assert found == [labels_in_another_process(tagger) for tagger in taggers]


def test_joblib_stores_and_sends_taggers(tmp_path: Any) -> None:
    tagger = MAKE["features"]()
    joblib.dump(tagger, tmp_path / "tagger.joblib")
    expected = labels_in_another_process(tagger)
    assert labels_in_another_process(joblib.load(tmp_path / "tagger.joblib")) == expected
    calls = [joblib.delayed(tagger.tag)(s) for s in sentences_for(tagger)]
    assert joblib.Parallel(n_jobs=2)(calls) == expected


# -- threads -----------------------------------------------------------------------------------------------------------


def test_threads_share_a_tagger(tagger: Tagger) -> None:
    sentences = sentences_for(tagger)
    expected = tagger.tag_all(sentences), [tagger.score(s) for s in sentences]
    fresh = copy.deepcopy(tagger)  # nothing of it is prepared yet
    found: list[Any] = [None] * 8
    together = threading.Barrier(len(found))

    def work(place: int) -> None:
        together.wait()
        labels = [[fresh.tag(s) for s in sentences] for _ in range(20)]
        assert all(each == labels[0] for each in labels)
        found[place] = labels[0], [fresh.score(s) for s in sentences]

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * len(found)
