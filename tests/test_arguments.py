"""Numbers of threads and seeds: what is none is refused by name, in every function that takes one."""

import re

import numpy as np
import pytest

import corate
from corate.evaluation.comparison import compare

SENTENCES = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")], [("a", "DET"), ("cat", "NOUN")]]
CORPUS = corate.Corpus.from_sentences(SENTENCES)
TAGGER = corate.train(CORPUS)

THREADED = {
    "train": lambda n: corate.train(CORPUS, threads=n),
    "train empirical": lambda n: corate.train(CORPUS, "empirical", threads=n),
    "tag_all": lambda n: TAGGER.tag_all([["a", "dog"]], threads=n),
    "tag_corpus": lambda n: TAGGER.tag_corpus(CORPUS, threads=n),
    "tag_text": lambda n: TAGGER.tag_text(b"a\ndog\n", threads=n),
    "evaluate": lambda n: corate.evaluate(TAGGER, CORPUS, threads=n),
    "compare": lambda n: list(compare(CORPUS, CORPUS, ["polish"], threads=n)),
}
SEEDED = {
    "train": lambda seed: corate.train(CORPUS, seed=seed),
    "train empirical": lambda seed: corate.train(CORPUS, "empirical", seed=seed),
    "shuffle": lambda seed: CORPUS.shuffle(seed),
    "split": lambda seed: CORPUS.split(0.5, seed),
}


@pytest.mark.parametrize("threads", [0, -1, "x", 2.5, None, True, float("nan")], ids=repr)
@pytest.mark.parametrize("use", THREADED.values(), ids=THREADED)
def test_what_is_no_number_of_threads_is_refused(use, threads):
    said = f"threads must be a whole number, 1 or more, not {threads!r}"
    with pytest.raises(corate.DataError, match=re.escape(said)):
        use(threads)


@pytest.mark.parametrize("threads", [10_000, 10**9, 10**30, np.int64(3)], ids=repr)
@pytest.mark.parametrize("use", THREADED.values(), ids=THREADED)
def test_more_threads_than_work_are_no_error(use, threads):
    use(threads)


@pytest.mark.parametrize("seed", [-1, 2**63, 2**70, "x", 1.5, None], ids=repr)
@pytest.mark.parametrize("use", SEEDED.values(), ids=SEEDED)
def test_what_is_no_seed_is_refused(use, seed):
    said = f"seed must be a whole number from 0 to {2**63 - 1}, not {seed!r}"
    with pytest.raises(corate.DataError, match=re.escape(said)):
        use(seed)


@pytest.mark.parametrize("use", SEEDED.values(), ids=SEEDED)
def test_the_largest_seed_is_one(use):
    use(2**63 - 1)
