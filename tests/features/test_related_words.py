"""Kin of words: functions that learn the usual labels of words, and what they are worth to words never seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import Corpus
from corate.corpus import Column, StringTable
from corate.counting.counts import label_ids
from corate.errors import FeatureError
from corate.features.lexicons import Lexicon
from corate.features.related_words import learn_lexicons, usual_labels
from corate.features.templates import parse
from corate.features.vocabulary import Vocabulary
from corate.features.word_functions import WordFunction
from reference import word_functions as reference

USUAL = {"room": "nn", "lurk": "vb", "walks": "vbz", "walked": "vbd", "city": "nn", "élan": "nn", "robertson": "np"}
# Few letters, so that words are often alike.
ALIKE = st.text("ab-é", min_size=0, max_size=9)


def values(name: str, *words: str, usual: dict[str, str] = USUAL) -> list[str | None]:
    ids, found = WordFunction(name, table=Lexicon.of("usual word", usual)).apply(StringTable.intern(words)[0])
    return [None if i < 0 else found[i] for i in ids.tolist()]


def test_kin_gives_the_label_of_a_word_that_begins_alike_and_both_endings():
    assert values("related_start", "lurks", "Cities", "WALKING", "Robertsons") == [
        "l|vb-+s",
        "u|nn-y+ies",
        "U|vbz-s+ing",
        "u|np-+s",
    ]
    assert values("related_start", "éla", "zebra", "ro", "") == ["l|nn-n+", None, None, None]


def test_kin_differ_in_five_characters_at_most_and_share_three():
    usual = {"abc12345": "X", "xyz123456": "Y"}
    assert values("related_start", "abc67890", "abc678901", "abcd", usual=usual) == [
        "ld|X-12345+67890",
        None,
        "l|X-12345+d",
    ]
    assert values("related_start", "xyz", "xyz1", "ab1", usual=usual) == [None, "ld|Y-23456+", None]


def test_a_word_is_no_kin_of_itself():
    assert values("related_start", "lurk", "Room", "walks") == [None, None, "l|vbd-ed+s"]
    assert values("related_end", "room", "ROOM") == [None, None]


def test_tail_gives_the_label_of_the_longest_word_at_the_end():
    assert values("related_end", "guard-room", "Bedroom", "mushroom", "xroom") == ["-+nn", "3+nn", "4+nn", "1+nn"]
    assert values("related_end", "om", "rooms", "") == [None, None, None]
    usual = {"ing": "x", "king": "nn", "taking": "vbg"}
    assert values("related_end", "undertaking", "viking", usual=usual) == ["4+vbg", "2+nn"]


@given(usual=st.dictionaries(ALIKE, st.sampled_from("XYZ"), min_size=1, max_size=12), words=st.lists(ALIKE, max_size=6))
def test_kin_and_tail_agree_with_plain_python(usual, words):
    words = list(dict.fromkeys([*words, *usual, *(w.upper() for w in usual)]))
    assert values("related_start", *words, usual=usual) == [reference.related_start(w, usual) for w in words]
    assert values("related_end", *words, usual=usual) == [reference.related_end(w, usual) for w in words]


def test_a_megabyte_of_one_word_has_related_words():
    word = "a" * 1_000_000
    assert values("related_start", word, usual={word + "b": "X", "aaa": "Y"}) == ["l|X-b+"]
    assert values("related_end", word, usual={"aaa": "Y", "a" * 33: "Z"}) == ["4+Y"]


@given(st.lists(st.tuples(st.sampled_from(["a", "A", "b", "bc", "Bc"]), st.integers(-1, 2)), min_size=1))
def test_usual_labels_are_counted_without_case_and_without_unknown_ones(tokens):
    names = StringTable.intern(["X", "Y", "Z"])[0]
    found = usual_labels(
        Column.of("word", [w for w, _ in tokens]), names, np.array([y for _, y in tokens], dtype=np.int32)
    )
    counts: dict[str, list[int]] = {}
    for word, y in tokens:
        if y >= 0:
            counts.setdefault(word.lower(), [0, 0, 0])[y] += 1
    assert {w: found.get(w) for w in found.keys.to_list()} == {
        w: "XYZ"[times.index(max(times))] for w, times in counts.items()
    }
    order = [(-sum(counts[w]), len(w)) for w in found.keys.to_list()]
    assert order == sorted(order)


def inflected(stems: list[str]) -> list[list[tuple[str, str]]]:
    """Each verb as it is after one word, with an s after another."""
    plain = [[("they", "PRON"), (stem, "VERB")] for stem in stems]
    return [*plain, *([("he", "PRON"), (f"{stem}s", "VERBS")] for stem in stems)]


STEMS = ["walk", "talk", "lurk", "sing", "jump", "bark", "melt", "hunt"]


@pytest.mark.parametrize("method", ["polish", "separate", "standard", "perceptron"])
def test_a_word_never_seen_takes_the_label_of_a_related_word(method):
    """`sleep` is known as a noun only, `eat` as a verb: what `sleeps` and `eats` are follows from them alone."""
    nouns = [[("a", "DET"), (stem, "NOUN")] for stem in ("house", "table", "sleep", "floor")]
    plurals = [[("the", "DET"), (f"{stem}s", "NOUNS")] for stem in ("house", "table", "floor")]
    corpus = Corpus.from_sentences(3 * [*nouns, *plurals, *inflected(STEMS), [("they", "PRON"), ("eat", "VERB")]])
    tagger = corate.train(corpus, method, features=["related_start(word[0])"])
    assert [tagger.tag([word]) for word in ("sleeps", "eats")] == [["NOUNS"], ["VERBS"]]


def test_a_saved_model_knows_the_usual_labels_it_learned(tmp_path):
    tagger = corate.train(
        Corpus.from_sentences(inflected(STEMS)), features=["related_start(word[0])", "related_end(word[0])", "word[0]"]
    )
    tagger.save(tmp_path / "related.corate")
    loaded = corate.load(tmp_path / "related.corate")
    words = ["walks", "hunting", "re-melt", "barked", "zebra"]
    assert loaded.features == tagger.features
    assert loaded.tag_all([words]) == tagger.tag_all([words])
    assert loaded.lattice([words]).scores.tolist() == tagger.lattice([words]).scores.tolist()


def test_a_model_trained_further_keeps_what_was_learned():
    first = corate.train(Corpus.from_sentences(inflected(STEMS)), features=["related_start(word[0])", "word[0]"])
    further = corate.train(Corpus.from_sentences(inflected([*STEMS, "dance"])), init=first)
    (table,) = {a.function.table for t in further.vocabulary.templates for a in t.atoms if a.function.learns}
    assert {"walk", "dance"} & set(table.keys.to_list()) == {"walk"}


def test_labels_that_are_not_known_teach_nothing():
    corpus = Corpus.from_sentences([[("they", "PRON"), ("lurk", "?")], [("he", "PRON"), ("walks", "VERB")]])
    tagger = corate.train(corpus, features=["related_start(word[0])", "word[0]"], unknown="?")
    (table,) = {a.function.table for t in tagger.vocabulary.templates for a in t.atoms if a.function.learns}
    assert sorted(table.keys.to_list()) == ["he", "they", "walks"]


def test_each_column_has_usual_labels_of_its_own():
    corpus = Corpus.from_sentences([[("walks", "run", "V"), ("dogs", "dog", "N")]], columns=("word", "lemma", "label"))
    templates = [parse("related_start(word[0])|related_start(lemma[0])")]
    (template,) = learn_lexicons(templates, corpus, *label_ids(corpus))
    assert [a.function.table.keys.to_list() for a in template.atoms] == [["dogs", "walks"], ["run", "dog"]]


def test_templates_of_another_model_learn_again():
    first = corate.train(Corpus.from_sentences(inflected(STEMS)), features=["related_start(word[0])", "word[0]"])
    other = Corpus.from_sentences([[("hop", "X"), ("hops", "Y")]])
    again = corate.train(other, features=[t for t in first.vocabulary.templates if not t.edge])
    (table,) = {a.function.table for t in again.vocabulary.templates for a in t.atoms if a.function.learns}
    assert sorted(table.keys.to_list()) == ["hop", "hops"]


def test_templates_that_have_yet_to_learn_say_so():
    with pytest.raises(FeatureError, match="related_start learns from labelled words"):
        Vocabulary.of([parse("related_start(word[0])")])
    with pytest.raises(FeatureError, match="expected \\)"):
        parse("related_start(word[0], 3)")


def test_templates_of_version_0_1_keep_their_meaning():
    assert parse("kin(word[0])|tail(word[-1])") == parse("related_start(word[0])|related_end(word[-1])")
    assert parse("tail[0]|kin[1]").columns == ("tail", "kin")  # columns may have these names
