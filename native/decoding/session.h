// Tags sentences one by one with a trained model: builds their lattices and finds the best labels.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decoding/engine.h"
#include "decoding/string_sums.h"
#include "features/listing.h"

// The state of one thread: the strings seen so far, and the lattice of the current sentence.
class Session {
   public:
    explicit Session(const Engine& engine);

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
    std::vector<int64_t> edge_offsets;  // edge features of each token
    std::vector<int32_t> edge_ids;

   private:
    void prefetch_pairs(const int32_t* const* columns, int64_t n) const;
    void list_edge_features(const int32_t* const* columns, int64_t i, int64_t n, const Attributes* ready, int64_t token);
    // The row of a word. It is valid until the next call.
    struct Row {
        const int32_t *labels, *end;
        const float* scores;
    };
    Row row_of(int32_t word);
    // Sets the candidates and their row scores.
    void place(const int32_t* const* columns, int64_t i);
    // Adds labels to the candidates from `at` on, if they are not among them.
    void add_candidates(size_t at, const int32_t* more, size_t n);
    // Adds the weights of the features of a token. `own` are its columns, and `score` is by column.
    void add_features(const int32_t* const* columns, int64_t i, int64_t n, const Attributes* ready, int64_t token,
                      const int32_t* own, size_t width, float* score);
    // score(y) += value * weight(feature, y) for the columns; both lists are ascending.
    void add(int64_t feature, const int32_t* own, size_t width, float* score, float value) const;

    const Engine& engine_;
    Lexicon lexicon_;
    StringSums sums_;
    Viterbi viterbi_;
    std::vector<int32_t> iota_;
    std::vector<std::pair<int64_t, float>> found_;  // the features of a token with their values
    // Rows of words that are not known.
    std::unordered_map<int32_t, int64_t> mixed_;
    SparseRows mixed_rows_;
    std::vector<double> p_;
    // The columns of a token and their scores, if labels have parts.
    std::vector<int32_t> columns_;
    std::vector<float> column_scores_;
};
