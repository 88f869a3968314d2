// Sums over, and the best of, all labellings of sentences whose scores are arrays:
//
//     score(y) = sum_j node_j(y_j) + sum_j>0 edge_j(y_j-1, y_j)
//
// Every position has all labels. Minus infinity forbids a label or a pair. Results do not depend on the number of threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/array.h"

// Whose edges a block of label pairs is: of all sentences, of one sentence each, or of the edge to one position each.
enum class EdgesBy { all, sentence, position };

template <typename Real>
struct ChainScores {
    Matrix<Real> nodes;  // (positions, labels)
    Array<Real> edges;   // (blocks, labels, labels)
    EdgesBy by;
    Array<int64_t> offsets;  // of positions, by sentence

    size_t n_labels() const { return nodes.columns(); }
    size_t n_sentences() const { return offsets.size() - 1; }
    size_t length(size_t s) const { return static_cast<size_t>(offsets[s + 1] - offsets[s]); }
    // The block of the edge to position j of a sentence.
    size_t block(size_t s, size_t j) const {
        return by == EdgesBy::all ? 0 : by == EdgesBy::sentence ? s : static_cast<size_t>(offsets[s]) + j;
    }
    const Real* edges_to(size_t s, size_t j) const { return edges.data() + block(s, j) * n_labels() * n_labels(); }
    // Throws std::invalid_argument if sizes disagree, or if a score is NaN or infinity.
    void check() const;
};

template <typename Real>
struct ChainSums {
    std::vector<double> log_z;  // of each sentence; minus infinity if no labelling is allowed, and then its probabilities are 0
    std::vector<Real> nodes;    // P(y_j): (positions, labels)
    std::vector<Real> edges;    // P(y_j-1, y_j), summed over the edges of each block or by position
};
// With by_position, edges are (positions, labels, labels); they are zero for the first position of a sentence. `weights` multiply
// the probabilities of each sentence.
template <typename Real>
ChainSums<Real> chain_expectations(const ChainScores<Real>& scores, const std::optional<Array<Real>>& weights, bool by_position,
                                   size_t threads);

struct BestLabels {
    std::vector<int32_t> labels;  // by position
    std::vector<double> scores;   // by sentence; minus infinity if no labelling is allowed
};
// Ties go to the first label.
template <typename Real>
BestLabels best_labels(const ChainScores<Real>& scores, size_t threads);
