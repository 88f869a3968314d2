"""The demo's addresses: the same for a seed, well labelled, varied, and never with nothing to learn."""

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from corate.demo import PARTS, addresses, write_files

seeds = st.integers(0, 2**32)


def words(lines):
    return Counter(token for line in lines for token, _ in line)


@given(seeds)
def test_a_seed_gives_the_same_lines_however_many_are_asked_for(seed):
    assert list(addresses(5, seed)) == list(addresses(9, seed))[:5]


@given(seeds)
def test_lines_are_tokens_with_bio_labels_of_the_parts(seed):
    for line in addresses(20, seed):
        assert line
        before = "O"
        for token, label in line:
            assert re.fullmatch(r"\S+", token)
            assert label == "O" or label[2:] in PARTS
            if label.startswith("I-"):
                assert before[2:] == label[2:], "a part goes on only where it began"
            before = label


def test_every_part_and_every_placeholder_is_filled():
    lines = list(addresses(3000, seed=1))
    labels = Counter(label for line in lines for _, label in line)
    assert {f"B-{part}" for part in PARTS} <= set(labels)
    assert not [token for token in words(lines) if "*" in token or "_" in token]


def test_other_seeds_give_other_lines():
    assert list(addresses(50, seed=1)) != list(addresses(50, seed=2))


def test_new_lines_bring_new_words_and_words_that_mean_several_things():
    lines = list(addresses(5000, seed=3))
    known = words(lines[:4000])
    fresh = words(lines[4000:])
    unknown = sum(n for word, n in fresh.items() if word not in known) / fresh.total()
    assert 0.03 < unknown < 0.3
    labels = {}
    for line in lines:
        for token, label in line:
            labels.setdefault(token, set()).add(label)
    assert sum(len(of) > 1 for of in labels.values()) > 200


def test_the_files_hold_different_lines_and_new_ones_have_no_labels(tmp_path):
    train, test, new = write_files(tmp_path / "made" / "here", n_train=30, n_test=10, seed=4)
    assert [p.name for p in (train, test, new)] == ["train.tsv", "test.tsv", "new.txt"]
    blocks = [p.read_text(encoding="utf-8").split("\n\n")[:-1] for p in (train, test)]
    assert [len(b) for b in blocks] == [30, 10]
    written = [[tuple(row.split("\t")) for row in block.split("\n")] for block in blocks[0] + blocks[1]]
    assert written == list(addresses(40, seed=4))
    assert "\t" not in new.read_text(encoding="utf-8")
