// See pairs.h.
#include "training/pairs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/equal_items.h"
#include "core/logarithms.h"
#include "core/parallel.h"
#include "core/sum_in_parts.h"
#include "core/vectors.h"
#include "training/adagrad.h"

Pairs::Pairs(PairData data)
    : data_(std::move(data)),
      n_tokens_(static_cast<size_t>(data_.sentences.back())),
      pairs_(data_.n_labels),
      boundary_(static_cast<int32_t>(data_.n_labels)) {
    check();
    if (data_.nodes) node_ = std::make_unique<SparseFeatures>(*data_.nodes, std::nullopt, n_tokens_, data_.n_labels);
    if (data_.edges) edge_ = std::make_unique<SparseFeatures>(*data_.edges, std::nullopt, n_tokens_, pairs_.size());
    layout_ = {pairs_.size(), edge_ ? edge_->size() : 0, node_ ? 2 * node_->size() : 0, 0};
    const Array<int64_t>& sentences = data_.sentences;
    for (size_t s = 0; s + 1 < sentences.size(); ++s)
        for (int64_t t = sentences[s]; t <= sentences[s + 1] && sentences[s + 1] > sentences[s]; ++t)
            edges_.push_back({t == sentences[s] ? -1 : t - 1, t == sentences[s + 1] ? -1 : t});
}

void Pairs::check() const {
    const auto& [starts, own] = data_.candidates;
    check_offsets(data_.sentences, n_tokens_, "sentence offsets must start at 0 and never decrease");
    if (starts.size() != n_tokens_ + 1 || data_.left.size() != own.size() || data_.right.size() != own.size() ||
        data_.gold.size() != n_tokens_ || (data_.weights && data_.weights->size() != n_tokens_))
        throw std::invalid_argument("candidates, scores and tokens disagree");
    check_offsets(starts, own.size(), "candidates, scores and tokens disagree");
    for (size_t t = 0; t < n_tokens_; ++t)
        if (starts[t + 1] <= starts[t] || data_.gold[t] < 0 || data_.gold[t] >= starts[t + 1] - starts[t])
            throw std::invalid_argument("a token has no candidate labels, or its label is not among them");
    check_rising(starts, own, data_.n_labels, "candidate labels are out of range or out of order");
}

template <size_t Stride, typename W>
void Pairs::node_scores(int64_t token, const Array<float>& fixed, const W* weights, size_t base, std::vector<W>& out) const {
    const size_t m = width(token);
    out.assign(m, W(0));
    if (token < 0) return;
    for (size_t j = 0; j < m; ++j) out[j] = static_cast<W>(fixed[static_cast<size_t>(data_.candidates.offsets[token]) + j]);
    if (!node_) return;
    node_->each(token, [&](int32_t f, float) {
        node_->slots.each(f, labels(token), m,
                          [&](size_t j, int64_t s) { out[j] += weights[Stride * (base + static_cast<size_t>(s))]; });
    });
}

template <typename W>
void Pairs::list_pairs(const Edge& edge, Work<W>& work) const {
    work.pairs.resize(work.m * work.n);
    for (size_t k = 0; k < work.m; ++k)
        for (size_t l = 0; l < work.n; ++l)
            work.pairs[k * work.n + l] = static_cast<int32_t>(
                pairs_.at(static_cast<size_t>(labels(edge.left)[k]), static_cast<size_t>(labels(edge.right)[l])));
}

namespace {

// The softmax of scores, in place. Returns the logarithm of the sum of their exponentials.
template <typename W>
double softmax(std::vector<W>& r) {
    W top = r[0];
    for (const W value : r) top = std::max(top, value);
    double z = 0.0;
    for (W& value : r) value -= top;
    exponentiate(r.data(), r.size());
    for (const W value : r) z += value;
    for (W& value : r) value /= static_cast<W>(z);
    return static_cast<double>(top) + portable_log(z);
}

}  // namespace

template <size_t Stride, typename W>
void Pairs::scores(const Edge& edge, const W* weights, Work<W>& work) const {
    const size_t m = work.m = width(edge.left), n = work.n = width(edge.right);
    node_scores<Stride>(edge.left, data_.left, weights, layout_.node(0), work.a);
    node_scores<Stride>(edge.right, data_.right, weights, layout_.node(layout_.nodes / 2), work.b);
    work.r.resize(m * n);
    const int32_t* from = labels(edge.left);
    const int32_t* to = labels(edge.right);
    for (size_t k = 0; k < m; ++k)
        for (size_t l = 0; l < n; ++l)
            work.r[k * n + l] =
                work.a[k] + work.b[l] + weights[Stride * pairs_.at(static_cast<size_t>(from[k]), static_cast<size_t>(to[l]))];
    if (edge_ && edge.right >= 0) {
        list_pairs(edge, work);
        edge_->each(edge.right, [&](int32_t g, float) {
            edge_->slots.each(g, work.pairs.data(), m * n,
                              [&](size_t j, int64_t s) { work.r[j] += weights[Stride * layout_.edge(static_cast<size_t>(s))]; });
        });
    }
}

