// Sparse features of tokens with sparse weights. Arrays from Python are checked once, then read without checks.
#pragma once
#include <optional>

#include "core/array.h"
#include "core/slots.h"

// Features of tokens and the slots of their weights, checked.
struct SparseFeatures {
    Csr slot_arrays, features;
    std::optional<Array<float>> values;
    Slots slots;

    SparseFeatures(const FeatureSlots& arrays, std::optional<Array<float>> v, size_t n_tokens, size_t n_labels)
        : slot_arrays(arrays.slots), features(arrays.features), values(std::move(v)), slots(checked(slot_arrays, n_labels)) {
        const auto& [places, ids] = features;
        if (places.size() != n_tokens + 1 || (values && values->size() != ids.size()))
            throw std::invalid_argument("features and tokens disagree");
        check_offsets(places, ids.size(), "features and tokens disagree");
        for (size_t i = 0; i < ids.size(); ++i)
            if (ids[i] < 0 || static_cast<size_t>(ids[i]) >= slots.n_features())
                throw std::invalid_argument("feature id out of range");
    }

    static Slots checked(const Csr& arrays, size_t n_labels) {
        const auto& [offsets, labels] = arrays;
        check_offsets(offsets, labels.size(), "slot offsets and labels disagree");
        check_rising(offsets, labels, n_labels, "labels of slots are out of range or out of order");
        return Slots(offsets.data(), labels.data(), offsets.size() - 1, n_labels);
    }

    size_t size() const { return static_cast<size_t>(slots.size()); }
    int64_t begin(int64_t token) const { return features.offsets[token]; }
    int32_t id(int64_t i) const { return features.ids[i]; }
    float value(int64_t i) const { return values ? (*values)[i] : 1.0f; }
    int32_t label(int64_t slot) const { return slot_arrays.ids[slot]; }

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
