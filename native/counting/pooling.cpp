// Pooling: each template is an expert that counted labels, and the node score is a weighted sum of what they say.
//
//     x_f(y) = log(1 + n(f, y) / (k P(y)))         the evidence of feature f for label y, from its counts
//     node(y) = bias(y) + sum over features f of the token of w_expert(f) x_f(y)
//
// x_f is log P(y | f) - log P(y), with P(y | f) smoothed toward P(y) by k, up to a part common to all labels. In
// training the token itself is left out: one is taken off n(f, its label). Then the edges given the nodes:
//
//     T(y, y') = log (n(y, y') + k) / (e(y, y') + k),   e = sum over edges of P_i(y) P_i+1(y') exp(T) / Z_i
//
// repeated: iterative scaling of P(y, y' | x) proportional to P(y | x) P(y' | x) exp(T(y, y')).
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/parallel.h"
#include "core/slots.h"
#include "core/vectors.h"

namespace {

using Table = std::tuple<In<int64_t>, In<int32_t>, In<int32_t>>;
using Features = std::tuple<In<int64_t>, In<int32_t>>;  // offsets by token, feature ids
using Candidates = std::tuple<In<int64_t>, In<int32_t>>;  // offsets by token, labels rising

struct Evidence {
    struct Entry {
        int32_t label;
        float whole;  // nothing left out
        float less;   // one taken off the count
        float of(int32_t left_out) const { return label == left_out ? less : whole; }
    };
    const int64_t* offsets;
    const double* prior;
    size_t K;
    double k;
    std::vector<Entry> entries;  // of the table
    std::vector<float> small;    // evidence of small counts, by label
    static constexpr int32_t kSmall = 256;

    Evidence(const Table& table, const In<double>& p, double smoothing)
        : offsets(std::get<0>(table).data()), prior(p.data()), K(p.shape(0)), k(smoothing) {
        small.resize(K * kSmall);
        for (size_t y = 0; y < K; ++y)
            for (int32_t c = 0; c < kSmall; ++c) small[y * kSmall + static_cast<size_t>(c)] = computed(static_cast<int32_t>(y), c);
        const int32_t *labels = std::get<1>(table).data(), *counts = std::get<2>(table).data();
        entries.resize(std::get<1>(table).shape(0));
        for (size_t i = 0; i < entries.size(); ++i) {
            if (labels[i] < 0 || static_cast<size_t>(labels[i]) >= K) throw nb::value_error("label id out of range");
            entries[i] = {labels[i], of_count(labels[i], counts[i]), of_count(labels[i], counts[i] - 1)};
        }
    }

    float computed(int32_t y, int32_t n) const { return n <= 0 ? 0.0f : static_cast<float>(std::log1p(n / (k * prior[y]))); }
    float of_count(int32_t y, int32_t n) const {
        return n < kSmall ? small[static_cast<size_t>(y) * kSmall + static_cast<size_t>(std::max(n, 0))] : computed(y, n);
    }

    void prefetch_row(int32_t f) const { prefetch(entries.data() + offsets[f]); }

    // Calls add(position among the candidates, evidence) for each candidate the feature was seen with.
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

// The conditional logit of tokens: labels are chosen with probability softmax(x w + b) among the candidates.
//
//     loss = -sum log P(gold),   gradient = sum E[z] - z(gold),   Hessian = sum E[(z - E z)(z - E z)'],   z = (x, label)
class ConditionalLogit {
   public:
    ConditionalLogit(size_t experts, size_t n_labels)
        : gradient(experts + n_labels, 0.0),
          hessian((experts + n_labels) * (experts + n_labels), 0.0),
          E_(experts),
          D_(experts + n_labels),
          padded_((experts + 7) / 8 * 8),
          squares_(padded_ * padded_, 0.0),
          rows_(kRows * padded_, 0.0),
          with_labels_(n_labels * experts, 0.0),
          mean_(experts) {}

    double loss = 0.0;
    std::vector<double> gradient, hessian;

