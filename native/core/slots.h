// Weights that are sparse by feature: feature f has slots offsets[f] .. offsets[f + 1), one for each label it was seen with, in
// ascending order. The score of a candidate label is a sum over the slots of the token's features.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/array.h"
#include "core/prefetch.h"

// Features of tokens, and the labels for which each feature has a weight.
struct FeatureSlots {
    Csr slots, features;
};

class Slots {
   public:
    // Features seen with at least this many labels get an index by label; shorter rows are scanned.
    static constexpr int64_t kLong = 24;

    Slots(const int64_t* offsets, const int32_t* labels, size_t n_features, size_t n_labels)
        : offsets_(offsets), labels_(labels), n_features_(n_features), n_labels_(n_labels), index_of_(n_features, -1) {
        for (size_t f = 0; f < n_features; ++f) {
            if (offsets[f + 1] - offsets[f] < kLong) continue;
            index_of_[f] = static_cast<int32_t>(index_.size() / n_labels);
            index_.resize(index_.size() + n_labels, -1);
            int32_t* row = index_.data() + static_cast<size_t>(index_of_[f]) * n_labels;
            for (int64_t s = offsets[f]; s < offsets[f + 1]; ++s) row[labels[s]] = static_cast<int32_t>(s - offsets[f]);
        }
    }

    size_t n_features() const { return n_features_; }
    size_t n_labels() const { return n_labels_; }
    int64_t size() const { return offsets_[n_features_]; }
    int64_t begin(int32_t f) const { return offsets_[f]; }
    int64_t end(int32_t f) const { return offsets_[f + 1]; }

    // Prefetches the slot offsets of a feature, then their labels and weights.
    void prefetch_place(int32_t f) const { prefetch(offsets_ + f); }
    template <typename Weight>
    void prefetch_slots(int32_t f, const Weight* weights, size_t stride) const {
        prefetch(labels_ + offsets_[f]);
        prefetch(weights + stride * static_cast<size_t>(offsets_[f]));
    }

    // Calls use(index among the candidates, slot) for each candidate label for which the feature has a slot.
    template <typename Use>
    void each(int32_t f, const int32_t* candidates, size_t width, Use use) const {
        const int64_t first = offsets_[f], last = offsets_[f + 1];
        if (width == n_labels_) {  // all labels are candidates, in order
            for (int64_t s = first; s < last; ++s) use(static_cast<size_t>(labels_[s]), s);
            return;
        }
        if (index_of_[f] >= 0) {
            const int32_t* row = index_.data() + static_cast<size_t>(index_of_[f]) * n_labels_;
            for (size_t j = 0; j < width; ++j)
                if (row[candidates[j]] >= 0) use(j, first + row[candidates[j]]);
            return;
        }
        size_t j = 0;
        for (int64_t s = first; s < last; ++s) {
            while (j < width && candidates[j] < labels_[s]) ++j;
            if (j == width) return;
            if (candidates[j] == labels_[s]) use(j, s);
        }
    }

   private:
    const int64_t* offsets_;
    const int32_t* labels_;
    size_t n_features_, n_labels_;
    std::vector<int32_t> index_of_, index_;
};
