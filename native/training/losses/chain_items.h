// Training sentences, and the sparse weights that score them.
//
//     node_j(y) = base_j(y) + sum over features f of token j of value * (W(f, y) + sum over parts p of y of W(f, p))
//     edge_j(y, y') = T(y, y') + sum over edge features g of token j of U(g, y, y')
//
// The labels of a token are its candidates, or all K if none are given. Sentences start and end with a boundary symbol (label
// K). Label triples, if given, have weights S(y, y', y'') as well. The order of weights is T, U, W, S. This file computes the
// scores of one chain from the weights, and the gradient of the weights from its residuals.
#pragma once
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "chain/chain.h"
#include "chain/triples.h"
#include "chain/weight_layout.h"
#include "core/array.h"
#include "core/label_pairs.h"
#include "core/label_parts.h"
#include "features/sparse_features.h"
#include "training/epoch.h"

inline Loss loss_named(const std::string& name) {
    if (name == "likelihood") return Loss::likelihood;
    if (name == "piecewise") return Loss::piecewise;
    if (name == "memm") return Loss::memm;
    if (name == "perceptron") return Loss::perceptron;
    throw std::invalid_argument("unknown loss");
}

// The training data of a model.
struct ChainData {
    Loss loss;
    size_t n_labels;
    Array<int64_t> sentences;
    FeatureSlots nodes;                  // weights W, and the features of each token
    std::optional<Array<float>> values;  // of the features, if they are not all 1
    std::optional<Csr> candidates;       // labels of each token; all labels if not given
    std::optional<Array<float>> base;    // of each candidate
    Array<int32_t> gold;                 // index of the gold candidate, -1 if unknown
    std::optional<FeatureSlots> edges;   // the same for weights U
    std::optional<Array<float>> sentence_weights;
    Array<uint8_t> free_pairs;   // which label pairs have a weight T to train
    std::optional<Csr> triples;  // label triples that have a weight S: see triples.h
    LabelParts parts;            // of labels, whose weights W are in further columns; empty if labels have none
};

class ChainItems {
   public:
    explicit ChainItems(const ChainData& data)
        : loss_(data.loss),
          K_(data.n_labels),
          boundary_(static_cast<int32_t>(data.n_labels)),
          pairs_(data.n_labels),
          sentences_(data.sentences),
          candidates_(data.candidates),
          base_(data.base),
          gold_(data.gold),
          sentence_weights_(data.sentence_weights),
          free_(data.free_pairs),
          parts_(data.parts) {
        if (sentences_.size() < 1) throw std::invalid_argument("sentence offsets must start at 0 and never decrease");
        n_tokens_ = static_cast<size_t>(sentences_.back());
        check();
        nodes_ = std::make_unique<SparseFeatures>(data.nodes, data.values, n_tokens_, K_ + parts_.size());
        if (data.edges) {
            edges_ = std::make_unique<SparseFeatures>(*data.edges, std::nullopt, n_tokens_, pairs_.size());
            place_edge_slots();
        }
        if (data.triples) {
            if (loss_ != Loss::likelihood) throw std::invalid_argument("label triples need the loss likelihood");
            check_triples(*data.triples, K_);
            triples_ = Triples(data.triples->offsets.data(), data.triples->ids.data(), K_);
        }
        layout_ = {pairs_.size(), edges_ ? edges_->size() : 0, nodes_->size(), triples_.size()};
        for (size_t y = 0; y < K_ + parts_.size(); ++y) iota_.push_back(static_cast<int32_t>(y));
        if (!parts_.empty()) place_columns();
    }

    size_t n_pairs() const { return pairs_.size(); }
    size_t size() const { return layout_.size(); }
    size_t n_sentences() const { return sentences_.size() - 1; }

