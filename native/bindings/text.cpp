// Binds text/reader.h and text/conllu_labels.h.
#include "text/reader.h"

#include "bindings/bindings.h"
#include "bindings/objects.h"
#include "bindings/views.h"
#include "text/conllu_labels.h"

namespace {

nb::tuple to_python(Parsed&& parsed) {
    const nb::object columns = list_of(
        parsed.columns.size(), [&](size_t c) { return with_table(std::move(parsed.columns[c].ids), parsed.columns[c].strings); });
    return nb::make_tuple(columns, to_numpy(std::move(parsed.sentences)), parsed.bad_line, parsed.bad_width, parsed.skipped);
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def(
        "parse_columns",
        [](nb::bytes data, nb::str separator, nb::str comment, int64_t width, bool skip_bad, bool drop_docstart) {
            const auto text = text_of(data), between = text_of(separator), prefix = text_of(comment);
            if (between.size() > 1) throw nb::value_error("the separator must be one ASCII character, or empty");
            if (width < 0) throw nb::value_error("the width must not be negative");
            Parsed parsed = unlocked(
                [&] { return read_columns(text, between, prefix, static_cast<size_t>(width), skip_bad, drop_docstart); });
            return to_python(std::move(parsed));
        },
        "data"_a, "separator"_a, "comment"_a, "width"_a, "skip_bad"_a, "drop_docstart"_a,
        "Parse text with one token per line: (columns, each (ids int32, blob uint8, offsets int64); sentence offsets int64; "
        "first bad "
        "line or -1; its width, -1 for a NUL byte; number of bad lines). An empty separator means any run of spaces "
        "and tabs. Width 0 means the width of the first row. Without skip_bad, parsing stops at the first bad line.");
    m.def(
        "parse_lines",
        [](nb::bytes data, bool slashed, nb::str comment, bool skip_bad) {
            const auto text = text_of(data), prefix = text_of(comment);
            Parsed parsed = unlocked([&] { return read_lines(text, slashed, prefix, skip_bad); });
            return to_python(std::move(parsed));
        },
        "data"_a, "slashed"_a, "comment"_a, "skip_bad"_a,
        "Parse text with one sentence per line. There is one column (tokens) or, if slashed, two, split at the last slash. "
        "Returns what parse_columns returns.");
    m.def(
        "parse_conllu",
        [](nb::bytes data, const std::vector<size_t>& fields, bool skip_bad) {
            const auto text = text_of(data);
            Parsed parsed = unlocked([&] { return read_conllu(text, fields, skip_bad); });
            return to_python(std::move(parsed));
        },
        "data"_a, "fields"_a, "skip_bad"_a,
        "Parse some fields of the tokens of CoNLL-U text. Returns what parse_columns returns. A bad line of width 10 has no ID "
        "or "
        "no FORM.");
    m.def(
        "label_conllu",
        [](nb::bytes data, In<int32_t> ids, const std::vector<size_t>& targets,
           const std::vector<std::vector<std::string>>& texts, const std::string& key, int64_t first_line) {
            const auto text = text_of(data);
            const auto labels = view(ids);
            const size_t n_labels = texts.empty() ? 0 : texts[0].size();
            for (const int32_t y : labels)
                if (y < 0 || static_cast<size_t>(y) >= n_labels) throw nb::value_error("a label has no text");
            const std::string out =
                unlocked([&] { return labelled_conllu(text, {targets, texts, key, n_labels}, labels, first_line); });
            return nb::bytes(out.data(), out.size());
        },
        "data"_a, "ids"_a, "targets"_a, "texts"_a, "key"_a, "first_line"_a,
        "The CoNLL-U text with these labels in the target fields of its tokens; see Engine.tag_conllu.");
    m.def(
        "parse_items",
        [](nb::bytes data, nb::str comment) {
            const auto text = text_of(data), prefix = text_of(comment);
            Items items = unlocked([&] { return read_items(text, prefix); });
            return nb::make_tuple(to_python(std::move(items.parsed)), to_numpy(std::move(items.offsets)),
                                  to_numpy(std::move(items.lines)));
        },
        "data"_a, "comment"_a,
        "Parse CRFsuite items: (the result of parse_columns with the columns labels, names and value texts; attribute offsets "
        "of each token; line of each token). Names and values have one row per attribute. A value text starts with its colon.");
}
