// See feature_stream.h.
#include "features/feature_stream.h"

#include <algorithm>

namespace {

// How many items ahead to prefetch.
constexpr size_t kAhead = 16;
// Items with more tokens than this sort as equal.
constexpr int32_t kMostTokens = 63;

// Calls use(token, index in the group) for each token of a group.
template <typename Use>
void each_token(const FeatureStream::Group& group, Use use) {
    int32_t i = 0;
    for (const auto& [first, length] : group)
        for (int64_t t = first; t < first + static_cast<int64_t>(length); ++t) use(t, i++);
}

}  // namespace

FeatureStream::FeatureStream(const SparseFeatures& features, const std::vector<Group>& groups, size_t n_labels)
    : features_(features), many_(static_cast<int32_t>(std::max<size_t>(5, n_labels / 8))) {
    const auto n_features = static_cast<int32_t>(features.slots.n_features());
    for (int32_t f = 0; f < n_features; ++f) row_of_.push_back(slots_of(f) >= many_ ? static_cast<int32_t>(n_rows_++) : -1);
    tokens_.reserve(features.features.ids.size());
    Listing work;
    work.item_of.assign(features.slots.n_features(), -1);
    for (const Group& group : groups) {
        list_items(group, work);
        list_rows(group);
    }
}

void FeatureStream::list_items(const Group& group, Listing& work) {
    std::vector<int32_t>& item_of = work.item_of;
    std::vector<size_t>& next = work.next;
    work.keys.clear();
    next.clear();
    each_token(group, [&](int64_t t, int32_t) {
        features_.each(t, [&](int32_t f, float) {
            int32_t& item = item_of[static_cast<size_t>(f)];
            if (item < 0) {
                item = static_cast<int32_t>(next.size());
                work.keys.push_back(static_cast<uint64_t>(f));
                next.push_back(0);
            }
            ++next[static_cast<size_t>(item)];
        });
    });
    for (uint64_t& key : work.keys) {
        const auto f = static_cast<int32_t>(key);
        const size_t count = std::min<size_t>(next[static_cast<size_t>(item_of[static_cast<size_t>(f)])], kMostTokens);
        key |= static_cast<uint64_t>(std::min(slots_of(f), many_)) << 48 | static_cast<uint64_t>(count) << 32;
    }
    std::sort(work.keys.begin(), work.keys.end());
    std::vector<size_t> counts(next);
    size_t end = tokens_.size();
    for (size_t k = 0; k < work.keys.size(); ++k) {
        const auto f = static_cast<int32_t>(work.keys[k] & 0xffffffffu);
        int32_t& item = item_of[static_cast<size_t>(f)];
        next[k] = end;
        end += counts[static_cast<size_t>(item)];
        item = static_cast<int32_t>(k);
        items_.push_back({static_cast<int32_t>(features_.slots.begin(f)), slots_of(f), end});
    }
    tokens_.resize(end);
    if (features_.values) values_.resize(end);
    each_token(group, [&](int64_t t, int32_t i) {
        features_.each(t, [&](int32_t f, float v) {
            const size_t at = next[static_cast<size_t>(item_of[static_cast<size_t>(f)])]++;
            tokens_[at] = i;
            if (features_.values) values_[at] = v;
        });
    });
    for (const uint64_t key : work.keys) item_of[key & 0xffffffffu] = -1;
    first_item_.push_back(items_.size());
}

void FeatureStream::list_rows(const Group& group) {
    each_token(group, [&](int64_t t, int32_t) {
        features_.each(t, [&](int32_t f, float v) {
            if (row_of_[static_cast<size_t>(f)] < 0) return;
            rows_.push_back(row_of_[static_cast<size_t>(f)]);
            row_values_.push_back(v);
        });
        first_row_.push_back(rows_.size());
    });
    first_token_.push_back(first_row_.size() - 1);
}

void FeatureStream::open(Rows& rows, const float* weights, size_t stride) const {
    rows.stride = stride;
    rows.weights.assign(n_rows_ * stride, 0.0f);
    for (size_t f = 0; f < row_of_.size(); ++f) {
        if (row_of_[f] < 0) continue;
        float* row = rows.weights.data() + static_cast<size_t>(row_of_[f]) * stride;
        const auto id = static_cast<int32_t>(f);
        for (int64_t s = features_.slots.begin(id); s < features_.slots.end(id); ++s) row[features_.label(s)] = weights[s];
    }
}

template <typename Weight>
void FeatureStream::prefetch_item(size_t item, size_t end, const Weight* weights) const {
    if (item >= end) return;
    prefetch(weights + items_[item].slot);
    prefetch(features_.slot_arrays.ids.data() + items_[item].slot);
}

void FeatureStream::add_scores(size_t group, const float* weights, const Rows& rows, float* const* out) const {
    const size_t last = first_item_[group + 1];
    for (size_t k = first_item_[group]; k < last; ++k) {
        prefetch_item(k + kAhead, last, weights);
        const Item& item = items_[k];
        if (item.slots >= many_) break;  // the rest have many as well
        for (int32_t s = item.slot; s < item.slot + item.slots; ++s) {
            const int32_t y = features_.label(s);
            for (size_t i = first_of(k); i < item.end; ++i) out[tokens_[i]][y] += value(i) * weights[s];
        }
    }
    const size_t first = first_token_[group];
    for (size_t t = first; t < first_token_[group + 1]; ++t) {
        const size_t at = first_row_[t];
        add_rows(out[t - first], rows.weights.data(), rows_.data() + at, row_values_.data() + at, first_row_[t + 1] - at,
                 rows.stride);
    }
}

void FeatureStream::add_gradient(size_t group, const float* const* residuals, size_t stride, double* gradient, size_t part,
                                 size_t parts) const {
    Tiles sums(stride);
    const size_t last = first_item_[group + 1];
    for (size_t k = first_item_[group]; k < last; ++k) {
        prefetch_item(k + kAhead, last, gradient);
        if (parts == 1 || static_cast<size_t>(items_[k].slot) % parts == part)
            add_sums(items_[k], first_of(k), residuals, stride, sums.data(), gradient);
    }
}

void FeatureStream::add_sums(const Item& item, size_t begin, const float* const* residuals, size_t stride, float* sums,
                             double* gradient) const {
    const size_t count = item.end - begin;
    if (count > 1 && static_cast<size_t>(item.slots) > stride / kTile) {  // whole rows are faster
        sum_rows(sums, residuals, tokens_.data() + begin, values_.empty() ? nullptr : values_.data() + begin, count, stride);
        for (int32_t s = item.slot; s < item.slot + item.slots; ++s) gradient[s] += static_cast<double>(sums[features_.label(s)]);
        return;
    }
    for (int32_t s = item.slot; s < item.slot + item.slots; ++s) {
        const int32_t y = features_.label(s);
        float sum = 0.0f;
        for (size_t i = begin; i < item.end; ++i) sum += value(i) * residuals[tokens_[i]][y];
        gradient[s] += static_cast<double>(sum);
    }
}