    // Adds one token: evidence of its candidates, their labels, which of them is right.
    void add(const float* x, const int32_t* labels, size_t width, size_t right, const double* theta) {
        loss += probabilities(x, labels, width, right, theta);
        std::fill(mean_.begin(), mean_.end(), 0.0);
        for (size_t c = 0; c < width; ++c) add_scaled(mean_.data(), p_[c], x + c * E_, E_);
        const float* gold = x + right * E_;
        for (size_t e = 0; e < E_; ++e) gradient[e] += mean_[e] - gold[e];
        for (size_t c = 0; c < width; ++c) gradient[label(labels[c])] += p_[c] - (c == right ? 1.0 : 0.0);
        for (size_t c = 0; c < width; ++c)
            if (p_[c] >= kNegligible) add_curvature(x, labels, width, c);
    }

    // Puts the parts of the Hessian together.
    void finish() {
        flush();
        for (size_t a = 0; a < E_; ++a)
            for (size_t b = a; b < D_; ++b) hessian[a * D_ + b] = b < E_ ? squares_[a * padded_ + b] : with_labels_[(b - E_) * E_ + a];
        for (size_t a = 0; a < E_; ++a)
            for (size_t b = a + 1; b < D_; ++b) hessian[b * D_ + a] = hessian[a * D_ + b];
    }

   private:
    static constexpr double kNegligible = 1e-6;
    static constexpr size_t kRows = 64;  // their outer products are summed together

    size_t label(int32_t y) const { return E_ + static_cast<size_t>(y); }

    // Fills p_ with the candidates' probabilities; returns -log P(right).
    double probabilities(const float* x, const int32_t* labels, size_t width, size_t right, const double* theta) {
        p_.resize(width);
        for (size_t c = 0; c < width; ++c) p_[c] = theta[label(labels[c])] + dot(theta, x + c * E_, E_);
        const double top = *std::max_element(p_.begin(), p_.end()), score = p_[right] - top;
        double z = 0.0;
        for (double& value : p_) z += value = std::exp(value - top);
        for (double& value : p_) value /= z;
        return std::log(z) - score;
    }

    void add_curvature(const float* x, const int32_t* labels, size_t width, size_t c) {
        const double root = std::sqrt(p_[c]);
        double* row = rows_.data() + n_rows_ * padded_;
        const size_t y = label(labels[c]);
        for (size_t e = 0; e < E_; ++e) row[e] = root * (x[c * E_ + e] - mean_[e]);
        for (size_t e = 0; e < E_; ++e) with_labels_[static_cast<size_t>(labels[c]) * E_ + e] += root * row[e];
        if (++n_rows_ == kRows) flush();
        hessian[y * D_ + y] += p_[c];
        for (size_t d = 0; d < width; ++d) hessian[y * D_ + label(labels[d])] -= p_[c] * p_[d];
    }

    void flush() {
        add_outer_products(squares_.data(), rows_.data(), n_rows_, padded_);
        n_rows_ = 0;
    }

