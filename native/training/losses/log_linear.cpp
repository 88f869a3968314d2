// See log_linear.h.
#include "training/losses/log_linear.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/logarithms.h"
#include "core/parallel.h"
#include "core/sparse_rows.h"
#include "core/sum_in_parts.h"
#include "core/vectors.h"
#include "training/adagrad.h"
#include "training/epoch.h"

namespace {

constexpr size_t kStride = 32;  // rows of a table have a multiple of this many numbers: see vectors.h

void check(bool right, const char* what) {
    if (!right) throw std::invalid_argument(what);
}

}  // namespace

// Memory of one thread: the scores of the columns, those of the outcomes, and sums of residuals by column.
struct LogLinear::Work {
    std::vector<float> columns, outcomes, sums;
    explicit Work(const LogLinear& model) : columns(model.stride_), outcomes(model.outcomes()), sums(model.width_) {}
};

LogLinear::LogLinear(size_t rows, Csr sparse, std::optional<Array<float>> values, size_t n_sparse,
                     std::optional<Matrix<float>> dense, Array<int32_t> columns, std::optional<EndScores> ends)
    : rows_(rows),
      sparse_(std::move(sparse)),
      values_(std::move(values)),
      n_sparse_(n_sparse),
      n_dense_(dense ? dense->columns() : 0),
      dense_(std::move(dense)),
      columns_(std::move(columns)),
      ends_(std::move(ends)) {
    check_offsets(sparse_.offsets, sparse_.ids.size(), "features and their offsets disagree");
    check(sparse_.offsets.size() == rows_ + 1, "features and their offsets disagree");
    check(!values_ || values_->size() == sparse_.ids.size(), "features and their values disagree");
    check(!dense_ || dense_->rows() == rows_, "dense features and rows disagree");
    check(columns_.size() > 0, "there are no outcomes");
    size_t longest = n_dense_;
    for (size_t i = 0; i < rows_; ++i)
        longest = std::max(longest, static_cast<size_t>(sparse_.offsets[i + 1] - sparse_.offsets[i]));
    for (size_t i = 0; i < sparse_.ids.size(); ++i)
        check(sparse_.ids[i] >= 0 && static_cast<size_t>(sparse_.ids[i]) < n_sparse_, "a feature is out of range");
    for (size_t y = 0; y < columns_.size(); ++y) {
        check(columns_[y] >= 0 && static_cast<size_t>(columns_[y]) < columns_.size(), "a column is out of range");
        width_ = std::max(width_, static_cast<size_t>(columns_[y]) + 1);
        plain_ = plain_ && static_cast<size_t>(columns_[y]) == y;
    }
    if (ends_) {
        const size_t k = ends_->nodes.columns();
        check(k * k == columns_.size() && ends_->left.size() == rows_ && ends_->right.size() == rows_, "ends and rows disagree");
        for (const auto* own : {&ends_->left, &ends_->right})
            for (size_t i = 0; i < rows_; ++i)
                check((*own)[i] >= 0 && static_cast<size_t>((*own)[i]) < ends_->nodes.rows(), "an end is out of range");
    }
    stride_ = (width_ + kStride - 1) / kStride * kStride;
    if (!values_ && sparse_.ids.size() > 0) ones_.assign(longest, 1.0f);
    dense_ids_.resize(n_dense_);
    std::iota(dense_ids_.begin(), dense_ids_.end(), static_cast<int32_t>(n_sparse_));
}

std::vector<float> LogLinear::table(std::span<const double> weights) const {
    check(weights.size() == size(), "weights and features disagree in number");
    std::vector<float> found(features() * stride_);
    for (size_t f = 0; f < features(); ++f)
        std::transform(weights.data() + f * width_, weights.data() + (f + 1) * width_, found.data() + f * stride_,
                       [](double w) { return static_cast<float>(w); });
    return found;
}

