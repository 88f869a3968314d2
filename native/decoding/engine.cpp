// See engine.h.
#include "decoding/engine.h"

#include <cmath>
#include <stdexcept>

#include "core/likely_labels.h"
#include "core/logarithms.h"

namespace {

// Marks the templates that have a feature with weights.
std::vector<bool> templates_with(const SparseRows& weights, const std::vector<int64_t>& bases) {
    std::vector<bool> active(bases.size() - 1, false);
    for (size_t t = 0; weights.size() != 0 && t < active.size(); ++t)
        active[t] = weights.offsets[bases[t]] < weights.offsets[bases[t + 1]];
    return active;
}

}  // namespace

Engine::Engine(const FeatureMap& map, const Edges& edges, EngineData data)
    : map_(map),
      edges_(edges),
      data_(std::move(data)),
      all_labels_(data_.all_labels || (data_.rows.size() == 0 && !data_.by_features)) {
    const auto K = static_cast<size_t>(edges_.n_labels);
    if (K < 1) throw std::invalid_argument("a model needs at least one label");
    if (!data_.parts.empty() && data_.parts.n_labels() != K) throw std::invalid_argument("parts and labels disagree");
    if (data_.by_features && (!data_.parts.empty() || data_.rows.size() != 0))
        throw std::invalid_argument("candidates come from rows or from features, and labels without parts");
    if (data_.bias.empty()) data_.bias.assign(K, 0.0f);
    if (data_.bias.size() != K) throw std::invalid_argument("the model needs one bias for each label");
    if (data_.first_feature < 0) throw std::invalid_argument("feature ids must not be negative");
    bases_.assign(1, data_.first_feature);
    for (size_t t = 0; t < map.n_templates(); ++t) bases_.push_back(bases_.back() + static_cast<int64_t>(map.n_features(t)));
    if (static_cast<size_t>(bases_.back()) > data_.linear.size())
        throw std::invalid_argument("there are fewer weights than features");
    if (data_.rows.size() > 0) check_rows();
    if (data_.edge_weights.size() != 0 && data_.edge_weights.size() != data_.linear.size())
        throw std::invalid_argument("edge weights and features disagree");
    if (data_.word_pairs != nullptr) {
        if (data_.rows.size() == 0 || data_.level_functions.empty() || data_.edge_weights.size() != 0 || edges.local ||
            !edges.triples.empty() || data_.word_pairs->n_labels() != K)
            throw std::invalid_argument("pairs of words do not fit the model");
        if (!(data_.pair_scores.scale > 0.0f && std::isfinite(data_.pair_scores.scale)))
            throw std::invalid_argument("the scale of pairs of words is out of range");
    }
    active_ = templates_with(data_.linear, bases_);
    edge_active_ = templates_with(data_.edge_weights, bases_);
}

void Engine::check_rows() const {
    if (data_.word_column >= map_.n_columns()) throw std::invalid_argument("the word column is out of range");
    const auto words = static_cast<int64_t>(map_.strings(data_.word_column).size());
    const auto n = static_cast<int64_t>(data_.rows.size());
    if (data_.level_bases.size() != data_.level_functions.size() + 1 || data_.level_bases.front() != words ||
        data_.level_bases.back() != n - 1)
        throw std::invalid_argument("back-off rows and levels disagree");
    for (size_t r = 0; r < data_.level_functions.size(); ++r)
        if (data_.level_bases[r + 1] < data_.level_bases[r] || data_.level_functions[r] < 0 ||
            static_cast<size_t>(data_.level_functions[r]) >= map_.n_functions() ||
            static_cast<size_t>(map_.function(static_cast<size_t>(data_.level_functions[r])).column) != data_.word_column)
            throw std::invalid_argument("back-off levels are out of range");
    if (data_.rows.empty(n - 1)) throw std::invalid_argument("the row of the prior is empty");
    if (!data_.unseen) return;
    const UnseenRule& rule = *data_.unseen;
    if (rule.k.size() != data_.level_functions.size() || rule.cap < 1 || !(rule.threshold >= 0.0 && rule.threshold <= 1.0))
        throw std::invalid_argument("the rule for unseen words does not fit the levels");
    for (const double k : rule.k)
        if (!(k >= 0.0 && k < 1e12)) throw std::invalid_argument("the rule for unseen words is out of range");
    if (!(std::abs(rule.scale) < 1e9 && std::abs(rule.shift) < 1e9))
        throw std::invalid_argument("the rule for unseen words is out of range");
    for (auto i = static_cast<size_t>(data_.rows.offsets[data_.level_bases.front()]); i < data_.rows.scores.size(); ++i)
        if (!(data_.rows.scores[i] >= 0.0f && data_.rows.scores[i] < 1e12f))
            throw std::invalid_argument("label shares are out of range");
}

