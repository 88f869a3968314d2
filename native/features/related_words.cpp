// See related_words.h.
#include "features/related_words.h"

#include <algorithm>

#include "features/word_functions.h"

namespace {

constexpr size_t kLeast = 3;   // least number of common characters of related words
constexpr size_t kEnding = 5;  // largest number of characters in which they differ
constexpr size_t kTail = 32;   // characters of the longest tail
constexpr size_t kBefore = 4;  // larger numbers of characters before a tail are written as this

// A word and the offsets where its characters start, followed by its size.
struct Characters {
    std::string_view text;
    std::vector<size_t> starts;

    void set(std::string_view word) {
        text = word;
        starts.clear();
        append_starts(word, starts);
    }
    size_t size() const { return starts.size() - 1; }
    // The word without its last characters, and these characters.
    std::string_view without(size_t last) const { return text.substr(0, starts[size() - last]); }
    std::string_view ending(size_t last) const { return text.substr(starts[size() - last]); }
    std::string_view at(size_t i) const { return text.substr(starts[i], starts[i + 1] - starts[i]); }
};

// The same for a word in lower case.
struct Lowered : Characters {
    std::string lower;

    explicit Lowered(std::string_view word) {
        append_lower(word, lower);
        set(lower);
    }
};

// The length of the longest ending in which related words may differ.
size_t longest_ending(const Characters& word) { return std::min(kEnding, word.size() - kLeast); }

std::string_view label(const Lookup& usual, int32_t word) { return usual.classes.at(usual.values[static_cast<size_t>(word)]); }

}  // namespace

Beginnings::Beginnings(const Interner& words) {
    Characters word;
    for (size_t id = 0; id < words.size(); ++id) {
        word.set(words.at(static_cast<int32_t>(id)));
        if (word.size() < kLeast) continue;
        for (size_t last = 0; last <= longest_ending(word); ++last) {
            const auto at = static_cast<size_t>(hashes_.intern(hash_bytes(word.without(last))));
            if (at == words_.size()) words_.push_back({-1, -1});
            const auto place = std::find(words_[at].begin(), words_[at].end(), -1);
            if (place != words_[at].end()) *place = static_cast<int32_t>(id);
        }
    }
}

int32_t Beginnings::most_frequent(const Interner& words, std::string_view beginning, int32_t self) const {
    const int32_t at = hashes_.find(hash_bytes(beginning));
    if (at < 0) return -1;
    for (const int32_t id : words_[static_cast<size_t>(at)])
        // Two beginnings may have the same hash.
        if (id >= 0 && id != self && words.at(id).substr(0, beginning.size()) == beginning) return id;
    return -1;
}

bool append_related(const Lookup& usual, std::string_view word, std::string& out) {
    const Lowered own(word);
    if (own.size() < kLeast) return false;
    const int32_t self = usual.keys.find(own.text);
    for (size_t last = 0; last <= longest_ending(own); ++last) {
        const std::string_view beginning = own.without(last);
        const int32_t related = usual.beginnings->most_frequent(usual.keys, beginning, self);
        if (related < 0) continue;
        apply(WordFunction{Kind::letter_class, 0, {}, nullptr}, word, out);
        out += '|';
        out.append(label(usual, related));
        out += '-';
        out.append(usual.keys.at(related).substr(beginning.size()));
        out += '+';
        out.append(own.ending(last));
        return true;
    }
    return false;
}

bool append_tail(const Lookup& usual, std::string_view word, std::string& out) {
    const Lowered own(word);
    for (size_t before = own.size() > kTail ? own.size() - kTail : 1; before + kLeast <= own.size(); ++before) {
        const int32_t tail = usual.keys.find(own.ending(own.size() - before));
        if (tail < 0) continue;
        out.append(has_hyphen(own.at(before - 1)) ? "-" : std::to_string(std::min(before, kBefore)));
        out += '+';
        out.append(label(usual, tail));
        return true;
    }
    return false;
}
