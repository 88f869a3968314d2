// Training on whole sentences: a loss of chain.h over batches of sentences.
//
// `Chains` gives value and gradient for batch optimisers, and stochastic passes.
#pragma once
#include <cstdint>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "training/chain_batches.h"

class Chains : public ChainBatches {
   public:
    using ChainBatches::ChainBatches;

    // The loss over all sentences plus precision / 2 of the squared norm, and its gradient.
    double objective(const double* weights, double precision, double* gradient, size_t threads, bool exact) const;
    // AdaGrad over sentences in the given order, as in maxent.h; `decay` holds the prior's share of T for each sentence
    // (where all labels are candidates), then of each edge feature, each node feature and any triple for each visit.
    // `state` holds each weight and the sum of its squared gradients. Returns the loss met.
    double pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                size_t threads) const;
    // Steps of the averaged perceptron, sentence by sentence. `state` holds (W, C) of each weight; at time t, a share of the
    // whole run, W -= residual and C -= t residual, so that W - C / t is the average of all W so far. Returns the mistakes.
    double perceptron(std::span<float> state, std::span<const int64_t> order, double time, double step) const;
    // The best labels of all tokens.
    std::vector<int32_t> best(const float* weights, size_t threads) const;

   private:
    template <typename Real>
    double sum_gradient(const Real* weights, double* gradient, Team& team) const;
    void check_pass(std::span<const float> state, std::span<const int64_t> order, size_t batch) const;

    // Work memory of evaluations, one at a time: memory that is new to the process is slow to write.
    mutable std::mutex evaluating_;
    mutable std::vector<float> single_;  // the weights
    mutable std::tuple<Work<float>, Work<double>> work_;
    mutable std::once_flag streamed_;
};
