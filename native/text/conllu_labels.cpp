// See conllu_labels.h. text/conllu.h defines rows and fields.
#include "text/conllu_labels.h"

#include <algorithm>
#include <stdexcept>

#include "text/lines.h"

namespace {

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

// Whether a name is before another one, without regard to case, as CoNLL-U sorts FEATS.
bool before(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); };
    return std::ranges::lexicographical_compare(a, b, {}, lower, lower);
}

// Appends a field with `entry` in place of the entries of `key`. Where there is none, the entry is the last one, or if
// `sorted`, the one before the first greater name. An empty field is `_`.
void replace_entry(std::string_view field, std::string_view key, std::string_view entry, bool sorted, std::string& out) {
    const size_t start = out.size();
    const auto append = [&](std::string_view text) {
        if (text.empty()) return;
        if (out.size() > start) out.push_back('|');
        out.append(text);
    };
    const auto next = [](std::string_view& rest) {
        const size_t stop = rest.find('|');
        const std::string_view own = rest.substr(0, stop);
        rest.remove_prefix(stop == std::string_view::npos ? rest.size() : stop + 1);
        return own;
    };
    if (field == "_") field = {};
    bool known = false, placed = false;
    for (std::string_view rest = field; sorted && !rest.empty();) known |= name_of(next(rest)) == key;
    for (std::string_view rest = field; !rest.empty();) {
        const std::string_view own = next(rest);
        const bool same = name_of(own) == key;
        if (!placed && (same || (sorted && !known && before(key, name_of(own))))) {
            append(entry);
            placed = true;
        }
        if (!same) append(own);
    }
    if (!placed) append(entry);
    if (out.size() == start) out.push_back('_');
}

}  // namespace

ConlluLabels::ConlluLabels(std::vector<size_t> targets, std::vector<std::vector<std::string>> texts, std::string key,
                           size_t n_labels)
    : targets_(std::move(targets)), texts_(std::move(texts)), key_(std::move(key)) {
    const bool two = targets_.size() == 2 && key_.empty() && targets_[0] < targets_[1];
    if ((targets_.size() != 1 && !two) || targets_.size() != texts_.size() ||
        !std::ranges::all_of(targets_, [](size_t field) { return field < kConlluFields; }) ||
        !std::ranges::all_of(texts_, [&](const auto& text) { return text.size() == n_labels; }))
        throw std::invalid_argument("labels and fields do not match");
}

ConlluLabels::Fields ConlluLabels::fields(const ConlluRow& row) const {
    Fields found;
    for (size_t k = 0; k < targets_.size(); ++k) found[k] = row.fields[targets_[k]];
    return found;
}

void ConlluLabels::write(const Fields& fields, int32_t label, const char*& written, std::string& out) const {
    for (size_t k = 0; k < targets_.size(); ++k) {
        const std::string_view field = fields[k];
        const std::string& text = texts_[k][static_cast<size_t>(label)];
        out.append(written, field.data());
        if (key_.empty())
            out.append(text);
        else
            replace_entry(field, key_, text, targets_[k] == kConlluFeats, out);
        written = field.data() + field.size();
    }
}

std::string labelled_conllu(std::string_view text, const ConlluLabels& labels, std::span<const int32_t> ids, int64_t first_line) {
    std::string out;
    out.reserve(text.size() * 9 / 8);
    const char* written = text.data();  // all before it is in `out`
    const char* const end = text.data() + text.size();
    ConlluRow row;
    size_t token = 0;
    int64_t line_number = first_line;
    for (std::string_view line; next_line(text, line); ++line_number) {
        while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        split_conllu(line, row);
        if (row.kind == ConlluRow::bad) throw BadLine(line_number, row.fields.size());
        if (row.kind != ConlluRow::token) continue;
        if (token == ids.size()) throw std::invalid_argument("there are fewer labels than tokens");
        labels.write(labels.fields(row), ids[token++], written, out);
    }
    if (token < ids.size()) throw std::invalid_argument("there are more labels than tokens");
    out.append(written, end);
    return out;
}
