"""What a tagger says about the labels of a sentence beyond the best ones, with and without constraints."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import corate
from corate import Constraints, _native
from corate.errors import ConfigError, DataError, ModelError
from corate.model.lattice import Lattice
from corate.spans import SCHEMES, spans
from small_corpora import corpus_of, random_sentences, words_of

WORDS = words_of(random_sentences(12, seed=5))


def names(seed: int, n: int = 80) -> list[list[tuple[str, str]]]:
    """Sentences with names of persons and places in IOB2, some of them ambiguous."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        sentence: list[tuple[str, str]] = []
        for _ in range(rng.integers(1, 4)):
            kind = ["PER", "LOC"][rng.integers(2)]
            first = {"PER": ["Ann", "Paris"], "LOC": ["Paris", "New"]}[kind][rng.integers(2)]
            sentence += [(first, f"B-{kind}")] + [(["Lee", "York"][rng.integers(2)], f"I-{kind}")] * int(
                rng.integers(2)
            )
            sentence += [(["in", "saw"][rng.integers(2)], "O")] * int(rng.integers(2))
        made.append(sentence)
    return made


@pytest.fixture(scope="module")
def ner() -> corate.Tagger:
    return corate.train(corpus_of(names(1)))


KINDS = {
    "polish": {},
    "empirical": {},
    "second order": {"method": "standard", "order": 2, "features": ["word[0]"], "iterations": 10},
    "edge features": {"method": "standard", "features": ["word[0]", "edge: word[0]"], "iterations": 10},
    "memm": {"method": "memm", "features": ["word[0]"], "iterations": 10},
}


@pytest.fixture(scope="module", params=list(KINDS))
def tagger(request: pytest.FixtureRequest) -> corate.Tagger:
    options = dict(KINDS[request.param])
    return corate.train(
        corpus_of(random_sentences(60, seed=2)), options.pop("method", request.param.split()[0]), **options
    )


def test_answers_agree_with_each_other(tagger: corate.Tagger) -> None:
    for words in WORDS:
        best = tagger.nbest(words, 5)
        assert best[0][0] == tagger.tag(words)
        assert best[0][1] == pytest.approx(tagger.confidence(words), abs=1e-9)
        for labels, probability in best:
            assert np.log(probability) == pytest.approx(tagger.score(words, labels), abs=1e-3)
        assert [p for _, p in best] == sorted((p for _, p in best), reverse=True)
        marginals, pairs = tagger.marginals(words), tagger.pair_marginals(words)
        assert len(marginals) == len(words) == len(pairs) + 1
        for t, found in enumerate(marginals):
            assert list(found) == tagger.labels
            assert sum(found.values()) == pytest.approx(1, abs=1e-5)
            for y, p in found.items() if t < len(pairs) else ():
                assert sum(q for (left, _), q in pairs[t].items() if left == y) == pytest.approx(p, abs=1e-5)
        likeliest = [max(found, key=lambda y: found[y]) for found in marginals]
        assert tagger.tag(words, decode="posterior") == likeliest


def test_entropy_and_samples_are_of_the_distribution_of_labellings(tagger: corate.Tagger) -> None:
    words = min(WORDS, key=len)
    every = tagger.nbest(words, 10_000)
    assert sum(p for _, p in every) == pytest.approx(1, abs=1e-9)
    assert tagger.entropy(words) == pytest.approx(-sum(p * np.log(p) for _, p in every if p), abs=1e-6)
    drawn = tagger.sample(words, 400, seed=7)
    assert drawn == tagger.sample(words, 400, seed=7) != tagger.sample(words, 400, seed=8)
    assert all(labels in [found for found, _ in every] for labels in drawn)
    assert sum(labels == every[0][0] for labels in drawn) / 400 == pytest.approx(every[0][1], abs=0.1)


def test_many_sentences_have_the_answers_of_each(tagger: corate.Tagger) -> None:
    for threads in (1, 3):
        lattice = tagger.lattice(WORDS, threads=threads)
        assert lattice.nbest(3) == [tagger.nbest(words, 3) for words in WORDS]
        assert lattice.tag() == [tagger.tag(words) for words in WORDS]
        assert lattice.entropy() == pytest.approx([tagger.entropy(words) for words in WORDS], abs=1e-9)
        assert lattice.confidence() == [tagger.confidence(words) for words in WORDS]


