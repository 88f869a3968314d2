// See nodes.h.
#include "training/losses/nodes.h"

#include <algorithm>

#include "core/logarithms.h"
#include "core/vectors.h"
#include "training/adagrad.h"

namespace {

template <typename Weight>
Weight log_sum(const Weight* s, size_t n) {
    Weight top = s[0], sum = 0;
    for (size_t j = 1; j < n; ++j) top = std::max(top, s[j]);
    for (size_t j = 0; j < n; ++j) sum += fast_exp(s[j] - top);
    return top + static_cast<Weight>(portable_log(static_cast<double>(sum)));
}

}  // namespace

Nodes::Nodes(NodeData data)
    : data_(std::move(data)),
      n_contexts_(data_.features.offsets.size() - 1),
      features_({data_.slots, data_.features}, data_.values, n_contexts_, data_.n_labels) {
    check();
}

void Nodes::check() const {
    check_candidates(data_.candidates, n_contexts_, data_.n_labels);
    if (data_.base && data_.base->size() != data_.candidates.ids.size())
        throw std::invalid_argument("candidates disagree with the contexts");
    const auto& [firsts, positions, counts] = data_.counts;
    check_offsets(firsts, positions.size(), "counts disagree with the contexts");
    if (firsts.size() != n_contexts_ + 1 || positions.size() != counts.size())
        throw std::invalid_argument("counts disagree with the contexts");
    for (size_t c = 0; c < n_contexts_; ++c)
        for (const int32_t position : row_of(firsts, positions, c))
            if (position < 0 || static_cast<size_t>(position) >= width(c))
                throw std::invalid_argument("a counted label is not a candidate");
}

void Nodes::prefetch_context(int64_t c) const {
    const int32_t* ids = features_.features.ids.data() + features_.begin(c);
    prefetch(ids);
    prefetch(ids + 16);
    prefetch(labels(static_cast<size_t>(c)));
    if (data_.base) prefetch(data_.base->data() + first(static_cast<size_t>(c)));
}

template <size_t Stride, typename Weight>
void Nodes::scores(size_t c, const Weight* weights, Weight* out) const {
    const size_t m = width(c);
    const int32_t* own = labels(c);
    for (size_t j = 0; j < m; ++j) out[j] = data_.base ? static_cast<Weight>((*data_.base)[first(c) + j]) : Weight(0);
    features_.each(static_cast<int64_t>(c), [&](int32_t f, float value) {
        const Weight v = value;
        features_.slots.each(f, own, m, [&](size_t j, int64_t s) { out[j] += v * weights[Stride * static_cast<size_t>(s)]; });
    });
}

double Nodes::residual(size_t c, const float* state, std::vector<float>& r) const {
    const size_t m = width(c);
    r.resize(m);
    scores<2>(c, state, r.data());
    const float log_z = log_sum(r.data(), m);
    const auto& [places, positions, counts] = data_.counts;
    float total = 0.0f;
    double loss = 0.0;
    for (int64_t i = places[c]; i < places[c + 1]; ++i) {
        total += counts[i];
        loss += static_cast<double>(counts[i]) * (log_z - r[positions[i]]);
    }
    for (size_t j = 0; j < m; ++j) r[j] = total * fast_exp(r[j] - log_z);
    for (int64_t i = places[c]; i < places[c + 1]; ++i) r[positions[i]] -= counts[i];
    return loss;
}

double Nodes::add_losses(double loss, std::span<const int64_t> items, const float* state, Batch& batch, Team& team) const {
    batch.items = items;
    if (batch.residuals.size() < items.size()) batch.residuals.resize(items.size());
    return add_in_order(loss, items.size(), batch.losses, team, [&](size_t i, size_t ahead) {
        // Contexts come in random order and their data is scattered, so prefetch it two steps ahead.
        if (i + 2 * ahead < items.size()) prefetch_context(items[i + 2 * ahead]);
        if (i + ahead < items.size()) features_.prefetch_places(items[i + ahead]);
        features_.prefetch_slots(items[i], state, 2);
        return residual(static_cast<size_t>(items[i]), state, batch.residuals[i]);
    });
}

