// Reading text into columns of interned ids, one pass over UTF-8 bytes.
//
//   parse_columns   a token a line, fields between separators, blank lines between sentences
//   parse_lines     a sentence a line, tokens between spaces, `word` or `word/label` (split at the last slash)
//   parse_items     a token a line, `label<TAB>attribute[:value]...`, with \: and \\ for : and \ themselves
//
// lines.h says what a line, white space and a field are. Lines are counted from 1. Sentences are never empty.
#include <algorithm>
#include <string>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/strings.h"
#include "text/lines.h"

namespace {

constexpr int64_t kNul = -1;  // in the place of a width: the line holds a NUL byte

// Hands out the lines of a text, numbered.
class Lines {
   public:
    explicit Lines(std::string_view text) : text_(text) {
        if (begins_with(text_, "\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte order mark
    }

    bool next(std::string_view& line) {
        ++number_;
        return next_line(text_, line);
    }

    int64_t number() const { return number_; }

   private:
    std::string_view text_;
    int64_t number_ = 0;
};

struct Column {
    Interner strings;
    std::vector<int32_t> ids;
    void add(std::string_view s) { ids.push_back(strings.intern(s)); }
};

// What a parse finds: columns, sentence offsets, and the first line that does not fit.
struct Parsed {
    std::vector<Column> columns;
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
        for (Column& column : columns) column.ids.reserve(expected_tokens);
    }
};

Parsed read_columns(std::string_view data, std::string_view separator, std::string_view comment, size_t width,
                    bool skip_bad, bool drop_docstart) {
    Parsed parsed;
    if (parsed.refuse_nul(data.data(), data.size())) return parsed;
    const auto expected = static_cast<size_t>(std::count(data.begin(), data.end(), '\n')) + 1;
    if (width > 0) parsed.open(width, expected);
    Lines lines(data);
    std::string_view line;
    std::vector<std::string_view> fields;
    while (lines.next(line)) {
        line = without_trailing_space(line);
        if (line.empty()) {
            parsed.end_sentence();
            continue;
        }
        if (begins_with(line, comment)) continue;
        split_fields(line, separator, SIZE_MAX, fields);
        if (drop_docstart && fields[0] == "-DOCSTART-") {
            parsed.end_sentence();
            continue;
        }
        if (width == 0) parsed.open(width = fields.size(), expected);
        if (fields.size() != width) {
            if (!parsed.skip(lines.number(), static_cast<int64_t>(fields.size()), skip_bad)) return parsed;
            continue;
        }
        for (size_t c = 0; c < width; ++c) parsed.columns[c].add(fields[c]);
    }
    parsed.end_sentence();
    return parsed;
}

// A token is bad, and has width 1, if a slash is wanted and there is none with something on both sides.
Parsed read_lines(std::string_view data, bool slashed, std::string_view comment, bool skip_bad) {
    Parsed parsed;
    if (parsed.refuse_nul(data.data(), data.size())) return parsed;
    parsed.open(slashed ? 2 : 1, data.size() / 6);
    Lines lines(data);
    std::string_view line;
    while (lines.next(line)) {
        if (begins_with(line, comment)) continue;
        for (auto token = next_token(line); !token.empty(); token = next_token(line)) {
            if (!slashed) {
                parsed.columns[0].add(token);
                continue;
            }
            const size_t slash = token.rfind('/');
            if (slash == std::string_view::npos || slash == 0 || slash + 1 == token.size()) {
                if (!parsed.skip(lines.number(), 1, skip_bad)) return parsed;
                continue;
            }
            parsed.columns[0].add(token.substr(0, slash));
            parsed.columns[1].add(token.substr(slash + 1));
        }
        parsed.end_sentence();
    }
    return parsed;
}

// Copies a field up to its first bare colon (its name), taking off the escapes; returns where the name stopped.
size_t unescape(std::string_view field, bool stop_at_colon, std::string& name) {
    name.clear();
    size_t i = 0;
    for (; i < field.size(); ++i) {
        if (field[i] == ':' && stop_at_colon) break;
        if (field[i] == '\\' && i + 1 < field.size() && (field[i + 1] == ':' || field[i + 1] == '\\')) ++i;
        name.push_back(field[i]);
    }
    return i;
}

// Column 0: labels, a row a token. Column 1: attribute names, column 2: the texts of their values ("" where there is
// none, else with its colon), both cut into tokens by `offsets`. `lines`: the line of each token.
struct Items {
    Parsed parsed;
    std::vector<int64_t> offsets{0}, lines;
};

Items read_items(std::string_view data, std::string_view comment) {
    Items items;
    Parsed& parsed = items.parsed;
    if (parsed.refuse_nul(data.data(), data.size())) return items;
    parsed.open(3, 0);
    Column &labels = parsed.columns[0], &names = parsed.columns[1], &values = parsed.columns[2];
    Lines lines(data);
    std::string_view line;
    std::string text;
    while (lines.next(line)) {
        while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        if (line.find_first_not_of(' ') == std::string_view::npos) {
            parsed.end_sentence();
            continue;
        }
        if (begins_with(line, comment)) continue;
        size_t stop = line.find('\t');
        unescape(line.substr(0, stop), false, text);
        labels.add(text);
        while (stop != std::string_view::npos) {
            line.remove_prefix(stop + 1);
            stop = line.find('\t');
            const std::string_view field = line.substr(0, stop);
            if (field.empty()) continue;
            const size_t colon = unescape(field, true, text);
            names.add(text);
            values.add(colon == field.size() ? std::string_view{} : field.substr(colon));
        }
        items.offsets.push_back(static_cast<int64_t>(names.ids.size()));
        items.lines.push_back(lines.number());
    }
    parsed.end_sentence();
    return items;
}

nb::tuple to_python(Column&& column) {
    std::vector<uint8_t> blob(column.strings.blob().begin(), column.strings.blob().end());
    std::vector<int64_t> offsets(column.strings.offsets());
    return nb::make_tuple(to_numpy(std::move(column.ids)), to_numpy(std::move(blob)), to_numpy(std::move(offsets)));
}

nb::tuple to_python(Parsed&& parsed) {
    nb::list columns;
    for (Column& column : parsed.columns) columns.append(to_python(std::move(column)));
    return nb::make_tuple(columns, to_numpy(std::move(parsed.sentences)), parsed.bad_line, parsed.bad_width,
                          parsed.skipped);
}

std::string_view text_of(const nb::bytes& data) { return {static_cast<const char*>(data.data()), data.size()}; }

std::string_view text_of(const nb::str& text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<size_t>(size)};
}

}  // namespace

