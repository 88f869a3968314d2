// Losses of one chain. See chain.h.
#include "chain/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chain/log_steps.h"
#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

// The score of the gold label triple that ends at position j.
template <typename Real>
Real& gold_triple(Chain<Real>& c, size_t j) {
    const auto at = [&](size_t i) { return static_cast<size_t>(c.gold[i]); };
    const size_t y = j < 2 ? 0 : at(j - 2), z = j < 1 ? 0 : at(j - 1), w = j == c.n ? 0 : at(j);
    return c.triples(j)[(y * c.rows(j) + z) * c.columns(j) + w];
}

template <typename Real>
double gold_score(Chain<Real>& c) {
    double score = 0.0;
    size_t before = 0;
    for (size_t j = 0; j < c.n; ++j) {
        const auto y = static_cast<size_t>(c.gold[j]);
        score += static_cast<double>(c.nodes(j)[y]) + static_cast<double>(c.edges(j)[before * c.width[j] + y]);
        before = y;
    }
    for (size_t j = 0; c.second && j <= c.n; ++j) score += static_cast<double>(gold_triple(c, j));
    return score + static_cast<double>(c.edges(c.n)[before]);
}

// Turns expectations into residuals: subtracts 1 at the gold labels, pairs and triples.
template <typename Real>
void subtract_gold(Chain<Real>& c) {
    size_t before = 0;
    for (size_t j = 0; j < c.n; ++j) {
        const auto y = static_cast<size_t>(c.gold[j]);
        c.nodes(j)[y] -= Real(1);
        c.edges(j)[before * c.width[j] + y] -= Real(1);
        before = y;
    }
    c.edges(c.n)[before] -= Real(1);
    for (size_t j = 0; c.second && j <= c.n; ++j) gold_triple(c, j) -= Real(1);
}

template <typename Real>
bool all_known(const Chain<Real>& c) {
    return std::all_of(c.gold.begin(), c.gold.begin() + static_cast<std::ptrdiff_t>(c.n), [](int32_t y) { return y >= 0; });
}

// Turns potentials into expectations. Returns log Z of the potentials, or NaN if their range exceeds float32.
//
//     alpha_j(l) = node_j(l) sum_k alpha_j-1(k) edge_j(k, l) / scale_j,  scale_j such that alpha_j sums to 1
//     beta_j-1(k) = sum_l edge_j(k, l) b_j(l),  b_j(l) = node_j(l) beta_j(l) / scale_j
//     P(y_j-1 = k, y_j = l) = alpha_j-1(k) edge_j(k, l) b_j(l)
CORATE_INLINE double scaled_expectations(size_t n, const size_t* width, const size_t* node_at, const size_t* block_at,
                                         float* node, float* block, float* alpha, float* beta, float* scale) {
    double log_z = 0.0;
    for (size_t j = 0; j < n; ++j) {
        const size_t m = width[j];
        float* a = alpha + node_at[j];
        const float* e = block + block_at[j];
        if (j == 0) {
            for (size_t l = 0; l < m; ++l) a[l] = e[l];
        } else {
            const float* before = alpha + node_at[j - 1];
            for (size_t l = 0; l < m; ++l) a[l] = before[0] * e[l];
            for (size_t k = 1; k < width[j - 1]; ++k) {
                const float x = before[k];
                const float* row = e + k * m;
                for (size_t l = 0; l < m; ++l) a[l] += x * row[l];
            }
        }
        float sum = 0.0f;
        for (size_t l = 0; l < m; ++l) {
            a[l] *= node[node_at[j] + l];
            sum += a[l];
        }
        if (!(sum > kSmallestSum)) return std::numeric_limits<double>::quiet_NaN();
        scale[j] = 1.0f / sum;
        for (size_t l = 0; l < m; ++l) a[l] *= scale[j];
        log_z += portable_log(static_cast<double>(sum));
    }
    float* end = block + block_at[n];
    float* last = alpha + node_at[n - 1];
    float sum = 0.0f;
    for (size_t k = 0; k < width[n - 1]; ++k) sum += last[k] * end[k];
    if (!(sum > kSmallestSum)) return std::numeric_limits<double>::quiet_NaN();
    log_z += portable_log(static_cast<double>(sum));
    for (size_t k = 0; k < width[n - 1]; ++k) {
        beta[k] = end[k] / sum;
        end[k] = last[k] * beta[k];
    }
    for (size_t j = n; j-- > 0;) {
        const size_t m = width[j];
        float* p = node + node_at[j];
        const float* a = alpha + node_at[j];
        // A label whose alpha was rounded to zero may have such a large beta, so the result is not reliable.
        float largest = 0.0f;
        for (size_t l = 0; l < m; ++l) {
            largest = beta[l] > largest ? beta[l] : largest;
            const float b = p[l] * beta[l] * scale[j];
            p[l] = a[l] * beta[l];
            beta[l] = b;
        }
        if (!(largest < kLargestBeta)) return std::numeric_limits<double>::quiet_NaN();
        float* e = block + block_at[j];
        if (j == 0) {
            for (size_t l = 0; l < m; ++l) e[l] *= beta[l];
            break;
        }
        const float* before = alpha + node_at[j - 1];
        float* next = beta + m;
        for (size_t k = 0; k < width[j - 1]; ++k) {
            float* row = e + k * m;
            const float x = before[k];
            float total = 0.0f;
            for (size_t l = 0; l < m; ++l) {
                const float t = row[l] * beta[l];
                total += t;
                row[l] = x * t;
            }
            next[k] = total;
        }
        beta = next;
    }
    return log_z;
}

