// See text_tagger.h. text/lines.h defines lines, white space and fields.
#include "decoding/text_tagger.h"

#include <algorithm>
#include <stdexcept>

#include "core/parallel.h"
#include "text/lines.h"

struct TextTagger::Sentence {
    std::vector<Line> lines;
    std::vector<std::vector<int32_t>> ids;  // by column
    std::vector<const int32_t*> columns;
    std::vector<int32_t> best;
    int64_t n = 0;

    explicit Sentence(size_t n_columns) : ids(n_columns), columns(n_columns) {}
};

TextTagger::TextTagger(const Engine& engine, const std::vector<std::string>& labels, std::vector<size_t> positions,
                       std::string_view separator, std::string_view comment)
    : engine_(engine), labels_(labels), positions_(std::move(positions)), separator_(separator), comment_(comment) {
    for (const size_t p : positions_) needed_ = std::max(needed_, p + 1);
}

int64_t TextTagger::run(std::string_view text, std::string& out, int64_t first_line) const {
    Session session(engine_);
    Sentence sentence(engine_.map().n_columns());
    int64_t tokens = 0, line_number = first_line;
    out.reserve(out.size() + text.size() * 5 / 4);
    std::vector<std::string_view> fields;
    for (std::string_view whole; next_line(text, whole); ++line_number) {
        const std::string_view row = without_trailing_space(whole);
        const bool comment = begins_with(row, comment_);
        const bool newline = whole.data() + whole.size() < text.data();
        size_t returns = whole.size();
        while (returns > 0 && whole[returns - 1] == '\r') --returns;
        sentence.lines.push_back(Line{whole.substr(0, returns), whole.substr(returns), newline, !row.empty() && !comment});
        if (row.empty()) {
            tokens += tag(session, sentence, out);
        } else if (!comment) {
            split_fields(row, separator_, needed_, fields);
            if (fields.size() < needed_)
                throw std::runtime_error("line " + std::to_string(line_number) + " has " + std::to_string(fields.size()) +
                                         " columns, but the model reads column " + std::to_string(needed_));
            for (size_t c = 0; c < sentence.ids.size(); ++c)
                sentence.ids[c].push_back(session.lexicon().id(c, fields[positions_[c]]));
            ++sentence.n;
        }
    }
    return tokens + tag(session, sentence, out);
}

// Labels and writes a sentence, and clears it for the next. Returns the number of tokens.
int64_t TextTagger::tag(Session& session, Sentence& sentence, std::string& out) const {
    const int64_t n = sentence.n;
    if (n > 0) {
        for (size_t c = 0; c < sentence.ids.size(); ++c) sentence.columns[c] = sentence.ids[c].data();
        sentence.best.resize(static_cast<size_t>(n));
        session.build(sentence.columns.data(), n, false, nullptr, 0);
        session.decode(n, sentence.best.data());
    }
    size_t j = 0;
    for (const Line& line : sentence.lines) write(line, line.token ? sentence.best[j++] : -1, out);
    sentence.lines.clear();
    for (auto& column : sentence.ids) column.clear();
    sentence.n = 0;
    return n;
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
    const size_t parts = useful_threads(threads, text.size());
    std::vector<size_t> cuts{0};
    for (size_t part = 1; part < parts; ++part)
        cuts.push_back(std::max(cuts.back(), after_last_blank_line(text, text.size() * part / parts)));
    cuts.push_back(text.size());
    std::vector<int64_t> tokens(parts), lines(parts, first_line);
    for (size_t part = 1; part < parts; ++part)
        lines[part] = lines[part - 1] + std::count(text.begin() + cuts[part - 1], text.begin() + cuts[part], '\n');
    std::vector<std::string> outs(parts);
    in_parallel(parts, [&](size_t part) {
        tokens[part] = run(text.substr(cuts[part], cuts[part + 1] - cuts[part]), outs[part], lines[part]);
    });
    out = std::move(outs[0]);
    for (size_t part = 1; part < parts; ++part) out.append(outs[part]);
    int64_t total = 0;
    for (const int64_t n : tokens) total += n;
    return total;
}
