// Features of a whole corpus: every template at every token.
#pragma once
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/string_table.h"
#include "features/feature_map.h"

// Tokens in columns: for each column, ids into a table of strings.
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

// (T, n) features, numbered within the template, and the string ids of each column's tokens.
struct CorpusFeatures {
    NewMatrix<int32_t> features;
    std::vector<std::vector<int32_t>> strings;
};

// Returns the feature ids and string ids of a corpus, adding new ones.
CorpusFeatures fit_features(FeatureMap& map, const Columns& corpus, size_t threads);
// The same without adding any: -1 if a feature or string is unknown.
CorpusFeatures find_features(const FeatureMap& map, const Columns& corpus);
