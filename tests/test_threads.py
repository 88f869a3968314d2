"""Threads of the native code: no more than are of use, the same result for any number, and none left for a fork."""

import os
import subprocess
import sys

import pytest

import corate
from corate.demo import addresses

CORPUS = corate.Corpus.from_sentences(list(addresses(60, 3)))

FIT_AND_TAG = """
import corate
from corate.demo import addresses

corpus = corate.Corpus.from_sentences(list(addresses(60, 3)))

def fit_and_tag(threads):
    taggers = [corate.train(corpus, method, threads=threads) for method in ("polish", "separate", "standard")]
    text = "\\n\\n".join(" ".join(words).replace(" ", "\\n") for words in [["Ann", "Lee"], ["Oak", "St"]] * 20).encode()
    weights = b"".join(tagger.model.weights.scores.tobytes() for tagger in taggers)
    return weights, [(t.tag_all(corpus, threads=threads), t.tag_text(text, threads=threads)) for t in taggers]
"""


def run(script):
    """Run Python code; a run that hangs fails here."""
    return subprocess.run(
        [sys.executable, "-c", FIT_AND_TAG + script], capture_output=True, text=True, check=True, timeout=300
    ).stdout


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_threads_are_no_more_than_are_of_use():
    """Each thread reserves room for its stack, so the most room ever reserved tells of the threads."""
    in_words = run(
        "fit_and_tag(3000)\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmPeak')))"
    )
    threads = max(8, os.cpu_count() or 1)
    assert int(in_words) < (2 << 20) + threads * (80 << 10)  # kB


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_after_threads_have_run_trains_and_tags_as_before():
    in_words = run(
        "import os\n"
        "before = fit_and_tag(4)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if fit_and_tag(4) == before else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), fit_and_tag(4) == before)"
    )
    assert in_words == "0 True\n"


def test_any_number_of_threads_gives_the_same_model_and_labels():
    one, many = (corate.train(CORPUS, threads=n) for n in (1, 10_000))
    assert one.model.weights.scores.tobytes() == many.model.weights.scores.tobytes()
    assert one.tag_all(CORPUS) == one.tag_all(CORPUS, threads=10_000)
