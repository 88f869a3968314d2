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

#include "arrays.h"
#include "bindings.h"

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

    // Offsets by token, filled from how many features each has.
    std::vector<int64_t> count() const {
        std::vector<int64_t> offsets(n_ + 1, 0);
        for (size_t start = 0; start < n_; start += kBlock) {
            const size_t end = std::min(n_, start + kBlock);
            each(start, end, [&](size_t t, int32_t, float) { ++offsets[t + 1]; });
        }
        for (size_t t = 0; t < n_; ++t) offsets[t + 1] += offsets[t];
        return offsets;
    }

    void fill(const std::vector<int64_t>& offsets, int32_t* ids, float* values) const {
        int64_t cursor[kBlock];
        for (size_t start = 0; start < n_; start += kBlock) {
            const size_t end = std::min(n_, start + kBlock);
            std::copy(offsets.begin() + static_cast<int64_t>(start), offsets.begin() + static_cast<int64_t>(end), cursor);
            each(start, end, [&](size_t t, int32_t id, float value) {
                const int64_t at = cursor[t - start]++;
                ids[at] = id;
                if (values) values[at] = value;
            });
        }
    }

    bool has_values() const { return ready_ && std::get<2>(*ready_); }

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
            const Listing listing(local, bases, wanted, ready, kept, last);
            std::vector<int64_t> offsets;
            std::vector<int32_t> ids;
            std::vector<float> values;
            {
                nb::gil_scoped_release release;
                offsets = listing.count();
                ids.resize(static_cast<size_t>(offsets.back()));
                if (listing.has_values()) values.resize(ids.size());
                listing.fill(offsets, ids.data(), listing.has_values() ? values.data() : nullptr);
            }
            nb::object of_values = nb::none();
            if (listing.has_values()) of_values = nb::cast(to_numpy(std::move(values)));
            return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(ids)), of_values);
        },
        nb::arg("local"), nb::arg("bases"), nb::arg("wanted"), nb::arg("ready").none(), nb::arg("kept").none(), nb::arg("last"),
        "The features of each token: its attributes, those of the wanted templates ((T, n), below 0 or past the template's "
        "size is none), then `last` unless it is below 0. `kept` marks the ids that count, those past it do not. "
        "(offsets, ids, values or None).");
}