template <size_t Stride, typename W>
double Pairs::residual(size_t e, const W* weights, Work<W>& work) const {
    const Edge edge = edges_[e];
    scores<Stride>(edge, weights, work);
    const size_t right = gold(edge);
    const double gold_score = work.r[right];
    const double log_z = softmax(work.r);
    work.r[right] -= W(1);
    const auto weight = static_cast<W>(this->weight(edge));
    for (W& value : work.r) value *= weight;
    return weight * (log_z - gold_score);
}

template <typename W, typename Use>
void Pairs::each_weight(const Edge& edge, Work<W>& work, size_t part, size_t parts, Use use) const {
    const size_t m = work.m, n = work.n;
    const int32_t* from = labels(edge.left);
    const int32_t* to = labels(edge.right);
    for (size_t k = 0; k < m; ++k) {
        if (parts > 1 && static_cast<size_t>(from[k]) % parts != part) continue;
        for (size_t l = 0; l < n; ++l)
            use(pairs_.at(static_cast<size_t>(from[k]), static_cast<size_t>(to[l])), 0, work.r[k * n + l]);
    }
    if (edge_ && edge.right >= 0)
        edge_->each(edge.right, [&](int32_t g, float) {
            if (parts > 1 && static_cast<size_t>(g) % parts != part) return;
            edge_->slots.each(g, work.pairs.data(), m * n, [&](size_t j, int64_t s) {
                use(layout_.edge(static_cast<size_t>(s)), 1 + static_cast<size_t>(g), work.r[j]);
            });
        });
    if (!node_) return;
    std::vector<W> sums;
    auto side = [&](int64_t token, size_t width, size_t base, auto sum) {
        if (token < 0) return;
        sums.assign(width, W(0));
        for (size_t k = 0; k < m; ++k)
            for (size_t l = 0; l < n; ++l) sums[sum(k, l)] += work.r[k * n + l];
        node_->each(token, [&](int32_t f, float) {
            if (parts > 1 && static_cast<size_t>(f) % parts != part) return;
            node_->slots.each(f, labels(token), width, [&](size_t j, int64_t s) {
                use(base + static_cast<size_t>(s), 1 + edge_features() + static_cast<size_t>(f), sums[j]);
            });
        });
    };
    side(edge.left, m, layout_.node(0), [](size_t k, size_t) { return k; });
    side(edge.right, n, layout_.node(layout_.nodes / 2), [](size_t, size_t l) { return l; });
}

const Pairs::Contexts& Pairs::contexts() const {
    std::call_once(once_, [&] { contexts_ = merged(); });
    return contexts_;
}

