// The back-off: P(y | word) from the counts of the word and of similar words.
//
// A level is a function of the word (its lower-case form, its class with its last four letters, ...). Levels count word types:
// each type with at most `rare` tokens adds the relative frequencies of its labels,
//
//     n_r(c, y) = sum over words w with level_r(w) = c of n(w, y) / n(w)
//
// Levels are applied from the most general (the label prior) to the most specific,
//
//     P_r(y) = (n_r(y) + k_r P_r+1(y)) / (n_r + k_r)            (a level without types is skipped)
//     P(y | w) = (n(w, y) + k_w P_0(y)) / (n(w) + k_w)          (an unseen word keeps P_0)
//
// A word's own type is left out of its levels: they count other words only.
//
// Neighbours add a correction if the word pair was seen:
//
//     left(y) = log P(y | w_left, w) / P(y | w),   P(y | w_left, w) = (n(y) + k_p P(y | w)) / (n + k_p)
//
// An unseen word uses the counts of its class (case, digits, hyphens) with its neighbours, counted over rare words:
//
//     context(y) = log P(y | w_left, class) / P(y | class), and the same on the right.
//
// Leaving out a token subtracts it from every count that contains it. The levels already exclude its word.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/sparse_rows.h"
#include "counting/counting.h"

constexpr int32_t kNoToken = -1;

class Backoff {
   public:
    // The counts of each word, and the context of each word at each level, (levels, words), -1 if it has none. The counts
    // must not change.
    Backoff(LabelCounts words, Matrix<int32_t> level_ids, size_t n_labels);

    // Derives the levels and the prior. Levels whose limit `rare` is that of the last call stay as they are.
    void derive(const std::vector<double>& rung_k, const std::vector<int64_t>& rare, double word_k, double prior_k);
    void require_derived() const;

    size_t n_words() const { return words_.n_contexts(); }
    size_t n_levels() const { return levels_.size(); }
    size_t n_labels() const { return K_; }
    size_t n_entries() const { return words_.labels.size(); }
    int64_t total(size_t w) const { return totals_[w]; }
    // The index of a label in the table of a word, -1 if it was not counted there.
    int64_t find(size_t w, int32_t label) const {
        return find_label(words_.labels.data(), words_.offsets[w], words_.offsets[w + 1], label);
    }

    // Writes P(y | word) of all K labels to `p`. `left_out`: the label of the one token to leave out, or kNoToken. Returns
    // whether the word is known.
    bool distribution(size_t w, int32_t left_out, std::vector<double>& p) const;
    // Candidate labels: all labels seen with the word, and labels within `threshold` of the best, at most `cap` of them.
    void candidates(const std::vector<double>& p, size_t w, bool known, double threshold, size_t cap,
                    std::vector<int32_t>& keep) const;

    // log P(y | word) of each word's candidate labels.
    SparseRows word_rows(double threshold, size_t cap) const;
    // n_r(c, y) for each context c of a level. For the level after the last, P(y).
    SparseRows level_shares(size_t level) const;

   private:
    struct Level {
        std::vector<int64_t> member_offsets;  // words of each context
        std::vector<int32_t> members;
        double k = 1.0;
        int64_t rare = 0;
        std::vector<int64_t> offsets;  // derived: relative label frequencies of each context
        std::vector<int32_t> labels;
        std::vector<double> shares;
        std::vector<double> totals;  // number of types
    };

    void collect_members(size_t r);
    void derive_level(Level& level) const;
    // Whether a level counts the word's own type, which must be left out.
    bool inside(const Level& level, size_t w) const { return totals_[w] > 0 && totals_[w] <= level.rare; }
    double types_without(const Level& level, int32_t context, size_t w) const {
        return context < 0 ? 0.0 : level.totals[context] - (inside(level, w) ? 1.0 : 0.0);
    }
    void add_shares(const Level& level, int32_t context, size_t w, double coefficient, std::vector<double>& p) const;

    LabelCounts words_;
    Matrix<int32_t> level_ids_;
    size_t K_;
    std::vector<Level> levels_;
    std::vector<int64_t> totals_;
    std::vector<double> prior_;
    double mass_ = 0.0;  // tokens in the prior, including smoothing
    double word_k_ = 1.0;
    mutable std::vector<double> coefficients_;  // work memory, so only one thread at a time may use a back-off
};
