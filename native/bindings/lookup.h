// The Python class corate._native.Lookup: a Lookup that several word functions share.
#pragma once
#include <memory>

#include "features/word_functions.h"

struct LookupHandle {
    std::shared_ptr<const Lookup> table;
};

// The word function with this kind number.
inline WordFunction word_function(int32_t kind, int32_t number, std::string text, const LookupHandle* table) {
    if (kind < 0 || kind >= kind_count) throw std::invalid_argument("no word function has the number " + std::to_string(kind));
    return {static_cast<Kind>(kind), number, std::move(text), table ? table->table : nullptr};
}
