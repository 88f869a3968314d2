#include "features/word_functions.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "text/unicode_tables.h"

CharClass char_class(uint32_t code) {
    if (code < 128) return static_cast<CharClass>(unicode_tables::ascii_class[code]);
    const auto* run =
        std::upper_bound(std::begin(unicode_tables::class_runs), std::end(unicode_tables::class_runs), code << 3 | 7u);
    return static_cast<CharClass>(run[-1] & 7u);
}

uint32_t lower_case(uint32_t code) {
    if (code < 128) return code - 'A' < 26u ? code + 32 : code;
    const auto* run = std::upper_bound(std::begin(unicode_tables::lower_runs), std::end(unicode_tables::lower_runs), code,
                                       [](uint32_t c, const unicode_tables::LowerRun& r) { return c < r.first; });
    if (run == std::begin(unicode_tables::lower_runs)) return code;
    --run;
    if (code > run->last || (code - run->first) % run->step != 0) return code;
    return static_cast<uint32_t>(static_cast<int32_t>(code) + run->distance);
}

namespace {

// -- UTF-8 -----------------------------------------------------------------------------------------------------------

constexpr uint32_t bad_byte = 0xdc00;  // an invalid byte b is read as the lone surrogate 0xdc00 + b

struct Char {
    uint32_t code;
    uint32_t size;
};

Char decode_long(const unsigned char* s, size_t left) {
    const uint32_t lead = s[0];
    const Char bad{bad_byte + lead, 1};
    const uint32_t size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size == 0 || size > left) return bad;
    uint32_t code = lead & (0x7fu >> size);
    for (uint32_t i = 1; i < size; ++i) {
        if ((s[i] & 0xc0) != 0x80) return bad;
        code = code << 6 | (s[i] & 0x3fu);
    }
    constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[size] || code > 0x10ffff || (code >> 11) == 0x1b) return bad;
    return {code, size};
}

inline Char decode(const char* s, const char* end) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(s);
    if (*bytes < 128) return {*bytes, 1};
    return decode_long(bytes, static_cast<size_t>(end - s));
}

void append_code(uint32_t code, std::string& out) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | code >> 6);
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | code >> 12);
        out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | code >> 18);
        out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
        out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    }
}

template <typename Visit>
inline void each_char(std::string_view word, Visit&& visit) {
    const char* end = word.data() + word.size();
    for (const char* s = word.data(); s != end;) {
        const Char c = decode(s, end);
        visit(c.code, std::string_view(s, c.size));
        s += c.size;
    }
}

bool is_ascii(std::string_view word) {
    unsigned char any = 0;
    for (const char c : word) any |= static_cast<unsigned char>(c);
    return any < 128;
}

// -- parts of words --------------------------------------------------------------------------------------------------

// The first n characters. The view's data is null if there are fewer.
std::string_view first_chars(std::string_view word, int32_t n) {
    if (n < 1 || word.size() < static_cast<size_t>(n)) return {};
    const char* end = word.data() + word.size();
    const char* s = word.data();
    for (; n > 0 && s != end; --n) s += decode(s, end).size;
    return n == 0 ? word.substr(0, static_cast<size_t>(s - word.data())) : std::string_view{};
}

// The last n characters. The view's data is null if there are fewer.
std::string_view last_chars(std::string_view word, int32_t n) {
    const auto want = static_cast<size_t>(n);
    if (n < 1 || word.size() < want) return {};
    // If the last n bytes are ASCII, they are the last n characters.
    if (is_ascii(word.substr(word.size() - want))) return word.substr(word.size() - want);
    size_t count = 0;
    each_char(word, [&](uint32_t, std::string_view) { ++count; });
    if (count < want) return {};
    size_t skipped = 0;
    const char* end = word.data() + word.size();
    const char* s = word.data();
    for (; skipped + want < count; ++skipped) s += decode(s, end).size;
    return word.substr(static_cast<size_t>(s - word.data()));
}

bool put(std::string_view part, std::string& out) {
    out.append(part);
    return part.data() != nullptr;
}

