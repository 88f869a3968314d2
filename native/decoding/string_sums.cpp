// See string_sums.h.
#include "decoding/string_sums.h"

#include <algorithm>

#include "core/slots.h"

namespace {

constexpr size_t kMostLabels = 64;
constexpr size_t kMostSums = 4'000'000;  // floats and edge features that are kept

// The value that stands for the string at position j of a sentence of n tokens, as in FeatureMap.
int32_t key(const int32_t* strings, int64_t j, int64_t n) {
    if (j < 0) return static_cast<int32_t>(-j - 1);
    if (j >= n) return static_cast<int32_t>(kMaxOffset + j - n);
    return kBoundaries + strings[j];
}

}  // namespace

StringSums::StringSums(const Engine& engine) : engine_(engine) {
    const bool few = engine.all_labels() && engine.n_labels() <= kMostLabels && engine.parts().empty();
    for (size_t t = 0; t < engine.map().n_templates(); ++t) {
        if (!engine.active(t) && !engine.edge_active(t)) continue;
        const TemplateAtoms& atoms = engine.map().atoms(t);
        const auto column = [&](const Atom& atom) { return engine.map().function(static_cast<size_t>(atom.function)).column; };
        const bool one_string = few && std::all_of(atoms.begin(), atoms.end(), [&](const Atom& atom) {
                                    return column(atom) == column(atoms[0]) && atom.offset == atoms[0].offset;
                                });
        if (!one_string || atoms.empty()) {
            if (engine.active(t)) others_.push_back(t);
            if (engine.edge_active(t)) edge_others_.push_back(t);
            continue;
        }
        auto group = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const Group& g) { return g.column == column(atoms[0]) && g.offset == atoms[0].offset; });
        if (group == groups_.end()) group = groups_.insert(group, Group{column(atoms[0]), atoms[0].offset, {}, {}, {}});
        if (engine.active(t)) group->templates.push_back(t);
        if (engine.edge_active(t)) group->edge_templates.push_back(t);
    }
}

void StringSums::prefetch_entries(const int32_t* const* columns, int64_t n) const {
    const auto each = [&](const Group& group, auto use) {
        for (int64_t i = 0; i < n; ++i) {
            const auto string = static_cast<size_t>(key(columns[group.column], i + group.offset, n));
            if (string < group.entries.size()) use(group.entries.data() + string);
        }
    };
    for (const Group& group : groups_) each(group, [](const int32_t* entry) { prefetch(entry); });
    for (const Group& group : groups_)
        each(group, [&](const int32_t* entry) {
            if (*entry >= 0) prefetch(sums_.data() + static_cast<size_t>(*entry) * engine_.n_labels());
        });
}

void StringSums::add(const Lexicon& lexicon, const int32_t* const* columns, int64_t i, int64_t n, float* score,
                     std::vector<int32_t>& edge_ids) {
    const size_t K = engine_.n_labels();
    for (Group& group : groups_) {
        const auto string = static_cast<size_t>(key(columns[group.column], i + group.offset, n));
        if (sums_.size() + edge_ids_.size() > kMostSums) clear();
        if (string >= group.entries.size())
            group.entries.resize(std::max(string + 1, kBoundaries + lexicon.size(static_cast<size_t>(group.column))), -1);
        int32_t& entry = group.entries[string];
        if (entry < 0) entry = fill(group, lexicon, columns, i, n);
        const float* sum = sums_.data() + static_cast<size_t>(entry) * K;
        for (size_t y = 0; y < K; ++y) score[y] += sum[y];
        const auto [first, last] = edge_lists_[static_cast<size_t>(entry)];
        edge_ids.insert(edge_ids.end(), edge_ids_.begin() + first, edge_ids_.begin() + last);
    }
}

int32_t StringSums::fill(const Group& group, const Lexicon& lexicon, const int32_t* const* columns, int64_t i, int64_t n) {
    const auto find = [&](const std::vector<size_t>& templates) {
        found_.clear();
        for (const size_t t : templates) {
            const int32_t f = lexicon.feature(t, columns, i, n);
            if (f >= 0 && engine_.base(t) + f < engine_.base(t + 1)) found_.push_back(engine_.base(t) + f);
        }
    };
    const auto entry = static_cast<int32_t>(edge_lists_.size());
    sums_.resize(sums_.size() + engine_.n_labels(), 0.0f);
    float* sum = sums_.data() + sums_.size() - engine_.n_labels();
    const SparseRows& linear = engine_.linear();
    find(group.templates);
    for (const int64_t f : found_) prefetch(linear.offsets.data() + f);
    for (const int64_t f : found_) {
        const int64_t first = linear.offsets[static_cast<size_t>(f)];
        prefetch(linear.labels.data() + first);
        prefetch(linear.scores.data() + first);
    }
    for (const int64_t f : found_)
        for (int64_t k = linear.offsets[static_cast<size_t>(f)]; k < linear.offsets[static_cast<size_t>(f) + 1]; ++k)
            sum[linear.labels[static_cast<size_t>(k)]] += linear.scores[static_cast<size_t>(k)];
    const auto first = static_cast<uint32_t>(edge_ids_.size());
    find(group.edge_templates);
    for (const int64_t f : found_)
        if (!engine_.edge_weights().empty(f)) edge_ids_.push_back(static_cast<int32_t>(f));
    edge_lists_.emplace_back(first, static_cast<uint32_t>(edge_ids_.size()));
    return entry;
}

void StringSums::clear() {
    for (Group& group : groups_) std::fill(group.entries.begin(), group.entries.end(), -1);
    sums_.clear();
    edge_lists_.clear();
    edge_ids_.clear();
}
