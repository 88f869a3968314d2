// Builds feature maps from stored content, and merges two maps.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/string_table.h"
#include "features/feature_map.h"

// The stored content of a map: strings of each column, values of each function, keys of each template.
struct StoredMap {
    struct Keys {
        Array<uint64_t> prefixes, finals;
    };
    std::vector<StringTable> strings, values;
    std::vector<Keys> keys;
};

// Fills an empty map.
void restore(FeatureMap& map, const StoredMap& stored);
// Adds all strings and features of a map with the same templates. Returns the ids here of its features, for each template.
std::vector<std::vector<int32_t>> absorb(FeatureMap& map, const FeatureMap& other);
// Returns the feature ids of pairs of values for a template of two atoms, adding new ones.
std::vector<int32_t> intern_pairs(FeatureMap& map, size_t t, const Array<int32_t>& first, const Array<int32_t>& second);
