// Tables derived from counts of word pairs: pairs with the class of a word, and label weights of contexts.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/sparse_rows.h"
#include "counting/counting.h"

// Word pairs: key i belongs to row i and holds the values of both words in its halves.
struct PairTable {
    Array<uint64_t> keys;
    LabelCounts counts;
    bool word_is_first;  // otherwise the neighbour is first
};

struct ClassContexts {
    std::vector<uint64_t> keys;
    CountTable table;
};
// Sums the counts of (neighbour, word) pairs by (neighbour, class of the word), over words with at most `rare` tokens.
ClassContexts class_contexts(const PairTable& pairs, const Array<int32_t>& class_of, const Array<int64_t>& totals, int64_t rare,
                             size_t n_labels);

// A context's evidence as label weights: weight * log(1 + n(c, y) / (k p(y))), where p is the row of the context's centre. The
// term common to all labels is omitted.
SparseRows context_weights(const LabelCounts& table, const Array<int32_t>& centre, const LabelScores& rows, double k,
                           double weight);
