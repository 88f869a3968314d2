// Items with equal content, found by hashing and exact comparison.
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/mixing.h"

// The classes of items: `of` has the class of each, and `first` the first item of each class. Classes are in the order of these.
struct EqualItems {
    std::vector<int64_t> of;
    std::vector<size_t> first;
};

template <typename Hash, typename Equal>
EqualItems equal_items(size_t n, Hash hash, Equal equal) {
    EqualItems found;
    found.of.reserve(n);
    const size_t mask = std::bit_ceil(2 * n + 1) - 1;
    std::vector<int64_t> table(mask + 1, -1);  // classes, by hash
    for (size_t i = 0; i < n; ++i) {
        size_t at = static_cast<size_t>(hash(i)) & mask;
        while (table[at] >= 0 && !equal(found.first[static_cast<size_t>(table[at])], i)) at = (at + 1) & mask;
        if (table[at] < 0) {
            table[at] = static_cast<int64_t>(found.first.size());
            found.first.push_back(i);
        }
        found.of.push_back(table[at]);
    }
    return found;
}

inline uint64_t combined(uint64_t hash, uint64_t value) { return mixed((hash + value + 1) * 0x9E3779B97F4A7C15ull); }

template <typename T>
uint64_t combined(uint64_t hash, std::span<const T> values) {
    for (const T value : values)
        if constexpr (sizeof(T) == 4)
            hash = combined(hash, static_cast<uint64_t>(std::bit_cast<uint32_t>(value)));
        else
            hash = combined(hash, static_cast<uint64_t>(value));
    return combined(hash, static_cast<uint64_t>(values.size()));
}

// The part of an array from offsets[i] to offsets[i + 1].
template <typename Offsets, typename Values>
auto row_of(const Offsets& offsets, const Values& values, size_t i) {
    return std::span(values.data() + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i]));
}
