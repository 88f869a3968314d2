// Residuals of batches of sentences, and the gradients of their weights.
//
// Sentences are scored one by one as chains. If the lattice is full and edge scores do not depend on the position, they are
// scored in groups of similar length (chain/dense_chains.h, chain/shapes/full_tiles.h), unless labels have parts. Threads share
// the sentences. Then each thread updates its own features in the order of the sentences, so results are bit-identical for any
// number of threads.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "chain/dense_chains.h"
#include "chain/shapes/full_tiles.h"
#include "core/parallel.h"
#include "features/feature_stream.h"
#include "training/losses/chain_items.h"

class ChainBatches : public ChainItems {
   public:
    using ChainItems::ChainItems;

   protected:
    // Work memory for the residuals of a batch of sentences: as chains, or in groups if dense().
    template <typename Real>
    struct Work {
        std::vector<size_t> sentences;
        std::vector<Chain<Real>> chains;
        std::vector<double> losses;
        DensePairs pairs;
        std::vector<DenseGroup> groups;
        // Used instead of `pairs` and `groups` if few pairs were seen and the sentences of a group have similar lengths.
        bool few_pairs = false;
        SparsePairs sparse_pairs;
        std::vector<SparseGroup> sparse_groups;
        std::vector<std::vector<size_t>> members;
        std::vector<char> sparse;              // which groups are sparse
        size_t n_groups = 0, first_group = 0;  // of the batch; number of earlier groups in the stream
        FeatureStream::Rows rows;
        std::vector<float> table;  // sums of residuals of label pairs, zero between batches
    };
    // Sentences per group: large groups are faster, small ones let threads share a small batch.
    static constexpr size_t kGroup = 8, kLargeGroup = kTile;

    bool dense() const {
        return all_labels() && !edges_ && triples_.empty() && parts_.empty() &&
               (loss_ == Loss::likelihood || loss_ == Loss::piecewise);
    }

    // Fills `work` with the residuals of sentences. Returns their loss.
    template <size_t Stride, typename Real>
    double residuals_of(std::span<const int64_t> order, const Real* weights, Work<Real>& work, Team& team) const {
        work.sentences.assign(order.begin(), order.end());
        work.n_groups = 0;
        if constexpr (std::is_same_v<Real, float>) {
            if (dense()) {
                make_groups(work, Stride == 1 ? kLargeGroup : kGroup);
                if (Stride == 2) work.pairs.set(weights, K_, Stride);
                return add_in_order(0.0, work.n_groups, work.losses, team, [&](size_t g, size_t) {
                    if (Stride == 1 && work.sparse[g])  // only batch evaluations use sparse groups
                        return group_residual<1>(g, weights, work, work.sparse_groups[g], work.sparse_pairs);
                    return group_residual<Stride>(g, weights, work, work.groups[g], work.pairs);
                });
            }
        }
        if (work.chains.size() < order.size()) work.chains.resize(order.size());
        return add_in_order(0.0, order.size(), work.losses, team,
                            [&](size_t i, size_t) { return residual<Stride>(work.sentences[i], weights, work.chains[i]); });
    }

    // Calls use(weight, feature, gradient, whether it is of a part of labels) for each node weight of a batch that belongs to
    // this part, except for tokens whose residuals are all at most `limit`. Groups must be dense, as in stochastic steps.
    template <typename Real, typename Use>
    void each_node_weight(Work<Real>& work, Real limit, size_t part, size_t parts, Use use) const {
        if constexpr (std::is_same_v<Real, float>)
            for (size_t g = 0; g < work.n_groups; ++g)
                for (size_t i = 0; i < work.members[g].size(); ++i) {
                    const size_t s = work.members[g][i];
                    for (size_t j = 0; j < length(s); ++j)
                        node_weights_of(sentences_[s] + static_cast<int64_t>(j), work.groups[g].row(i, j), limit, part, parts,
                                        use);
                }
        for (size_t i = 0; work.n_groups == 0 && !(dense() && std::is_same_v<Real, float>) && i < work.sentences.size(); ++i) {
            Chain<Real>& c = work.chains[i];
            for (size_t j = 0; j < c.n; ++j)
                node_weights_of(sentences_[work.sentences[i]] + static_cast<int64_t>(j), c.nodes(j), limit, part, parts, use);
        }
    }

    template <typename Real, typename Use>
    void each_edge_weight(Work<Real>& work, Real limit, size_t part, size_t parts, Use use) const {
        if (!edges_) return;
        for (size_t i = 0; i < work.sentences.size(); ++i)
            edge_weights_of(work.sentences[i], work.chains[i], limit, part, parts, use);
    }

    template <typename Real, typename Use>
    void each_triple(Work<Real>& work, Real limit, size_t part, size_t parts, Use use) const {
        if (triples_.empty()) return;
        for (size_t i = 0; i < work.sentences.size(); ++i) triples_of(work.chains[i], limit, part, parts, use);
    }

    // Calls use(weight, gradient) for each label pair of a batch whose first label belongs to this part.
    template <typename Real, typename Use>
    void each_pair(Work<Real>& work, size_t part, size_t parts, Use use) const {
        const auto add = [&](size_t at, float r) { use(at, static_cast<Real>(r)); };
        for (size_t g = 0; g < work.n_groups; ++g)
            if (work.sparse[g])
                work.sparse_groups[g].each_pair(work.sparse_pairs, part, parts, add);
            else
                work.groups[g].each_pair(part, parts, add);
        if (dense() && std::is_same_v<Real, float>) return;
        for (size_t i = 0; i < work.sentences.size(); ++i) pairs_of(work.sentences[i], work.chains[i], part, parts, use);
    }

