// A lattice: candidate labels with scores at each position, and edge scores between positions.
//
//     score(y) = start(y_1) + sum_j node_j(y_j) + sum_i edge(y_i, y_i+1) + end(y_n)
//
// Edges are (K + 1) x (K + 1): row K is the start symbol, column K the end symbol. With few labels they are one dense
// table. With many labels only some pairs are stored, and every other pair scores
//
//     edge(y, y') = -weight log(1 + row(y) col(y'))
//
// which is the log of a smoothed co-occurrence rate with an observed count of zero (zero if row = col = 0).
// Second-order models add triple(y_i-1, y_i, y_i+1), including boundaries, for each stored triple.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "chain/triples.h"
#include "core/label_pairs.h"
#include "core/logarithms.h"
#include "core/vectors.h"

// log(1 + x) for x >= 0: below 2^-26 it is x in float32, above, 1 + x in float64 keeps enough digits.
inline float log1p_of_product(float x) {
    return x < 1.5e-8f ? x : static_cast<float>(portable_log(1.0 + static_cast<double>(x)));
}

struct Edges {
    int32_t n_labels = 0;
    std::vector<float> dense;      // (K + 1)^2, empty if sparse
    std::vector<int64_t> offsets;  // (K + 2), sparse only
    std::vector<int32_t> to;
    std::vector<float> scores;
    std::vector<float> row, col;  // (K + 1)
    float weight = 1.0f;
    bool local = false;  // locally normalised: see SentenceLattice::normalise
    Triples triples;     // empty for first-order models
    std::vector<float> triple_scores;

    LabelPairs pairs() const { return LabelPairs(static_cast<size_t>(n_labels)); }
    int32_t checked(int32_t y) const {
        if (y < 0 || y > n_labels) throw std::out_of_range("label id out of range");
        return y;
    }
    float at(int32_t y, int32_t z) const {
        if (!dense.empty()) return dense[pairs().at(static_cast<size_t>(y), static_cast<size_t>(z))];
        const int32_t* first = to.data() + offsets[y];
        const int32_t* last = to.data() + offsets[y + 1];
        const int32_t* found = std::lower_bound(first, last, z);
        if (found != last && *found == z) return scores[found - to.data()];
        return -weight * log1p_of_product(row[y] * col[z]);
    }
    float at(int32_t y, int32_t z, int32_t w) const {
        const int32_t slot = triples.empty() ? Triples::kAbsent : triples.find(y, z, w);
        return slot == Triples::kAbsent ? 0.0f : triple_scores[static_cast<size_t>(slot)];
    }
};

// How pairs of words score label pairs (counting/word_pairs.h): the edge between a pair of words has a row with log P(y, y' | x, x')
// instead of T(y, y'), and its score is
//
//     scale log P(y, y' | x, x') - node(y) - node(y'),   with `floor` for log P if the label pair is not in the row
//
// where node is scale log P(y | x). So the score of a labelling is the product of the pairs over that of the inner nodes
// (equation 5 of the paper). If T is at most `forbidden`, the edge keeps it. The id of a row belongs to the token after the pair;
// the last token of a sentence also has that of the pair with the end. -1 is no row: the edge keeps T.
struct WordPairScores {
    bool used = false;
    float scale = 1.0f, floor = 0.0f, forbidden = -INFINITY;
};

// Edge scores that depend on the observation. Each edge feature has scores for the label pairs y (K + 1) + y' it was
// seen with, in ascending order. The features of a token score the edge that leads to it.
struct EdgeFeatures {
    const int64_t* offsets = nullptr;  // by token; null if there are no edge features
    const int32_t* ids = nullptr;
    const int64_t* row_offsets = nullptr;
    const int32_t* row_pairs = nullptr;
    const float* row_scores = nullptr;
    WordPairScores word_pairs = {};  // if used, the features are pairs of words

    bool any(int64_t token) const { return offsets != nullptr && offsets[token] < offsets[token + 1]; }

    // Replaces block(k, l), which is T(from[k], to[l]), by the score of a pair of words. `before` and `after` are the scores of
    // the nodes, null for a boundary.
    void replace(int32_t id, const LabelPairs& pairs, const int32_t* from, const float* before, size_t m, const int32_t* to,
                 const float* after, size_t n, float* block) const {
        if (id < 0) return;
        // A node of minus infinity is not allowed. Any finite score of its edges will do.
        const auto own = [](const float* node, size_t i) { return node == nullptr || std::isinf(node[i]) ? 0.0f : node[i]; };
        const int32_t* end = row_pairs + row_offsets[id + 1];
        for (size_t k = 0; k < m; ++k) {
            const auto base = static_cast<int32_t>(pairs.row(static_cast<size_t>(from[k])));
            const int32_t* at = std::lower_bound(row_pairs + row_offsets[id], end, base);
            for (size_t l = 0; l < n; ++l) {
                while (at != end && *at < base + to[l]) ++at;
                const float p = at != end && *at == base + to[l] ? row_scores[at - row_pairs] : word_pairs.floor;
                float& score = block[k * n + l];
                if (score > word_pairs.forbidden) score = word_pairs.scale * p - own(before, k) - own(after, l);
            }
        }
    }

    // block(y, y') += score of (y, y') for all K labels, for the pairs stored from a to b.
    void add_all(int64_t a, int64_t b, int32_t K, float* block) const {
        int32_t y = 0, base = 0;  // base = y (K + 1)
        for (int64_t at = a; at < b; ++at) {
            for (; row_pairs[at] > base + K; base += K + 1) ++y;
            const int32_t z = row_pairs[at] - base;
            if (y < K && z < K) block[y * K + z] += row_scores[at];
        }
    }

