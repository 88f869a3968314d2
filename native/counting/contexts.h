// Counts of word pairs made into others: pairs with the class of a word, and weights of contexts.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/sparse_rows.h"
#include "counting/counting.h"

// The pairs of a table: key i is of row i, the values of both words in its halves.
struct PairTable {
    Array<uint64_t> keys;
    LabelCounts counts;
    bool word_is_first;  // else the neighbour is
};

struct ClassContexts {
    std::vector<uint64_t> keys;
    CountTable table;
};
// From counts of (neighbour, word) pairs those of (neighbour, class of the word), over words with at most `rare` tokens.
ClassContexts class_contexts(const PairTable& pairs, const Array<int32_t>& class_of, const Array<int64_t>& totals, int64_t rare,
                             size_t n_labels);

// A context's evidence as label weights, weight * log(1 + n(c, y) / (k p(y))), p the row of the context's centre. The part
// common to all labels is left out.
SparseRows context_weights(const LabelCounts& table, const Array<int32_t>& centre, const LabelScores& rows, double k,
                           double weight);
