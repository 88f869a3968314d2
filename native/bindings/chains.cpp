// Binds training/chains.h.
#include "training/losses/chains.h"

#include <nanobind/stl/string.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/feature_slots.h"
#include "bindings/label_parts.h"

namespace {

void make_chains(Chains* self, const std::string& loss, size_t n_labels, const In<int64_t>& sentences,
                 const FeatureSlotArrays& node_slots, const std::optional<In<float>>& values,
                 const std::optional<CsrArrays>& candidates, const std::optional<In<float>>& base, const In<int32_t>& gold,
                 const std::optional<FeatureSlotArrays>& edge_slots, const std::optional<In<float>>& sentence_weights,
                 const In<uint8_t>& free_pairs, const std::optional<CsrArrays>& triples, const PartArrays& parts) {
    new (self) Chains({loss_named(loss), n_labels, view(sentences), view(node_slots), view(values), view(candidates), view(base),
                       view(gold), view(edge_slots), view(sentence_weights), view(free_pairs), view(triples), parts_of(parts)});
}

void check_weights(const Chains& chains, size_t size) {
    if (size != chains.size()) throw nb::value_error("weights and slots disagree in number");
}

}  // namespace

void bind_chains(nb::module_& m) {
    nb::class_<Chains>(m, "Chains",
                       "The training sentences of a chain model, with a dense table of label pairs and sparse feature weights.")
        .def("__init__", &make_chains, nb::arg("loss"), nb::arg("n_labels"), nb::arg("sentences"), nb::arg("node_slots"),
             nb::arg("values").none(), nb::arg("candidates").none(), nb::arg("base").none(), nb::arg("gold"),
             nb::arg("edge_slots").none(), nb::arg("sentence_weights").none(), nb::arg("free_pairs"),
             nb::arg("triples") = nb::none(), nb::arg("parts") = nb::none())
        .def_prop_ro("size", &Chains::size)
        .def_prop_ro("n_pairs", &Chains::n_pairs)
        .def(
            "objective",
            [](const Chains& chains, const In<double>& weights, double precision, size_t threads, bool exact) {
                check_weights(chains, weights.shape(0));
                std::unique_ptr<double[]> gradient(new double[chains.size()]);  // `objective` fills it
                const double value =
                    unlocked([&] { return chains.objective(weights.data(), precision, gradient.get(), threads, exact); });
                return nb::make_tuple(value, to_numpy(std::move(gradient), chains.size()));
            },
            nb::arg("weights"), nb::arg("precision"), nb::arg("threads"), nb::arg("exact") = false,
            "The loss plus its Gaussian prior, and the gradient. With exact=True, everything is in float64 and log space.")
        .def(
            "pass_over",
            [](const Chains& chains, const InOut<float>& state, const In<int64_t>& order, const In<float>& decay, float rate,
               size_t batch, size_t threads) {
                return unlocked([&] { return chains.pass(writable(state), view(order), view(decay), rate, batch, threads); });
            },
            nb::arg("state"), nb::arg("order"), nb::arg("decay"), nb::arg("rate"), nb::arg("batch"), nb::arg("threads"),
            "Run one pass of AdaGrad in place. Returns the sum of the losses, each measured before its step.")
        .def(
            "descend",
            [](const Chains& chains, const InOut<float>& state, const In<int64_t>& order, double shrink, double rate,
               double time) {
                return unlocked([&] { return chains.descend(writable(state), view(order), shrink, rate, time); });
            },
            nb::arg("state"), nb::arg("order"), nb::arg("shrink"), nb::arg("rate"), nb::arg("time"),
            "Run steps of gradient descent in place. Returns the sum of the losses, each measured before its step.")
        .def(
            "perceptron",
            [](const Chains& chains, const InOut<float>& state, const In<int64_t>& order, double time, double step) {
                return to_numpy(unlocked([&] { return chains.perceptron(writable(state), view(order), time, step); }));
            },
            nb::arg("state"), nb::arg("order"), nb::arg("time"), nb::arg("step"),
            "Run steps of the averaged perceptron in place. Returns the number of mislabelled tokens of each sentence.")
        .def(
            "passive_aggressive",
            [](const Chains& chains, const InOut<float>& state, const In<int64_t>& order, double time, double step, int type,
               double c, bool error_sensitive) {
                const Aggressiveness rule{type, c, error_sensitive};
                return to_numpy(
                    unlocked([&] { return chains.passive_aggressive(writable(state), view(order), time, step, rule); }));
            },
            nb::arg("state"), nb::arg("order"), nb::arg("time"), nb::arg("step"), nb::arg("type"), nb::arg("c"),
            nb::arg("error_sensitive"), "Run passive-aggressive steps in place. Returns the cost of each sentence.")
        .def(
            "arow",
            [](const Chains& chains, const InOut<float>& state, const In<int64_t>& order, double gamma) {
                return to_numpy(unlocked([&] { return chains.arow(writable(state), view(order), {gamma}); }));
            },
            nb::arg("state"), nb::arg("order"), nb::arg("gamma"),
            "Run steps of AROW in place. Returns the cost of each sentence.")
        .def(
            "best",
            [](const Chains& chains, const In<float>& weights, size_t threads) {
                check_weights(chains, weights.shape(0));
                return to_numpy(unlocked([&] { return chains.best(weights.data(), threads); }));
            },
            nb::arg("weights"), nb::arg("threads"), "The best label of each token.");
}
