// See pairs.h.
#include "training/losses/pairs.h"

#include <algorithm>

#include "core/logarithms.h"
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
    check_candidates(data_.candidates, n_tokens_, data_.n_labels);
    if (data_.left.size() != own.size() || data_.right.size() != own.size() || data_.gold.size() != n_tokens_ ||
        (data_.weights && data_.weights->size() != n_tokens_))
        throw std::invalid_argument("candidates, scores and tokens disagree");
    for (size_t t = 0; t < n_tokens_; ++t)
        if (data_.gold[t] < 0 || data_.gold[t] >= starts[t + 1] - starts[t])
            throw std::invalid_argument("the label of a token is not among its candidates");
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
void Pairs::each_weight(const Edge& edge, const Work<W>& work, size_t part, size_t parts, Use use) const {
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

double Pairs::add_losses(double loss, std::span<const int64_t> items, const float* state, Batch& batch, Team& team) const {
    batch.items = items;
    if (batch.works.size() < items.size()) batch.works.resize(items.size());
    return add_in_order(loss, items.size(), batch.losses, team,
                        [&](size_t i, size_t) { return residual<2>(static_cast<size_t>(items[i]), state, batch.works[i]); });
}

template <typename Use>
void Pairs::each_step(Batch& batch, size_t part, size_t parts, Use use) const {
    for (size_t i = 0; i < batch.items.size(); ++i)
        each_weight(edges_[static_cast<size_t>(batch.items[i])], batch.works[i], part, parts,
                    [&](size_t at, size_t group, float r) { use(at, Share{group}, r); });
}

double Pairs::pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate, size_t batch,
                   size_t threads) const {
    return run_epoch(*this, state, order, L2Shares{decay}, AdaGrad{rate}, batch, threads);
}

EqualItems Pairs::equal_contexts() const {
    const auto& [starts, own] = data_.candidates;
    const auto key = [](uint64_t hash, const SparseFeatures& from, size_t t) {
        return combined(hash, row_of(from.features.offsets, from.features.ids, t));
    };
    const auto same_features = [&](const SparseFeatures& from, size_t a, size_t b) {
        return equal_rows(from.features.offsets, from.features.ids, a, b);
    };
    const EqualItems tokens = equal_items(
        n_tokens_,
        [&](size_t t) {
            const uint64_t hash = combined(0, row_of(starts, own, t));
            return node_ ? key(hash, *node_, t) : combined(hash, row_of(starts, data_.left, t));
        },
        [&](size_t a, size_t b) {
            return equal_rows(starts, own, a, b) && equal_rows(starts, data_.left, a, b) &&
                   equal_rows(starts, data_.right, a, b) && (!node_ || same_features(*node_, a, b));
        });
    const auto class_of = [&](int64_t token) { return token < 0 ? -1 : tokens.of[static_cast<size_t>(token)]; };
    const auto token = [](int64_t t) { return static_cast<size_t>(t); };
    return equal_items(
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
}

const MergedContexts& Pairs::merged() const {
    std::call_once(once_, [&] {
        merged_ = merge_contexts(
            equal_contexts(), [&](size_t e) { return width(edges_[e].left) * width(edges_[e].right); },
            [&](size_t e, auto add) { add(gold(edges_[e]), static_cast<double>(weight(edges_[e]))); });
    });
    return merged_;
}

double Pairs::add_context(double loss, size_t context, const double* weights, Context& work, double* gradient) const {
    const MergedContexts& all = merged_;
    const Edge& edge = edges_[all.contexts[context]];
    const size_t first = all.offsets[context], last = all.offsets[context + 1];
    scores<1>(edge, weights, work);
    for (size_t i = first; i < last; ++i) loss -= all.counts[i] * work.r[all.outcomes[i]];
    loss += all.totals[context] * softmax(work.r);
    for (double& value : work.r) value *= all.totals[context];
    for (size_t i = first; i < last; ++i) work.r[all.outcomes[i]] -= all.counts[i];
    each_weight(edge, work, 0, 1, [&](size_t at, size_t, double r) { gradient[at] += r; });
    return loss;
}