    // block(k, l) += score of (from[k], to[l]); both lists are ascending.
    void add(int64_t token, const LabelPairs& pairs, const int32_t* from, size_t m, const int32_t* to, size_t n,
             float* block) const {
        for (int64_t i = offsets[token]; i < offsets[token + 1]; ++i) {
            if (ids[i] < 0) continue;
            const int64_t a = row_offsets[ids[i]], b = row_offsets[ids[i] + 1];
            if (m == pairs.boundary() && n == m && from[0] == 0) {  // all labels: each stored pair has its place
                add_all(a, b, static_cast<int32_t>(n), block);
                continue;
            }
            for (size_t k = 0; k < m; ++k) {
                const auto base = static_cast<int32_t>(pairs.row(static_cast<size_t>(from[k])));
                const auto last = base + static_cast<int32_t>(pairs.boundary());
                const int32_t* at = std::lower_bound(row_pairs + a, row_pairs + b, base);
                for (size_t l = 0; at != row_pairs + b && *at <= last;) {
                    while (l < n && base + to[l] < *at) ++l;
                    if (l == n) break;
                    if (base + to[l] == *at) block[k * n + l] += row_scores[at - row_pairs];
                    ++at;
                }
            }
        }
    }
};

// One sentence: the candidates of position j are labels[offsets[j] .. offsets[j + 1]), each with a score.
struct SentenceLattice {
    const int64_t* offsets;  // n + 1 entries
    const int32_t* labels;
    const float* scores;
    size_t n;
    EdgeFeatures extra = {};
    int64_t first = 0;  // index of the sentence's first token in `extra`

    // Candidates of the position `back` before j. Position n is the end. Outside the sentence the boundary is the only
    // candidate.
    std::pair<const int32_t*, size_t> around(size_t j, size_t back, const Edges& edges) const {
        if (j < back || j - back == n) return {&edges.n_labels, 1};
        return {labels + offsets[j - back], static_cast<size_t>(offsets[j - back + 1] - offsets[j - back])};
    }

    // Scores of all candidate pairs of positions j - 1 and j (0: from the start, n: to the end), (m, width) into `block`.
    void edge_block(size_t j, const Edges& edges, std::vector<float>& block) const {
        raw_edge_block(j, edges, block);
        if (edges.local && j < n)
            normalise(block.data(), around(j, 1, edges).second, scores + offsets[j], around(j, 0, edges).second);
    }

    // The same before local edges are normalised.
    void raw_edge_block(size_t j, const Edges& edges, std::vector<float>& block) const {
        const auto [from, m] = around(j, 1, edges);
        const auto [to, width] = around(j, 0, edges);
        block.resize(m * width);
        const bool whole_rows = !edges.dense.empty() && width == edges.pairs().n_labels() && j < n;
        for (size_t k = 0; k < m; ++k) {
            if (whole_rows)
                std::copy_n(edges.dense.data() + edges.pairs().row(static_cast<size_t>(from[k])), width,
                            block.data() + k * width);
            else
                for (size_t l = 0; l < width; ++l) block[k * width + l] = edges.at(from[k], to[l]);
        }
        const int64_t token = first + static_cast<int64_t>(std::min(j, n - 1));
        if (extra.word_pairs.used)
            extra.replace(extra.ids[extra.offsets[token] + (j < n ? 0 : 1)], edges.pairs(), from,
                          j == 0 ? nullptr : scores + offsets[j - 1], m, to, j == n ? nullptr : scores + offsets[j], width,
                          block.data());
        else if (j < n && extra.any(token))
            extra.add(first + static_cast<int64_t>(j), edges.pairs(), from, m, to, width, block.data());
    }

    // Scores of all candidate triples that end at position j, (h, m, width) into `block`.
    template <typename Real>
    void triple_block(size_t j, const Edges& edges, Real* block) const {
        const auto [from, h] = around(j, 2, edges);
        const auto [over, m] = around(j, 1, edges);
        const auto [to, width] = around(j, 0, edges);
        std::fill(block, block + h * m * width, Real(0));
        const float* stored = edges.triple_scores.data();
        edges.triples.each(from, h, over, m, to, width,
                           [=](size_t i, int32_t slot) { block[i] = static_cast<Real>(stored[slot]); });
    }

    // block(k, l) -= log sum_l' exp(block(k, l') + node(l')): log P(y' | y, x) of a maximum entropy Markov model, minus
    // the node.
    static void normalise(float* block, size_t m, const float* node, size_t width) {
        for (size_t k = 0; k < m; ++k) {
            float* row = block + k * width;
            float top = -INFINITY;
            double sum = 0.0;
            for (size_t l = 0; l < width; ++l) top = std::max(top, row[l] + node[l]);
            for (size_t l = 0; l < width; ++l) sum += fast_exp(static_cast<double>(row[l] + node[l] - top));
            const float log_z = top + static_cast<float>(portable_log(sum));
            for (size_t l = 0; l < width; ++l) row[l] -= log_z;
        }
    }
};

// Exact Viterbi decoding. Work memory is kept between sentences.
class Viterbi {
   public:
    // Writes the best label of each position and returns the best score. Ties go to the first candidate.
    float decode(const SentenceLattice& s, const Edges& edges, int32_t* best);

   private:
    std::vector<float> alpha_, next_, block_, triple_;
    std::vector<int32_t> back_;
    std::vector<size_t> places_;
};
