// Views of token columns that come from Python.
#pragma once
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "features/corpus_features.h"

inline Columns view(const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences) {
    Columns corpus{{}, view(sentences)};
    for (const auto& [ids, blob, offsets] : columns) corpus.columns.push_back({view(ids), {view(blob), view(offsets)}});
    return corpus;
}
