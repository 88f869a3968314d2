// Maximum entropy models of label pairs: P(y, y' | x) by softmax over the candidate pairs of an edge.
//
//     s(y, y') = a_i(y) + b_i+1(y') + A f_i(y) + B f_i+1(y') + T(y, y') + sum over edge features g of i + 1 of U(g, y, y')
//     L = sum over edges of weight [s(gold) - log sum over y, y' of exp s] - sum of squares / (2 sigma^2)
//
// With a = b = 0 this is the paper's pair model, trained without regard to the nodes. With a and b the logarithms of node
// probabilities, and without A and B, it is the pair model given the nodes. Sentences begin and end with a boundary
// symbol (label K), so that a sentence of n tokens has n + 1 edges. Weights are laid out as T, U, A, B.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <memory>
#include <optional>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/parallel.h"
#include "features/sparse_features.h"

namespace {

class Pairs {
   public:
    Pairs(size_t n_labels, In<int64_t> sentences, Csr candidates, In<float> left, In<float> right, In<int32_t> gold,
          std::optional<std::tuple<Csr, Csr>> node_slots, std::optional<std::tuple<Csr, Csr>> edge_slots,
          std::optional<In<float>> weights)
        : K_(n_labels), sentences_(sentences), candidates_(candidates), left_(left), right_(right), gold_(gold), weights_(weights) {
        n_tokens_ = static_cast<size_t>(sentences(sentences.shape(0) - 1));
        check_lattice();
        if (node_slots) node_ = make(*node_slots, n_labels);
        if (edge_slots) edge_ = make(*edge_slots, (n_labels + 1) * (n_labels + 1));
        for (size_t s = 0; s + 1 < sentences.shape(0); ++s)
            for (int64_t t = sentences(s); t <= sentences(s + 1) && sentences(s + 1) > sentences(s); ++t)
                edges_.push_back({t == sentences(s) ? -1 : t - 1, t == sentences(s + 1) ? -1 : t});
    }

    size_t pair_count() const { return (K_ + 1) * (K_ + 1); }
    size_t edge_size() const { return edge_ ? static_cast<size_t>(edge_->slots.size()) : 0; }
    size_t node_size() const { return node_ ? static_cast<size_t>(node_->slots.size()) : 0; }
    size_t size() const { return pair_count() + edge_size() + 2 * node_size(); }
    size_t n_edges() const { return edges_.size(); }

    double objective(const double* weights, double precision, double* gradient) const {
        std::fill(gradient, gradient + size(), 0.0);
        double loss = 0.0, norm = 0.0;
        Work<double> work;
        for (size_t e = 0; e < edges_.size(); ++e) {
            loss += residual<1>(e, weights, work);
            each_weight(e, work, 0, 1, [&](size_t at, size_t, double r) { gradient[at] += r; });
        }
        for (size_t i = 0; i < size(); ++i) {
            norm += weights[i] * weights[i];
            gradient[i] += precision * weights[i];
        }
        return loss + 0.5 * precision * norm;
    }

    // AdaGrad over edges in the given order, as in maxent.cpp; decay holds the prior's share of each weight's visit for
    // T, then for each edge feature, then for each node feature.
    double pass(InOut<float> state, In<int64_t> order, In<float> decay, float rate, size_t batch, size_t threads) const {
        if (state.shape(0) != 2 * size() || decay.shape(0) != 1 + edge_features() + node_features() || batch < 1)
            throw nb::value_error("weights and slots disagree");
        for (size_t i = 0; i < order.shape(0); ++i)
            if (order(i) < 0 || static_cast<size_t>(order(i)) >= edges_.size()) throw nb::value_error("no such edge");
        nb::gil_scoped_release release;
        float* w = state.data();
        std::vector<Work<float>> works(std::min(batch, order.shape(0)));
        std::vector<double> losses(std::min(batch, order.shape(0)));
        double loss = 0.0;
        Team team(useful_threads(threads, std::min(batch, order.shape(0))));
        for (size_t start = 0; start < order.shape(0); start += batch) {
            const size_t count = std::min(batch, order.shape(0) - start);
            team.run([&](size_t part, size_t parts) {
                for (size_t i = part; i < count; i += parts)
                    losses[i] = residual<2>(static_cast<size_t>(order(start + i)), w, works[i]);
            });
            for (size_t i = 0; i < count; ++i) loss += losses[i];
            team.run([&](size_t part, size_t parts) {
                for (size_t i = 0; i < count; ++i)
                    each_weight(static_cast<size_t>(order(start + i)), works[i], part, parts, [&](size_t at, size_t shrink, float r) {
                        float* pair = w + 2 * at;
                        const float g = r + decay(shrink) * pair[0];
                        pair[1] += g * g;
                        pair[0] -= rate * g / std::sqrt(pair[1]);
                    });
            });
        }
        return loss;
    }

