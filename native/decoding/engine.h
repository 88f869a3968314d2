// The fused kernel from strings to labels: how a trained chain model tags a sentence.
//
//     node_j(y) = row(word_j)(y) + bias(y) + sum over templates t of weight(feature_t(j), y)      (and of its parts: core/label_parts.h)
//     edge_j(y, y') = T(y, y') + sum over templates t of edge weight(feature_t(j), y, y')     for the edge to token j
//                     or, with pairs of words, log P(y, y' | x, x') - node(y) - node(y')       (see chain/lattice.h)
//
// row(word) is a counted distribution: the word's own if the word is known, otherwise a mixture of its contexts at the levels of
// a back-off. Its labels are the candidates. A model without rows, or with all_labels set, uses every label. Viterbi then
// finds the best labels. With by_features set, a model without rows has other candidates: the labels that some feature of the token
// has a weight for, or all labels if there are none. Threads share the sentences, which are independent.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "chain/lattice.h"
#include "core/label_parts.h"
#include "core/sparse_rows.h"
#include "counting/word_pairs.h"
#include "features/feature_map.h"

// The row of a word that is not known. The rows of contexts hold shares n_r(c, y), that of the prior P(y):
//
//     P_r(y) = (n_r(y) + k_r P_r+1(y)) / (n_r + k_r),  row(y) = scale log P_0(y) + shift      (see counting/backoff.h)
//
// for the labels whose P_0 is at least `threshold` times the best, and at most `cap` of them. A model of version 1 has no such
// rule: its rows of contexts hold scores, and the most specific context that has a row gives the scores.
struct UnseenRule {
    std::vector<double> k;
    double scale, shift, threshold;
    size_t cap;
};

// The content of a chain model, without its vocabulary and its edges.
struct EngineData {
    std::vector<float> bias;  // of each label, or empty
    size_t word_column;
    SparseRows rows;                       // of known words, then of the contexts of each level, then of the prior
    std::vector<int32_t> level_functions;  // the word function of each level, most specific first
    std::vector<int64_t> level_bases;      // where the rows of each level start, and the row of the prior
    SparseRows linear, edge_weights;       // of each feature: labels, and label pairs
    int64_t first_feature;                 // the id of the first template feature
    bool all_labels;
    float floor;  // with all_labels: the row score of labels that are not in a row
    std::optional<UnseenRule> unseen;
    LabelParts parts;                             // whose weights are in further columns of `linear`
    bool by_features;                             // the candidates come from `linear`
    std::shared_ptr<const WordPairs> word_pairs;  // or null
    WordPairScores pair_scores;
};

class Engine {
   public:
    Engine(const FeatureMap& map, const Edges& edges, EngineData data);

    const FeatureMap& map() const { return map_; }
    const Edges& edges() const { return edges_; }
    size_t n_labels() const { return static_cast<size_t>(edges_.n_labels); }
    int64_t n_weighted() const { return static_cast<int64_t>(data_.linear.size()); }

    // Whether a word has a row of its own.
    bool known(int32_t word) const { return word < data_.level_bases.front() && !data_.rows.empty(word); }
    // Whether rows of other words are mixed, by `mix`, and not looked up, by `row_of`.
    bool mixes() const { return data_.unseen.has_value(); }
    // The row of a word: its own, or that of the most specific context that has one.
    int64_t row_of(const Lexicon& lexicon, int32_t word) const;
    // Adds the row of a word that is not known. `p` is work memory.
    void mix(const Lexicon& lexicon, int32_t word, std::vector<double>& p, SparseRows& row) const;

    bool all_labels() const { return all_labels_; }
    bool by_features() const { return data_.by_features && !all_labels_; }
    size_t word_column() const { return data_.word_column; }
    const SparseRows& rows() const { return data_.rows; }
    const LabelParts& parts() const { return data_.parts; }
    size_t n_columns() const { return n_labels() + data_.parts.size(); }
    const SparseRows& linear() const { return data_.linear; }
    const std::vector<float>& bias() const { return data_.bias; }
    float floor() const { return data_.floor; }
    bool active(size_t t) const { return active_[t]; }
    bool edge_active(size_t t) const { return edge_active_[t]; }
    bool has_edge_features() const { return data_.edge_weights.size() != 0; }
    const SparseRows& edge_weights() const { return data_.edge_weights; }
    const WordPairs* word_pairs() const { return data_.word_pairs.get(); }
    const WordPairScores& pair_scores() const { return data_.pair_scores; }
    // The row of the pair of a word and the next one, -1 if there is none. A null word is the boundary. A class is that of the most
    // specific level.
    int32_t word_pair(const Lexicon& lexicon, const int32_t* word, const int32_t* next) const;
    int64_t base(size_t t) const { return bases_[t]; }

   private:
    void check_rows() const;
    // The row of a word's context at a level, -1 if there is none.
    int64_t context(const Lexicon& lexicon, size_t level, int32_t word) const;

    const FeatureMap& map_;
    const Edges& edges_;
    EngineData data_;
    bool all_labels_;
    std::vector<int64_t> bases_;              // where the features of each template start
    std::vector<bool> active_, edge_active_;  // templates that have weights
};
