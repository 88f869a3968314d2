// See stored_map.h.
#include "features/stored_map.h"

#include <stdexcept>

namespace {

void fill(Interner& strings, const StringTable& stored, const char* twice) {
    check_offsets(stored.offsets, stored.blob.size(), "stored strings and their offsets disagree");
    intern_all(stored, strings, twice);
}

void fill(KeyInterner& keys, const Array<uint64_t>& stored) {
    keys.reserve(stored.size());
    for (size_t i = 0; i < stored.size(); ++i)
        if (static_cast<size_t>(keys.intern(stored[i])) != i) throw std::invalid_argument("a feature is stored twice");
}

// Whether an atom can have this value, boundaries included.
bool is_value(const FeatureMap& map, const Atom& atom, uint64_t value) {
    return value < kBoundaries + map.values(static_cast<size_t>(atom.function)).size();
}

// Checks that every stored feature leads back to values of its atoms.
void check_keys(const FeatureMap& map, size_t t) {
    const TemplateAtoms& atoms = map.atoms(t);
    const std::vector<uint64_t>& prefixes = map.prefixes(t).keys();
    bool good = atoms.size() > 1 || map.finals(t).size() == 0;
    for (size_t i = 0; good && i < map.finals(t).size(); ++i) {
        uint64_t key = map.finals(t).keys()[i];
        for (size_t a = atoms.size() - 1; good; --a) {
            good = is_value(map, atoms[a], key & 0xffffffffu) &&
                   (a == 1 ? is_value(map, atoms[0], key >> 32) : (key >> 32) < prefixes.size());
            if (!good || a == 1) break;
            key = prefixes[key >> 32];
        }
    }
    if (!good) throw std::invalid_argument("the values of a stored feature are missing");
}

// The values here of another map's function values, boundaries included.
std::vector<int32_t> absorb_values(FeatureMap& map, const FeatureMap& other, size_t f) {
    const Interner& theirs = other.values(f);
    std::vector<int32_t> value(kBoundaries + theirs.size());
    for (int32_t b = 0; b < kBoundaries; ++b) value[b] = b;
    for (size_t i = 0; i < theirs.size(); ++i) {
        const std::string_view s = theirs.at(static_cast<int32_t>(i));
        value[kBoundaries + i] = kBoundaries + (map.is_identity(f) ? map.values(f).find(s) : map.value_strings(f).intern(s));
    }
    return value;
}

// The same for the features of a template: traces each stored feature back to its values. A key is (state after the previous
// atoms, value).
std::vector<int32_t> absorb_features(FeatureMap& map, const FeatureMap& other, size_t t,
                                     const std::vector<std::vector<int32_t>>& value) {
    const TemplateAtoms& atoms = map.atoms(t);
    const std::vector<int32_t>& states = value[atoms[0].function];
    if (atoms.size() == 1) return states;
    std::vector<int32_t> ids(other.finals(t).size()), values(atoms.size());
    for (size_t i = 0; i < ids.size(); ++i) {
        uint64_t key = other.finals(t).keys()[i];
        for (size_t a = atoms.size() - 1;; --a) {
            values[a] = value[atoms[a].function][key & 0xffffffffu];
            if (a == 1) break;
            key = other.prefixes(t).keys()[key >> 32];
        }
        values[0] = states[key >> 32];
        ids[i] = map.intern(t, values.data());
    }
    return ids;
}

}  // namespace

void restore(FeatureMap& map, const StoredMap& stored) {
    if (stored.strings.size() != map.n_columns() || stored.values.size() != map.n_functions() ||
        stored.keys.size() != map.n_templates())
        throw std::invalid_argument("the stored vocabulary does not fit its templates");
    for (size_t c = 0; c < stored.strings.size(); ++c) fill(map.column_strings(c), stored.strings[c], "a string is stored twice");
    for (size_t f = 0; f < stored.values.size(); ++f)
        if (!map.is_identity(f)) fill(map.value_strings(f), stored.values[f], "a value is stored twice");
    for (size_t t = 0; t < stored.keys.size(); ++t) {
        fill(map.prefixes(t), stored.keys[t].prefixes);
        fill(map.finals(t), stored.keys[t].finals);
        check_keys(map, t);
    }
    map.restore_values();
}

std::vector<std::vector<int32_t>> absorb(FeatureMap& map, const FeatureMap& other) {
    if (!map.fits(other)) throw std::invalid_argument("only maps with the same templates can be merged");
    // Strings first, in the other's order; then values; then tuples of values.
    for (size_t c = 0; c < map.n_columns(); ++c)
        for (size_t i = 0; i < other.strings(c).size(); ++i) map.add_string(c, other.strings(c).at(static_cast<int32_t>(i)));
    std::vector<std::vector<int32_t>> value, features;
    for (size_t f = 0; f < map.n_functions(); ++f) value.push_back(absorb_values(map, other, f));
    for (size_t t = 0; t < map.n_templates(); ++t) features.push_back(absorb_features(map, other, t, value));
    return features;
}

std::vector<int32_t> intern_pairs(FeatureMap& map, size_t t, const Array<int32_t>& first, const Array<int32_t>& second) {
    require(t < map.n_templates() && map.atoms(t).size() == 2, "the template does not have two atoms");
    require(first.size() == second.size(), "first and second values differ in number");
    const TemplateAtoms& atoms = map.atoms(t);
    const auto good = [&](const Atom& atom, int32_t v) { return v >= 0 && is_value(map, atom, static_cast<uint64_t>(v)); };
    for (size_t i = 0; i < first.size(); ++i)
        if (!good(atoms[0], first[i]) || !good(atoms[1], second[i])) throw std::invalid_argument("value out of range");
    std::vector<int32_t> ids(first.size());
    for (size_t i = 0; i < ids.size(); ++i) {
        const int32_t values[2] = {first[i], second[i]};
        ids[i] = map.intern(t, values);
    }
    return ids;
}
