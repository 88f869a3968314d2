// Building, growing, applying and taking apart the vocabulary. See feature_map.h for what a feature is.
#include "features/feature_map.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/parallel.h"

FeatureMap::FeatureMap(size_t n_columns, std::vector<Function> functions, std::vector<TemplateAtoms> templates)
    : strings_(n_columns),
      functions_(std::move(functions)),
      values_(functions_.size()),
      value_of_(functions_.size()),
      templates_(std::move(templates)),
      prefixes_(templates_.size()),
      finals_(templates_.size()) {
    for (const Function& f : functions_)
        if (f.column < 0 || static_cast<size_t>(f.column) >= n_columns) throw std::out_of_range("column out of range");
    for (const TemplateAtoms& atoms : templates_) {
        if (atoms.empty() || atoms.size() > kMaxOffset) throw std::out_of_range("a template has one to eight atoms");
        for (const Atom& atom : atoms)
            if (atom.function < 0 || static_cast<size_t>(atom.function) >= functions_.size() ||
                atom.offset < -kMaxOffset || atom.offset > kMaxOffset)
                throw std::out_of_range("function or offset out of range");
    }
}

size_t FeatureMap::n_features(size_t t) const {
    if (templates_[t].size() > 1) return finals_[t].size();
    return kBoundaries + values(static_cast<size_t>(templates_[t][0].function)).size();
}

bool FeatureMap::fits(const FeatureMap& other) const {
    const auto same_function = [](const Function& a, const Function& b) {
        return a.column == b.column && a.word.kind == b.word.kind && a.unknown_only == b.unknown_only;
    };
    const auto same_atom = [](const Atom& a, const Atom& b) { return a.function == b.function && a.offset == b.offset; };
    const auto same_atoms = [&](const TemplateAtoms& a, const TemplateAtoms& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_atom);
    };
    const auto &f = functions_, &g = other.functions_;
    const auto &t = templates_, &u = other.templates_;
    return n_columns() == other.n_columns() && std::equal(f.begin(), f.end(), g.begin(), g.end(), same_function) &&
           std::equal(t.begin(), t.end(), u.begin(), u.end(), same_atoms);
}

int32_t FeatureMap::add_string(size_t column, std::string_view s) {
    const size_t before = strings_[column].size();
    const int32_t id = strings_[column].intern(s);
    if (static_cast<size_t>(id) < before) return id;
    for (size_t f = 0; f < functions_.size(); ++f) {
        if (static_cast<size_t>(functions_[f].column) != column || is_identity(f)) continue;
        // The value string is numbered even where only unknown words use it: they are judged by what known ones taught.
        const int32_t value = apply(functions_[f].word, s, buffer_) ? values_[f].intern(buffer_) : kAbsent;
        value_of_[f].push_back(functions_[f].unknown_only ? kAbsent : value);
    }
    return id;
}

void FeatureMap::restore_values() {
    for (size_t f = 0; f < functions_.size(); ++f) {
        if (is_identity(f)) continue;
        const Interner& words = strings_[functions_[f].column];
        value_of_[f].assign(words.size(), kAbsent);
        if (functions_[f].unknown_only) continue;
        for (size_t w = 0; w < words.size(); ++w)
            if (apply(functions_[f].word, words.at(static_cast<int32_t>(w)), buffer_))
                value_of_[f][w] = values_[f].find(buffer_);
    }
}

namespace {

uint64_t pair_key(int32_t a, int32_t b) { return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b); }

}  // namespace

void FeatureMap::prefetch(size_t t, const int32_t* values) const { finals_[t].prefetch(pair_key(values[0], values[1])); }

int32_t FeatureMap::find(size_t t, const int32_t* values) const {
    const size_t m = templates_[t].size();
    int32_t state = values[0];
    for (size_t a = 1; a + 1 < m; ++a)
        if ((state = prefixes_[t].find(pair_key(state, values[a]))) < 0) return kAbsent;
    return m == 1 ? state : finals_[t].find(pair_key(state, values[m - 1]));
}

