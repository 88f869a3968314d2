// Listing: from the features that each template finds to those that each token has.
//
//     features of token t = its ready-made attributes, then base_T + feature of template T at t, template by template
//
// Templates are numbered one after the other, (T, n); training reads token after token. Tokens are turned around in
// blocks, so that what a block reads and writes stays in the nearest cache.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/array.h"

// Ready-made attributes of tokens, and their values where they are not all 1.
struct Attributes {
    Csr ids;
    std::optional<Array<float>> values;
};

struct TemplateFeatures {
    Matrix<int32_t> local;  // (T, n), below 0 or past the template's size is none
    Array<int64_t> bases;   // T + 1
    Array<bool> wanted;     // T: whether a template counts
    std::optional<Attributes> ready;
    std::optional<Array<bool>> kept;  // which ids count; those past it do not
    int32_t last;                     // a feature that every token has, unless it is below 0

    void check() const;
    bool has_values() const { return ready && ready->values; }
};

struct ListedFeatures {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> ids;
    std::vector<float> values;
};

ListedFeatures list_features(const TemplateFeatures& features);
