// See chains.h.
#include "training/losses/chains.h"

#include "chain/lattice.h"
#include "training/adagrad.h"

namespace {

// In stochastic passes, the step size and the decay of a part's weight, relative to those of a label's weight. A label has
// several parts, and all of them take steps.
constexpr float kPartRate = 0.5f, kPartDecay = 4.0f;

}  // namespace

template <typename Real>
double Chains::sum_gradient(const Real* weights, double* gradient, Team& team) const {
    const size_t batch = triples_.empty() ? 4 * kLargeGroup : kLargeGroup;  // chains with triples are large
    Work<Real>& work = std::get<Work<Real>>(work_);
    std::vector<int64_t> order(n_sentences());
    for (size_t s = 0; s < order.size(); ++s) order[s] = static_cast<int64_t>(s);
    if constexpr (std::is_same_v<Real, float>) {
        if (dense()) {
            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
                return length(static_cast<size_t>(a)) > length(static_cast<size_t>(b));
            });
            work.pairs.set(weights, K_, 1);
            if (loss_ == Loss::piecewise)
                work.pairs.sum_exactly();
            else
                work.pairs.score_as_rounded();
            work.few_pairs = loss_ == Loss::likelihood && work.sparse_pairs.set(work.pairs, free_.data());
            std::call_once(streamed_, [&] { stream_ = streamed(order); });
            stream_->open(work.rows, weights + layout_.node(0), work.pairs.stride);
        }
    }
    double loss = 0.0;
    for (size_t start = 0; start < order.size(); start += batch) {
        work.first_group = start / kLargeGroup;
        loss += residuals_of<1>(std::span(order).subspan(start, std::min(batch, order.size() - start)), weights, work, team);
        team.run([&](size_t part, size_t parts) {
            const auto add = [&](size_t at, int32_t, Real r) { gradient[at] += static_cast<double>(r); };
            if (work.n_groups > 0)
                stream_gradient(work, gradient, part, parts);
            else
                each_node_weight(work, Real(0), part, parts, [&](size_t at, int32_t f, Real r, bool) { add(at, f, r); });
            each_edge_weight(work, Real(0), part, parts, add);
            const auto add_pair = [&](size_t at, Real r) { gradient[at] += static_cast<double>(r); };
            each_pair(work, part, parts, add_pair);
            each_triple(work, Real(0), part, parts, add_pair);
        });
    }
    return loss;
}

Objective Chains::objective(std::span<const double> given, double precision, size_t threads, bool exact) const {
    check_weights(*this, given);
    NewArray<double> sum(size());
    const double* weights = given.data();
    double* gradient = sum.values.get();
    const std::lock_guard<std::mutex> guard(evaluating_);
    std::fill(gradient, gradient + size(), 0.0);
    if (!exact) single_.assign(weights, weights + size());
    Team team(useful_threads(threads, n_sentences()));
    double loss = exact ? sum_gradient<double>(weights, gradient, team) : sum_gradient<float>(single_.data(), gradient, team);
    return {loss + L2{precision}.add(weights, gradient, size(), n_pairs(), free_.data()), std::move(sum)};
}

double Chains::add_losses(double loss, std::span<const int64_t> items, const float* state, Batch& batch, Team& team) const {
    if (all_labels()) batch.table.resize(n_pairs());
    return loss + residuals_of<2>(items, state, batch, team);
}

template <typename Use>
void Chains::each_step(Batch& batch, size_t part, size_t parts, Use use) const {
    const size_t nodes = 1 + edge_features(), triples = n_groups() - 1;
    each_node_weight(batch, kNearlyCertain, part, parts, [&](size_t at, int32_t f, float r, bool of_part) {
        const size_t group = nodes + static_cast<size_t>(f);
        use(at, of_part ? Share{group, kPartDecay, kPartRate} : Share{group}, r);
    });
    each_edge_weight(batch, kNegligiblePair, part, parts,
                     [&](size_t at, int32_t g, float r) { use(at, Share{1 + static_cast<size_t>(g)}, r); });
    each_triple(batch, kNegligible, part, parts, [&](size_t at, float r) { use(at, Share{triples}, r); });
    if (!all_labels()) {
        each_pair(batch, part, parts, [&](size_t at, float r) {
            if (free_[at]) use(at, Share{0, 0.0f}, r);
        });
        return;
    }
    // A step for each label pair, along its sum over the batch.
    std::vector<float>& table = batch.table;
    each_pair(batch, part, parts, [&](size_t at, float r) { table[at] += r; });
    const Share share{0, static_cast<float>(batch.sentences.size())};
    for (size_t y = part; y <= K_; y += parts)
        for (size_t at = pairs_.row(y); at < pairs_.row(y + 1); ++at) {
            if (free_[at] && table[at] != 0.0f) use(at, share, table[at]);
            table[at] = 0.0f;
        }
}

