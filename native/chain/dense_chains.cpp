// See dense_chains.h.
#include "chain/dense_chains.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/logarithms.h"
#include "core/vectors.h"

void DensePairs::set(const float* weights, size_t labels, size_t apart) {
    pairs = LabelPairs(labels);
    stride = full_stride<float>(labels);
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
    FullGroup::lay_out(lengths, pairs.pairs.n_labels());
    pairs_ = pairs.pairs;
    table.assign(pairs_.size(), 0.0f);
}

// log_z_ becomes the loss.
void DenseGroup::run(const DensePairs& pairs, const std::vector<const int32_t*>& gold, const std::vector<float>& weights,
                     bool piecewise) {
    for (size_t s = 0; s < size(); ++s) {
        const auto n = static_cast<double>(lengths_[s] + 1);
        if (gold[s] == nullptr) bad_[s] = 1;
        size_t before = n_labels_;
        for (size_t j = 0; j < lengths_[s] && gold[s] != nullptr; ++j) {
            const auto y = static_cast<size_t>(gold[s][j]);
            log_z_[s] -= static_cast<double>(row(s, j)[y]) + pairs.scores[pairs_.at(before, y)];
            if (piecewise && j > 0) log_z_[s] += pairs.rounded[y];
            before = y;
        }
        log_z_[s] -= pairs.scores[pairs_.at(before, n_labels_)];
        log_z_[s] += exponentiate_rows(row(s, 0), lengths_[s], n_labels_, stride_) + n * pairs.shift;
    }
    if (piecewise) {
        run_piecewise(pairs);
    } else {
        forward(pairs.potentials());
        backward(pairs.potentials());
    }
    for (size_t s = 0; s < size(); ++s) {
        if (bad_[s]) continue;
        log_z_[s] *= static_cast<double>(weights[s]);
        if (weights[s] != 1.0f) {
            scale_row(after(s, 0), weights[s], lengths_[s] * stride_);
            scale_row(row(s, 0), weights[s], lengths_[s] * stride_);
        }
        const float* last = alpha(s, lengths_[s] - 1);
        for (size_t y = 0; y < n_labels_; ++y) {
            table[pairs_.at(n_labels_, y)] += pairs.start[y] * after(s, 0)[y];
            table[pairs_.at(y, n_labels_)] += weights[s] * last[y] * pairs.end[y] * ends_[s];
        }
        subtract_gold(s, gold[s], weights[s]);
    }
    if (piecewise) {  // before a piece there is no alpha, so one row of sums serves all labels
        sums_.assign(stride_, 0.0f);
        for (size_t s = 0; s < size(); ++s)
            for (size_t j = 1; j < lengths_[s] && !bad_[s]; ++j)
                for (size_t y = 0; y < n_labels_; ++y) sums_[y] += after(s, j)[y];
    } else {
        sum_pairs();
    }
    const size_t apart = piecewise ? 0 : stride_;
    for (size_t y = 0; y < n_labels_; ++y)
        for (size_t z = 0; z < n_labels_; ++z) table[pairs_.at(y, z)] += pairs.forward[y * stride_ + z] * sums_[y * apart + z];
}

// Each edge separately, with the node that it leads to. `after` is the node divided by Z of its piece:
//
//     Z_j = sum_y' into(y') node_j(y'),    P_j(y, y') = exp T(y, y') node_j(y') / Z_j,    into(y') = sum_y exp T(y, y')
void DenseGroup::run_piecewise(const DensePairs& pairs) {
    constexpr double kLeast = 1e-25;
    const auto inverse = [&](size_t s, double z) {
        if (!(z > kLeast)) bad_[s] = 1;
        if (bad_[s]) return 0.0f;
        log_z_[s] += portable_log(z);
        return static_cast<float>(1.0 / z);
    };
    const double end = std::accumulate(pairs.end.begin(), pairs.end.end(), 0.0);
    for (size_t s = 0; s < lengths_.size(); ++s) {
        for (size_t j = 0; j < lengths_[s]; ++j) {
            std::copy(row(s, j), row(s, j) + stride_, after(s, j));
            const float z = multiply_rows(row(s, j), j == 0 ? pairs.start.data() : pairs.into.data(), stride_);
            const float scale = inverse(s, static_cast<double>(z));
            scale_row(row(s, j), scale, stride_);
            scale_row(after(s, j), scale, stride_);
        }
        std::fill(alpha(s, lengths_[s] - 1), alpha(s, lengths_[s] - 1) + stride_, 1.0f);
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
