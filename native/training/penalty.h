// The Gaussian prior of weights, precision / 2 times the sum of their squares: the one place that knows which penalty it is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/vectors.h"

// In an objective, with its gradient precision * W.
struct L2 {
    double precision;

    // Adds the gradient of n weights to theirs. Returns the penalty. Weights that are not `trained`, if that is given, have no
    // gradient. The squares of the first `in_order` weights are added one by one, as results depend on the order.
    double add(const double* weights, double* gradient, size_t n, size_t in_order, const uint8_t* trained = nullptr) const {
        double norm = 0.0;
        for (size_t i = 0; i < in_order; ++i) {
            const bool counts = trained == nullptr || trained[i];
            gradient[i] = counts ? gradient[i] + precision * weights[i] : 0.0;
            norm += counts ? weights[i] * weights[i] : 0.0;
        }
        for (size_t i = in_order; i < n; ++i) gradient[i] += precision * weights[i];
        norm += dot(weights + in_order, weights + in_order, n - in_order);
        return 0.5 * precision * norm;
    }
};

// The weights that a stochastic step is one of: their group, and the factors of the group's share and of the step size.
struct Share {
    size_t group;
    float decay = 1.0f, rate = 1.0f;
};

// In stochastic steps, a share of the gradient in each visit of a weight, by group. A pass applies the penalty once if a group's
// share is precision / the number of its visits.
struct L2Shares {
    std::span<const float> of;

    float gradient(const Share& share, float weight) const { return share.decay * of[share.group] * weight; }
};