   protected:
    bool all_labels() const { return !candidates_; }
    size_t length(size_t s) const { return static_cast<size_t>(sentences_[s + 1] - sentences_[s]); }
    size_t edge_features() const { return edges_ ? edges_->slots.n_features() : 0; }
    size_t width(int64_t t) const {
        if (!candidates_) return K_;
        const int64_t* offsets = candidates_->offsets.data();
        return static_cast<size_t>(offsets[t + 1] - offsets[t]);
    }
    int64_t first(int64_t t) const { return candidates_ ? candidates_->offsets[t] : t * static_cast<int64_t>(K_); }
    const int32_t* labels(int64_t t) const { return candidates_ ? candidates_->ids.data() + first(t) : iota_.data(); }

    // The columns of a token's node weights: its labels and, if labels have parts, the parts of its labels.
    size_t n_columns(int64_t t) const {
        if (parts_.empty()) return width(t);
        return candidates_ ? static_cast<size_t>(column_offsets_[t + 1] - column_offsets_[t]) : iota_.size();
    }
    const int32_t* columns(int64_t t) const {
        return parts_.empty() || !candidates_ ? labels(t) : columns_.data() + column_offsets_[t];
    }

    template <size_t Stride, typename Weight, typename Real>
    void node_scores(int64_t t, const Weight* weights, Real* out) const {
        const size_t m = width(t);
        const float* fixed = base_ ? base_->data() + first(t) : nullptr;
        for (size_t j = 0; j < m; ++j) out[j] = fixed ? static_cast<Real>(fixed[j]) : Real(0);
        if (parts_.empty()) return add_weights<Stride>(t, weights, out);
        thread_local std::vector<Real> sums;
        sums.assign(n_columns(t), Real(0));
        add_weights<Stride>(t, weights, sums.data());
        parts_.fold(columns(t), n_columns(t), m, sums.data(), out);
    }

    template <size_t Stride, typename Weight, typename Real>
    void fill(size_t s, const Weight* weights, Chain<Real>& c) const {
        const int64_t begin = sentences_[s];
        c.n = length(s);
        c.width.resize(c.n);
        c.gold.resize(c.n);
        for (size_t j = 0; j < c.n; ++j) {
            c.width[j] = width(begin + static_cast<int64_t>(j));
            c.gold[j] = gold_[begin + static_cast<int64_t>(j)];
        }
        c.narrow = loss_ == Loss::memm;
        c.second = !triples_.empty();
        c.lay_out();
        each_token_ahead<Stride>(s, weights, [&](int64_t t, size_t j) { node_scores<Stride>(t, weights, c.nodes(j)); });
        fill_edges<Stride>(begin, weights, c);
        if (c.second) fill_triples<Stride>(begin, weights, c);
    }

    // Computes the residuals of a sentence in the chain and returns its loss, both multiplied by the sentence's weight.
    template <size_t Stride, typename Weight, typename Real>
    double residual(size_t s, const Weight* weights, Chain<Real>& c) const {
        if (sentences_[s] == sentences_[s + 1]) {
            c.n = 0;
            return 0.0;
        }
        fill<Stride>(s, weights, c);
        double loss = residuals(loss_, c);
        if (!std::isfinite(loss)) {
            if constexpr (std::is_same_v<Real, float>) {
                Chain<double> exact;
                fill<Stride>(s, weights, exact);
                loss = residuals(loss_, exact);
                std::copy(exact.node.begin(), exact.node.end(), c.node.begin());
                std::copy(exact.block.begin(), exact.block.end(), c.block.begin());
                std::copy(exact.triple.begin(), exact.triple.end(), c.triple.begin());
            }
        }
        if (!sentence_weights_) return loss;
        const float weight = (*sentence_weights_)[s];
        for (Real& r : c.node) r *= static_cast<Real>(weight);
        for (Real& r : c.block) r *= static_cast<Real>(weight);
        for (Real& r : c.triple) r *= static_cast<Real>(weight);
        return static_cast<double>(weight) * loss;
    }

