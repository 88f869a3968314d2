// Binds features/feature_map.h, features/corpus_features.h and features/stored_map.h.
#include "features/feature_map.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/columns.h"
#include "bindings/lookup.h"
#include "features/corpus_features.h"
#include "features/stored_map.h"

namespace {

using FunctionSpec =
    std::tuple<int32_t, int32_t, int32_t, std::string, nb::object, bool>;  // column, kind, number, text, table, unknown only
using AtomSpec = std::tuple<int32_t, int32_t>;                             // function, offset

FeatureMap make_map(size_t n_columns, const std::vector<FunctionSpec>& specs,
                    const std::vector<std::vector<AtomSpec>>& templates) {
    std::vector<Function> functions;
    for (const auto& [column, kind, number, text, table, unknown_only] : specs)
        functions.push_back({column,
                             word_function(kind, number, text, table.is_none() ? nullptr : &nb::cast<LookupHandle&>(table)),
                             unknown_only});
    std::vector<TemplateAtoms> all(templates.size());
    for (size_t t = 0; t < all.size(); ++t)
        for (const auto& [function, offset] : templates[t]) all[t].push_back({function, offset});
    return FeatureMap(n_columns, std::move(functions), std::move(all));
}

nb::list to_list(std::vector<std::vector<int32_t>>&& arrays) {
    nb::list out;
    for (auto& array : arrays) out.append(to_numpy(std::move(array)));
    return out;
}

Columns checked(const FeatureMap& map, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences) {
    Columns corpus = view(columns, sentences);
    corpus.check();
    if (columns.size() != map.n_columns()) throw nb::value_error("wrong number of columns");
    return corpus;
}

nb::tuple to_python(CorpusFeatures&& found, const FeatureMap& map, size_t n) {
    return nb::make_tuple(to_numpy(std::move(found.features), map.n_templates(), n), to_list(std::move(found.strings)));
}

void restore_map(FeatureMap& map, const std::vector<StringArrays>& strings, const std::vector<StringArrays>& values,
                 const std::vector<std::tuple<In<uint64_t>, In<uint64_t>>>& keys) {
    StoredMap stored;
    for (const auto& [blob, offsets] : strings) stored.strings.push_back({view(blob), view(offsets)});
    for (const auto& [blob, offsets] : values) stored.values.push_back({view(blob), view(offsets)});
    for (const auto& [prefixes, finals] : keys) stored.keys.push_back({view(prefixes), view(finals)});
    restore(map, stored);
}

}  // namespace

void bind_feature_map(nb::module_& m) {
    nb::class_<FeatureMap>(m, "FeatureMap",
                           "Strings, word-function values and template features, each with an id. There are no hash collisions.")
        .def(
            "__init__",
            [](FeatureMap* self, size_t n_columns, const std::vector<FunctionSpec>& functions,
               const std::vector<std::vector<AtomSpec>>& templates) {
                new (self) FeatureMap(make_map(n_columns, functions, templates));
            },
            nb::arg("n_columns"), nb::arg("functions"), nb::arg("templates"))
        .def("copy", [](const FeatureMap& map) { return FeatureMap(map); })
        .def("sizes",
             [](const FeatureMap& map) {
                 std::vector<int64_t> sizes(map.n_templates());
                 for (size_t t = 0; t < sizes.size(); ++t) sizes[t] = static_cast<int64_t>(map.n_features(t));
                 return to_numpy(std::move(sizes));
             })
        .def(
            "fit",
            [](FeatureMap& map, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences, size_t threads) {
                const Columns corpus = checked(map, columns, sentences);
                return to_python(unlocked([&] { return fit_features(map, corpus, threads); }), map, corpus.n_tokens());
            },
            nb::arg("columns"), nb::arg("sentences"), nb::arg("threads") = 1,
            "Return the feature ids and string ids of a corpus, adding new ones: ((T, n) features, string ids of each column).")
        .def(
            "transform",
            [](const FeatureMap& map, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences) {
                const Columns corpus = checked(map, columns, sentences);
                return to_python(unlocked([&] { return find_features(map, corpus); }), map, corpus.n_tokens());
            },
            nb::arg("columns"), nb::arg("sentences"),
            "Return the ids as `fit` does without adding any: -1 if a feature or string is unknown.")
        .def(
            "add_strings",
            [](FeatureMap& map, size_t column, const In<uint8_t>& data, const In<int64_t>& offsets, size_t threads) {
                if (column >= map.n_columns()) throw nb::index_error("column number out of range");
                const StringTable strings{view(data), view(offsets)};
                check_offsets(strings.offsets, strings.blob.size(), "strings and their offsets disagree");
                unlocked([&] { map.add_strings(column, strings, threads); });
            },
            nb::arg("column"), nb::arg("data"), nb::arg("offsets"), nb::arg("threads") = 1,
            "Add strings to a column, with the values of its functions and without features.")
        .def("release_tables", &FeatureMap::release_tables,
             "Release the tables of word functions. No strings can be added after this, and no text tagged.")
        .def(
            "intern_pairs",
            [](FeatureMap& map, size_t t, const In<int32_t>& first, const In<int32_t>& second) {
                if (t >= map.n_templates() || map.atoms(t).size() != 2)
                    throw nb::value_error("the template does not have two atoms");
                if (first.shape(0) != second.shape(0)) throw nb::value_error("first and second values differ in number");
                return to_numpy(unlocked([&] { return intern_pairs(map, t, view(first), view(second)); }));
            },
            nb::arg("template"), nb::arg("first"), nb::arg("second"),
            "Return the feature ids of pairs of values, adding new ones to the template.")
        .def(
            "values_of",
            [](const FeatureMap& map, size_t f) {
                if (f >= map.n_functions()) throw nb::index_error("function number out of range");
                std::vector<int32_t> out(map.strings(map.function(f).column).size());
                for (size_t w = 0; w < out.size(); ++w) out[w] = map.value_of(f, static_cast<int32_t>(w));
                return to_numpy(std::move(out));
            },
            nb::arg("function"), "The function's value id of each known string, -1 if it has none.")
        .def(
            "absorb", [](FeatureMap& map, const FeatureMap& other) { return to_list(absorb(map, other)); }, nb::arg("other"),
            "Add all strings and features of another map. Returns the ids here of its features, for each template.")
        .def(
            "strings",
            [](const FeatureMap& map, size_t column) {
                if (column >= map.n_columns()) throw nb::index_error("column number out of range");
                return to_python(map.strings(column));
            },
            nb::arg("column"))
        .def(
            "values",
            [](const FeatureMap& map, size_t f) {
                if (f >= map.n_functions()) throw nb::index_error("function number out of range");
                return to_python(map.values(f));
            },
            nb::arg("function"))
        .def(
            "keys",
            [](const FeatureMap& map, size_t t) {
                if (t >= map.n_templates()) throw nb::index_error("template number out of range");
                return to_tuple(std::vector<uint64_t>(map.prefixes(t).keys()), std::vector<uint64_t>(map.finals(t).keys()));
            },
            nb::arg("template"), "The template's (prefix keys, feature keys).")
        .def("restore", &restore_map, nb::arg("strings"), nb::arg("values"), nb::arg("keys"),
             "Fill an empty map with the stored content of another.");
}
