// Writes the labels of tokens into one or two fields of CoNLL-U text, and leaves every other byte as it was.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/conllu.h"

// Where labels are written. texts[k][y] is the text of label y for the field targets[k]. With a key, the only target is FEATS
// or MISC, and the texts are entries such as `Case=Gen`: an entry replaces the one of the key, and an empty text removes it.
class ConlluLabels {
   public:
    // The target fields of a token, in the text.
    using Fields = std::array<std::string_view, 2>;

    // `targets` are ascending. Throws if they are not one or two, or if there are not `n_labels` texts for each.
    ConlluLabels(std::vector<size_t> targets, std::vector<std::vector<std::string>> texts, std::string key, size_t n_labels);

    Fields fields(const ConlluRow& row) const;
    // Writes the text from `written` up to the end of a token's last target field, which `written` then is.
    void write(const Fields& fields, int32_t label, const char*& written, std::string& out) const;

   private:
    std::vector<size_t> targets_;
    std::vector<std::vector<std::string>> texts_;
    std::string key_;
};

// The text with the label of each of its tokens. Throws BadLine for a bad row.
std::string labelled_conllu(std::string_view text, const ConlluLabels& labels, std::span<const int32_t> ids, int64_t first_line);
