// Features of a whole corpus: every template at every token.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/string_table.h"
#include "features/feature_map.h"

// Tokens in columns: ids into a table of strings for each column.
struct StringColumn {
    Array<int32_t> ids;
    StringTable strings;
};
struct Columns {
    std::vector<StringColumn> columns;
    Array<int64_t> sentences;

    size_t n_tokens() const { return static_cast<size_t>(sentences.back()); }
    void check() const;
};

// (T, n) features, each within its template, and the string ids of each column's tokens.
struct CorpusFeatures {
    std::vector<int32_t> features;
    std::vector<std::vector<int32_t>> strings;
};

// Numbers the strings and features of a corpus, adding new ones.
CorpusFeatures fit_features(FeatureMap& map, const Columns& corpus, size_t threads);
// The same without adding any: -1 where a feature or string is not known.
CorpusFeatures find_features(const FeatureMap& map, const Columns& corpus);
