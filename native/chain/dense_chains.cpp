// See dense_chains.h.
#include "chain/dense_chains.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/logarithms.h"
#include "core/vectors.h"

void DensePairs::set(const float* weights, size_t labels, size_t apart) {
    pairs = LabelPairs(labels);
    stride = (labels + 31) / 32 * 32;
    scores.resize(pairs.size());
    for (size_t i = 0; i < pairs.size(); ++i) scores[i] = static_cast<double>(weights[apart * i]);
    shift = *std::max_element(scores.begin(), scores.end());
    const auto top = static_cast<float>(shift);
    forward.assign(stride * stride, 0.0f);
    backward.assign(stride * stride, 0.0f);
    start.assign(stride, 0.0f);
    end.assign(stride, 0.0f);
    into.assign(stride, 0.0f);
    rounded.assign(labels, 0.0);
    const auto potential = [&](size_t y, size_t z) { return fast_exp(weights[apart * pairs.at(y, z)] - top); };
    for (size_t y = 0; y < labels; ++y) {
        start[y] = potential(labels, y);
        end[y] = potential(y, labels);
        for (size_t z = 0; z < labels; ++z) into[z] += backward[z * stride + y] = forward[y * stride + z] = potential(y, z);
    }
}

void DensePairs::score_as_rounded() {
    const size_t n_labels = pairs.n_labels();
    const auto score = [&](size_t y, size_t z, float potential) {
        if (potential > 0.0f) scores[pairs.at(y, z)] = portable_log(static_cast<double>(potential)) + shift;
    };
    for (size_t y = 0; y < n_labels; ++y) {
        score(n_labels, y, start[y]);
        score(y, n_labels, end[y]);
        for (size_t z = 0; z < n_labels; ++z) score(y, z, forward[y * stride + z]);
    }
}

void DensePairs::sum_exactly() {
    for (size_t z = 0; z < pairs.n_labels(); ++z) {
        double sum = 0.0;
        for (size_t y = 0; y < pairs.n_labels(); ++y) sum += fast_exp(scores[pairs.at(y, z)] - shift);
        into[z] = static_cast<float>(sum);
        rounded[z] = into[z] > 0.0f ? sum / static_cast<double>(into[z]) - 1.0 : 0.0;
    }
}

void DenseGroup::lay_out(const std::vector<size_t>& lengths, const DensePairs& pairs) {
    pairs_ = pairs.pairs;
    n_labels_ = pairs_.n_labels();
    stride_ = pairs.stride;
    lengths_ = lengths;
    at_.assign(1, 0);
    for (const size_t n : lengths) at_.push_back(at_.back() + n);
    const size_t size = at_.back() * stride_;
    node_.resize(size);
    alpha_.resize(size);
    after_.resize(size);
    scale_.resize(at_.back());
    ends_.resize(lengths.size());
    losses_.assign(lengths.size(), 0.0);
    bad_.assign(lengths.size(), 0);
    sums_.assign(stride_ * stride_, 0.0f);
    table.assign(pairs_.size(), 0.0f);
}

void DenseGroup::run(const DensePairs& pairs, const std::vector<const int32_t*>& gold, const std::vector<float>& weights,
                     bool piecewise) {
    const size_t count = lengths_.size();
    for (size_t s = 0; s < count; ++s) {
        const auto n = static_cast<double>(lengths_[s] + 1);
        if (gold[s] == nullptr) bad_[s] = 1;
        size_t before = n_labels_;
        for (size_t j = 0; j < lengths_[s] && gold[s] != nullptr; ++j) {
            const auto y = static_cast<size_t>(gold[s][j]);
            losses_[s] -= static_cast<double>(row(s, j)[y]) + pairs.scores[pairs_.at(before, y)];
            if (piecewise && j > 0) losses_[s] += pairs.rounded[y];
            before = y;
        }
        losses_[s] -= pairs.scores[pairs_.at(before, n_labels_)];
        losses_[s] += exponentiate_rows(row(s, 0), lengths_[s], n_labels_, stride_) + n * pairs.shift;
    }
    if (piecewise) {
        run_piecewise(pairs);
    } else {
        forward(pairs);
        backward(pairs);
    }
    for (size_t s = 0; s < count; ++s) {
        const size_t first = at_[s], last = at_[s + 1] - 1;
        if (bad_[s]) {
            std::fill(alpha_.begin() + static_cast<std::ptrdiff_t>(first * stride_),
                      alpha_.begin() + static_cast<std::ptrdiff_t>((last + 1) * stride_), 0.0f);
            std::fill(after_.begin() + static_cast<std::ptrdiff_t>(first * stride_),
                      after_.begin() + static_cast<std::ptrdiff_t>((last + 1) * stride_), 0.0f);
            continue;
        }
        losses_[s] *= static_cast<double>(weights[s]);
        if (weights[s] != 1.0f) {
            scale_row(after_.data() + first * stride_, weights[s], lengths_[s] * stride_);
            scale_row(node_.data() + first * stride_, weights[s], lengths_[s] * stride_);
        }
        for (size_t y = 0; y < n_labels_; ++y) {
            table[pairs_.at(n_labels_, y)] += pairs.start[y] * after_[first * stride_ + y];
            table[pairs_.at(y, n_labels_)] += weights[s] * alpha_[last * stride_ + y] * pairs.end[y] * ends_[s];
        }
        subtract_gold(s, gold[s], weights[s]);
        if (piecewise) {
            for (size_t j = 1; j < lengths_[s]; ++j)
                for (size_t y = 0; y < n_labels_; ++y) sums_[y] += after_row(s, j)[y];
            continue;
        }
        // There is no pair of a sentence's last label and the next sentence's first label.
        std::fill(forward_row(s, lengths_[s] - 1), forward_row(s, lengths_[s] - 1) + stride_, 0.0f);
    }
    // Before a piece there is no alpha, so one row of sums serves all labels.
    const size_t apart = piecewise ? 0 : stride_;
    if (!piecewise) add_products(alpha_.data(), after_.data() + stride_, at_.back() - 1, n_labels_, stride_, sums_.data());
    for (size_t y = 0; y < n_labels_; ++y)
        for (size_t z = 0; z < n_labels_; ++z) table[pairs_.at(y, z)] += pairs.forward[y * stride_ + z] * sums_[y * apart + z];
}

