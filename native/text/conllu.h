// CoNLL-U lines: a comment (#...), a blank line, or ten fields between tabs. The first field, ID, is a number for a token, a
// range (3-4) for a multiword token and a decimal (3.1) for an empty node; only tokens have labels. lines.h defines blank lines.
#pragma once
#include <array>
#include <string_view>

#include "text/lines.h"

constexpr size_t kConlluFields = 10;
constexpr size_t kConlluForm = 1;
constexpr size_t kConlluFeats = 5;

struct ConlluRow {
    enum Kind { blank, skipped, token, bad };  // skipped: comments, multiword tokens and empty nodes

    Kind kind = bad;
    size_t width = 0;  // the number of fields
    std::array<std::string_view, kConlluFields> fields;
};

inline bool conllu_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Splits a line without its line end. A row is bad if it does not have ten fields, an ID and a FORM.
inline void split_conllu(std::string_view line, ConlluRow& row) {
    row.width = 0;
    row.kind = ConlluRow::bad;
    if (without_trailing_space(line).empty()) {
        row.kind = ConlluRow::blank;
        return;
    }
    if (line[0] == '#') {
        row.kind = ConlluRow::skipped;
        return;
    }
    for (size_t stop = 0; stop != std::string_view::npos; ++row.width) {
        stop = line.find('\t');
        if (row.width < kConlluFields) row.fields[row.width] = line.substr(0, stop);
        if (stop != std::string_view::npos) line.remove_prefix(stop + 1);
    }
    if (row.width != kConlluFields) return;
    const std::string_view id = row.fields[0];
    const size_t mark = id.find_first_of("-.");
    if (mark == std::string_view::npos) {
        if (conllu_digits(id) && !row.fields[kConlluForm].empty()) row.kind = ConlluRow::token;
    } else if (conllu_digits(id.substr(0, mark)) && conllu_digits(id.substr(mark + 1))) {
        row.kind = ConlluRow::skipped;
    }
}