template <typename Use>
void Nodes::each_step(const Batch& batch, size_t part, size_t parts, Use use) const {
    for (size_t i = 0; i < batch.items.size(); ++i) {
        const int64_t c = batch.items[i];
        const float* r = batch.residuals[i].data();
        const size_t m = width(static_cast<size_t>(c));
        if (all_negligible(r, m, kNegligible)) continue;
        features_.each(c, [&](int32_t f, float v) {
            if (parts > 1 && static_cast<size_t>(f) % parts != part) return;
            const Share share{static_cast<size_t>(f)};
            features_.slots.each(f, labels(static_cast<size_t>(c)), m,
                                 [&](size_t j, int64_t s) { use(static_cast<size_t>(s), share, v * r[j]); });
        });
    }
}

double Nodes::pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                   size_t threads) const {
    return run_epoch(*this, state, order, L2Shares{decay}, AdaGrad{rate}, batch, threads);
}

const MergedContexts& Nodes::merged() const {
    std::call_once(once_, [&] {
        const auto& [places, ids] = data_.features;
        const auto& [starts, own] = data_.candidates;
        const EqualItems classes = equal_items(
            n_contexts_,
            [&](size_t c) {
                const uint64_t hash = combined(combined(0, row_of(places, ids, c)), row_of(starts, own, c));
                return data_.base ? combined(hash, row_of(starts, *data_.base, c)) : hash;
            },
            [&](size_t a, size_t b) {
                return equal_rows(places, ids, a, b) && equal_rows(starts, own, a, b) &&
                       (!data_.base || equal_rows(starts, *data_.base, a, b)) &&
                       (!data_.values || equal_rows(places, *data_.values, a, b));
            });
        const auto& [counted, positions, counts] = data_.counts;
        merged_ = merge_contexts(
            classes, [&](size_t c) { return width(c); },
            [&](size_t c, auto add) {
                for (int64_t i = counted[c]; i < counted[c + 1]; ++i)
                    add(static_cast<size_t>(positions[i]), static_cast<double>(counts[i]));
            });
    });
    return merged_;
}

double Nodes::add_context(double loss, size_t context, const double* weights, Context& p, double* gradient) const {
    const MergedContexts& all = merged_;
    const size_t c = all.contexts[context], m = width(c), first = all.offsets[context], last = all.offsets[context + 1];
    p.resize(m);
    scores(c, weights, p.data());
    const double log_z = log_sum(p.data(), m);
    double own = 0.0;
    for (size_t k = first; k < last; ++k) own += all.counts[k] * (log_z - p[all.outcomes[k]]);
    for (size_t j = 0; j < m; ++j) p[j] = all.totals[context] * fast_exp(p[j] - log_z);
    for (size_t k = first; k < last; ++k) p[all.outcomes[k]] -= all.counts[k];
    features_.each(static_cast<int64_t>(c), [&](int32_t f, float value) {
        const double v = value;
        features_.slots.each(f, labels(c), m, [&](size_t j, int64_t s) { gradient[s] += v * p[j]; });
    });
    return loss + own;
}

std::vector<float> Nodes::posteriors(std::span<const float> weights, bool logs, size_t threads) const {
    check_weights(*this, weights);
    std::vector<float> out(data_.candidates.ids.size());
    const size_t parts = useful_threads(threads, n_contexts_);
    in_parallel(parts, [&](size_t part) {
        for (size_t c = n_contexts_ * part / parts; c < n_contexts_ * (part + 1) / parts; ++c) {
            float* p = out.data() + first(c);
            scores(c, weights.data(), p);
            const float log_z = log_sum(p, width(c));
            for (size_t j = 0; j < width(c); ++j) p[j] = logs ? p[j] - log_z : fast_exp(p[j] - log_z);
        }
    });
    return out;
}