   private:
    struct Edge {
        int64_t left, right;  // tokens, -1 the boundary
    };
    template <typename W>
    struct Work {
        std::vector<W> a, b, r;      // node scores, then residuals; r is (m, n)
        std::vector<int32_t> pairs;  // candidate pairs as labels y * (K + 1) + y', rising
        size_t m = 0, n = 0;
    };

    std::unique_ptr<SparseFeatures> make(const std::tuple<Csr, Csr>& arrays, size_t n_labels) const {
        return std::make_unique<SparseFeatures>(std::get<0>(arrays), std::get<1>(arrays), std::nullopt, n_tokens_, n_labels);
    }

    size_t edge_features() const { return edge_ ? edge_->slots.n_features() : 0; }
    size_t node_features() const { return node_ ? node_->slots.n_features() : 0; }
    size_t width(int64_t token) const {
        return token < 0 ? 1 : static_cast<size_t>(std::get<0>(candidates_)(token + 1) - std::get<0>(candidates_)(token));
    }
    const int32_t* labels(int64_t token) const {
        return token < 0 ? &boundary_ : std::get<1>(candidates_).data() + std::get<0>(candidates_)(token);
    }
    int32_t gold(int64_t token) const { return token < 0 ? 0 : gold_(token); }

    // Scores, softmax and residuals P - observed of an edge; returns its loss. Weights stand `Stride` apart.
    template <size_t Stride, typename W>
    double residual(size_t e, const W* weights, Work<W>& work) const {
        const Edge edge = edges_[e];
        const size_t m = work.m = width(edge.left), n = work.n = width(edge.right), size = K_ + 1;
        node_scores<Stride>(edge.left, left_, weights, pair_count() + edge_size(), work.a);
        node_scores<Stride>(edge.right, right_, weights, pair_count() + edge_size() + node_size(), work.b);
        work.r.resize(m * n);
        const int32_t* from = labels(edge.left);
        const int32_t* to = labels(edge.right);
        for (size_t k = 0; k < m; ++k)
            for (size_t l = 0; l < n; ++l)
                work.r[k * n + l] = work.a[k] + work.b[l] + weights[Stride * (static_cast<size_t>(from[k]) * size + static_cast<size_t>(to[l]))];
        if (edge_ && edge.right >= 0) {
            list_pairs(edge, work);
            edge_->each(edge.right, [&](int32_t g, float) {
                edge_->slots.each(g, work.pairs.data(), m * n, [&](size_t j, int64_t s) {
                    work.r[j] += weights[Stride * (pair_count() + static_cast<size_t>(s))];
                });
            });
        }
        const W weight = weights_ ? (*weights_)(static_cast<size_t>(edge.right >= 0 ? edge.right : edge.left)) : W(1);
        const size_t right = static_cast<size_t>(gold(edge.left)) * n + static_cast<size_t>(gold(edge.right));
        W top = work.r[0];
        for (const W value : work.r) top = std::max(top, value);
        double z = 0.0;
        const double gold_score = work.r[right];
        for (W& value : work.r) z += value = std::exp(value - top);
        for (W& value : work.r) value /= static_cast<W>(z);
        work.r[right] -= W(1);
        for (W& value : work.r) value *= weight;
        return weight * (static_cast<double>(top) + std::log(z) - gold_score);
    }

    template <size_t Stride, typename W>
    void node_scores(int64_t token, const In<float>& fixed, const W* weights, size_t base, std::vector<W>& out) const {
        const size_t m = width(token);
        out.assign(m, W(0));
        if (token < 0) return;
        for (size_t j = 0; j < m; ++j) out[j] = static_cast<W>(fixed(static_cast<size_t>(std::get<0>(candidates_)(token)) + j));
        if (!node_) return;
        node_->each(token, [&](int32_t f, float) {
            node_->slots.each(f, labels(token), m, [&](size_t j, int64_t s) { out[j] += weights[Stride * (base + static_cast<size_t>(s))]; });
        });
    }

    template <typename W>
    void list_pairs(const Edge& edge, Work<W>& work) const {
        work.pairs.resize(work.m * work.n);
        for (size_t k = 0; k < work.m; ++k)
            for (size_t l = 0; l < work.n; ++l)
                work.pairs[k * work.n + l] = labels(edge.left)[k] * static_cast<int32_t>(K_ + 1) + labels(edge.right)[l];
    }