    // Calls use(token, position) for the tokens of a sentence, and prefetches the weights of the next ones.
    template <size_t Stride, typename Weight, typename Use>
    void each_token_ahead(size_t s, const Weight* weights, Use use) const {
        const int64_t begin = sentences_[s], end = sentences_[s + 1];
        const Weight* w = weights + Stride * layout_.node(0);
        if (begin < end) nodes_->prefetch_slots(begin, w, Stride);
        for (int64_t t = begin; t < end; ++t) {
            if (t + 2 < end) nodes_->prefetch_places(t + 2);
            if (t + 1 < end) nodes_->prefetch_slots(t + 1, w, Stride);
            use(t, static_cast<size_t>(t - begin));
        }
    }

    // Calls use(weight, feature, gradient, whether it is of a part of labels) for each node weight of a token whose feature
    // belongs to this part, unless the token's residuals are all at most `limit`.
    template <typename Real, typename Use>
    void node_weights_of(int64_t t, const Real* r, Real limit, size_t part, size_t parts, Use use) const {
        const size_t n_own = width(t), m = n_columns(t);
        if (all_negligible(r, n_own, limit)) return;
        const int32_t* own = columns(t);
        if (!parts_.empty()) r = of_columns(t, r);
        nodes_->each(t, [&](int32_t f, float v) {
            if (parts > 1 && static_cast<size_t>(f) % parts != part) return;
            nodes_->slots.each(f, own, m, [&](size_t k, int64_t slot) {
                use(layout_.node(static_cast<size_t>(slot)), f, static_cast<Real>(v) * r[k], k >= n_own);
            });
        });
    }

    // Calls use(weight, feature, gradient) for each edge weight of a sentence whose feature belongs to this part and whose
    // residual exceeds `limit`.
    template <typename Real, typename Use>
    void edge_weights_of(size_t s, Chain<Real>& c, Real limit, size_t part, size_t parts, Use use) const {
        std::vector<int32_t> pairs;
        std::vector<Real> residuals;
        for (size_t j = 0; edges_ && j < c.n; ++j) {
            const int64_t t = sentences_[s] + static_cast<int64_t>(j);
            pairs.clear();
            residuals.clear();
            const Block block = block_to(t, j == 0);
            const Real* r = c.edges(j);
            for (size_t k = 0; k < block.rows; ++k) {
                const auto row = static_cast<int32_t>(pairs_.row(static_cast<size_t>(block.from[k])));
                for (size_t l = 0; l < block.columns; ++l, ++r)
                    if (std::abs(*r) > limit) {
                        pairs.push_back(row + block.to[l]);
                        residuals.push_back(*r);
                    }
            }
            edges_->each(t, [&](int32_t g, float) {
                if (parts > 1 && static_cast<size_t>(g) % parts != part) return;
                edges_->slots.each(g, pairs.data(), pairs.size(), [&](size_t i, int64_t slot) {
                    use(layout_.edge(static_cast<size_t>(slot)), g, residuals[i]);
                });
            });
        }
    }

    // Calls use(weight, gradient) for each label triple of a sentence whose weight belongs to this part and whose residual
    // exceeds `limit`.
    template <typename Real, typename Use>
    void triples_of(const Chain<Real>& c, Real limit, size_t part, size_t parts, Use use) const {
        if (c.n == 0) return;
        for (const auto& [at, slot] : c.triple_slots)
            if (static_cast<size_t>(slot) % parts == part && std::abs(c.triple[at]) > limit)
                use(layout_.triple(static_cast<size_t>(slot)), c.triple[at]);
    }

    // Calls use(weight, gradient) for each label pair of a sentence whose first label belongs to this part.
    template <typename Real, typename Use>
    void pairs_of(size_t s, Chain<Real>& c, size_t part, size_t parts, Use use) const {
        for (size_t j = 0; j <= c.n && c.n > 0; ++j) {
            const int64_t t = sentences_[s] + static_cast<int64_t>(j);
            const int32_t* to = j == c.n ? &boundary_ : labels(t);
            const size_t m = c.rows(j), n = j == c.n ? 1 : c.width[j];
            const int32_t* from = j == 0 ? &boundary_ : labels(t - 1) + (c.narrow ? c.gold[j - 1] : 0);
            const Real* r = c.edges(j);
            for (size_t k = 0; k < m; ++k) {
                if (parts > 1 && static_cast<size_t>(from[k]) % parts != part) continue;
                const size_t row = pairs_.row(static_cast<size_t>(from[k]));
                for (size_t l = 0; l < n; ++l) use(row + static_cast<size_t>(to[l]), r[k * n + l]);
            }
        }
    }

