// Binds training/maxent.h.
#include "training/losses/nodes.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"

void bind_maxent(nb::module_& m) {
    nb::class_<Nodes>(m, "Nodes", "A maximum entropy model of labels given contexts, with sparse weights.")
        .def(
            "__init__",
            [](Nodes* self, const CsrArrays& slots, size_t n_labels, const CsrArrays& features,
               const std::optional<In<float>>& values, const CsrArrays& candidates, const std::optional<In<float>>& base,
               const LabelScoreArrays& counts) {
                new (self)
                    Nodes({view(slots), n_labels, view(features), view(values), view(candidates), view(base), view(counts)});
            },
            nb::arg("slots"), nb::arg("n_labels"), nb::arg("features"), nb::arg("values").none(), nb::arg("candidates"),
            nb::arg("base").none(), nb::arg("counts"))
        .def_prop_ro("size", &Nodes::size)
        .def_prop_ro("n_merged", &Nodes::n_merged)
        .def(
            "objective",
            [](const Nodes& nodes, const In<double>& weights, double precision, size_t threads) {
                if (weights.shape(0) != nodes.size()) throw nb::value_error("weights and slots disagree in number");
                std::vector<double> gradient(nodes.size());
                const double value =
                    unlocked([&] { return nodes.objective(weights.data(), precision, gradient.data(), threads); });
                return nb::make_tuple(value, to_numpy(std::move(gradient)));
            },
            nb::arg("weights"), nb::arg("precision"), nb::arg("threads"),
            "The negative log-likelihood plus its Gaussian prior (precision = 1 / sigma^2), and the gradient.")
        .def(
            "pass_over",
            [](const Nodes& nodes, const InOut<float>& state, const In<int64_t>& order, const In<float>& decay, float rate,
               size_t batch, size_t threads) {
                return unlocked([&] { return nodes.pass(writable(state), view(order), view(decay), rate, batch, threads); });
            },
            nb::arg("state"), nb::arg("order"), nb::arg("decay"), nb::arg("rate"), nb::arg("batch"), nb::arg("threads"),
            "Run one pass of AdaGrad in place. Returns the sum of the losses, each measured before its step.")
        .def(
            "posteriors",
            [](const Nodes& nodes, const In<float>& weights, bool logs, size_t threads) {
                if (weights.shape(0) != nodes.size()) throw nb::value_error("weights and slots disagree in number");
                return to_numpy(unlocked([&] { return nodes.posteriors(weights.data(), logs, threads); }));
            },
            nb::arg("weights"), nb::arg("logs"), nb::arg("threads"), "P(y | x), or its logarithm, of each candidate.");
}
