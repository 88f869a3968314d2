// Related words: known words that begin or end like a word, and their usual labels.
//
// If the training data does not contain a word, it may contain a related one: `lurk` for `lurks`, `room` for `guard-room`. Words
// are compared in lower case. A word is not related to itself, so the values of a training word do not depend on its label.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/strings.h"

struct Lookup;

// The most frequent words for each beginning, as ids of the words of a Lookup. These must be in lower case and in order of
// frequency.
class Beginnings {
   public:
    explicit Beginnings(const Interner& words);
    // The most frequent word, except `self`, with this beginning; -1 if there is none.
    int32_t most_frequent(const Interner& words, std::string_view beginning, int32_t self) const;

   private:
    // A hash table with open addressing; at most 70 % of the slots are used. There are millions of beginnings.
    struct Slot {
        uint64_t hash = 0;
        std::array<int32_t, 2> words{-1, -1};  // two, as one of them may be the word itself; none in an empty slot
    };
    size_t place(uint64_t hash) const;
    void grow();

    std::vector<Slot> slots_;
    size_t used_ = 0;
};

// `l|vb-+s`: the word's letter class, the usual label of the related word with the longest common beginning, the ending of that
// word and the ending of this word.
bool append_related_start(const Lookup& usual, std::string_view word, std::string& out);
// `-+nn` or `2+nn`: the usual label of the longest known word at its end, after what comes before it: a hyphen, or the number
// of characters, at most four.
bool append_related_end(const Lookup& usual, std::string_view word, std::string& out);