    template <typename Real>
    void stream_gradient(Work<Real>& work, double* gradient, size_t part, size_t parts) const {
        for (size_t g = 0; g < work.n_groups; ++g) {
            const std::vector<float*> rows =
                work.sparse[g] ? rows_of(work.members[g], work.sparse_groups[g]) : rows_of(work.members[g], work.groups[g]);
            stream_->add_gradient(work.first_group + g, rows.data(), work.rows.stride, gradient + layout_.node(0), part, parts);
        }
    }

    // The features of sentences in order, in the groups of batch evaluation.
    std::unique_ptr<FeatureStream> streamed(const std::vector<int64_t>& order) const {
        std::vector<FeatureStream::Group> groups;
        size_t count = 0;
        for (const int64_t s : order) {
            const size_t n = length(static_cast<size_t>(s));
            if (n == 0) continue;
            if (count++ % kLargeGroup == 0) groups.emplace_back();
            groups.back().emplace_back(sentences_[s], n);
        }
        return std::make_unique<FeatureStream>(*nodes_, groups, K_);
    }

    mutable std::unique_ptr<FeatureStream> stream_;  // for batch evaluations, built when first needed

   private:
    // The rows of a group, sentence by sentence.
    template <typename Group>
    std::vector<float*> rows_of(const std::vector<size_t>& members, Group& group) const {
        std::vector<float*> rows;
        for (size_t i = 0; i < members.size(); ++i)
            for (size_t j = 0; j < length(members[i]); ++j) rows.push_back(group.row(i, j));
        return rows;
    }

    template <typename Group>
    void streamed_scores(size_t g, const float* weights, const Work<float>& work, Group& group) const {
        const std::vector<float*> rows = rows_of(work.members[g], group);
        auto out = rows.begin();
        for (const size_t s : work.members[g])
            for (int64_t t = sentences_[s]; t < sentences_[s + 1]; ++t, ++out) {
                std::fill(*out, *out + work.rows.stride, 0.0f);
                if (base_) std::copy(base_->data() + first(t), base_->data() + first(t) + K_, *out);
            }
        stream_->add_scores(work.first_group + g, weights + layout_.node(0), work.rows, rows.data());
    }

    // Whether sentences, longest first, waste little memory if each takes the space of the longest.
    bool similar_lengths(const std::vector<size_t>& sentences) const {
        size_t tokens = 0;
        for (const size_t s : sentences) tokens += length(s);
        return kTile * length(sentences[0]) <= 4 * tokens + 1024;
    }

    // Splits the sentences of a batch into groups of similar length, longest first.
    void make_groups(Work<float>& work, size_t size) const {
        std::vector<size_t> sorted;
        for (const size_t s : work.sentences)
            if (length(s) > 0) sorted.push_back(s);
        std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return length(a) > length(b); });
        work.n_groups = (sorted.size() + size - 1) / size;
        if (work.groups.size() < work.n_groups) work.groups.resize(work.n_groups);
        if (work.few_pairs && work.sparse_groups.size() < work.n_groups) work.sparse_groups.resize(work.n_groups);
        work.members.assign(work.n_groups, {});
        for (size_t i = 0; i < sorted.size(); ++i) work.members[i / size].push_back(sorted[i]);
        work.sparse.clear();
        for (const std::vector<size_t>& members : work.members) work.sparse.push_back(work.few_pairs && similar_lengths(members));
    }

    template <size_t Stride, typename Group, typename Pairs>
    double group_residual(size_t g, const float* weights, Work<float>& work, Group& group, const Pairs& pairs) const {
        const std::vector<size_t>& members = work.members[g];
        std::vector<size_t> lengths;
        std::vector<const int32_t*> gold;
        std::vector<float> of_sentences;
        for (const size_t s : members) {
            const int32_t* first = gold_.data() + sentences_[s];
            lengths.push_back(length(s));
            gold.push_back(std::any_of(first, first + length(s), [](int32_t y) { return y < 0; }) ? nullptr : first);
            of_sentences.push_back(sentence_weights_ ? (*sentence_weights_)[s] : 1.0f);
        }
        group.lay_out(lengths, pairs);
        if (Stride == 1) streamed_scores(g, weights, work, group);
        for (size_t i = 0; Stride != 1 && i < members.size(); ++i)
            each_token_ahead<Stride>(members[i], weights,
                                     [&](int64_t t, size_t j) { node_scores<Stride>(t, weights, group.row(i, j)); });
        if constexpr (std::is_same_v<Group, DenseGroup>)
            group.run(pairs, gold, of_sentences, loss_ == Loss::piecewise);
        else
            group.run(pairs, gold, of_sentences);
        double loss = 0.0;
        for (size_t i = 0; i < members.size(); ++i)
            loss += group.bad(i) ? chain_residual<Stride>(members[i], i, weights, group, pairs) : group.loss(i);
        return loss;
    }

    // The residuals of one sentence of a group, computed as a chain, which always works.
    template <size_t Stride, typename Group, typename Pairs>
    double chain_residual(size_t s, size_t i, const float* weights, Group& group, const Pairs& pairs) const {
        Chain<float> chain;
        const double loss = residual<Stride>(s, weights, chain);
        for (size_t j = 0; j < chain.n; ++j) std::copy(chain.nodes(j), chain.nodes(j) + K_, group.row(i, j));
        pairs_of(s, chain, 0, 1, [&](size_t at, float r) { group.add_pair(pairs, at, r); });
        return loss;
    }
};
