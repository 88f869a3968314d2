// See string_sums.h.
#include "decoding/string_sums.h"

#include <algorithm>

#include "core/slots.h"

namespace {

constexpr size_t kMostLabels = 64;
constexpr size_t kMostSums = 4'000'000;  // floats and edge features that are kept
constexpr size_t kLine = 16;             // floats in a cache line

// The value that stands for the string at position j of a sentence of n tokens, as in FeatureMap.
int32_t key(const int32_t* strings, int64_t j, int64_t n) {
    if (j < 0) return static_cast<int32_t>(-j - 1);
    if (j >= n) return static_cast<int32_t>(kMaxOffset + j - n);
    return kBoundaries + strings[j];
}

}  // namespace

StringSums::StringSums(const Engine& engine, WordRows& rows) : engine_(engine), rows_(rows) {
    const bool few = engine.all_labels() && engine.n_labels() <= kMostLabels && engine.parts().empty();
    with_rows_ = few && engine.rows().size() > 0;
    if (with_rows_) group(engine.word_column(), 0);
    for (size_t t = 0; t < engine.map().n_templates(); ++t) {
        if (!engine.active(t) && !engine.edge_active(t)) continue;
        const TemplateAtoms& atoms = engine.map().atoms(t);
        const auto column = [&](const Atom& atom) { return engine.map().function(static_cast<size_t>(atom.function)).column; };
        const bool one_string = few && std::all_of(atoms.begin(), atoms.end(), [&](const Atom& atom) {
                                    return column(atom) == column(atoms[0]) && atom.offset == atoms[0].offset;
                                });
        std::vector<size_t>*templates = &others_, *edge_templates = &edge_others_;
        if (one_string) {
            Group& own = group(static_cast<size_t>(column(atoms[0])), atoms[0].offset);
            templates = &own.templates;
            edge_templates = &own.edge_templates;
        }
        if (engine.active(t)) templates->push_back(t);
        if (engine.edge_active(t)) edge_templates->push_back(t);
    }
}

StringSums::Group& StringSums::group(size_t column, int32_t offset) {
    auto own = std::find_if(columns_.begin(), columns_.end(), [&](const ColumnSums& c) { return c.column == column; });
    if (own == columns_.end()) own = columns_.insert(own, ColumnSums{column, {}});
    auto found = std::find_if(own->groups.begin(), own->groups.end(), [&](const Group& g) { return g.offset == offset; });
    return found != own->groups.end() ? *found : own->groups.emplace_back(Group{offset, {}, {}});
}

void StringSums::open(const Lexicon& lexicon, const int32_t* const* columns, int64_t first, int64_t last, int64_t n) {
    for (ColumnSums& own : columns_) {
        if (own.sums.size() + own.edge_ids.size() > kMostSums / columns_.size()) {
            std::fill(own.entries.begin(), own.entries.end(), -1);
            own.sums.clear();
            own.edge_lists.clear();
            own.edge_ids.clear();
        }
        const auto [low, high] = std::minmax_element(own.groups.begin(), own.groups.end(),
                                                     [](const Group& a, const Group& b) { return a.offset < b.offset; });
        own.begin = first + low->offset;
        own.places.clear();
        own.entries.resize(kBoundaries + lexicon.size(own.column), -1);
        new_.clear();
        auto next = static_cast<int32_t>(own.n_entries());
        for (int64_t j = own.begin; j < last + high->offset; ++j) {
            int32_t& entry = own.entries[static_cast<size_t>(key(columns[own.column], j, n))];
            if (entry < 0) {
                entry = next++;
                new_.push_back(j);
                if (j >= 0 && j < n) lexicon.prefetch_values(own.column, columns[own.column][j]);
            }
            own.places.push_back(entry);
        }
        fill(own, lexicon, columns, n);
        const size_t width = own.groups.size() * engine_.n_labels();
        for (const int32_t entry : own.places)
            for (size_t i = 0; i < width; i += kLine) prefetch(own.sums.data() + static_cast<size_t>(entry) * width + i);
    }
}

template <typename Use>
void StringSums::each_feature(const std::vector<size_t>& templates, const Lexicon& lexicon, const int32_t* const* columns,
                              int64_t i, int64_t n, Use use) const {
    for (const size_t t : templates) {
        const int32_t f = lexicon.feature(t, columns, i, n);
        if (f >= 0 && engine_.base(t) + f < engine_.base(t + 1)) use(engine_.base(t) + f);
    }
}

// Weights are far apart in memory, so those of all new strings are fetched before the first are added.
void StringSums::fill(ColumnSums& own, const Lexicon& lexicon, const int32_t* const* columns, int64_t n) {
    const size_t K = engine_.n_labels();
    const SparseRows& linear = engine_.linear();
    found_.clear();
    size_t at = own.sums.size();
    own.sums.resize(at + new_.size() * own.groups.size() * K, 0.0f);
    for (const int64_t j : new_)
        for (const Group& group : own.groups) {
            each_feature(group.templates, lexicon, columns, j - group.offset, n, [&](int64_t f) {
                found_.emplace_back(f, at);
                prefetch(linear.offsets.data() + f);
            });
            if (with_rows_ && own.column == engine_.word_column() && group.offset == 0 && j >= 0 && j < n)
                rows_.add(lexicon, columns[own.column][j], own.sums.data() + at);
            const auto first = static_cast<uint32_t>(own.edge_ids.size());
            each_feature(group.edge_templates, lexicon, columns, j - group.offset, n, [&](int64_t f) {
                if (!engine_.edge_weights().empty(f)) own.edge_ids.push_back(static_cast<int32_t>(f));
            });
            own.edge_lists.emplace_back(first, static_cast<uint32_t>(own.edge_ids.size()));
            at += K;
        }
    for (const auto& [f, place] : found_) {
        const int64_t first = linear.offsets[static_cast<size_t>(f)];
        prefetch(linear.labels.data() + first);
        prefetch(linear.scores.data() + first);
    }
    for (const auto& [f, place] : found_)
        for (int64_t k = linear.offsets[static_cast<size_t>(f)]; k < linear.offsets[static_cast<size_t>(f) + 1]; ++k)
            own.sums[place + static_cast<size_t>(linear.labels[static_cast<size_t>(k)])] += linear.scores[static_cast<size_t>(k)];
}

void StringSums::add(int64_t i, float* score, std::vector<int32_t>& edge_ids) const {
    const size_t K = engine_.n_labels();
    for (const ColumnSums& own : columns_)
        for (size_t g = 0; g < own.groups.size(); ++g) {
            const auto entry = static_cast<size_t>(own.places[static_cast<size_t>(i + own.groups[g].offset - own.begin)]);
            const float* sum = own.sums.data() + (entry * own.groups.size() + g) * K;
            for (size_t y = 0; y < K; ++y) score[y] += sum[y];
            const auto [first, last] = own.edge_lists[entry * own.groups.size() + g];
            edge_ids.insert(edge_ids.end(), own.edge_ids.begin() + first, own.edge_ids.begin() + last);
        }
}
