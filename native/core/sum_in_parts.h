// Sums over items in a fixed number of parts, so that the result does not depend on the number of threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/parallel.h"

// part(begin, end, sums) adds the items from begin to end to `sums`, which has `size` numbers, and returns their loss. Each part
// has sums of its own, which are then added in order. Returns the total loss.
template <typename Part>
double sum_in_parts(size_t items, size_t size, size_t threads, double* sums, Part part) {
    constexpr size_t kParts = 16;
    threads = useful_threads(threads, kParts);
    std::fill(sums, sums + size, 0.0);
    std::vector<std::vector<double>> own(threads);
    std::vector<double> losses(threads);
    double loss = 0.0;
    for (size_t start = 0; start < kParts; start += threads) {
        const size_t group = std::min(threads, kParts - start);
        in_parallel(group, [&](size_t i) {
            own[i].assign(size, 0.0);
            losses[i] = part(items * (start + i) / kParts, items * (start + i + 1) / kParts, own[i].data());
        });
        for (size_t i = 0; i < group; ++i) {
            loss += losses[i];
            for (size_t s = 0; s < size; ++s) sums[s] += own[i][s];
        }
    }
    return loss;
}
