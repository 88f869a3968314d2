// See word_pairs.h.
#include "counting/word_pairs.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/label_pairs.h"
#include "core/logarithms.h"

WordPairs::WordPairs(const Array<int32_t>& first, const Array<int32_t>& second, const LabelCounts& counts,
                     const Array<int32_t>& class_of, size_t n_labels)
    : n_labels_(n_labels) {
    const LabelPairs pairs(n_labels);
    const size_t n = first.size();
    if (!pairs.small()) throw std::invalid_argument("there are too many labels for pairs of words");
    if (second.size() != n || counts.n_contexts() != n) throw std::invalid_argument("pairs of words and their counts disagree");
    counts.check(pairs.size());
    check_rising(counts.offsets, counts.labels, pairs.size(), "label pairs are out of order");
    const auto words = static_cast<int64_t>(class_of.size());
    std::vector<int64_t> totals(n);
    std::vector<uint64_t> groups;  // three for each pair, each the key of a class, or that of the pair if it has no such class
    ids_.reserve(n);
    for (size_t i = 0; i < n; ++i) {
        if (first[i] < 0 || second[i] < 0 || first[i] > words || second[i] > words)
            throw std::invalid_argument("a pair has a word that is out of range");
        const Side a = first[i] == 0 ? kBoundary : word(first[i] - 1), b = second[i] == 0 ? kBoundary : word(second[i] - 1);
        const uint64_t own = key(a, b);
        if (ids_.intern(own) != static_cast<int32_t>(i)) throw std::invalid_argument("a pair of words occurs twice");
        for (int64_t k = counts.offsets[i]; k < counts.offsets[i + 1]; ++k) {
            if (counts.counts[k] < 1) throw std::invalid_argument("the count of a label pair is not positive");
            // The labels must be boundaries where the words are.
            const auto pair = static_cast<size_t>(counts.labels[k]);
            if ((pairs.first(pair) == n_labels) != (first[i] == 0) || (pairs.second(pair) == n_labels) != (second[i] == 0))
                throw std::invalid_argument("a pair of words has labels of other places");
            totals[i] += counts.counts[k];
        }
        if (totals[i] == 0) throw std::invalid_argument("a pair of words has no counts");
        for (int64_t k = counts.offsets[i]; k < counts.offsets[i + 1]; ++k)
            rows_.add(counts.labels[k],
                      static_cast<float>(portable_log(static_cast<double>(counts.counts[k]) / static_cast<double>(totals[i]))));
        rows_.end_row();
        const int32_t c = first[i] == 0 ? -1 : class_of[first[i] - 1], d = second[i] == 0 ? -1 : class_of[second[i] - 1];
        groups.push_back(d < 0 ? own : key(a, of_class(d)));
        groups.push_back(c < 0 ? own : key(of_class(c), b));
        groups.push_back(c < 0 || d < 0 ? own : key(of_class(c), of_class(d)));
    }
    add_means(counts, groups, totals);
}

// Adds a row for each class: the mean of its pairs, in the order of the pairs.
void WordPairs::add_means(const LabelCounts& counts, const std::vector<uint64_t>& groups, const std::vector<int64_t>& totals) {
    const size_t n = totals.size();
    std::vector<int32_t> row_of(groups.size(), -1);
    std::vector<size_t> begin(1, 0);  // by class: where its members start
    for (size_t i = 0; i < groups.size(); ++i) {
        const int32_t id = ids_.intern(groups[i]);
        if (static_cast<size_t>(id) < n) continue;  // the pair itself
        row_of[i] = id - static_cast<int32_t>(n);
        begin.resize(std::max(begin.size(), static_cast<size_t>(row_of[i]) + 2), 0);
        ++begin[static_cast<size_t>(row_of[i]) + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<size_t> members(begin.back()), next(begin);
    for (size_t i = 0; i < groups.size(); ++i)
        if (row_of[i] >= 0) members[next[static_cast<size_t>(row_of[i])]++] = i / 3;
    std::vector<std::pair<int32_t, double>> shares;
    for (size_t c = 0; c + 1 < begin.size(); ++c) {
        shares.clear();
        for (size_t m = begin[c]; m < begin[c + 1]; ++m) {
            const size_t i = members[m];
            for (int64_t k = counts.offsets[i]; k < counts.offsets[i + 1]; ++k)
                shares.emplace_back(counts.labels[k], static_cast<double>(counts.counts[k]) / static_cast<double>(totals[i]));
        }
        std::stable_sort(shares.begin(), shares.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
        const auto size = static_cast<double>(begin[c + 1] - begin[c]);
        for (size_t k = 0; k < shares.size();) {
            const int32_t pair = shares[k].first;
            double sum = 0.0;
            for (; k < shares.size() && shares[k].first == pair; ++k) sum += shares[k].second;
            rows_.add(pair, static_cast<float>(portable_log(sum / size)));
        }
        rows_.end_row();
    }
}
