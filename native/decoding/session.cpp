// See session.h.
#include "decoding/session.h"

#include <algorithm>
#include <numeric>

#include "core/slots.h"

namespace {

constexpr int64_t kAtOnce = 100;         // tokens whose strings are looked up together
constexpr size_t kFeaturesAtOnce = 100;  // features whose weights are fetched together, or more if one token has more

}  // namespace

Session::Session(const Engine& engine)
    : engine_(engine), lexicon_(engine.map()), rows_(engine), sums_(engine, rows_), seen_(engine.n_labels()) {
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
    for (int64_t first = 0; first < n; first += kAtOnce) {
        const int64_t last = std::min(n, first + kAtOnce);
        for (int64_t i = first; i < last; ++i) {
            const size_t at = labels.size();
            if (engine_.by_features())
                place_by_features(columns, i, n, ready, token);
            else
                place(columns, i);
            if (more != nullptr) {
                const int64_t a = more->offsets[token + i], b = more->offsets[token + i + 1];
                add_candidates(at, more->ids.data() + a, static_cast<size_t>(b - a));
            }
            offsets.push_back(static_cast<int64_t>(labels.size()));
        }
        sums_.open(lexicon_, columns, first, last, n);
        prefetch_pairs(columns, first, last, n, keep_scores);
        int64_t begin = first, end = first;  // the tokens of ends_
        for (int64_t i = first; i < last; ++i) {
            if (i == end) {
                begin = i;
                end = find_features(columns, i, first, last, n, keep_scores, ready, token);
            }
            float* score = scores.data() + offsets[static_cast<size_t>(i)];
            sums_.add(i, score, edge_ids);
            if (engine_.has_edge_features()) list_edge_features(columns, i, n, ready, token);
            if (engine_.word_pairs() != nullptr) list_word_pairs(columns[engine_.word_column()], i, n);
            add_features(i, found_.data() + ends_[static_cast<size_t>(i - begin)],
                         found_.data() + ends_[static_cast<size_t>(i - begin) + 1], score);
        }
    }
}

// The tables of pairs do not fit into the cache, so the places of all pairs are fetched before the first is looked up.
void Session::prefetch_pairs(const int32_t* const* columns, int64_t first, int64_t last, int64_t n, bool keep_scores) {
    const FeatureMap& map = lexicon_.map();
    pairs_.clear();
    for (const size_t t : sums_.others()) {
        if (map.atoms(t).size() != 2) continue;
        for (int64_t i = first; i < last; ++i) {
            std::array<int32_t, 2>& values = pairs_.emplace_back();
            if ((keep_scores || width(i) > 1) && lexicon_.gather(t, columns, i, n, values.data()))
                map.prefetch(t, values.data());
            else
                values[0] = kAbsent;
        }
    }
}

// Rows of weights are far apart in memory, so those of several tokens are fetched before the first are added.
int64_t Session::find_features(const int32_t* const* columns, int64_t i, int64_t first, int64_t last, int64_t n, bool keep_scores,
                               const Attributes* ready, int64_t token) {
    const FeatureMap& map = lexicon_.map();
    const SparseRows& linear = engine_.linear();
    found_.clear();
    ends_.assign(1, 0);
    const auto use = [&](int64_t feature, float value) {
        found_.push_back({feature, value});
        prefetch(linear.offsets.data() + feature);
    };
    for (; i < last && found_.size() < kFeaturesAtOnce; ++i, ends_.push_back(found_.size())) {
        if (!keep_scores && width(i) == 1) continue;
        const std::array<int32_t, 2>* values = pairs_.data() + (i - first);
        for (const size_t t : sums_.others()) {
            int32_t f = kAbsent;
            if (map.atoms(t).size() != 2) {
                f = lexicon_.feature(t, columns, i, n);
            } else {
                if ((*values)[0] != kAbsent) f = map.find(t, values->data());
                values += last - first;
            }
            if (f >= 0 && engine_.base(t) + f < engine_.base(t + 1)) use(engine_.base(t) + f, 1.0f);
        }
        if (ready == nullptr) continue;
        for (int64_t k = ready->ids.offsets[token + i]; k < ready->ids.offsets[token + i + 1]; ++k)
            if (ready->ids.ids[k] >= 0) use(ready->ids.ids[k], ready->values ? (*ready->values)[k] : 1.0f);
    }
    for (const auto& [feature, value] : found_) {
        const int64_t at = linear.offsets[static_cast<size_t>(feature)];
        prefetch(linear.labels.data() + at);
        prefetch(linear.scores.data() + at);
    }
    return i;
}