    size_t E_, D_, padded_, n_rows_ = 0;
    std::vector<double> squares_, rows_, with_labels_, mean_, p_;
};

void check(const Table& table, const Features& features, const Candidates& candidates, In<double> prior,
           const std::optional<In<int32_t>>& left_out) {
    const auto& [offsets, ids] = features;
    const auto& [places, labels] = candidates;
    check_offsets(std::get<0>(table), std::get<1>(table).shape(0), "table offsets and labels disagree");
    check_offsets(offsets, ids.shape(0), "feature offsets and features disagree");
    check_offsets(places, labels.shape(0), "candidate offsets and labels disagree");
    const auto rows = static_cast<int64_t>(std::get<0>(table).shape(0)) - 1;
    if (offsets.shape(0) != places.shape(0) || std::get<1>(table).shape(0) != std::get<2>(table).shape(0))
        throw nb::value_error("features and candidates are of different tokens");
    if (left_out && left_out->shape(0) + 1 != offsets.shape(0)) throw nb::value_error("one label a token is left out");
    for (size_t i = 0; i < ids.shape(0); ++i)
        if (ids(i) < 0 || ids(i) >= rows) throw nb::value_error("feature id out of range");
    for (size_t i = 0; i < labels.shape(0); ++i)
        if (labels(i) < 0 || static_cast<size_t>(labels(i)) >= prior.shape(0)) throw nb::value_error("label id out of range");
}

}  // namespace

void bind_pooling(nb::module_& m) {
    m.def(
        "expert_evidence",
        [](Table table, Features features, In<int32_t> expert_of, size_t n_experts, Candidates candidates, In<double> prior,
           double k, std::optional<In<int32_t>> left_out) {
            check(table, features, candidates, prior, left_out);
            if (expert_of.shape(0) + 1 != std::get<0>(table).shape(0)) throw nb::value_error("one expert a feature is needed");
            const auto& [offsets, ids] = features;
            const auto& [places, labels] = candidates;
            std::vector<float> out(labels.shape(0) * n_experts, 0.0f);
            {
                nb::gil_scoped_release release;
                const Evidence evidence(table, prior, k);
                for (size_t t = 0; t + 1 < offsets.shape(0); ++t) {
                    const auto width = static_cast<size_t>(places(t + 1) - places(t));
                    float* block = out.data() + static_cast<size_t>(places(t)) * n_experts;
                    for (int64_t i = offsets(t); i < offsets(t + 1); ++i) {
                        const auto e = static_cast<size_t>(expert_of(ids(i)));
                        if (e >= n_experts) throw nb::value_error("expert out of range");
                        evidence.of(ids(i), left_out ? (*left_out)(t) : -1, labels.data() + places(t), width,
                                    [&](size_t j, float x) { block[j * n_experts + e] += x; });
                    }
                }
            }
            const size_t rows = labels.shape(0);
            return to_numpy(std::move(out), rows, n_experts);
        },
        nb::arg("table"), nb::arg("features"), nb::arg("expert_of"), nb::arg("n_experts"), nb::arg("candidates"),
        nb::arg("prior"), nb::arg("k"), nb::arg("left_out").none(),
        "Evidence of each expert for each candidate label: (candidates, experts).");
    m.def(
        "pooled_scores",
        [](Table table, Features features, In<float> feature_weight, Candidates candidates, In<double> prior, double k,
           std::optional<In<int32_t>> left_out, size_t threads) {
            check(table, features, candidates, prior, left_out);
            if (feature_weight.shape(0) + 1 != std::get<0>(table).shape(0)) throw nb::value_error("one weight a feature is needed");
            const auto& [offsets, ids] = features;
            const auto& [places, labels] = candidates;
            std::vector<float> out(labels.shape(0), 0.0f);
            {
                nb::gil_scoped_release release;
                const Evidence evidence(table, prior, k);
                const size_t n = offsets.shape(0) - 1, parts = useful_threads(threads, n);
                in_parallel(parts, [&](size_t part) {
                    for (size_t t = n * part / parts; t < n * (part + 1) / parts; ++t) {
                        const auto width = static_cast<size_t>(places(t + 1) - places(t));
                        float* block = out.data() + places(t);
                        if (t + 1 < n)
                            for (int64_t i = offsets(t + 1); i < offsets(t + 2); ++i) evidence.prefetch_row(ids(i));
                        for (int64_t i = offsets(t); i < offsets(t + 1); ++i) {
                            const float w = feature_weight(ids(i));
                            if (w != 0.0f)
                                evidence.of(ids(i), left_out ? (*left_out)(t) : -1, labels.data() + places(t), width,
                                            [&](size_t j, float x) { block[j] += w * x; });
                        }
                    }
                });
            }
            return to_numpy(std::move(out));
        },
        nb::arg("table"), nb::arg("features"), nb::arg("feature_weight"), nb::arg("candidates"), nb::arg("prior"),
        nb::arg("k"), nb::arg("left_out").none(), nb::arg("threads") = 1, "Weighted evidence for each candidate label of each token.");
    m.def(
        "conditional_logit",
        [](In2<float> x, Candidates candidates, In<int64_t> gold, In<double> theta, size_t n_labels) {
            const auto& [places, labels] = candidates;
            const size_t E = x.shape(1), D = E + n_labels, n = gold.shape(0);
            check_offsets(places, labels.shape(0), "candidate offsets and labels disagree");
            if (x.shape(0) != labels.shape(0) || places.shape(0) != n + 1 || theta.shape(0) != D)
                throw nb::value_error("evidence, candidates and weights disagree");
            for (size_t i = 0; i < labels.shape(0); ++i)
                if (labels(i) < 0 || static_cast<size_t>(labels(i)) >= n_labels) throw nb::value_error("label id out of range");
            for (size_t t = 0; t < n; ++t)
                if (gold(t) >= 0 && (gold(t) < places(t) || gold(t) >= places(t + 1)))
                    throw nb::value_error("a token's label is no candidate of its own");
            ConditionalLogit sums(E, n_labels);
            {
                nb::gil_scoped_release release;
                for (size_t t = 0; t < n; ++t) {
                    if (gold(t) < 0) continue;
                    const auto first = static_cast<size_t>(places(t)), width = static_cast<size_t>(places(t + 1)) - first;
                    sums.add(x.data() + first * E, labels.data() + first, width, static_cast<size_t>(gold(t)) - first, theta.data());
                }
                sums.finish();
            }
            return nb::make_tuple(sums.loss, to_numpy(std::move(sums.gradient)), to_numpy(std::move(sums.hessian), D, D));
        },
        nb::arg("x"), nb::arg("candidates"), nb::arg("gold"), nb::arg("theta"), nb::arg("n_labels"),
        "-sum log softmax(x w + b)(gold) over candidates, its gradient and Hessian in (w, b); tokens with gold -1 are skipped.");
    m.def(
        "pair_expectations",
        [](In<int64_t> sentences, Candidates candidates, In<float> posteriors, In2<double> scores) {
            const auto& [places, labels] = candidates;
            const size_t size = scores.shape(0);
            check_offsets(places, labels.shape(0), "candidate offsets and labels disagree");
            check_offsets(sentences, places.shape(0) - 1, "sentence offsets and candidates disagree");
            if (scores.shape(1) != size || size < 2 || labels.shape(0) != posteriors.shape(0))
                throw nb::value_error("candidates, posteriors and edge scores disagree");
            for (size_t i = 0; i < labels.shape(0); ++i)
                if (labels(i) < 0 || static_cast<size_t>(labels(i)) + 1 >= size) throw nb::value_error("label id out of range");
            std::vector<double> out(size * size, 0.0);
            {
                nb::gil_scoped_release release;
                std::vector<double> factor(size * size);
                for (size_t i = 0; i < factor.size(); ++i) factor[i] = std::exp(scores.data()[i]);
                const size_t K = size - 1;
                std::vector<double> joint;
                // The boundary is a position with the one label K.
                auto edge = [&](const int32_t* from, const float* p, size_t m, const int32_t* to, const float* q, size_t n) {
                    joint.resize(m * n);
                    double z = 0.0;
                    for (size_t a = 0; a < m; ++a)
                        for (size_t b = 0; b < n; ++b)
                            z += joint[a * n + b] = static_cast<double>(p[a]) * q[b] * factor[from[a] * size + to[b]];
                    if (z <= 0.0) return;
                    for (size_t a = 0; a < m; ++a)
                        for (size_t b = 0; b < n; ++b) out[from[a] * size + to[b]] += joint[a * n + b] / z;
                };
                const auto boundary = static_cast<int32_t>(K);
                const float one = 1.0f;
                for (size_t s = 0; s + 1 < sentences.shape(0); ++s) {
                    const int32_t* from = &boundary;
                    const float* p = &one;
                    size_t m = 1;
                    for (int64_t j = sentences(s); j < sentences(s + 1); ++j) {
                        const auto n = static_cast<size_t>(places(j + 1) - places(j));
                        edge(from, p, m, labels.data() + places(j), posteriors.data() + places(j), n);
                        from = labels.data() + places(j);
                        p = posteriors.data() + places(j);
                        m = n;
                    }
                    if (sentences(s + 1) > sentences(s)) edge(from, p, m, &boundary, &one, 1);
                }
            }
            return to_numpy(std::move(out), size, size);
        },
        nb::arg("sentences"), nb::arg("candidates"), nb::arg("posteriors"), nb::arg("scores"),
        "Expected label pairs where P(y, y') is proportional to P(y) P(y') exp(score): (K + 1, K + 1).");
}