int64_t Engine::context(const Lexicon& lexicon, size_t level, int32_t word) const {
    const int32_t value = lexicon.value(static_cast<size_t>(data_.level_functions[level]), word);
    const int64_t row = data_.level_bases[level] + value;
    return value < 0 || row >= data_.level_bases[level + 1] || data_.rows.empty(row) ? -1 : row;
}

int64_t Engine::row_of(const Lexicon& lexicon, int32_t word) const {
    if (known(word)) return word;
    for (size_t r = 0; r < data_.level_functions.size(); ++r)
        if (const int64_t row = context(lexicon, r, word); row >= 0) return row;
    return static_cast<int64_t>(data_.rows.size()) - 1;
}

int32_t Engine::word_pair(const Lexicon& lexicon, const int32_t* word, const int32_t* next) const {
    // A side of the pair: exactly, and as a class. The boundary is a class of its own; a word may have no class.
    struct Place {
        bool known, has_class;
        WordPairs::Side exact, own_class;
    };
    const auto place = [&](const int32_t* w) -> Place {
        if (w == nullptr) return {true, true, WordPairs::kBoundary, WordPairs::kBoundary};
        const int32_t c = lexicon.value(static_cast<size_t>(data_.level_functions[0]), *w);
        const bool has_class = c >= 0;
        return {known(*w), has_class, WordPairs::word(*w), has_class ? WordPairs::of_class(c) : 0};
    };
    const Place a = place(word), b = place(next);
    const WordPairs& pairs = *data_.word_pairs;
    if (a.known && b.known) return pairs.find(a.exact, b.exact);
    int32_t row = -1;
    if (a.known && b.has_class) row = pairs.find(a.exact, b.own_class);
    if (b.known && a.has_class) row = pairs.find(a.own_class, b.exact);
    return row < 0 && a.has_class && b.has_class ? pairs.find(a.own_class, b.own_class) : row;
}

void Engine::mix(const Lexicon& lexicon, int32_t word, std::vector<double>& p, SparseRows& row) const {
    const SparseRows& rows = data_.rows;
    const UnseenRule& rule = *data_.unseen;
    p.assign(n_labels(), 0.0);
    double rest = 1.0;  // the weight of the more general contexts
    for (size_t r = 0; r < data_.level_functions.size(); ++r) {
        const int64_t from = context(lexicon, r, word);
        if (from < 0) continue;
        double types = 0.0;  // the shares of a type sum to 1
        for (int64_t i = rows.offsets[from]; i < rows.offsets[from + 1]; ++i) types += static_cast<double>(rows.scores[i]);
        const double weight = rest / (types + rule.k[r]);
        for (int64_t i = rows.offsets[from]; i < rows.offsets[from + 1]; ++i)
            p[static_cast<size_t>(rows.labels[i])] += weight * static_cast<double>(rows.scores[i]);
        rest = weight * rule.k[r];
    }
    const auto prior = static_cast<int64_t>(rows.size()) - 1;
    for (int64_t i = rows.offsets[prior]; i < rows.offsets[prior + 1]; ++i)
        p[static_cast<size_t>(rows.labels[i])] += rest * static_cast<double>(rows.scores[i]);
    std::vector<int32_t> keep;
    likely_labels(p, rule.threshold, rule.cap, keep);
    for (const int32_t y : keep)
        row.add(y, static_cast<float>(rule.scale * portable_log(p[static_cast<size_t>(y)]) + rule.shift));
    row.end_row();
}
