// See conllu_tagger.h. text/conllu.h defines rows and fields.
#include "decoding/conllu_tagger.h"

#include <algorithm>
#include <stdexcept>

#include "decoding/text_sentences.h"
#include "text/conllu.h"

namespace {

// Appends a MISC field with `entry` in place of the entries of `key`. An empty field is `_`.
void replace_entry(std::string_view misc, std::string_view key, std::string_view entry, std::string& out) {
    const size_t start = out.size();
    const auto append = [&](std::string_view text) {
        if (text.empty()) return;
        if (out.size() > start) out.push_back('|');
        out.append(text);
    };
    bool placed = false;
    while (misc != "_" && !misc.empty()) {
        const size_t stop = misc.find('|');
        const std::string_view own = misc.substr(0, stop);
        const bool same = own.substr(0, own.find('=')) == key;
        if (!same) append(own);
        if (same && !placed) append(entry);
        placed = placed || same;
        misc.remove_prefix(stop == std::string_view::npos ? misc.size() : stop + 1);
    }
    if (!placed) append(entry);
    if (out.size() == start) out.push_back('_');
}

}  // namespace

// The target fields of a token, in the text.
struct ConlluTagger::Token {
    std::array<std::string_view, 2> fields;
};

ConlluTagger::ConlluTagger(const Engine& engine, ConlluLabels labels, std::vector<size_t> positions)
    : engine_(engine), labels_(std::move(labels)), positions_(std::move(positions)) {
    const auto& [targets, texts, key] = labels_;
    const auto is_field = [](size_t field) { return field < kConlluFields; };
    const bool two = targets.size() == 2 && key.empty() && targets[0] < targets[1];
    if (positions_.size() != engine.map().n_columns() || (targets.size() != 1 && !two) || targets.size() != texts.size() ||
        !std::ranges::all_of(positions_, is_field) || !std::ranges::all_of(targets, is_field) ||
        !std::ranges::all_of(texts, [&](const auto& text) { return text.size() == engine.n_labels(); }))
        throw std::invalid_argument("columns, labels or fields do not match the model");
}

int64_t ConlluTagger::run(std::string_view text, std::string& out, int64_t first_line) const {
    Session session(engine_);
    RowSentence sentence(engine_.map().n_columns());
    std::vector<Token> sentence_tokens;
    ConlluRow row;
    int64_t tokens = 0, line_number = first_line;
    out.reserve(out.size() + text.size() * 9 / 8);
    const char* written = text.data();  // all before it is in `out`
    const char* const end = text.data() + text.size();
    const auto finish = [&] {
        tokens += sentence.decode(session);
        for (size_t j = 0; j < sentence_tokens.size(); ++j) write(sentence_tokens[j], sentence.best[j], written, out);
        sentence_tokens.clear();
    };
    for (std::string_view line; next_line(text, line); ++line_number) {
        while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        split_conllu(line, row);
        if (row.kind == ConlluRow::bad) throw BadLine(line_number, row.fields.size());
        if (row.kind == ConlluRow::blank) finish();
        if (row.kind != ConlluRow::token) continue;
        sentence.add(session, row.fields, positions_);
        Token token;
        for (size_t k = 0; k < labels_.targets.size(); ++k) token.fields[k] = row.fields[labels_.targets[k]];
        sentence_tokens.push_back(token);
    }
    finish();
    out.append(written, end);
    return tokens;
}

// Writes the text up to the end of the token's last target field.
void ConlluTagger::write(const Token& token, int32_t label, const char*& written, std::string& out) const {
    for (size_t k = 0; k < labels_.targets.size(); ++k) {
        const std::string_view field = token.fields[k];
        const std::string& label_text = labels_.texts[k][static_cast<size_t>(label)];
        out.append(written, field.data());
        if (labels_.key.empty())
            out.append(label_text);
        else
            replace_entry(field, labels_.key, label_text, out);
        written = field.data() + field.size();
    }
}

int64_t ConlluTagger::run(std::string_view text, std::string& out, int64_t first_line, size_t threads) const {
    return tag_in_parts(text, out, first_line, threads,
                        [this](std::string_view part, std::string& to, int64_t line) { return run(part, to, line); });
}
