// Sparse rows of (label, score), labels rising: where labels stand in them, and the sum of two sets of rows.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"

// Rows that are being made.
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

// As many offsets, labels and scores as belong together.
void check_rows(const LabelScores& rows);
// The sum of two sets of as many rows; labels of only one keep their scores.
SparseRows add_rows(const LabelScores& a, const LabelScores& b);
// Where a label stands among labels that rise, -1 where it is not.
int64_t find_label(const int32_t* labels, int64_t first, int64_t last, int32_t label);
// Where each row has the label wanted of it, -1 where it has not.
std::vector<int64_t> find_in_rows(const Csr& rows, const Array<int32_t>& wanted);