bool put_lower(std::string_view part, std::string& out) {
    append_lower(part, out);
    return part.data() != nullptr;
}

// -- classes of words ------------------------------------------------------------------------------------------------

inline bool is_hyphen(uint32_t code) { return code == '-' || code == 0x2010 || code == 0x2011; }

// The properties of a word's characters that the tests use.
struct Profile {
    std::array<uint32_t, 6> counts{};  // by class
    uint32_t characters = 0;
    bool hyphen = false;
    bool first_cased_is_upper = false;

    explicit Profile(std::string_view word) {
        each_char(word, [&](uint32_t code, std::string_view) {
            const CharClass c = char_class(code);
            if (c == CharClass::upper && of(CharClass::upper) + of(CharClass::lower) == 0) first_cased_is_upper = true;
            ++counts[static_cast<size_t>(c)];
            ++characters;
            hyphen |= is_hyphen(code);
        });
    }

    uint32_t of(CharClass c) const { return counts[static_cast<size_t>(c)]; }
    uint32_t letters() const { return of(CharClass::upper) + of(CharClass::lower) + of(CharClass::letter); }
    bool all(CharClass c) const { return characters > 0 && of(c) == characters; }

    char case_pattern() const {
        const uint32_t upper = of(CharClass::upper), lower = of(CharClass::lower);
        if (upper + lower == 0) return of(CharClass::letter) > 0 ? 'o' : 'n';
        if (upper == 0) return 'l';
        if (lower == 0 && upper > 1) return 'U';
        return upper == 1 && first_cased_is_upper ? 'u' : 'm';
    }
};

void append_letter_class(std::string_view word, std::string& out) {
    const Profile profile(word);
    out += profile.case_pattern();
    if (profile.of(CharClass::digit) > 0) out += 'd';
    if (profile.hyphen) out += '-';
    if (profile.letters() + profile.of(CharClass::digit) == 0) out += 'p';
}

CharClass first_class(std::string_view word) {
    if (word.empty()) return CharClass::other;
    return char_class(decode(word.data(), word.data() + word.size()).code);
}

bool has(std::string_view word, CharClass wanted) {
    const char* end = word.data() + word.size();
    for (const char* s = word.data(); s != end;) {
        const Char c = decode(s, end);
        if (char_class(c.code) == wanted) return true;
        s += c.size;
    }
    return false;
}

bool ends_in(std::string_view word, std::string_view text) {
    return word.size() >= text.size() && word.substr(word.size() - text.size()) == text;
}

// The spelling features of the paper, section "POS Tagging Experiment", as one signature.
void append_spelling(std::string_view word, std::string& out) {
    constexpr std::string_view suffixes[] = {"ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies"};
    const auto add = [&out](std::string_view test) {
        if (!out.empty()) out += '+';
        out.append(test);
    };
    const CharClass first = first_class(word);
    if (first == CharClass::digit) add("digit");
    if (first == CharClass::upper) add("upper");
    if (has_hyphen(word)) add("hyphen");
    for (const std::string_view suffix : suffixes)
        if (ends_in(word, suffix)) add(suffix);
    if (out.empty()) out = "none";
}

// -- whole words -----------------------------------------------------------------------------------------------------

void append_shape(std::string_view word, bool collapse, std::string& out) {
    uint32_t previous = 0xffffffff;
    each_char(word, [&](uint32_t code, std::string_view bytes) {
        constexpr char marks[] = {0, 'X', 'x', 'a', 'd', 0};
        const char mark = marks[static_cast<size_t>(char_class(code))];
        // The mark X and the character X cannot be confused: every letter and digit is written as its mark.
        const uint32_t written = mark != 0 ? static_cast<uint32_t>(mark) : code;
        if (collapse && written == previous) return;
        previous = written;
        if (mark != 0)
            out += mark;
        else
            out.append(bytes);
    });
}

void append_folded(std::string_view word, std::string& out) {
    each_char(word, [&](uint32_t code, std::string_view bytes) {
        const uint32_t lower = lower_case(code);
        if (char_class(code) == CharClass::digit)
            out += '0';
        else if (lower != code)
            append_code(lower, out);
        else
            out.append(bytes);
    });
}

