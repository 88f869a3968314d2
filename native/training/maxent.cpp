// Maximum entropy models of one node (section "Exponential Functions" of the paper): P(y | x) by softmax over a support.
//
//     s_c(y) = base_c(y) + sum over features f of context c of value * W(f, y)
//     L(W) = sum_c sum_y n(c, y) [s_c(y) - log sum over y' in support(c) of exp s_c(y')] - sum W^2 / (2 sigma^2)
//
// A context is a set of features; identical ones are merged, with the counts n(c, y) of the labels seen with it. Its
// support is its candidate labels. The gradient is observed minus expected counts of each (feature, label), as in the
// paper's derivative. `Nodes` gives value and gradient in float64 for L-BFGS, and passes of stochastic steps in float32.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <memory>
#include <optional>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/parallel.h"
#include "core/slots.h"
#include "training/adagrad.h"

namespace {

using Csr = std::tuple<In<int64_t>, In<int32_t>>;

class Nodes {
   public:
    Nodes(Csr slots, size_t n_labels, Csr features, std::optional<In<float>> values, Csr candidates,
          std::optional<In<float>> base, std::tuple<In<int64_t>, In<int32_t>, In<float>> counts)
        : slot_arrays_(slots),
          features_(features),
          values_(values),
          candidates_(candidates),
          base_(base),
          counts_(counts),
          n_contexts_(std::get<0>(features).shape(0) - 1) {
        check(n_labels);
        slots_ = std::make_unique<Slots>(std::get<0>(slots).data(), std::get<1>(slots).data(),
                                         std::get<0>(slots).shape(0) - 1, n_labels);
        for (size_t c = 0; c < n_contexts_; ++c) widest_ = std::max(widest_, width(c));
    }

    size_t size() const { return static_cast<size_t>(slots_->size()); }
    size_t n_contexts() const { return n_contexts_; }
    size_t n_candidates() const { return std::get<1>(candidates_).shape(0); }

    // Scores of the candidates of a context.
    template <size_t Stride = 1, typename Weight>
    void scores(size_t c, const Weight* weights, Weight* out) const {
        const size_t m = width(c);
        const int32_t* own = labels(c);
        for (size_t j = 0; j < m; ++j) out[j] = base_ ? static_cast<Weight>((*base_)(first(c) + j)) : Weight(0);
        for (int64_t i = feature_begin(c); i < feature_end(c); ++i) {
            const Weight v = value(i);
            slots_->each(feature(i), own, m, [&](size_t j, int64_t s) { out[j] += v * weights[Stride * s]; });
        }
    }

    // The objective to minimise, -L, and its gradient; contexts are split into fixed parts summed in order, so that
    // the result does not depend on the number of threads.
    double objective(const double* weights, double precision, double* gradient, size_t threads) const {
        constexpr size_t kParts = 16;
        threads = useful_threads(threads, kParts);
        std::vector<double> losses(kParts, 0.0);
        std::vector<std::vector<double>> sums(threads > 1 ? kParts : 1);
        std::fill(gradient, gradient + size(), 0.0);
        auto part = [&](size_t k, double* into) {
            std::vector<double> p(widest_);
            for (size_t c = n_contexts_ * k / kParts; c < n_contexts_ * (k + 1) / kParts; ++c)
                losses[k] += context_gradient(c, weights, p.data(), into);
        };
        if (threads <= 1) {
            // One accumulator a part all the same: the order of the sums is that of several threads.
            std::vector<double> into(size());
            for (size_t k = 0; k < kParts; ++k) {
                std::fill(into.begin(), into.end(), 0.0);
                part(k, into.data());
                for (size_t s = 0; s < size(); ++s) gradient[s] += into[s];
            }
        } else {
            for (size_t start = 0; start < kParts; start += threads) {
                const size_t group = std::min(threads, kParts - start);
                in_parallel(group, [&](size_t i) {
                    sums[start + i].assign(size(), 0.0);
                    part(start + i, sums[start + i].data());
                });
                for (size_t i = 0; i < group; ++i) {
                    for (size_t s = 0; s < size(); ++s) gradient[s] += sums[start + i][s];
                    sums[start + i] = {};
                }
            }
        }
        double loss = 0.0, norm = 0.0;
        for (const double value : losses) loss += value;
        for (size_t s = 0; s < size(); ++s) {
            norm += weights[s] * weights[s];
            gradient[s] += precision * weights[s];
        }
        return loss + 0.5 * precision * norm;
    }

