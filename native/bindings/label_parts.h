// Parts of labels that come from Python.
#pragma once
#include "bindings/arrays.h"
#include "core/label_parts.h"

using PartArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, size_t>>;  // parts of each label, number of parts

inline LabelParts parts_of(const PartArrays& arrays) {
    if (!arrays) return {};
    const auto& [offsets, ids, n_parts] = *arrays;
    return {Csr{view(offsets), view(ids)}, n_parts};
}
