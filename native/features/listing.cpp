// See listing.h.
#include "features/listing.h"

#include <algorithm>

namespace {

class Listing {
   public:
    explicit Listing(const TemplateFeatures& features) : in_(features), n_(features.local.columns()) {}

    // For each block, counts the features of each token, then lists them.
    ListedFeatures list() const {
        ListedFeatures out;
        if (in_.has_values()) out.values.emplace();
        out.offsets.reserve(n_ + 1);
        out.ids.reserve(n_ * (in_.local.rows() + 1));
        for (size_t start = 0; start < n_; start += kBlock) {
            const size_t end = std::min(n_, start + kBlock);
            int64_t cursor[kBlock] = {};
            each(start, end, [&](size_t t, int32_t, float) { ++cursor[t - start]; });
            for (size_t t = start; t < end; ++t) {
                out.offsets.push_back(out.offsets.back() + cursor[t - start]);
                cursor[t - start] = out.offsets[t];
            }
            out.ids.resize(static_cast<size_t>(out.offsets.back()));
            if (out.values) out.values->resize(out.ids.size());
            float* values = out.values ? out.values->data() : nullptr;
            each(start, end, [&](size_t t, int32_t id, float value) {
                const auto at = static_cast<size_t>(cursor[t - start]++);
                out.ids[at] = id;
                if (values != nullptr) values[at] = value;
            });
        }
        return out;
    }

   private:
    static constexpr size_t kBlock = 256;

    bool keeps(int64_t id) const { return !in_.kept || (static_cast<size_t>(id) < in_.kept->size() && (*in_.kept)[id]); }

    // Calls use(token, feature, value) for the features of some tokens. The features of one token come in order.
    template <typename Use>
    void each(size_t start, size_t end, Use use) const {
        if (in_.ready) each_attribute(start, end, use);
        for (size_t T = 0; T < in_.local.rows(); ++T) {
            if (!in_.wanted[T]) continue;
            const int32_t* row = in_.local.row(T);
            const int64_t base = in_.bases[T], size = in_.bases[T + 1] - base;
            for (size_t t = start; t < end; ++t)
                if (row[t] >= 0 && row[t] < size && keeps(base + row[t])) use(t, static_cast<int32_t>(base + row[t]), 1.0f);
        }
        for (size_t t = start; in_.last >= 0 && t < end; ++t) use(t, in_.last, 1.0f);
    }

    template <typename Use>
    void each_attribute(size_t start, size_t end, Use use) const {
        const auto& [offsets, ids] = in_.ready->ids;
        const std::optional<Array<float>>& values = in_.ready->values;
        for (size_t t = start; t < end; ++t)
            for (int64_t i = offsets[t]; i < offsets[t + 1]; ++i)
                if (ids[i] >= 0 && keeps(ids[i])) use(t, ids[i], values ? (*values)[i] : 1.0f);
    }

    const TemplateFeatures& in_;
    size_t n_;
};

}  // namespace

void TemplateFeatures::check() const {
    if (bases.size() != local.rows() + 1 || wanted.size() != local.rows())
        throw std::invalid_argument("features, bases and wanted templates disagree");
    if (!ready) return;
    check_offsets(ready->ids.offsets, ready->ids.ids.size(), "attributes and their offsets disagree");
    if (ready->ids.rows() != local.columns() || (ready->values && ready->values->size() != ready->ids.ids.size()))
        throw std::invalid_argument("attributes and tokens disagree");
}

ListedFeatures list_features(const TemplateFeatures& features) {
    features.check();
    return Listing(features).list();
}
