// Forward-backward over lattices of candidate labels. See lattice.h for the score.
//
// Sums are products of potentials in float64, scaled at each position. Potentials are exp(score - largest score), so they are at
// most 1, and u_j is the potential of a node:
//
//     alpha_j(l) = u_j(l) sum_k alpha_j-1(k) edge_j(k, l) / scale_j,  scale_j such that alpha_j sums to 1
//     beta_j-1(k) = sum_l edge_j(k, l) b_j(l),  b_j(l) = u_j(l) beta_j(l) / scale_j
//     P(y_j-1 = k, y_j = l) = alpha_j-1(k) edge_j(k, l) b_j(l)
//
// An alpha below 1e-290 may have lost its digits. It still counts if all other labels become as unlikely later: by a factor of at
// most the product of 1 / scale. If that factor times 1e-290 is not negligible, everything is computed in log space. Small betas
// need no such care, as they belong to labels whose probability is as small.
#include "chain/forward_backward.h"

#include "chain/log_steps.h"
#include "chain/scaling.h"
#include "core/vectors.h"

namespace {

// Writes exp(score - largest score) and returns the largest score.
double potentials(const float* scores, size_t n, double* found) {
    if (n == 1 && std::isfinite(scores[0])) {
        found[0] = 1.0;
        return static_cast<double>(scores[0]);
    }
    const float top = *std::max_element(scores, scores + n);
    for (size_t i = 0; i < n; ++i) found[i] = static_cast<double>(scores[i]) - static_cast<double>(top);
    exponentiate(found, n);
    return static_cast<double>(top);
}

}  // namespace

double ForwardBackward::run(const SentenceLattice& s, const Edges& edges, float* marginals, float* pairs) {
    if (s.n == 0) return 0.0;
    if (!edges.triples.empty()) return run_second(s, edges, marginals, pairs);
    double log_z = 0.0;
    const bool done = FullForwardBackward::fits(s, edges)
                          ? full_.run(s, edges, log_z, marginals, pairs)
                          : set_potentials(s, edges, log_z) && run_scaled(s, log_z, marginals, pairs);
    return done ? log_z : run_in_logs(s, edges, marginals, pairs);
}

// Sets the potentials of the edges of a sentence, and log_z to the scores that were subtracted. False if there are too many, or
// if scores are not finite.
bool ForwardBackward::set_potentials(const SentenceLattice& s, const Edges& edges, double& log_z) {
    edge_at_.assign(1, 0);
    for (size_t j = 0; j <= s.n; ++j)
        edge_at_.push_back(edge_at_.back() + s.around(j, 1, edges).second * s.around(j, 0, edges).second);
    if (edge_at_.back() > kMostPotentials) return false;
    edge_.resize(edge_at_.back());
    for (size_t j = 0; j <= s.n; ++j) {
        s.edge_block(j, edges, block_);
        log_z += potentials(block_.data(), block_.size(), edge_.data() + edge_at_[j]);
    }
    return std::isfinite(log_z);
}

// Adds the rest of log Z to log_z. False if a sum is too small for scaled products.
bool ForwardBackward::run_scaled(const SentenceLattice& s, double& log_z, float* marginals, float* pairs) {
    const int64_t base = s.offsets[0];
    const auto width_of = [&](size_t j) { return static_cast<size_t>(s.offsets[j + 1] - s.offsets[j]); };
    const auto place = [&](size_t j) { return static_cast<size_t>(s.offsets[j] - base); };
    const auto edge = [&](size_t j) { return edge_.data() + edge_at_[j]; };
    const size_t total = static_cast<size_t>(s.offsets[s.n] - base);
    alpha_.resize(total);
    node_.resize(total);
    scale_.resize(s.n);
    Scaling scaling;
    for (size_t j = 0; j < s.n; ++j) {
        const size_t m = j == 0 ? 1 : width_of(j - 1), width = width_of(j);
        const double* e = edge(j);
        double *a = alpha_.data() + place(j), *u = node_.data() + place(j);
        log_z += potentials(s.scores + s.offsets[j], width, u);
        std::copy_n(e, width, a);
        if (j > 0) {
            const double* before = alpha_.data() + place(j - 1);
            for (size_t l = 0; l < width; ++l) a[l] *= before[0];
            for (size_t k = 1; k < m; ++k)
                for (size_t l = 0; l < width; ++l) a[l] += before[k] * e[k * width + l];
        }
        for (size_t l = 0; l < width; ++l) a[l] *= u[l];
        scale_[j] = scaling.sum(a, width);
        if (!scaling.reliable()) return false;
        for (size_t l = 0; l < width; ++l) a[l] /= scale_[j];
    }
    const size_t last = width_of(s.n - 1);
    const double *a = alpha_.data() + place(s.n - 1), *e = edge(s.n);
    double sum = 0.0;
    for (size_t k = 0; k < last; ++k) sum += a[k] * e[k];
    scaling.scale(sum);
    if (!scaling.reliable()) return false;
    log_z += scaling.log_product();
    if (marginals == nullptr) return true;

    beta_.resize(total);
    for (size_t k = 0; k < last; ++k) beta_[place(s.n - 1) + k] = e[k] / sum;
    for (size_t j = s.n - 1; j > 0; --j) {
        const size_t m = width_of(j - 1), width = width_of(j);
        double *b = node_.data() + place(j), *before = beta_.data() + place(j - 1);
        for (size_t l = 0; l < width; ++l) b[l] *= beta_[place(j) + l] / scale_[j];
        for (size_t k = 0; k < m; ++k) {
            const double* row = edge(j) + k * width;
            double own = 0.0;
            for (size_t l = 0; l < width; ++l) own += row[l] * b[l];
            before[k] = own;
        }
    }
    for (size_t i = 0; i < total; ++i) marginals[i] = static_cast<float>(alpha_[i] * beta_[i]);
    for (size_t j = 1; pairs != nullptr && j < s.n; ++j)
        for (size_t k = 0; k < width_of(j - 1); ++k)
            for (size_t l = 0; l < width_of(j); ++l)
                *pairs++ = static_cast<float>(alpha_[place(j - 1) + k] * edge(j)[k * width_of(j) + l] * node_[place(j) + l]);
    return true;
}

