// Turns the features of each template into the features of each token.
//
//     features of token t = its ready-made attributes, then base_T + feature of template T at t, template by template
//
// Input is by template, (T, n); training reads token by token. Tokens are transposed in blocks that fit in the nearest cache.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/array.h"

// Ready-made attributes of tokens, and their values if they are not all 1.
struct Attributes {
    Csr ids;
    std::optional<Array<float>> values;
};

struct TemplateFeatures {
    Matrix<int32_t> local;  // (T, n); negative ids and ids beyond the template's size are ignored
    Array<int64_t> bases;   // T + 1
    Array<bool> wanted;     // T: whether to use the template
    std::optional<Attributes> ready;
    std::optional<Array<bool>> kept;  // which ids to keep; ids beyond its size are dropped
    int32_t last;                     // a feature of every token, unless negative

    void check() const;
    bool has_values() const { return ready && ready->values; }
};

struct ListedFeatures {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> ids;
    std::optional<std::vector<float>> values;  // if attributes have values
};

ListedFeatures list_features(const TemplateFeatures& features);
