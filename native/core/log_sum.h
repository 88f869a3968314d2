// The logarithm of a sum of exponentials.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

inline double log_sum(const double* values, size_t n) {
    double top = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < n; ++i) top = std::max(top, values[i]);
    if (top == -INFINITY) return top;
    for (size_t i = 0; i < n; ++i) sum += std::exp(values[i] - top);
    return top + std::log(sum);
}
