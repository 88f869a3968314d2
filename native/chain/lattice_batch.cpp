// See lattice_batch.h.
#include "chain/lattice_batch.h"

#include <algorithm>

#include "chain/forward_backward.h"

namespace {

void use_triples(const std::optional<TripleScores>& given, Edges& edges) {
    if (!given) return;
    if (edges.local) throw std::invalid_argument("edges that are normalised locally cannot have scores of label triples");
    const auto& [rows, scores] = *given;
    if (rows.ids.size() != scores.size()) throw std::invalid_argument("label triples and their scores disagree");
    check_triples(rows, static_cast<size_t>(edges.n_labels));
    edges.triples = Triples(rows.offsets.data(), rows.ids.data(), static_cast<size_t>(edges.n_labels));
    edges.triple_scores.assign(scores.begin(), scores.end());
}

// An array that shares the memory of some pairs of words.
template <typename T>
Array<T> shared(const std::shared_ptr<const WordPairs>& words, const std::vector<T>& values) {
    return {values.data(), values.size(), words};
}

}  // namespace

Edges dense_edges(const Matrix<float>& scores, bool local, const std::optional<TripleScores>& triples) {
    if (scores.rows() != scores.columns() || scores.rows() < 1)
        throw std::invalid_argument("dense edge scores must be a (K + 1, K + 1) array");
    Edges edges;
    edges.n_labels = static_cast<int32_t>(scores.rows()) - 1;
    edges.dense.assign(scores.row(0), scores.row(scores.rows()));
    edges.local = local;
    use_triples(triples, edges);
    return edges;
}

Edges sparse_edges(const Csr& rows, const Array<float>& scores, const Array<float>& row, const Array<float>& col, float weight,
                   bool local, const std::optional<TripleScores>& triples) {
    const auto& [offsets, to] = rows;
    const size_t size = row.size();
    if (size < 1 || offsets.size() != size + 1 || col.size() != size || to.size() != scores.size())
        throw std::invalid_argument("sparse edge arrays disagree");
    check_offsets(offsets, to.size(), "edge offsets and labels disagree");
    check_rising(offsets, to, size, "edge labels are out of range or out of order");
    Edges edges;
    edges.n_labels = static_cast<int32_t>(size) - 1;
    edges.offsets.assign(offsets.begin(), offsets.end());
    edges.to.assign(to.begin(), to.end());
    edges.scores.assign(scores.begin(), scores.end());
    edges.row.assign(row.begin(), row.end());
    edges.col.assign(col.begin(), col.end());
    edges.weight = weight;
    edges.local = local;
    use_triples(triples, edges);
    return edges;
}

std::optional<Edges> edges_without(const Edges& edges, const Array<uint8_t>& forbidden) {
    if (forbidden.size() != edges.pairs().size()) throw std::invalid_argument("limits and label pairs disagree");
    if (edges.dense.empty() || edges.local || !edges.triples.empty()) return std::nullopt;
    Edges limited = edges;
    for (size_t i = 0; i < limited.dense.size(); ++i)
        if (forbidden[i]) limited.dense[i] = -INFINITY;
    return limited;
}

EdgeFeatureWeights::EdgeFeatureWeights(Csr pairs_, Array<float> scores_) : pairs(std::move(pairs_)), scores(std::move(scores_)) {
    if (pairs.ids.size() != scores.size()) throw std::invalid_argument("edge features and their scores disagree");
    check_offsets(pairs.offsets, pairs.ids.size(), "edge features and their label pairs disagree");
}

EdgeFeatureWeights::EdgeFeatureWeights(std::shared_ptr<const WordPairs> words_, float scale, float floor, float forbidden)
    : pairs{shared(words_, words_->rows().offsets), shared(words_, words_->rows().labels)},
      scores(shared(words_, words_->rows().scores)),
      words(words_),
      word_pairs{true, scale, floor, forbidden} {}

EdgeFeatureWeights EdgeFeatureWeights::scaled(float factor) const {
    EdgeFeatureWeights other = *this;
    if (word_pairs.used) {
        other.word_pairs.scale *= factor;
        other.word_pairs.forbidden *= factor;
        return other;
    }
    const auto own = std::make_shared<std::vector<float>>(scores.begin(), scores.end());
    for (float& score : *own) score *= factor;
    other.scores = {own->data(), own->size(), own};
    return other;
}