   private:
    // out(column) += sum over features f of token t of value * W(f, column)
    template <size_t Stride, typename Weight, typename Real>
    void add_weights(int64_t t, const Weight* weights, Real* out) const {
        const Weight* w = weights + Stride * layout_.node(0);
        const size_t n = n_columns(t);
        const int32_t* own = columns(t);
        nodes_->each(t, [&](int32_t f, float v) {
            nodes_->slots.each(f, own, n, [&](size_t j, int64_t s) {
                out[j] += static_cast<Real>(v) * static_cast<Real>(w[Stride * static_cast<size_t>(s)]);
            });
        });
    }

    // The residuals of a token's columns. They are valid until the next call.
    template <typename Real>
    const Real* of_columns(int64_t t, const Real* r) const {
        thread_local std::vector<Real> found;
        parts_.unfold(columns(t), n_columns(t), width(t), r, found);
        return found.data();
    }

    void place_columns() {
        if (parts_.n_labels() != K_) throw std::invalid_argument("parts and labels disagree");
        if (!candidates_) return;
        column_offsets_.reserve(n_tokens_ + 1);
        column_offsets_.push_back(0);
        for (size_t t = 0; t < n_tokens_; ++t) {
            const auto token = static_cast<int64_t>(t);
            parts_.add_columns(labels(token), width(token), columns_);
            column_offsets_.push_back(static_cast<int64_t>(columns_.size()));
        }
    }

    // In the full lattice, the position of each edge slot in a block: y * K + y', or -1 - y' if y is the start symbol.
    void place_edge_slots() {
        if (candidates_) return;
        for (size_t s = 0; s < edges_->size(); ++s) {
            const auto pair = static_cast<size_t>(edges_->label(static_cast<int64_t>(s)));
            const size_t y = pairs_.first(pair), z = pairs_.second(pair);
            edge_place_.push_back(z == K_   ? INT32_MIN
                                  : y == K_ ? -1 - static_cast<int32_t>(z)
                                            : static_cast<int32_t>(y * K_ + z));
        }
    }

    // The labels of the block of label pairs leading to a token.
    struct Block {
        const int32_t *from, *to;
        size_t rows, columns;
    };
    Block block_to(int64_t t, bool starts) const {
        const bool narrow = loss_ == Loss::memm;
        if (starts) return {&boundary_, labels(t), 1, width(t)};
        return {labels(t - 1) + (narrow ? gold_[t - 1] : 0), labels(t), narrow ? 1 : width(t - 1), width(t)};
    }

    // Calls use(position in the block, slot) for each slot of an edge feature that is in the block leading to token t. `pairs`
    // are the label pairs of the block, once they are needed.
    template <typename Use>
    void each_edge_slot(int64_t t, bool starts, int32_t g, std::vector<int32_t>& pairs, Use use) const {
        if (!candidates_ && loss_ != Loss::memm) {
            for (int64_t s = edges_->slots.begin(g); s < edges_->slots.end(g); ++s) {
                const int32_t place = edge_place_[static_cast<size_t>(s)];
                if (starts ? place < 0 && place != INT32_MIN : place >= 0)
                    use(static_cast<size_t>(starts ? -1 - place : place), s);
            }
            return;
        }
        if (pairs.empty()) {
            const Block block = block_to(t, starts);
            for (size_t k = 0; k < block.rows; ++k)
                for (size_t l = 0; l < block.columns; ++l)
                    pairs.push_back(static_cast<int32_t>(pairs_.row(static_cast<size_t>(block.from[k]))) + block.to[l]);
        }
        edges_->slots.each(g, pairs.data(), pairs.size(), use);
    }

