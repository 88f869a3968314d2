// Losses of one chain, such as the negative log likelihood, and their gradients by the scores of labels and of label pairs.
// training/losses/chains.cpp turns these into gradients by weights. See chain.h.
#include "chain/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "chain/shapes/best.h"
#include "chain/shapes/pruned.h"
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

// Adds to the labels and pairs of a labelling.
template <typename Real>
void add_labelling(Chain<Real>& c, const std::vector<int32_t>& labels, Real count) {
    size_t before = 0;
    for (size_t j = 0; j < c.n; ++j) {
        const auto y = static_cast<size_t>(labels[j]);
        c.nodes(j)[y] += count;
        c.edges(j)[before * c.width[j] + y] += count;
        before = y;
    }
    c.edges(c.n)[before] += count;
}

// Turns expectations into residuals: subtracts 1 at the gold labels, pairs and triples.
template <typename Real>
void subtract_gold(Chain<Real>& c) {
    add_labelling(c, c.gold, Real(-1));
    for (size_t j = 0; c.second && j <= c.n; ++j) gold_triple(c, j) -= Real(1);
}

template <typename Real>
bool all_known(const Chain<Real>& c) {
    return std::all_of(c.gold.begin(), c.gold.begin() + static_cast<std::ptrdiff_t>(c.n), [](int32_t y) { return y >= 0; });
}

double expectations(Chain<float>& c) { return scaled_expectations(c); }
double expectations(Chain<double>& c) { return log_expectations(c); }

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

template <typename Real>
double likelihood(Chain<Real>& c) {
    if (!all_known(c)) return partial_likelihood(c, std::is_same_v<Real, float> ? Real(-1e30f) : Real(-INFINITY));
    const double gold = gold_score(c);
    const double log_z = expectations(c);
    if (std::isfinite(log_z)) subtract_gold(c);
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
    const Real nothing = 0;
    c.alpha.resize(c.node.size() + 1);  // of all positions and of the end
    c.back.resize(c.node.size() + 1);
    c.best.resize(c.n);
    for (size_t j = 0; j <= c.n; ++j)
        best_step(j == 0 ? &nothing : c.alpha.data() + c.node_at[j - 1], c.rows(j), c.edges(j), c.width[j], 1,
                  j == c.n ? &nothing : c.nodes(j), c.width[j], c.alpha.data() + c.node_at[j], c.back.data() + c.node_at[j]);
    bool correct = true;
    size_t arg = 0;
    for (size_t j = c.n; j-- > 0;) {
        arg = static_cast<size_t>(c.best[j] = c.back[c.node_at[j + 1] + arg]);
        correct = correct && c.best[j] == c.gold[j];
    }
    std::fill(c.node.begin(), c.node.end(), Real(0));
    std::fill(c.block.begin(), c.block.end(), Real(0));
    if (correct) return 0.0;
    add_labelling(c, c.best, Real(1));
    subtract_gold(c);
    return std::max(0.0, static_cast<double>(c.alpha.back()) - gold);
}

template double likelihood(Chain<float>&);
template double likelihood(Chain<double>&);
template double piecewise(Chain<float>&);
template double piecewise(Chain<double>&);
template double memm(Chain<float>&);
template double memm(Chain<double>&);
template double perceptron(Chain<float>&);
template double perceptron(Chain<double>&);
