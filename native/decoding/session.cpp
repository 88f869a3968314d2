// See session.h.
#include "decoding/session.h"

#include <algorithm>
#include <numeric>

#include "core/slots.h"

namespace {

constexpr int64_t kMostPrefetched = 100;  // tokens
constexpr size_t kMostMixed = 4'000'000;  // labels in the rows that are kept of words that are not known

}  // namespace

Session::Session(const Engine& engine) : engine_(engine), lexicon_(engine.map()), sums_(engine) {
    iota_.resize(engine.all_labels() ? engine.n_labels() : 0);
    std::iota(iota_.begin(), iota_.end(), 0);
}

void Session::build(const int32_t* const* columns, int64_t n, bool keep_scores, const Attributes* ready, int64_t token,
                    const Csr* more) {
    offsets.assign(1, 0);
    labels.clear();
    scores.clear();
    edge_offsets.assign(1, 0);
    edge_ids.clear();
    prefetch_pairs(columns, n);
    if (n <= kMostPrefetched) sums_.prefetch_entries(columns, n);
    for (int64_t i = 0; i < n; ++i) {
        const size_t at = labels.size();
        place(columns, i);
        if (more != nullptr) {
            const int64_t a = more->offsets[token + i], b = more->offsets[token + i + 1];
            add_candidates(at, more->ids.data() + a, static_cast<size_t>(b - a));
        }
        const size_t width = labels.size() - at;
        offsets.push_back(static_cast<int64_t>(labels.size()));
        float* score = scores.data() + at;
        sums_.add(lexicon_, columns, i, n, score, edge_ids);
        if (engine_.has_edge_features()) list_edge_features(columns, i, n, ready, token);
        if (width == 1 && !keep_scores) continue;
        const int32_t* own = labels.data() + at;
        const LabelParts& parts = engine_.parts();
        if (parts.empty()) {
            add_features(columns, i, n, ready, token, own, width, score);
            continue;
        }
        columns_.clear();
        parts.add_columns(own, width, columns_);
        column_scores_.assign(columns_.size(), 0.0f);
        add_features(columns, i, n, ready, token, columns_.data(), columns_.size(), column_scores_.data());
        parts.fold(columns_.data(), columns_.size(), width, column_scores_.data(), score);
    }
}

// The tables of pairs do not fit into the cache, so the places of a sentence's pairs are fetched before the first is looked up.
void Session::prefetch_pairs(const int32_t* const* columns, int64_t n) const {
    int32_t values[kMaxOffset + 1];
    for (const size_t t : sums_.others()) {
        if (lexicon_.map().atoms(t).size() != 2) continue;
        for (int64_t i = 0; i < std::min(n, kMostPrefetched); ++i)
            if (lexicon_.gather(t, columns, i, n, values)) lexicon_.map().prefetch(t, values);
    }
}

// Rows of weights are far apart in memory, so all of a token's rows are fetched before the first is added.
void Session::add_features(const int32_t* const* columns, int64_t i, int64_t n, const Attributes* ready, int64_t token,
                           const int32_t* own, size_t width, float* score) {
    const SparseRows& linear = engine_.linear();
    found_.clear();
    const auto use = [&](int64_t feature, float value) {
        found_.push_back({feature, value});
        prefetch(linear.offsets.data() + feature);
    };
    for (const size_t t : sums_.others()) {
        const int32_t f = lexicon_.feature(t, columns, i, n);
        if (f >= 0 && engine_.base(t) + f < engine_.base(t + 1)) use(engine_.base(t) + f, 1.0f);
    }
    if (ready != nullptr)
        for (int64_t k = ready->ids.offsets[token + i]; k < ready->ids.offsets[token + i + 1]; ++k)
            if (ready->ids.ids[k] >= 0) use(ready->ids.ids[k], ready->values ? (*ready->values)[k] : 1.0f);
    for (const auto& [feature, value] : found_) {
        const int64_t first = linear.offsets[static_cast<size_t>(feature)];
        prefetch(linear.labels.data() + first);
        prefetch(linear.scores.data() + first);
    }
    for (const auto& [feature, value] : found_) add(feature, own, width, score, value);
}

