// Builds lookups, and applies a word function to many words.
#pragma once
#include <memory>
#include <vector>

#include "core/string_table.h"
#include "features/word_functions.h"

// Builds a table from words to values, which are ids of classes. `related`: also index words by how they begin.
std::shared_ptr<const Lookup> make_lookup(const StringTable& keys, const Array<int32_t>& values, const StringTable& classes,
                                          bool related);

// The value of each word as an id in `values`, -1 if it has none.
std::vector<int32_t> apply_to_all(const WordFunction& f, const StringTable& words, Interner& values);
