// Reads text into columns of interned ids, in one pass over UTF-8 bytes.
//
//   read_columns    one token per line, fields between separators, blank lines between sentences
//   read_lines      one sentence per line, tokens between spaces, `word` or `word/label` (split at the last slash)
//   read_conllu     CoNLL-U: some of the ten fields of its tokens
//   read_items      one token per line, `label<TAB>attribute[:value]...`, with the escapes \\ and \:
//
// lines.h defines lines, white space and fields. Lines are counted from 1. Sentences are never empty.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/strings.h"

constexpr int64_t kNul = -1;  // instead of a width: the line contains a NUL byte

struct InternedColumn {
    Interner strings;
    std::vector<int32_t> ids;
    void add(std::string_view s) { ids.push_back(strings.intern(s)); }
};

// The result of parsing: columns, sentence offsets, and the first bad line.
struct Parsed {
    std::vector<InternedColumn> columns;
    std::vector<int64_t> sentences{0};
    int64_t width = 0;
    int64_t bad_line = -1, bad_width = 0, skipped = 0;

    int64_t n_tokens() const { return columns.empty() ? 0 : static_cast<int64_t>(columns[0].ids.size()); }

    void end_sentence() {
        if (n_tokens() > sentences.back()) sentences.push_back(n_tokens());
    }

    // Records a bad line. Returns whether parsing continues.
    bool skip(int64_t line, int64_t found, bool skip_bad) {
        if (bad_line < 0) {
            bad_line = line;
            bad_width = found;
        }
        ++skipped;
        return skip_bad;
    }

    // Rejects text with a NUL byte and records the first line that contains one.
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

// Column 0: the label of each token. Column 1: attribute names. Column 2: value texts (with the colon, or "" if there is none).
// `offsets` splits columns 1 and 2 into tokens. `lines`: the line of each token.
struct Items {
    Parsed parsed;
    std::vector<int64_t> offsets{0}, lines;
};

// An empty separator means any run of white space, an empty comment prefix no comments, width 0 the width of the first row.
Parsed read_columns(std::string_view data, std::string_view separator, std::string_view comment, size_t width, bool skip_bad,
                    bool drop_docstart);
Parsed read_lines(std::string_view data, bool slashed, std::string_view comment, bool skip_bad);
// `fields`: the fields to read. A bad row with ten fields has no ID or no FORM.
Parsed read_conllu(std::string_view data, const std::vector<size_t>& fields, bool skip_bad);
Items read_items(std::string_view data, std::string_view comment);
