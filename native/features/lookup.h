// Making lookups, and applying a word function to many words.
#pragma once
#include <memory>
#include <vector>

#include "core/string_table.h"
#include "features/word_functions.h"

// Throws where offsets do not rise from 0 to at most the size of the blob; `name` says which table it is.
void check_table(const StringTable& table, const char* name);

// Words and their values, which are ids of classes. `related` makes ready for words that are looked up by how they begin.
std::shared_ptr<const Lookup> make_lookup(const StringTable& keys, const Array<int32_t>& values, const StringTable& classes,
                                          bool related);

// The value of each word, -1 where it has none, numbered in `values`.
std::vector<int32_t> apply_to_all(const WordFunction& f, const StringTable& words, Interner& values);
