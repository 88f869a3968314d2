"""Model files: taggers come back as they were, and files that do not fit together are refused, never run."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate import Corpus
from corate.cli import info
from corate.errors import CorateError, ModelError
from corate.io import tensor_file
from corate.model import archive
from corate.model.tagger import Tagger
from corate.strings import StringTable
from reference.damage import damaged_header, damaged_tensors
from small_corpora import WORDS, corpus_of, random_sentences, words_of

LABELLED = random_sentences(30, 1)
CONTEXTS = [
    "word[0]",
    "pos[-1]|pos[0]",
    "suffix(word[0], 2)|word[1]|pos[0]|word[-2]",
    "pos[-1]|pos[0]|pos[1]",
    "map(word[0], {})",
]


def features_of(words: list[str], i: int) -> dict[str, Any]:
    return {"w": words[i], "n": float(len(words[i]))}


def with_pos(labelled: Any) -> Corpus:
    return Corpus.from_sentences([[(w, w[:1] or "-", y) for w, y in s] for s in labelled])


def with_features(labelled: Any) -> Corpus:
    ready = [[features_of(s, i) for i in range(len(s))] for s in words_of(labelled)]
    return Corpus.from_features(ready, [[y for _, y in s] for s in labelled])


#: How each kind of model reads labelled sentences.
KINDS: dict[str, Callable[[Any], Corpus]] = {
    "default": corpus_of,
    "paper": corpus_of,
    "pairs of words": corpus_of,
    "pooled": with_pos,
    "ready": with_features,
    "function": corpus_of,
}


@pytest.fixture(scope="module")
def taggers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tagger]:
    lexicon = tmp_path_factory.mktemp("lexicon") / "animals.tsv"
    lexicon.write_text("dog\tpet\ncats\tpet\nthe\tword\n", encoding="utf-8")
    templates = [t.format(f'"{lexicon.as_posix()}"') for t in CONTEXTS]
    made = {
        "default": corate.train(corpus_of(LABELLED), "empirical", backoff="default"),
        "paper": corate.train(corpus_of(LABELLED), "empirical", backoff="paper"),
        "pairs of words": corate.train(corpus_of(LABELLED), "empirical", pairs="words"),
        "pooled": corate.train(with_pos(LABELLED), "empirical", backoff="pooled", features=templates),
        "ready": corate.train(with_features(LABELLED), "empirical"),
        "function": corate.train(corpus_of(LABELLED), "empirical", backoff="pooled", features=features_of),
    }
    lexicon.unlink()
    return made


TEST = [*random_sentences(20, 2), [("Unseen", "N"), ("X-9", "N"), ("", "D")]]


# -- round trip --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_tagger_comes_back_as_it_was(taggers: dict[str, Tagger], kind: str, tmp_path: Path) -> None:
    tagger, test = taggers[kind], KINDS[kind](TEST)
    size = tagger.save(tmp_path / "model")
    assert size == (tmp_path / "model").stat().st_size
    function = features_of if kind == "function" else None
    loaded = corate.load(tmp_path / "model", features=function)
    assert loaded.tag_all(test) == tagger.tag_all(test)
    np.testing.assert_array_equal(loaded.lattice(test).scores, tagger.lattice(test).scores)
    kept = {name: value for name, value in tagger.record.items() if name != "seconds"}
    assert (loaded.record, loaded.columns, loaded.features) == (kept, tagger.columns, tagger.features)
    assert loaded.bins == tagger.bins
    assert loaded.words.to_list() == tagger.words.to_list()
    # Saved again it is the same file, and what it learns from here on is the same.
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert loaded.update(test).tag_all(test) == tagger.update(test).tag_all(test)


def test_counts_and_full_precision_can_be_left_out(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    tagger = taggers["default"]
    sizes = [
        tagger.save(tmp_path / "model", counts=counts, half=half)
        for counts, half in ((True, False), (True, True), (False, False), (False, True))
    ]
    assert sizes[0] > sizes[1] > sizes[3]
    assert sizes[0] > sizes[2] > sizes[3]
    loaded = corate.load(tmp_path / "model")
    assert loaded.tag_all(words_of(TEST)) == tagger.tag_all(words_of(TEST))
    assert loaded.counts is None
    with pytest.raises(ModelError, match="without its counts"):
        loaded.update(corpus_of(TEST))


def test_a_model_of_a_function_asks_for_it(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    taggers["function"].save(tmp_path / "model")
    with pytest.raises(ModelError, match=r"model.*features="):
        corate.load(tmp_path / "model")
    loaded = corate.load(tmp_path / "model", features=features_of)
    assert loaded.tag(["the", "dogs"]) == taggers["function"].tag(["the", "dogs"])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "function"])
def test_a_model_without_a_function_takes_none(taggers: dict[str, Tagger], kind: str, tmp_path: Path) -> None:
    taggers[kind].save(tmp_path / "model")
    with pytest.raises(ModelError, match=r"model: .* without a feature function; load it without features="):
        corate.load(tmp_path / "model", features=features_of)


# -- files that pass the hash and do not fit together ------------------------------------------------------------------


def parts_of(tagger: Tagger, path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    tagger.save(path)
    tensors, header = tensor_file.read(path)
    return {name: np.array(t) for name, t in tensors.items()}, header


Change = Callable[[dict[str, np.ndarray], dict[str, Any]], object]


def at(name: str, index: int, value: Any) -> Change:
    def change(tensors: dict[str, np.ndarray], header: dict[str, Any]) -> None:
        tensors[name][index] = value

    return change


def put(name: str, make: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda tensors, header: tensors.update({name: make(tensors[name])})


def head(*path: str | int, value: Any) -> Change:
    def change(tensors: dict[str, np.ndarray], header: dict[str, Any]) -> None:
        part: Any = header
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value

    return change


CHANGES: dict[str, Change] = {
    "a label out of range": at("rows.labels", 0, 99),
    "labels out of order": put("rows.labels", lambda a: a[::-1]),
    "a label of weights out of range": at("weights.labels", 0, 99),
    "an edge to no label": at("edges.labels", 0, 99),
    "lengths too long": at("rows.lengths", 0, 200),
    "lengths that wrap": put("rows.lengths", lambda a: a.astype(np.uint64) + np.uint64(2**63)),
    "lengths of floats": put("rows.lengths", lambda a: a.astype(np.float32)),
    "signed lengths": put("rows.lengths", lambda a: a.astype(np.int64)),
    "signed labels": put("rows.labels", lambda a: -a.astype(np.int8)),
    "a score that is not a number": at("rows.scores", 0, np.nan),
    "an infinite score": at("weights.scores", 0, np.inf),
    "an infinite edge": at("edges.scores", 0, -np.inf),
    "a negative rate": at("edges.row", 0, -5.0),
    "rates that overflow": put("edges.row", lambda a: a * 0 + np.float32(3e38)),
    "double scores": put("rows.scores", lambda a: a.astype(np.float64)),
    "scores in a square": put("rows.scores", lambda a: a[:4].reshape(2, 2)),
    "fewer rows": put("rows.lengths", lambda a: a[:-1]),
    "no biases for some labels": put("bias", lambda a: a[:-1]),
    "strings twice": put("strings.0.offsets", lambda a: np.concatenate([a, a[-1:], a[-1:]])),
    "a label twice": put("labels.data", lambda a: a * 0 + a[0]),
    "offsets past the strings": put("strings.0.offsets", lambda a: a + np.uint8(1)),
    "offsets that fall": put("strings.0.offsets", lambda a: a[::-1].copy()),
    "strings that are no UTF-8": put("strings.0.data", lambda a: a * 0 + np.uint8(0xFF)),
    "a feature of a word that is not there": at("keys.1.first", 0, 250),
    "a feature of a value that is not there": at("keys.1.second", 0, 250),
    "a feature twice": put("keys.1.first", lambda a: a * 0 + np.uint8(16)),
    "keys of different lengths": put("keys.1.first", lambda a: a[:-1]),
    "counts of no label": at("counts.labels", 0, 99),
    "counts of other features": put("counts.lengths", lambda a: a[:-1]),
    "negative counts": put("counts.counts", lambda a: -a.astype(np.int32)),
    "counts too large": put("counts.counts", lambda a: a.astype(np.uint64) + np.uint64(2**62)),
    "pairs of no label": at("pairs.origin", 0, 99),
    "pairs of different lengths": put("pairs.to", lambda a: a[:-1]),
    "levels that are not there": head("model", "rungs", value=[0, 1, 2, 3, 4, 5, 99]),
    "negative levels": head("model", "rungs", 0, value=-1),
    "fewer levels": head("model", "rungs", value=[0]),
    "levels past the rows": head("model", "rung_bases", -1, value=10**6),
    "levels that fall": head("model", "rung_bases", 1, value=0),
    "a word column that is not there": head("model", "word_column", value=3),
    "a floor without bottom": head("model", "floor", value="-inf"),
    "an edge weight of text": head("model", "edge_weight", value="heavy"),
    "another order": head("order", value=3),
    "the second order without triples": head("order", value=2),
    "no templates": head("templates", value=[]),
    "templates of nothing": head("templates", 0, value="bias"),
    "templates that make no sense": head("templates", 0, value="word["),
    "templates of text": head("templates", value="word[0]"),
    "templates of other columns": head("templates", 0, value="other[0]"),
    "lexicons that are not there": head("lexicons", value=["in x"]),
    "files in templates": head("templates", 0, value="in(word[0], /etc/passwd)"),
    "columns of numbers": head("columns", value=[1]),
    "bins of text": head("bins", value={"a": ["b"]}),
    "bins that fall": head("bins", value={"a": [2.0, 1.0]}),
    "no record": head("record", value=None),
    "a record of nothing": head("record", value={}),
    "words of numbers": head("record", "word", value=[1]),
    **{
        f"the {name} in the record of another kind": head("record", name, value=value)
        for name, value in {
            "lattice": ["full"],
            "ladder": {},
            "constrain": 1,
            "label_source": ["upos"],
            "settings": [],
            "held_out": "good",
            "temperature": "warm",
            "updates": "many",
            "layout": "word",
        }.items()
    },
    "rows of words without a word": head("record", "word", value=None),
    "weights of more features than there are": put("weights.lengths", lambda a: np.append(a, a[:1] * 0)),
    "an edge weight out of range": head("model", "edge_weight", value=1e308),
    "an edge weight that is not a number": head("model", "edge_weight", value="nan"),
    "a floor out of range": head("model", "floor", value=-1e308),
}


@pytest.mark.parametrize("what", list(CHANGES))
def test_files_that_do_not_fit_together_are_refused(taggers: dict[str, Tagger], what: str, tmp_path: Path) -> None:
    tensors, header = parts_of(taggers["default"], tmp_path / "model")
    CHANGES[what](tensors, header)
    tensor_file.write(tmp_path / "model", tensors, header)
    with pytest.raises(ModelError, match="model"):
        corate.load(tmp_path / "model")


@pytest.mark.parametrize("kind", ["default", "pooled", "ready"])
def test_every_tensor_is_needed_and_checked_for_its_shape(
    taggers: dict[str, Tagger], kind: str, tmp_path: Path
) -> None:
    tensors, header = parts_of(taggers[kind], tmp_path / "model")
    for name, tensor in tensors.items():
        for changed in (None, tensor.reshape(1, -1), np.concatenate([tensor, tensor, np.ones(1, tensor.dtype)])):
            others = {n: t for n, t in tensors.items() if n != name}
            tensor_file.write(tmp_path / "changed", others if changed is None else {**others, name: changed}, header)
            with pytest.raises(ModelError, match="model"):
                corate.load(tmp_path / "changed")


@pytest.fixture(scope="module")
def second() -> Tagger:
    """Of the second order, and of 4 labels: 5 rows of pairs up to 24."""
    return corate.train(corpus_of(LABELLED), "standard", features=["word[0]"], order=2)


TRIPLES: dict[str, Change] = {
    "a pair out of range": at("triples.labels", -1, 25),
    "a pair far out of range": at("triples.labels", 0, 255),
    "pairs out of order": put("triples.labels", lambda a: a[::-1].copy()),
    "a pair twice": at("triples.labels", 1, 0),
    "lengths too long": at("triples.lengths", 0, 200),
    "lengths that wrap": put("triples.lengths", lambda a: a.astype(np.uint64) + np.uint64(2**63)),
    "fewer rows": put("triples.lengths", lambda a: np.append(a[:-2], a[-2:].sum(dtype=a.dtype))),
    "more rows": put("triples.lengths", lambda a: np.append(a, a[:1] * 0)),
    "no rows": put("triples.lengths", lambda a: a[:0]),
    "signed pairs": put("triples.labels", lambda a: -a.astype(np.int8)),
    "fewer pairs": put("triples.labels", lambda a: a[:-1]),
    "fewer scores": put("triples.scores", lambda a: a[:-1]),
    "more scores": put("triples.scores", lambda a: np.append(a, a[:1])),
    "a score that is not a number": at("triples.scores", 0, np.nan),
    "an infinite score": at("triples.scores", -1, -np.inf),
    "double scores": put("triples.scores", lambda a: a.astype(np.float64)),
    "no triples": lambda tensors, header: [tensors.pop(f"triples.{part}") for part in ("lengths", "labels", "scores")],
    "normalised locally": head("model", "locally_normalised", value=True),
    "another order": head("order", value=3),
}


@pytest.mark.parametrize("what", list(TRIPLES))
def test_triples_that_do_not_fit_together_are_refused(second: Tagger, what: str, tmp_path: Path) -> None:
    tensors, header = parts_of(second, tmp_path / "model")
    assert header["order"] == 2
    TRIPLES[what](tensors, header)
    tensor_file.write(tmp_path / "model", tensors, header)
    with pytest.raises(ModelError, match="model"):
        corate.load(tmp_path / "model")


def test_every_tensor_of_triples_is_needed(second: Tagger, tmp_path: Path) -> None:
    """What would be labelled without them is not what the model says."""
    tensors, header = parts_of(second, tmp_path / "model")
    for part in ("lengths", "labels", "scores"):
        others = {name: t for name, t in tensors.items() if name != f"triples.{part}"}
        tensor_file.write(tmp_path / "changed", others, header)
        with pytest.raises(ModelError, match="changed"):
            corate.load(tmp_path / "changed")


def test_only_models_of_the_second_order_say_so(second: Tagger, taggers: dict[str, Tagger], tmp_path: Path) -> None:
    """Versions that know the first alone refuse what is not of it."""
    assert parts_of(taggers["default"], tmp_path / "model")[1]["order"] == 1
    assert not any(name.startswith("triples") for name in parts_of(taggers["default"], tmp_path / "model")[0])
    second.save(tmp_path / "model")
    corate.load(tmp_path / "model").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_altered_files_of_the_second_order_are_refused_or_harmless(
    second: Tagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensors, header = parts_of(second, tmp_path / "model")
    three = {name: t for name, t in tensors.items() if name.startswith("triples")}
    test = corpus_of(TEST[-4:])
    refused = used = 0
    for i in range(600):
        altered = tensors | damaged_tensors(three, np.random.default_rng([8, i]))
        monkeypatch.setattr(tensor_file, "read", lambda path, mmap, altered=altered: (altered, header))
        try:
            tagger = corate.load("altered")
            tagger.tag_all(test)
            tagger.lattice(test).marginals()
            used += 1
        except CorateError:
            refused += 1
    assert refused > 300
    assert used > 20


@pytest.mark.parametrize("kind", ["default", "paper", "pooled", "ready"])
def test_thousands_of_altered_files_are_refused_or_harmless(
    taggers: dict[str, Tagger], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever passes the checks must tag, learn and save without a crash, a hang, or an error of another kind."""
    tensors, header = parts_of(taggers[kind], tmp_path / "model")
    test = KINDS[kind](TEST[-4:])
    more = KINDS[kind](random_sentences(2, 3, words=(*WORDS, "new", "NEW-1")))
    refused = used = 0
    for i in range(2000):
        rng = np.random.default_rng([7, i])
        altered = (damaged_tensors(tensors, rng), header) if i % 3 else (tensors, damaged_header(header, rng))
        monkeypatch.setattr(tensor_file, "read", lambda path, mmap, altered=altered: altered)
        try:
            tagger = corate.load("altered")
            tagger.tag_all(test)
            tagger.lattice(test).marginals()
            repr(tagger)
            tagger.rates()
            if kind != "ready":
                tagger.tag_text(b"the d\nUnseen U\n", columns=["word", "pos"])
            learned = tagger.update(more)
            learned.tag_all(test)
            learned.save(tmp_path / "again") if i % 20 == 0 else None
            used += 1
        except CorateError:
            refused += 1
    assert refused > 1000
    assert used > 100


