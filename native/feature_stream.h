// What batch optimisers read again and again of features over a full lattice, laid out in the order it is read.
//
// Features seen with many of the labels, of which a few make most of the work, have whole rows of weights and of sums of
// gradients, which vectors are quick at; of the others each token has its slots with their labels.
#pragma once
#include <cstdint>
#include <vector>

#include "sparse_features.h"
#include "vectors.h"

class FeatureStream {
   public:
    // Rows of weights and of sums for one evaluation; `stride` floats each, a multiple of 32.
    struct Rows {
        size_t stride = 0;
        std::vector<float> weights;
        std::vector<double> sums;
    };

    FeatureStream(const SparseFeatures& features, size_t n_tokens, size_t n_labels) : features_(features) {
        const Slots& slots = features.slots;
        const auto many = static_cast<int64_t>(std::max<size_t>(5, n_labels / 8));
        long_of_.assign(slots.n_features(), -1);
        for (int32_t f = 0; static_cast<size_t>(f) < slots.n_features(); ++f)
            if (slots.end(f) - slots.begin(f) >= many) long_of_[static_cast<size_t>(f)] = static_cast<int32_t>(n_long_++);
        for (int64_t t = 0; t < static_cast<int64_t>(n_tokens); ++t) add_token(t);
    }

    // Rows with the weights in their places and all sums zero.
    void open(Rows& rows, const float* weights, size_t stride) const {
        rows.stride = stride;
        rows.weights.assign(n_long_ * stride, 0.0f);
        rows.sums.assign(n_long_ * stride, 0.0);
        each_long_slot([&](size_t row, size_t slot, size_t y) { rows.weights[row * stride + y] = weights[slot]; });
    }

    // out += the scores of a token.
    void add_scores(int64_t token, const float* weights, const Rows& rows, float* out) const {
        const auto t = static_cast<size_t>(token);
        for (size_t i = short_offsets_[t]; i < short_offsets_[t + 1]; ++i)
            out[short_labels_[i]] += (short_values_.empty() ? 1.0f : short_values_[i]) * weights[short_slots_[i]];
        const size_t at = long_offsets_[t];
        add_rows(out, rows.weights.data(), long_rows_.data() + at, long_values_.data() + at, long_offsets_[t + 1] - at, rows.stride);
    }

    // Adds what a token's residuals give that belongs to this part: of the slots every so manyth, of the rows some columns.
    void add_gradient(int64_t token, const float* r, Rows& rows, double* gradient, size_t part, size_t parts) const {
        const auto t = static_cast<size_t>(token);
        for (size_t i = short_offsets_[t]; i < short_offsets_[t + 1]; ++i) {
            const auto slot = static_cast<size_t>(short_slots_[i]);
            if (parts > 1 && slot % parts != part) continue;
            gradient[slot] += static_cast<double>((short_values_.empty() ? 1.0f : short_values_[i]) * r[short_labels_[i]]);
        }
        const size_t at = long_offsets_[t], tiles = rows.stride / 16;
        const size_t begin = tiles * part / parts * 16, end = tiles * (part + 1) / parts * 16;
        spread_row(rows.sums.data() + begin, long_rows_.data() + at, long_values_.data() + at, long_offsets_[t + 1] - at, r + begin,
                   rows.stride, end - begin);
    }

    // The sums of the rows, added to the gradient of their slots.
    void close(const Rows& rows, double* gradient) const {
        each_long_slot([&](size_t row, size_t slot, size_t y) { gradient[slot] += rows.sums[row * rows.stride + y]; });
    }

   private:
    void add_token(int64_t t) {
        features_.each(t, [&](int32_t f, float v) {
            const int32_t row = long_of_[static_cast<size_t>(f)];
            if (row >= 0) {
                long_rows_.push_back(row);
                long_values_.push_back(v);
                return;
            }
            for (int64_t s = features_.slots.begin(f); s < features_.slots.end(f); ++s) {
                short_slots_.push_back(static_cast<int32_t>(s));
                short_labels_.push_back(features_.label(s));
                if (features_.values) short_values_.push_back(v);
            }
        });
        long_offsets_.push_back(long_rows_.size());
        short_offsets_.push_back(short_slots_.size());
    }

    // Calls use(row, slot, label) for every slot of a long row.
    template <typename Use>
    void each_long_slot(Use use) const {
        for (size_t f = 0; f < long_of_.size(); ++f) {
            if (long_of_[f] < 0) continue;
            const auto id = static_cast<int32_t>(f);
            for (int64_t s = features_.slots.begin(id); s < features_.slots.end(id); ++s)
                use(static_cast<size_t>(long_of_[f]), static_cast<size_t>(s), static_cast<size_t>(features_.label(s)));
        }
    }

    const SparseFeatures& features_;
    std::vector<int32_t> long_of_;  // by feature: its row, -1 where its slots are few
    size_t n_long_ = 0;
    std::vector<size_t> long_offsets_{0}, short_offsets_{0};
    std::vector<int32_t> long_rows_, short_slots_, short_labels_;
    std::vector<float> long_values_, short_values_;
};