    // Calls use(weight, index of its decay, gradient) for each weight of an edge that belongs to this part.
    template <typename W, typename Use>
    void each_weight(size_t e, Work<W>& work, size_t part, size_t parts, Use use) const {
        const Edge edge = edges_[e];
        const size_t m = work.m, n = work.n, size = K_ + 1;
        const int32_t* from = labels(edge.left);
        const int32_t* to = labels(edge.right);
        for (size_t k = 0; k < m; ++k) {
            if (parts > 1 && static_cast<size_t>(from[k]) % parts != part) continue;
            for (size_t l = 0; l < n; ++l)
                use(static_cast<size_t>(from[k]) * size + static_cast<size_t>(to[l]), 0, work.r[k * n + l]);
        }
        if (edge_ && edge.right >= 0)
            edge_->each(edge.right, [&](int32_t g, float) {
                if (parts > 1 && static_cast<size_t>(g) % parts != part) return;
                edge_->slots.each(g, work.pairs.data(), m * n, [&](size_t j, int64_t s) {
                    use(pair_count() + static_cast<size_t>(s), 1 + static_cast<size_t>(g), work.r[j]);
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
        const size_t base = pair_count() + edge_size();
        side(edge.left, m, base, [](size_t k, size_t) { return k; });
        side(edge.right, n, base + node_size(), [](size_t, size_t l) { return l; });
    }

    void check_lattice() const {
        const auto& [starts, own] = candidates_;
        if (starts.shape(0) != n_tokens_ + 1 || static_cast<size_t>(starts(n_tokens_)) != own.shape(0) ||
            left_.shape(0) != own.shape(0) || right_.shape(0) != own.shape(0) || gold_.shape(0) != n_tokens_ || (weights_ && weights_->shape(0) != n_tokens_))
            throw nb::value_error("candidates, scores and tokens disagree");
        for (size_t s = 0; s + 1 < sentences_.shape(0); ++s)
            if (sentences_(s + 1) < sentences_(s) || sentences_(0) != 0) throw nb::value_error("sentence offsets fall");
        for (size_t t = 0; t < n_tokens_; ++t) {
            if (starts(t + 1) <= starts(t) || gold_(t) < 0 || gold_(t) >= starts(t + 1) - starts(t))
                throw nb::value_error("a token without candidate labels, or whose label is none of them");
            for (int64_t i = starts(t); i < starts(t + 1); ++i)
                if (own(i) < 0 || static_cast<size_t>(own(i)) >= K_ || (i > starts(t) && own(i) <= own(i - 1)))
                    throw nb::value_error("candidate labels are out of range or out of order");
        }
    }

    size_t K_, n_tokens_;
    In<int64_t> sentences_;
    Csr candidates_;
    In<float> left_, right_;
    In<int32_t> gold_;
    std::optional<In<float>> weights_;  // of each token, 1 where there are none; an edge counts as much as the token it leads to
    std::unique_ptr<SparseFeatures> node_, edge_;
    std::vector<Edge> edges_;
    int32_t boundary_ = static_cast<int32_t>(K_);
};

}  // namespace

void bind_pairs(nb::module_& m) {
    nb::class_<Pairs>(m, "Pairs", "A maximum entropy model of neighbouring labels, over a dense table and sparse weights.")
        .def(nb::init<size_t, In<int64_t>, Csr, In<float>, In<float>, In<int32_t>, std::optional<std::tuple<Csr, Csr>>,
                      std::optional<std::tuple<Csr, Csr>>, std::optional<In<float>>>(),
             nb::arg("n_labels"), nb::arg("sentences"), nb::arg("candidates"), nb::arg("left"), nb::arg("right"),
             nb::arg("gold"), nb::arg("node_slots").none(), nb::arg("edge_slots").none(),
             nb::arg("weights") = nb::none())
        .def_prop_ro("size", &Pairs::size)
        .def_prop_ro("n_edges", &Pairs::n_edges)
        .def(
            "objective",
            [](const Pairs& pairs, In<double> weights, double precision) {
                if (weights.shape(0) != pairs.size()) throw nb::value_error("weights and slots disagree");
                std::vector<double> gradient(pairs.size());
                double value;
                {
                    nb::gil_scoped_release release;
                    value = pairs.objective(weights.data(), precision, gradient.data());
                }
                return nb::make_tuple(value, to_numpy(std::move(gradient)));
            },
            nb::arg("weights"), nb::arg("precision"), "Negative log-likelihood with its Gaussian prior, and the gradient.")
        .def("pass_over", &Pairs::pass, nb::arg("state"), nb::arg("order"), nb::arg("decay"), nb::arg("rate"),
             nb::arg("batch"), nb::arg("threads"), "AdaGrad over edges, in place; returns the loss met.");
}
