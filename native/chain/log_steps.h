// Forward and backward steps in log space, with float64 sums. Edges and nodes may have either precision.
#pragma once
#include <cstddef>
#include <vector>

#include "core/log_sum.h"

// alpha_j(l) = node_j(l) + log sum_k exp(alpha_j-1(k) + edge_j(k, l)), for m labels at j - 1 and `width` labels at j.
template <typename Real>
void log_forward(const double* before, size_t m, const Real* edge, const Real* node, size_t width, double* alpha,
                 std::vector<double>& terms) {
    terms.resize(m);
    for (size_t l = 0; l < width; ++l) {
        for (size_t k = 0; k < m; ++k) terms[k] = before[k] + static_cast<double>(edge[k * width + l]);
        alpha[l] = static_cast<double>(node[l]) + log_sum(terms.data(), m);
    }
}

// beta_j-1(k) = log sum_l exp(edge_j(k, l) + node_j(l) + beta_j(l)). Calls use(k, terms of the sum) for each k.
template <typename Real, typename Use>
void log_backward(const Real* edge, const Real* node, const double* beta, size_t width, size_t m, double* before,
                  std::vector<double>& terms, Use use) {
    terms.resize(width);
    for (size_t k = 0; k < m; ++k) {
        for (size_t l = 0; l < width; ++l)
            terms[l] = static_cast<double>(edge[k * width + l]) + static_cast<double>(node[l]) + beta[l];
        if (before != nullptr) before[k] = log_sum(terms.data(), width);
        use(k, terms.data());
    }
}
