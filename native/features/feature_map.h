// The vocabulary of a model: strings of each column -> values of word functions -> features of templates.
//
// A word function is computed once for each distinct string. An atom reads a function's value at an offset from the token. A
// template joins the values of its atoms into one feature. There are no hash collisions between features.
//
//     value  = 16 + id of the function's value string      (0..15 are the positions before and after the sentence)
//     feature of a template with one atom    = the value
//     feature of a template with more atoms  = id of the tuple of values, interned pair by pair
//
// Features are numbered within their template. A model adds the base of the template.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/string_table.h"
#include "core/strings.h"
#include "features/word_functions.h"

constexpr int32_t kBoundaries = 16;  // values 0..7: one to eight positions before the sentence; 8..15: after it
constexpr int32_t kMaxOffset = 8;
constexpr int32_t kAbsent = -1;

struct Function {
    int32_t column = 0;
    WordFunction word;
    bool unknown_only = false;  // has a value only for strings that are not in the map
};

struct Atom {
    int32_t function = 0;
    int32_t offset = 0;
};

using TemplateAtoms = std::vector<Atom>;

class FeatureMap {
   public:
    FeatureMap(size_t n_columns, std::vector<Function> functions, std::vector<TemplateAtoms> templates);

    bool released() const { return released_; }
    size_t n_columns() const { return strings_.size(); }
    size_t n_templates() const { return templates_.size(); }
    size_t n_functions() const { return functions_.size(); }
    const Function& function(size_t f) const { return functions_[f]; }
    const TemplateAtoms& atoms(size_t t) const { return templates_[t]; }
    const Interner& strings(size_t column) const { return strings_[column]; }
    // The value strings of a function. For the identity these are the strings of the column.
    const Interner& values(size_t f) const { return is_identity(f) ? strings_[functions_[f].column] : values_[f]; }
    const KeyInterner& prefixes(size_t t) const { return prefixes_[t]; }
    const KeyInterner& finals(size_t t) const { return finals_[t]; }
    KeyInterner& finals(size_t t) { return finals_[t]; }
    KeyInterner& prefixes(size_t t) { return prefixes_[t]; }
    Interner& value_strings(size_t f) { return values_[f]; }
    Interner& column_strings(size_t column) { return strings_[column]; }
    size_t n_features(size_t t) const;
    std::vector<int64_t> sizes() const;  // n_features of each template
    // The memory that strings, values and features take.
    size_t bytes() const;
    // Whether the other map has the same columns, functions and templates.
    bool fits(const FeatureMap& other) const;

    bool is_identity(size_t f) const { return functions_[f].word.kind == Kind::identity && !functions_[f].unknown_only; }
    // Value id (without the boundary values) of a known string, -1 if absent.
    int32_t value_of(size_t f, int32_t string) const { return is_identity(f) ? string : value_of_[f][string]; }

    std::vector<int32_t> values_of(size_t f) const;  // of all strings of its column

    // Fetches the memory that `value_of` will read.
    void prefetch_value(size_t f, int32_t string) const {
        if (!is_identity(f)) ::prefetch(value_of_[f].data() + string);
    }

    // Adds a string and, if it is new, its values.
    int32_t add_string(size_t column, std::string_view s);
    // Adds a string without its values. After some of these, call add_values.
    int32_t add_bare_string(size_t column, std::string_view s) { return strings_[column].intern(s); }
    // Adds the values of new strings. Functions are independent, so threads can share them.
    void add_values(size_t threads);
    // Adds many strings to an empty column, with their values.
    void add_strings(size_t column, const StringTable& strings, size_t threads);
    // Releases the tables of word functions. The map then has no values for other strings, and gets none.
    void release_tables();
    // Recomputes the values of all strings from the existing value tables without adding values.
    void restore_values();

