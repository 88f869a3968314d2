// One sentence as a chain of candidate labels, and the losses that the methods train it by.
//
//     score(y) = start(y_1) + sum_j node_j(y_j) + sum_i edge_i(y_i, y_i+1) + end(y_n)
//
// and in a chain of the second order also a score of each three labels in a row, boundaries among them.
//
// A loss turns the scores of nodes and edges, in place, into residuals: how often the model expects each label (and each
// pair) minus how often it was observed. That is the gradient by the scores, whatever the scores are made of.
//
//     likelihood   log Z(x) - score(gold), expectations by forward-backward; labels unknown (gold -1) are summed over
//     pieces       sum over edges of log Z of the edge with the nodes at its ends - its score (Sutton and McCallum 2005)
//     local        sum over positions of log Z_j(y_j-1) - its score: P(y_j | y_j-1, x) of a maximum entropy Markov model
//     path         score(best) - score(gold), the structured perceptron's
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

enum class Loss { likelihood, pieces, local, path };

template <typename Real>
struct Chain {
    size_t n = 0;
    std::vector<size_t> width;      // candidates of each position
    std::vector<size_t> node_at;    // n + 1: where each position's scores stand in `node`
    std::vector<size_t> block_at;   // n + 2: block j leads to position j, (width of j - 1) x (width of j); j = n to the end
    std::vector<size_t> triple_at;  // n + 2: (width of j - 2) x (width of j - 1) x (width of j), where the order is the second
    std::vector<Real> node, block, triple;
    std::vector<int32_t> gold;  // position of the label among the candidates, -1 where it is not known
    bool narrow = false;        // blocks have one row only, of the gold label before: all that `local` asks for
    bool second = false;        // of the second order

    size_t rows(size_t j) const { return j == 0 || narrow ? 1 : width[j - 1]; }
    Real* nodes(size_t j) { return node.data() + node_at[j]; }
    Real* edges(size_t j) { return block.data() + block_at[j]; }
    Real* triples(size_t j) { return triple.data() + triple_at[j]; }
    // Widths around position j: of the one before the last, the last, and itself; beyond the ends there is one symbol.
    size_t two_back(size_t j) const { return j < 2 ? 1 : width[j - 2]; }
    size_t columns(size_t j) const { return j == n ? 1 : width[j]; }

    // Makes room for n positions whose widths are set.
    void lay_out() {
        node_at.resize(n + 1);
        block_at.resize(n + 2);
        size_t nodes = 0, pairs = 0;
        for (size_t j = 0; j < n; ++j) {
            node_at[j] = nodes;
            block_at[j] = pairs;
            nodes += width[j];
            pairs += rows(j) * width[j];
        }
        node_at[n] = nodes;
        block_at[n] = pairs;
        block_at[n + 1] = pairs + (n == 0 ? 0 : rows(n));
        node.resize(nodes);
        block.resize(block_at[n + 1]);
        if (!second) return;
        triple_at.assign(n + 2, 0);
        for (size_t j = 0; j <= n && n > 0; ++j) triple_at[j + 1] = triple_at[j] + two_back(j) * rows(j) * columns(j);
        triple.resize(triple_at[n + 1]);
    }

    std::vector<Real> alpha, beta, scale, kept_node, kept_block, kept_triple;  // work memory
    std::vector<std::pair<size_t, int32_t>> triple_slots;                      // places in `triple` that have a weight, and which
    std::vector<int32_t> back, best;
};

// Scaled forward-backward in float32. Returns the loss, or NaN where scores differ too much for float32: the caller then takes
// the exact one.
double likelihood(Chain<float>& chain);
// In log space with float64: exact, and slower.
double likelihood(Chain<double>& chain);

// Scores become expectations, those of second-order chains too; returns log Z. In float32 it is NaN, as above.
double expectations(Chain<float>& chain);
double expectations(Chain<double>& chain);
// Those of chains of the second order (second_order.cpp).
double second_expectations(Chain<float>& chain);
double second_expectations(Chain<double>& chain);

template <typename Real>
double pieces(Chain<Real>& chain);
template <typename Real>
double local(Chain<Real>& chain);
template <typename Real>
double path(Chain<Real>& chain);

template <typename Real>
double residuals(Loss loss, Chain<Real>& chain) {
    switch (loss) {
        case Loss::likelihood: return likelihood(chain);
        case Loss::pieces: return pieces(chain);
        case Loss::local: return local(chain);
        default: return path(chain);
    }
}
