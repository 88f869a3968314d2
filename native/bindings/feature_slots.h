// Views of token features and their weight slots that come from Python.
#pragma once
#include "bindings/arrays.h"
#include "core/slots.h"

using FeatureSlotArrays = std::tuple<CsrArrays, CsrArrays>;  // slots, features

inline FeatureSlots view(const FeatureSlotArrays& arrays) { return {view(std::get<0>(arrays)), view(std::get<1>(arrays))}; }
inline std::optional<FeatureSlots> view(const std::optional<FeatureSlotArrays>& arrays) {
    return arrays ? std::optional(view(*arrays)) : std::nullopt;
}
