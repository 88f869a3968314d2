// See pooling.h.
#include "counting/pooling.h"

#include <algorithm>
#include <cmath>

#include "core/label_pairs.h"
#include "core/logarithms.h"
#include "core/parallel.h"
#include "core/slots.h"
#include "core/vectors.h"

namespace {

// x_f(y) of the features in a table, with and without one token left out.
struct Evidence {
    struct Entry {
        int32_t label;
        float whole;  // without leaving out a token
        float less;   // with the count reduced by one
        float of(int32_t left_out) const { return label == left_out ? less : whole; }
    };
    const int64_t* offsets;
    const double* prior;
    size_t K;
    double k;
    std::vector<Entry> entries;  // one for each entry of the table
    std::vector<float> small;    // evidence of small counts, by label
    static constexpr int32_t kSmall = 256;

    explicit Evidence(const PooledTokens& tokens)
        : offsets(tokens.table.offsets.data()), prior(tokens.prior.data()), K(tokens.prior.size()), k(tokens.k) {
        small.resize(K * kSmall);
        for (size_t y = 0; y < K; ++y)
            for (int32_t c = 0; c < kSmall; ++c)
                small[y * kSmall + static_cast<size_t>(c)] = computed(static_cast<int32_t>(y), c);
        const Array<int32_t>& labels = tokens.table.labels;
        const Array<int64_t>& counts = tokens.table.counts;
        check_labels(labels, K);
        entries.resize(labels.size());
        for (size_t i = 0; i < entries.size(); ++i)
            entries[i] = {labels[i], of_count(labels[i], counts[i]), of_count(labels[i], counts[i] - 1)};
    }

    float computed(int32_t y, int64_t n) const {
        return n <= 0 ? 0.0f : static_cast<float>(portable_log1p(static_cast<double>(n) / (k * prior[y])));
    }
    float of_count(int32_t y, int64_t n) const {
        return n < kSmall ? small[static_cast<size_t>(y) * kSmall + static_cast<size_t>(std::max<int64_t>(n, 0))]
                          : computed(y, n);
    }

    void prefetch_row(int32_t f) const { prefetch(entries.data() + offsets[f]); }

    // Calls add(index among the candidates, evidence) for each candidate label that the feature was seen with.
    template <typename Add>
    void of(int32_t f, int32_t left_out, const int32_t* own, size_t width, Add add) const {
        if (width == K) {  // all labels are candidates, in order
            for (int64_t i = offsets[f]; i < offsets[f + 1]; ++i) {
                const Entry& entry = entries.data()[i];
                add(static_cast<size_t>(entry.label), entry.of(left_out));
            }
            return;
        }
        size_t j = 0;
        for (int64_t i = offsets[f]; i < offsets[f + 1]; ++i) {
            const Entry& entry = entries.data()[i];
            while (j < width && own[j] < entry.label) ++j;
            if (j == width) return;
            if (own[j] == entry.label) add(j, entry.of(left_out));
        }
    }
};

// Sums expected label pairs over edges.
class PairExpectations {
   public:
    // Candidate labels of a position with their probabilities.
    struct Position {
        const int32_t* labels;
        const float* p;
        size_t width;
    };

    explicit PairExpectations(const Matrix<double>& scores)
        : sums(scores.rows() * scores.columns(), 0.0), pairs_(scores.rows() - 1), factor_(sums.size()) {
        for (size_t i = 0; i < factor_.size(); ++i) factor_[i] = fast_exp(scores.row(0)[i]);
    }

    void add(const Position& from, const Position& to) {
        const size_t m = from.width, n = to.width;
        joint_.resize(m * n);
        double z = 0.0;
        for (size_t a = 0; a < m; ++a)
            for (size_t b = 0; b < n; ++b)
                z += joint_[a * n + b] =
                    static_cast<double>(from.p[a]) * to.p[b] * factor_[pairs_.at(from.labels[a], to.labels[b])];
        if (z <= 0.0) return;
        for (size_t a = 0; a < m; ++a)
            for (size_t b = 0; b < n; ++b) sums[pairs_.at(from.labels[a], to.labels[b])] += joint_[a * n + b] / z;
    }

    std::vector<double> sums;

   private:
    LabelPairs pairs_;
    std::vector<double> factor_, joint_;
};

}  // namespace

void PooledTokens::check(size_t by_feature) const {
    check_offsets(table.offsets, table.labels.size(), "table offsets and labels disagree");
    check_offsets(features.offsets, features.ids.size(), "feature offsets and features disagree");
    check_offsets(candidates.offsets, candidates.ids.size(), "candidate offsets and labels disagree");
    if (features.rows() != candidates.rows() || table.labels.size() != table.counts.size())
        throw std::invalid_argument("features, candidates and counts disagree in number");
    if (left_out && left_out->size() != features.rows())
        throw std::invalid_argument("left-out labels and tokens disagree in number");
    for (const int32_t f : features.ids)
        if (f < 0 || static_cast<size_t>(f) >= table.n_contexts()) throw std::invalid_argument("feature id out of range");
    check_labels(candidates.ids, prior.size());
    require(by_feature == table.n_contexts(), "experts or weights and features disagree in number");
}