void LogLinear::score(size_t row, const float* table, Work& work, bool with_base) const {
    const float* bias = table + (features() - 1) * stride_;
    std::copy(bias, bias + stride_, work.columns.begin());
    const auto begin = static_cast<size_t>(sparse_.offsets[row]), end = static_cast<size_t>(sparse_.offsets[row + 1]);
    if (end > begin)
        add_rows(work.columns.data(), table, sparse_.ids.data() + begin, values_ ? values_->data() + begin : ones_.data(),
                 end - begin, stride_);
    if (dense_) add_rows(work.columns.data(), table, dense_ids_.data(), dense_->row(row), n_dense_, stride_);
    float* out = work.outcomes.data();
    if (plain_)
        std::copy(work.columns.begin(), work.columns.begin() + static_cast<ptrdiff_t>(outcomes()), out);
    else
        for (size_t y = 0; y < outcomes(); ++y) out[y] = work.columns[static_cast<size_t>(columns_[y])];
    if (!with_base || !ends_) return;
    const size_t k = ends_->nodes.columns();
    const float* left = ends_->nodes.row(static_cast<size_t>(ends_->left[row]));
    const float* right = ends_->nodes.row(static_cast<size_t>(ends_->right[row]));
    for (size_t a = 0; a < k; ++a)
        for (size_t b = 0; b < k; ++b) out[a * k + b] += left[a] + right[b];
}

void LogLinear::add_row(size_t row, const float* residuals, Work& work, double* gradient) const {
    const float* own = residuals;
    if (!plain_) {
        std::fill(work.sums.begin(), work.sums.end(), 0.0f);
        for (size_t y = 0; y < outcomes(); ++y) work.sums[static_cast<size_t>(columns_[y])] += residuals[y];
        own = work.sums.data();
    }
    each_feature(row, [&](size_t f, float x) { add_scaled(gradient + f * width_, x, own, width_); });
}

namespace {

// Turns scores into exp(score - top) and returns top and log sum, which includes top.
double exponentiated_log_sum(float* scores, size_t n) {
    float top = scores[0];
    for (size_t y = 1; y < n; ++y) top = std::max(top, scores[y]);
    for (size_t y = 0; y < n; ++y) scores[y] -= top;
    exponentiate(scores, n);
    double sum = 0.0;
    for (size_t y = 0; y < n; ++y) sum += static_cast<double>(scores[y]);
    return static_cast<double>(top) + portable_log(sum);
}

}  // namespace

Objective LogLinear::objective(std::span<const double> weights, std::span<const int32_t> gold,
                               const std::optional<Array<float>>& row_weights, std::span<const double> precision,
                               size_t threads) const {
    check(gold.size() == rows_ && (!row_weights || row_weights->size() == rows_), "labels and rows disagree");
    check(precision.size() == features(), "precisions and features disagree");
    for (const int32_t y : gold) check(y < static_cast<int32_t>(outcomes()), "a label is out of range");
    const std::vector<float> scores_of = table(weights);
    NewArray<double> sum(size());
    double* gradient = sum.values.get();
    double value = sum_in_parts(rows_, size(), threads, gradient, [&](size_t begin, size_t end, double* sums) {
        Work work(*this);
        double loss = 0.0;
        for (size_t i = begin; i < end; ++i) {
            const float weight = row_weights ? (*row_weights)[i] : 1.0f;
            if (gold[i] < 0 || weight == 0.0f) continue;
            score(i, scores_of.data(), work, true);
            float* p = work.outcomes.data();
            const auto y = static_cast<size_t>(gold[i]);
            const auto own = static_cast<double>(p[y]);
            const double log_z = exponentiated_log_sum(p, outcomes());
            loss += static_cast<double>(weight) * (log_z - own);
            float sum = 0.0f;
            for (size_t o = 0; o < outcomes(); ++o) sum += p[o];
            for (size_t o = 0; o < outcomes(); ++o) p[o] *= weight / sum;
            p[y] -= weight;
            add_row(i, p, work, sums);
        }
        return loss;
    });
    for (size_t f = 0; f < features(); ++f)
        for (size_t c = f * width_; c < (f + 1) * width_; ++c) {
            gradient[c] += precision[f] * weights[c];
            value += 0.5 * precision[f] * weights[c] * weights[c];
        }
    return {value, std::move(sum)};
}