void bind_reader(nb::module_& m) {
    m.def(
        "parse_columns",
        [](nb::bytes data, nb::str separator, nb::str comment, int64_t width, bool skip_bad, bool drop_docstart) {
            const auto text = text_of(data), between = text_of(separator), prefix = text_of(comment);
            if (between.size() > 1) throw nb::value_error("the separator must be one ASCII character, or empty");
            if (width < 0) throw nb::value_error("the width must not be negative");
            Parsed parsed;
            {
                nb::gil_scoped_release release;
                parsed = read_columns(text, between, prefix, static_cast<size_t>(width), skip_bad, drop_docstart);
            }
            return to_python(std::move(parsed));
        },
        nb::arg("data"), nb::arg("separator"), nb::arg("comment"), nb::arg("width"), nb::arg("skip_bad"),
        nb::arg("drop_docstart"),
        "A token a line: (columns, each (ids int32, blob uint8, offsets int64); sentence offsets int64; the first bad "
        "line or -1; its width, -1 for a NUL byte; the number of bad lines). An empty separator is any run of spaces "
        "and tabs; width 0 is that of the first row. Without skip_bad the parse stops at the bad line.");
    m.def(
        "parse_lines",
        [](nb::bytes data, bool slashed, nb::str comment, bool skip_bad) {
            const auto text = text_of(data), prefix = text_of(comment);
            Parsed parsed;
            {
                nb::gil_scoped_release release;
                parsed = read_lines(text, slashed, prefix, skip_bad);
            }
            return to_python(std::move(parsed));
        },
        nb::arg("data"), nb::arg("slashed"), nb::arg("comment"), nb::arg("skip_bad"),
        "A sentence a line, one column (tokens) or, slashed, two (split at the last slash); returns as parse_columns.");
    m.def(
        "parse_items",
        [](nb::bytes data, nb::str comment) {
            const auto text = text_of(data), prefix = text_of(comment);
            Items items;
            {
                nb::gil_scoped_release release;
                items = read_items(text, prefix);
            }
            return nb::make_tuple(to_python(std::move(items.parsed)), to_numpy(std::move(items.offsets)),
                                  to_numpy(std::move(items.lines)));
        },
        nb::arg("data"), nb::arg("comment"),
        "CRFsuite items: (as parse_columns, with the columns labels, names and value texts, the latter two a row an "
        "attribute and a value text beginning with its colon; attribute offsets a token; the line of each token).");
}
