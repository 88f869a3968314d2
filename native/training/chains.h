// Training on whole sentences: a loss of chain.h over batches of sentences.
//
// `Chains` computes value and gradient for batch optimisers, and runs stochastic passes.
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

    // The loss over all sentences plus precision / 2 times the squared norm, and its gradient.
    double objective(const double* weights, double precision, double* gradient, size_t threads, bool exact) const;
    // One pass of AdaGrad over sentences in the given order, as in maxent.h. `decay` holds the prior's share in one visit: of T
    // in each sentence (if all labels are candidates), of each edge feature, of each node feature, and of any triple. `state`
    // holds each weight and the sum of its squared gradients. Returns the sum of the losses, each measured before its step.
    double pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                size_t threads) const;
    // Steps of the averaged perceptron, sentence by sentence. `state` holds (W, C) of each weight. At time t, as a share of the
    // whole run, W -= residual and C -= t residual, so W - C / t is the average of all W so far. Returns the number of
    // mistakes.
    double perceptron(std::span<float> state, std::span<const int64_t> order, double time, double step) const;
    // The best label of each token.
    std::vector<int32_t> best(const float* weights, size_t threads) const;

   private:
    template <typename Real>
    double sum_gradient(const Real* weights, double* gradient, Team& team) const;
    void check_pass(std::span<const float> state, std::span<const int64_t> order, size_t batch) const;

    // Work memory of evaluations, for one at a time: reused, as first writes to new memory are slow.
    mutable std::mutex evaluating_;
    mutable std::vector<float> single_;  // the weights
    mutable std::tuple<Work<float>, Work<double>> work_;
    mutable std::once_flag streamed_;
};
