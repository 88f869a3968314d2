// A table of strings: string i is the bytes blob[offsets[i] .. offsets[i + 1]).
#pragma once
#include <string_view>

#include "core/array.h"
#include "core/strings.h"

struct StringTable {
    Array<uint8_t> blob;
    Array<int64_t> offsets;

    size_t size() const { return offsets.size() - 1; }
    std::string_view operator[](size_t i) const {
        return {reinterpret_cast<const char*>(blob.data()) + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
    }
};

// Adds the strings of a table with their indices as ids. Throws `twice` if a string occurs twice.
inline void intern_all(const StringTable& table, Interner& strings, const char* twice) {
    strings.reserve(table.size());
    for (size_t i = 0; i < table.size(); ++i)
        if (strings.intern(table[i]) != static_cast<int32_t>(i)) throw std::invalid_argument(twice);
}
