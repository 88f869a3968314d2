// See text_tagger.h. text/lines.h defines lines, white space and fields.
#include "decoding/text_tagger.h"

#include <algorithm>

#include "decoding/text_sentences.h"
#include "text/lines.h"

TextTagger::TextTagger(const Engine& engine, const std::vector<std::string>& labels, std::vector<size_t> positions,
                       std::string_view separator, std::string_view comment)
    : engine_(engine), labels_(labels), positions_(std::move(positions)), separator_(separator), comment_(comment) {
    if (positions_.size() != engine.map().n_columns() || labels.size() != engine.n_labels() || separator.size() > 1)
        throw std::invalid_argument("columns, labels or separator do not match the model");
    for (const size_t p : positions_) needed_ = std::max(needed_, p + 1);
}

int64_t TextTagger::run(std::string_view text, std::string& out, int64_t first_line) const {
    Session session(engine_);
    RowSentence sentence(engine_.map().n_columns());
    std::vector<Line> lines;  // of the sentence
    int64_t tokens = 0, line_number = first_line;
    out.reserve(out.size() + text.size() * 5 / 4);
    std::vector<std::string_view> fields;
    const auto finish = [&] {
        tokens += sentence.decode(session);
        size_t j = 0;
        for (const Line& line : lines) write(line, line.token ? sentence.best[j++] : -1, out);
        lines.clear();
    };
    for (std::string_view whole; next_line(text, whole); ++line_number) {
        const std::string_view row = without_trailing_space(whole);
        const bool comment = begins_with(row, comment_);
        const bool newline = whole.data() + whole.size() < text.data();
        size_t returns = whole.size();
        while (returns > 0 && whole[returns - 1] == '\r') --returns;
        lines.push_back(Line{whole.substr(0, returns), whole.substr(returns), newline, !row.empty() && !comment});
        if (row.empty()) {
            finish();
        } else if (!comment) {
            split_fields(row, separator_, needed_, fields);
            if (fields.size() < needed_) throw BadLine(line_number, fields.size());
            sentence.add(session, fields, positions_);
        }
    }
    finish();
    return tokens;
}

void TextTagger::write(const Line& line, int32_t label, std::string& out) const {
    out.append(line.text);
    if (label >= 0) {
        const bool spaced = line.text.find('\t') == std::string_view::npos && line.text.find(' ') != std::string_view::npos;
        out.append(separator_.empty() ? (spaced ? " " : "\t") : separator_);
        out.append(labels_[static_cast<size_t>(label)]);
    }
    out.append(line.returns);
    if (line.newline || label >= 0) out.push_back('\n');
}

int64_t TextTagger::run(std::string_view text, std::string& out, int64_t first_line, size_t threads) const {
    return tag_in_parts(text, out, first_line, threads,
                        [this](std::string_view part, std::string& to, int64_t line) { return run(part, to, line); });
}
