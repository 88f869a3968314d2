// Multinomial logistic regression: a weight for every pair of a feature and a column of scores, and numbers as features.
//
//     s_i(y) = base_i(y) + sum over features f of row i of x_if W(f, column(y)) + W(bias, column(y))
//     L(W) = sum over rows i of w_i [log sum over y of exp s_i(y) - s_i(gold_i)] + sum over f of precision_f / 2 |W(f, .)|^2
//
// It fits the factors of random fields on graphs. For nodes, y is a label. For edges, y is a pair of labels (a, b) = a K + b, and
// base_i(a, b) = log P(a | left_i) + log P(b | right_i), so that W has the logarithms of co-occurrence rates given the nodes. Pairs
// may share a column: symmetric types share (a, b) and (b, a), tied tables have one column for equal labels and one for others.
//
// Scores are in float32; sums over rows are in float64, in a fixed number of parts, so they do not depend on the number of threads.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/array.h"
#include "training/epoch.h"

// The nodes at both ends of each row: log-probabilities of labels, (nodes, K), and the two nodes.
struct EndScores {
    Matrix<float> nodes;
    Array<int32_t> left, right;
};

class LogLinear {
   public:
    // `columns` has the column of each outcome. Features with numbers have the ids from n_sparse on, and the bias is the last.
    LogLinear(size_t rows, Csr sparse, std::optional<Array<float>> values, size_t n_sparse, std::optional<Matrix<float>> dense,
              Array<int32_t> columns, std::optional<EndScores> ends);

    size_t rows() const { return rows_; }
    size_t features() const { return n_sparse_ + n_dense_ + 1; }
    size_t size() const { return features() * width_; }
    size_t outcomes() const { return columns_.size(); }

    // L(W) and its gradient, (features, columns). Rows of gold -1 are left out; the others count `row_weights`, if given.
    Objective objective(std::span<const double> weights, std::span<const int32_t> gold,
                        const std::optional<Array<float>>& row_weights, std::span<const double> precision, size_t threads) const;
    // Scores of all outcomes, (rows, outcomes), without base; with `normalised`, with base and minus their log sum.
    std::vector<float> scores(std::span<const double> weights, bool normalised, size_t threads) const;
    // The gradient of the weights, given that of the scores, (rows, outcomes).
    NewArray<double> pull(const Matrix<float>& residuals, size_t threads) const;
    // One pass of AdaGrad over rows, all of whose labels are known; see Nodes. For features that are many and rare.
    double pass(std::span<const int32_t> gold, std::span<float> state, std::span<const int64_t> order,
                std::span<const float> decay, float rate, size_t batch, size_t threads) const;

   private:
    struct Work;
    struct Epoch;
    // Calls each(feature, value) for the features of a row.
    template <typename Each>
    void each_feature(size_t row, Each each) const {
        for (auto i = static_cast<size_t>(sparse_.offsets[row]); i < static_cast<size_t>(sparse_.offsets[row + 1]); ++i)
            each(static_cast<size_t>(sparse_.ids[i]), values_ ? (*values_)[i] : 1.0f);
        for (size_t j = 0; j < n_dense_; ++j)
            if (const float x = dense_->row(row)[j]; x != 0.0f) each(n_sparse_ + j, x);
        each(features() - 1, 1.0f);
    }
    std::vector<float> table(std::span<const double> weights) const;
    // The scores of the columns of a row, then of its outcomes.
    void score(size_t row, const float* table, Work& work, bool with_base) const;
    void add_row(size_t row, const float* residuals, Work& work, double* gradient) const;

    size_t rows_;
    Csr sparse_;
    std::optional<Array<float>> values_;
    size_t n_sparse_, n_dense_;
    std::optional<Matrix<float>> dense_;
    Array<int32_t> columns_;
    std::optional<EndScores> ends_;
    size_t width_ = 0, stride_ = 0;
    bool plain_ = true;  // each outcome has its own column, in order
    std::vector<float> ones_;
    std::vector<int32_t> dense_ids_;
};
