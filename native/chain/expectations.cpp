// See expectations.h.
#include "chain/expectations.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

#include "chain/shapes/best.h"
#include "chain/shapes/full_group.h"
#include "chain/shapes/log_space.h"
#include "core/parallel.h"

namespace {

constexpr size_t kGroup = 16;        // sentences that share edges are summed together
constexpr size_t kGroupsAtOnce = 8;  // whose sums of pairs are kept at the same time

}  // namespace

// The potentials of the edges of some sentences.
template <typename Sum>
struct ChainBlocks {
    std::vector<Sum> values;
    std::vector<size_t> which;
    std::vector<double> tops;

    // The edges of a sentence, or of all sentences.
    template <typename Real>
    void set(const ChainScores<Real>& scores, size_t s) {
        const size_t K = scores.n_labels(), stride = full_stride<Sum>(K), size = K * stride;
        const size_t n = scores.by == EdgesBy::position ? scores.length(s) : 1;
        values.resize(2 * n * size);
        tops.assign(n, 0.0);
        which.resize(n);
        for (size_t b = n == 1 ? 0 : 1; b < n; ++b) {  // the block of the first position is not used
            Sum* block = values.data() + 2 * b * size;
            tops[b] = set_potentials(scores.edges_to(s, b), K, stride, block, block + size);
            which[b] = b;
        }
    }
    double top(size_t j) const { return tops[tops.size() == 1 ? 0 : j]; }
    StepPotentials<Sum> potentials(size_t K) const {
        const size_t size = K * full_stride<Sum>(K);
        const size_t* own = which.size() == 1 ? nullptr : which.data();
        return {values.data(), values.data() + size, nullptr, nullptr, own, 2 * size};
    }
};

// What one thread needs to sum groups of sentences.
template <typename Real>
class ChainSumming {
   public:
    ChainSumming(const ChainScores<Real>& scores, const Array<Real>& weights, bool by_position, ChainSums<Real>& found)
        : scores_(scores), weights_(weights), found_(found), K_(scores.n_labels()), by_position_(by_position) {
        if (scores.by == EdgesBy::all) blocks_.set(scores, 0);
    }

    // Sums sentences, longest first. `pairs`, (K, K), takes the sums over edges, unless they are kept by position.
    void run(const size_t* members, size_t count, std::vector<double>& pairs) {
        pairs.assign(by_position_ ? 0 : K_ * K_, 0.0);
        if (scores_.by != EdgesBy::all) blocks_.set(scores_, members[0]);
        left_.clear();
        sum(group_, blocks_, members, count, pairs);
        left_.swap(again_);
        for (const size_t s : again_) {
            left_.assign(std::is_same_v<Real, double> ? 1 : 0, s);
            if constexpr (std::is_same_v<Real, float>) {  // float64 has a larger range
                exact_blocks_.set(scores_, s);
                sum(exact_, exact_blocks_, &s, 1, pairs);
            }
            if (!left_.empty()) found_.log_z[s] = log_expectations(Positions{*this, s, pairs}, logs_);
        }
    }

   private:
    double weight(size_t s) const { return weights_.size() == 0 ? 1.0 : static_cast<double>(weights_[s]); }
    Real* nodes(size_t s, size_t j) { return found_.nodes.data() + (static_cast<size_t>(scores_.offsets[s]) + j) * K_; }
    Real* edges(size_t s, size_t j) { return found_.edges.data() + (static_cast<size_t>(scores_.offsets[s]) + j) * K_ * K_; }

    // Sentences that are out of range are appended to left_.
    template <typename Sum>
    void sum(FullGroup<Sum>& group, const ChainBlocks<Sum>& blocks, const size_t* members, size_t count,
             std::vector<double>& pairs) {
        lengths_.clear();
        for (size_t i = 0; i < count; ++i) lengths_.push_back(scores_.length(members[i]));
        group.lay_out(lengths_, K_);
        for (size_t i = 0; i < count; ++i) {
            const Real* from = scores_.nodes.row(static_cast<size_t>(scores_.offsets[members[i]]));
            for (size_t j = 0; j < lengths_[i]; ++j, from += K_) std::copy(from, from + K_, group.row(i, j));
        }
        const StepPotentials<Sum> potentials = blocks.potentials(K_);
        group.potentials();
        group.forward(potentials);
        group.backward(potentials);
        for (size_t i = 0; i < count; ++i)
            if (group.bad(i))
                left_.push_back(members[i]);
            else
                take(group, blocks, potentials, members[i], i);
        if (by_position_) return;
        const size_t stride = group.stride();
        const Sum* sums = group.sum_pairs();
        for (size_t k = 0; k < K_; ++k)
            for (size_t l = 0; l < K_; ++l)
                pairs[k * K_ + l] += static_cast<double>(potentials.forward[k * stride + l] * sums[k * stride + l]);
    }

