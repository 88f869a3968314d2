// From names of ready-made features to ids: of a trained model, or new ones in training.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/array.h"
#include "core/string_table.h"
#include "core/strings.h"
#include "features/listing.h"
#include "features/named_features.h"

// The largest value of a feature in models with weights. The squares of larger values, summed, could overflow single precision.
constexpr float kLargestValue = 1e15f;

// A value beyond the largest one.
class TooLargeValue : public std::runtime_error {
   public:
    TooLargeValue(std::string_view name, float value, size_t token)
        : std::runtime_error("a feature has a value that is too large"), name(name), value(value), token(token) {}
    std::string name;
    float value;
    int64_t sentence = -1;  // negative if there is only one
    size_t token;
};

// Ids and values of the features of tokens.
struct FoundFeatures {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> ids;
    std::vector<float> values;
    bool plain = true;  // all values are 1

    void clear();
    void add(int32_t id, float value) {
        ids.push_back(id);
        values.push_back(value);
        plain = plain && value == 1.0f;
    }
    void end_token() { offsets.push_back(static_cast<int64_t>(ids.size())); }
    // A view; it is valid until the features change.
    Attributes view() const;
};

// Names of the elements of an array, prefix + number, and their ids. Work memory of one thread.
class ArrayIds {
   public:
    // The ids of the first `width` elements. `id_of(name, key_length)` finds one.
    template <typename Id>
    const int32_t* get(std::string_view prefix, size_t width, Id id_of) {
        if (known_.size() > kMost) known_.clear();
        std::vector<int32_t>& ids = known_[std::string(prefix)];
        while (ids.size() < width) {
            name_.assign(prefix).append(std::to_string(ids.size()));
            ids.push_back(id_of(name_));
        }
        return ids.data();
    }

   private:
    static constexpr size_t kMost = 1000;  // distinct prefixes to remember

    std::unordered_map<std::string, std::vector<int32_t>> known_;
    std::string name_;
};

// The values at which a numeric attribute is cut, ascending, and the id of each bin (-1: no such feature).
struct AttributeBins {
    std::vector<double> edges;
    std::vector<int32_t> ids;
};

// The same as it is given: the names of the bins are features.
struct NamedBins {
    std::string name;
    Array<double> edges;
    std::vector<std::string> bins;
};

// The names of a model's ready-made attributes.
class AttributeNames {
   public:
    // `joiner` stands between the keys and a joined value. With `bins`, values are not used, except to find the bin of an
    // attribute that has bins.
    AttributeNames(const StringTable& names, char joiner, const std::optional<std::vector<NamedBins>>& bins);

    size_t size() const { return names_.size(); }
    // The id of each name of a table, -1 if it is not known.
    std::vector<int32_t> match(const StringTable& wanted) const {
        wanted.check("names and their offsets disagree");
        return find_all(wanted, names_);
    }
    // Adds the known features of a sentence. Throws TooLargeValue, except for models with binned values.
    void find(const NamedFeatures& sentence, ArrayIds& arrays, FoundFeatures& found) const;

   private:
    void add_bins(const NamedBins& given);
    void add(int32_t id, std::string_view name, float value, FoundFeatures& found) const;
    // The name with the joiner of the model.
    std::string_view joined(std::string_view name, int32_t key_length, std::string& buffer) const;

    Interner names_;
    char joiner_;
    bool binned_;
    Interner numeric_;  // names of attributes that have bins
    std::vector<AttributeBins> bins_;
};

// Names that are numbered when they first appear, with the length of the keys before a joined value (-1: no joined value).
class AttributeInterner {
   public:
    // With `keep_false`, a feature that is False is a feature with the value 0.
    explicit AttributeInterner(bool keep_false) : keep_false_(keep_false) {}

    void add(const NamedFeatures& sentence, FoundFeatures& found);
    const Interner& names() const { return names_; }
    std::vector<int32_t>&& take_key_lengths() { return std::move(key_lengths_); }

   private:
    int32_t intern(std::string_view name, int32_t key_length);

    bool keep_false_;
    Interner names_;
    std::vector<int32_t> key_lengths_;
    ArrayIds arrays_;
};
