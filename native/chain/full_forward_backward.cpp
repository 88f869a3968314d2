// See full_forward_backward.h.
#include "chain/full_forward_backward.h"

#include "chain/scaling.h"
#include "core/vectors.h"

namespace {

constexpr size_t kMostKept = 1'000'000;  // potentials that are kept between sentences

std::string_view list_of(const SentenceLattice& s, size_t j) {
    if (s.extra.offsets == nullptr) return {};
    const int64_t a = s.extra.offsets[s.first + static_cast<int64_t>(j)],
                  b = s.extra.offsets[s.first + static_cast<int64_t>(j) + 1];
    return {reinterpret_cast<const char*>(s.extra.ids + a), static_cast<size_t>(b - a) * sizeof(int32_t)};
}

}  // namespace

bool FullForwardBackward::fits(const SentenceLattice& s, const Edges& edges) {
    const auto K = static_cast<size_t>(edges.n_labels);
    // Candidates are distinct, so no position has more than K.
    return !edges.dense.empty() && !edges.local && edges.triples.empty() && !s.extra.word_pairs.used &&
           static_cast<size_t>(s.offsets[s.n] - s.offsets[0]) == s.n * K && s.n * K * K <= kMostPotentials;
}

// The block of the edges to position j.
size_t FullForwardBackward::block_of(const SentenceLattice& s, const Edges& edges, size_t j) {
    const auto known = static_cast<int32_t>(lists_.size());
    const int32_t id = lists_.intern(list_of(s, j));
    if (id < known) return static_cast<size_t>(id);
    const auto K = static_cast<size_t>(edges.n_labels);
    s.edge_block(j, edges, scores_);
    blocks_.resize(2 * lists_.size() * size_);
    double* here = blocks_.data() + 2 * static_cast<size_t>(id) * size_;
    double* transposed = here + size_;
    const float top = *std::max_element(scores_.begin(), scores_.end());
    for (size_t k = 0; k < K; ++k)
        for (size_t l = 0; l < K; ++l) {
            here[k * stride_ + l] = fast_exp(static_cast<double>(scores_[k * K + l]) - static_cast<double>(top));
            transposed[l * stride_ + k] = here[k * stride_ + l];
        }
    tops_.push_back(static_cast<double>(top));
    return static_cast<size_t>(id);
}

// Returns the sum of the scores that were subtracted.
double FullForwardBackward::set_potentials(const SentenceLattice& s, const Edges& edges) {
    const auto K = static_cast<size_t>(edges.n_labels);
    stride_ = (K + 7) / 8 * 8;
    size_ = K * stride_;
    if (blocks_.size() > kMostKept) {
        lists_ = {};
        blocks_.clear();
        tops_.clear();
    }
    node_.resize(s.n * stride_);
    start_.resize(stride_);
    end_.resize(stride_);
    block_.resize(s.n);
    double shift = exponentiate_rows(s.scores + s.offsets[0], s.n, K, stride_, node_.data());
    for (size_t j = 1; j < s.n; ++j) {
        block_[j] = block_of(s, edges, j);
        shift += tops_[block_[j]];
    }
    s.edge_block(0, edges, scores_);
    shift += exponentiate_rows(scores_.data(), 1, K, stride_, start_.data());
    s.edge_block(s.n, edges, scores_);
    return shift + exponentiate_rows(scores_.data(), 1, K, stride_, end_.data());
}

bool FullForwardBackward::run(const SentenceLattice& s, const Edges& edges, double& log_z, float* marginals, float* pairs) {
    log_z = set_potentials(s, edges);
    if (!std::isfinite(log_z)) return false;
    const auto K = static_cast<size_t>(edges.n_labels);
    const size_t stride = stride_;
    const auto row = [stride](std::vector<double>& rows, size_t j) { return rows.data() + j * stride; };
    alpha_.resize(s.n * stride);
    scale_.resize(s.n);
    Scaling scaling;
    for (size_t j = 0; j < s.n; ++j) {
        double* a = row(alpha_, j);
        if (j == 0)
            std::copy(start_.begin(), start_.end(), a);
        else
            row_times_matrix(row(alpha_, j - 1), forward(block_[j]), K, stride, a);
        const double* u = row(node_, j);
        for (size_t l = 0; l < stride; ++l) a[l] *= u[l];
        const double sum = scaling.sum(a, K);
        if (!scaling.reliable()) return false;
        scale_[j] = 1.0 / sum;
        for (size_t l = 0; l < stride; ++l) a[l] *= scale_[j];
    }
    double sum = 0.0;
    for (size_t k = 0; k < K; ++k) sum += row(alpha_, s.n - 1)[k] * end_[k];
    scaling.scale(sum);
    if (!scaling.reliable()) return false;
    log_z += scaling.log_product();
    if (marginals == nullptr) return true;

    beta_.resize(stride);
    for (size_t k = 0; k < stride; ++k) beta_[k] = end_[k] / sum;
    for (size_t j = s.n; j-- > 0;) {
        const double* a = row(alpha_, j);
        for (size_t l = 0; l < K; ++l) marginals[j * K + l] = static_cast<float>(a[l] * beta_[l]);
        if (j == 0) break;
        double* b = row(node_, j);
        for (size_t l = 0; l < stride; ++l) b[l] *= beta_[l] * scale_[j];
        row_times_matrix(b, backward(block_[j]), K, stride, beta_.data());
    }
    for (size_t j = 1; pairs != nullptr && j < s.n; ++j)
        for (size_t k = 0; k < K; ++k)
            for (size_t l = 0; l < K; ++l)
                *pairs++ = static_cast<float>(row(alpha_, j - 1)[k] * forward(block_[j])[k * stride + l] * row(node_, j)[l]);
    return true;
}
