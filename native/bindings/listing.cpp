// Binds features/listing.h.
#include "features/listing.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"

void bind_listing(nb::module_& m) {
    using AttributeArrays = std::tuple<In<int64_t>, In<int32_t>, std::optional<In<float>>>;  // offsets by token, ids, values
    m.def(
        "list_features",
        [](const In2<int32_t>& local, const In<int64_t>& bases, const In<bool>& wanted,
           const std::optional<AttributeArrays>& ready, const std::optional<In<bool>>& kept, int32_t last) {
            TemplateFeatures features{view(local), view(bases), view(wanted), std::nullopt, view(kept), last};
            if (ready) {
                const auto& [offsets, ids, values] = *ready;
                features.ready = Attributes{{view(offsets), view(ids)}, view(values)};
            }
            features.check();
            ListedFeatures listed = unlocked([&] { return list_features(features); });
            nb::object values = nb::none();
            if (features.has_values()) values = nb::cast(to_numpy(std::move(listed.values)));
            return nb::make_tuple(to_numpy(std::move(listed.offsets)), to_numpy(std::move(listed.ids)), values);
        },
        nb::arg("local"), nb::arg("bases"), nb::arg("wanted"), nb::arg("ready").none(), nb::arg("kept").none(), nb::arg("last"),
        "The features of each token: its attributes, the features of the wanted templates, then `last` unless it is negative. "
        "`local` is (T, n); negative ids and ids beyond the template's size are ignored. `kept` marks the ids to keep. Returns "
        "(offsets, ids, values or None).");
}
