// The rows of words: their candidate labels with scores. See engine.h.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "decoding/engine.h"

// Rows of words that are not known are mixed when they first occur, and kept.
class WordRows {
   public:
    struct Row {
        const int32_t *labels, *end;
        const float* scores;
    };

    explicit WordRows(const Engine& engine) : engine_(engine) {}

    // The row of a word. It is valid until the next call.
    Row of(const Lexicon& lexicon, int32_t word);
    // Adds the row of a word to the scores of all labels. Labels that are not in it get the engine's floor.
    void add(const Lexicon& lexicon, int32_t word, float* scores);

   private:
    const Engine& engine_;
    std::unordered_map<int32_t, int64_t> mixed_;  // by word: a row of mixed_rows_
    SparseRows mixed_rows_;
    std::vector<double> p_;
};
