// Binds training/losses/.
#include "bindings/bindings.h"
#include "bindings/views.h"
#include "training/losses/chains.h"
#include "training/losses/log_linear.h"
#include "training/losses/nodes.h"
#include "training/losses/pairs.h"

namespace {

// What all losses have: an objective, whose further arguments have names, and passes of AdaGrad.
template <typename Loss, typename... Names>
void bind_loss(nb::class_<Loss>& bound, const char* objective, const Names&... names) {
    bound.def_prop_ro("size", &Loss::size)
        .def("objective", &Loss::objective, "weights"_a, "precision"_a, "threads"_a, names..., without_lock, objective)
        .def("pass_over", &Loss::pass, "state"_a, "order"_a, "decay"_a, "rate"_a, "batch"_a, "threads"_a, without_lock,
             "Run one pass of AdaGrad in place. Returns the sum of the losses, each measured before its step.");
}

void bind_nodes(nb::module_& m) {
    nb::class_<Nodes> bound(m, "Nodes", "A maximum entropy model of labels given contexts, with sparse weights.");
    bound
        .def(
            "__init__",
            [](Nodes* self, const Csr& slots, size_t n_labels, const Csr& features, const std::optional<Array<float>>& values,
               const Csr& candidates, const std::optional<Array<float>>& base,
               const LabelScores& counts) { new (self) Nodes({slots, n_labels, features, values, candidates, base, counts}); },
            "slots"_a, "n_labels"_a, "features"_a, "values"_a.none(), "candidates"_a, "base"_a.none(), "counts"_a)
        .def_prop_ro("n_merged", &Nodes::n_merged)
        .def("posteriors", &Nodes::posteriors, "weights"_a, "logs"_a, "threads"_a, without_lock,
             "P(y | x), or its logarithm, of each candidate.");
    bind_loss(bound, "The negative log-likelihood plus its Gaussian prior (precision = 1 / sigma^2), and the gradient.");
}

void bind_pairs(nb::module_& m) {
    nb::class_<Pairs> bound(
        m, "Pairs", "A maximum entropy model of label pairs, with a dense table of label pairs and sparse feature weights.");
    bound
        .def(
            "__init__",
            [](Pairs* self, size_t n_labels, const Array<int64_t>& sentences, const Csr& candidates, const Array<float>& left,
               const Array<float>& right, const Array<int32_t>& gold, const std::optional<FeatureSlots>& node_slots,
               const std::optional<FeatureSlots>& edge_slots, const std::optional<Array<float>>& weights) {
                require(sentences.size() > 0, "sentence offsets must not be empty");
                new (self) Pairs({n_labels, sentences, candidates, left, right, gold, node_slots, edge_slots, weights});
            },
            "n_labels"_a, "sentences"_a, "candidates"_a, "left"_a, "right"_a, "gold"_a, "node_slots"_a.none(),
            "edge_slots"_a.none(), "weights"_a = nb::none())
        .def_prop_ro("n_edges", &Pairs::n_edges)
        .def_prop_ro("n_contexts", &Pairs::n_contexts);
    bind_loss(bound, "The negative log-likelihood plus its Gaussian prior, and the gradient.");
}

void make_chains(Chains* self, const std::string& loss, size_t n_labels, const Array<int64_t>& sentences,
                 const FeatureSlots& node_slots, const std::optional<Array<float>>& values, const std::optional<Csr>& candidates,
                 const std::optional<Array<float>>& base, const Array<int32_t>& gold,
                 const std::optional<FeatureSlots>& edge_slots, const std::optional<Array<float>>& sentence_weights,
                 const Array<uint8_t>& free_pairs, const std::optional<Csr>& triples, const PartArrays& parts) {
    new (self) Chains({loss_named(loss), n_labels, sentences, node_slots, values, candidates, base, gold, edge_slots,
                       sentence_weights, free_pairs, triples, parts_of(parts)});
}

void bind_chains(nb::module_& m) {
    nb::class_<Chains> bound(
        m, "Chains", "The training sentences of a chain model, with a dense table of label pairs and sparse feature weights.");
    bound
        .def("__init__", &make_chains, "loss"_a, "n_labels"_a, "sentences"_a, "node_slots"_a, "values"_a.none(),
             "candidates"_a.none(), "base"_a.none(), "gold"_a, "edge_slots"_a.none(), "sentence_weights"_a.none(), "free_pairs"_a,
             "triples"_a = nb::none(), "parts"_a = nb::none())
        .def_prop_ro("n_pairs", &Chains::n_pairs)
        .def("descend", &Chains::descend, "state"_a, "order"_a, "shrink"_a, "rate"_a, "time"_a, without_lock,
             "Run steps of gradient descent in place. Returns the sum of the losses, each measured before its step.")
        .def("perceptron", &Chains::perceptron, "state"_a, "order"_a, "time"_a, "step"_a, without_lock,
             "Run steps of the averaged perceptron in place. Returns the number of mislabelled tokens of each sentence.")
        .def(
            "passive_aggressive",
            [](const Chains& chains, std::span<float> state, std::span<const int64_t> order, double time, double step, int type,
               double c,
               bool error_sensitive) { return chains.passive_aggressive(state, order, time, step, {type, c, error_sensitive}); },
            "state"_a, "order"_a, "time"_a, "step"_a, "type"_a, "c"_a, "error_sensitive"_a, without_lock,
            "Run passive-aggressive steps in place. Returns the cost of each sentence.")
        .def(
            "arow",
            [](const Chains& chains, std::span<float> state, std::span<const int64_t> order, double gamma) {
                return chains.arow(state, order, {gamma});
            },
            "state"_a, "order"_a, "gamma"_a, without_lock, "Run steps of AROW in place. Returns the cost of each sentence.")
        .def("best", &Chains::best, "weights"_a, "threads"_a, without_lock, "The best label of each token.");
    bind_loss(bound,
              "The loss plus its Gaussian prior, and the gradient. With exact=True, everything is in float64 and log space.",
              "exact"_a = false);
}

void bind_log_linear(nb::module_& m) {
    using Ends = std::optional<std::tuple<Matrix<float>, Array<int32_t>, Array<int32_t>>>;
    nb::class_<LogLinear>(m, "LogLinear", "Multinomial logistic regression with a weight for every feature and column of scores.")
        .def(
            "__init__",
            [](LogLinear* self, const Csr& sparse, const std::optional<Array<float>>& values, size_t n_sparse,
               const std::optional<Matrix<float>>& dense, const Array<int32_t>& columns, const Ends& ends) {
                require(sparse.offsets.size() > 0, "offsets must not be empty");
                std::optional<EndScores> both;
                if (ends) both = {std::get<0>(*ends), std::get<1>(*ends), std::get<2>(*ends)};
                new (self) LogLinear(sparse.rows(), sparse, values, n_sparse, dense, columns, std::move(both));
            },
            "sparse"_a, "values"_a.none(), "n_sparse"_a, "dense"_a.none(), "columns"_a, "ends"_a.none())
        .def_prop_ro("size", &LogLinear::size)
        .def("objective", &LogLinear::objective, "weights"_a, "gold"_a, "row_weights"_a.none(), "precision"_a, "threads"_a,
             without_lock, "The negative log-likelihood plus the prior, and the gradient. Rows of gold -1 are left out.")
        .def(
            "scores",
            [](const LogLinear& model, std::span<const double> weights, bool normalised, size_t threads) {
                auto found = unlocked([&] { return model.scores(weights, normalised, threads); });
                return to_numpy(std::move(found), model.rows(), model.outcomes());
            },
            "weights"_a, "normalised"_a, "threads"_a,
            "The scores of all outcomes, (rows, outcomes); normalised, their log-probabilities given the ends.")
        .def("pull", &LogLinear::pull, "residuals"_a, "threads"_a, without_lock,
             "The gradient of the weights, given that of the scores.")
        .def("pass_over", &LogLinear::pass, "gold"_a, "state"_a, "order"_a, "decay"_a, "rate"_a, "batch"_a, "threads"_a,
             without_lock, "Run one pass of AdaGrad in place. Returns the sum of the losses, each measured before its step.");
}

}  // namespace

void bind_training(nb::module_& m) {
    bind_nodes(m);
    bind_pairs(m);
    bind_chains(m);
    bind_log_linear(m);
}