int32_t FeatureMap::intern(size_t t, const int32_t* values) {
    const size_t m = templates_[t].size();
    int32_t state = values[0];
    for (size_t a = 1; a + 1 < m; ++a) state = prefixes_[t].intern(pair_key(state, values[a]));
    return m == 1 ? state : finals_[t].intern(pair_key(state, values[m - 1]));
}

Lexicon::Lexicon(const FeatureMap& map)
    : map_(map), extra_(map.n_columns()), extra_values_(map.n_functions()), known_(map.n_functions()) {
    for (size_t f = 0; f < known_.size(); ++f) known_[f] = map.strings(map.function(f).column).size();
}

int32_t Lexicon::extra_id(size_t column, std::string_view s, uint64_t hash) {
    const size_t before = extra_[column].size();
    const int32_t id = extra_[column].intern(s, hash);
    const auto shifted = static_cast<int32_t>(map_.strings(column).size() + static_cast<size_t>(id));
    if (static_cast<size_t>(id) < before) return shifted;
    for (size_t f = 0; f < extra_values_.size(); ++f) {
        if (static_cast<size_t>(map_.function(f).column) != column) continue;
        const bool has = !map_.is_identity(f) && apply(map_.function(f).word, s, buffer_);
        extra_values_[f].push_back(has ? map_.values(f).find(buffer_) : kAbsent);
    }
    return shifted;
}

namespace {

using ColumnArrays = std::tuple<In<int32_t>, In<uint8_t>, In<int64_t>>;  // ids, blob, offsets

// Each column's token ids translated by `place(column, string) -> id`; strings no token uses are not touched.
template <typename Place>
std::vector<std::vector<int32_t>> translate(const std::vector<ColumnArrays>& columns, Place place) {
    std::vector<std::vector<int32_t>> out(columns.size());
    for (size_t c = 0; c < columns.size(); ++c) {
        const auto& [ids, blob, offsets] = columns[c];
        const auto* bytes = reinterpret_cast<const char*>(blob.data());
        const size_t distinct = offsets.shape(0) - 1;
        std::vector<int32_t> placed(distinct, -1);
        std::vector<uint8_t> used(distinct, 0);
        for (size_t t = 0; t < ids.shape(0); ++t) {
            if (ids(t) < 0 || static_cast<size_t>(ids(t)) >= distinct) throw nb::value_error("string id out of range");
            used[ids(t)] = 1;
        }
        for (size_t i = 0; i < distinct; ++i)
            if (used[i]) placed[i] = place(c, std::string_view(bytes + offsets(i), static_cast<size_t>(offsets(i + 1) - offsets(i))));
        out[c].resize(ids.shape(0));
        for (size_t t = 0; t < ids.shape(0); ++t) out[c][t] = placed[ids(t)];
    }
    return out;
}

void check_sentences(In<int64_t> sentences, const std::vector<ColumnArrays>& columns) {
    const size_t n = sentences.shape(0) == 0 ? 0 : static_cast<size_t>(sentences(sentences.shape(0) - 1));
    check_offsets(sentences, n, "sentence offsets start at 0 and never fall");
    for (const auto& [ids, blob, offsets] : columns) {
        if (ids.shape(0) != n) throw nb::value_error("a column's length and the sentence offsets disagree");
        check_offsets(offsets, blob.shape(0), "a column's strings do not fit their offsets");
    }
}

// The value of each string of a function's column, boundaries added.
std::vector<int32_t> value_table(const Lexicon& lexicon, size_t f) {
    std::vector<int32_t> table(lexicon.size(static_cast<size_t>(lexicon.map().function(f).column)));
    for (size_t i = 0; i < table.size(); ++i) {
        const int32_t v = lexicon.value(f, static_cast<int32_t>(i));
        table[i] = v < 0 ? kAbsent : kBoundaries + v;
    }
    return table;
}

// Features of every template at every token: (T, n), each within its template. Templates do not know of each other, so that
// threads may share them.
template <typename Feature>
class AllFeatures {
   public:
    AllFeatures(const Lexicon& lexicon, const std::vector<std::vector<int32_t>>& columns, In<int64_t> sentences, Feature feature)
        : map_(lexicon.map()), columns_(columns), sentences_(sentences), feature_(feature) {
        for (size_t f = 0; f < map_.n_functions(); ++f) tables_.push_back(value_table(lexicon, f));
    }

