// P(y, y' | x, x'): the probabilities of label pairs given the words of both tokens, by counting (SP1 of the paper, section
// "Fully Empirical": "other factors can be learned in a similar way").
//
//     P(y, y' | x, x')       = n(x, x', y, y') / n(x, x')                                   a pair of words that was seen
//     P(y, y' | x, class)    = mean of P(y, y' | x, x') over the seen pairs of x with a word x' of the class
//     P(y, y' | class, x')   = mean of P(y, y' | x, x') over the seen pairs of a word x of the class with x'
//     P(y, y' | both classes)  the same over the seen pairs of words of both classes
//
// A class holds the words with the same spelling features. The boundary before and after a sentence is a known word with the
// label K, and a class of its own.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/sparse_rows.h"
#include "core/strings.h"
#include "counting/counting.h"

class WordPairs {
   public:
    // What stands at one end of a pair: a known word, a class, or the boundary.
    using Side = uint32_t;
    static constexpr Side kBoundary = 0;
    static Side word(int32_t w) { return 2 * static_cast<Side>(w) + 2; }
    static Side of_class(int32_t c) { return 2 * static_cast<Side>(c) + 1; }

    // Pair i of words has the counts of row i, by label pairs y (K + 1) + y'. Words are given as id + 1, and the boundary as 0.
    // class_of: the class of each word, -1 if it has none. Throws invalid_argument if an index is out of range.
    WordPairs(const Array<int32_t>& first, const Array<int32_t>& second, const LabelCounts& counts,
              const Array<int32_t>& class_of, size_t n_labels);

    // The row of a pair, or -1 if no such pair was seen.
    int32_t find(Side first, Side second) const { return ids_.find(key(first, second)); }
    // log P of the label pairs of each row, ascending.
    const SparseRows& rows() const { return rows_; }
    size_t n_labels() const { return n_labels_; }

   private:
    static uint64_t key(Side first, Side second) { return static_cast<uint64_t>(first) << 32 | second; }
    void add_means(const LabelCounts& counts, const std::vector<uint64_t>& groups, const std::vector<int64_t>& totals);

    size_t n_labels_;
    KeyInterner ids_;
    SparseRows rows_;
};