void Session::add_features(int64_t i, const Found* begin, const Found* end, float* score) {
    const int32_t* own = labels.data() + offsets[static_cast<size_t>(i)];
    const LabelParts& parts = engine_.parts();
    if (begin == end) return;
    if (parts.empty()) {
        for (const Found* f = begin; f != end; ++f) add(f->first, own, width(i), score, f->second);
        return;
    }
    columns_.clear();
    parts.add_columns(own, width(i), columns_);
    column_scores_.assign(columns_.size(), 0.0f);
    for (const Found* f = begin; f != end; ++f) add(f->first, columns_.data(), columns_.size(), column_scores_.data(), f->second);
    parts.fold(columns_.data(), columns_.size(), width(i), column_scores_.data(), score);
}

float Session::decode(int64_t n, int32_t* best) {
    SentenceLattice lattice{offsets.data(), labels.data(), scores.data(), static_cast<size_t>(n)};
    const auto use = [&](const SparseRows& rows, const WordPairScores& pairs) {
        lattice.extra = {edge_offsets.data(), edge_ids.data(),    rows.offsets.data(),
                         rows.labels.data(),  rows.scores.data(), pairs};
    };
    if (engine_.has_edge_features()) use(engine_.edge_weights(), {});
    if (engine_.word_pairs() != nullptr) use(engine_.word_pairs()->rows(), engine_.pair_scores());
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

void Session::list_word_pairs(const int32_t* words, int64_t i, int64_t n) {
    edge_ids.push_back(engine_.word_pair(lexicon_, i == 0 ? nullptr : words + i - 1, words + i));
    if (i + 1 == n) edge_ids.push_back(engine_.word_pair(lexicon_, words + i, nullptr));
    edge_offsets.push_back(static_cast<int64_t>(edge_ids.size()));
}

void Session::place(const int32_t* const* columns, int64_t i) {
    if (engine_.all_labels()) {
        labels.insert(labels.end(), iota_.begin(), iota_.end());
        scores.insert(scores.end(), engine_.bias().begin(), engine_.bias().end());
        if (engine_.rows().size() > 0 && !sums_.with_rows())
            rows_.add(lexicon_, columns[engine_.word_column()][i], scores.data() + scores.size() - iota_.size());
        return;
    }
    const WordRows::Row row = rows_.of(lexicon_, columns[engine_.word_column()][i]);
    labels.insert(labels.end(), row.labels, row.end);
    const float* score = row.scores;
    for (const int32_t* y = row.labels; y != row.end; ++y, ++score)
        scores.push_back(*score + engine_.bias()[static_cast<size_t>(*y)]);
}

void Session::place_by_features(const int32_t* const* columns, int64_t i, int64_t n, const Attributes* ready, int64_t token) {
    const SparseRows& linear = engine_.linear();
    const auto use = [&](int64_t f) {
        seen_.add(linear.labels.data() + linear.offsets[f], linear.labels.data() + linear.offsets[f + 1]);
    };
    for (const size_t t : sums_.others()) {
        const int32_t f = lexicon_.feature(t, columns, i, n);
        if (f >= 0 && engine_.base(t) + f < engine_.base(t + 1)) use(engine_.base(t) + f);
    }
    if (ready != nullptr)
        for (int64_t k = ready->ids.offsets[token + i]; k < ready->ids.offsets[token + i + 1]; ++k)
            if (ready->ids.ids[k] >= 0) use(ready->ids.ids[k]);
    const size_t at = labels.size();
    seen_.take(labels);
    for (size_t k = at; k < labels.size(); ++k) scores.push_back(engine_.bias()[static_cast<size_t>(labels[k])]);
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