    std::vector<int32_t> list(size_t threads) const {
        const auto n = static_cast<size_t>(sentences_(sentences_.shape(0) - 1));
        std::vector<int32_t> out(map_.n_templates() * n);
        const size_t parts = useful_threads(threads, map_.n_templates());
        in_parallel(parts, [&](size_t part) {
            for (size_t t = part; t < map_.n_templates(); t += parts) of_template(t, out.data() + t * n);
        });
        return out;
    }

   private:
    void of_template(size_t t, int32_t* out) const {
        const TemplateAtoms& atoms = map_.atoms(t);
        std::vector<int32_t> values;  // of a sentence, atom by atom
        for (size_t s = 0; s + 1 < sentences_.shape(0); ++s) {
            const int64_t first = sentences_.data()[s], length = sentences_.data()[s + 1] - first;
            if (atoms.size() == 1) {
                read(atoms[0], first, length, out + first);
                continue;
            }
            values.resize(atoms.size() * static_cast<size_t>(length));
            for (size_t a = 0; a < atoms.size(); ++a) read(atoms[a], first, length, values.data() + a * static_cast<size_t>(length));
            join(t, values.data(), length, out + first);
        }
    }

    // The values that an atom finds at the tokens of a sentence.
    void read(const Atom& atom, int64_t first, int64_t length, int32_t* out) const {
        const auto f = static_cast<size_t>(atom.function);
        const int64_t begin = std::clamp<int64_t>(-atom.offset, 0, length), end = std::clamp<int64_t>(length - atom.offset, begin, length);
        for (int64_t i = 0; i < begin; ++i) out[i] = static_cast<int32_t>(-(i + atom.offset) - 1);
        const int32_t *table = tables_[f].data(), *ids = columns_[static_cast<size_t>(map_.function(f).column)].data() + first;
        for (int64_t i = begin; i < end; ++i) out[i] = table[ids[i + atom.offset]];
        for (int64_t i = end; i < length; ++i) out[i] = static_cast<int32_t>(kMaxOffset + i + atom.offset - length);
    }

    // The features of tuples of values.
    void join(size_t t, const int32_t* values, int64_t length, int32_t* out) const {
        const size_t m = map_.atoms(t).size();
        int32_t tuple[kMaxOffset + 1];
        const auto gather = [&](int64_t i) {
            for (size_t a = 0; a < m; ++a)
                if ((tuple[a] = values[static_cast<int64_t>(a) * length + i]) < 0) return false;
            return true;
        };
        // Pairs are looked up in a table that no cache holds: ask for a sentence's slots before they are needed.
        for (int64_t i = 0; m == 2 && i < length; ++i)
            if (gather(i)) map_.prefetch(t, tuple);
        for (int64_t i = 0; i < length; ++i) out[i] = gather(i) ? feature_(t, tuple) : kAbsent;
    }

