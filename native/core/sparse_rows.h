// Sparse rows of (label, score), labels ascending: finding labels, and adding two sets of rows.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/array.h"

// Rows under construction.
struct SparseRows {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> labels;
    std::vector<float> scores;

    void add(int32_t label, float score) {
        labels.push_back(label);
        scores.push_back(score);
    }
    void end_row() { offsets.push_back(static_cast<int64_t>(labels.size())); }
    size_t size() const { return offsets.size() - 1; }
    bool empty(int64_t row) const { return offsets[row] == offsets[row + 1]; }
};

// The labels of several rows together.
class LabelUnion {
   public:
    explicit LabelUnion(size_t n_labels) : seen_(n_labels, 0) {}

    void add(const int32_t* begin, const int32_t* end) {
        for (const int32_t* y = begin; y != end; ++y)
            if (!seen_[static_cast<size_t>(*y)]++) labels_.push_back(*y);
    }
    // Appends the labels in ascending order, or all labels if none were added, and starts again without any.
    void take(std::vector<int32_t>& out);

   private:
    std::vector<int32_t> seen_, labels_;
};

// The labels that some feature of each token was seen with: a row for each token, in ascending order. Tokens without such features
// have all labels. Features without a row are left out.
std::pair<std::vector<int64_t>, std::vector<int32_t>> seen_labels(const Csr& slots, const Csr& features, size_t n_labels);

// A copy of rows, whose labels must be ascending and below n_labels; otherwise throws `what`.
SparseRows copied_rows(const LabelScores& rows, size_t n_labels, const char* what);
// Checks that offsets, labels and scores agree in number.
void check_rows(const LabelScores& rows);
// The row-wise sum of two sets of rows. A label in only one of them keeps its score.
SparseRows add_rows(const LabelScores& a, const LabelScores& b);
// The position of a label among ascending labels, -1 if it is not there.
int64_t find_label(const int32_t* labels, int64_t first, int64_t last, int32_t label);
// The position of the wanted label of each row, -1 if the row does not contain it.
std::vector<int64_t> find_in_rows(std::span<const int64_t> offsets, std::span<const int32_t> labels,
                                  std::span<const int32_t> wanted);
