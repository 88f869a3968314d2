// Feature maps put together from others: from what was stored of one, or by taking in another.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/string_table.h"
#include "features/feature_map.h"

// What is stored of a map: strings of each column, values of each function, keys of each template.
struct StoredMap {
    struct Keys {
        Array<uint64_t> prefixes, finals;
    };
    std::vector<StringTable> strings, values;
    std::vector<Keys> keys;
};

// Fills an empty map.
void restore(FeatureMap& map, const StoredMap& stored);
// Takes in all strings and features of a map of the same templates; returns its features' numbers here, for each template.
std::vector<std::vector<int32_t>> absorb(FeatureMap& map, const FeatureMap& other);
// Numbers pairs of values as features of a template of two atoms.
std::vector<int32_t> intern_pairs(FeatureMap& map, size_t t, const Array<int32_t>& first, const Array<int32_t>& second);
