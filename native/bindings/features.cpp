// Binds features/.

#include "bindings/bindings.h"
#include "bindings/feature_objects.h"
#include "bindings/objects.h"
#include "bindings/views.h"
#include "features/attribute_names.h"
#include "features/lookup.h"
#include "features/stored_map.h"
#include "text/lines.h"

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

using BinArrays = std::tuple<std::string, In<double>, std::vector<std::string>>;  // name, edges, names of bins

NamedBins bins_of(const BinArrays& arrays) {
    const auto& [name, edges, bins] = arrays;
    return {name, view(edges), bins};
}

AttributeNames make_names(const In<uint8_t>& blob, const In<int64_t>& offsets, const std::string& joiner,
                          const std::optional<std::vector<BinArrays>>& bins) {
    if (joiner.size() != 1) throw nb::value_error("the joiner must be one character");
    const StringTable names{view(blob), view(offsets)};
    return AttributeNames(names, joiner[0], bins ? std::optional(each_as(*bins, bins_of)) : std::nullopt);
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

using FunctionSpec =
    std::tuple<int32_t, int32_t, int32_t, std::string, nb::object, bool>;  // column, kind, number, text, table, unknown only
using AtomSpec = std::tuple<int32_t, int32_t>;                             // function, offset

Function function_of(const FunctionSpec& spec) {
    const auto& [column, kind, number, text, table, unknown_only] = spec;
    return {column, word_function(kind, number, text, table.is_none() ? nullptr : &nb::cast<LookupHandle&>(table)), unknown_only};
}
TemplateAtoms atoms_of(const std::vector<AtomSpec>& atoms) {
    return each_as(atoms, [](const AtomSpec& spec) { return Atom{std::get<0>(spec), std::get<1>(spec)}; });
}

using KeyArrays = std::tuple<In<uint64_t>, In<uint64_t>>;  // prefixes, finals

StoredMap::Keys keys_of(const KeyArrays& arrays) { return {view(std::get<0>(arrays)), view(std::get<1>(arrays))}; }

nb::object to_list(std::vector<std::vector<int32_t>>&& arrays) {
    return list_of(arrays.size(), [&](size_t i) { return nb::cast(to_numpy(std::move(arrays[i]))); });
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
        .def(
            "__init__",
            [](AttributeNames* self, const In<uint8_t>& blob, const In<int64_t>& offsets, const std::string& joiner,
               const std::optional<std::vector<BinArrays>>& bins) {
                new (self) AttributeNames(make_names(blob, offsets, joiner, bins));
            },
            "blob"_a, "offsets"_a, "joiner"_a, "bins"_a.none())
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
        .def(
            "match",
            [](const AttributeNames& names, const In<uint8_t>& blob, const In<int64_t>& offsets) {
                return to_numpy(names.find(strings_of(blob, offsets, "names and their offsets disagree")));
            },
            "blob"_a, "offsets"_a, "The id of each name of a table, -1 if it is not known.");
    m.def(
        "intern_features",
        [](nb::list sentences, bool keep_false) {
            FoundFeatures found;
            AttributeInterner names(keep_false);
            auto offsets = each_sentence(sentences, keep_false, [&](const NamedFeatures& s) { names.add(s, found); });
            const nb::tuple table = to_python(names.names());
            return nb::make_tuple(to_python(std::move(offsets), std::move(found)), table, to_numpy(names.take_key_lengths()));
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
               const std::vector<std::vector<AtomSpec>>& templates) {
                new (self) FeatureMap(n_columns, each_as(functions, function_of), each_as(templates, atoms_of));
            },
            "n_columns"_a, "functions"_a, "templates"_a)
        .def("copy", [](const FeatureMap& map) { return FeatureMap(map); })
        .def("sizes", [](const FeatureMap& map) { return to_numpy(map.sizes()); })
        .def("bytes", &FeatureMap::bytes, "The memory that strings, values and features take.")
        .def(
            "fit",
            [](FeatureMap& map, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences, size_t threads) {
                const Columns corpus = checked(map, columns, sentences);
                return to_python(unlocked([&] { return fit_features(map, corpus, threads); }), map, corpus.n_tokens());
            },
            "columns"_a, "sentences"_a, "threads"_a = 1,
            "Return the feature ids and string ids of a corpus, adding new ones: ((T, n) features, string ids of each column).")
        .def(
            "transform",
            [](const FeatureMap& map, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences) {
                const Columns corpus = checked(map, columns, sentences);
                return to_python(unlocked([&] { return find_features(map, corpus); }), map, corpus.n_tokens());
            },
            "columns"_a, "sentences"_a, "Return the ids as `fit` does without adding any: -1 if a feature or string is unknown.")
        .def(
            "add_strings",
            [](FeatureMap& map, size_t column, const In<uint8_t>& data, const In<int64_t>& offsets, size_t threads) {
                if (column >= map.n_columns()) throw nb::index_error("column number out of range");
                const StringTable strings = strings_of(data, offsets);
                unlocked([&] { map.add_strings(column, strings, threads); });
            },
            "column"_a, "data"_a, "offsets"_a, "threads"_a = 1,
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
            "template"_a, "first"_a, "second"_a, "Return the feature ids of pairs of values, adding new ones to the template.")
        .def(
            "values_of",
            [](const FeatureMap& map, size_t f) {
                if (f >= map.n_functions()) throw nb::index_error("function number out of range");
                return to_numpy(map.values_of(f));
            },
            "function"_a, "The function's value id of each known string, -1 if it has none.")
        .def(
            "absorb", [](FeatureMap& map, const FeatureMap& other) { return to_list(absorb(map, other)); }, "other"_a,
            "Add all strings and features of another map. Returns the ids here of its features, for each template.")
        .def(
            "strings",
            [](const FeatureMap& map, size_t column) {
                if (column >= map.n_columns()) throw nb::index_error("column number out of range");
                return to_python(map.strings(column));
            },
            "column"_a)
        .def(
            "values",
            [](const FeatureMap& map, size_t f) {
                if (f >= map.n_functions()) throw nb::index_error("function number out of range");
                return to_python(map.values(f));
            },
            "function"_a)
        .def(
            "keys",
            [](const FeatureMap& map, size_t t) {
                if (t >= map.n_templates()) throw nb::index_error("template number out of range");
                return to_tuple(std::vector<uint64_t>(map.prefixes(t).keys()), std::vector<uint64_t>(map.finals(t).keys()));
            },
            "template"_a, "The template's (prefix keys, feature keys).")
        .def(
            "restore",
            [](FeatureMap& map, const std::vector<StringArrays>& strings, const std::vector<StringArrays>& values,
               const std::vector<KeyArrays>& keys) { restore(map, {views(strings), views(values), each_as(keys, keys_of)}); },
            "strings"_a, "values"_a, "keys"_a, "Fill an empty map with the stored content of another.");
}

void bind_listing(nb::module_& m) {
    m.def(
        "list_features",
        [](const In2<int32_t>& local, const In<int64_t>& bases, const In<bool>& wanted, const AttributeArrays& ready,
           const std::optional<In<bool>>& kept, int32_t last) {
            const TemplateFeatures features{view(local), view(bases), view(wanted), view(ready), view(kept), last};
            features.check();
            ListedFeatures listed = unlocked([&] { return list_features(features); });
            nb::object values = nb::none();
            if (features.has_values()) values = nb::cast(to_numpy(std::move(listed.values)));
            return nb::make_tuple(to_numpy(std::move(listed.offsets)), to_numpy(std::move(listed.ids)), values);
        },
        "local"_a, "bases"_a, "wanted"_a, "ready"_a.none(), "kept"_a.none(), "last"_a,
        "The features of each token: its attributes, the features of the wanted templates, then `last` unless it is negative. "
        "`local` is (T, n); negative ids and ids beyond the template's size are ignored. `kept` marks the ids to keep. Returns "
        "(offsets, ids, values or None).");
}

void bind_word_functions(nb::module_& m) {
    nb::class_<LookupHandle>(m, "Lookup", "A table of words and their values, built once and shared.")
        .def(
            "__init__",
            [](LookupHandle* self, const In<uint8_t>& keys, const In<int64_t>& key_offsets, const In<int32_t>& values,
               const In<uint8_t>& classes, const In<int64_t>& class_offsets, bool related) {
                new (self) LookupHandle{
                    make_lookup({view(keys), view(key_offsets)}, view(values), {view(classes), view(class_offsets)}, related)};
            },
            "keys"_a, "key_offsets"_a, "values"_a, "classes"_a, "class_offsets"_a, "related"_a = false);
    m.def(
        "apply_function",
        [](int32_t kind, int32_t number, std::string text, const In<uint8_t>& blob, const In<int64_t>& offsets,
           const LookupHandle* table) {
            const WordFunction f = word_function(kind, number, std::move(text), table);
            const StringTable words{view(blob), view(offsets)};
            check_table(words, "words");
            Interner values;
            std::vector<int32_t> ids = unlocked([&] { return apply_to_all(f, words, values); });
            const nb::tuple strings = to_python(values);
            return nb::make_tuple(to_numpy(std::move(ids)), strings[0], strings[1]);
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