// Computes edges block by block without storing them: there may be many labels and long sentences.
double ForwardBackward::run_in_logs(const SentenceLattice& s, const Edges& edges, float* marginals, float* pairs) {
    const int64_t base = s.offsets[0];
    const size_t total = static_cast<size_t>(s.offsets[s.n] - base);
    const double nothing = 0.0;  // alpha before the first position
    alpha_.resize(total);
    const auto start_of = [&](size_t j) { return static_cast<size_t>(s.offsets[j] - base); };
    const auto width_of = [&](size_t j) { return static_cast<size_t>(s.offsets[j + 1] - s.offsets[j]); };
    const auto nodes = [&](size_t j) { return s.scores + s.offsets[j]; };
    const auto alpha = [&](size_t j) { return alpha_.data() + start_of(j); };
    const auto beta = [&](size_t j) { return beta_.data() + start_of(j); };

    for (size_t j = 0; j < s.n; ++j) {
        s.edge_block(j, edges, block_);
        log_forward(j == 0 ? &nothing : alpha(j - 1), j == 0 ? 1 : width_of(j - 1), block_.data(), nodes(j), width_of(j),
                    alpha(j), terms_);
    }
    const size_t m = width_of(s.n - 1);
    s.edge_block(s.n, edges, block_);
    terms_.resize(m);
    for (size_t k = 0; k < m; ++k) terms_[k] = alpha(s.n - 1)[k] + block_[k];
    const double log_z = log_sum(terms_.data(), m);
    if (marginals == nullptr) return log_z;

    beta_.resize(total);
    for (size_t k = 0; k < m; ++k) beta(s.n - 1)[k] = block_[k];
    for (size_t j = s.n - 1; j > 0; --j) {
        s.edge_block(j, edges, block_);
        log_backward(block_.data(), nodes(j), beta(j), width_of(j), width_of(j - 1), beta(j - 1), terms_,
                     [](size_t, const double*) {});
    }
    for (size_t i = 0; i < total; ++i) marginals[i] = static_cast<float>(fast_exp(alpha_[i] + beta_[i] - log_z));
    for (size_t j = 1; pairs != nullptr && j < s.n; ++j) {
        s.edge_block(j, edges, block_);
        for (size_t k = 0; k < width_of(j - 1); ++k)
            for (size_t l = 0; l < width_of(j); ++l)
                *pairs++ = static_cast<float>(
                    fast_exp(alpha(j - 1)[k] + block_[k * width_of(j) + l] + nodes(j)[l] + beta(j)[l] - log_z));
    }
    return log_z;
}

double ForwardBackward::run_second(const SentenceLattice& s, const Edges& edges, float* marginals, float* pairs) {
    Chain<double>& c = chain_;
    c.n = s.n;
    c.second = true;
    c.width.resize(s.n);
    for (size_t j = 0; j < s.n; ++j) c.width[j] = s.around(j, 0, edges).second;
    c.lay_out();
    std::copy(s.scores + s.offsets[0], s.scores + s.offsets[s.n], c.node.begin());
    for (size_t j = 0; j <= s.n; ++j) {
        s.triple_block(j, edges, c.triples(j));
        s.edge_block(j, edges, block_);
        std::copy(block_.begin(), block_.end(), c.edges(j));
    }
    const double log_z = expectations(c);
    if (marginals == nullptr) return log_z;
    std::transform(c.node.begin(), c.node.end(), marginals, [](double p) { return static_cast<float>(p); });
    for (size_t j = 1; pairs != nullptr && j < s.n; ++j)
        for (size_t i = 0; i < c.rows(j) * c.width[j]; ++i) *pairs++ = static_cast<float>(c.edges(j)[i]);
    return log_z;
}