CORATE_FOR_EACH_PROCESSOR
double float_expectations(Chain<float>& c, double* shift) {
    *shift = exponentiate(c.node.data(), c.node_at.data(), c.n) + exponentiate(c.block.data(), c.block_at.data(), c.n + 1);
    return scaled_expectations(c.n, c.width.data(), c.node_at.data(), c.block_at.data(), c.node.data(), c.block.data(),
                               c.alpha.data(), c.beta.data(), c.scale.data());
}

template <typename Real>
void make_room(Chain<Real>& c) {
    c.alpha.resize(c.node.size());
    c.beta.resize(c.node.size());
    c.scale.resize(c.n + 1);
}

// Turns scores into expectations, in log space. Returns log Z.
double log_expectations(Chain<double>& c) {
    make_room(c);
    const double nothing = 0.0;  // alpha before the first position
    const auto alpha = [&](size_t j) { return c.alpha.data() + c.node_at[j]; };
    const auto beta = [&](size_t j) { return c.beta.data() + c.node_at[j]; };
    std::vector<double> terms;
    for (size_t j = 0; j < c.n; ++j)
        log_forward(j == 0 ? &nothing : alpha(j - 1), c.rows(j), c.edges(j), c.nodes(j), c.width[j], alpha(j), terms);
    const size_t m = c.width[c.n - 1];
    terms.resize(m);
    for (size_t k = 0; k < m; ++k) terms[k] = alpha(c.n - 1)[k] + c.edges(c.n)[k];
    const double log_z = log_sum(terms.data(), m);
    for (size_t k = 0; k < m; ++k) {
        beta(c.n - 1)[k] = c.edges(c.n)[k];
        c.edges(c.n)[k] = fast_exp(terms[k] - log_z);
    }
    for (size_t j = c.n; j-- > 0;) {
        const size_t wide = c.width[j];
        const double* before = j == 0 ? &nothing : alpha(j - 1);
        log_backward(c.edges(j), c.nodes(j), beta(j), wide, c.rows(j), j == 0 ? nullptr : beta(j - 1), terms,
                     [&](size_t k, const double* term) {
                         double* row = c.edges(j) + k * wide;
                         for (size_t l = 0; l < wide; ++l) row[l] = before[k] + term[l] - log_z;
                         exponentiate(row, wide);
                     });
        for (size_t l = 0; l < wide; ++l) c.nodes(j)[l] = alpha(j)[l] + beta(j)[l] - log_z;
        exponentiate(c.nodes(j), wide);
    }
    return log_z;
}

