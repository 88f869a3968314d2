// How structs of the core are unpacked from tuples and packed into them.
#pragma once
#include "bindings/arrays.h"
#include "chain/lattice_batch.h"
#include "core/label_parts.h"
#include "core/slots.h"
#include "counting/counting.h"
#include "features/corpus_features.h"
#include "features/listing.h"

namespace nanobind::detail {

template <>
struct type_caster<StringColumn> : fields_caster<StringColumn, Array<int32_t>, Array<uint8_t>, Array<int64_t>> {};
template <>
struct type_caster<Attributes> : fields_caster<Attributes, Array<int64_t>, Array<int32_t>, std::optional<Array<float>>> {
};  // offsets by token, ids, values
template <>
struct type_caster<LabelCounts> : fields_caster<LabelCounts, Array<int64_t>, Array<int32_t>, Array<int64_t>> {};
template <>
struct type_caster<FeatureSlots> : fields_caster<FeatureSlots, Csr, Csr> {};
template <>
struct type_caster<CountTable> : result_caster<CountTable, &CountTable::offsets, &CountTable::labels, &CountTable::counts> {};

template <>  // row offsets by first label, pairs of the second and third label, scores
struct type_caster<TripleScores> : fields_caster<TripleScores, Array<int64_t>, Array<int32_t>, Array<float>> {};

}  // namespace nanobind::detail

using PartArrays = std::optional<std::tuple<Array<int64_t>, Array<int32_t>, size_t>>;  // parts of each label, number of parts
inline LabelParts parts_of(const PartArrays& arrays) {
    if (!arrays) return {};
    const auto& [offsets, ids, n_parts] = *arrays;
    return {Csr{offsets, ids}, n_parts};
}

// Shares a WordPairs among Python objects.
struct WordPairsHandle {
    std::shared_ptr<const WordPairs> table;
};

// The edge features of tokens, and the weights of features: (offsets, ids, weights).
using ExtraArrays = std::optional<std::tuple<Array<int64_t>, Array<int32_t>, EdgeFeatureWeights>>;
inline LatticeBatch lattice_of(const Array<int64_t>& sentences, const Array<int64_t>& offsets, const Array<int32_t>& labels,
                               const Array<float>& scores, const Edges& edges, const ExtraArrays& arrays) {
    std::optional<WeightedEdgeFeatures> extra;
    if (arrays) extra = {{std::get<0>(*arrays), std::get<1>(*arrays)}, std::get<2>(*arrays)};
    return LatticeBatch(sentences, {offsets, labels}, scores, edges, std::move(extra));
}