Pairs::Contexts Pairs::merged() const {
    const auto& [starts, own] = data_.candidates;
    const auto key = [](uint64_t hash, const SparseFeatures& from, size_t t) {
        return combined(hash, row_of(from.features.offsets, from.features.ids, t));
    };
    const auto same = [](const auto& offsets, const auto& values, size_t a, size_t b) {
        return std::ranges::equal(row_of(offsets, values, a), row_of(offsets, values, b));
    };
    const auto same_features = [&](const SparseFeatures& from, size_t a, size_t b) {
        return same(from.features.offsets, from.features.ids, a, b);
    };
    const EqualItems tokens = equal_items(
        n_tokens_,
        [&](size_t t) {
            const uint64_t hash = combined(0, row_of(starts, own, t));
            return node_ ? key(hash, *node_, t) : combined(hash, row_of(starts, data_.left, t));
        },
        [&](size_t a, size_t b) {
            return same(starts, own, a, b) && same(starts, data_.left, a, b) && same(starts, data_.right, a, b) &&
                   (!node_ || same_features(*node_, a, b));
        });
    const auto class_of = [&](int64_t token) { return token < 0 ? -1 : tokens.of[static_cast<size_t>(token)]; };
    const auto token = [](int64_t t) { return static_cast<size_t>(t); };
    const EqualItems found = equal_items(
        edges_.size(),
        [&](size_t e) {
            const auto [left, right] = edges_[e];
            const uint64_t hash =
                combined(combined(0, static_cast<uint64_t>(class_of(left))), static_cast<uint64_t>(class_of(right)));
            return edge_ && right >= 0 ? key(hash, *edge_, token(right)) : hash;
        },
        [&](size_t a, size_t b) {
            const auto [left, right] = edges_[a];
            return class_of(left) == class_of(edges_[b].left) && class_of(right) == class_of(edges_[b].right) &&
                   (!edge_ || right < 0 || same_features(*edge_, token(right), token(edges_[b].right)));
        });
    // Edges by context, then by gold pair; those of equal keys stay in order.
    std::vector<size_t> order(edges_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return found.of[a] != found.of[b] ? found.of[a] < found.of[b] : gold(edges_[a]) < gold(edges_[b]);
    });
    Contexts merged;
    merged.offsets.push_back(0);
    for (size_t i = 0; i < order.size();) {
        const int64_t own_class = found.of[order[i]];
        const Edge edge = edges_[found.first[static_cast<size_t>(own_class)]];
        double total = 0.0;
        while (i < order.size() && found.of[order[i]] == own_class) {
            const size_t pair = gold(edges_[order[i]]);
            double count = 0.0;
            for (; i < order.size() && found.of[order[i]] == own_class && gold(edges_[order[i]]) == pair; ++i)
                count += static_cast<double>(weight(edges_[order[i]]));
            merged.gold.push_back(pair);
            merged.counts.push_back(count);
            total += count;
        }
        if (width(edge.left) * width(edge.right) == 1) {  // one possible pair: no loss and no gradient
            merged.gold.resize(merged.offsets.back());
            merged.counts.resize(merged.offsets.back());
            continue;
        }
        merged.edges.push_back(edge);
        merged.totals.push_back(total);
        merged.offsets.push_back(merged.gold.size());
    }
    return merged;
}

double Pairs::objective(const double* weights, double precision, double* gradient, size_t threads) const {
    const Contexts& all = contexts();
    const double loss = sum_in_parts(all.edges.size(), size(), threads, gradient, [&](size_t begin, size_t end, double* sums) {
        Work<double> work;
        double part = 0.0;
        for (size_t c = begin; c < end; ++c) {
            scores<1>(all.edges[c], weights, work);
            for (size_t i = all.offsets[c]; i < all.offsets[c + 1]; ++i) part -= all.counts[i] * work.r[all.gold[i]];
            part += all.totals[c] * softmax(work.r);
            for (double& value : work.r) value *= all.totals[c];
            for (size_t i = all.offsets[c]; i < all.offsets[c + 1]; ++i) work.r[all.gold[i]] -= all.counts[i];
            each_weight(all.edges[c], work, 0, 1, [&](size_t at, size_t, double r) { sums[at] += r; });
        }
        return part;
    });
    double norm = 0.0;
    for (size_t i = 0; i < size(); ++i) {
        norm += weights[i] * weights[i];
        gradient[i] += precision * weights[i];
    }
    return loss + 0.5 * precision * norm;
}

double Pairs::pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                   size_t threads) const {
    if (state.size() != 2 * size() || decay.size() != 1 + edge_features() + node_features() || batch < 1)
        throw std::invalid_argument("weights and slots disagree in number");
    for (size_t i = 0; i < order.size(); ++i)
        if (order[i] < 0 || static_cast<size_t>(order[i]) >= edges_.size()) throw std::invalid_argument("no such edge");
    float* w = state.data();
    std::vector<Work<float>> works(std::min(batch, order.size()));
    std::vector<double> losses(std::min(batch, order.size()));
    double loss = 0.0;
    Team team(useful_threads(threads, std::min(batch, order.size())));
    for (size_t start = 0; start < order.size(); start += batch) {
        const size_t count = std::min(batch, order.size() - start);
        team.run([&](size_t part, size_t parts) {
            for (size_t i = part; i < count; i += parts)
                losses[i] = residual<2>(static_cast<size_t>(order[start + i]), w, works[i]);
        });
        for (size_t i = 0; i < count; ++i) loss += losses[i];
        team.run([&](size_t part, size_t parts) {
            for (size_t i = 0; i < count; ++i)
                each_weight(edges_[static_cast<size_t>(order[start + i])], works[i], part, parts,
                            [&](size_t at, size_t shrink, float r) {
                                float* pair = w + 2 * at;
                                adagrad_step(pair, r + decay[shrink] * pair[0], rate);
                            });
        });
    }
    return loss;
}