    const FeatureMap& map_;
    const std::vector<std::vector<int32_t>>& columns_;
    In<int64_t> sentences_;
    Feature feature_;
    std::vector<std::vector<int32_t>> tables_;  // by function
};

nb::tuple table_of(const Interner& strings) {
    return nb::make_tuple(to_numpy(std::vector<uint8_t>(strings.blob().begin(), strings.blob().end())),
                          to_numpy(std::vector<int64_t>(strings.offsets())));
}

void fill(Interner& strings, In<uint8_t> blob, In<int64_t> offsets, const char* what) {
    check_offsets(offsets, blob.shape(0), "stored strings do not fit their offsets");
    const auto* bytes = reinterpret_cast<const char*>(blob.data());
    const size_t n = offsets.shape(0) - 1;
    strings.reserve(n);
    for (size_t i = 0; i < n; ++i) {
        const int32_t id = strings.intern({bytes + offsets(i), static_cast<size_t>(offsets(i + 1) - offsets(i))});
        if (static_cast<size_t>(id) != i) throw nb::value_error(what);
    }
}

void fill(KeyInterner& keys, In<uint64_t> stored) {
    keys.reserve(stored.shape(0));
    for (size_t i = 0; i < stored.shape(0); ++i)
        if (static_cast<size_t>(keys.intern(stored(i))) != i) throw nb::value_error("a feature is stored twice");
}

// Every stored feature can be walked back to values that its atoms have.
void check_keys(const FeatureMap& map, size_t t) {
    const TemplateAtoms& atoms = map.atoms(t);
    auto is_value = [&](size_t a, uint64_t v) {
        return v < kBoundaries + map.values(static_cast<size_t>(atoms[a].function)).size();
    };
    const std::vector<uint64_t>& prefixes = map.prefixes(t).keys();
    bool good = atoms.size() > 1 || map.finals(t).size() == 0;
    for (size_t i = 0; good && i < map.finals(t).size(); ++i) {
        uint64_t key = map.finals(t).keys()[i];
        for (size_t a = atoms.size() - 1; good; --a) {
            good = is_value(a, key & 0xffffffffu) && (a == 1 ? is_value(0, key >> 32) : (key >> 32) < prefixes.size());
            if (!good || a == 1) break;
            key = prefixes[key >> 32];
        }
    }
    if (!good) throw nb::value_error("a feature is stored whose values are not");
}

using FunctionSpec = std::tuple<int32_t, int32_t, int32_t, std::string, nb::object, bool>;

FeatureMap make_map(size_t n_columns, const std::vector<FunctionSpec>& specs,
                    const std::vector<std::vector<std::tuple<int32_t, int32_t>>>& templates) {
    std::vector<Function> functions;
    for (const auto& [column, kind, number, text, table, unknown_only] : specs) {
        if (kind < 0 || kind >= kind_count) throw nb::value_error("no such word function");
        Function f{column, WordFunction{static_cast<Kind>(kind), number, text, nullptr}, unknown_only};
        if (!table.is_none()) f.word.table = nb::cast<LookupHandle&>(table).table;
        functions.push_back(std::move(f));
    }
    std::vector<TemplateAtoms> all;
    for (const auto& atoms : templates) {
        TemplateAtoms one;
        for (const auto& [function, offset] : atoms) one.push_back(Atom{function, offset});
        all.push_back(std::move(one));
    }
    return FeatureMap(n_columns, std::move(functions), std::move(all));
}

}  // namespace