bool look_up(const WordFunction& f, std::string_view word, std::string& out) {
    if (!f.table) return false;
    int32_t id = f.table->keys.find(word);
    if (id < 0 && f.number == 1) {
        append_lower(word, out);
        id = f.table->keys.find(out);
        out.clear();
    }
    if (id < 0) return false;
    out.append(f.table->classes.at(f.table->values[static_cast<size_t>(id)]));
    return true;
}

bool flag(bool holds, std::string& out) {
    if (holds) out += '1';
    return holds;
}

}  // namespace

void append_lower(std::string_view word, std::string& out) {
    each_char(word, [&](uint32_t code, std::string_view bytes) {
        const uint32_t lower = lower_case(code);
        if (lower != code)
            append_code(lower, out);
        else
            out.append(bytes);
    });
}

void append_starts(std::string_view word, std::vector<size_t>& starts) {
    size_t at = 0;
    each_char(word, [&](uint32_t, std::string_view bytes) {
        starts.push_back(at);
        at += bytes.size();
    });
    starts.push_back(at);
}

bool has_hyphen(std::string_view word) {
    return word.find('-') != word.npos || word.find("\xe2\x80\x90") != word.npos || word.find("\xe2\x80\x91") != word.npos;
}

bool apply(const WordFunction& f, std::string_view word, std::string& out) {
    out.clear();
    switch (f.kind) {
        case Kind::identity: out.append(word); return true;
        case Kind::lower: append_lower(word, out); return true;
        case Kind::prefix: return put(first_chars(word, f.number), out);
        case Kind::suffix: return put(last_chars(word, f.number), out);
        case Kind::lower_prefix: return put_lower(first_chars(word, f.number), out);
        case Kind::lower_suffix: return put_lower(last_chars(word, f.number), out);
        case Kind::shape: append_shape(word, false, out); return true;
        case Kind::short_shape: append_shape(word, true, out); return true;
        case Kind::folded: append_folded(word, out); return true;
        case Kind::letter_class: append_letter_class(word, out); return true;
        case Kind::spelling: append_spelling(word, out); return true;
        case Kind::ending: {
            const std::string_view tail = last_chars(word, f.number);
            if (tail.data() == nullptr) return false;
            append_letter_class(word, out);
            out += '|';
            return put_lower(tail, out);
        }
        case Kind::length: {
            uint32_t count = 0;
            each_char(word, [&](uint32_t, std::string_view) { ++count; });
            if (f.number > 0) count = std::min(count, static_cast<uint32_t>(f.number));
            out = std::to_string(count);
            return true;
        }
        case Kind::lookup: return look_up(f, word, out);
        case Kind::related_start: return f.table && f.table->beginnings && append_related_start(*f.table, word, out);
        case Kind::related_end: return f.table && append_related_end(*f.table, word, out);
        case Kind::starts_digit: return flag(first_class(word) == CharClass::digit, out);
        case Kind::starts_upper: return flag(first_class(word) == CharClass::upper, out);
        case Kind::has_hyphen: return flag(has_hyphen(word), out);
        case Kind::has_digit: return flag(has(word, CharClass::digit), out);
        case Kind::has_punct: return flag(has(word, CharClass::punct), out);
        case Kind::ends_with: return flag(ends_in(word, f.text), out);
        case Kind::starts_with: return flag(word.substr(0, f.text.size()) == f.text, out);
        case Kind::all_digit: return flag(Profile(word).all(CharClass::digit), out);
        case Kind::all_punct: return flag(Profile(word).all(CharClass::punct), out);
        case Kind::all_upper: {
            const Profile p(word);
            return flag(p.of(CharClass::upper) > 0 && p.of(CharClass::lower) == 0, out);
        }
        case Kind::title: return flag(first_class(word) == CharClass::upper && Profile(word).of(CharClass::upper) == 1, out);
        case Kind::mixed_case: return flag(Profile(word).case_pattern() == 'm', out);
    }
    return false;
}