float EdgeFeatureWeights::at(int64_t feature, int32_t pair) const {
    if (feature < 0 || feature >= static_cast<int64_t>(size())) throw std::out_of_range("feature out of range");
    const int32_t* last = pairs.ids.data() + pairs.offsets[static_cast<size_t>(feature) + 1];
    const int32_t* found = std::lower_bound(pairs.ids.data() + pairs.offsets[static_cast<size_t>(feature)], last, pair);
    const bool here = found != last && *found == pair;
    const float score = here ? scores[static_cast<size_t>(found - pairs.ids.data())] : word_pairs.used ? word_pairs.floor : 0.0f;
    return word_pairs.used ? word_pairs.scale * score : score;
}

LatticeBatch::LatticeBatch(Array<int64_t> sentences, Csr candidates, Array<float> scores, const Edges& edges,
                           std::optional<WeightedEdgeFeatures> extra)
    : sentences_(std::move(sentences)),
      offsets_(candidates.offsets),
      labels_(candidates.ids),
      scores_(std::move(scores)),
      kept_(std::move(extra)) {
    if (labels_.size() != scores_.size()) throw std::invalid_argument("node labels and scores disagree");
    // A position with K candidates has all labels, in order.
    check_candidates(candidates, offsets_.size() - 1, static_cast<size_t>(edges.n_labels));
    check_offsets(sentences_, n_tokens(), "sentence offsets and node offsets disagree");
    if (kept_) use(*kept_);
}

void LatticeBatch::use(const WeightedEdgeFeatures& given) {
    const auto& [tokens, weights] = given;
    const auto& [places, ids] = tokens;
    if (places.size() != offsets_.size()) throw std::invalid_argument("edge features and tokens disagree");
    check_offsets(places, ids.size(), "edge features and tokens disagree");
    for (const int32_t id : ids)
        if (id >= static_cast<int64_t>(weights.size())) throw std::invalid_argument("edge feature out of range");
    extra_ = {places.data(),         ids.data(),        weights.pairs.offsets.data(), weights.pairs.ids.data(),
              weights.scores.data(), weights.word_pairs};
    if (!extra_.word_pairs.used) return;
    for (size_t s = 0; s < size(); ++s)
        for (int64_t t = sentences_[s]; t < sentences_[s + 1]; ++t)
            if (places[t + 1] - places[t] != (t + 1 == sentences_[s + 1] ? 2 : 1))
                throw std::invalid_argument("pairs of words and tokens disagree");
}

std::vector<size_t> LatticeBatch::pair_places() const {
    std::vector<size_t> first(1, 0);
    for (size_t s = 0; s < size(); ++s) {
        size_t n = 0;
        for (int64_t t = sentences_[s] + 1; t < sentences_[s + 1]; ++t)
            n += static_cast<size_t>((offsets_[t] - offsets_[t - 1]) * (offsets_[t + 1] - offsets_[t]));
        first.push_back(first.back() + n);
    }
    return first;
}

std::tuple<std::vector<int32_t>, std::vector<float>> viterbi(const LatticeBatch& batch, const Edges& edges, size_t threads) {
    std::vector<int32_t> best(batch.n_tokens());
    std::vector<float> scores(batch.size());
    batch.in_ranges(threads, [&](size_t first, size_t last) {
        Viterbi viterbi;
        for (size_t s = first; s < last; ++s) scores[s] = viterbi.decode(batch.sentence(s), edges, best.data() + batch.first(s));
    });
    return {std::move(best), std::move(scores)};
}

std::tuple<std::vector<double>, std::vector<float>, std::vector<float>> forward_backward(const LatticeBatch& batch,
                                                                                         const Edges& edges, bool with_pairs,
                                                                                         size_t threads) {
    const std::vector<size_t> places = batch.pair_places();
    std::vector<float> marginals(batch.n_candidates()), pairs(with_pairs ? places.back() : 0);
    std::vector<double> log_z(batch.size());
    batch.in_ranges(threads, [&](size_t first, size_t last) {
        ForwardBackward pass;
        for (size_t s = first; s < last; ++s)
            log_z[s] = pass.run(batch.sentence(s), edges, marginals.data() + batch.candidate(s),
                                with_pairs ? pairs.data() + places[s] : nullptr);
    });
    return {std::move(log_z), std::move(marginals), std::move(pairs)};
}
