// The most probable labels of a distribution.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

// Writes to `keep`, ascending, the labels whose probability is at least `threshold` times that of the best label, and at most
// the `cap` best of them.
inline void likely_labels(const std::vector<double>& p, double threshold, size_t cap, std::vector<int32_t>& keep) {
    keep.clear();
    const double floor = threshold * *std::max_element(p.begin(), p.end());
    for (size_t y = 0; y < p.size(); ++y)
        if (p[y] > 0.0 && p[y] >= floor) keep.push_back(static_cast<int32_t>(y));
    if (keep.size() <= cap) return;
    std::nth_element(keep.begin(), keep.begin() + static_cast<int64_t>(cap), keep.end(),
                     [&](int32_t a, int32_t b) { return p[a] > p[b] || (p[a] == p[b] && a < b); });
    keep.resize(cap);
    std::sort(keep.begin(), keep.end());
}
