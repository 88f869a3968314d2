// One sentence as a chain of candidate labels, and the losses of the training methods.
//
//     score(y) = start(y_1) + sum_j node_j(y_j) + sum_i edge_i(y_i, y_i+1) + end(y_n)
//
// A second-order chain also has a score for each label triple, including triples that contain a boundary.
//
// A loss replaces the scores of nodes and edges, in place, by residuals: the expected count of each label (and each
// pair) minus its observed count. This is the gradient with respect to the scores, whatever model produced them.
//
//     likelihood   log Z(x) - score(gold), with expectations by forward-backward; unknown labels (gold -1) are summed out
//     piecewise    sum over edges of log Z of the edge with the node that it leads to - its score (Sutton and McCallum 2005)
//     memm         sum over positions of log Z_j(y_j-1) - its score: P(y_j | y_j-1, x), a maximum entropy Markov model
//     perceptron   score(best) - score(gold), the loss of the structured perceptron
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

enum class Loss { likelihood, piecewise, memm, perceptron };

template <typename Real>
struct Chain {
    size_t n = 0;
    std::vector<size_t> width;      // n + 1: number of candidates of each position, and 1 for the end
    std::vector<size_t> node_at;    // n + 1: where the scores of each position start in `node`
    std::vector<size_t> block_at;   // n + 2: edges to position j (n: to the end), (width of j - 1) x (width of j)
    std::vector<size_t> triple_at;  // n + 2, second order only: (width of j - 2) x (width of j - 1) x (width of j)
    std::vector<Real> node, block, triple;
    std::vector<int32_t> gold;  // index of the gold label among the candidates, -1 if unknown
    bool narrow = false;        // each block has a single row, for the gold label before it: `memm` needs no other
    bool second = false;        // second order

    size_t rows(size_t j) const { return j == 0 || narrow ? 1 : width[j - 1]; }
    Real* nodes(size_t j) { return node.data() + node_at[j]; }
    Real* edges(size_t j) { return block.data() + block_at[j]; }
    Real* triples(size_t j) { return triple.data() + triple_at[j]; }
    // Numbers of labels at the positions around j. Before the start and after the end there is one label, the boundary.
    size_t two_back(size_t j) const { return j < 2 ? 1 : width[j - 2]; }
    size_t columns(size_t j) const { return width[j]; }

    // Allocates n positions, whose widths are set.
    void lay_out() {
        width.resize(n + 1);
        width[n] = 1;
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
    std::vector<std::pair<size_t, int32_t>> triple_slots;  // indices in `triple` that have a weight, and its slot
    std::vector<int32_t> back, best;
};

// NaN in float32 if the range of the scores exceeds it; the caller then uses float64, in log space.
template <typename Real>
double likelihood(Chain<Real>& chain);
template <typename Real>
double piecewise(Chain<Real>& chain);
template <typename Real>
double memm(Chain<Real>& chain);
template <typename Real>
double perceptron(Chain<Real>& chain);

template <typename Real>
double residuals(Loss loss, Chain<Real>& chain) {
    switch (loss) {
        case Loss::likelihood: return likelihood(chain);
        case Loss::piecewise: return piecewise(chain);
        case Loss::memm: return memm(chain);
        default: return perceptron(chain);
    }
}