double Chains::pass(std::span<float> state, std::span<const int64_t> order, std::span<const float> decay, float rate,
                    size_t batch, size_t threads) const {
    return run_epoch(*this, state, order, L2Shares{decay}, AdaGrad{rate}, batch, threads);
}

template <typename Use>
void Chains::each_residual(Work<float>& work, Use use) const {
    const auto use_nonzero = [&](size_t at, float r) {
        if (r != 0.0f) use(at, r);
    };
    each_node_weight(work, 0.0f, 0, 1, [&](size_t at, int32_t, float r, bool) { use_nonzero(at, r); });
    each_edge_weight(work, 0.0f, 0, 1, [&](size_t at, int32_t, float r) { use_nonzero(at, r); });
    each_pair(work, 0, 1, [&](size_t at, float r) {
        if (free_[at]) use_nonzero(at, r);
    });
}

double Chains::descend(std::span<float> state, std::span<const int64_t> order, double shrink, double rate, double time) const {
    constexpr double kLeastFactor = 1e-3, kLeastScale = 1e-18;
    check_steps(*this, state, order, 1);
    if (!(shrink >= 0.0) || !(rate >= 0.0) || !(time >= 0.0) || edges_ || !triples_.empty())
        throw std::invalid_argument("no such steps of gradient descent");
    float* w = state.data();
    Work<float> work;
    Team alone(1);
    double loss = 0.0, scale = 1.0;  // all weights have been multiplied by `scale` so far: a weight when it is next needed
    const auto update = [&](size_t at) {
        w[2 * at] *= static_cast<float>(scale / static_cast<double>(w[2 * at + 1]));
        w[2 * at + 1] = static_cast<float>(scale);
    };
    const auto update_all = [&] {
        for (size_t at = 0; at < size(); ++at) update(at);
        for (size_t at = 0; at < size(); ++at) w[2 * at + 1] = 1.0f;
        scale = 1.0;
    };
    for (size_t at = 0; at < size(); ++at) w[2 * at + 1] = 1.0f;
    for (size_t i = 0; i < order.size(); ++i, time += 1.0) {
        const auto s = static_cast<size_t>(order[i]);
        const double eta = rate / (1.0 + shrink * rate * time);
        scale *= std::max(kLeastFactor, 1.0 - eta * shrink);
        for (size_t at = 0; at < n_pairs(); ++at) update(at);
        for (int64_t t = sentences_[s]; t < sentences_[s + 1]; ++t)
            nodes_->each(t, [&](int32_t f, float) {
                for (int64_t slot = nodes_->slots.begin(f); slot < nodes_->slots.end(f); ++slot)
                    update(layout_.node(static_cast<size_t>(slot)));
            });
        loss += residuals_of<2>(order.subspan(i, 1), w, work, alone);
        each_residual(work, [&](size_t at, float r) { w[2 * at] -= static_cast<float>(eta) * r; });
        if (scale < kLeastScale) update_all();
    }
    update_all();
    return loss;
}

template <typename Correct>
std::vector<float> Chains::correct_mistakes(std::span<float> state, std::span<const int64_t> order, double time, double step,
                                            Correct correct) const {
    check_steps(*this, state, order, 1);
    if (loss_ != Loss::perceptron) throw std::invalid_argument("steps for mistakes need the loss perceptron");
    Work<float> work;
    Team alone(1);
    std::vector<float> reported(order.size(), 0.0f);
    for (size_t i = 0; i < order.size(); ++i, time += step) {
        residuals_of<2>(order.subspan(i, 1), state.data(), work, alone);
        const Chain<float>& chain = work.chains[0];
        size_t missed = 0;
        for (size_t j = 0; j < chain.n; ++j) missed += chain.best[j] != chain.gold[j];
        if (missed > 0) reported[i] = static_cast<float>(correct(work, missed, static_cast<float>(time)));
    }
    return reported;
}

void Chains::step_along(Work<float>& work, std::span<float> state, float size, float t) const {
    if (size == 0.0f) return;
    each_residual(work, [&](size_t at, float r) {
        state[2 * at] -= size * r;
        state[2 * at + 1] -= t * size * r;
    });
}

