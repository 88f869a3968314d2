// Tags CoNLL-U text: finds the labels of its tokens, which text/conllu_labels.h writes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/session.h"
#include "text/conllu_labels.h"

class ConlluTagger {
   public:
    // `positions` gives the field of a row that each column of the model reads.
    ConlluTagger(const Engine& engine, ConlluLabels labels, std::vector<size_t> positions);

    // Tags a text of whole sentences, and throws BadLine for a bad row. Returns the number of tokens.
    int64_t run(std::string_view text, std::string& out, int64_t first_line) const;
    // The same with several threads, which split the text at blank lines.
    int64_t run(std::string_view text, std::string& out, int64_t first_line, size_t threads) const;

   private:
    const Engine& engine_;
    ConlluLabels labels_;
    std::vector<size_t> positions_;
};