    template <size_t Stride, typename Weight, typename Real>
    void fill_edges(int64_t begin, const Weight* weights, Chain<Real>& c) const {
        std::vector<int32_t> pairs;
        for (size_t j = 0; j <= c.n; ++j) {
            const int64_t t = begin + static_cast<int64_t>(j);
            const int32_t* to = j == c.n ? &boundary_ : labels(t);
            const size_t m = c.rows(j), n = j == c.n ? 1 : c.width[j];
            const int32_t* from = j == 0 ? &boundary_ : labels(t - 1) + (c.narrow ? c.gold[j - 1] : 0);
            Real* e = c.edges(j);
            for (size_t k = 0; k < m; ++k) {
                const Weight* row = weights + Stride * pairs_.row(static_cast<size_t>(from[k]));
                if (n == K_ && j < c.n)
                    for (size_t l = 0; l < n; ++l) e[k * n + l] = static_cast<Real>(row[Stride * l]);
                else
                    for (size_t l = 0; l < n; ++l) e[k * n + l] = static_cast<Real>(row[Stride * static_cast<size_t>(to[l])]);
            }
            if (!edges_ || j == c.n) continue;
            pairs.clear();
            edges_->each(t, [&](int32_t g, float) {
                each_edge_slot(t, j == 0, g, pairs, [&](size_t at, int64_t slot) {
                    e[at] += static_cast<Real>(weights[Stride * layout_.edge(static_cast<size_t>(slot))]);
                });
            });
        }
    }

    template <size_t Stride, typename Weight, typename Real>
    void fill_triples(int64_t begin, const Weight* weights, Chain<Real>& c) const {
        const Weight* w = weights + Stride * layout_.triple(0);
        c.triple.assign(c.triple.size(), Real(0));
        c.triple_slots.clear();
        for (size_t j = 0; j <= c.n; ++j) {
            const int64_t t = begin + static_cast<int64_t>(j);
            const size_t at = c.triple_at[j];
            triples_.each(j < 2 ? &boundary_ : labels(t - 2), c.two_back(j), j < 1 ? &boundary_ : labels(t - 1), c.rows(j),
                          j == c.n ? &boundary_ : labels(t), c.columns(j), [&](size_t i, int32_t slot) {
                              c.triple_slots.emplace_back(at + i, slot);
                              c.triple[at + i] = static_cast<Real>(w[Stride * static_cast<size_t>(slot)]);
                          });
        }
    }

    void check() const {
        check_offsets(sentences_, n_tokens_, "sentence offsets must start at 0 and never decrease");
        if (K_ < 1 || gold_.size() != n_tokens_ || free_.size() != n_pairs() ||
            (sentence_weights_ && sentence_weights_->size() != n_sentences()))
            throw std::invalid_argument("labels, pairs or weights disagree with the sentences");
        if (base_ && base_->size() != (candidates_ ? candidates_->ids.size() : n_tokens_ * K_))
            throw std::invalid_argument("base scores and candidates disagree");
        if (candidates_) check_candidates(*candidates_, n_tokens_, K_);
        const int32_t least = loss_ == Loss::likelihood ? -1 : 0;
        for (size_t t = 0; t < n_tokens_; ++t)
            if (gold_[t] < least || (gold_[t] >= 0 && static_cast<size_t>(gold_[t]) >= width(static_cast<int64_t>(t))))
                throw std::invalid_argument("the label of a token is not among its candidates");
    }

   protected:
    Loss loss_;
    size_t K_, n_tokens_ = 0;
    int32_t boundary_;  // the label K that sentences start and end with
    LabelPairs pairs_;
    WeightLayout layout_;
    Array<int64_t> sentences_;
    std::optional<Csr> candidates_;
    std::optional<Array<float>> base_;
    Array<int32_t> gold_;
    std::optional<Array<float>> sentence_weights_;
    Array<uint8_t> free_;  // which label pairs have a weight to train
    std::unique_ptr<SparseFeatures> nodes_, edges_;
    Triples triples_;
    std::vector<int32_t> edge_place_, iota_;
    LabelParts parts_;
    std::vector<int64_t> column_offsets_;  // the columns of each token, if they are not all
    std::vector<int32_t> columns_;
};
