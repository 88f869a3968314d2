// See feature_map.h.
#include "features/feature_map.h"

#include <algorithm>
#include <stdexcept>

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
        if (atoms.empty() || atoms.size() > kMaxOffset) throw std::out_of_range("a template must have one to eight atoms");
        for (const Atom& atom : atoms)
            if (atom.function < 0 || static_cast<size_t>(atom.function) >= functions_.size() || atom.offset < -kMaxOffset ||
                atom.offset > kMaxOffset)
                throw std::out_of_range("function or offset out of range");
    }
}

size_t FeatureMap::n_features(size_t t) const {
    if (templates_[t].size() > 1) return finals_[t].size();
    return kBoundaries + values(static_cast<size_t>(templates_[t][0].function)).size();
}

std::vector<int64_t> FeatureMap::sizes() const {
    std::vector<int64_t> sizes;
    for (size_t t = 0; t < n_templates(); ++t) sizes.push_back(static_cast<int64_t>(n_features(t)));
    return sizes;
}

std::vector<int32_t> FeatureMap::values_of(size_t f) const {
    std::vector<int32_t> values(strings(functions_[f].column).size());
    for (size_t w = 0; w < values.size(); ++w) values[w] = value_of(f, static_cast<int32_t>(w));
    return values;
}

size_t FeatureMap::bytes() const {
    size_t sum = 0;
    for (const Interner& strings : strings_) sum += strings.bytes();
    for (const Interner& values : values_) sum += values.bytes();
    for (const std::vector<int32_t>& values : value_of_) sum += sizeof(int32_t) * values.capacity();
    for (const KeyInterner& keys : prefixes_) sum += keys.bytes();
    for (const KeyInterner& keys : finals_) sum += keys.bytes();
    return sum;
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
    if (static_cast<size_t>(id) == before) add_values(1);
    return id;
}

void FeatureMap::add_values(size_t threads) {
    if (released_) throw std::invalid_argument("the map has no tables of word functions any more");
    const size_t parts = useful_threads(threads, functions_.size());
    in_parallel(parts, [&](size_t part) {
        std::string value;
        for (size_t f = part; f < functions_.size(); f += parts) {
            if (is_identity(f)) continue;
            const Interner& strings = strings_[static_cast<size_t>(functions_[f].column)];
            value_of_[f].reserve(strings.size());
            for (size_t i = value_of_[f].size(); i < strings.size(); ++i) {
                // A value that only unknown words use gets an id too: its weights come from known words with the same value.
                const int32_t id =
                    apply(functions_[f].word, strings.at(static_cast<int32_t>(i)), value) ? values_[f].intern(value) : kAbsent;
                value_of_[f].push_back(functions_[f].unknown_only ? kAbsent : id);
            }
        }
    });
}

void FeatureMap::add_strings(size_t column, const StringTable& strings, size_t threads) {
    if (column >= n_columns()) throw std::out_of_range("column number out of range");
    strings.check();
    strings_[column].reserve(strings.size(), strings.blob.size());
    for (size_t i = 0; i < strings.size(); ++i) add_bare_string(column, strings[i]);
    add_values(threads);
}

void FeatureMap::release_tables() {
    for (Function& f : functions_) f.word.table.reset();
    released_ = true;
}

void FeatureMap::restore_values() {
    for (size_t f = 0; f < functions_.size(); ++f) {
        if (is_identity(f)) continue;
        const Interner& words = strings_[functions_[f].column];
        value_of_[f].assign(words.size(), kAbsent);
        if (functions_[f].unknown_only) continue;
        for (size_t w = 0; w < words.size(); ++w)
            if (apply(functions_[f].word, words.at(static_cast<int32_t>(w)), buffer_)) value_of_[f][w] = values_[f].find(buffer_);
    }
}

namespace {

uint64_t pair_key(int32_t a, int32_t b) {
    return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
}

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
    if (map.released()) throw std::invalid_argument("the map has no tables of word functions any more");
    for (size_t f = 0; f < known_.size(); ++f) known_[f] = map.strings(map.function(f).column).size();
}

size_t Lexicon::n_extra() const {
    size_t n = 0;
    for (const Interner& strings : extra_) n += strings.size();
    return n;
}

void Lexicon::prefetch_values(size_t column, int32_t id) const {
    for (size_t f = 0; f < known_.size(); ++f)
        if (static_cast<size_t>(map_.function(f).column) == column && static_cast<size_t>(id) < known_[f])
            map_.prefetch_value(f, id);
}

bool Lexicon::outdated() const {
    for (size_t f = 0; f < known_.size(); ++f)
        if (known_[f] != map_.strings(map_.function(f).column).size()) return true;
    return false;
}

int32_t Lexicon::extra_id(size_t column, std::string_view s, uint64_t hash) {
    const size_t before = extra_[column].size();
    const int32_t id = extra_[column].intern(s, hash);
    const auto shifted = static_cast<int32_t>(map_.strings(column).size() + static_cast<size_t>(id));
    if (static_cast<size_t>(id) < before) return shifted;
    // The tables of values do not fit into the cache, so the places of all values are fetched before the first is looked up.
    texts_.clear();
    new_values_.clear();
    for (size_t f = 0; f < extra_values_.size(); ++f) {
        if (static_cast<size_t>(map_.function(f).column) != column) continue;
        const bool has = !map_.is_identity(f) && apply(map_.function(f).word, s, buffer_);
        const uint64_t value_hash = hash_bytes(buffer_);
        if (has) map_.values(f).prefetch(value_hash);
        texts_ += buffer_;
        new_values_.push_back({f, has, value_hash, texts_.size()});
    }
    size_t begin = 0;
    for (const NewValue& value : new_values_) {
        const std::string_view text = std::string_view(texts_).substr(begin, value.end - begin);
        extra_values_[value.function].push_back(value.has ? map_.values(value.function).find(text, value.hash) : kAbsent);
        begin = value.end;
    }
    return shifted;
}
