// Sums of the scores that depend on one string.
//
// Many templates read the same column at the same offset: the word itself, its affixes, its shape. These templates form a group
// g. The weights of their features depend on one string only, so their sum is computed when the string first occurs, together
// with the sums of the other groups of the column. The row of a word (word_rows.h) belongs to the sum of the word itself:
//
//     node_j(y) = ... + sum over groups g of sum_g(string of g's column at j + g's offset)(y) + sum over the other templates
//
// The same is done with lists of edge features. There are groups only in models with few labels, which are all candidates.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "decoding/engine.h"
#include "decoding/word_rows.h"

class StringSums {
   public:
    StringSums(const Engine& engine, WordRows& rows);

    // Finds the sums that the tokens from `first` to `last` of a sentence of n tokens need, and computes those of new strings.
    void open(const Lexicon& lexicon, const int32_t* const* columns, int64_t first, int64_t last, int64_t n);
    // Adds the sums of all groups at token i, which was opened, to the scores of all labels, and lists edge features.
    void add(int64_t i, float* score, std::vector<int32_t>& edge_ids) const;
    // Whether the sums contain the rows of words.
    bool with_rows() const { return with_rows_; }
    // The templates outside of all groups that have weights, and those that have edge weights.
    const std::vector<size_t>& others() const { return others_; }
    const std::vector<size_t>& edge_others() const { return edge_others_; }

   private:
    struct Group {
        int32_t offset;
        std::vector<size_t> templates, edge_templates;
    };
    // The groups of a column. Each string that occurred has an entry: K sums for each group, and a range of edge_ids for each.
    struct ColumnSums {
        size_t column;
        std::vector<Group> groups;
        std::vector<int32_t> entries{};  // by string, after the boundary values; -1 if there is none
        std::vector<float> sums{};
        std::vector<std::pair<uint32_t, uint32_t>> edge_lists{};
        std::vector<int32_t> edge_ids{};
        int64_t begin = 0;              // the first position that was opened
        std::vector<int32_t> places{};  // the entries of the positions from there
        size_t n_entries() const { return edge_lists.size() / groups.size(); }
    };
    Group& group(size_t column, int32_t offset);
    // Adds the sums of the strings at new_, the positions of new entries.
    void fill(ColumnSums& own, const Lexicon& lexicon, const int32_t* const* columns, int64_t n);
    // Calls use(id) for the features that templates have at position i.
    template <typename Use>
    void each_feature(const std::vector<size_t>& templates, const Lexicon& lexicon, const int32_t* const* columns, int64_t i,
                      int64_t n, Use use) const;

    const Engine& engine_;
    WordRows& rows_;
    bool with_rows_ = false;
    std::vector<ColumnSums> columns_;
    std::vector<size_t> others_, edge_others_;
    // Work memory: the positions of new strings, and their features with the places of the sums.
    std::vector<int64_t> new_;
    std::vector<std::pair<int64_t, size_t>> found_;
};
