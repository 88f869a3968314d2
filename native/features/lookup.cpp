// See lookup.h.
#include "features/lookup.h"

#include <stdexcept>
#include <string>

namespace {

// Throws unless offsets rise from 0 to at most the size of the blob. `name` is the table's name in the message.
void check_table(const StringTable& table, const char* name) {
    const Array<int64_t>& offsets = table.offsets;
    bool good = offsets.size() > 0 && offsets[0] == 0 && offsets.back() <= static_cast<int64_t>(table.blob.size());
    for (size_t i = 1; good && i < offsets.size(); ++i) good = offsets[i - 1] <= offsets[i];
    if (!good) throw std::invalid_argument(std::string(name) + ": offsets must rise from 0 to the size of the blob");
}

void intern_table(const StringTable& table, const char* name, Interner& strings) {
    check_table(table, name);
    strings.reserve(table.size());
    for (size_t i = 0; i < table.size(); ++i)
        if (strings.intern(table[i]) != static_cast<int32_t>(i))
            throw std::invalid_argument(std::string(name) + ": string " + std::to_string(i) + " occurs twice");
}

}  // namespace

std::shared_ptr<const Lookup> make_lookup(const StringTable& keys, const Array<int32_t>& values, const StringTable& classes,
                                          bool related) {
    auto table = std::make_shared<Lookup>();
    intern_table(keys, "keys", table->keys);
    intern_table(classes, "classes", table->classes);
    table->values.assign(values.begin(), values.end());
    if (table->values.size() != table->keys.size()) throw std::invalid_argument("keys and values differ in number");
    for (const int32_t v : table->values)
        if (v < 0 || static_cast<size_t>(v) >= table->classes.size())
            throw std::invalid_argument("the value " + std::to_string(v) + " is no id of a class");
    if (related) table->beginnings = std::make_unique<const Beginnings>(table->keys);
    return table;
}

std::vector<int32_t> apply_to_all(const WordFunction& f, const StringTable& words, Interner& values) {
    check_table(words, "words");
    std::vector<int32_t> ids(words.size());
    std::string value;
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = apply(f, words[i], value) ? values.intern(value) : -1;
    return ids;
}
