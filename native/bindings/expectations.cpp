// Binds chain/expectations.h.
#include "chain/expectations.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"

namespace {

template <typename Real>
ChainScores<Real> checked(const In2<Real>& nodes, const In<Real>& edges, int by, const In<int64_t>& offsets) {
    if (by < 0 || by > 2) throw nb::value_error("edges are of all sentences (0), of one each (1) or of one position each (2)");
    ChainScores<Real> scores{view(nodes), view(edges), static_cast<EdgesBy>(by), view(offsets)};
    scores.check();
    return scores;
}

template <typename Real>
void bind_reals(nb::module_& m) {
    m.def(
        "chain_expectations",
        [](const In2<Real>& nodes, const In<Real>& edges, int by, const In<int64_t>& offsets,
           const std::optional<In<Real>>& weights, bool by_position, size_t threads) {
            const ChainScores<Real> scores = checked(nodes, edges, by, offsets);
            const Array<Real> own = weights ? view(*weights) : Array<Real>();
            if (weights && own.size() != scores.n_sentences()) throw nb::value_error("weights and sentences disagree");
            ChainSums<Real> found = unlocked([&] { return chain_expectations(scores, own, by_position, threads); });
            return to_tuple(std::move(found.log_z), std::move(found.nodes), std::move(found.edges));
        },
        nb::arg("nodes"), nb::arg("edges"), nb::arg("by"), nb::arg("offsets"), nb::arg("weights").none(), nb::arg("by_position"),
        nb::arg("threads"), "log Z of each sentence, P(label) and P(label, label), flat.");
    m.def(
        "best_labels",
        [](const In2<Real>& nodes, const In<Real>& edges, int by, const In<int64_t>& offsets, size_t threads) {
            const ChainScores<Real> scores = checked(nodes, edges, by, offsets);
            BestLabels found = unlocked([&] { return best_labels(scores, threads); });
            return to_tuple(std::move(found.labels), std::move(found.scores));
        },
        nb::arg("nodes"), nb::arg("edges"), nb::arg("by"), nb::arg("offsets"), nb::arg("threads"),
        "The best label of each position and the best score of each sentence.");
}

}  // namespace

void bind_expectations(nb::module_& m) {
    bind_reals<float>(m);
    bind_reals<double>(m);
}
