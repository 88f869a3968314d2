// Sparse features of tokens over sparse weights, as they come from Python: checked once, then read without checks.
#pragma once
#include <optional>
#include <tuple>

#include "bindings/arrays.h"
#include "core/slots.h"

using Csr = std::tuple<In<int64_t>, In<int32_t>>;  // offsets, ids

// Label triples as rows by the label two back, of pairs of the labels after it: K + 1 rows, labels up to K, the boundary.
inline void check_triples(const In<int64_t>& offsets, const In<int32_t>& pairs, size_t n_labels) {
    const size_t size = n_labels + 1;
    if (offsets.shape(0) != size + 1) throw nb::value_error("label triples disagree with the labels");
    check_offsets(offsets, pairs.shape(0), "label triples disagree with the labels");
    for (size_t y = 0; y < size; ++y)
        for (int64_t s = offsets(y); s < offsets(y + 1); ++s)
            if (pairs(s) < 0 || static_cast<size_t>(pairs(s)) >= size * size || (s > offsets(y) && pairs(s) <= pairs(s - 1)))
                throw nb::value_error("label triples are out of range or out of order");
}

// Features of tokens and the slots of their weights, checked.
struct SparseFeatures {
    Csr slot_arrays, features;
    std::optional<In<float>> values;
    Slots slots;

    SparseFeatures(Csr slots_of, Csr features_of, std::optional<In<float>> v, size_t n_tokens, size_t n_labels)
        : slot_arrays(slots_of), features(features_of), values(v), slots(checked(slots_of, n_labels)) {
        const auto& [places, ids] = features;
        if (places.shape(0) != n_tokens + 1 || (values && values->shape(0) != ids.shape(0)))
            throw nb::value_error("features and tokens disagree");
        check_offsets(places, ids.shape(0), "features and tokens disagree");
        for (size_t i = 0; i < ids.shape(0); ++i)
            if (ids(i) < 0 || static_cast<size_t>(ids(i)) >= slots.n_features()) throw nb::value_error("feature id out of range");
    }

    static Slots checked(const Csr& arrays, size_t n_labels) {
        const auto& [offsets, labels] = arrays;
        check_offsets(offsets, labels.shape(0), "slots disagree");
        for (size_t f = 0; f + 1 < offsets.shape(0); ++f)
            for (int64_t s = offsets(f); s < offsets(f + 1); ++s)
                if (labels(s) < 0 || static_cast<size_t>(labels(s)) >= n_labels || (s > offsets(f) && labels(s) <= labels(s - 1)))
                    throw nb::value_error("labels of slots are out of range or out of order");
        return Slots(offsets.data(), labels.data(), offsets.shape(0) - 1, n_labels);
    }

    size_t size() const { return static_cast<size_t>(slots.size()); }
    int64_t begin(int64_t token) const { return std::get<0>(features).data()[token]; }
    int32_t id(int64_t i) const { return std::get<1>(features).data()[i]; }
    float value(int64_t i) const { return values ? values->data()[i] : 1.0f; }
    int32_t label(int64_t slot) const { return std::get<1>(slot_arrays).data()[slot]; }

    // Calls use(feature, value) for each feature of a token.
    template <typename Use>
    void each(int64_t token, Use use) const {
        const int64_t last = begin(token + 1);
        for (int64_t i = begin(token); i < last; ++i) use(id(i), value(i));
    }
    void prefetch_places(int64_t token) const {
        each(token, [&](int32_t f, float) { slots.prefetch_place(f); });
    }
    template <typename Weight>
    void prefetch_slots(int64_t token, const Weight* weights, size_t stride) const {
        each(token, [&](int32_t f, float) { slots.prefetch_slots(f, weights, stride); });
    }
};
