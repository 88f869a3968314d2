// Stochastic AdaGrad steps, shared by all models.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

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

// G += g^2;  W -= rate g / sqrt(G). `pair` holds a weight W and the sum G of its squared gradients.
inline void adagrad_step(float* pair, float gradient, float rate) {
    pair[1] += gradient * gradient;
    pair[0] -= rate * gradient / std::sqrt(pair[1]);
}
