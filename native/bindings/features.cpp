// Binds features/.
#include "bindings/bindings.h"
#include "bindings/feature_objects.h"
#include "bindings/objects.h"
#include "bindings/views.h"
#include "features/attribute_names.h"
#include "features/lookup.h"
#include "features/stored_map.h"
#include "text/lines.h"

namespace nanobind::detail {

template <>  // name, edges, names of bins
struct type_caster<NamedBins> : fields_caster<NamedBins, std::string, Array<double>, std::vector<std::string>> {};
template <>
struct type_caster<Atom> : fields_caster<Atom, int32_t, int32_t> {};  // function, offset
template <>
struct type_caster<StoredMap::Keys> : fields_caster<StoredMap::Keys, Array<uint64_t>, Array<uint64_t>> {};
template <>
struct type_caster<CorpusFeatures> : result_caster<CorpusFeatures, &CorpusFeatures::features, &CorpusFeatures::strings> {};
template <>
struct type_caster<ListedFeatures>
    : result_caster<ListedFeatures, &ListedFeatures::offsets, &ListedFeatures::ids, &ListedFeatures::values> {};

}  // namespace nanobind::detail

namespace {

// Raises BadFeature as an error of corate.errors, TooLargeValue as the error that corate.corpus.attributes makes of it, and
// BadLine as RuntimeError(line, fields).
void raise_in_python(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const BadFeature& error) {
        const nb::object type =
            nb::module_::import_("corate.errors").attr(error.wrong_type ? "FeatureTypeError" : "FeatureError");
        const auto known = [](int64_t place) { return place < 0 ? nb::none() : nb::object(nb::int_(place)); };
        const nb::object made = type(error.what(), "sentence"_a = known(error.sentence), "token"_a = known(error.token));
        PyErr_SetObject(type.ptr(), made.ptr());
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
    each_of(sentences, [&](nb::handle element) {
        if (offsets.size() % 1024 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
        const nb::object given = nb::borrow(element);
        const NamedFeatures* prepared = nullptr;
        if (!nb::try_cast(given, prepared, false)) {
            read.clear();
            reader.read(given);
            prepared = &read;
        }
        use(*prepared);
        offsets.push_back(offsets.back() + static_cast<int64_t>(prepared->n_tokens()));
        reader.next_sentence();
        return true;
    });
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
    sentence.each_value(
        [&](std::string_view name, float value) {
            token[nb::str(name.data(), name.size())] = nb::float_(static_cast<double>(value) + 0.0);
        },
        [&] {
            tokens.append(token);
            token = nb::dict();
        });
    return tokens;
}

// The Python class corate._native.Lookup: a Lookup that several word functions share.
struct LookupHandle {
    std::shared_ptr<const Lookup> table;
};

// The word function with this kind number.
WordFunction word_function(int32_t kind, int32_t number, std::string text, const LookupHandle* table) {
    if (kind < 0 || kind >= kind_count) throw std::invalid_argument("no word function has the number " + std::to_string(kind));
    return {static_cast<Kind>(kind), number, std::move(text), table ? table->table : nullptr};
}

// column, kind, number, text, table, unknown only
using FunctionSpec = std::tuple<int32_t, int32_t, int32_t, std::string, nb::object, bool>;

FeatureMap make_map(size_t n_columns, const std::vector<FunctionSpec>& specs, std::vector<TemplateAtoms> templates) {
    std::vector<Function> functions;
    std::ranges::transform(specs, std::back_inserter(functions), [](const FunctionSpec& spec) {
        const auto& [column, kind, number, text, table, unknown_only] = spec;
        const LookupHandle* lookup = table.is_none() ? nullptr : &nb::cast<LookupHandle&>(table);
        return Function{column, word_function(kind, number, text, lookup), unknown_only};
    });
    return FeatureMap(n_columns, std::move(functions), std::move(templates));
}

size_t below(size_t index, size_t n, const char* what) {
    if (index >= n) throw nb::index_error((std::string(what) + " number out of range").c_str());
    return index;
}

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
            "sentence"_a.none())
        .def("__len__", &NamedFeatures::n_tokens)
        .def("items", &items, "A dict from name to value for each token.");
    nb::class_<AttributeNames>(m, "AttributeNames", "The names of the ready-made features of a model, with their ids.")
        .def(nb::init<const StringTable&, char, const std::optional<std::vector<NamedBins>>&>(), "names"_a, "joiner"_a,
             "bins"_a.none())
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
            "sentences"_a, "The known features of sentences: (sentence offsets, token offsets, ids, values or None).")
        .def("match", &AttributeNames::match, "names"_a, "The id of each name of a table, -1 if it is not known.");
    m.def(
        "intern_features",
        [](nb::list sentences, bool keep_false) {
            FoundFeatures found;
            AttributeInterner names(keep_false);
            auto offsets = each_sentence(sentences, keep_false, [&](const NamedFeatures& s) { names.add(s, found); });
            const nb::tuple table = to_python(names.names());
            return nb::make_tuple(to_python(std::move(offsets), std::move(found)), table, names.take_key_lengths());
        },
        "sentences"_a, "keep_false"_a = false,
        "Number the names of features: ((sentence offsets, token offsets, ids, values or None), (blob, offsets) of the names, "
        "length of the keys before a joined value of each name).");
}

