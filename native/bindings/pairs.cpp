// Binds training/pairs.h.
#include "training/losses/pairs.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/feature_slots.h"

void bind_pairs(nb::module_& m) {
    nb::class_<Pairs>(m, "Pairs",
                      "A maximum entropy model of label pairs, with a dense table of label pairs and sparse feature weights.")
        .def(
            "__init__",
            [](Pairs* self, size_t n_labels, const In<int64_t>& sentences, const CsrArrays& candidates, const In<float>& left,
               const In<float>& right, const In<int32_t>& gold, const std::optional<FeatureSlotArrays>& node_slots,
               const std::optional<FeatureSlotArrays>& edge_slots, const std::optional<In<float>>& weights) {
                if (sentences.shape(0) < 1) throw nb::value_error("sentence offsets must not be empty");
                new (self) Pairs({n_labels, view(sentences), view(candidates), view(left), view(right), view(gold),
                                  view(node_slots), view(edge_slots), view(weights)});
            },
            nb::arg("n_labels"), nb::arg("sentences"), nb::arg("candidates"), nb::arg("left"), nb::arg("right"), nb::arg("gold"),
            nb::arg("node_slots").none(), nb::arg("edge_slots").none(), nb::arg("weights") = nb::none())
        .def_prop_ro("size", &Pairs::size)
        .def_prop_ro("n_edges", &Pairs::n_edges)
        .def_prop_ro("n_contexts", &Pairs::n_contexts)
        .def(
            "objective",
            [](const Pairs& pairs, const In<double>& weights, double precision, size_t threads) {
                if (weights.shape(0) != pairs.size()) throw nb::value_error("weights and slots disagree in number");
                std::vector<double> gradient(pairs.size());
                const double value =
                    unlocked([&] { return pairs.objective(weights.data(), precision, gradient.data(), threads); });
                return nb::make_tuple(value, to_numpy(std::move(gradient)));
            },
            nb::arg("weights"), nb::arg("precision"), nb::arg("threads"),
            "The negative log-likelihood plus its Gaussian prior, and the gradient.")
        .def(
            "pass_over",
            [](const Pairs& pairs, const InOut<float>& state, const In<int64_t>& order, const In<float>& decay, float rate,
               size_t batch, size_t threads) {
                return unlocked([&] { return pairs.pass(writable(state), view(order), view(decay), rate, batch, threads); });
            },
            nb::arg("state"), nb::arg("order"), nb::arg("decay"), nb::arg("rate"), nb::arg("batch"), nb::arg("threads"),
            "Run one pass of AdaGrad over edges, in place. Returns the sum of the losses, each measured before its step.");
}
