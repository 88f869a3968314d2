// Pairs of neighbouring labels, with the ids y (K + 1) + y'. Label K is the boundary before and after a sentence: the last row
// of a table of pairs is the start, the last column is the end.
#pragma once
#include <cstddef>
#include <cstdint>

class LabelPairs {
   public:
    LabelPairs() = default;
    explicit LabelPairs(size_t n_labels) : n_labels_(n_labels) {}

    size_t n_labels() const { return n_labels_; }
    size_t boundary() const { return n_labels_; }
    size_t stride() const { return n_labels_ + 1; }
    size_t size() const { return stride() * stride(); }
    size_t row(size_t y) const { return y * stride(); }  // the first pair whose first label is y
    size_t at(size_t y, size_t z) const { return row(y) + z; }
    size_t first(size_t pair) const { return pair / stride(); }
    size_t second(size_t pair) const { return pair % stride(); }
    // Whether every pair id fits in 32 bits.
    bool small() const { return n_labels_ < 46340; }

   private:
    size_t n_labels_ = 0;
};
