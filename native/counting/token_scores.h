// A back-off applied to the tokens of a corpus: the candidate labels of each token, and the terms of their node scores.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/array.h"
#include "core/sparse_rows.h"
#include "counting/backoff.h"
#include "counting/counting.h"

// The tokens and the counts of their contexts: pairs with the word on the left and on the right, the same pairs with the class
// of a rare word, and classes alone.
struct TokenContexts {
    Array<int32_t> words;
    Matrix<int32_t> ids;  // (4, n): each token's context in left, right, class_left and class_right, -1 if unseen
    LabelCounts left, right, class_left, class_right;
    Array<int32_t> class_of;  // of each word
    LabelCounts classes;
    std::optional<Array<int32_t>> left_out;  // each token's own label, to leave it out
};

struct TokenScoreOptions {
    double pair_k, class_k;
    int64_t rare;  // words with at most this many tokens count for their class
    double threshold;
    size_t cap;
};

struct TokenScores {
    SparseRows rows;  // log P(y | word) of the candidates
    std::vector<float> left, right, by_class;
    std::vector<uint8_t> known;
};

TokenScores token_scores(const Backoff& backoff, const TokenContexts& tokens, const TokenScoreOptions& options);
