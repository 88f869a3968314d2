// Tags sentences one by one with a trained model: builds their lattices and finds the best labels.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "decoding/engine.h"
#include "decoding/string_sums.h"
#include "decoding/word_rows.h"
#include "features/listing.h"

// The state of one thread: the strings seen so far, and the lattice of the current sentence.
class Session {
   public:
    explicit Session(const Engine& engine);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Lexicon& lexicon() { return lexicon_; }
    const Lexicon& lexicon() const { return lexicon_; }

    // Builds the lattice of a sentence. `ready` holds ready-made features with the ids of the weights (-1: unknown), or is
    // null; `token` is the index of the sentence's first token in it. If keep_scores is false, positions with one candidate get
    // no scores. `more` has further candidates of each token, or is null; their row score is the engine's floor.
    void build(const int32_t* const* columns, int64_t n, bool keep_scores, const Attributes* ready, int64_t token,
               const Csr* more = nullptr);
    // Writes the best labels of the lattice and returns their score.
    float decode(int64_t n, int32_t* best);

    std::vector<int64_t> offsets;
    std::vector<int32_t> labels;
    std::vector<float> scores;
    std::vector<int64_t> edge_offsets;  // edge features of each token, or pairs of words (chain/lattice.h)
    std::vector<int32_t> edge_ids;

   private:
    using Found = std::pair<int64_t, float>;  // a feature and its value

    size_t width(int64_t i) const {
        return static_cast<size_t>(offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)]);
    }
    // Sets the candidates of a token to the labels that its features have weights for.
    void place_by_features(const int32_t* const* columns, int64_t i, int64_t n, const Attributes* ready, int64_t token);
    // Sets the candidates and their row scores, unless the sums of strings contain these.
    void place(const int32_t* const* columns, int64_t i);
    // Adds labels to the candidates from `at` on, if they are not among them.
    void add_candidates(size_t at, const int32_t* more, size_t n);
    // Finds the values of pairs of the tokens from `first` to `last`.
    void prefetch_pairs(const int32_t* const* columns, int64_t first, int64_t last, int64_t n, bool keep_scores);
    // Finds the features of some tokens from i on that are not in the sums of strings, and returns the end of these tokens.
    int64_t find_features(const int32_t* const* columns, int64_t i, int64_t first, int64_t last, int64_t n, bool keep_scores,
                          const Attributes* ready, int64_t token);
    void list_edge_features(const int32_t* const* columns, int64_t i, int64_t n, const Attributes* ready, int64_t token);
    // Lists the rows of the pair of token i with the word before it and, at the end, with the boundary.
    void list_word_pairs(const int32_t* words, int64_t i, int64_t n);
    // Adds the weights of features to the scores of the candidates of token i.
    void add_features(int64_t i, const Found* begin, const Found* end, float* score);
    // score(y) += value * weight(feature, y) for the columns; both lists are ascending.
    void add(int64_t feature, const int32_t* own, size_t width, float* score, float value) const;

    const Engine& engine_;
    Lexicon lexicon_;
    WordRows rows_;
    StringSums sums_;
    Viterbi viterbi_;
    std::vector<int32_t> iota_;
    LabelUnion seen_;
    // The values of pairs by template and token, and the features found, with their ends by token.
    std::vector<std::array<int32_t, 2>> pairs_;
    std::vector<Found> found_;
    std::vector<size_t> ends_;
    // The columns of a token and their scores, if labels have parts.
    std::vector<int32_t> columns_;
    std::vector<float> column_scores_;
};
