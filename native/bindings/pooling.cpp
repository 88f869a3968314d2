// Binds counting/pooling.h.
#include "counting/pooling.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/label_counts.h"

namespace {

PooledTokens tokens_of(const LabelCountArrays& table, const CsrArrays& features, const CsrArrays& candidates,
                       const In<double>& prior, double k, const std::optional<In<int32_t>>& left_out) {
    PooledTokens tokens{view(table), view(features), view(candidates), view(prior), k, view(left_out)};
    tokens.check();
    return tokens;
}

nb::tuple bound_conditional_logit(const In2<float>& x, const CsrArrays& candidate_arrays, const In<int64_t>& gold,
                                  const In<double>& theta, size_t n_labels) {
    const Csr candidates = view(candidate_arrays);
    const auto& [places, labels] = candidates;
    const size_t size = x.shape(1) + n_labels, n = gold.shape(0);
    check_offsets(places, labels.size(), "candidate offsets and labels disagree");
    if (x.shape(0) != labels.size() || candidates.rows() != n || theta.shape(0) != size)
        throw nb::value_error("evidence, candidates and weights disagree");
    check_labels(labels, n_labels);
    for (size_t t = 0; t < n; ++t)
        if (gold(t) >= 0 && (gold(t) < places[t] || gold(t) >= places[t + 1]))
            throw nb::value_error("the label of a token is not among its own candidates");
    ConditionalLogit sums = unlocked([&] { return conditional_logit(view(x), candidates, view(gold), view(theta), n_labels); });
    return nb::make_tuple(sums.loss, to_numpy(std::move(sums.gradient)), to_numpy(std::move(sums.hessian), size, size));
}

Out2<double> bound_pair_expectations(const In<int64_t>& sentences, const CsrArrays& candidate_arrays, const In<float>& posteriors,
                                     const In2<double>& scores) {
    const Csr candidates = view(candidate_arrays);
    const size_t size = scores.shape(0);
    check_offsets(candidates.offsets, candidates.ids.size(), "candidate offsets and labels disagree");
    check_offsets(view(sentences), candidates.rows(), "sentence offsets and candidates disagree");
    if (scores.shape(1) != size || size < 2 || candidates.ids.size() != posteriors.shape(0))
        throw nb::value_error("candidates, posteriors and edge scores disagree");
    check_labels(candidates.ids, size - 1);
    return to_numpy(unlocked([&] { return pair_expectations(view(sentences), candidates, view(posteriors), view(scores)); }),
                    size, size);
}

}  // namespace

void bind_pooling(nb::module_& m) {
    m.def(
        "expert_evidence",
        [](const LabelCountArrays& table, const CsrArrays& features, const In<int32_t>& expert_of, size_t n_experts,
           const CsrArrays& candidates, const In<double>& prior, double k, const std::optional<In<int32_t>>& left_out) {
            const PooledTokens tokens = tokens_of(table, features, candidates, prior, k, left_out);
            if (expert_of.shape(0) != tokens.table.n_contexts()) throw nb::value_error("experts and features disagree in number");
            return to_numpy(unlocked([&] { return expert_evidence(tokens, view(expert_of), n_experts); }),
                            tokens.candidates.ids.size(), n_experts);
        },
        nb::arg("table"), nb::arg("features"), nb::arg("expert_of"), nb::arg("n_experts"), nb::arg("candidates"),
        nb::arg("prior"), nb::arg("k"), nb::arg("left_out").none(),
        "Evidence of each expert for each candidate label: (candidates, experts).");
    m.def(
        "pooled_scores",
        [](const LabelCountArrays& table, const CsrArrays& features, const In<float>& feature_weight, const CsrArrays& candidates,
           const In<double>& prior, double k, const std::optional<In<int32_t>>& left_out, size_t threads) {
            const PooledTokens tokens = tokens_of(table, features, candidates, prior, k, left_out);
            if (feature_weight.shape(0) != tokens.table.n_contexts())
                throw nb::value_error("weights and features disagree in number");
            return to_numpy(unlocked([&] { return pooled_scores(tokens, view(feature_weight), threads); }));
        },
        nb::arg("table"), nb::arg("features"), nb::arg("feature_weight"), nb::arg("candidates"), nb::arg("prior"), nb::arg("k"),
        nb::arg("left_out").none(), nb::arg("threads") = 1, "Weighted evidence for each candidate label of each token.");
    m.def("conditional_logit", &bound_conditional_logit, nb::arg("x"), nb::arg("candidates"), nb::arg("gold"), nb::arg("theta"),
          nb::arg("n_labels"),
          "-sum log softmax(x w + b)(gold) over candidates, its gradient and its Hessian in (w, b). Tokens with gold -1 are "
          "skipped.");
    m.def("pair_expectations", &bound_pair_expectations, nb::arg("sentences"), nb::arg("candidates"), nb::arg("posteriors"),
          nb::arg("scores"), "Expected label pairs if P(y, y') is proportional to P(y) P(y') exp(score): (K + 1, K + 1).");
}