FITTED: dict[str, tuple[Callable[[Any], Corpus], dict[str, Any]]] = {
    "polish": (corpus_of, {"method": "polish"}),
    "second order": (corpus_of, {"method": "polish", "order": 2}),
    "edges and related words": (
        corpus_of,
        {"method": "polish", "features": ["word[0]", "edge: word[0]", "related_start(word[0])"]},
    ),
    "two columns": (with_pos, {"method": "perceptron", "features": CONTEXTS[:-1]}),
    "numbers": (with_features, {"method": "separate"}),
    "pruned": (corpus_of, {"method": "standard", "lattice": "pruned", "features": ["word[0]"]}),
    "normalised locally": (corpus_of, {"method": "memm"}),
}


@pytest.mark.parametrize("kind", list(FITTED))
def test_altered_files_of_fitted_models_are_refused_or_harmless(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What passes the checks can be tagged with, looked into, saved and trained further."""
    make, options = FITTED[kind]
    tensors, header = parts_of(corate.train(make(LABELLED), **options), tmp_path / "model")
    test = make(TEST[-2:])
    refused = used = 0
    for i in range(80):
        rng = np.random.default_rng([9, i])
        altered = (damaged_tensors(tensors, rng), header) if i % 2 else (tensors, damaged_header(header, rng))
        monkeypatch.setattr(tensor_file, "read", lambda path, mmap, altered=altered: altered)
        try:
            tagger = corate.load("altered")
        except CorateError:
            refused += 1
            continue
        used += 1
        for use in (
            lambda tagger: tagger.tag_all(test),
            lambda tagger: tagger.lattice(test).marginals(),
            lambda tagger: info._show(tagger, info._facts(tagger, str(tmp_path / "model"))),
            lambda tagger: tagger.save(tmp_path / "again"),
            lambda tagger: tagger.update(test),
            lambda tagger: corate.train(test, "polish", init=tagger, passes=1).tag_all(test),
        ):
            with contextlib.suppress(CorateError):
                use(tagger)
    assert refused > 20
    assert used > 10


def test_foreign_and_damaged_files_are_refused(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    path = tmp_path / "model"
    taggers["default"].save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for i in rng.integers(len(whole), size=60).tolist():
        path.write_bytes(whole[:i] + bytes([whole[i] ^ (1 << int(rng.integers(8)))]) + whole[i + 1 :])
        with pytest.raises(ModelError, match="model"):
            corate.load(path)
    for content in (b"", whole[:100], whole[:-1], whole + b"\0", b"the\tD\n"):
        path.write_bytes(content)
        with pytest.raises(ModelError, match="model"):
            corate.load(path)
    tensor_file.write(path, {}, {})
    with pytest.raises(ModelError, match="no model that corate can use"):
        corate.load(path)
    for missing in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(ModelError, match=r"nothing|director"):
            corate.load(missing)


def test_a_record_that_lies_about_settings_is_told_at_the_update(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    tagger = taggers["default"]
    for settings in ({"edge": float("nan")}, {"rare": 1.5}, {"nosuch": 1}, {"edge": -1.0}, None):
        lying = replace(tagger, record={**tagger.record, "settings": settings})
        with pytest.raises(ModelError, match="train it again"):
            lying.update(corpus_of(TEST))


#: Loads a model, has its file overwritten in place by nothing, and tags.
OVERWRITTEN = """
import sys, corate
tagger = corate.load(sys.argv[1])
open(sys.argv[1], "wb").close()
print(tagger.tag(["the", "dog"]), tagger.save(sys.argv[1]) > 0)
"""


def test_a_loaded_model_does_not_need_its_file(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    path = tmp_path / "model"
    taggers["default"].save(path)
    run = subprocess.run([sys.executable, "-c", OVERWRITTEN, path], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, f"{taggers['default'].tag(['the', 'dog'])} True\n"), run.stderr


def test_a_mapped_model_tags_as_one_in_memory(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    taggers["default"].save(tmp_path / "model")
    mapped = corate.load(tmp_path / "model", mmap=True)
    assert mapped.tag_all(words_of(TEST)) == taggers["default"].tag_all(words_of(TEST))


def test_only_a_file_with_a_newer_part_has_its_version_and_older_programs_refuse_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How a part that older programs would not know is added, for example edges of a type."""
    tagger = corate.train(corpus_of(LABELLED), "standard", iterations=3)
    old, newest = tensor_file.FORMAT_VERSION, tensor_file.FORMAT_VERSION + 1
    tagger.save(tmp_path / "before")
    monkeypatch.setattr(tensor_file, "FORMAT_VERSION", newest)
    monkeypatch.setitem(archive._TENSORS, "edges.#.scores", "edges.#")
    monkeypatch.setitem(archive._SINCE, "edges.#", newest)
    tagger.save(tmp_path / "plain")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "before").read_bytes()

    scores = tensor_file.StreamedTensor(np.dtype(np.float32), 1, lambda: [np.ones(1, np.float32)])
    archive.save_streamed(tagger, tmp_path / "typed", {"edges.7.scores": scores})
    assert corate.load(tmp_path / "typed").tag_all([["a"]]) == tagger.tag_all([["a"]])
    monkeypatch.setattr(tensor_file, "FORMAT_VERSION", old)
    with pytest.raises(ModelError, match=rf"typed: .* format version {newest}, .* up to {old}; upgrade corate"):
        corate.load(tmp_path / "typed")
    assert corate.load(tmp_path / "plain").tag_all([["a"]]) == tagger.tag_all([["a"]])


def test_every_declared_version_can_be_read() -> None:
    assert max(archive._SINCE.values()) == tensor_file.FORMAT_VERSION
    assert archive._SINCE.keys() <= {*archive._HEADER, *archive._MODEL, *archive.SCHEMA}


def test_a_model_with_an_empty_label_still_loads(tmp_path: Path) -> None:
    """Older versions trained on labels without a name."""
    tagger = corate.train(corpus_of([[("a", "A"), ("b", "B")]] * 3))
    labels = StringTable.intern(["" if label == "B" else label for label in tagger.labels])[0]
    replace(tagger, model=replace(tagger.model, labels=labels)).save(tmp_path / "model")
    assert corate.load(tmp_path / "model").tag(["a", "b"]) == ["A", ""]
