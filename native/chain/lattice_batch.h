// The lattices of many sentences in shared arrays, checked, and what threads compute for all of them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "chain/lattice.h"
#include "core/array.h"
#include "core/parallel.h"
#include "counting/word_pairs.h"

// Reads edges from arrays. Throws invalid_argument if they disagree. Triples are (row offsets by first label, pairs of the second and
// third label) with their scores.
struct TripleScores {
    Csr pairs;
    Array<float> scores;
};
Edges dense_edges(const Matrix<float>& scores, bool local, const std::optional<TripleScores>& triples);
Edges sparse_edges(const Csr& rows, const Array<float>& scores, const Array<float>& row, const Array<float>& col, float weight,
                   bool local, const std::optional<TripleScores>& triples);
// The same edges with a score of minus infinity for some label pairs. None if that is not how they can be limited: if they are
// sparse, normalised locally, or have scores of label triples.
std::optional<Edges> edges_without(const Edges& edges, const Array<uint8_t>& forbidden);

// The scores of each edge feature for label pairs, checked once for many lattices. With `word_pairs`, the features are pairs of
// words, whose scores replace edges.
struct EdgeFeatureWeights {
    Csr pairs;
    Array<float> scores;
    std::shared_ptr<const WordPairs> words = nullptr;
    WordPairScores word_pairs = {};

    EdgeFeatureWeights(Csr pairs, Array<float> scores);
    EdgeFeatureWeights(std::shared_ptr<const WordPairs> words, float scale, float floor, float forbidden);

    size_t size() const { return pairs.rows(); }
    // The same with all scores multiplied.
    EdgeFeatureWeights scaled(float factor) const;
    // The score of a label pair.
    float at(int64_t feature, int32_t pair) const;
    // The edge score up to which edges are kept, if the features are pairs of words.
    std::optional<float> forbidden() const { return word_pairs.used ? std::optional(word_pairs.forbidden) : std::nullopt; }
};

// The edge features of tokens, and the weights of features.
struct WeightedEdgeFeatures {
    Csr tokens;
    EdgeFeatureWeights weights;
};

class LatticeBatch {
   public:
    LatticeBatch(Array<int64_t> sentences, Csr candidates, Array<float> scores, const Edges& edges,
                 std::optional<WeightedEdgeFeatures> extra);

    size_t size() const { return sentences_.size() - 1; }
    size_t n_tokens() const { return offsets_.size() - 1; }
    size_t n_candidates() const { return labels_.size(); }
    // Of a sentence: its first token, the number of its tokens, and the first candidate of its first token.
    int64_t first(size_t s) const { return sentences_[s]; }
    size_t length(size_t s) const { return static_cast<size_t>(sentences_[s + 1] - sentences_[s]); }
    int64_t candidate(size_t s) const { return offsets_[sentences_[s]]; }
    // Where the candidates of tokens start.
    const int64_t* offsets() const { return offsets_.data(); }
    SentenceLattice sentence(size_t s) const {
        return {offsets_.data() + first(s), labels_.data(), scores_.data(), length(s), extra_, first(s)};
    }
    // Where the label pairs of each sentence start: those of candidates of neighbouring tokens, from the second token on.
    std::vector<size_t> pair_places() const;

    // Calls work(first, last) for ranges of sentences, on several threads.
    template <typename Work>
    void in_ranges(size_t threads, Work work) const {
        const size_t parts = useful_threads(threads, size());
        in_parallel(parts, [&](size_t part) { work(size() * part / parts, size() * (part + 1) / parts); });
    }

   private:
    void use(const WeightedEdgeFeatures& given);

    Array<int64_t> sentences_, offsets_;
    Array<int32_t> labels_;
    Array<float> scores_;
    std::optional<WeightedEdgeFeatures> kept_;  // what `extra_` points to
    EdgeFeatures extra_ = {};
};

// The best label of each token, and the best score of each sentence.
std::tuple<std::vector<int32_t>, std::vector<float>> viterbi(const LatticeBatch& batch, const Edges& edges, size_t threads);
// log Z of each sentence, P(label) of each candidate and, if they are wanted, P(label, label) of neighbouring candidates.
std::tuple<std::vector<double>, std::vector<float>, std::vector<float>> forward_backward(const LatticeBatch& batch,
                                                                                         const Edges& edges, bool with_pairs,
                                                                                         size_t threads);
