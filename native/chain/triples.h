// Scores of label triples, for second-order models. They form a sparse matrix: a row for the first label, a column for
// each pair of the second and third. Entries are found by hashing, since most lookups fail.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/array.h"
#include "core/label_pairs.h"

// Checks rows of label pairs (second, third label) by first label: K + 1 rows, labels up to K, the boundary.
inline void check_triples(const Csr& rows, size_t n_labels) {
    const auto& [offsets, pairs] = rows;
    const LabelPairs all(n_labels);
    if (offsets.size() != all.stride() + 1) throw std::invalid_argument("label triples disagree with the labels");
    check_offsets(offsets, pairs.size(), "label triples disagree with the labels");
    check_rising(offsets, pairs, all.size(), "label triples are out of range or out of order");
}

class Triples {
   public:
    static constexpr int32_t kAbsent = -1;

    Triples() = default;

    // Row y holds the pairs z (K + 1) + w from offsets[y] to offsets[y + 1], ascending. Label K is the boundary.
    Triples(const int64_t* offsets, const int32_t* pairs, size_t n_labels) : pairs_(n_labels) {
        const size_t rows = pairs_.stride(), n = static_cast<size_t>(offsets[rows]);
        if (n > static_cast<size_t>(INT32_MAX) / 2) throw std::length_error("too many label triples");
        for (size_t room = 2 * n; n > 0 && (mask_ == 0 || mask_ < room);) mask_ = 2 * mask_ + 1;
        if (n > 0) places_.assign(mask_ + 1, {0, kAbsent});
        if (n_labels <= kMostFiltered) {
            begins_.assign(pairs_.size(), false);
            ends_.assign(pairs_.size(), false);
        }
        for (size_t y = 0; y < rows; ++y)
            for (int64_t s = offsets[y]; s < offsets[y + 1]; ++s) {
                const uint64_t key = key_of(y, static_cast<size_t>(pairs[s]));
                size_t at = start(key);
                while (places_[at].slot != kAbsent) at = (at + 1) & mask_;
                places_[at] = {key, static_cast<int32_t>(s)};
                const size_t z = pairs_.first(static_cast<size_t>(pairs[s])), w = pairs_.second(static_cast<size_t>(pairs[s]));
                if (!begins_.empty()) begins_[pairs_.at(y, z)] = ends_[pairs_.at(z, w)] = true;
                if (std::max({y, z, w}) < n_labels)
                    inner_.push_back({(y * n_labels + z) * n_labels + w, static_cast<int32_t>(s)});
            }
        size_ = n;
    }

    bool empty() const { return size_ == 0; }
    size_t size() const { return size_; }

    // The slot of the triple y, z, w, or kAbsent if it has no score.
    int32_t find(int32_t y, int32_t z, int32_t w) const {
        const uint64_t key = key_of(static_cast<size_t>(y), pairs_.at(static_cast<size_t>(z), static_cast<size_t>(w)));
        for (size_t at = start(key);; at = (at + 1) & mask_) {
            const Place& place = places_[at];
            if (place.slot == kAbsent || place.key == key) return place.slot;
        }
    }

    // Calls use(i, slot) for each triple from[h], over[k], to[l] that has a score. i is its index among all triples of
    // these candidates.
    template <typename Use>
    void each(const int32_t* from, size_t n_from, const int32_t* over, size_t n_over, const int32_t* to, size_t n_to,
              Use use) const {
        // All labels are candidates, in order. A single candidate may be the boundary.
        if (pairs_.n_labels() > 1 && std::min({n_from, n_over, n_to}) == pairs_.n_labels()) {
            for (const auto& [i, slot] : inner_) use(i, slot);
            return;
        }
        size_t i = 0;
        for (size_t h = 0; h < n_from; ++h)
            for (size_t k = 0; k < n_over; ++k, i += n_to) {
                if (!may(begins_, from[h], over[k])) continue;
                for (size_t l = 0; l < n_to; ++l) {
                    if (!may(ends_, over[k], to[l])) continue;
                    const int32_t slot = find(from[h], over[k], to[l]);
                    if (slot != kAbsent) use(i + l, slot);
                }
            }
    }

   private:
    struct Place {
        uint64_t key;
        int32_t slot;
    };

    // With at most this many labels, pairs are filtered first: most pairs are not part of any triple and need no search.
    static constexpr size_t kMostFiltered = 4096;

    bool may(const std::vector<bool>& pairs, int32_t y, int32_t z) const {
        return pairs.empty() || pairs[pairs_.at(static_cast<size_t>(y), static_cast<size_t>(z))];
    }
    uint64_t key_of(size_t y, size_t pair) const { return static_cast<uint64_t>(y) * pairs_.size() + pair; }
    size_t start(uint64_t key) const { return static_cast<size_t>((key * 0x9E3779B97F4A7C15ull) >> 32) & mask_; }

    LabelPairs pairs_;
    size_t size_ = 0, mask_ = 0;
    std::vector<Place> places_;
    std::vector<bool> begins_, ends_;                // by label pair
    std::vector<std::pair<size_t, int32_t>> inner_;  // triples without a boundary: index among all of them, and slot
};