// Gives an impossible score to each label that contradicts a known label.
template <typename Real>
void clamp(Chain<Real>& c, Real impossible) {
    for (size_t j = 0; j < c.n; ++j)
        for (size_t l = 0; c.gold[j] >= 0 && l < c.width[j]; ++l)
            if (l != static_cast<size_t>(c.gold[j])) c.nodes(j)[l] = impossible;
}

// Residuals: expectations over all labellings minus expectations over those that agree with the known labels.
template <typename Real>
double partial_likelihood(Chain<Real>& c, Real impossible) {
    c.kept_node = c.node;
    c.kept_block = c.block;
    c.kept_triple = c.triple;
    clamp(c, impossible);
    const double agreed = expectations(c);
    c.kept_node.swap(c.node);
    c.kept_block.swap(c.block);
    c.kept_triple.swap(c.triple);
    const double everything = expectations(c);
    for (size_t i = 0; i < c.node.size(); ++i) c.node[i] -= c.kept_node[i];
    for (size_t i = 0; i < c.block.size(); ++i) c.block[i] -= c.kept_block[i];
    for (size_t i = 0; c.second && i < c.triple.size(); ++i) c.triple[i] -= c.kept_triple[i];
    return everything - agreed;
}

}  // namespace

double expectations(Chain<float>& c) {
    if (c.second) return second_expectations(c);
    make_room(c);
    double shift;
    const double log_z = float_expectations(c, &shift);
    return shift + log_z;
}

double expectations(Chain<double>& c) { return c.second ? second_expectations(c) : log_expectations(c); }

double likelihood(Chain<float>& c) {
    if (!all_known(c)) return partial_likelihood(c, -1e30f);
    const double gold = gold_score(c);
    const double log_z = expectations(c);
    if (!std::isfinite(log_z)) return std::numeric_limits<double>::quiet_NaN();
    subtract_gold(c);
    return log_z - gold;
}

double likelihood(Chain<double>& c) {
    if (!all_known(c)) return partial_likelihood(c, -static_cast<double>(INFINITY));
    const double gold = gold_score(c);
    const double log_z = expectations(c);
    subtract_gold(c);
    return log_z - gold;
}

// P(y, y' | x) of each edge separately, from the scores of the edge and of the node that it leads to.
template <typename Real>
double piecewise(Chain<Real>& c) {
    double loss = 0.0;
    size_t from = 0;
    for (size_t j = 0; j <= c.n; ++j) {
        const size_t m = c.rows(j), wide = c.columns(j), to = j == c.n ? 0 : static_cast<size_t>(c.gold[j]);
        Real* e = c.edges(j);
        Real top = -std::numeric_limits<Real>::infinity();
        for (size_t k = 0; k < m; ++k)
            for (size_t l = 0; l < wide; ++l) {
                if (j < c.n) e[k * wide + l] += c.nodes(j)[l];
                top = std::max(top, e[k * wide + l]);
            }
        const double gold = static_cast<double>(e[from * wide + to]);
        double z = 0.0;
        for (size_t i = 0; i < m * wide; ++i) e[i] -= top;
        exponentiate(e, m * wide);
        for (size_t i = 0; i < m * wide; ++i) z += static_cast<double>(e[i]);
        for (size_t i = 0; i < m * wide; ++i) e[i] /= static_cast<Real>(z);
        e[from * wide + to] -= Real(1);
        loss += static_cast<double>(top) + portable_log(z) - gold;
        if (j < c.n) std::fill(c.nodes(j), c.nodes(j) + wide, Real(0));
        for (size_t k = 0; j < c.n && k < m; ++k)
            for (size_t l = 0; l < wide; ++l) c.nodes(j)[l] += e[k * wide + l];
        from = to;
    }
    return loss;
}

