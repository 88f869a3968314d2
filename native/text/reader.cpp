// See reader.h.
#include "text/reader.h"

#include <algorithm>
#include <string>

#include "text/conllu.h"
#include "text/lines.h"

namespace {

// The lines of a text, numbered.
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

}  // namespace

Parsed read_columns(std::string_view data, std::string_view separator, std::string_view comment, size_t width, bool skip_bad,
                    bool drop_docstart) {
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

Parsed read_conllu(std::string_view data, const std::vector<size_t>& fields, bool skip_bad) {
    if (fields.empty()) throw std::invalid_argument("there must be a field to read");
    if (*std::ranges::max_element(fields) >= kConlluFields)
        throw std::invalid_argument("CoNLL-U has ten fields, numbered from 0");
    Parsed parsed;
    if (parsed.refuse_nul(data.data(), data.size())) return parsed;
    parsed.open(fields.size(), data.size() / 40);
    Lines lines(data);
    std::string_view line;
    ConlluRow row;
    while (lines.next(line)) {
        while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        split_conllu(line, row);
        if (row.kind == ConlluRow::blank) parsed.end_sentence();
        if (row.kind == ConlluRow::bad && !parsed.skip(lines.number(), static_cast<int64_t>(row.width), skip_bad)) return parsed;
        if (row.kind == ConlluRow::token)
            for (size_t c = 0; c < fields.size(); ++c) parsed.columns[c].add(row.fields[fields[c]]);
    }
    parsed.end_sentence();
    return parsed;
}

// With slashes, a token is bad, with width 1, if it has no slash with text on both sides.
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

namespace {

// Copies a field, up to its first unescaped colon if stop_at_colon, and removes escapes. Returns where it stopped.
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

}  // namespace

Items read_items(std::string_view data, std::string_view comment) {
    Items items;
    Parsed& parsed = items.parsed;
    if (parsed.refuse_nul(data.data(), data.size())) return items;
    parsed.open(3, 0);
    InternedColumn &labels = parsed.columns[0], &names = parsed.columns[1], &values = parsed.columns[2];
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
