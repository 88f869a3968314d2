// Binds features/named_features.h and features/attribute_names.h.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/feature_objects.h"
#include "bindings/text.h"
#include "features/attribute_names.h"
#include "text/lines.h"

namespace {

// Raises BadFeature as an error of corate.errors, TooLargeValue as the error that corate.corpus.attributes makes of it, and
// BadLine as RuntimeError(line, fields).
void raise_in_python(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const BadFeature& error) {
        const char* name = error.wrong_type ? "FeatureTypeError" : "FeatureError";
        PyErr_SetString(nb::object(nb::module_::import_("corate.errors").attr(name)).ptr(), error.what());
    } catch (const TooLargeValue& error) {
        const nb::object make = nb::module_::import_("corate.corpus.attributes").attr("too_large_value");
        const nb::object made = make(nb::str(error.name.data(), error.name.size()), error.value, error.token, error.sentence);
        PyErr_SetObject(made.type().ptr(), made.ptr());
    } catch (const BadLine& error) {
        PyErr_SetObject(PyExc_RuntimeError, nb::make_tuple(error.line, error.fields).ptr());
    }
}

// Reads sentences, each a NamedFeatures or an object to read features from, and calls use(sentence) for each.
template <typename Use>
std::vector<int64_t> each_sentence(nb::list sentences, bool list_false, Use use) {
    std::vector<int64_t> offsets{0};
    NamedFeatures read;
    FeatureReader reader(read, 0, list_false);
    for (size_t s = 0; s < sentences.size(); ++s, reader.next_sentence()) {
        if (s % 1024 == 1023 && PyErr_CheckSignals() != 0) throw nb::python_error();
        const nb::object given = sentences[s];
        const NamedFeatures* prepared = nullptr;
        if (!nb::try_cast(given, prepared, false)) {
            read.clear();
            reader.read(given);
            prepared = &read;
        }
        use(*prepared);
        offsets.push_back(offsets.back() + static_cast<int64_t>(prepared->n_tokens()));
    }
    return offsets;
}

// Returns (sentence offsets, token offsets, ids, values or None).
nb::tuple to_python(std::vector<int64_t>&& sentences, FoundFeatures&& found) {
    nb::object values = nb::none();
    if (!found.plain) values = nb::cast(to_numpy(std::move(found.values)));
    return nb::make_tuple(to_numpy(std::move(sentences)), to_numpy(std::move(found.offsets)), to_numpy(std::move(found.ids)),
                          values);
}

nb::list items(const NamedFeatures& sentence) {
    nb::list tokens;
    nb::dict token;
    std::string name;
    const auto put = [&](std::string_view key, float value) {
        token[nb::str(key.data(), key.size())] = nb::float_(static_cast<double>(value) + 0.0);
    };
    sentence.each([&](std::string_view key, int32_t, float value) { put(key, value); },
                  [&](std::string_view prefix, int32_t, const float* numbers, size_t width) {
                      for (size_t i = 0; i < width; ++i) put(name.assign(prefix).append(std::to_string(i)), numbers[i]);
                  },
                  [&] {
                      tokens.append(token);
                      token = nb::dict();
                  });
    return tokens;
}

using Bins = std::vector<std::tuple<nb::str, In<double>, nb::list>>;  // name, edges, names of bins

AttributeNames make_names(const In<uint8_t>& blob, const In<int64_t>& offsets, const std::string& joiner,
                          const std::optional<Bins>& bins) {
    if (joiner.size() != 1) throw nb::value_error("the joiner must be one character");
    AttributeNames names({view(blob), view(offsets)}, joiner[0], bins.has_value());
    if (!bins) return names;
    for (const auto& [name, edges, labels] : *bins) {
        std::vector<std::string_view> texts;
        for (const nb::handle label : labels) texts.push_back(utf8_of(label));
        names.add_bins(text_of(name), {edges.data(), edges.data() + edges.shape(0)}, texts);
    }
    return names;
}

}  // namespace

void bind_attributes(nb::module_& m) {
    nb::register_exception_translator(raise_in_python);
    nb::class_<NamedFeatures>(m, "NamedFeatures", "The ready-made features of one sentence, as names and values.")
        .def(
            "__init__",
            [](NamedFeatures* self, nb::handle sentence) {
                NamedFeatures read;
                FeatureReader(read, -1, true).read(sentence);
                new (self) NamedFeatures(std::move(read));
            },
            nb::arg("sentence").none())
        .def("__len__", &NamedFeatures::n_tokens)
        .def("items", &items, "A dict from name to value for each token.");
    nb::class_<AttributeNames>(m, "AttributeNames", "The names of the ready-made features of a model, with their ids.")
        .def(
            "__init__",
            [](AttributeNames* self, const In<uint8_t>& blob, const In<int64_t>& offsets, const std::string& joiner,
               const std::optional<Bins>& bins) { new (self) AttributeNames(make_names(blob, offsets, joiner, bins)); },
            nb::arg("blob"), nb::arg("offsets"), nb::arg("joiner"), nb::arg("bins").none())
        .def(
            "find",
            [](const AttributeNames& names, nb::list sentences) {
                FoundFeatures found;
                ArrayIds arrays;
                int64_t number = 0;
                auto offsets = each_sentence(sentences, false, [&](const NamedFeatures& s) {
                    try {
                        names.find(s, arrays, found);
                    } catch (TooLargeValue& error) {
                        error.sentence = number;
                        throw;
                    }
                    ++number;
                });
                return to_python(std::move(offsets), std::move(found));
            },
            nb::arg("sentences"), "The known features of sentences: (sentence offsets, token offsets, ids, values or None).")
        .def(
            "match",
            [](const AttributeNames& names, const In<uint8_t>& blob, const In<int64_t>& offsets) {
                const StringTable wanted{view(blob), view(offsets)};
                check_offsets(wanted.offsets, wanted.blob.size(), "names and their offsets disagree");
                std::vector<int32_t> ids(wanted.size());
                for (size_t i = 0; i < ids.size(); ++i) ids[i] = names.find(wanted[i]);
                return to_numpy(std::move(ids));
            },
            nb::arg("blob"), nb::arg("offsets"), "The id of each name of a table, -1 if it is not known.");
    m.def(
        "intern_features",
        [](nb::list sentences, bool keep_false) {
            FoundFeatures found;
            AttributeInterner names(keep_false);
            auto offsets = each_sentence(sentences, keep_false, [&](const NamedFeatures& s) { names.add(s, found); });
            const nb::tuple table = to_python(names.names());
            return nb::make_tuple(to_python(std::move(offsets), std::move(found)), table, to_numpy(names.take_heads()));
        },
        nb::arg("sentences"), nb::arg("keep_false") = false,
        "Number the names of features: ((sentence offsets, token offsets, ids, values or None), (blob, offsets) of the names, "
        "length of the keys before a joined value of each name).");
}
