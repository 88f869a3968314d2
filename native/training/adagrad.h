// Stochastic steps of AdaGrad, those of every model.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

// Steps pass over what is labelled with as good as certainty: residuals at most this.
constexpr float kQuiet = 1e-4f;

template <typename Real>
inline bool all_quiet(const Real* residuals, size_t n, Real quiet) {
    return std::all_of(residuals, residuals + n, [=](Real r) { return std::abs(r) <= quiet; });
}

// `pair` holds a weight and the sum of its squared gradients so far.
inline void adagrad_step(float* pair, float gradient, float rate) {
    pair[1] += gradient * gradient;
    pair[0] -= rate * gradient / std::sqrt(pair[1]);
}
