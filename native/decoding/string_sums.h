// Sums of the weights of features that depend on one string.
//
// Many templates read the same column at the same offset: the word itself, its affixes, its shape. These templates form a group
// g. The weights of their features depend on one string only, so their sum is computed when the string first occurs:
//
//     node_j(y) = ... + sum over groups g of sum_g(string of g's column at j + g's offset)(y) + sum over the other templates
//
// The same is done with lists of edge features. There are groups only in models with few labels, which are all candidates.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "decoding/engine.h"

class StringSums {
   public:
    explicit StringSums(const Engine& engine);

    // Adds the sums of all groups at position i of a sentence of n tokens to the scores of all labels, and lists edge features.
    void add(const Lexicon& lexicon, const int32_t* const* columns, int64_t i, int64_t n, float* score,
             std::vector<int32_t>& edge_ids);
    // Fetches what `add` will read for the tokens of a sentence, as far as it is there.
    void prefetch_entries(const int32_t* const* columns, int64_t n) const;
    // The templates outside of all groups that have weights, and those that have edge weights.
    const std::vector<size_t>& others() const { return others_; }
    const std::vector<size_t>& edge_others() const { return edge_others_; }

   private:
    struct Group {
        int32_t column, offset;
        std::vector<size_t> templates, edge_templates;
        std::vector<int32_t> entries;  // by string, after the boundary values; -1 if there is no sum yet
    };
    // Adds an entry for the string of a group at position i.
    int32_t fill(const Group& group, const Lexicon& lexicon, const int32_t* const* columns, int64_t i, int64_t n);
    void clear();

    const Engine& engine_;
    std::vector<Group> groups_;
    std::vector<size_t> others_, edge_others_;
    std::vector<float> sums_;                                // K for each entry
    std::vector<std::pair<uint32_t, uint32_t>> edge_lists_;  // of each entry: a range of edge_ids_
    std::vector<int32_t> edge_ids_;
    std::vector<int64_t> found_;
};