    // The results of sentence i of a group.
    template <typename Sum>
    void take(FullGroup<Sum>& group, const ChainBlocks<Sum>& blocks, const StepPotentials<Sum>& potentials, size_t s, size_t i) {
        const size_t n = lengths_[i], stride = group.stride();
        found_.log_z[s] = group.log_z(i);
        for (size_t j = 1; j < n; ++j) found_.log_z[s] += blocks.top(j);
        if (weight(s) != 1.0) {
            scale_row(group.row(i, 0), static_cast<Sum>(weight(s)), n * stride);
            scale_row(group.after(i, 0), static_cast<Sum>(weight(s)), n * stride);
        }
        for (size_t j = 0; j < n; ++j) std::transform(group.row(i, j), group.row(i, j) + K_, nodes(s, j), to_real<Sum>);
        for (size_t j = 1; j < n && by_position_; ++j)
            for (size_t k = 0; k < K_; ++k) {
                const Sum before = group.alpha(i, j - 1)[k], *row = potentials.to(j) + k * stride, *after = group.after(i, j);
                Real* to = edges(s, j) + k * K_;
                for (size_t l = 0; l < K_; ++l) to[l] = to_real(before * row[l] * after[l]);
            }
    }

    // One sentence for log_expectations().
    struct Positions {
        ChainSumming& own;
        size_t s;
        std::vector<double>& pairs;

        size_t size() const { return own.scores_.length(s); }
        size_t groups(size_t) const { return 1; }
        size_t width(size_t) const { return own.K_; }
        const Real* nodes(size_t j) const { return own.scores_.nodes.row(static_cast<size_t>(own.scores_.offsets[s]) + j); }
        const Real* edges(size_t j) const { return j == 0 ? nullptr : own.scores_.edges_to(s, j); }
        void use_edges(size_t j, size_t k, const double* p) const {
            for (size_t l = 0; l < own.K_ && j > 0; ++l)
                if (own.by_position_)
                    own.edges(s, j)[k * own.K_ + l] = to_real(own.weight(s) * p[l]);
                else
                    pairs[k * own.K_ + l] += own.weight(s) * p[l];
        }
        void use_nodes(size_t j, const double* p) const {
            for (size_t l = 0; l < own.K_; ++l) own.nodes(s, j)[l] = to_real(own.weight(s) * p[l]);
        }
    };

    template <typename Sum>
    static Real to_real(Sum p) {
        return static_cast<Real>(p);
    }

    const ChainScores<Real>& scores_;
    const Array<Real>& weights_;
    ChainSums<Real>& found_;
    const size_t K_;
    const bool by_position_;
    std::vector<size_t> lengths_, left_, again_;
    FullGroup<Real> group_;
    ChainBlocks<Real> blocks_;
    FullGroup<double> exact_;
    ChainBlocks<double> exact_blocks_;
    LogSums logs_;
};

template <typename Real>
void ChainScores<Real>::check() const {
    const size_t K = n_labels(), blocks = by == EdgesBy::all ? 1 : by == EdgesBy::sentence ? n_sentences() : nodes.rows();
    check_offsets(offsets, nodes.rows(), "offsets and nodes disagree");
    if (K == 0 || edges.size() != blocks * K * K) throw std::invalid_argument("edges, nodes and sentences disagree");
    const auto finite = [](const Real* first, const Real* last) {
        bool all = true;
        for (; first != last; ++first) all &= *first < std::numeric_limits<Real>::infinity();
        return all;
    };
    if (!finite(nodes.row(0), nodes.row(0) + nodes.rows() * K)) throw std::invalid_argument("a node score is NaN or infinity");
    if (!finite(edges.begin(), edges.end())) throw std::invalid_argument("an edge score is NaN or infinity");
}

