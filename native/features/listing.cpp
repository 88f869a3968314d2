// Listing: from the features that each template finds to those that each token has.
//
//     features of token t = its ready-made attributes, then base_T + feature of template T at t, template by template
//
// Templates are numbered one after the other, (T, n); training reads token after token. Tokens are turned around in
// blocks, so that what a block reads and writes stays in the nearest cache.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>

#include "bindings/arrays.h"
#include "bindings/bindings.h"

namespace {

using Attributes = std::tuple<In<int64_t>, In<int32_t>, std::optional<In<float>>>;  // offsets by token, ids, values

class Listing {
   public:
    Listing(In2<int32_t> local, In<int64_t> bases, In<bool> wanted, std::optional<Attributes> ready, std::optional<In<bool>> kept,
            int32_t last)
        : local_(local), bases_(bases), wanted_(wanted), ready_(ready), kept_(kept), last_(last), n_(local.shape(1)) {
        if (bases.shape(0) != local.shape(0) + 1 || wanted.shape(0) != local.shape(0))
            throw nb::value_error("features, bases and wanted templates disagree");
        if (!ready) return;
        const auto& [offsets, ids, values] = *ready;
        check_offsets(offsets, ids.shape(0), "attributes and their offsets disagree");
        if (offsets.shape(0) != n_ + 1 || (values && values->shape(0) != ids.shape(0)))
            throw nb::value_error("attributes and tokens disagree");
    }

    // Block by block: how many features each token has, then which.
    void list() {
        offsets.reserve(n_ + 1);
        ids.reserve(n_ * (local_.shape(0) + 1));
        for (size_t start = 0; start < n_; start += kBlock) {
            const size_t end = std::min(n_, start + kBlock);
            int64_t cursor[kBlock] = {};
            each(start, end, [&](size_t t, int32_t, float) { ++cursor[t - start]; });
            for (size_t t = start; t < end; ++t) {
                offsets.push_back(offsets.back() + cursor[t - start]);
                cursor[t - start] = offsets[t];
            }
            ids.resize(static_cast<size_t>(offsets.back()));
            if (has_values()) values.resize(ids.size());
            each(start, end, [&](size_t t, int32_t id, float value) {
                const auto at = static_cast<size_t>(cursor[t - start]++);
                ids[at] = id;
                if (has_values()) values[at] = value;
            });
        }
    }

    bool has_values() const { return ready_ && std::get<2>(*ready_); }

    std::vector<int64_t> offsets{0};
    std::vector<int32_t> ids;
    std::vector<float> values;

   private:
    static constexpr size_t kBlock = 256;

    bool keeps(int64_t id) const { return !kept_ || (static_cast<size_t>(id) < kept_->shape(0) && kept_->data()[id]); }

    // Calls use(token, feature, value) for the features of some tokens, those of a token in order.
    template <typename Use>
    void each(size_t start, size_t end, Use use) const {
        if (ready_) each_attribute(start, end, use);
        for (size_t T = 0; T < local_.shape(0); ++T) {
            if (!wanted_.data()[T]) continue;
            const int32_t* row = local_.data() + T * n_;
            const int64_t base = bases_.data()[T], size = bases_.data()[T + 1] - base;
            for (size_t t = start; t < end; ++t)
                if (row[t] >= 0 && row[t] < size && keeps(base + row[t])) use(t, static_cast<int32_t>(base + row[t]), 1.0f);
        }
        for (size_t t = start; last_ >= 0 && t < end; ++t) use(t, last_, 1.0f);
    }

    template <typename Use>
    void each_attribute(size_t start, size_t end, Use use) const {
        const auto& [offsets, ids, values] = *ready_;
        for (size_t t = start; t < end; ++t)
            for (int64_t i = offsets.data()[t]; i < offsets.data()[t + 1]; ++i)
                if (ids.data()[i] >= 0 && keeps(ids.data()[i])) use(t, ids.data()[i], values ? values->data()[i] : 1.0f);
    }

    In2<int32_t> local_;
    In<int64_t> bases_;
    In<bool> wanted_;
    std::optional<Attributes> ready_;
    std::optional<In<bool>> kept_;
    int32_t last_;
    size_t n_;
};

}  // namespace

void bind_listing(nb::module_& m) {
    m.def(
        "list_features",
        [](In2<int32_t> local, In<int64_t> bases, In<bool> wanted, std::optional<Attributes> ready, std::optional<In<bool>> kept,
           int32_t last) {
            Listing listing(local, bases, wanted, ready, kept, last);
            {
                nb::gil_scoped_release release;
                listing.list();
            }
            nb::object values = nb::none();
            if (listing.has_values()) values = nb::cast(to_numpy(std::move(listing.values)));
            return nb::make_tuple(to_numpy(std::move(listing.offsets)), to_numpy(std::move(listing.ids)), values);
        },
        nb::arg("local"), nb::arg("bases"), nb::arg("wanted"), nb::arg("ready").none(), nb::arg("kept").none(), nb::arg("last"),
        "The features of each token: its attributes, those of the wanted templates ((T, n), below 0 or past the template's "
        "size is none), then `last` unless it is below 0. `kept` marks the ids that count, those past it do not. "
        "(offsets, ids, values or None).");
}
