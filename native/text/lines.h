// Lines, blank lines and fields of text: the rules of every reader.
//
//   - A line ends with \n or at the end of the text.
//   - White space is a space, a tab or a carriage return. Any other character (a no-break space, a form feed) can be
//     part of a token.
//   - White space at the end of a line is ignored. A line of white space is blank.
//   - Fields are separated by runs of white space or, if a separator is given, by single separators.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

// A line that cannot be read, by its number, and its number of fields.
struct BadLine : std::runtime_error {
    BadLine(int64_t line, size_t fields) : std::runtime_error("a line cannot be read"), line(line), fields(fields) {}

    int64_t line;
    size_t fields;
};

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline std::string_view without_trailing_space(std::string_view line) {
    size_t size = line.size();
    while (size > 0 && is_space(line[size - 1])) --size;
    return line.substr(0, size);
}

// Removes the next line from the front of a text and returns it without its \n. False if none is left.
inline bool next_line(std::string_view& text, std::string_view& line) {
    if (text.empty()) return false;
    const size_t stop = text.find('\n');
    line = text.substr(0, stop);
    text.remove_prefix(stop == std::string_view::npos ? text.size() : stop + 1);
    return true;
}

// Removes the next token, between runs of white space, from the front of a line. Empty at the end of the line.
inline std::string_view next_token(std::string_view& line) {
    size_t start = 0;
    while (start < line.size() && is_space(line[start])) ++start;
    size_t stop = start;
    while (stop < line.size() && !is_space(line[stop])) ++stop;
    const std::string_view token = line.substr(start, stop - start);
    line.remove_prefix(stop);
    return token;
}

// The first fields, at most `most`, of a line that does not end with white space. No separator: runs of white space.
inline void split_fields(std::string_view line, std::string_view separator, size_t most, std::vector<std::string_view>& fields) {
    fields.clear();
    if (separator.empty()) {
        for (auto token = next_token(line); !token.empty() && fields.size() < most; token = next_token(line))
            fields.push_back(token);
        return;
    }
    while (fields.size() < most) {
        const size_t stop = line.find(separator[0]);
        fields.push_back(line.substr(0, stop));
        if (stop == std::string_view::npos) return;
        line.remove_prefix(stop + 1);
    }
}

inline bool begins_with(std::string_view line, std::string_view prefix) {
    return !prefix.empty() && line.substr(0, prefix.size()) == prefix;
}

// The position after the last blank line of text[0, limit) that follows another line, so that no sentence is cut; otherwise 0.
inline size_t after_last_blank_line(std::string_view text, size_t limit) {
    for (size_t p = limit; p > 0;) {
        if (text[--p] != '\n') continue;
        size_t q = p;
        while (q > 0 && is_space(text[q - 1])) --q;
        if (q > 0 && text[q - 1] == '\n') return p + 1;
    }
    return 0;
}