float Session::decode(int64_t n, int32_t* best) {
    SentenceLattice lattice{offsets.data(), labels.data(), scores.data(), static_cast<size_t>(n)};
    if (engine_.has_edge_features()) {
        const SparseRows& rows = engine_.edge_weights();
        lattice.extra = {edge_offsets.data(), edge_ids.data(), rows.offsets.data(), rows.labels.data(), rows.scores.data()};
    }
    return viterbi_.decode(lattice, engine_.edges(), best);
}

void Session::list_edge_features(const int32_t* const* columns, int64_t i, int64_t n, const Attributes* ready, int64_t token) {
    const SparseRows& rows = engine_.edge_weights();
    for (const size_t t : sums_.edge_others()) {
        const int32_t f = lexicon_.feature(t, columns, i, n);
        if (f >= 0 && !rows.empty(engine_.base(t) + f)) edge_ids.push_back(static_cast<int32_t>(engine_.base(t) + f));
    }
    if (ready != nullptr)
        for (int64_t k = ready->ids.offsets[token + i]; k < ready->ids.offsets[token + i + 1]; ++k)
            if (ready->ids.ids[k] >= 0 && !rows.empty(ready->ids.ids[k])) edge_ids.push_back(ready->ids.ids[k]);
    edge_offsets.push_back(static_cast<int64_t>(edge_ids.size()));
}

Session::Row Session::row_of(int32_t word) {
    const auto in = [](const SparseRows& rows, int64_t row) {
        const int64_t a = rows.offsets[row], b = rows.offsets[row + 1];
        return Row{rows.labels.data() + a, rows.labels.data() + b, rows.scores.data() + a};
    };
    if (!engine_.mixes() || engine_.known(word)) return in(engine_.rows(), engine_.row_of(lexicon_, word));
    if (mixed_rows_.labels.size() > kMostMixed) {
        mixed_.clear();
        mixed_rows_ = {};
    }
    const auto [place, added] = mixed_.try_emplace(word, static_cast<int64_t>(mixed_rows_.size()));
    if (added) engine_.mix(lexicon_, word, p_, mixed_rows_);
    return in(mixed_rows_, place->second);
}

void Session::place(const int32_t* const* columns, int64_t i) {
    if (engine_.all_labels()) {
        const size_t at = labels.size();
        labels.insert(labels.end(), iota_.begin(), iota_.end());
        scores.insert(scores.end(), engine_.bias().begin(), engine_.bias().end());
        if (engine_.rows().size() == 0) return;
        const Row row = row_of(columns[engine_.word_column()][i]);
        for (size_t y = 0; y < iota_.size(); ++y) scores[at + y] += engine_.floor();
        const float* score = row.scores;
        for (const int32_t* y = row.labels; y != row.end; ++y, ++score)
            scores[at + static_cast<size_t>(*y)] += *score - engine_.floor();
        return;
    }
    const Row row = row_of(columns[engine_.word_column()][i]);
    labels.insert(labels.end(), row.labels, row.end);
    const float* score = row.scores;
    for (const int32_t* y = row.labels; y != row.end; ++y, ++score)
        scores.push_back(*score + engine_.bias()[static_cast<size_t>(*y)]);
}

void Session::add_candidates(size_t at, const int32_t* more, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        const auto place = std::lower_bound(labels.begin() + static_cast<std::ptrdiff_t>(at), labels.end(), more[i]);
        if (place != labels.end() && *place == more[i]) continue;
        scores.insert(scores.begin() + (place - labels.begin()), engine_.floor() + engine_.bias()[static_cast<size_t>(more[i])]);
        labels.insert(place, more[i]);
    }
}

void Session::add(int64_t feature, const int32_t* own, size_t width, float* score, float value) const {
    const SparseRows& linear = engine_.linear();
    const int64_t a = linear.offsets[feature], b = linear.offsets[feature + 1];
    if (width == engine_.n_columns()) {
        for (int64_t k = a; k < b; ++k) score[linear.labels[k]] += value * linear.scores[k];
        return;
    }
    size_t j = 0;
    for (int64_t k = a; k < b; ++k) {
        while (j < width && own[j] < linear.labels[k]) ++j;
        if (j == width) return;
        if (own[j] == linear.labels[k]) score[j] += value * linear.scores[k];
    }
}
