// What the taggers of text share: sentences that are read row by row, and threads that tag parts of a text.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.h"
#include "decoding/session.h"
#include "text/lines.h"

// A sentence that grows token by token: the string ids of its columns and, after decode, its best labels.
class RowSentence {
   public:
    explicit RowSentence(size_t n_columns) : ids_(n_columns), columns_(n_columns) {}

    // Adds a token. `positions` gives the field that each column of the model reads.
    template <class Fields>
    void add(Session& session, const Fields& fields, const std::vector<size_t>& positions) {
        for (size_t c = 0; c < ids_.size(); ++c) ids_[c].push_back(session.lexicon().id(c, fields[positions[c]]));
        ++n_;
    }

    // Finds the labels of the sentence and begins a new one. Returns the number of tokens.
    int64_t decode(Session& session) {
        const int64_t n = n_;
        if (n > 0) {
            for (size_t c = 0; c < ids_.size(); ++c) columns_[c] = ids_[c].data();
            best.resize(static_cast<size_t>(n));
            session.build(columns_.data(), n, false, nullptr, 0);
            session.decode(n, best.data());
        }
        for (auto& column : ids_) column.clear();
        n_ = 0;
        return n;
    }

    std::vector<int32_t> best;

   private:
    std::vector<std::vector<int32_t>> ids_;  // by column
    std::vector<const int32_t*> columns_;
    int64_t n_ = 0;
};

// Tags a text of whole sentences with several threads, which split it at blank lines: run(part, out, first line) tags one part
// and returns its number of tokens. Writes the parts in order and returns the sum.
template <class Run>
int64_t tag_in_parts(std::string_view text, std::string& out, int64_t first_line, size_t threads, const Run& run) {
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
