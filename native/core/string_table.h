// A table of strings: string i is the bytes blob[offsets[i] .. offsets[i + 1]).
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/array.h"
#include "core/strings.h"

struct StringTable {
    Array<uint8_t> blob;
    Array<int64_t> offsets;

    size_t size() const { return offsets.size() - 1; }
    void check(const char* what = "strings and their offsets disagree") const { check_offsets(offsets, blob.size(), what); }
    std::string_view operator[](size_t i) const {
        return {reinterpret_cast<const char*>(blob.data()) + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
    }
};

// The bytes from each start on, of each length, one after the other, which must be inside the blob.
inline std::vector<uint8_t> gather_bytes(const Array<uint8_t>& blob, const Array<int64_t>& starts,
                                         const Array<int64_t>& lengths) {
    const auto size = static_cast<int64_t>(blob.size());
    if (starts.size() != lengths.size()) throw std::invalid_argument("starts and lengths disagree");
    int64_t total = 0;
    for (size_t i = 0; i < starts.size(); ++i) {
        if (starts[i] < 0 || lengths[i] < 0 || lengths[i] > size || starts[i] > size - lengths[i])
            throw std::invalid_argument("a string is outside of the blob");
        total += lengths[i];
    }
    std::vector<uint8_t> found(static_cast<size_t>(total));
    uint8_t* to = found.data();
    for (size_t i = 0; i < starts.size(); ++i) to = std::copy_n(blob.data() + starts[i], static_cast<size_t>(lengths[i]), to);
    return found;
}

// Numbers the strings of a table, in order of first appearance if they are new.
inline std::vector<int32_t> intern_buffer(const StringTable& given, Interner& strings) {
    given.check();
    std::vector<int32_t> ids(given.size());
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = strings.intern(given[i]);
    return ids;
}

// The ids of the strings of a table, -1 if they are not known.
inline std::vector<int32_t> find_all(const StringTable& wanted, const Interner& strings) {
    std::vector<int32_t> ids(wanted.size());
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = strings.find(wanted[i]);
    return ids;
}

// The index of each wanted string in a table of distinct strings, -1 if it is not there.
inline std::vector<int32_t> match_strings(const StringTable& known, const StringTable& wanted) {
    known.check("known strings and their offsets disagree");
    wanted.check("query strings and their offsets disagree");
    Interner strings;
    strings.reserve(known.size());
    intern_buffer(known, strings);
    return find_all(wanted, strings);
}

// The same for keys.
inline std::vector<int32_t> match_keys(const Array<uint64_t>& known, const Array<uint64_t>& wanted) {
    KeyInterner keys;
    keys.reserve(known.size());
    for (const uint64_t key : known) keys.intern(key);
    std::vector<int32_t> ids;
    ids.reserve(wanted.size());
    for (const uint64_t key : wanted) ids.push_back(keys.find(key));
    return ids;
}

// Adds the strings of a table with their indices as ids. Throws `twice` if a string occurs twice.
inline void intern_all(const StringTable& table, Interner& strings, const char* twice) {
    strings.reserve(table.size());
    for (size_t i = 0; i < table.size(); ++i)
        if (strings.intern(table[i]) != static_cast<int32_t>(i)) throw std::invalid_argument(twice);
}
