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

Beginnings::Beginnings(const Interner& words) : slots_(64) {
    Characters word;
    for (size_t id = 0; id < words.size(); ++id) {
        word.set(words.at(static_cast<int32_t>(id)));
        if (word.size() < kLeast) continue;
        for (size_t last = 0; last <= longest_ending(word); ++last) {
            const uint64_t hash = hash_bytes(word.without(last));
            Slot& slot = slots_[place(hash)];
            if (slot.words[0] < 0) {
                slot = {hash, {static_cast<int32_t>(id), -1}};
                if (10 * ++used_ > 7 * slots_.size()) grow();
            } else if (slot.words[1] < 0) {
                slot.words[1] = static_cast<int32_t>(id);
            }
        }
    }
}

// The slot of a hash, or the empty slot where it belongs.
size_t Beginnings::place(uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t i = hash & mask;
    while (slots_[i].words[0] >= 0 && slots_[i].hash != hash) i = (i + 1) & mask;
    return i;
}

void Beginnings::grow() {
    std::vector<Slot> old(2 * slots_.size());
    std::swap(slots_, old);
    for (const Slot& slot : old)
        if (slot.words[0] >= 0) slots_[place(slot.hash)] = slot;
}

int32_t Beginnings::most_frequent(const Interner& words, std::string_view beginning, int32_t self) const {
    for (const int32_t id : slots_[place(hash_bytes(beginning))].words)
        // Two beginnings may have the same hash.
        if (id >= 0 && id != self && words.at(id).substr(0, beginning.size()) == beginning) return id;
    return -1;
}

bool append_related_start(const Lookup& usual, std::string_view word, std::string& out) {
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

bool append_related_end(const Lookup& usual, std::string_view word, std::string& out) {
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
