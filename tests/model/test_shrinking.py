"""A tagger without rare conjunctions: smaller, and what it knows of unseen words stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import corate
from corate.errors import ConfigError, ModelError
from corate.rows import SparseRows
from small_corpora import corpus_of, random_sentences


def test_pruning_drops_rare_pairs_and_keeps_what_is_derived_for_unseen_words() -> None:
    once = [[("the", "D"), (f"thing{i}", "N"), (".", "P")] for i in range(30)]
    tagger = corate.train(corpus_of([*random_sentences(120, seed=3), *once]), "empirical", backoff="default")
    pruned = tagger.shrunk(rare=3)
    before, after = (dict(zip(t.features, np.diff(t.vocabulary.bases), strict=True)) for t in (tagger, pruned))
    for template, size in before.items():
        if "|" in template and "unseen" not in template:
            assert after[template] < size
        else:
            assert after[template] == size
    assert sum(size for template, size in after.items() if "unseen" in template) > 0
    kept = pruned.counts.table.totals()  # type: ignore[union-attr]
    assert not np.any((kept > 0) & (kept < 3) & (np.arange(len(kept)) >= pruned.vocabulary.bases[1]))
    assert pruned.tag(["the", "gnu", "."]) == tagger.tag(["the", "gnu", "."])


def test_a_model_without_counts_cannot_tell_what_is_rare() -> None:
    corpus = corpus_of(random_sentences(40, seed=3))
    with pytest.raises(ModelError, match="separate"):
        corate.train(corpus, "separate", features=["word[0]"]).shrunk(rare=2)


def test_other_doors_to_shrunk_are_deprecated(tmp_path: Path) -> None:
    tagger = corate.train(corpus_of(random_sentences(60, seed=3)), "empirical", backoff="default")
    tagger.shrunk(rare=2).save(tmp_path / "shrunk")
    with pytest.warns(FutureWarning, match=r"Tagger.pruned is deprecated.*use Tagger.shrunk"):
        tagger.pruned(2).save(tmp_path / "pruned")
    with pytest.warns(FutureWarning, match=r"save\(rare=...\) is deprecated"):
        tagger.save(tmp_path / "saved", rare=2)
    assert (tmp_path / "shrunk").read_bytes() == (tmp_path / "pruned").read_bytes() == (tmp_path / "saved").read_bytes()


# -- smaller taggers without training again ---------------------------------------------------------------------------

SENTENCES = random_sentences(60, seed=5)


def trained(method: str) -> corate.Tagger:
    few = {"empirical": {}, "standard": {"iterations": 10}, "polish": {"passes": 2, "order": 2}}[method]
    return corate.train(corpus_of(SENTENCES), method, features=None if method == "empirical" else "pos", **few)


def weights_by_name(tagger: corate.Tagger) -> dict[tuple[str, int], float]:
    weights = tagger.model.weights
    features = np.repeat(np.arange(len(weights)), np.diff(weights.offsets)).tolist()
    names = tagger.vocabulary.names(features)
    return dict(zip(zip(names, weights.labels.tolist(), strict=True), weights.scores.tolist(), strict=True))


@pytest.mark.parametrize("method", ["polish", "standard", "empirical"])
def test_only_small_weights_are_dropped_and_labels_are_those_without_them(method: str) -> None:
    tagger = trained(method)
    limit = float(np.quantile(np.abs(tagger.model.weights.scores), 0.4))
    small = tagger.shrunk(drop_below=limit, counts=False)
    kept = {name: weight for name, weight in weights_by_name(tagger).items() if abs(weight) >= np.float32(limit)}
    assert weights_by_name(small) == kept
    assert 0 < len(kept) < len(tagger.model.weights.scores)
    assert len(small.model.weights) < len(tagger.model.weights)

    def zeroed(rows: SparseRows) -> SparseRows:
        return replace(rows, scores=np.where(np.abs(rows.scores) < limit, np.float32(0), rows.scores))

    old = tagger.model
    edges = replace(old.edges, triples=zeroed(old.edges.triples))
    model = replace(old, weights=zeroed(old.weights), edge_weights=zeroed(old.edge_weights), edges=edges)
    text = corpus_of(random_sentences(40, seed=9))
    assert small.tag_all(text) == replace(tagger, model=model).tag_all(text)
    assert small.record["shrunk"] == {"drop_below": limit}
    assert tagger.shrunk().tag_all(text) == tagger.tag_all(text)
    assert "shrunk" not in tagger.shrunk().record


def test_names_of_ready_made_features_without_weights_are_dropped(tmp_path: Path) -> None:
    x = [[{"word": word, "noise": str(i)} for word, _ in sentence] for i, sentence in enumerate(SENTENCES)]
    y = [[label for _, label in sentence] for sentence in SENTENCES]
    tagger = corate.train(corate.Corpus.from_features(x, y), "standard", c1=0.0, iterations=10)
    small = tagger.shrunk(drop_below=0.1)
    assert small.vocabulary.n_attributes < tagger.vocabulary.n_attributes
    small.save(tmp_path / "small")
    assert corate.load(tmp_path / "small").tag_all(x) == small.tag_all(x)


def test_counts_decide_whether_a_smaller_tagger_can_be_updated() -> None:
    more = corpus_of(random_sentences(20, seed=6))
    tagger = trained("empirical")
    for small in (tagger.shrunk(drop_below=0.2), tagger.shrunk(rare=2)):
        assert small.update(more).record["sentences"] == len(SENTENCES) + 20
    with pytest.raises(ModelError, match="without its counts"):
        tagger.shrunk(counts=False).update(more)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
def test_a_limit_that_is_no_size_of_a_weight_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match="drop_below"):
        trained("standard").shrunk(drop_below=value)


def test_scores_that_do_not_fit_in_16_bits_are_refused_when_saved(tmp_path: Path) -> None:
    tagger = trained("standard")
    large = replace(tagger, model=replace(tagger.model, weights=tagger.model.weights.scaled(1e9)))
    with pytest.raises(ModelError, match="16 bits"):
        large.save(tmp_path / "large", half=True)
    assert not (tmp_path / "large").exists()