// P(y_j | y_j-1, x), where y_j-1 is the gold label: the chain is narrow. The edge to the end symbol is not used.
template <typename Real>
double memm(Chain<Real>& c) {
    double loss = 0.0;
    for (size_t j = 0; j < c.n; ++j) {
        const size_t wide = c.width[j];
        Real* p = c.nodes(j);
        Real* row = c.edges(j);
        Real top = -std::numeric_limits<Real>::infinity();
        for (size_t l = 0; l < wide; ++l) top = std::max(top, p[l] += row[l]);
        const double gold = static_cast<double>(p[c.gold[j]]);
        double z = 0.0;
        for (size_t l = 0; l < wide; ++l) p[l] -= top;
        exponentiate(p, wide);
        for (size_t l = 0; l < wide; ++l) z += static_cast<double>(p[l]);
        for (size_t l = 0; l < wide; ++l) p[l] /= static_cast<Real>(z);
        p[c.gold[j]] -= Real(1);
        loss += static_cast<double>(top) + portable_log(z) - gold;
        std::copy(p, p + wide, row);
    }
    c.edges(c.n)[0] = Real(0);
    return loss;
}

// Labels and pairs of the best labelling minus the gold ones. Ties go to the first candidate.
template <typename Real>
double perceptron(Chain<Real>& c) {
    const double gold = gold_score(c);
    make_room(c);
    c.back.resize(c.node.size());
    c.best.resize(c.n);
    for (size_t j = 0; j < c.n; ++j) {
        const size_t m = c.width[j], before = j == 0 ? 1 : c.width[j - 1];
        Real* a = c.alpha.data() + c.node_at[j];
        int32_t* back = c.back.data() + c.node_at[j];
        for (size_t k = 0; k < before; ++k) {
            const Real x = j == 0 ? Real(0) : c.alpha[c.node_at[j - 1] + k];
            const Real* row = c.edges(j) + k * m;
            for (size_t l = 0; l < m; ++l)
                if (k == 0 || x + row[l] > a[l]) {
                    a[l] = x + row[l];
                    back[l] = static_cast<int32_t>(k);
                }
        }
        for (size_t l = 0; l < m; ++l) a[l] += c.nodes(j)[l];
    }
    const Real* last = c.alpha.data() + c.node_at[c.n - 1];
    size_t arg = 0;
    for (size_t k = 1; k < c.width[c.n - 1]; ++k)
        if (last[k] + c.edges(c.n)[k] > last[arg] + c.edges(c.n)[arg]) arg = k;
    const double top = static_cast<double>(last[arg] + c.edges(c.n)[arg]);
    bool correct = true;
    for (size_t j = c.n; j-- > 0;) {
        c.best[j] = static_cast<int32_t>(arg);
        correct = correct && c.best[j] == c.gold[j];
        arg = static_cast<size_t>(c.back[c.node_at[j] + arg]);
    }
    std::fill(c.node.begin(), c.node.end(), Real(0));
    std::fill(c.block.begin(), c.block.end(), Real(0));
    if (correct) return 0.0;
    size_t before = 0;
    for (size_t j = 0; j < c.n; ++j) {
        const auto y = static_cast<size_t>(c.best[j]);
        c.nodes(j)[y] += Real(1);
        c.edges(j)[before * c.width[j] + y] += Real(1);
        before = y;
    }
    c.edges(c.n)[before] += Real(1);
    subtract_gold(c);
    return std::max(0.0, top - gold);
}

template double piecewise(Chain<float>&);
template double piecewise(Chain<double>&);
template double memm(Chain<float>&);
template double memm(Chain<double>&);
template double perceptron(Chain<float>&);
template double perceptron(Chain<double>&);
