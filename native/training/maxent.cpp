// See maxent.h.
#include "training/maxent.h"

#include <algorithm>
#include <cmath>

#include "core/equal_items.h"
#include "core/logarithms.h"
#include "core/parallel.h"
#include "core/sum_in_parts.h"
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

Nodes::Nodes(NodeData data) : data_(std::move(data)), n_contexts_(data_.features.offsets.size() - 1) {
    check();
    slots_ = std::make_unique<Slots>(data_.slots.offsets.data(), data_.slots.ids.data(), data_.slots.rows(), data_.n_labels);
    for (size_t c = 0; c < n_contexts_; ++c) widest_ = std::max(widest_, width(c));
}

void Nodes::check() const {
    const auto& [offsets, labels] = data_.slots;
    check_offsets(offsets, labels.size(), "slot offsets and labels disagree");
    check_labels(labels, data_.n_labels);
    const auto& [places, ids] = data_.features;
    for (const int32_t f : ids)
        if (f < 0 || static_cast<size_t>(f) >= data_.slots.rows()) throw std::invalid_argument("feature id out of range");
    check_offsets(places, ids.size(), "feature offsets and ids disagree");
    if (data_.values && data_.values->size() != ids.size()) throw std::invalid_argument("feature offsets and ids disagree");
    const auto& [starts, own] = data_.candidates;
    check_offsets(starts, own.size(), "candidates disagree with the contexts");
    if (starts.size() != n_contexts_ + 1 || (data_.base && data_.base->size() != own.size()))
        throw std::invalid_argument("candidates disagree with the contexts");
    const auto& [firsts, positions, counts] = data_.counts;
    check_offsets(firsts, positions.size(), "counts disagree with the contexts");
    if (firsts.size() != n_contexts_ + 1 || positions.size() != counts.size())
        throw std::invalid_argument("counts disagree with the contexts");
    check_rising(starts, own, data_.n_labels, "candidate labels are out of range or out of order");
    for (size_t c = 0; c < n_contexts_; ++c) {
        const int64_t m = starts[c + 1] - starts[c];
        if (m < 1) throw std::invalid_argument("a context has no candidate labels");
        for (int64_t i = firsts[c]; i < firsts[c + 1]; ++i)
            if (positions[i] < 0 || positions[i] >= m) throw std::invalid_argument("a counted label is not a candidate");
    }
}

