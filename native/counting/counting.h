// Counts: how often each label occurs in each context, and how often each label follows another.
//
//     n(c, y) = #{t : context_t = c, label_t = y}           a sparse table, one row per context
//     n(y, y') = #{i : label_i = y, label_i+1 = y'}         with a boundary symbol before and after each sentence
//
// Both are sums over tokens, so the counts of two corpora can be added.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/array.h"

// Label counts of contexts, one row per context, labels ascending. CountTable owns its memory; LabelCounts is a view.
struct CountTable {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> labels;
    std::vector<int64_t> counts;
};
struct LabelCounts {
    Array<int64_t> offsets;
    Array<int32_t> labels;
    Array<int64_t> counts;

    size_t n_contexts() const { return offsets.size() - 1; }
    void check(size_t n_labels) const;
};

// Counts the labels of n tokens in their contexts. Negative contexts and labels are skipped.
CountTable count_table(std::span<const int32_t> contexts, std::span<const int32_t> labels, size_t n_contexts, size_t n_labels);
// The stacked tables of several kinds of contexts, (kinds, n). Kind i has sizes[i] rows.
CountTable count_tables(const Matrix<int32_t>& contexts, std::span<const int32_t> labels, std::span<const int64_t> sizes,
                        size_t n_labels, size_t threads);
// The number of occurrences of each id below n.
std::vector<int64_t> occurrences(std::span<const int32_t> ids, size_t n);
// counts(context, label) += change for each token.
void adjust_table(std::span<const int64_t> offsets, std::span<const int32_t> labels, std::span<int64_t> counts,
                  std::span<const int32_t> token_contexts, std::span<const int32_t> token_labels, int64_t change);

// How often a label follows another, sorted. Label n_labels is the sentence boundary.
struct PairCounts {
    std::vector<int32_t> from, to;
    std::vector<int64_t> counts;
};
// Negative labels are unknown and form no pair.
PairCounts count_pairs(std::span<const int32_t> labels, std::span<const int64_t> sentences, size_t n_labels);
