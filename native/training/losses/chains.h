// Training on whole sentences: a loss of chain.h over batches of sentences.
//
// `Chains` computes value and gradient for batch optimisers, and runs stochastic passes.
#pragma once
#include <cmath>
#include <cstdint>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "training/epoch.h"
#include "training/losses/chain_batches.h"

// The size tau of a passive-aggressive step (Crammer et al. 2006) for a sentence with m mislabelled tokens, where n is the squared
// norm of the residual of the weights:
//
//     cost = score(best) - score(gold) + sqrt(m), or + 1 unless error_sensitive; 0 if m = 0
//     tau = cost / n if type = 0,  min(c, cost / n) if type = 1,  cost / (n + 1 / (2 c)) if type = 2
struct Aggressiveness {
    int type;
    double c;
    bool error_sensitive;

    double cost(double difference, size_t m) const {
        return difference + (error_sensitive ? std::sqrt(static_cast<double>(m)) : 1.0);
    }
    double step(double cost, double norm) const {
        if (type == 2) return cost / (norm + 0.5 / c);
        return type == 1 ? std::min(c, cost / norm) : cost / norm;
    }
};

// The size alpha of a step of AROW (Crammer, Kulesza and Dredze 2009) for a sentence with m mislabelled tokens, where n is the sum
// of variance r^2 over the residual r of the weights:
//
//     cost = score(best) - score(gold) + m
//     alpha = cost / (gamma + n)
//     W -= alpha variance r, variance = 1 / (1 / variance + r^2 / gamma)
struct AdaptiveRegularization {
    double gamma;
};

class Chains : public ChainBatches {
   public:
    using ChainBatches::ChainBatches;

    // The loss over all sentences plus precision / 2 times the squared norm, and its gradient.
    Objective objective(std::span<const double> weights, double precision, size_t threads, bool exact) const;
    // One pass of AdaGrad over sentences. `decay` holds the prior's share in one visit: of T
    // in each sentence (if all labels are candidates), of each edge feature, of each node feature, and of any triple; weights of
    // parts of labels have another share and step size. `state` holds each weight and the sum of its squared gradients. Returns
    // the sum of the losses, each measured before its step.
    double pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                size_t threads) const;
    // Steps of gradient descent, sentence by sentence: all weights shrink, W *= 1 - eta shrink, then W -= eta residual, where
    // eta = rate / (1 + shrink rate t) after t sentences; the first has t = `time`. `state` holds each weight and, while this
    // runs, the scale at which it was last up to date. It is for models without edge features and triples. Returns the sum of
    // the losses, each measured before the step along the residual.
    double descend(std::span<float> state, std::span<const int64_t> order, double shrink, double rate, double time) const;
    // Steps of the averaged perceptron, sentence by sentence. `state` holds (W, C) of each weight. At time t, as a share of the
    // whole run, W -= residual and C -= t residual, so W - C / t is the average of all W so far. Returns the number of
    // mislabelled tokens of each sentence.
    std::vector<float> perceptron(std::span<float> state, std::span<const int64_t> order, double time, double step) const;
    // Passive-aggressive steps with the same state: W -= tau residual, C -= t tau residual. Returns the cost of each sentence.
    std::vector<float> passive_aggressive(std::span<float> state, std::span<const int64_t> order, double time, double step,
                                          const Aggressiveness& rule) const;
    // Steps of AROW. `state` holds the mean and the variance of each weight. Returns the cost of each sentence.
    std::vector<float> arow(std::span<float> state, std::span<const int64_t> order, const AdaptiveRegularization& rule) const;
    // The best label of each token.
    std::vector<int32_t> best(std::span<const float> weights, size_t threads) const;

    // As a loss: see epoch.h.
    using Batch = Work<float>;
    static constexpr const char* kNoItem = "no such sentence";
    size_t n_items() const { return n_sentences(); }
    size_t n_groups() const { return 1 + edge_features() + nodes_->slots.n_features() + (triples_.empty() ? 0 : 1); }
    double add_losses(double loss, std::span<const int64_t> items, const float* state, Batch& batch, Team& team) const;
    template <typename Use>
    void each_step(Batch& batch, size_t part, size_t parts, Use use) const;

   private:
    template <typename Real>
    double sum_gradient(const Real* weights, double* gradient, Team& team) const;
    // Calls use(weight, residual) for each weight with a residual, of one sentence that is a chain. A weight may come repeatedly.
    template <typename Use>
    void each_residual(Work<float>& work, Use use) const;
    // Calls correct(work, number of mislabelled tokens, time) for the sentences in order that have any; it makes a step, and returns
    // what is reported of the sentence.
    template <typename Correct>
    std::vector<float> correct_mistakes(std::span<float> state, std::span<const int64_t> order, double time, double step,
                                        Correct correct) const;
    // W -= size residual, C -= t size residual.
    void step_along(Work<float>& work, std::span<float> state, float size, float t) const;
    // The residual of each weight that has one, summed, in `found`. `sums` are all zero before and after.
    void sum_residuals(Work<float>& work, std::vector<float>& sums, std::vector<std::pair<size_t, float>>& found) const;

    // Work memory of evaluations, for one at a time: reused, as first writes to new memory are slow.
    mutable std::mutex evaluating_;
    mutable std::vector<float> single_;  // the weights
    mutable std::tuple<Work<float>, Work<double>> work_;
    mutable std::once_flag streamed_;
};
