// See entries.h.
#include "counting/entries.h"

#include <algorithm>
#include <stdexcept>

#include "core/strings.h"

namespace {

constexpr uint64_t kMostLabels = uint64_t{1} << (64 - Entry::kCountBits);

bool by_key(const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.label_count < b.label_count; }

// Adds up neighbouring entries of the same key and label, from `begin` to `end`, and returns the new end.
Entry* summed(Entry* begin, Entry* end) {
    Entry* last = begin;
    for (Entry* e = begin; e != end; ++e) {
        if (e == begin) continue;
        if (e->key == last->key && e->label() == last->label()) {
            if (last->count() + e->count() > Entry::kCountMask) throw std::length_error("a count exceeds 2^40");
            last->label_count += e->count();
            last->first = std::min(last->first, e->first);
        } else {
            *++last = *e;
        }
    }
    return begin == end ? end : last + 1;
}

}  // namespace

GroupedEntries count_entries(std::span<const uint64_t> keys, std::span<const int32_t> labels, uint64_t first, int bits) {
    if (bits < 1 || bits > 20) throw std::invalid_argument("the number of bits must be from 1 to 20");
    if (keys.size() != labels.size()) throw std::invalid_argument("keys and labels differ in number");
    const size_t groups = size_t{1} << bits;
    const auto group_of = [&](uint64_t key) { return static_cast<size_t>(hash_key(key) >> (64 - bits)); };
    std::vector<size_t> start(groups + 1, 0);
    for (size_t t = 0; t < keys.size(); ++t) {
        if (labels[t] < 0) continue;
        if (static_cast<uint64_t>(labels[t]) >= kMostLabels) throw std::invalid_argument("label id out of range");
        ++start[group_of(keys[t]) + 1];
    }
    for (size_t g = 0; g < groups; ++g) start[g + 1] += start[g];
    std::vector<Entry> sorted(start.back());
    std::vector<size_t> cursor(start.begin(), start.end() - 1);
    for (size_t t = 0; t < keys.size(); ++t)
        if (labels[t] >= 0)
            sorted[cursor[group_of(keys[t])]++] = {keys[t], first + t, static_cast<uint64_t>(labels[t]) << Entry::kCountBits | 1};
    GroupedEntries found{{}, std::vector<int64_t>(groups)};
    size_t kept = 0;
    for (size_t g = 0; g < groups; ++g) {
        Entry *begin = sorted.data() + start[g], *end = sorted.data() + start[g + 1];
        std::sort(begin, end, by_key);
        end = summed(begin, end);
        std::copy(begin, end, sorted.data() + kept);
        found.sizes[g] = end - begin;
        kept += static_cast<size_t>(end - begin);
    }
    sorted.resize(kept);
    found.entries = std::move(sorted);
    return found;
}

std::vector<Entry> merge_entries(const Matrix<uint64_t>& numbers, bool by_place) {
    require(numbers.columns() == 3, "an entry has three numbers");
    const auto* given = reinterpret_cast<const Entry*>(numbers.row(0));
    std::vector<Entry> entries(given, given + numbers.rows());
    std::sort(entries.begin(), entries.end(), by_key);
    entries.resize(static_cast<size_t>(summed(entries.data(), entries.data() + entries.size()) - entries.data()));
    for (size_t i = 0, j; i < entries.size(); i = j) {
        uint64_t first = entries[i].first;
        for (j = i + 1; j < entries.size() && entries[j].key == entries[i].key; ++j) first = std::min(first, entries[j].first);
        for (size_t k = i; k < j; ++k) entries[k].first = first;
    }
    if (by_place)
        std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
            return a.first != b.first ? a.first < b.first : a.label_count < b.label_count;
        });
    return entries;
}
