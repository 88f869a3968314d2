// A lattice: at each position some candidate labels with scores, between positions the edge scores.
//
//     score(y) = start(y_1) + sum_j node_j(y_j) + sum_i edge(y_i, y_i+1) + end(y_n)
//
// Edges are (K + 1) x (K + 1): row K is the start symbol, column K the end symbol. With few labels they are one dense
// table. With many, pairs that were stored are looked up and all others score
//
//     edge(y, y') = -weight log(1 + row(y) col(y'))
//
// which is the log of a smoothed co-occurrence rate whose observed count is zero (row = col = 0 gives a plain zero).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

struct Edges {
    int32_t n_labels = 0;
    std::vector<float> dense;       // (K + 1)^2, empty when sparse
    std::vector<int64_t> offsets;   // (K + 2), sparse only
    std::vector<int32_t> to;
    std::vector<float> scores;
    std::vector<float> row, col;    // (K + 1)
    float weight = 1.0f;

    float at(int32_t y, int32_t z) const {
        if (!dense.empty()) return dense[static_cast<size_t>(y) * (n_labels + 1) + z];
        const int32_t* first = to.data() + offsets[y];
        const int32_t* last = to.data() + offsets[y + 1];
        const int32_t* found = std::lower_bound(first, last, z);
        if (found != last && *found == z) return scores[found - to.data()];
        return -weight * std::log1p(row[y] * col[z]);
    }
};

// One sentence: candidates of position j are labels[offsets[j] .. offsets[j + 1]) with as many scores.
struct SentenceLattice {
    const int64_t* offsets;  // n + 1 entries
    const int32_t* labels;
    const float* scores;
    size_t n;
};

// Exact Viterbi; work memory is kept between sentences.
class Viterbi {
   public:
    // Writes the best label of each position; returns the best path's score. Ties go to the first candidate.
    float decode(const SentenceLattice& s, const Edges& edges, int32_t* best);

   private:
    std::vector<float> alpha_, next_;
    std::vector<int32_t> back_;
};

// Forward-backward in log space with float64 sums.
class ForwardBackward {
   public:
    // Returns log Z. Where marginals is not null, writes P(y_j = label) for each candidate.
    double run(const SentenceLattice& s, const Edges& edges, float* marginals);

   private:
    std::vector<double> alpha_, beta_;
    std::vector<float> block_;
};