    // One pass of AdaGrad over the contexts in the given order, a fixed batch at a time: residuals of the whole batch
    // from the weights before it, then the steps in the order of the batch. Returns the loss met on the way.
    //
    //     G(s) += g^2;  W(s) -= rate * g / sqrt(G(s)),   g = expected - observed + W(s) * precision / n(f)
    //
    // n(f) is how often the feature occurs in a pass: over a pass the prior is applied once. Contexts whose labels are as good
    // as certain take no steps.
    // `state` holds (W, G) of each slot side by side: they are always needed together.
    double pass(InOut<float> state, In<int64_t> order, In<float> decay, float rate, size_t batch, size_t threads) const {
        if (state.shape(0) != 2 * size() || decay.shape(0) != slots_->n_features() || batch < 1)
            throw nb::value_error("weights and slots disagree");
        for (size_t i = 0; i < order.shape(0); ++i)
            if (order(i) < 0 || static_cast<size_t>(order(i)) >= n_contexts_) throw nb::value_error("no such context");
        nb::gil_scoped_release release;
        const size_t n = order.shape(0);
        float* w = state.data();
        std::vector<std::vector<float>> residuals(std::min(batch, n));
        std::vector<double> losses(std::min(batch, n));
        double loss = 0.0;
        Team team(useful_threads(threads, std::min(batch, n)));
        for (size_t start = 0; start < n; start += batch) {
            const size_t count = std::min(batch, n - start);
            team.run([&](size_t part, size_t parts) {
                // Contexts come in random order, and what they read lies anywhere: ask for it two steps ahead.
                for (size_t i = part; i < count; i += parts) {
                    if (i + 2 * parts < count) prefetch_context(static_cast<size_t>(order(start + i + 2 * parts)));
                    if (i + parts < count) prefetch_places(static_cast<size_t>(order(start + i + parts)));
                    const auto c = static_cast<size_t>(order(start + i));
                    for (int64_t k = feature_begin(c); k < feature_end(c); ++k) slots_->prefetch_slots(feature(k), w, 2);
                    losses[i] = residual(c, w, residuals[i]);
                }
            });
            for (size_t i = 0; i < count; ++i) loss += losses[i];
            // Each thread steps for its own features, in the order of the batch: the same bits for any number of them.
            team.run([&](size_t part, size_t parts) {
                for (size_t i = 0; i < count; ++i) {
                    const auto c = static_cast<size_t>(order(start + i));
                    const float* r = residuals[i].data();
                    const size_t m = width(c);
                    if (all_quiet(r, m, kQuiet)) continue;
                    for (int64_t k = feature_begin(c); k < feature_end(c); ++k) {
                        const int32_t f = feature(k);
                        if (parts > 1 && static_cast<size_t>(f) % parts != part) continue;
                        const float v = value(k), shrink = decay(f);
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

    // P(y | x) of each candidate.
    std::vector<float> posteriors(const float* weights, bool logs, size_t threads) const {
        std::vector<float> out(n_candidates());
        const size_t parts = useful_threads(threads, n_contexts_);
        in_parallel(parts, [&](size_t part) {
            for (size_t c = n_contexts_ * part / parts; c < n_contexts_ * (part + 1) / parts; ++c) {
                float* p = out.data() + first(c);
                scores(c, weights, p);
                const float log_z = log_sum(p, width(c));
                for (size_t j = 0; j < width(c); ++j) p[j] = logs ? p[j] - log_z : std::exp(p[j] - log_z);
            }
        });
        return out;
    }

   private:
    size_t width(size_t c) const { return static_cast<size_t>(std::get<0>(candidates_)(c + 1) - std::get<0>(candidates_)(c)); }
    int64_t first(size_t c) const { return std::get<0>(candidates_)(c); }
    const int32_t* labels(size_t c) const { return std::get<1>(candidates_).data() + first(c); }
    int64_t feature_begin(size_t c) const { return std::get<0>(features_)(c); }
    int64_t feature_end(size_t c) const { return std::get<0>(features_)(c + 1); }
    int32_t feature(int64_t i) const { return std::get<1>(features_)(i); }
    float value(int64_t i) const { return values_ ? (*values_)(i) : 1.0f; }

    void prefetch_context(size_t c) const {
        const int32_t* ids = std::get<1>(features_).data() + feature_begin(c);
        prefetch(ids);
        prefetch(ids + 16);
        prefetch(labels(c));
        if (base_) prefetch(base_->data() + first(c));
    }
    void prefetch_places(size_t c) const {
        for (int64_t k = feature_begin(c); k < feature_end(c); ++k) slots_->prefetch_place(feature(k));
    }

    template <typename Weight>
    static Weight log_sum(const Weight* s, size_t n) {
        Weight top = s[0], sum = 0;
        for (size_t j = 1; j < n; ++j) top = std::max(top, s[j]);
        for (size_t j = 0; j < n; ++j) sum += std::exp(s[j] - top);
        return top + std::log(sum);
    }

    // Expected minus observed label counts of a context, n(c) P(y) - n(c, y), and its loss.
    double residual(size_t c, const float* state, std::vector<float>& r) const {
        const size_t m = width(c);
        r.resize(m);
        scores<2>(c, state, r.data());
        const float log_z = log_sum(r.data(), m);
        const auto& [places, positions, counts] = counts_;
        float total = 0.0f;
        double loss = 0.0;
        for (int64_t i = places(c); i < places(c + 1); ++i) {
            total += counts(i);
            loss += static_cast<double>(counts(i)) * (log_z - r[positions(i)]);
        }
        for (size_t j = 0; j < m; ++j) r[j] = total * std::exp(r[j] - log_z);
        for (int64_t i = places(c); i < places(c + 1); ++i) r[positions(i)] -= counts(i);
        return loss;
    }

    double context_gradient(size_t c, const double* weights, double* p, double* gradient) const {
        const size_t m = width(c);
        scores(c, weights, p);
        const double log_z = log_sum(p, m);
        const auto& [places, positions, counts] = counts_;
        double total = 0.0, loss = 0.0;
        for (int64_t i = places(c); i < places(c + 1); ++i) {
            total += counts(i);
            loss += static_cast<double>(counts(i)) * (log_z - p[positions(i)]);
        }
        for (size_t j = 0; j < m; ++j) p[j] = total * std::exp(p[j] - log_z);
        for (int64_t i = places(c); i < places(c + 1); ++i) p[positions(i)] -= counts(i);
        for (int64_t k = feature_begin(c); k < feature_end(c); ++k) {
            const double v = value(k);
            slots_->each(feature(k), labels(c), m, [&](size_t j, int64_t s) { gradient[s] += v * p[j]; });
        }
        return loss;
    }

    void check(size_t n_labels) const {
        const auto& [offsets, labels] = slot_arrays_;
        const auto rows = static_cast<int64_t>(offsets.shape(0)) - 1;
        if (rows < 0 || static_cast<size_t>(offsets(rows)) != labels.shape(0)) throw nb::value_error("slots disagree");
        for (size_t i = 0; i < labels.shape(0); ++i)
            if (labels(i) < 0 || static_cast<size_t>(labels(i)) >= n_labels) throw nb::value_error("label id out of range");
        const auto& [places, ids] = features_;
        for (size_t i = 0; i < ids.shape(0); ++i)
            if (ids(i) < 0 || ids(i) >= rows) throw nb::value_error("feature id out of range");
        if (static_cast<size_t>(places(n_contexts_)) != ids.shape(0) || (values_ && values_->shape(0) != ids.shape(0)))
            throw nb::value_error("feature offsets and ids disagree");
        const auto& [starts, own] = candidates_;
        if (starts.shape(0) != n_contexts_ + 1 || static_cast<size_t>(starts(n_contexts_)) != own.shape(0) ||
            (base_ && base_->shape(0) != own.shape(0)))
            throw nb::value_error("candidates disagree with the contexts");
        const auto& [firsts, positions, counts] = counts_;
        if (firsts.shape(0) != n_contexts_ + 1 || positions.shape(0) != counts.shape(0)) throw nb::value_error("counts disagree with the contexts");
        for (size_t c = 0; c < n_contexts_; ++c) {
            const int64_t m = starts(c + 1) - starts(c);
            if (m < 1) throw nb::value_error("a context without candidate labels");
            for (int64_t i = starts(c); i < starts(c + 1); ++i)
                if (own(i) < 0 || static_cast<size_t>(own(i)) >= n_labels || (i > starts(c) && own(i) <= own(i - 1)))
                    throw nb::value_error("candidate labels are out of range or out of order");
            for (int64_t i = firsts(c); i < firsts(c + 1); ++i)
                if (positions(i) < 0 || positions(i) >= m) throw nb::value_error("a counted label is no candidate");
        }
    }

    Csr slot_arrays_, features_;
    std::optional<In<float>> values_;
    Csr candidates_;
    std::optional<In<float>> base_;
    std::tuple<In<int64_t>, In<int32_t>, In<float>> counts_;
    size_t n_contexts_, widest_ = 0;
    std::unique_ptr<Slots> slots_;
};

}  // namespace

void bind_maxent(nb::module_& m) {
    nb::class_<Nodes>(m, "Nodes", "A maximum entropy model of labels in contexts, over sparse weights.")
        .def(nb::init<Csr, size_t, Csr, std::optional<In<float>>, Csr, std::optional<In<float>>,
                      std::tuple<In<int64_t>, In<int32_t>, In<float>>>(),
             nb::arg("slots"), nb::arg("n_labels"), nb::arg("features"), nb::arg("values").none(), nb::arg("candidates"),
             nb::arg("base").none(), nb::arg("counts"))
        .def_prop_ro("size", &Nodes::size)
        .def(
            "objective",
            [](const Nodes& nodes, In<double> weights, double precision, size_t threads) {
                if (weights.shape(0) != nodes.size()) throw nb::value_error("weights and slots disagree");
                std::vector<double> gradient(nodes.size());
                double value;
                {
                    nb::gil_scoped_release release;
                    value = nodes.objective(weights.data(), precision, gradient.data(), threads);
                }
                return nb::make_tuple(value, to_numpy(std::move(gradient)));
            },
            nb::arg("weights"), nb::arg("precision"), nb::arg("threads"),
            "Negative log-likelihood with its Gaussian prior (precision = 1 / sigma^2), and the gradient.")
        .def("pass_over", &Nodes::pass, nb::arg("state"), nb::arg("order"), nb::arg("decay"), nb::arg("rate"), nb::arg("batch"), nb::arg("threads"), "One pass of AdaGrad, in place; returns the loss met.")
        .def(
            "posteriors",
            [](const Nodes& nodes, In<float> weights, bool logs, size_t threads) {
                if (weights.shape(0) != nodes.size()) throw nb::value_error("weights and slots disagree");
                std::vector<float> out;
                {
                    nb::gil_scoped_release release;
                    out = nodes.posteriors(weights.data(), logs, threads);
                }
                return to_numpy(std::move(out));
            },
            nb::arg("weights"), nb::arg("logs"), nb::arg("threads"), "P(y | x), or its logarithm, of each candidate.");
}
