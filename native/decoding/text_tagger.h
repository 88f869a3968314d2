// Tags column text: writes the same lines with a label appended, before any carriage return at the end of the line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/session.h"

class TextTagger {
   public:
    // `labels` by id. `positions` gives the field of a line that each column of the model reads.
    TextTagger(const Engine& engine, const std::vector<std::string>& labels, std::vector<size_t> positions,
               std::string_view separator, std::string_view comment);

    // Tags a text of whole sentences, appends to `out`, and throws BadLine for a line of too few fields. Returns the number of tokens.
    int64_t run(std::string_view text, std::string& out, int64_t first_line) const;
    // The same with several threads, which split the text at blank lines.
    int64_t run(std::string_view text, std::string& out, int64_t first_line, size_t threads) const;

   private:
    struct Line {
        std::string_view text, returns;  // the text before and after the label
        bool newline, token;
    };

    void write(const Line& line, int32_t label, std::string& out) const;

    const Engine& engine_;
    const std::vector<std::string>& labels_;
    std::vector<size_t> positions_;
    std::string_view separator_, comment_;
    size_t needed_ = 1;
};