template <typename Real>
ChainSums<Real> chain_expectations(const ChainScores<Real>& scores, const std::optional<Array<Real>>& given, bool by_position,
                                   size_t threads) {
    scores.check();
    require(!given || given->size() == scores.n_sentences(), "weights and sentences disagree");
    const Array<Real> weights = given.value_or(Array<Real>());
    const size_t K = scores.n_labels(), S = scores.n_sentences();
    by_position = by_position || scores.by == EdgesBy::position;
    ChainSums<Real> found;
    found.log_z.assign(S, 0.0);
    found.nodes.assign(scores.nodes.rows() * K, Real(0));
    found.edges.assign(by_position ? scores.nodes.rows() * K * K : scores.edges.size(), Real(0));
    std::vector<size_t> order;
    for (size_t s = 0; s < S; ++s)
        if (scores.length(s) > 0) order.push_back(s);
    const size_t together = scores.by == EdgesBy::all ? kGroup : 1;
    if (together > 1)
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores.length(a) > scores.length(b); });
    const size_t n_groups = (order.size() + together - 1) / together;
    Team team(useful_threads(threads, n_groups));
    std::vector<std::unique_ptr<ChainSumming<Real>>> work(useful_threads(threads, n_groups));
    std::vector<std::vector<double>> pairs(kGroupsAtOnce);
    std::vector<double> all(!by_position && together > 1 ? K * K : 0);
    for (size_t start = 0; start < n_groups; start += kGroupsAtOnce) {
        const size_t stop = std::min(n_groups, start + kGroupsAtOnce);
        team.run([&](size_t part, size_t parts) {
            if (!work[part]) work[part] = std::make_unique<ChainSumming<Real>>(scores, weights, by_position, found);
            for (size_t g = start + part; g < stop; g += parts)
                work[part]->run(order.data() + g * together, std::min(together, order.size() - g * together), pairs[g - start]);
        });
        for (size_t g = start; g < stop && !by_position; ++g)
            for (size_t i = 0; i < K * K; ++i)
                if (together > 1)
                    all[i] += pairs[g - start][i];
                else
                    found.edges[order[g] * K * K + i] = static_cast<Real>(pairs[g - start][i]);
    }
    std::transform(all.begin(), all.end(), found.edges.begin(), [](double sum) { return static_cast<Real>(sum); });
    return found;
}

template <typename Real>
BestLabels best_labels(const ChainScores<Real>& scores, size_t threads) {
    scores.check();
    const size_t K = scores.n_labels(), S = scores.n_sentences();
    BestLabels found{std::vector<int32_t>(scores.nodes.rows()), std::vector<double>(S)};
    const size_t parts = useful_threads(threads, S);
    in_parallel(parts, [&](size_t part) {
        std::vector<Real> alpha, next;
        std::vector<int32_t> back;
        for (size_t s = S * part / parts; s < S * (part + 1) / parts; ++s) {
            const size_t n = scores.length(s);
            if (n == 0) continue;
            const auto first = static_cast<size_t>(scores.offsets[s]);
            alpha.assign(scores.nodes.row(first), scores.nodes.row(first) + K);
            next.resize(K);
            back.resize(n * K);
            for (size_t j = 1; j < n; ++j) {
                best_step(alpha.data(), K, scores.edges_to(s, j), K, 1, scores.nodes.row(first + j), K, next.data(),
                          back.data() + j * K);
                alpha.swap(next);
                if (j % kLevelledEvery == 0) found.scores[s] += level(alpha);
            }
            const auto top = std::max_element(alpha.begin(), alpha.end());
            found.scores[s] += static_cast<double>(*top);
            auto y = static_cast<int32_t>(top - alpha.begin());
            for (size_t j = n; j-- > 0; y = back[j * K + static_cast<size_t>(y)]) found.labels[first + j] = y;
        }
    });
    return found;
}

template struct ChainScores<float>;
template struct ChainScores<double>;
template ChainSums<float> chain_expectations(const ChainScores<float>&, const std::optional<Array<float>>&, bool, size_t);
template ChainSums<double> chain_expectations(const ChainScores<double>&, const std::optional<Array<double>>&, bool, size_t);
template BestLabels best_labels(const ChainScores<float>&, size_t);
template BestLabels best_labels(const ChainScores<double>&, size_t);
