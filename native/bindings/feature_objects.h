// Reads ready-made features from Python objects, as python-crfsuite reads them.
#pragma once
#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "features/named_features.h"

// Features that cannot be used as given: a corate.errors.FeatureError in Python, which is also a TypeError if a value has the
// wrong type.
class BadFeature : public std::runtime_error {
   public:
    BadFeature(const std::string& message, bool wrong_type, int64_t sentence = -1, int64_t token = -1)
        : std::runtime_error(message), wrong_type(wrong_type), sentence(sentence), token(token) {}
    bool wrong_type;
    int64_t sentence, token;  // the place, negative if it is not known
};

class FeatureReader {
   public:
    // Appends to `out`. `sentence` is the index of the next sentence for messages, negative if there is only one. Features that
    // are False are left out unless `list_false` is set.
    explicit FeatureReader(NamedFeatures& out, int64_t sentence = -1, bool list_false = false)
        : out_(out), sentence_(sentence), list_false_(list_false) {}

    // Reads the tokens of one sentence. The GIL must be held.
    void read(nanobind::handle sentence);
    void next_sentence() { ++sentence_; }

   private:
    class Container;

    static constexpr int kDeepest = 64;  // of nested mappings

    void read_token(nanobind::handle token);
    void read_mapping(nanobind::handle mapping);
    // Reads a value that is no string, no bool and no ordinary number.
    void read_other(std::string_view key, nanobind::handle value);
    void read_nested(std::string_view key, nanobind::handle value);
    void read_elements(nanobind::handle elements);
    void read_element(nanobind::handle element);
    // Reads an array of numbers whose names start with the prefix.
    void read_array(nanobind::handle array);
    float number(std::string_view key, nanobind::handle value) const;
    float finite(std::string_view key, double value) const;
    // The text of a string or of bytes. A message calls it `what`, with the keys around it and its own key.
    std::string_view text(nanobind::handle object, const char* what, std::string_view key = {}) const;
    std::string_view unusual_text(nanobind::handle object, const char* what, std::string_view key) const;
    std::string full_name(std::string_view key) const;
    [[noreturn]] void refuse(const std::string& message, bool wrong_type) const;
    [[noreturn]] void refuse_value(std::string_view key, nanobind::handle value) const;
    [[noreturn]] void refuse_token(nanobind::handle token) const;

    NamedFeatures& out_;
    int64_t sentence_;
    bool list_false_;
    size_t token_ = 0;
    int depth_ = 0;
    Container* innermost_ = nullptr;
    std::string prefix_;  // the keys around the current mapping or list, each followed by the joiner
};