std::vector<float> LogLinear::scores(std::span<const double> weights, bool normalised, size_t threads) const {
    const std::vector<float> scores_of = table(weights);
    std::vector<float> found(rows_ * outcomes());
    const size_t parts = useful_threads(threads, rows_);
    in_parallel(parts, [&](size_t part) {
        Work work(*this);
        for (size_t i = rows_ * part / parts; i < rows_ * (part + 1) / parts; ++i) {
            score(i, scores_of.data(), work, normalised);
            float* own = found.data() + i * outcomes();
            std::copy(work.outcomes.begin(), work.outcomes.end(), own);
            if (!normalised) continue;
            const auto log_z = static_cast<float>(exponentiated_log_sum(work.outcomes.data(), outcomes()));
            for (size_t y = 0; y < outcomes(); ++y) own[y] -= log_z;
        }
    });
    return found;
}

NewArray<double> LogLinear::pull(const Matrix<float>& residuals, size_t threads) const {
    check(residuals.rows() == rows_ && residuals.columns() == outcomes(), "residuals and rows disagree");
    NewArray<double> sum(size());
    double* gradient = sum.values.get();
    sum_in_parts(rows_, size(), threads, gradient, [&](size_t begin, size_t end, double* sums) {
        Work work(*this);
        for (size_t i = begin; i < end; ++i) add_row(i, residuals.row(i), work, sums);
        return 0.0;
    });
    return sum;
}

// Stochastic steps, as a loss: see epoch.h. Only regressions whose outcomes have columns of their own have them.
struct LogLinear::Epoch {
    const LogLinear& model;
    std::span<const int32_t> gold;

    struct Batch {
        std::span<const int64_t> items;
        std::vector<float> residuals;
        std::vector<double> losses;
    };
    static constexpr const char* kNoItem = "no such row";
    size_t size() const { return model.size(); }
    size_t n_items() const { return model.rows_; }
    size_t n_groups() const { return model.features(); }

    double residual(size_t row, const float* state, float* r) const {
        const size_t width = model.width_;
        std::fill(r, r + width, 0.0f);
        model.each_feature(row, [&](size_t f, float x) {
            const float* weights = state + 2 * f * width;
            for (size_t c = 0; c < width; ++c) r[c] += x * weights[2 * c];
        });
        const auto y = static_cast<size_t>(gold[row]);
        const auto own = static_cast<double>(r[y]);
        const double log_z = exponentiated_log_sum(r, width);
        float sum = 0.0f;
        for (size_t c = 0; c < width; ++c) sum += r[c];
        for (size_t c = 0; c < width; ++c) r[c] /= sum;
        r[y] -= 1.0f;
        return log_z - own;
    }

    double add_losses(double loss, std::span<const int64_t> items, const float* state, Batch& batch, Team& team) const {
        batch.items = items;
        batch.residuals.resize(items.size() * model.width_);
        return add_in_order(loss, items.size(), batch.losses, team, [&](size_t i, size_t) {
            return residual(static_cast<size_t>(items[i]), state, batch.residuals.data() + i * model.width_);
        });
    }

    template <typename Use>
    void each_step(const Batch& batch, size_t part, size_t parts, Use use) const {
        const size_t width = model.width_;
        for (size_t i = 0; i < batch.items.size(); ++i) {
            const float* r = batch.residuals.data() + i * width;
            if (all_negligible(r, width, kNegligible)) continue;
            model.each_feature(static_cast<size_t>(batch.items[i]), [&](size_t f, float x) {
                if (parts > 1 && f % parts != part) return;
                const Share share{f};
                for (size_t c = 0; c < width; ++c) use(f * width + c, share, x * r[c]);
            });
        }
    }
};

double LogLinear::pass(std::span<const int32_t> gold, std::span<float> state, std::span<const int64_t> order,
                       std::span<const float> decay, float rate, size_t batch, size_t threads) const {
    check(plain_ && !ends_, "stochastic steps are for outcomes with columns of their own");
    check(gold.size() == rows_, "labels and rows disagree");
    for (const int64_t row : order) {
        check(row >= 0 && static_cast<size_t>(row) < rows_, Epoch::kNoItem);
        const int32_t y = gold[static_cast<size_t>(row)];
        check(y >= 0 && static_cast<size_t>(y) < outcomes(), "a label is out of range");
    }
    return run_epoch(Epoch{*this, gold}, state, order, L2Shares{decay}, AdaGrad{rate}, batch, threads);
}
