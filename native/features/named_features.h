// Ready-made features of a sentence as names and values, before names are turned into ids.
//
//     {"w": "the"}          w:the = 1          {"a": {"b": "c"}}     a:b:c = 1
//     {"n": 2.5}            n = 2.5            {"a": ["x", "x"]}     a:x = 1, a:x = 1
//     ["w:the"]             w:the = 1          {"v": array([3, 4])}  v:0 = 3, v:1 = 4
//
// All names stand one after the other in one buffer. An array is one entry with the prefix of its names.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

// The joiner of keys and values in names.
constexpr char kJoiner = ':';
// The value of a feature that is False: it is listed, but it is not a feature.
constexpr float kFalse = -0.0f;
inline bool is_false(float value) { return value == 0.0f && std::signbit(value); }

// Whether a number is finite and small enough to be stored as a float.
inline bool is_float(double value) { return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()); }

struct NamedFeature {
    size_t end;          // where the name, or the prefix of an array, ends in the buffer
    float value;         // of a single feature
    int32_t key_length;  // length of the keys before a joined value, -1 if no value is joined
    uint32_t width;      // of an array, 0 for a single feature
};

class NamedFeatures {
   public:
    // -- building --
    void clear() {
        used_ = 0;
        features_.clear();
        numbers_.clear();
        tokens_.assign(1, 0);
    }
    void add(std::string_view prefix, std::string_view name, float value) {
        put(put(room(prefix.size() + name.size()), prefix), name);
        features_.push_back({used_, value, -1, 0});
    }
    void add(std::string_view prefix, std::string_view key, std::string_view value) {
        const size_t key_length = prefix.size() + key.size();
        char* joiner = put(put(room(key_length + 1 + value.size()), prefix), key);
        *joiner = kJoiner;
        put(joiner + 1, value);
        features_.push_back({used_, 1.0f, static_cast<int32_t>(key_length), 0});
    }
    // An element of a list: the prefix, if any, ends with the joiner.
    void add_element(std::string_view prefix, std::string_view element) {
        add(prefix, element, 1.0f);
        features_.back().key_length = static_cast<int32_t>(prefix.size()) - 1;
    }
    // An array: the prefix, if any, ends with the joiner. Returns the index of the first number that is no float (see is_float), or
    // the width if all are.
    template <typename Real>
    size_t add_array(std::string_view prefix, const Real* numbers, size_t width) {
        if (width == 0) return 0;
        put(room(prefix.size()), prefix);
        features_.push_back({used_, 0.0f, static_cast<int32_t>(prefix.size()) - 1, static_cast<uint32_t>(width)});
        size_t good = 0;
        for (; good < width && is_float(static_cast<double>(numbers[good])); ++good)
            numbers_.push_back(static_cast<float>(numbers[good]) + 0.0f);
        numbers_.resize(numbers_.size() + width - good);
        return good;
    }
    void end_token() { tokens_.push_back(features_.size()); }

    // -- reading --
    size_t n_tokens() const { return tokens_.size() - 1; }
    size_t n_bytes() const { return used_; }
    size_t n_numbers() const { return numbers_.size(); }
    // Calls single(name, key_length, value), or array(prefix, key_length, numbers, width), for each feature, and end() after each token.
    template <typename Single, typename ArrayOfNumbers, typename End>
    void each(Single single, ArrayOfNumbers array, End end) const {
        size_t at = 0, feature = 0;
        const float* numbers = numbers_.data();
        for (size_t t = 1; t < tokens_.size(); ++t) {
            for (; feature < tokens_[t]; ++feature) {
                const NamedFeature& f = features_[feature];
                const std::string_view name(names_.data() + at, f.end - at);
                at = f.end;
                if (f.width == 0) {
                    single(name, f.key_length, f.value);
                } else {
                    array(name, f.key_length, numbers, f.width);
                    numbers += f.width;
                }
            }
            end();
        }
    }
    // Calls use(name, value) for each feature and each number of an array, and end() after each token.
    template <typename Use, typename End>
    void each_value(Use use, End end) const {
        std::string name;
        each([&](std::string_view single, int32_t, float value) { use(single, value); },
             [&](std::string_view prefix, int32_t, const float* numbers, size_t width) {
                 for (size_t i = 0; i < width; ++i) use(name.assign(prefix).append(std::to_string(i)), numbers[i]);
             },
             end);
    }

   private:
    // Room for more bytes of names.
    char* room(size_t bytes) {
        const size_t start = used_;
        used_ += bytes;
        if (used_ > names_.size()) names_.resize(2 * used_);
        return names_.data() + start;
    }
    // Copies a text. Most are short: two copies of fixed size, which may overlap, are faster than a call of memcpy.
    static char* put(char* at, std::string_view text) {
        const size_t n = text.size();
        if (n > 16)
            std::memcpy(at, text.data(), n);
        else if (n >= 8)
            put_ends<8>(at, text);
        else if (n >= 4)
            put_ends<4>(at, text);
        else if (n >= 2)
            put_ends<2>(at, text);
        else if (n == 1)
            *at = text[0];
        return at + n;
    }
    template <size_t Size>
    static void put_ends(char* at, std::string_view text) {
        char first[Size], last[Size];
        std::memcpy(first, text.data(), Size);
        std::memcpy(last, text.data() + text.size() - Size, Size);
        std::memcpy(at, first, Size);
        std::memcpy(at + text.size() - Size, last, Size);
    }

    std::vector<char> names_;  // the first used_ bytes
    size_t used_ = 0;
    std::vector<NamedFeature> features_;
    std::vector<float> numbers_;
    std::vector<size_t> tokens_{0};
};