template <size_t Stride, typename Weight>
void Nodes::scores(size_t c, const Weight* weights, Weight* out) const {
    const size_t m = width(c);
    const int32_t* own = labels(c);
    for (size_t j = 0; j < m; ++j) out[j] = data_.base ? static_cast<Weight>((*data_.base)[first(c) + j]) : Weight(0);
    for (int64_t i = feature_begin(c); i < feature_end(c); ++i) {
        const Weight v = value(i);
        slots_->each(feature(i), own, m, [&](size_t j, int64_t s) { out[j] += v * weights[Stride * s]; });
    }
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

const Nodes::Merged& Nodes::merged() const {
    std::call_once(once_, [&] { merged_ = merge(); });
    return merged_;
}

Nodes::Merged Nodes::merge() const {
    const auto& [places, ids] = data_.features;
    const auto& [starts, own] = data_.candidates;
    const auto same = [](const auto& offsets, const auto& values, size_t a, size_t b) {
        return std::ranges::equal(row_of(offsets, values, a), row_of(offsets, values, b));
    };
    const EqualItems found = equal_items(
        n_contexts_,
        [&](size_t c) {
            const uint64_t hash = combined(combined(0, row_of(places, ids, c)), row_of(starts, own, c));
            return data_.base ? combined(hash, row_of(starts, *data_.base, c)) : hash;
        },
        [&](size_t a, size_t b) {
            return same(places, ids, a, b) && same(starts, own, a, b) && (!data_.base || same(starts, *data_.base, a, b)) &&
                   (!data_.values || same(places, *data_.values, a, b));
        });
    Merged all{{}, {0}, {}, {}};
    std::vector<size_t> firsts(found.first.size() + 1, 0), order(n_contexts_);  // contexts by class
    for (const int64_t k : found.of) ++firsts[static_cast<size_t>(k) + 1];
    for (size_t k = 0; k + 1 < firsts.size(); ++k) firsts[k + 1] += firsts[k];
    std::vector<size_t> next(firsts.begin(), firsts.end() - 1);
    for (size_t c = 0; c < n_contexts_; ++c) order[next[static_cast<size_t>(found.of[c])]++] = c;
    const auto& [counted, positions, counts] = data_.counts;
    std::vector<double> sums(widest_, 0.0);
    for (size_t k = 0; k < found.first.size(); ++k) {
        if (width(found.first[k]) == 1) continue;  // one possible label: no loss and no gradient
        for (size_t j = firsts[k]; j < firsts[k + 1]; ++j)
            for (int64_t i = counted[order[j]]; i < counted[order[j] + 1]; ++i)
                sums[positions[i]] += static_cast<double>(counts[i]);
        for (size_t y = 0; y < width(found.first[k]); ++y) {
            if (sums[y] == 0.0) continue;
            all.positions.push_back(static_cast<int32_t>(y));
            all.counts.push_back(sums[y]);
            sums[y] = 0.0;
        }
        all.contexts.push_back(found.first[k]);
        all.offsets.push_back(all.positions.size());
    }
    return all;
}

double Nodes::context_gradient(const Merged& all, size_t i, const double* weights, double* p, double* gradient) const {
    const size_t c = all.contexts[i], m = width(c);
    scores(c, weights, p);
    const double log_z = log_sum(p, m);
    double total = 0.0, loss = 0.0;
    for (size_t k = all.offsets[i]; k < all.offsets[i + 1]; ++k) {
        total += all.counts[k];
        loss += all.counts[k] * (log_z - p[all.positions[k]]);
    }
    for (size_t j = 0; j < m; ++j) p[j] = total * fast_exp(p[j] - log_z);
    for (size_t k = all.offsets[i]; k < all.offsets[i + 1]; ++k) p[all.positions[k]] -= all.counts[k];
    for (int64_t k = feature_begin(c); k < feature_end(c); ++k) {
        const double v = value(k);
        slots_->each(feature(k), labels(c), m, [&](size_t j, int64_t s) { gradient[s] += v * p[j]; });
    }
    return loss;
}

double Nodes::objective(const double* weights, double precision, double* gradient, size_t threads) const {
    const Merged& all = merged();
    const double loss = sum_in_parts(all.contexts.size(), size(), threads, gradient, [&](size_t begin, size_t end, double* sums) {
        std::vector<double> p(widest_);
        double part = 0.0;
        for (size_t i = begin; i < end; ++i) part += context_gradient(all, i, weights, p.data(), sums);
        return part;
    });
    double norm = 0.0;
    for (size_t s = 0; s < size(); ++s) {
        norm += weights[s] * weights[s];
        gradient[s] += precision * weights[s];
    }
    return loss + 0.5 * precision * norm;
}

double Nodes::pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                   size_t threads) const {
    if (state.size() != 2 * size() || decay.size() != slots_->n_features() || batch < 1)
        throw std::invalid_argument("weights and slots disagree in number");
    for (size_t i = 0; i < order.size(); ++i)
        if (order[i] < 0 || static_cast<size_t>(order[i]) >= n_contexts_) throw std::invalid_argument("no such context");
    const size_t n = order.size();
    float* w = state.data();
    std::vector<std::vector<float>> residuals(std::min(batch, n));
    std::vector<double> losses(std::min(batch, n));
    double loss = 0.0;
    Team team(useful_threads(threads, std::min(batch, n)));
    for (size_t start = 0; start < n; start += batch) {
        const size_t count = std::min(batch, n - start);
        team.run([&](size_t part, size_t parts) {
            // Contexts come in random order and their data is scattered, so prefetch it two steps ahead.
            for (size_t i = part; i < count; i += parts) {
                if (i + 2 * parts < count) prefetch_context(static_cast<size_t>(order[start + i + 2 * parts]));
                if (i + parts < count) prefetch_places(static_cast<size_t>(order[start + i + parts]));
                const auto c = static_cast<size_t>(order[start + i]);
                for (int64_t k = feature_begin(c); k < feature_end(c); ++k) slots_->prefetch_slots(feature(k), w, 2);
                losses[i] = residual(c, w, residuals[i]);
            }
        });
        for (size_t i = 0; i < count; ++i) loss += losses[i];
        // Each thread updates its own features in the order of the batch: results are bit-identical for any number of threads.
        team.run([&](size_t part, size_t parts) {
            for (size_t i = 0; i < count; ++i) {
                const auto c = static_cast<size_t>(order[start + i]);
                const float* r = residuals[i].data();
                const size_t m = width(c);
                if (all_negligible(r, m, kNegligible)) continue;
                for (int64_t k = feature_begin(c); k < feature_end(c); ++k) {
                    const int32_t f = feature(k);
                    if (parts > 1 && static_cast<size_t>(f) % parts != part) continue;
                    const float v = value(k), shrink = decay[f];
                    slots_->each(f, labels(c), m, [&](size_t j, int64_t s) {
                        float* at = w + 2 * s;
                        adagrad_step(at, v * r[j] + shrink * at[0], rate);
                    });
                }
            }
        });
    }
    return loss;
}

std::vector<float> Nodes::posteriors(const float* weights, bool logs, size_t threads) const {
    std::vector<float> out(data_.candidates.ids.size());
    const size_t parts = useful_threads(threads, n_contexts_);
    in_parallel(parts, [&](size_t part) {
        for (size_t c = n_contexts_ * part / parts; c < n_contexts_ * (part + 1) / parts; ++c) {
            float* p = out.data() + first(c);
            scores(c, weights, p);
            const float log_z = log_sum(p, width(c));
            for (size_t j = 0; j < width(c); ++j) p[j] = logs ? p[j] - log_z : fast_exp(p[j] - log_z);
        }
    });
    return out;
}