void DenseGroup::forward(const DensePairs& pairs) {
    const size_t longest = lengths_.empty() ? 0 : lengths_[0];
    for (size_t j = 0; j < longest; ++j) {
        in_.clear();
        out_.clear();
        size_t active = 0;
        for (; active < lengths_.size() && lengths_[active] > j; ++active) {
            float* here = alpha_.data() + (at_[active] + j) * stride_;
            if (j == 0) std::copy(pairs.start.begin(), pairs.start.end(), here);
            in_.push_back(here - (j == 0 ? 0 : stride_));
            out_.push_back(here);
        }
        if (j > 0) rows_times_matrix(in_.data(), out_.data(), active, n_labels_, pairs.forward.data(), stride_);
        for (size_t s = 0; s < active; ++s) {
            const float sum = multiply_rows(out_[s], row(s, j), stride_);
            if (!(sum > kSmallestSum)) bad_[s] = 1;
            const float scale = bad_[s] ? 0.0f : 1.0f / sum;
            scale_[at_[s] + j] = scale;
            scale_row(out_[s], scale, stride_);
            if (!bad_[s]) losses_[s] += portable_log(static_cast<double>(sum));
        }
    }
    for (size_t s = 0; s < lengths_.size(); ++s) {
        const float* last = alpha_.data() + (at_[s + 1] - 1) * stride_;
        float sum = 0.0f;
        for (size_t y = 0; y < n_labels_; ++y) sum += last[y] * pairs.end[y];
        if (!(sum > kSmallestSum)) bad_[s] = 1;
        ends_[s] = bad_[s] ? 0.0f : 1.0f / sum;
        if (!bad_[s]) losses_[s] += portable_log(static_cast<double>(sum));
    }
}

void DenseGroup::backward(const DensePairs& pairs) {
    const size_t longest = lengths_.empty() ? 0 : lengths_[0];
    for (size_t j = longest; j-- > 0;) {
        in_.clear();
        out_.clear();
        size_t active = 0;
        for (; active < lengths_.size() && lengths_[active] > j + 1; ++active) {
            float* here = after_.data() + (at_[active] + j) * stride_;
            in_.push_back(here + stride_);
            out_.push_back(here);
        }
        rows_times_matrix(in_.data(), out_.data(), active, n_labels_, pairs.backward.data(), stride_);
        for (; active < lengths_.size() && lengths_[active] > j; ++active) {
            float* here = after_.data() + (at_[active] + j) * stride_;
            for (size_t y = 0; y < stride_; ++y) here[y] = pairs.end[y] * ends_[active];
            out_.push_back(here);
        }
        // A label whose alpha was rounded to zero may have such a large beta, so the result is not reliable.
        for (size_t s = 0; s < active; ++s)
            if (!(combine_rows(row(s, j), out_[s], forward_row(s, j), scale_[at_[s] + j], stride_) < kLargestBeta)) bad_[s] = 1;
    }
}

// Each edge separately, with the node that it leads to. `after` is the node divided by Z of its piece:
//
//     Z_j = sum_y' into(y') node_j(y'),    P_j(y, y') = exp T(y, y') node_j(y') / Z_j,    into(y') = sum_y exp T(y, y')
void DenseGroup::run_piecewise(const DensePairs& pairs) {
    constexpr double kLeast = 1e-25;
    const auto inverse = [&](size_t s, double z) {
        if (!(z > kLeast)) bad_[s] = 1;
        if (bad_[s]) return 0.0f;
        losses_[s] += portable_log(z);
        return static_cast<float>(1.0 / z);
    };
    const double end = std::accumulate(pairs.end.begin(), pairs.end.end(), 0.0);
    for (size_t s = 0; s < lengths_.size(); ++s) {
        for (size_t j = 0; j < lengths_[s]; ++j) {
            std::copy(row(s, j), row(s, j) + stride_, after_row(s, j));
            const float z = multiply_rows(row(s, j), j == 0 ? pairs.start.data() : pairs.into.data(), stride_);
            const float scale = inverse(s, static_cast<double>(z));
            scale_row(row(s, j), scale, stride_);
            scale_row(after_row(s, j), scale, stride_);
        }
        std::fill(forward_row(s, lengths_[s] - 1), forward_row(s, lengths_[s] - 1) + stride_, 1.0f);
        ends_[s] = inverse(s, end);
    }
}

void DenseGroup::subtract_gold(size_t s, const int32_t* gold, float weight) {
    size_t before = n_labels_;
    for (size_t j = 0; j < lengths_[s]; ++j) {
        const auto y = static_cast<size_t>(gold[j]);
        row(s, j)[y] -= weight;
        table[pairs_.at(before, y)] -= weight;
        before = y;
    }
    table[pairs_.at(before, n_labels_)] -= weight;
}
