// See conllu_tagger.h. text/conllu.h defines rows and fields.
#include "decoding/conllu_tagger.h"

#include <algorithm>
#include <stdexcept>

#include "decoding/text_sentences.h"
#include "text/conllu.h"

ConlluTagger::ConlluTagger(const Engine& engine, ConlluLabels labels, std::vector<size_t> positions)
    : engine_(engine), labels_(std::move(labels)), positions_(std::move(positions)) {
    const auto is_field = [](size_t field) { return field < kConlluFields; };
    if (positions_.size() != engine.map().n_columns() || !std::ranges::all_of(positions_, is_field))
        throw std::invalid_argument("columns or fields do not match the model");
}

int64_t ConlluTagger::run(std::string_view text, std::string& out, int64_t first_line) const {
    Session session(engine_);
    RowSentence sentence(engine_.map().n_columns());
    std::vector<ConlluLabels::Fields> fields;  // of the tokens of the sentence
    ConlluRow row;
    int64_t tokens = 0, line_number = first_line;
    out.reserve(out.size() + text.size() * 9 / 8);
    const char* written = text.data();  // all before it is in `out`
    const char* const end = text.data() + text.size();
    const auto finish = [&] {
        tokens += sentence.decode(session);
        for (size_t j = 0; j < fields.size(); ++j) labels_.write(fields[j], sentence.best[j], written, out);
        fields.clear();
    };
    for (std::string_view line; next_line(text, line); ++line_number) {
        while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        split_conllu(line, row);
        if (row.kind == ConlluRow::bad) throw BadLine(line_number, row.fields.size());
        if (row.kind == ConlluRow::blank) finish();
        if (row.kind != ConlluRow::token) continue;
        sentence.add(session, row.fields, positions_);
        fields.push_back(labels_.fields(row));
    }
    finish();
    out.append(written, end);
    return tokens;
}

int64_t ConlluTagger::run(std::string_view text, std::string& out, int64_t first_line, size_t threads) const {
    return tag_in_parts(text, out, first_line, threads,
                        [this](std::string_view part, std::string& to, int64_t line) { return run(part, to, line); });
}