NewMatrix<float> expert_evidence(const PooledTokens& tokens, const Array<int32_t>& expert_of, size_t n_experts) {
    tokens.check(expert_of.size());
    const Array<int64_t>&offsets = tokens.features.offsets, &places = tokens.candidates.offsets;
    const Array<int32_t>&ids = tokens.features.ids, &labels = tokens.candidates.ids;
    std::vector<float> out(labels.size() * n_experts, 0.0f);
    const Evidence evidence(tokens);
    for (size_t t = 0; t + 1 < offsets.size(); ++t) {
        const auto width = static_cast<size_t>(places[t + 1] - places[t]);
        float* block = out.data() + static_cast<size_t>(places[t]) * n_experts;
        for (int64_t i = offsets[t]; i < offsets[t + 1]; ++i) {
            const auto e = static_cast<size_t>(expert_of[ids[i]]);
            if (e >= n_experts) throw std::invalid_argument("expert out of range");
            evidence.of(ids[i], tokens.left_out ? (*tokens.left_out)[t] : -1, labels.data() + places[t], width,
                        [&](size_t j, float x) { block[j * n_experts + e] += x; });
        }
    }
    return {std::move(out), labels.size(), n_experts};
}

std::vector<float> pooled_scores(const PooledTokens& tokens, const Array<float>& feature_weight, size_t threads) {
    tokens.check(feature_weight.size());
    const Array<int64_t>&offsets = tokens.features.offsets, &places = tokens.candidates.offsets;
    const Array<int32_t>&ids = tokens.features.ids, &labels = tokens.candidates.ids;
    std::vector<float> out(labels.size(), 0.0f);
    const Evidence evidence(tokens);
    const size_t n = tokens.features.rows(), parts = useful_threads(threads, n);
    const auto score = [&](size_t t) {
        const auto width = static_cast<size_t>(places[t + 1] - places[t]);
        float* block = out.data() + places[t];
        if (t + 1 < n)
            for (int64_t i = offsets[t + 1]; i < offsets[t + 2]; ++i) evidence.prefetch_row(ids[i]);
        for (int64_t i = offsets[t]; i < offsets[t + 1]; ++i) {
            const float w = feature_weight[ids[i]];
            if (w != 0.0f)
                evidence.of(ids[i], tokens.left_out ? (*tokens.left_out)[t] : -1, labels.data() + places[t], width,
                            [&](size_t j, float x) { block[j] += w * x; });
        }
    };
    in_parallel(parts, [&](size_t part) {
        for (size_t t = n * part / parts; t < n * (part + 1) / parts; ++t) score(t);
    });
    return out;
}

ConditionalLogit conditional_logit(const Matrix<float>& x, const Csr& candidates, const Array<int64_t>& gold,
                                   const Array<double>& theta, size_t n_labels) {
    check_offsets(candidates.offsets, candidates.ids.size(), "candidate offsets and labels disagree");
    require(x.rows() == candidates.ids.size() && candidates.rows() == gold.size() && theta.size() == x.columns() + n_labels,
            "evidence, candidates and weights disagree");
    check_labels(candidates.ids, n_labels);
    for (size_t t = 0; t < gold.size(); ++t)
        if (gold[t] >= 0 && (gold[t] < candidates.offsets[t] || gold[t] >= candidates.offsets[t + 1]))
            throw std::invalid_argument("the label of a token is not among its own candidates");
    const auto& [places, labels] = candidates;
    ConditionalLogit sums(x.columns(), n_labels);
    for (size_t t = 0; t < gold.size(); ++t) {
        if (gold[t] < 0) continue;
        const auto first = static_cast<size_t>(places[t]), width = static_cast<size_t>(places[t + 1]) - first;
        sums.add(x.row(first), labels.data() + first, width, static_cast<size_t>(gold[t]) - first, theta.data());
    }
    sums.finish();
    return sums;
}

NewMatrix<double> pair_expectations(const Array<int64_t>& sentences, const Csr& candidates, const Array<float>& posteriors,
                                    const Matrix<double>& scores) {
    const auto& [places, labels] = candidates;
    check_offsets(places, labels.size(), "candidate offsets and labels disagree");
    check_offsets(sentences, candidates.rows(), "sentence offsets and candidates disagree");
    require(scores.rows() >= 2 && scores.columns() == scores.rows() && labels.size() == posteriors.size(),
            "candidates, posteriors and edge scores disagree");
    check_labels(labels, scores.rows() - 1);
    // The boundary is a position whose only label is K.
    const auto boundary = static_cast<int32_t>(scores.rows() - 1);
    const float one = 1.0f;
    const PairExpectations::Position outside{&boundary, &one, 1};
    PairExpectations expectations(scores);
    for (size_t s = 0; s + 1 < sentences.size(); ++s) {
        PairExpectations::Position before = outside;
        for (int64_t j = sentences[s]; j < sentences[s + 1]; ++j) {
            const PairExpectations::Position here{labels.data() + places[j], posteriors.data() + places[j],
                                                  static_cast<size_t>(places[j + 1] - places[j])};
            expectations.add(before, here);
            before = here;
        }
        if (sentences[s + 1] > sentences[s]) expectations.add(before, outside);
    }
    return {std::move(expectations.sums), scores.rows(), scores.rows()};
}
