// The back-off ladder: P(y | word) from the counts of the word, and of words like it.
//
// A rung is a function of the word (its lower-case form, its class with its last four letters, ...). Its counts are of
// word types: each type with at most `rare` tokens gives each of its labels the share it had,
//
//     n_r(c, y) = sum over words w with rung_r(w) = c of n(w, y) / n(w)
//
// and the rungs are climbed from the general (the label prior) to the specific,
//
//     P_r(y) = (n_r(y) + k_r P_r+1(y)) / (n_r + k_r)            (a rung without types is passed over)
//     P(y | w) = (n(w, y) + k_w P_0(y)) / (n(w) + k_w)          (a word never seen keeps P_0)
//
// A word's own type is left out of its rungs: they hold the counts of other words.
//
// Neighbours correct it where the pair was seen:
//
//     left(y) = log P(y | w_left, w) / P(y | w),   P(y | w_left, w) = (n(y) + k_p P(y | w)) / (n + k_p)
//
// A word never seen takes the counts of its class (case, digits, hyphens) with its neighbours, counted on rare words:
//
//     context(y) = log P(y | w_left, class) / P(y | class), and the same on the right.
//
// Leaving one out takes the token itself out of every count it was part of (of the rungs its word is out already).
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/sparse_rows.h"
#include "counting/counting.h"

constexpr int32_t kNobody = -1;

class Ladder {
   public:
    // The counts of each word, and (rungs, words) the context of each word at each rung, -1 where it has none. Counts may
    // change under a ladder; derive() takes them as they are.
    Ladder(LabelCounts words, Matrix<int32_t> rung_ids, size_t n_labels);

    // (Re)derives everything from the counts as they are now.
    void derive(const std::vector<double>& rung_k, const std::vector<int64_t>& rare, double word_k, double prior_k);
    void require_derived() const;

    size_t n_words() const { return words_.n_contexts(); }
    size_t n_rungs() const { return rungs_.size(); }
    size_t n_labels() const { return K_; }
    size_t n_entries() const { return words_.labels.size(); }
    int64_t total(size_t w) const { return totals_[w]; }
    // Where a label stands in the table of a word, -1 where it was not counted with it.
    int64_t find(size_t w, int32_t label) const {
        return find_label(words_.labels.data(), words_.offsets[w], words_.offsets[w + 1], label);
    }

    // P(y | word) over all K labels into `p`. Starts at rung `first` (0 = most specific); `own` says whether the word's
    // own counts are used; `left_out` is the label of the one token to leave out, or kNobody. Returns whether the word is known.
    bool distribution(size_t w, size_t first, bool own, int32_t left_out, std::vector<double>& p) const;
    // Candidate labels: those within `threshold` of the best, at most `cap` of them, and all that were seen with the word.
    void candidates(const std::vector<double>& p, size_t w, bool known, double threshold, size_t cap,
                    std::vector<int32_t>& keep) const;

    // log P(y | word) of each word's candidate labels.
    SparseRows word_rows(double threshold, size_t cap) const;
    // log P(y) of unknown words, for each context of a rung; the rung past the last is the prior. Each is the mean over so
    // many words of its context, and a context without types has an empty row.
    SparseRows rung_rows(size_t rung, double threshold, size_t cap, int64_t words) const;

   private:
    struct Rung {
        std::vector<int64_t> member_offsets;  // words of each context
        std::vector<int32_t> members;
        double k = 1.0;
        int64_t rare = 0;
        std::vector<int64_t> offsets;  // derived: label shares of each context
        std::vector<int32_t> labels;
        std::vector<double> shares;
        std::vector<double> totals;  // types counted
    };

    void collect_members(size_t r);
    void derive_rung(Rung& rung) const;
    // Whether a rung's counts hold the word's own type, which is to be left out.
    bool inside(const Rung& rung, size_t w, bool own) const { return own && totals_[w] > 0 && totals_[w] <= rung.rare; }
    double types_without(const Rung& rung, int32_t context, size_t w, bool own) const {
        return context < 0 ? 0.0 : rung.totals[context] - (inside(rung, w, own) ? 1.0 : 0.0);
    }
    void add_shares(const Rung& rung, int32_t context, size_t w, bool own, double coefficient, std::vector<double>& p) const;
    // P(y) of an unknown word of which no more than its context at rung r is known, into `p`: the mean over the first words
    // with that context, at most `most`. One will do where all of them have the same more general rungs.
    void unknown(size_t r, size_t context, int64_t most, std::vector<double>& p) const;

    LabelCounts words_;
    Matrix<int32_t> rung_ids_;
    size_t K_;
    std::vector<Rung> rungs_;
    std::vector<int64_t> totals_;
    std::vector<double> prior_;
    double mass_ = 0.0;  // tokens behind the prior, smoothing included
    double word_k_ = 1.0;
    mutable std::vector<double> coefficients_;  // work memory: a ladder is used by one thread at a time
};
