// Contexts with equal content, merged: the loss of a context is linear in the counts n(c, y) of what was seen with it.
#pragma once
#include <cstddef>
#include <vector>

#include "core/equal_items.h"

// Distinct contexts, by one of their numbers, with the sums of their counts by outcome, ascending.
struct MergedContexts {
    std::vector<size_t> contexts, offsets{0}, outcomes;
    std::vector<double> counts, totals;  // n(c, y), and n(c)

    size_t size() const { return contexts.size(); }
};

// Merges contexts of equal classes. width(c) is the number of possible outcomes of a context; with only one there is no loss and no
// gradient, so it is left out. each(c, add) calls add(outcome, count) for each count of a context.
template <typename Width, typename Each>
MergedContexts merge_contexts(const EqualItems& classes, Width width, Each each) {
    std::vector<size_t> places(classes.first.size() + 1, 0), order(classes.of.size());  // contexts by class
    for (const int64_t k : classes.of) ++places[static_cast<size_t>(k) + 1];
    for (size_t k = 0; k + 1 < places.size(); ++k) places[k + 1] += places[k];
    std::vector<size_t> next(places.begin(), places.end() - 1);
    for (size_t c = 0; c < order.size(); ++c) order[next[static_cast<size_t>(classes.of[c])]++] = c;
    MergedContexts merged;
    std::vector<double> sums;
    for (size_t k = 0; k < classes.first.size(); ++k) {
        const size_t n = width(classes.first[k]);
        if (n == 1) continue;
        sums.assign(n, 0.0);
        for (size_t i = places[k]; i < places[k + 1]; ++i)
            each(order[i], [&](size_t outcome, double count) { sums[outcome] += count; });
        double total = 0.0;
        for (size_t y = 0; y < n; ++y) {
            if (sums[y] == 0.0) continue;
            merged.outcomes.push_back(y);
            merged.counts.push_back(sums[y]);
            total += sums[y];
        }
        merged.contexts.push_back(classes.first[k]);
        merged.totals.push_back(total);
        merged.offsets.push_back(merged.outcomes.size());
    }
    return merged;
}

// Whether two rows of an array are equal.
template <typename Offsets, typename Values>
bool equal_rows(const Offsets& offsets, const Values& values, size_t a, size_t b) {
    return std::ranges::equal(row_of(offsets, values, a), row_of(offsets, values, b));
}
