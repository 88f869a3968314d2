// Related words: known words that begin or end like a word, and the labels they usually have.
//
// Training may not have seen a word, but a related one: `lurk` for `lurks`, `room` for `guard-room`. Words are compared in
// lower case. A word is not related to itself, so the values of a word seen in training do not depend on its own label.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/strings.h"

struct Lookup;

// The most frequent words of each beginning, as numbers of the words of a Lookup, which have to be in lower case and in
// order of frequency.
class Beginnings {
   public:
    explicit Beginnings(const Interner& words);
    // The most frequent word but `self` that begins so, -1 where there is none.
    int32_t most_frequent(const Interner& words, std::string_view beginning, int32_t self) const;

   private:
    KeyInterner hashes_;
    std::vector<std::array<int32_t, 2>> words_;  // two: one of them may be the word whose value is wanted
};

// `l|vb-+s`: the word's letter class, the usual label of the related word with the longest common beginning, that word's
// ending and its own.
bool append_related(const Lookup& usual, std::string_view word, std::string& out);
// `-+nn` or `2+nn`: the usual label of the longest word that it ends with, and what is before: a hyphen, or how many
// characters, at most four.
bool append_tail(const Lookup& usual, std::string_view word, std::string& out);