def test_entities_of_raw_text_have_their_characters(ner: corate.Tagger) -> None:
    text = "  Ann  Lee saw New York,\u00a0Paris."
    tokens = [token.text for token in corate.tokenize(text)]
    found, plain = ner.entities(text), ner.entities(tokens)
    assert found
    assert [(e.type, e.start, e.stop, e.probability) for e in found] == [
        (e.type, e.start, e.stop, e.probability) for e in plain
    ]
    for entity in found:
        assert entity.text == text[entity.start_char : entity.stop_char]
        assert "".join(entity.text.split()) == "".join(tokens[entity.start : entity.stop])
    assert all(entity.start_char is None for entity in plain)
    by_spaces = ner.entities(text, tokenize=str.split)
    assert [e.text for e in by_spaces] == [text[e.start_char : e.stop_char] for e in by_spaces]
    with pytest.raises(DataError, match="the tokeniser returned 'Nobody', which is not in the text after character 0"):
        ner.entities(text, tokenize=lambda _: ["Nobody"])


def test_an_entity_has_the_probability_of_its_labellings(ner: corate.Tagger) -> None:
    words = ["Paris", "Lee", "saw", "New", "York", "Paris"]
    every = ner.nbest(words, 10**6)
    found = ner.entities(words)
    assert [(e.type, e.start, e.stop) for e in found] == [(s.type, s.start, s.stop) for s in spans(ner.tag(words))]
    assert len(found) > 1
    for entity in found:
        assert entity.text == " ".join(words[entity.start : entity.stop])
        where = (entity.start, entity.stop, entity.type)
        assert entity.probability == pytest.approx(sum(p for y, p in every if where in spans(y)), abs=1e-6)
    many = ner.lattice([words, [], ["in"]], threads=2).entities()
    assert [[(e.text, pytest.approx(e.probability)) for e in own] for own in many] == [
        [(e.text, e.probability) for e in found],
        [],
        [],
    ]


def test_plain_tags_and_ready_made_features_have_answers_too(tagger: corate.Tagger) -> None:
    with pytest.raises(ModelError, match="mark no spans"):
        tagger.entities(["the"])
    given = [[{"w": "Ann"}, {"w": "Lee"}], [{"w": "sees"}]]
    ready = corate.train(corate.Corpus.from_features(given, [["B-PER", "I-PER"], ["O"]]))
    entity = ready.entities(given[0])[0]
    assert (entity.type, entity.start, entity.stop, entity.text) == ("PER", 0, 2, "")
    assert ready.tag(given[0], constraints=Constraints(labels={1: "O"}))[1] == "O"
    with pytest.raises(ConfigError, match="ready-made features"):
        ready.tag(given[0], constraints=Constraints(words={"Ann": "O"}))


# -- constraints -------------------------------------------------------------------------------------------------


def test_probabilities_are_of_the_allowed_labellings_only(ner: corate.Tagger) -> None:
    words = ["Ann", "Paris", "York", "in"]
    whole = replace(ner, model=replace(ner.model, all_labels=True))
    every = whole.nbest(words, 10**6)
    limits = Constraints(
        labels={1: {"B-LOC", "B-PER"}}, forbidden={("B-LOC", "I-PER"), ("<s>", "O")}, last={"O", "B-LOC"}
    )

    def allowed(y: list[str]) -> bool:
        return (
            y[1] in ("B-LOC", "B-PER")
            and ("B-LOC", "I-PER") not in itertools.pairwise(y)
            and y[0] != "O"
            and (y[-1] in ("O", "B-LOC"))
        )

    left = [(y, p) for y, p in every if allowed(y)]
    total = sum(p for _, p in left)
    found = whole.nbest(words, 10**6, constraints=limits)
    assert len(found) == len(left)
    assert {tuple(y): p for y, p in found} == pytest.approx({tuple(y): p / total for y, p in left}, abs=1e-6)
    assert whole.tag(words, constraints=limits) == found[0][0]
    assert whole.confidence(words, constraints=limits) == pytest.approx(found[0][1])


