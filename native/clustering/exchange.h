// Word classes from unlabelled text, by exchange (Kneser and Ney 1993; Martin, Liermann and Ney 1998).
//
// Every word belongs to one class. N(g, h) is how often a word of class h follows a word of class g, and N(g) how often class g
// occurs. The classes maximise the mutual information of neighbouring classes; with F(n) = n log n, this is
//
//     F(w -> g) = sum over g, h of F(N(g, h))  -  2 sum over g of F(N(g))             (plus a constant)
//
// A pass visits the words and moves each to the class that raises the objective most. Sentence boundaries are a class of their
// own. So is the rest: the words that have no class yet. No word is moved into either.
//
// Moves are proposed for a batch of words at a time, on all threads, from the classes before the batch. Then they are checked and
// made one by one, so every move raises the objective. Batches depend on the number of words only, and so do the results.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/array.h"

// The neighbours of each word on one side, with their counts: one row per word. Word n_words is the sentence boundary.
struct Neighbours {
    std::vector<int64_t> offsets;
    std::vector<int32_t> words, counts;
};
struct NeighbourArrays {
    Array<int64_t> offsets;
    Array<int32_t> words, counts;
    void check(size_t n_words) const;
};

// The words before and after each word. Sentence s is words[sentences[s] .. sentences[s + 1]); empty sentences are ignored.
struct WordNeighbours {
    Neighbours before, after;
};
WordNeighbours count_neighbours(std::span<const int32_t> words, std::span<const int64_t> sentences, size_t n_words);

struct PassResult {
    int64_t moves = 0;       // how many words changed their class
    double gain = 0.0;       // by how much the moves raised the objective, in nats, as added up move by move
    double objective = 0.0;  // the objective after the pass, computed from the counts
};

// One pass over all words, in order. `classes` holds the class of each word, -1 for none, and is changed. Afterwards every word
// has a class. Throws invalid_argument if arrays disagree, or if there is no class or no thread.
PassResult exchange_classes(const NeighbourArrays& before, const NeighbourArrays& after, std::span<int32_t> classes,
                            size_t n_classes, size_t threads);
