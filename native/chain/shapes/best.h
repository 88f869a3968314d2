// Viterbi steps: the best labelling that ends in each state.
//
//     alpha_j(l) = node_j(l) + max_k alpha_j-1(k) + edge_j(k, l),     back_j(l) the first k that attains the maximum
//
// States are as in log_space.h: state i of position j - 1 leads to the `width` states of group i % groups.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

// Row i of edges, `apart` numbers after the one before it, has the scores from state i.
void best_step(const float* before, size_t states, const float* edges, size_t apart, size_t groups, const float* node,
               size_t width, float* alpha, int32_t* back);
void best_step(const double* before, size_t states, const double* edges, size_t apart, size_t groups, const double* node,
               size_t width, double* alpha, int32_t* back);

// Sums over a long sentence are large and lose digits, so the largest is subtracted from all every so many positions.
constexpr size_t kLevelledEvery = 16;

// Subtracts the largest alpha from all, and returns it.
template <typename Real>
double level(std::vector<Real>& alpha) {
    const Real top = *std::max_element(alpha.begin(), alpha.end());
    if (!std::isfinite(top)) return 0.0;
    for (Real& value : alpha) value -= top;
    return static_cast<double>(top);
}
