// Tags CoNLL-U text: writes the labels of tokens into one or two fields and leaves every other byte as it was.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/session.h"

// Where labels are written. texts[k][y] is the text of label y for the field targets[k]. With a key, the only target is MISC,
// the texts are entries such as `NER=B-PER`, and an entry replaces the one with the key; an empty text removes it.
struct ConlluLabels {
    std::vector<size_t> targets;  // ascending
    std::vector<std::vector<std::string>> texts;
    std::string key;
};

class ConlluTagger {
   public:
    // `positions` gives the field of a row that each column of the model reads.
    ConlluTagger(const Engine& engine, ConlluLabels labels, std::vector<size_t> positions);

    // Tags a text of whole sentences, and throws BadLine for a bad row. Returns the number of tokens.
    int64_t run(std::string_view text, std::string& out, int64_t first_line) const;
    // The same with several threads, which split the text at blank lines.
    int64_t run(std::string_view text, std::string& out, int64_t first_line, size_t threads) const;

   private:
    struct Token;

    void write(const Token& token, int32_t label, const char*& written, std::string& out) const;

    const Engine& engine_;
    ConlluLabels labels_;
    std::vector<size_t> positions_;
};