    // The feature of template t whose atoms have these values (with boundaries, none absent), or -1.
    int32_t find(size_t t, const int32_t* values) const;
    int32_t intern(size_t t, const int32_t* values);
    // Prefetches the memory that `find` will read for a pair.
    void prefetch(size_t t, const int32_t* values) const;

   private:
    std::vector<Interner> strings_;
    std::vector<Function> functions_;
    std::vector<Interner> values_;
    std::vector<std::vector<int32_t>> value_of_;
    std::vector<TemplateAtoms> templates_;
    std::vector<KeyInterner> prefixes_, finals_;
    std::string buffer_;
    bool released_ = false;
};

// Strings in texts to tag. Known strings keep their ids. Others are numbered after them, and their values are computed once.
class Lexicon {
   public:
    explicit Lexicon(const FeatureMap& map);

    int32_t id(size_t column, std::string_view s) {
        const uint64_t hash = hash_bytes(s);
        const int32_t known = map_.strings(column).find(s, hash);
        return known >= 0 ? known : extra_id(column, s, hash);
    }
    // The number of strings of a column: those of the map and new ones.
    size_t size(size_t column) const { return map_.strings(column).size() + extra_[column].size(); }
    bool is_known(size_t column, int32_t id) const { return static_cast<size_t>(id) < map_.strings(column).size(); }
    std::string_view at(size_t column, int32_t id) const {
        const size_t known = map_.strings(column).size();
        return static_cast<size_t>(id) < known ? map_.strings(column).at(id)
                                               : extra_[column].at(static_cast<int32_t>(id - known));
    }
    // Value id (without the boundary values), or -1.
    int32_t value(size_t f, int32_t id) const {
        const size_t known = known_[f];
        if (static_cast<size_t>(id) < known) return map_.value_of(f, id);
        return extra_values_[f][id - known];
    }
    // Fetches the memory that `value` will read for the functions of a column.
    void prefetch_values(size_t column, int32_t id) const;
    // Fetches the memory that `id` will read first for a string.
    void prefetch_id(size_t column, std::string_view s) const { map_.strings(column).prefetch(hash_bytes(s)); }
    const FeatureMap& map() const { return map_; }
    // The number of strings that are not in the map.
    size_t n_extra() const;
    // Whether the map has grown since this object was made, which must then not be used.
    bool outdated() const;

    // The feature of template t at position i of a sentence of n tokens, whose string ids are columns[c][0..n), or -1.
    int32_t feature(size_t t, const int32_t* const* columns, int64_t i, int64_t n) const {
        int32_t values[kMaxOffset + 1];
        return gather(t, columns, i, n, values) ? map_.find(t, values) : kAbsent;
    }
    bool gather(size_t t, const int32_t* const* columns, int64_t i, int64_t n, int32_t* values) const {
        const TemplateAtoms& atoms = map_.atoms(t);
        for (size_t a = 0; a < atoms.size(); ++a) {
            const int64_t j = i + atoms[a].offset;
            if (j < 0) {
                values[a] = static_cast<int32_t>(-j - 1);
            } else if (j >= n) {
                values[a] = static_cast<int32_t>(kMaxOffset + j - n);
            } else {
                const auto f = static_cast<size_t>(atoms[a].function);
                const int32_t v = value(f, columns[map_.function(f).column][j]);
                if (v < 0) return false;
                values[a] = kBoundaries + v;
            }
        }
        return true;
    }

   private:
    int32_t extra_id(size_t column, std::string_view s, uint64_t hash);

    const FeatureMap& map_;
    std::vector<Interner> extra_;                     // per column
    std::vector<std::vector<int32_t>> extra_values_;  // per function
    std::vector<size_t> known_;                       // per function: number of strings of its column in the map
    // The values of a new string, which end at `end` in texts_.
    struct NewValue {
        size_t function;
        bool has;
        uint64_t hash;
        size_t end;
    };
    std::string buffer_, texts_;
    std::vector<NewValue> new_values_;
};
