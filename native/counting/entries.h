// Counts that outgrow memory, as entries: how often a label was seen with a key, and where the key was seen first.
//
// Pieces of a corpus are counted one after another, and their entries are written to disk. Entries are grouped by the hash of
// their key, so that the entries of all pieces can be read and added up for one group of keys at a time.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/array.h"

// The label and the count share 64 bits, so that an entry has 24 bytes.
struct Entry {
    static constexpr int kCountBits = 40;
    static constexpr uint64_t kCountMask = (uint64_t{1} << kCountBits) - 1;

    uint64_t key;
    uint64_t first;
    uint64_t label_count;

    uint64_t label() const { return label_count >> kCountBits; }
    uint64_t count() const { return label_count & kCountMask; }
};
static_assert(sizeof(Entry) == 24);

// The entries of a piece, by group (the upper `bits` bits of the hash of the key), key and label.
struct GroupedEntries {
    std::vector<Entry> entries;
    std::vector<int64_t> sizes;  // of each group
};

// Counts the keys and labels of tokens. A token's place is its number plus `first`. Tokens whose label is -1 are left out.
GroupedEntries count_entries(std::span<const uint64_t> keys, std::span<const int32_t> labels, uint64_t first, int bits);

// Adds up entries, (n, 3), of the same key and label. `first` becomes the first place of the key with any label. The result is sorted by
// key and label or, if `by_place`, by place and label.
std::vector<Entry> merge_entries(const Matrix<uint64_t>& entries, bool by_place);
