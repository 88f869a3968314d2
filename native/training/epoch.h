// Training: the loop over items that is shared by all losses, penalties and steps.
//
//     for each batch:  g_i = gradient of the loss of item i, for all items of the batch with the same weights
//         for each item and each of its weights, in order:  step(W, g_i(W) + penalty(W))
//
// A loss is a sum over items. For stochastic passes it has
//
//     Batch                                                 work memory for the residuals of a batch
//     size(), n_items(), n_groups()                         the numbers of weights, items, and groups of weights
//     kNoItem                                               the message for an item that does not exist
//     add_losses(loss, items, state, batch, team)           computes residuals; returns `loss` plus those of the items in order
//     each_step(batch, part, parts, use(weight, Share, g))  the gradients of those weights that belong to a part, in order
//
// and for objectives over merged contexts
//
//     Context                                               work memory for a context
//     add_context(loss, c, weights, context, gradient)      adds the gradient of a context; returns `loss` plus its own
//
// The weights of a part belong to one thread, so results are bit-identical for any number of threads.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/array.h"
#include "core/parallel.h"
#include "core/sum_in_parts.h"
#include "training/penalty.h"

// A token makes no step if none of its residuals exceeds this: its label is nearly certain.
constexpr float kNegligible = 1e-4f;
// The same in training on whole sentences, where most labels are nearly certain from the start.
constexpr float kNearlyCertain = 1e-2f;
// An edge weight makes no step if the residual of its label pair is at most this: most of a token's pairs are impossible.
constexpr float kNegligiblePair = 1e-5f;

template <typename Real>
inline bool all_negligible(const Real* residuals, size_t n, Real limit) {
    return std::all_of(residuals, residuals + n, [=](Real r) { return std::abs(r) <= limit; });
}

// Calls one(i, number of threads) for `count` pieces of work, shared among threads. Returns `loss` plus what the calls return, added
// in order.
template <typename One>
double add_in_order(double loss, size_t count, std::vector<double>& losses, Team& team, One one) {
    losses.resize(count);
    team.run([&](size_t part, size_t parts) {
        for (size_t i = part; i < count; i += parts) losses[i] = one(i, parts);
    });
    for (size_t i = 0; i < count; ++i) loss += losses[i];
    return loss;
}

template <typename Loss>
void check_steps(const Loss& loss, std::span<const float> state, std::span<const int64_t> order, size_t batch) {
    if (state.size() != 2 * loss.size() || batch < 1) throw std::invalid_argument("weights and slots disagree in number");
    for (const int64_t item : order)
        if (item < 0 || static_cast<size_t>(item) >= loss.n_items()) throw std::invalid_argument(Loss::kNoItem);
}

// One pass over items in the given order. `state` holds two numbers for each weight, next to each other, since they are always
// used together: the weight, and one that belongs to the step. Returns the sum of the losses, each measured before its step.
template <typename Loss, typename Penalty, typename Step>
double run_epoch(const Loss& loss, std::span<float> state, std::span<const int64_t> order, const Penalty& penalty,
                 const Step& step, size_t batch_size, size_t threads) {
    check_steps(loss, state, order, batch_size);
    if (penalty.of.size() != loss.n_groups()) throw std::invalid_argument("decay and features disagree");
    typename Loss::Batch batch;
    double total = 0.0;
    Team team(useful_threads(threads, std::min(batch_size, order.size())));
    for (size_t start = 0; start < order.size(); start += batch_size) {
        const auto items = order.subspan(start, std::min(batch_size, order.size() - start));
        total = loss.add_losses(total, items, state.data(), batch, team);
        team.run([&](size_t part, size_t parts) {
            loss.each_step(batch, part, parts, [&](size_t at, const Share& share, float gradient) {
                float* weight = state.data() + 2 * at;
                step(weight, gradient + penalty.gradient(share, *weight), share.rate);
            });
        });
    }
    return total;
}

// The value of an objective at some weights, and its gradient.
using Objective = std::pair<double, NewArray<double>>;

template <typename Loss, typename Weight>
void check_weights(const Loss& loss, std::span<const Weight> weights) {
    require(weights.size() == loss.size(), "weights and slots disagree in number");
}

// The loss over merged contexts plus the penalty, and its gradient. Contexts are split into fixed parts that are summed in order.
template <typename Loss, typename Penalty>
Objective objective_over(const Loss& loss, size_t contexts, std::span<const double> given, const Penalty& penalty,
                         size_t threads) {
    check_weights(loss, given);
    NewArray<double> sum(loss.size());
    const double* weights = given.data();
    double* gradient = sum.values.get();
    const double total = sum_in_parts(contexts, loss.size(), threads, gradient, [&](size_t begin, size_t end, double* sums) {
        typename Loss::Context context;
        double part = 0.0;
        for (size_t c = begin; c < end; ++c) part = loss.add_context(part, c, weights, context, sums);
        return part;
    });
    return {total + penalty.add(weights, gradient, loss.size(), loss.size()), std::move(sum)};
}
