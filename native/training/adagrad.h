// Stochastic steps of AdaGrad, those of every model.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

// A token whose residuals are all at most this takes no step: its label is all but certain.
constexpr float kNegligible = 1e-4f;

template <typename Real>
inline bool all_negligible(const Real* residuals, size_t n, Real limit) {
    return std::all_of(residuals, residuals + n, [=](Real r) { return std::abs(r) <= limit; });
}

// G += g^2;  W -= rate g / sqrt(G). `pair` holds a weight W and the sum G of its squared gradients so far.
inline void adagrad_step(float* pair, float gradient, float rate) {
    pair[1] += gradient * gradient;
    pair[0] -= rate * gradient / std::sqrt(pair[1]);
}
