// See pruned.h.
#include "chain/shapes/pruned.h"

#include <cmath>
#include <limits>

#include "chain/shapes/log_space.h"
#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

// The arrays of a chain, by position and state. In second-order chains, the end is a position of its own.
template <typename Real>
struct States {
    size_t n;
    const size_t *width, *node_at, *edge_at;
    Real *node, *edge, *end;  // end: scores of the edges to the end, in first-order chains
    Real *alpha, *beta, *scale;
};

template <typename Real>
States<Real> states_of(Chain<Real>& c) {
    if (c.second)
        return {c.n + 1,         c.width.data(), c.block_at.data(), c.triple_at.data(), c.block.data(),
                c.triple.data(), nullptr,        c.alpha.data(),    c.beta.data(),      c.scale.data()};
    return {c.n,          c.width.data(), c.node_at.data(), c.block_at.data(), c.node.data(), c.block.data(),
            c.edges(c.n), c.alpha.data(), c.beta.data(),    c.scale.data()};
}

template <bool Second, typename Real>
CORATE_INLINE double scaled(const States<Real> c) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    double log_z = 0.0;
    for (size_t j = 0; j < c.n; ++j) {
        const size_t m = c.width[j], groups = Second && j > 0 ? c.width[j - 1] : 1, here = groups * m;
        Real* a = c.alpha + c.node_at[j];
        const Real* row = c.edge + c.edge_at[j];
        if (j == 0) {
            for (size_t l = 0; l < m; ++l) a[l] = row[l];
        } else {
            const Real* before = c.alpha + c.node_at[j - 1];
            const size_t states = c.node_at[j] - c.node_at[j - 1];
            for (size_t g = 0; g < groups; ++g, row += m)
                for (size_t l = 0; l < m; ++l) a[g * m + l] = before[g] * row[l];
            for (size_t i = groups, g = 0; i < states; ++i, row += m, g = !Second || g + 1 == groups ? 0 : g + 1) {
                const Real x = before[i];
                Real* to = a + g * m;
                for (size_t l = 0; l < m; ++l) to[l] += x * row[l];
            }
        }
        const Real* node = c.node + c.node_at[j];
        Real sum = 0;
        for (size_t l = 0; l < here; ++l) {
            a[l] *= node[l];
            sum += a[l];
        }
        if (!(sum > kSmallestSum<Real>)) return kNan;
        c.scale[j] = Real(1) / sum;
        for (size_t l = 0; l < here; ++l) a[l] *= c.scale[j];
        log_z += portable_log(static_cast<double>(sum));
    }
    const size_t ends = c.node_at[c.n] - c.node_at[c.n - 1];
    Real* beta = c.beta;
    if (Second) {
        for (size_t k = 0; k < ends; ++k) beta[k] = Real(1);
    } else {
        const Real* last = c.alpha + c.node_at[c.n - 1];
        Real sum = 0;
        for (size_t k = 0; k < ends; ++k) sum += last[k] * c.end[k];
        if (!(sum > kSmallestSum<Real>)) return kNan;
        log_z += portable_log(static_cast<double>(sum));
        for (size_t k = 0; k < ends; ++k) {
            beta[k] = c.end[k] / sum;
            c.end[k] = last[k] * beta[k];
        }
    }
    for (size_t j = c.n; j-- > 0;) {
        const size_t m = c.width[j], groups = Second && j > 0 ? c.width[j - 1] : 1, here = groups * m;
        Real* p = c.node + c.node_at[j];
        const Real* a = c.alpha + c.node_at[j];
        // A label whose alpha was rounded to zero may have such a large beta, so the result is not reliable.
        Real largest = 0;
        for (size_t l = 0; l < here; ++l) {
            largest = beta[l] > largest ? beta[l] : largest;
            const Real b = p[l] * beta[l] * c.scale[j];
            p[l] = a[l] * beta[l];
            beta[l] = b;
        }
        if (!(largest < kLargestBeta<Real>)) return kNan;
        Real* row = c.edge + c.edge_at[j];
        if (j == 0) {
            for (size_t l = 0; l < m; ++l) row[l] *= beta[l];
            break;
        }
        const Real* before = c.alpha + c.node_at[j - 1];
        const size_t states = c.node_at[j] - c.node_at[j - 1];
        Real* next = beta + here;
        for (size_t i = 0, g = 0; i < states; ++i, row += m, g = !Second || g + 1 == groups ? 0 : g + 1) {
            const Real x = before[i];
            const Real* b = beta + g * m;
            Real total = 0;
            for (size_t l = 0; l < m; ++l) {
                const Real t = row[l] * b[l];
                total += t;
                row[l] = x * t;
            }
            next[i] = total;
        }
        beta = next;
    }
    return log_z;
}

template <typename Real>
CORATE_INLINE double scaled_of(Chain<Real>& c, double* shift) {
    const States<Real> s = states_of(c);
    *shift = exponentiate(s.node, s.node_at, s.n) + exponentiate(s.edge, s.edge_at, c.n + 1);
    return c.second ? scaled<true>(s) : scaled<false>(s);
}

CORATE_FOR_EACH_PROCESSOR
double scaled_expectations_in(Chain<float>& c, double* shift) { return scaled_of(c, shift); }
CORATE_FOR_EACH_PROCESSOR
double scaled_expectations_in(Chain<double>& c, double* shift) { return scaled_of(c, shift); }

// In second-order chains, a state is a pair of labels: its node score is that of its last label and of the edge between them.
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

// A chain for log_expectations(). Scores turn into expectations in place.
struct LogPositions {
    Chain<double>& c;

    size_t size() const { return c.n + 1; }
    size_t groups(size_t j) const { return c.second ? c.rows(j) : 1; }
    size_t width(size_t j) const { return c.columns(j); }
    double* nodes(size_t j) const { return c.second ? c.edges(j) : j == c.n ? nullptr : c.nodes(j); }
    double* edges(size_t j) const { return c.second ? c.triples(j) : c.edges(j); }
    void use_edges(size_t j, size_t i, const double* p) const { std::copy_n(p, width(j), edges(j) + i * width(j)); }
    void use_nodes(size_t j, const double* p) const {
        if (nodes(j) != nullptr) std::copy_n(p, groups(j) * width(j), nodes(j));
    }
};

}  // namespace

template <typename Real>
double scaled_expectations(Chain<Real>& c) {
    const size_t states = c.second ? c.block.size() : c.node.size();
    c.alpha.resize(states);
    c.beta.resize(states);
    c.scale.resize(c.n + 1);
    if (c.second) add_nodes_to_edges(c);
    double shift;
    const double log_z = scaled_expectations_in(c, &shift);
    if (c.second) sum_pairs_to_nodes(c);
    return shift + log_z;
}
template double scaled_expectations(Chain<float>&);
template double scaled_expectations(Chain<double>&);

double log_expectations(Chain<double>& c) {
    LogSums work;
    if (c.second) add_nodes_to_edges(c);
    const double log_z = log_expectations(LogPositions{c}, work);
    if (c.second) sum_pairs_to_nodes(c);
    return log_z;
}
