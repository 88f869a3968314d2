// Maximum entropy models of one node (section "Exponential Functions" of the paper): P(y | x), a softmax over a support.
//
//     s_c(y) = base_c(y) + sum over features f of context c of value * W(f, y)
//     L(W) = sum_c sum_y n(c, y) [s_c(y) - log sum over y' in support(c) of exp s_c(y')] - sum W^2 / (2 sigma^2)
//
// A context is a set of features, with the counts n(c, y) of the labels seen with it. The support of a context is its candidate
// labels. For the objective, contexts with the same features, support and base are merged, and their counts added. The gradient is
// the observed minus the expected count of each (feature, label), as in the paper's derivative. `Nodes` computes value and gradient
// in float64 for L-BFGS, and runs stochastic passes in float32.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "features/sparse_features.h"
#include "training/epoch.h"
#include "training/losses/merged_contexts.h"

// The contexts, with weights that are sparse by feature.
struct NodeData {
    Csr slots;  // labels of each feature
    size_t n_labels;
    Csr features;                        // of each context
    std::optional<Array<float>> values;  // of the features, if they are not all 1
    Csr candidates;                      // of each context
    std::optional<Array<float>> base;    // of each candidate
    LabelScores counts;                  // n(c, y); labels are indices among the candidates
};

class Nodes {
   public:
    explicit Nodes(NodeData data);

    size_t size() const { return features_.size(); }
    // The number of distinct contexts with more than one candidate.
    size_t n_merged() const { return merged().size(); }

    // The objective to minimise, -L, and its gradient, which does not depend on the number of threads.
    Objective objective(std::span<const double> weights, double precision, size_t threads) const {
        return objective_over(*this, n_merged(), weights, L2{precision}, threads);
    }
    // One pass of AdaGrad over contexts. `decay` holds the prior's share of each feature in one visit. Contexts whose labels are
    // nearly certain make no steps.
    double pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                size_t threads) const;
    // P(y | x), or its logarithm, of each candidate.
    std::vector<float> posteriors(std::span<const float> weights, bool logs, size_t threads) const;

    // As a loss: see epoch.h.
    struct Batch {
        std::span<const int64_t> items;
        std::vector<std::vector<float>> residuals;
        std::vector<double> losses;
    };
    using Context = std::vector<double>;
    static constexpr const char* kNoItem = "no such context";
    size_t n_items() const { return n_contexts_; }
    size_t n_groups() const { return features_.slots.n_features(); }
    double add_losses(double loss, std::span<const int64_t> items, const float* state, Batch& batch, Team& team) const;
    template <typename Use>
    void each_step(const Batch& batch, size_t part, size_t parts, Use use) const;
    double add_context(double loss, size_t context, const double* weights, Context& p, double* gradient) const;

   private:
    size_t width(size_t c) const { return static_cast<size_t>(data_.candidates.offsets[c + 1] - data_.candidates.offsets[c]); }
    int64_t first(size_t c) const { return data_.candidates.offsets[c]; }
    const int32_t* labels(size_t c) const { return data_.candidates.ids.data() + first(c); }

    void prefetch_context(int64_t c) const;
    const MergedContexts& merged() const;
    // Scores of the candidates of a context.
    template <size_t Stride = 1, typename Weight>
    void scores(size_t c, const Weight* weights, Weight* out) const;
    // Expected minus observed label counts of a context, n(c) P(y) - n(c, y), and its loss.
    double residual(size_t c, const float* state, std::vector<float>& r) const;
    void check() const;

    NodeData data_;
    size_t n_contexts_;
    SparseFeatures features_;
    mutable std::once_flag once_;  // contexts are merged when the objective is first computed
    mutable MergedContexts merged_;
};
