// Reading text into columns of interned ids, one pass over UTF-8 bytes.
//
//   read_columns    a token a line, fields between separators, blank lines between sentences
//   read_lines      a sentence a line, tokens between spaces, `word` or `word/label` (split at the last slash)
//   read_items      a token a line, `label<TAB>attribute[:value]...`, with \: and \\ for : and \ themselves
//
// lines.h says what a line, white space and a field are. Lines are counted from 1. Sentences are never empty.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/strings.h"

constexpr int64_t kNul = -1;  // in the place of a width: the line holds a NUL byte

struct InternedColumn {
    Interner strings;
    std::vector<int32_t> ids;
    void add(std::string_view s) { ids.push_back(strings.intern(s)); }
};

// What a parse finds: columns, sentence offsets, and the first line that does not fit.
struct Parsed {
    std::vector<InternedColumn> columns;
    std::vector<int64_t> sentences{0};
    int64_t width = 0;
    int64_t bad_line = -1, bad_width = 0, skipped = 0;

    int64_t n_tokens() const { return columns.empty() ? 0 : static_cast<int64_t>(columns[0].ids.size()); }

    void end_sentence() {
        if (n_tokens() > sentences.back()) sentences.push_back(n_tokens());
    }

    // Notes a row that does not fit; true if the parse is to go on.
    bool skip(int64_t line, int64_t found, bool skip_bad) {
        if (bad_line < 0) {
            bad_line = line;
            bad_width = found;
        }
        ++skipped;
        return skip_bad;
    }

    // Refuses text with a NUL byte, which no text has: the line is the first that holds one.
    bool refuse_nul(const char* data, size_t size) {
        const auto* nul = static_cast<const char*>(std::memchr(data, 0, size));
        if (nul == nullptr) return false;
        bad_line = 1 + std::count(data, nul, '\n');
        bad_width = kNul;
        return true;
    }

    void open(size_t count, size_t expected_tokens) {
        width = static_cast<int64_t>(count);
        columns.resize(count);
        for (InternedColumn& column : columns) column.ids.reserve(expected_tokens);
    }
};

// Column 0: labels, a row a token. Column 1: attribute names, column 2: the texts of their values ("" where there is
// none, else with its colon), both cut into tokens by `offsets`. `lines`: the line of each token.
struct Items {
    Parsed parsed;
    std::vector<int64_t> offsets{0}, lines;
};

// An empty separator is any run of white space, an empty comment prefix none, width 0 that of the first row.
Parsed read_columns(std::string_view data, std::string_view separator, std::string_view comment, size_t width, bool skip_bad,
                    bool drop_docstart);
Parsed read_lines(std::string_view data, bool slashed, std::string_view comment, bool skip_bad);
Items read_items(std::string_view data, std::string_view comment);
