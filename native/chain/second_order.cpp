// Forward-backward for second-order chains. See chain.h.
//
// States are pairs of neighbouring labels. As potentials, with pair_j(k, l) = node_j(l) edge_j(k, l):
//
//     alpha_j(k, l) = pair_j(k, l) sum_h alpha_j-1(h, k) triple_j(h, k, l)
//     beta_j-1(h, k) = sum_l triple_j(h, k, l) pair_j(k, l) beta_j(k, l)
//     P(h, k, l) = alpha_j-1(h, k) triple_j(h, k, l) pair_j(k, l) beta_j(k, l) / Z
//
// for positions 0 to n, where n is the end. Alphas have the same layout as the blocks of edges.
#include <limits>

#include "chain/chain.h"
#include "core/log_sum.h"
#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

template <typename Real>
void make_room(Chain<Real>& c) {
    c.alpha.resize(c.block.size());
    c.beta.resize(c.block.size());
    c.scale.resize(c.n + 1);
}

// Adds each node score to the edges that lead to the node.
template <typename Real>
void add_nodes_to_edges(Chain<Real>& c) {
    for (size_t j = 0; j < c.n; ++j)
        for (size_t k = 0; k < c.rows(j); ++k)
            for (size_t l = 0; l < c.width[j]; ++l) c.edges(j)[k * c.width[j] + l] += c.nodes(j)[l];
}

// Sums expectations of pairs to expectations of labels.
template <typename Real>
void sum_pairs_to_nodes(Chain<Real>& c) {
    for (size_t j = 0; j < c.n; ++j) {
        Real* p = c.nodes(j);
        std::fill(p, p + c.width[j], Real(0));
        for (size_t k = 0; k < c.rows(j); ++k)
            for (size_t l = 0; l < c.width[j]; ++l) p[l] += c.edges(j)[k * c.width[j] + l];
    }
}

// As in a first-order chain, alphas are scaled to sum to 1, and NaN means that the range of the scores exceeds float32.
CORATE_INLINE double scaled(Chain<float>& c) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const float one = 1.0f;
    double log_z = 0.0;
    for (size_t j = 0; j <= c.n; ++j) {
        const size_t H = c.two_back(j), K = c.rows(j), L = c.columns(j);
        const float* before = j == 0 ? &one : c.alpha.data() + c.block_at[j - 1];
        const float* x = c.triples(j);
        const float* pair = c.edges(j);
        float* a = c.alpha.data() + c.block_at[j];
        std::fill(a, a + K * L, 0.0f);
        for (size_t h = 0; h < H; ++h)
            for (size_t k = 0; k < K; ++k, x += L)
                for (size_t l = 0; l < L; ++l) a[k * L + l] += before[h * K + k] * x[l];
        float sum = 0.0f;
        for (size_t i = 0; i < K * L; ++i) sum += a[i] *= pair[i];
        if (!(sum > kSmallestSum)) return kNan;
        c.scale[j] = 1.0f / sum;
        for (size_t i = 0; i < K * L; ++i) a[i] *= c.scale[j];
        log_z += portable_log(static_cast<double>(sum));
    }
    float* beta = c.beta.data();
    std::fill(beta, beta + c.rows(c.n), 1.0f);
    for (size_t j = c.n + 1; j-- > 0;) {
        const size_t H = c.two_back(j), K = c.rows(j), L = c.columns(j);
        const float* a = c.alpha.data() + c.block_at[j];
        float* pair = c.edges(j);
        float largest = 0.0f;
        for (size_t i = 0; i < K * L; ++i) {
            largest = beta[i] > largest ? beta[i] : largest;
            const float b = pair[i] * beta[i] * c.scale[j];
            pair[i] = a[i] * beta[i];
            beta[i] = b;
        }
        if (!(largest < kLargestBeta)) return kNan;
        const float* before = j == 0 ? &one : c.alpha.data() + c.block_at[j - 1];
        float* x = c.triples(j);
        float* next = beta + K * L;
        for (size_t i = 0; i < H * K; ++i, x += L) {
            const float* b = beta + i % K * L;
            float total = 0.0f;
            for (size_t l = 0; l < L; ++l) {
                const float t = x[l] * b[l];
                total += t;
                x[l] = before[i] * t;
            }
            if (j > 0) next[i] = total;
        }
        beta = next;
    }
    return log_z;
}

CORATE_FOR_EACH_PROCESSOR
double potentials_and_scaled(Chain<float>& c, double* shift) {
    *shift =
        exponentiate(c.block.data(), c.block_at.data(), c.n + 1) + exponentiate(c.triple.data(), c.triple_at.data(), c.n + 1);
    return scaled(c);
}

}  // namespace

double second_expectations(Chain<float>& c) {
    make_room(c);
    add_nodes_to_edges(c);
    double shift;
    const double log_z = potentials_and_scaled(c, &shift);
    sum_pairs_to_nodes(c);
    return shift + log_z;
}

// In log space.
double second_expectations(Chain<double>& c) {
    make_room(c);
    add_nodes_to_edges(c);
    const double nothing = 0.0;
    std::vector<double> terms;
    for (size_t j = 0; j <= c.n; ++j) {
        const size_t H = c.two_back(j), K = c.rows(j), L = c.columns(j);
        const double* before = j == 0 ? &nothing : c.alpha.data() + c.block_at[j - 1];
        terms.resize(H);
        for (size_t k = 0; k < K; ++k)
            for (size_t l = 0; l < L; ++l) {
                for (size_t h = 0; h < H; ++h) terms[h] = before[h * K + k] + c.triples(j)[(h * K + k) * L + l];
                c.alpha[c.block_at[j] + k * L + l] = c.edges(j)[k * L + l] + log_sum(terms.data(), H);
            }
    }
    const size_t last = c.block_at[c.n];
    const double log_z = log_sum(c.alpha.data() + last, c.rows(c.n));
    std::fill(c.beta.begin() + static_cast<std::ptrdiff_t>(last), c.beta.end(), 0.0);
    for (size_t j = c.n + 1; j-- > 0;) {
        const size_t H = c.two_back(j), K = c.rows(j), L = c.columns(j);
        const double* before = j == 0 ? &nothing : c.alpha.data() + c.block_at[j - 1];
        const double* beta = c.beta.data() + c.block_at[j];
        double* pair = c.edges(j);
        terms.resize(L);
        for (size_t i = 0; i < H * K; ++i) {
            double* x = c.triples(j) + i * L;
            for (size_t l = 0; l < L; ++l) terms[l] = x[l] + pair[i % K * L + l] + beta[i % K * L + l];
            if (j > 0) c.beta[c.block_at[j - 1] + i] = log_sum(terms.data(), L);
            for (size_t l = 0; l < L; ++l) x[l] = before[i] + terms[l] - log_z;
            exponentiate(x, L);
        }
        for (size_t i = 0; i < K * L; ++i) pair[i] = c.alpha[c.block_at[j] + i] + beta[i] - log_z;
        exponentiate(pair, K * L);
    }
    sum_pairs_to_nodes(c);
    return log_z;
}
