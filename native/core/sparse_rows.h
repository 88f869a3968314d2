// Sparse rows of (label, score), labels ascending: finding labels, and adding two sets of rows.
#pragma once
#include <cstdint>
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

// Checks that offsets, labels and scores agree in number.
void check_rows(const LabelScores& rows);
// The row-wise sum of two sets of rows. A label in only one of them keeps its score.
SparseRows add_rows(const LabelScores& a, const LabelScores& b);
// The position of a label among ascending labels, -1 if it is not there.
int64_t find_label(const int32_t* labels, int64_t first, int64_t last, int32_t label);
// The position of the wanted label of each row, -1 if the row does not contain it.
std::vector<int64_t> find_in_rows(const Csr& rows, const Array<int32_t>& wanted);
