// Views of label count tables that come from Python.
#pragma once
#include "bindings/arrays.h"
#include "counting/counting.h"

inline LabelCounts view(const LabelCountArrays& arrays) {
    return {view(std::get<0>(arrays)), view(std::get<1>(arrays)), view(std::get<2>(arrays))};
}

inline LabelCounts checked(const LabelCountArrays& arrays, size_t n_labels) {
    LabelCounts counts = view(arrays);
    counts.check(n_labels);
    return counts;
}
