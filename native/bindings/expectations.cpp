// Binds chain/expectations.h.
#include "chain/expectations.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"

namespace nanobind::detail {

template <typename Real>
struct type_caster<ChainSums<Real>>
    : result_caster<ChainSums<Real>, &ChainSums<Real>::log_z, &ChainSums<Real>::nodes, &ChainSums<Real>::edges> {};
template <>
struct type_caster<BestLabels> : result_caster<BestLabels, &BestLabels::labels, &BestLabels::scores> {};

}  // namespace nanobind::detail

namespace {

EdgesBy edges_by(int by) {
    if (by < 0 || by > 2) throw nb::value_error("edges are of all sentences (0), of one each (1) or of one position each (2)");
    return static_cast<EdgesBy>(by);
}

template <typename Real>
void bind_reals(nb::module_& m) {
    m.def(
        "chain_expectations",
        [](const Matrix<Real>& nodes, const Array<Real>& edges, int by, const Array<int64_t>& offsets,
           const std::optional<Array<Real>>& weights, bool by_position, size_t threads) {
            return chain_expectations<Real>({nodes, edges, edges_by(by), offsets}, weights, by_position, threads);
        },
        nb::arg("nodes"), nb::arg("edges"), nb::arg("by"), nb::arg("offsets"), nb::arg("weights").none(), nb::arg("by_position"),
        nb::arg("threads"), without_lock, "log Z of each sentence, P(label) and P(label, label), flat.");
    m.def(
        "best_labels",
        [](const Matrix<Real>& nodes, const Array<Real>& edges, int by, const Array<int64_t>& offsets, size_t threads) {
            return best_labels<Real>({nodes, edges, edges_by(by), offsets}, threads);
        },
        nb::arg("nodes"), nb::arg("edges"), nb::arg("by"), nb::arg("offsets"), nb::arg("threads"), without_lock,
        "The best label of each position and the best score of each sentence.");
}

}  // namespace

void bind_expectations(nb::module_& m) {
    bind_reals<float>(m);
    bind_reals<double>(m);
}
