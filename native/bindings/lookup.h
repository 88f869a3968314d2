// What Python holds of a Lookup (corate._native.Lookup): built once, shared by all functions that use it.
#pragma once
#include <memory>

#include "features/word_functions.h"

struct LookupHandle {
    std::shared_ptr<const Lookup> table;
};

// A word function as Python names it.
inline WordFunction word_function(int32_t kind, int32_t number, std::string text, const LookupHandle* table) {
    if (kind < 0 || kind >= kind_count) throw std::invalid_argument("no word function " + std::to_string(kind));
    return {static_cast<Kind>(kind), number, std::move(text), table ? table->table : nullptr};
}
