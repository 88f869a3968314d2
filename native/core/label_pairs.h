// Pairs of neighbouring labels, numbered y (K + 1) + y'. Label K is the boundary before and after a sentence: the last row of
// a table of pairs is its start, the last column its end.
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
    size_t row(size_t y) const { return y * stride(); }  // where the pairs of a first label begin
    size_t at(size_t y, size_t z) const { return row(y) + z; }
    size_t first(size_t pair) const { return pair / stride(); }
    size_t second(size_t pair) const { return pair % stride(); }
    // Whether 32 bits hold every pair.
    bool small() const { return n_labels_ < 46340; }

   private:
    size_t n_labels_ = 0;
};
