// See full_lattice.h.
#include "chain/shapes/full_lattice.h"

namespace {

constexpr size_t kMostKept = 1'000'000;  // potentials that are kept between sentences

std::string_view list_of(const SentenceLattice& s, size_t j) {
    if (s.extra.offsets == nullptr) return {};
    const int64_t a = s.extra.offsets[s.first + static_cast<int64_t>(j)],
                  b = s.extra.offsets[s.first + static_cast<int64_t>(j) + 1];
    return {reinterpret_cast<const char*>(s.extra.ids + a), static_cast<size_t>(b - a) * sizeof(int32_t)};
}

}  // namespace

bool FullLattice::fits(const SentenceLattice& s, const Edges& edges) {
    const auto K = static_cast<size_t>(edges.n_labels);
    // Candidates are distinct, so no position has more than K.
    return !edges.dense.empty() && !edges.local && edges.triples.empty() && !s.extra.word_pairs.used &&
           static_cast<size_t>(s.offsets[s.n] - s.offsets[0]) == s.n * K && s.n * K * K <= kMostPotentials;
}

// The block of the edges to position j.
size_t FullLattice::block_of(const SentenceLattice& s, const Edges& edges, size_t j) {
    const auto known = static_cast<int32_t>(lists_.size());
    const auto id = static_cast<size_t>(lists_.intern(list_of(s, j)));
    if (id < static_cast<size_t>(known)) return id;
    const auto K = static_cast<size_t>(edges.n_labels), size = K * group_.stride();
    s.edge_block(j, edges, scores_);
    blocks_.resize(2 * lists_.size() * size);
    double* here = blocks_.data() + 2 * id * size;
    tops_.push_back(set_potentials(scores_.data(), K, group_.stride(), here, here + size));
    return id;
}

// Sets the potentials of the edges from the start, or to the end. Returns the score that was subtracted.
double FullLattice::boundary(const SentenceLattice& s, const Edges& edges, size_t j, std::vector<double>& potentials) {
    s.edge_block(j, edges, scores_);
    potentials.resize(group_.stride());
    std::copy(scores_.begin(), scores_.end(), potentials.begin());
    return exponentiate_rows(potentials.data(), 1, scores_.size(), group_.stride());
}

bool FullLattice::run(const SentenceLattice& s, const Edges& edges, double& log_z, float* marginals, float* pairs) {
    const auto K = static_cast<size_t>(edges.n_labels);
    lengths_.assign(1, s.n);
    group_.lay_out(lengths_, K);
    if (blocks_.size() > kMostKept) {
        lists_ = {};
        blocks_.clear();
        tops_.clear();
    }
    const float* node = s.scores + s.offsets[0];
    for (size_t j = 0; j < s.n; ++j, node += K) std::copy_n(node, K, group_.row(0, j));
    log_z = boundary(s, edges, 0, start_) + boundary(s, edges, s.n, end_);
    which_.resize(s.n);
    for (size_t j = 1; j < s.n; ++j) log_z += tops_[which_[j] = block_of(s, edges, j)];
    const size_t size = K * group_.stride();
    const StepPotentials<double> potentials{blocks_.data(), blocks_.data() + size, start_.data(),
                                            end_.data(),    which_.data(),         2 * size};
    group_.potentials();
    group_.forward(potentials);
    group_.backward(potentials);
    log_z += group_.log_z(0);
    if (group_.bad(0) || !std::isfinite(log_z)) return false;
    for (size_t j = 0; j < s.n; ++j)
        for (size_t l = 0; l < K; ++l) marginals[j * K + l] = static_cast<float>(group_.row(0, j)[l]);
    for (size_t j = 1; pairs != nullptr && j < s.n; ++j)
        for (size_t k = 0; k < K; ++k) {
            const double *row = potentials.to(j) + k * group_.stride(), *after = group_.after(0, j),
                         before = group_.alpha(0, j - 1)[k];
            for (size_t l = 0; l < K; ++l) *pairs++ = static_cast<float>(before * row[l] * after[l]);
        }
    return true;
}
