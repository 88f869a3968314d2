// The logarithm of a sum of exponentials.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/logarithms.h"
#include "core/vectors.h"

inline double log_sum(const double* values, size_t n) {
    double top = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < n; ++i) top = std::max(top, values[i]);
    if (top == -INFINITY) return top;
    constexpr size_t kPiece = 64;
    double terms[kPiece];
    for (size_t start = 0; start < n; start += kPiece) {
        const size_t count = std::min(kPiece, n - start);
        for (size_t i = 0; i < count; ++i) terms[i] = values[start + i] - top;
        exponentiate(terms, count);
        for (size_t i = 0; i < count; ++i) sum += terms[i];
    }
    return top + portable_log(sum);
}