def test_a_label_that_is_named_is_a_candidate_with_the_score_of_the_full_lattice() -> None:
    pruned = corate.train(corpus_of(random_sentences(200, seed=4, noise=0.0)), "empirical")
    words = ["the", "dogs", "cats"]
    offsets, labels = (getattr(pruned.lattice([words]), name).tolist() for name in ("offsets", "labels"))
    missing = next(y for y in range(len(pruned.labels)) if y not in labels[offsets[1] : offsets[2]])
    name = pruned.labels[missing]
    limited = pruned.lattice([words], constraints=Constraints(labels={1: name}))
    full = replace(pruned, model=replace(pruned.model, all_labels=True)).lattice([words])
    place = int(limited.offsets[1]) + limited.labels[limited.offsets[1] : limited.offsets[2]].tolist().index(missing)
    assert limited.scores[place] == full.scores[int(full.offsets[1]) + missing]
    assert limited.tag()[0][1] == name
    assert pruned.marginals(words, constraints=Constraints(labels={1: name}))[1][name] == pytest.approx(1)


def test_a_sentence_without_a_labelling_gets_all_labels_before_it_is_refused() -> None:
    pruned = corate.train(corpus_of(random_sentences(200, seed=4, noise=0.0)), "empirical")
    words = ["the", "dogs", "cats"]
    best = pruned.tag(words)
    candidates = pruned.lattice([words])
    first, second = (
        [pruned.labels[y] for y in candidates.labels[candidates.offsets[t] : candidates.offsets[t + 1]].tolist()]
        for t in (0, 1)
    )
    assert len(first) * len(second) < len(pruned.labels) ** 2
    limits = Constraints(forbidden=set(itertools.product(first, second)))
    found = pruned.tag(words, constraints=limits)
    assert (found[0], found[1]) not in limits.forbidden
    both = pruned.lattice([["the"], words], constraints=limits).tag()
    assert both == [pruned.tag(["the"]), found]
    assert pruned.tag(words) == best
    with pytest.raises(DataError, match=r"no labelling of sentence 0 \(the dogs cats\)"):
        pruned.tag(words, constraints=Constraints(forbidden=set(itertools.product(pruned.labels, pruned.labels))))


def test_schemes_allow_what_they_define() -> None:
    """Against the definition: a labelling is valid if converting its spans to the scheme gives it back."""
    from corate.spans import convert

    for scheme, labels in {
        "IOB1": ["O", "B-X", "I-X", "I-Y", "B-Y"],
        "IOB2": ["O", "B-X", "I-X", "I-Y", "B-Y"],
        "IOBES": ["O", "B-X", "I-X", "E-X", "S-X", "S-Y"],
        "BILOU": ["O", "B-X", "I-X", "L-X", "U-X", "U-Y"],
        "BMEWO": ["O", "B-X", "M-X", "E-X", "W-X", "W-Y"],
        "BMES": ["O", "B-X", "M-X", "E-X", "S-X", "S-Y"],
    }.items():
        tagger = corate.train(
            corpus_of([[(f"w{y}", y)] for y in labels]), "standard", features=["word[0]"], iterations=2
        )
        assert sorted(tagger.labels) == sorted(labels)
        valid = {y for y in itertools.product(labels, repeat=3) if convert(y, scheme) == list(y)}
        for given in {scheme, scheme.lower(), "bio" if scheme == "IOB2" else scheme}:
            found = tagger.nbest(["a", "b", "c"], 10**6, constraints=Constraints(scheme=given))
            assert {tuple(y) for y, _ in found} == valid


@pytest.mark.parametrize("scheme", list(SCHEMES))
@pytest.mark.parametrize("method", ["polish", "empirical", "standard"])
def test_auto_finds_the_scheme_of_the_model(scheme: str, method: str) -> None:
    from corate.spans import convert

    made = [
        list(zip([w for w, _ in s], convert([y for _, y in s], scheme, "IOB2"), strict=True)) for s in names(3, n=200)
    ]
    tagger = corate.train(corpus_of(made), method)
    for words in words_of(names(4, n=20)):
        one, other = (tagger.tag(words, constraints=Constraints(scheme=s)) for s in ("auto", scheme))
        assert one == other == convert(one, scheme)


