// Sentences of a trained model, one after the other: their lattices, and the best labels.
#pragma once
#include <cstdint>
#include <vector>

#include "decoding/engine.h"
#include "features/listing.h"

// One thread's state: strings met so far, and the lattice of the sentence at hand.
class Session {
   public:
    explicit Session(const Engine& engine);

    Lexicon& lexicon() { return lexicon_; }

    // Fills the lattice of a sentence, whose first token is `token` among those of the ready-made features, which are
    // numbered as in the weights, -1 unknown, or null; keep_scores false lets positions with one candidate go unscored.
    void build(const int32_t* const* columns, int64_t n, bool keep_scores, const Attributes* ready, int64_t token);
    // The best labels of the lattice; returns their score.
    float decode(int64_t n, int32_t* best);

    std::vector<int64_t> offsets;
    std::vector<int32_t> labels;
    std::vector<float> scores;
    std::vector<int64_t> edge_offsets;  // edge features of each token
    std::vector<int32_t> edge_ids;

   private:
    void list_edge_features(const int32_t* const* columns, int64_t i, int64_t n, const Attributes* ready, int64_t token);
    // Candidates and their row scores.
    void place(const int32_t* const* columns, int64_t i);
    // score(y) += value * weight(feature, y) for the candidates; both lists rise.
    void add(int64_t feature, const int32_t* own, size_t width, float* score, float value = 1.0f) const;

    const Engine& engine_;
    Lexicon lexicon_;
    Viterbi viterbi_;
    std::vector<int32_t> iota_;
};
