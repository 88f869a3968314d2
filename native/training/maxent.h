// Maximum entropy models of one node (section "Exponential Functions" of the paper): P(y | x), a softmax over a support.
//
//     s_c(y) = base_c(y) + sum over features f of context c of value * W(f, y)
//     L(W) = sum_c sum_y n(c, y) [s_c(y) - log sum over y' in support(c) of exp s_c(y')] - sum W^2 / (2 sigma^2)
//
// A context is a set of features, with the counts n(c, y) of the labels seen with it. The support of a context is its candidate
// labels. For the objective, contexts with the same features, support and base are merged, and their counts added. The gradient is the observed minus the expected count of each (feature, label), as in the
// paper's derivative. `Nodes` computes value and gradient in float64 for L-BFGS, and runs stochastic passes in float32.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/array.h"
#include "core/slots.h"

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

    size_t size() const { return static_cast<size_t>(slots_->size()); }
    // The number of distinct contexts with more than one candidate.
    size_t n_merged() const { return merged().contexts.size(); }

    // The objective to minimise, -L, and its gradient. Contexts are split into fixed parts that are summed in order, so the
    // result does not depend on the number of threads.
    double objective(const double* weights, double precision, double* gradient, size_t threads) const;

    // One pass of AdaGrad over the contexts in the given order, in batches: computes the residuals of a batch with the same
    // weights, then makes the steps in order. Returns the sum of the losses, each measured before its step.
    //
    //     G(s) += g^2;  W(s) -= rate * g / sqrt(G(s)),   g = expected - observed + W(s) * precision / n(f)
    //
    // n(f) is the number of occurrences of the feature in a pass, so a pass applies the prior once. Contexts whose labels are
    // nearly certain make no steps. `state` holds (W, G) of each slot next to each other, since they are always used together.
    double pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                size_t threads) const;

    // P(y | x), or its logarithm, of each candidate.
    std::vector<float> posteriors(const float* weights, bool logs, size_t threads) const;

   private:
    size_t width(size_t c) const { return static_cast<size_t>(data_.candidates.offsets[c + 1] - data_.candidates.offsets[c]); }
    int64_t first(size_t c) const { return data_.candidates.offsets[c]; }
    const int32_t* labels(size_t c) const { return data_.candidates.ids.data() + first(c); }
    int64_t feature_begin(size_t c) const { return data_.features.offsets[c]; }
    int64_t feature_end(size_t c) const { return data_.features.offsets[c + 1]; }
    int32_t feature(int64_t i) const { return data_.features.ids[i]; }
    float value(int64_t i) const { return data_.values ? (*data_.values)[i] : 1.0f; }

    void prefetch_context(size_t c) const {
        const int32_t* ids = data_.features.ids.data() + feature_begin(c);
        prefetch(ids);
        prefetch(ids + 16);
        prefetch(labels(c));
        if (data_.base) prefetch(data_.base->data() + first(c));
    }
    void prefetch_places(size_t c) const {
        for (int64_t k = feature_begin(c); k < feature_end(c); ++k) slots_->prefetch_place(feature(k));
    }

    // Distinct contexts, by one of their numbers, with the sums of their counts by index of the candidate.
    struct Merged {
        std::vector<size_t> contexts, offsets;
        std::vector<int32_t> positions;
        std::vector<double> counts;
    };
    const Merged& merged() const;
    Merged merge() const;

    // Scores of the candidates of a context.
    template <size_t Stride = 1, typename Weight>
    void scores(size_t c, const Weight* weights, Weight* out) const;
    // Expected minus observed label counts of a context, n(c) P(y) - n(c, y), and its loss.
    double residual(size_t c, const float* state, std::vector<float>& r) const;
    // The loss of the merged context i, whose gradient is added.
    double context_gradient(const Merged& all, size_t i, const double* weights, double* p, double* gradient) const;
    void check() const;

    NodeData data_;
    size_t n_contexts_, widest_ = 0;
    std::unique_ptr<Slots> slots_;
    mutable std::once_flag once_;  // contexts are merged when the objective is first computed
    mutable Merged merged_;
};