@pytest.mark.parametrize("name", ["LOC", "B-LOC"])
def test_a_block_comes_at_most_once(ner: corate.Tagger, name: str) -> None:
    words = ["New", "York", "in", "Paris", "New"]
    limits = Constraints(one_block={name})
    every = ner.nbest(words, 10**6)

    def blocks(y: list[str]) -> int:
        if name == "LOC":
            return sum(span.type == "LOC" for span in spans(y))
        return sum(label == name for label, _ in itertools.groupby(y))

    left = {tuple(y): p for y, p in every if blocks(y) <= 1}
    assert blocks(ner.tag(words)) > 1
    found = {tuple(y): p for y, p in ner.nbest(words, 10**6, constraints=limits)}
    assert found == pytest.approx({y: p / sum(left.values()) for y, p in left.items()}, abs=1e-9)


def test_words_have_their_labels_and_sentences_their_own_constraints(ner: corate.Tagger) -> None:
    limits = Constraints(words={"Paris": "B-PER", "in": {"O"}}, scheme="auto")
    sentences = [["Paris", "in", "New", "York"], ["New", "Paris"], []]
    for threads in (1, 2):
        found = ner.lattice(sentences, threads=threads, constraints=limits).tag()
        assert found == [ner.tag(words, constraints=limits) for words in sentences]
        assert found[0][0] == found[1][1] == "B-PER"
    each = [replace(limits, labels={2: "B-PER"}), limits, limits]
    assert ner.lattice(sentences, constraints=each).tag()[0][2] == "B-PER"
    with pytest.raises(ConfigError, match="may differ only in labels"):
        ner.lattice(sentences, constraints=[*each[:2], Constraints()])
    with pytest.raises(ConfigError, match="3 sentences but 2 constraints"):
        ner.lattice(sentences, constraints=each[:2])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": {0: "B-PRE"}}, r"labels\[0\]: the model has no label 'B-PRE'; its labels are .*B-PER"),
        ({"words": {"Ann": ["B-X"]}}, "words.*no label 'B-X'"),
        ({"forbidden": [("O", "X")]}, "forbidden: the model has no label 'X'"),
        ({"one_block": "ZIP"}, "one_block: the model has no label 'ZIP'"),
        ({"one_block": ["LOC", "B-LOC"]}, "twice"),
        ({"first": "X"}, "first: the model has no label 'X'"),
        ({"scheme": "IOBES"}, "no label of the model ends a span, so its labels are not in IOBES"),
        ({"scheme": "BMEWO"}, "the model's label 'I-LOC' is not in BMEWO"),
        ({"labels": {9: "O"}}, r"sentence 0 \(Ann\) has 1 token, so there is no token 9"),
        ({"labels": {0: "O"}, "words": {"Ann": "B-PER"}}, r"no label for token 0 of sentence 0 \(Ann\)"),
    ],
    ids=str,
)
def test_constraints_that_do_not_fit_are_refused(ner: corate.Tagger, given: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ner.tag(["Ann"], constraints=Constraints(**given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": [1]}, "labels must be a dict"),
        ({"labels": {-1: "O"}}, "counted from 0"),
        ({"labels": {0: 3}}, "must be a label or a set of labels"),
        ({"forbidden": "O"}, "pairs of labels"),
        ({"forbidden": [("O",)]}, "pairs of labels"),
        ({"scheme": "XYZ"}, "unknown label scheme 'XYZ'"),
    ],
    ids=str,
)
def test_constraints_say_what_they_take(given: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Constraints(**given)


def test_marginals_do_not_depend_on_the_number_of_threads() -> None:
    """Sums in another order differ at few of many candidates."""
    rng, n, k = np.random.default_rng(1), 4000, 8
    edges = _native.Edges.dense(3 * rng.normal(size=(k + 1, k + 1)).astype(np.float32))
    labels, scores = np.tile(np.arange(k, dtype=np.int32), n), 3 * rng.normal(size=n * k).astype(np.float32)
    arrays = (np.array([0, n]), np.arange(n + 1) * k, labels, scores, edges)
    one, two = (Lattice(*arrays, threads=threads).marginals()[1] for threads in (1, 2))
    assert one.tobytes() == two.tobytes()
