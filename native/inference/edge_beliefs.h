// Joint marginals of the ends of edges, from the marginals and messages that messages.h computes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/logarithms.h"
#include "core/vectors.h"
#include "inference/edge_potentials.h"

// The joint beliefs of the ends of edges, not normalised.
class PairBeliefs {
   public:
    explicit PairBeliefs(size_t k) : left_(k), right_(k), pairs_(k * k) {}

    // From logarithms: the beliefs of the ends, and the messages to the left and to the right end. Returns the logarithm of the
    // sum of the pairs, times the weight.
    double fill(const EdgePotentials& table, const double* left, const double* right, const double* to_left,
                const double* to_right) {
        const size_t k = left_.size(), padded = table.from_left.size() / k;
        double shift = ratio(left, to_left, left_) + ratio(right, to_right, right_);
        if (table.spread > kSafe) {
            double top = -INFINITY;
            for (size_t c = 0; c < k * k; ++c)
                top = std::max(top, pairs_[c] = std::max(left_[c / k] + table.scores[c] + right_[c % k], kLeastLog));
            shift += top;
            for (double& pair : pairs_) pair -= top;
            exponentiate(pairs_.data(), pairs_.size());
        } else {
            shift += table.top;
            exponentiate(left_.data(), k);
            exponentiate(right_.data(), k);
            for (size_t a = 0; a < k; ++a)
                for (size_t b = 0; b < k; ++b) pairs_[a * k + b] = left_[a] * table.from_left[a * padded + b] * right_[b];
        }
        sum_ = 0.0;
        for (const double pair : pairs_) sum_ += pair;
        return table.weight * (shift + portable_log(sum_));
    }
    const std::vector<double>& pairs() const { return pairs_; }
    double sum() const { return sum_; }

   private:
    // belief / message, divided by its maximum. Returns the logarithm of the maximum.
    static double ratio(const double* belief, const double* message, std::vector<double>& to) {
        double top = -INFINITY;
        for (size_t a = 0; a < to.size(); ++a)
            top = std::max(top, to[a] = belief[a] == -INFINITY ? -INFINITY : belief[a] - message[a]);
        for (double& value : to) value = std::max(value - top, kLeastLog);
        return top;
    }

    std::vector<double> left_, right_, pairs_;
    double sum_ = 0.0;
};

// What messages.h computes of a field.
struct FieldBeliefs {
    Matrix<double> marginals;  // (nodes, labels), logarithms
    Array<double> messages;    // (edges, 2, labels), logarithms
    Array<uint8_t> on_loop;    // of each edge: whether weights count

    // Raises std::invalid_argument unless they fit the field.
    void check(const PairwiseField& field) const;
};

// Raises std::invalid_argument unless there are two messages for each edge, and no number is NaN or infinity.
void check_messages(const PairwiseField& field, std::span<const double> messages);

// P(y_i, y_j) of some edges, from the marginals and messages of a result: (edges, labels * labels).
std::vector<double> edge_marginals(const PairwiseField& field, const FieldBeliefs& beliefs, std::span<const int32_t> edges,
                                   size_t threads);
// The same, added up over the edges of each table, each with a weight: (tables, labels * labels).
std::vector<double> edge_sums(const PairwiseField& field, const FieldBeliefs& beliefs, std::span<const double> weights,
                              size_t threads);
