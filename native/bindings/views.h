// Views of what kernels take, from tuples of arrays that come from Python.
#pragma once
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>

#include "bindings/arrays.h"
#include "chain/lattice_batch.h"
#include "core/label_parts.h"
#include "core/slots.h"
#include "counting/counting.h"
#include "features/corpus_features.h"
#include "features/listing.h"

inline StringTable view(const StringArrays& arrays) { return {view(std::get<0>(arrays)), view(std::get<1>(arrays))}; }
inline StringColumn view(const ColumnArrays& arrays) {
    const auto& [ids, blob, offsets] = arrays;
    return {view(ids), {view(blob), view(offsets)}};
}
// A table of strings, with its offsets checked.
inline StringTable strings_of(const In<uint8_t>& blob, const In<int64_t>& offsets,
                              const char* what = "strings and their offsets disagree") {
    StringTable strings{view(blob), view(offsets)};
    check_offsets(strings.offsets, strings.blob.size(), what);
    return strings;
}

// What `convert` makes of each of several arguments.
template <typename From, typename Convert>
auto each_as(const std::vector<From>& all, Convert convert) {
    std::vector<decltype(convert(all[0]))> found;
    found.reserve(all.size());
    std::ranges::transform(all, std::back_inserter(found), convert);
    return found;
}
inline std::vector<StringTable> views(const std::vector<StringArrays>& all) {
    return each_as(all, [](const StringArrays& arrays) { return view(arrays); });
}
inline Columns view(const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences) {
    return {each_as(columns, [](const ColumnArrays& arrays) { return view(arrays); }), view(sentences)};
}

// Ready-made features of tokens: offsets by token, ids, values.
using AttributeArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, std::optional<In<float>>>>;
inline std::optional<Attributes> view(const AttributeArrays& arrays) {
    if (!arrays) return std::nullopt;
    const auto& [offsets, ids, values] = *arrays;
    return Attributes{{view(offsets), view(ids)}, view(values)};
}

inline LabelCounts view(const LabelCountArrays& arrays) {
    return {view(std::get<0>(arrays)), view(std::get<1>(arrays)), view(std::get<2>(arrays))};
}
inline LabelCounts checked(const LabelCountArrays& arrays, size_t n_labels) {
    LabelCounts counts = view(arrays);
    counts.check(n_labels);
    return counts;
}

using PartArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, size_t>>;  // parts of each label, number of parts
inline LabelParts parts_of(const PartArrays& arrays) {
    if (!arrays) return {};
    const auto& [offsets, ids, n_parts] = *arrays;
    return {Csr{view(offsets), view(ids)}, n_parts};
}

using FeatureSlotArrays = std::tuple<CsrArrays, CsrArrays>;  // slots, features
inline FeatureSlots view(const FeatureSlotArrays& arrays) { return {view(std::get<0>(arrays)), view(std::get<1>(arrays))}; }
inline std::optional<FeatureSlots> view(const std::optional<FeatureSlotArrays>& arrays) {
    return arrays ? std::optional(view(*arrays)) : std::nullopt;
}

// Shares a WordPairs among Python objects.
struct WordPairsHandle {
    std::shared_ptr<const WordPairs> table;
};

// The edge features of tokens, and the weights of features: (offsets, ids, weights).
using ExtraArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, EdgeFeatureWeights>>;
inline LatticeBatch lattice_of(const In<int64_t>& sentences, const In<int64_t>& offsets, const In<int32_t>& labels,
                               const In<float>& scores, const Edges& edges, const ExtraArrays& arrays) {
    std::optional<WeightedEdgeFeatures> extra;
    if (arrays) extra = {{view(std::get<0>(*arrays)), view(std::get<1>(*arrays))}, std::get<2>(*arrays)};
    return LatticeBatch(view(sentences), {view(offsets), view(labels)}, view(scores), edges, std::move(extra));
}