void Chains::sum_residuals(Work<float>& work, std::vector<float>& sums, std::vector<std::pair<size_t, float>>& found) const {
    found.clear();
    each_residual(work, [&](size_t at, float r) {
        sums[at] += r;
        found.emplace_back(at, 0.0f);
    });
    for (auto& [at, sum] : found) std::swap(sum, sums[at]);
}

std::vector<float> Chains::perceptron(std::span<float> state, std::span<const int64_t> order, double time, double step) const {
    return correct_mistakes(state, order, time, step, [&](Work<float>& work, size_t missed, float t) {
        step_along(work, state, 1.0f, t);
        return static_cast<double>(missed);
    });
}

std::vector<float> Chains::passive_aggressive(std::span<float> state, std::span<const int64_t> order, double time, double step,
                                              const Aggressiveness& rule) const {
    if (rule.type < 0 || rule.type > 2 || !(rule.c > 0.0)) throw std::invalid_argument("no such passive-aggressive steps");
    std::vector<float> sums(size(), 0.0f);
    std::vector<std::pair<size_t, float>> found;
    return correct_mistakes(state, order, time, step, [&](Work<float>& work, size_t missed, float t) {
        sum_residuals(work, sums, found);
        double norm = 0.0;
        for (const auto& [at, r] : found) norm += static_cast<double>(r) * static_cast<double>(r);
        const double cost = rule.cost(work.losses[0], missed);
        // Without a norm there is nothing to change.
        if (norm > 0.0) step_along(work, state, static_cast<float>(rule.step(cost, norm)), t);
        return cost;
    });
}

std::vector<float> Chains::arow(std::span<float> state, std::span<const int64_t> order,
                                const AdaptiveRegularization& rule) const {
    if (!(rule.gamma > 0.0)) throw std::invalid_argument("no such steps of AROW");
    std::vector<float> sums(size(), 0.0f);
    std::vector<std::pair<size_t, float>> found;
    return correct_mistakes(state, order, 0.0, 0.0, [&](Work<float>& work, size_t missed, float) {
        sum_residuals(work, sums, found);
        double norm = rule.gamma;
        for (const auto& [at, r] : found)
            norm += static_cast<double>(state[2 * at + 1]) * static_cast<double>(r) * static_cast<double>(r);
        const double cost = work.losses[0] + static_cast<double>(missed), alpha = cost / norm;
        for (const auto& [at, r] : found) {
            const double residual = r, variance = state[2 * at + 1];
            state[2 * at] -= static_cast<float>(alpha * variance * residual);
            state[2 * at + 1] = static_cast<float>(1.0 / (1.0 / variance + residual * residual / rule.gamma));
        }
        return cost;
    });
}

std::vector<int32_t> Chains::best(std::span<const float> given, size_t threads) const {
    check_weights(*this, given);
    const float* weights = given.data();
    std::vector<int32_t> found(n_tokens_);
    Edges edges;
    edges.n_labels = static_cast<int32_t>(K_);
    edges.dense.assign(weights, weights + n_pairs());
    edges.local = loss_ == Loss::memm;
    edges.triples = triples_;
    edges.triple_scores.assign(weights + layout_.triple(0), weights + size());
    const size_t parts = useful_threads(threads, n_sentences());
    in_parallel(parts, [&](size_t part) {
        Viterbi viterbi;
        std::vector<int64_t> offsets;
        std::vector<int32_t> own;
        std::vector<float> scores;
        for (size_t s = n_sentences() * part / parts; s < n_sentences() * (part + 1) / parts; ++s) {
            const int64_t first = sentences_[s], last = sentences_[s + 1];
            offsets.assign(1, 0);
            own.clear();
            for (int64_t t = first; t < last; ++t) {
                own.insert(own.end(), labels(t), labels(t) + width(t));
                offsets.push_back(static_cast<int64_t>(own.size()));
            }
            scores.resize(own.size());
            for (int64_t t = first; t < last; ++t)
                node_scores<1>(t, weights, scores.data() + offsets[static_cast<size_t>(t - first)]);
            SentenceLattice lattice{offsets.data(), own.data(), scores.data(), static_cast<size_t>(last - first)};
            if (edges_) {
                lattice.extra = {edges_->features.offsets.data(), edges_->features.ids.data(), edges_->slot_arrays.offsets.data(),
                                 edges_->slot_arrays.ids.data(), weights + layout_.edge(0)};
                lattice.first = first;
            }
            viterbi.decode(lattice, edges, found.data() + first);
        }
    });
    return found;
}
