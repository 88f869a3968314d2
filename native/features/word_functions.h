// Word functions: each maps a string to a value string or to no value. A feature of the word alone is computed once for each
// distinct word. tests/reference/word_functions.py is the same in plain Python.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/strings.h"
#include "features/related_words.h"

// Classes of characters, by Unicode general category.
enum class CharClass : uint8_t {
    other = 0,
    upper = 1,   // Lu, Lt
    lower = 2,   // Ll
    letter = 3,  // Lm, Lo: letters without case
    digit = 4,   // Nd
    punct = 5,   // P*, S*
};

CharClass char_class(uint32_t code);
uint32_t lower_case(uint32_t code);

enum class Kind : int32_t {
    identity = 0,
    lower = 1,
    prefix = 2,        // first `number` characters; no value if the word has fewer
    suffix = 3,        // last `number` characters
    shape = 4,         // Xx-dd: X upper, x lower, d digit, a other letter; other characters unchanged
    short_shape = 5,   // shape with runs of one character collapsed
    letter_class = 6,  // case (l u U m o n), then d for a digit, - for a hyphen, p for neither letter nor digit
    spelling = 7,      // the paper's spelling tests as one string: "upper+hyphen+ing", or "none"
    ending = 8,        // letter_class | lower suffix of `number` characters
    // Tests: "1" or no value.
    starts_digit = 9,
    starts_upper = 10,
    has_hyphen = 11,
    ends_with = 12,  // ends in `text`
    length = 13,     // number of characters, limited to `number` if that is above 0
    lookup = 14,     // the word's value in `table`; with number 1, otherwise the value of its lower-case form
    has_digit = 15,
    all_upper = 16,  // has upper and no lower letters
    all_digit = 17,
    all_punct = 18,
    lower_prefix = 19,
    lower_suffix = 20,
    title = 21,       // starts with its only upper letter
    mixed_case = 22,  // letter_class m
    has_punct = 23,
    folded = 24,       // lower case, every digit as 0
    starts_with = 25,  // begins with `text`
    // These use `table`, which maps lower-case words to their usual label, most frequent first: see related_words.h.
    related_start = 26,
    related_end = 27,
};
constexpr int32_t kind_count = 28;

// Words and their values, from a gazetteer, a clustering or a lexicon.
struct Lookup {
    Interner keys;
    std::vector<int32_t> values;  // (keys,) ids of classes
    Interner classes;
    std::unique_ptr<const Beginnings> beginnings;  // only for lookups of related words
};

struct WordFunction {
    Kind kind = Kind::identity;
    int32_t number = 0;
    std::string text;
    std::shared_ptr<const Lookup> table;
};

// Sets out to the function's value for a word. If there is none, returns false and leaves out empty. Words are UTF-8. An
// invalid byte counts as one character of class other.
bool apply(const WordFunction& f, std::string_view word, std::string& out);

// Appends the word in lower case, character by character.
void append_lower(std::string_view word, std::string& out);
// Appends the offset of each character of a word, and the word's size.
void append_starts(std::string_view word, std::vector<size_t>& starts);
bool has_hyphen(std::string_view word);