void bind_feature_map(nb::module_& m) {
    nb::class_<FeatureMap>(m, "FeatureMap",
                           "Strings, word-function values and template features, each with an id. There are no hash collisions.")
        .def(
            "__init__",
            [](FeatureMap* self, size_t n_columns, const std::vector<FunctionSpec>& functions,
               std::vector<TemplateAtoms> templates) {
                new (self) FeatureMap(make_map(n_columns, functions, std::move(templates)));
            },
            "n_columns"_a, "functions"_a, "templates"_a)
        .def("copy", [](const FeatureMap& map) { return FeatureMap(map); })
        .def("sizes", &FeatureMap::sizes)
        .def("bytes", &FeatureMap::bytes, "The memory that strings, values and features take.")
        .def(
            "fit",
            [](FeatureMap& map, const std::vector<StringColumn>& columns, const Array<int64_t>& sentences, size_t threads) {
                return fit_features(map, {columns, sentences}, threads);
            },
            "columns"_a, "sentences"_a, "threads"_a = 1, without_lock,
            "Return the feature ids and string ids of a corpus, adding new ones: ((T, n) features, string ids of each column).")
        .def(
            "transform",
            [](const FeatureMap& map, const std::vector<StringColumn>& columns, const Array<int64_t>& sentences) {
                return find_features(map, {columns, sentences});
            },
            "columns"_a, "sentences"_a, without_lock,
            "Return the ids as `fit` does without adding any: -1 if a feature or string is unknown.")
        .def("add_strings", &FeatureMap::add_strings, "column"_a, "strings"_a, "threads"_a = 1, without_lock,
             "Add strings to a column, with the values of its functions and without features.")
        .def("release_tables", &FeatureMap::release_tables,
             "Release the tables of word functions. No strings can be added after this, and no text tagged.")
        .def("intern_pairs", &intern_pairs, "template"_a, "first"_a, "second"_a, without_lock,
             "Return the feature ids of pairs of values, adding new ones to the template.")
        .def(
            "values_of", [](const FeatureMap& map, size_t f) { return map.values_of(below(f, map.n_functions(), "function")); },
            "function"_a, "The function's value id of each known string, -1 if it has none.")
        .def("absorb", &absorb, "other"_a,
             "Add all strings and features of another map. Returns the ids here of its features, for each template.")
        .def(
            "strings",
            [](const FeatureMap& map, size_t column) { return to_python(map.strings(below(column, map.n_columns(), "column"))); },
            "column"_a)
        .def(
            "values",
            [](const FeatureMap& map, size_t f) { return to_python(map.values(below(f, map.n_functions(), "function"))); },
            "function"_a)
        .def(
            "keys",
            [](const FeatureMap& map, size_t t) {
                below(t, map.n_templates(), "template");
                return nb::make_tuple(map.prefixes(t).keys(), map.finals(t).keys());
            },
            "template"_a, "The template's (prefix keys, feature keys).")
        .def(
            "restore",
            [](FeatureMap& map, const std::vector<StringTable>& strings, const std::vector<StringTable>& values,
               const std::vector<StoredMap::Keys>& keys) { restore(map, {strings, values, keys}); },
            "strings"_a, "values"_a, "keys"_a, "Fill an empty map with the stored content of another.");
}

void bind_listing(nb::module_& m) {
    m.def(
        "list_features",
        [](const Matrix<int32_t>& local, const Array<int64_t>& bases, const Array<bool>& wanted,
           const std::optional<Attributes>& ready, const std::optional<Array<bool>>& kept,
           int32_t last) { return list_features({local, bases, wanted, ready, kept, last}); },
        "local"_a, "bases"_a, "wanted"_a, "ready"_a.none(), "kept"_a.none(), "last"_a, without_lock,
        "The features of each token: its attributes, the features of the wanted templates, then `last` unless it is negative. "
        "`local` is (T, n); negative ids and ids beyond the template's size are ignored. `kept` marks the ids to keep. Returns "
        "(offsets, ids, values or None).");
}

void bind_word_functions(nb::module_& m) {
    nb::class_<LookupHandle>(m, "Lookup", "A table of words and their values, built once and shared.")
        .def(
            "__init__",
            [](LookupHandle* self, const StringTable& keys, const Array<int32_t>& values, const StringTable& classes,
               bool related) { new (self) LookupHandle{make_lookup(keys, values, classes, related)}; },
            "keys"_a, "values"_a, "classes"_a, "related"_a = false);
    m.def(
        "apply_function",
        [](int32_t kind, int32_t number, std::string text, const Array<uint8_t>& blob, const Array<int64_t>& offsets,
           const LookupHandle* table) {
            const WordFunction f = word_function(kind, number, std::move(text), table);
            Interner values;
            std::vector<int32_t> ids = unlocked([&] { return apply_to_all(f, {blob, offsets}, values); });
            return with_table(std::move(ids), values);
        },
        "kind"_a, "number"_a, "text"_a, "blob"_a, "offsets"_a, "table"_a.none() = nb::none(),
        "Values of a word function for a table of words: (ids int32, -1 if there is no value; blob, offsets).");
}

}  // namespace

void bind_features(nb::module_& m) {
    bind_attributes(m);
    bind_word_functions(m);
    bind_feature_map(m);
    bind_listing(m);
}