void bind_feature_map(nb::module_& m) {
    nb::class_<FeatureMap>(m, "FeatureMap", "Strings, word-function values and template features, numbered exactly.")
        .def("__init__",
             [](FeatureMap* self, size_t n_columns, const std::vector<FunctionSpec>& functions,
                const std::vector<std::vector<std::tuple<int32_t, int32_t>>>& templates) {
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
            [](FeatureMap& map, const std::vector<ColumnArrays>& columns, In<int64_t> sentences, size_t threads) {
                check_sentences(sentences, columns);
                if (columns.size() != map.n_columns()) throw nb::value_error("wrong number of columns");
                std::vector<int32_t> out;
                std::vector<std::vector<int32_t>> ids;
                {
                    nb::gil_scoped_release release;
                    ids = translate(columns, [&](size_t c, std::string_view s) { return map.add_string(c, s); });
                    const Lexicon lexicon(map);
                    out = AllFeatures(lexicon, ids, sentences, [&](size_t t, const int32_t* values) { return map.intern(t, values); })
                              .list(threads);
                }
                const auto n = static_cast<size_t>(sentences(sentences.shape(0) - 1));
                nb::list placed;
                for (auto& column : ids) placed.append(to_numpy(std::move(column)));
                return nb::make_tuple(to_numpy(std::move(out), map.n_templates(), n), placed);
            },
            nb::arg("columns"), nb::arg("sentences"), nb::arg("threads") = 1,
            "Number the strings and features of a corpus, adding new ones: ((T, n) features, string ids a column).")
        .def(
            "transform",
            [](const FeatureMap& map, const std::vector<ColumnArrays>& columns, In<int64_t> sentences) {
                check_sentences(sentences, columns);
                if (columns.size() != map.n_columns()) throw nb::value_error("wrong number of columns");
                std::vector<int32_t> out;
                std::vector<std::vector<int32_t>> ids;
                nb::list placed;
                {
                    nb::gil_scoped_release release;
                    Lexicon lexicon(map);
                    ids = translate(columns, [&](size_t c, std::string_view s) { return lexicon.id(c, s); });
                    out = AllFeatures(lexicon, ids, sentences, [&](size_t t, const int32_t* values) { return map.find(t, values); }).list(1);
                    for (size_t c = 0; c < ids.size(); ++c)
                        for (int32_t& id : ids[c])
                            if (!lexicon.is_known(c, id)) id = -1;
                }
                const auto n = static_cast<size_t>(sentences(sentences.shape(0) - 1));
                for (auto& column : ids) placed.append(to_numpy(std::move(column)));
                return nb::make_tuple(to_numpy(std::move(out), map.n_templates(), n), placed);
            },
            nb::arg("columns"), nb::arg("sentences"),
            "Features of a corpus without adding any: -1 where a feature or string is not known.")
        .def(
            "intern_pairs",
            [](FeatureMap& map, size_t t, In<int32_t> first, In<int32_t> second) {
                if (t >= map.n_templates() || map.atoms(t).size() != 2) throw nb::value_error("not a template of two atoms");
                if (first.shape(0) != second.shape(0)) throw nb::value_error("a pair has two values");
                std::vector<int32_t> ids(first.shape(0));
                const TemplateAtoms& atoms = map.atoms(t);
                const auto is_value = [&](size_t a, int32_t v) {
                    return v >= 0 && static_cast<size_t>(v) < kBoundaries + map.values(static_cast<size_t>(atoms[a].function)).size();
                };
                for (size_t i = 0; i < ids.size(); ++i)
                    if (!is_value(0, first(i)) || !is_value(1, second(i))) throw nb::value_error("value out of range");
                nb::gil_scoped_release release;
                for (size_t i = 0; i < ids.size(); ++i) {
                    const int32_t values[2] = {first(i), second(i)};
                    ids[i] = map.intern(t, values);
                }
                nb::gil_scoped_acquire acquire;
                return to_numpy(std::move(ids));
            },
            nb::arg("template"), nb::arg("first"), nb::arg("second"), "Number pairs of values as features of a template.")
        .def(
            "values_of",
            [](const FeatureMap& map, size_t f) {
                if (f >= map.n_functions()) throw nb::index_error("no such function");
                const size_t n = map.strings(map.function(f).column).size();
                std::vector<int32_t> out(n);
                for (size_t w = 0; w < n; ++w) out[w] = map.value_of(f, static_cast<int32_t>(w));
                return to_numpy(std::move(out));
            },
            nb::arg("function"), "The function's value id of each known string, -1 where it has none.")
        .def(
            "absorb",
            [](FeatureMap& map, const FeatureMap& other) {
                if (!map.fits(other)) throw nb::value_error("only maps of the same templates can be joined");
                // Strings first, in the other's order; then values; then tuples of values.
                for (size_t c = 0; c < map.n_columns(); ++c)
                    for (size_t i = 0; i < other.strings(c).size(); ++i)
                        map.add_string(c, other.strings(c).at(static_cast<int32_t>(i)));
                std::vector<std::vector<int32_t>> value(map.n_functions());
                for (size_t f = 0; f < value.size(); ++f) {
                    const Interner& theirs = other.values(f);
                    value[f].resize(kBoundaries + theirs.size());
                    for (int32_t b = 0; b < kBoundaries; ++b) value[f][b] = b;
                    for (size_t i = 0; i < theirs.size(); ++i) {
                        const std::string_view s = theirs.at(static_cast<int32_t>(i));
                        value[f][kBoundaries + i] = kBoundaries + (map.is_identity(f) ? map.values(f).find(s)
                                                                                      : map.value_strings(f).intern(s));
                    }
                }
                nb::list result;
                for (size_t t = 0; t < map.n_templates(); ++t) {
                    const TemplateAtoms& atoms = map.atoms(t);
                    std::vector<int32_t> states = value[atoms[0].function];
                    if (atoms.size() == 1) {
                        result.append(to_numpy(std::move(states)));
                        continue;
                    }
                    // Walk every stored feature back to its values: a key is (state after the atoms before, value).
                    std::vector<int32_t> final_ids(other.finals(t).size()), values(atoms.size());
                    for (size_t i = 0; i < final_ids.size(); ++i) {
                        uint64_t key = other.finals(t).keys()[i];
                        for (size_t a = atoms.size() - 1;; --a) {
                            values[a] = value[atoms[a].function][key & 0xffffffffu];
                            if (a == 1) break;
                            key = other.prefixes(t).keys()[key >> 32];
                        }
                        values[0] = states[key >> 32];
                        final_ids[i] = map.intern(t, values.data());
                    }
                    result.append(to_numpy(std::move(final_ids)));
                }
                return result;
            },
            nb::arg("other"), "Take in all strings and features of another map; returns its features' numbers here, a template each.")
        .def(
            "strings",
            [](const FeatureMap& map, size_t column) {
                if (column >= map.n_columns()) throw nb::index_error("no such column");
                return table_of(map.strings(column));
            },
            nb::arg("column"))
        .def(
            "values",
            [](const FeatureMap& map, size_t f) {
                if (f >= map.n_functions()) throw nb::index_error("no such function");
                return table_of(map.values(f));
            },
            nb::arg("function"))
        .def(
            "keys",
            [](const FeatureMap& map, size_t t) {
                if (t >= map.n_templates()) throw nb::index_error("no such template");
                return nb::make_tuple(to_numpy(std::vector<uint64_t>(map.prefixes(t).keys())),
                                      to_numpy(std::vector<uint64_t>(map.finals(t).keys())));
            },
            nb::arg("template"), "The template's (prefix keys, feature keys).")
        .def(
            "restore",
            [](FeatureMap& map, const std::vector<std::tuple<In<uint8_t>, In<int64_t>>>& strings,
               const std::vector<std::tuple<In<uint8_t>, In<int64_t>>>& values,
               const std::vector<std::tuple<In<uint64_t>, In<uint64_t>>>& keys) {
                if (strings.size() != map.n_columns() || values.size() != map.n_functions() || keys.size() != map.n_templates())
                    throw nb::value_error("the stored vocabulary does not fit its templates");
                for (size_t c = 0; c < strings.size(); ++c)
                    fill(map.column_strings(c), std::get<0>(strings[c]), std::get<1>(strings[c]), "a string is stored twice");
                for (size_t f = 0; f < values.size(); ++f)
                    if (!map.is_identity(f))
                        fill(map.value_strings(f), std::get<0>(values[f]), std::get<1>(values[f]), "a value is stored twice");
                for (size_t t = 0; t < keys.size(); ++t) {
                    fill(map.prefixes(t), std::get<0>(keys[t]));
                    fill(map.finals(t), std::get<1>(keys[t]));
                    check_keys(map, t);
                }
                map.restore_values();
            },
            nb::arg("strings"), nb::arg("values"), nb::arg("keys"), "Fill an empty map with what another stored.");
}
