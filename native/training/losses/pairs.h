// Maximum entropy models of label pairs: P(y, y' | x), a softmax over the candidate pairs of an edge.
//
//     s(y, y') = a_i(y) + b_i+1(y') + A f_i(y) + B f_i+1(y') + T(y, y') + sum over edge features g of i + 1 of U(g, y, y')
//     L = sum over edges of weight [s(gold) - log sum over y, y' of exp s] - sum of squares / (2 sigma^2)
//
// With a = b = 0 this is the paper's pair model, trained independently of the nodes. With a and b the logarithms of node
// probabilities, and without A and B, it is the pair model given the nodes. Sentences start and end with a boundary symbol
// (label K), so a sentence of n tokens has n + 1 edges. The order of weights is T, U, A, B.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "chain/weight_layout.h"
#include "core/label_pairs.h"
#include "features/sparse_features.h"
#include "training/epoch.h"
#include "training/losses/merged_contexts.h"

// Sentences, the candidate labels of their tokens, and the weights that score them.
struct PairData {
    size_t n_labels;
    Array<int64_t> sentences;
    Csr candidates;                       // of each token
    Array<float> left, right;             // a and b, of each candidate
    Array<int32_t> gold;                  // index of the gold candidate
    std::optional<FeatureSlots> nodes;    // weights A and B
    std::optional<FeatureSlots> edges;    // weights U
    std::optional<Array<float>> weights;  // of each token, all 1 if not given; an edge has the weight of the token it leads to
};

class Pairs {
    template <typename W>
    struct Work {
        std::vector<W> a, b, r;      // node scores, then residuals; r is (m, n)
        std::vector<int32_t> pairs;  // label pairs of the candidates, ascending
        size_t m = 0, n = 0;
    };

   public:
    explicit Pairs(PairData data);

    size_t size() const { return layout_.size(); }
    size_t n_edges() const { return edges_.size(); }
    // The number of distinct contexts with more than one pair of candidates.
    size_t n_contexts() const { return merged().size(); }

    // -L and its gradient. The result does not depend on the number of threads.
    Objective objective(std::span<const double> weights, double precision, size_t threads) const {
        return objective_over(*this, n_contexts(), weights, L2{precision}, threads);
    }
    // One pass of AdaGrad over edges. `decay` holds the prior's share in one visit of each weight: of T, then of each edge
    // feature, then of each node feature.
    double pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                size_t threads) const;

    // As a loss: see epoch.h.
    struct Batch {
        std::span<const int64_t> items;
        std::vector<Work<float>> works;
        std::vector<double> losses;
    };
    using Context = Work<double>;
    static constexpr const char* kNoItem = "no such edge";
    size_t n_items() const { return edges_.size(); }
    size_t n_groups() const { return 1 + edge_features() + node_features(); }
    double add_losses(double loss, std::span<const int64_t> items, const float* state, Batch& batch, Team& team) const;
    template <typename Use>
    void each_step(Batch& batch, size_t part, size_t parts, Use use) const;
    double add_context(double loss, size_t context, const double* weights, Context& work, double* gradient) const;

   private:
    struct Edge {
        int64_t left, right;  // tokens, -1 for the boundary
    };

    size_t edge_features() const { return edge_ ? edge_->slots.n_features() : 0; }
    size_t node_features() const { return node_ ? node_->slots.n_features() : 0; }
    size_t width(int64_t token) const {
        return token < 0 ? 1 : static_cast<size_t>(data_.candidates.offsets[token + 1] - data_.candidates.offsets[token]);
    }
    const int32_t* labels(int64_t token) const {
        return token < 0 ? &boundary_ : data_.candidates.ids.data() + data_.candidates.offsets[token];
    }
    int32_t gold(int64_t token) const { return token < 0 ? 0 : data_.gold[token]; }
    // The index of the gold pair among the pairs of candidates.
    size_t gold(const Edge& edge) const {
        return static_cast<size_t>(gold(edge.left)) * width(edge.right) + static_cast<size_t>(gold(edge.right));
    }
    float weight(const Edge& edge) const {
        return data_.weights ? (*data_.weights)[static_cast<size_t>(edge.right >= 0 ? edge.right : edge.left)] : 1.0f;
    }
    const MergedContexts& merged() const;
    EqualItems equal_contexts() const;

    // Scores of the pairs of candidates of an edge. Weights are `Stride` floats apart.
    template <size_t Stride, typename W>
    void scores(const Edge& edge, const W* weights, Work<W>& work) const;
    // Residuals P - observed of an edge. Returns its loss.
    template <size_t Stride, typename W>
    double residual(size_t e, const W* weights, Work<W>& work) const;
    template <size_t Stride, typename W>
    void node_scores(int64_t token, const Array<float>& fixed, const W* weights, size_t base, std::vector<W>& out) const;
    template <typename W>
    void list_pairs(const Edge& edge, Work<W>& work) const;
    // Calls use(weight, its group, gradient) for each weight of an edge that belongs to this part.
    template <typename W, typename Use>
    void each_weight(const Edge& edge, const Work<W>& work, size_t part, size_t parts, Use use) const;
    void check() const;

    PairData data_;
    size_t n_tokens_;
    LabelPairs pairs_;
    WeightLayout layout_;  // A and B are nodes, one after the other
    std::unique_ptr<SparseFeatures> node_, edge_;
    std::vector<Edge> edges_;
    int32_t boundary_;
    mutable std::once_flag once_;  // the objective merges contexts when it is first computed
    mutable MergedContexts merged_;
};
