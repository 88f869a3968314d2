// Binds native/graphs: counting the cells of tables.
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "graphs/cell_counts.h"

namespace {

template <typename State>
void bind_counting_of(nb::module_& m) {
    m.def(
        "count_scopes",
        [](const std::vector<Array<State>>& columns, const Array<int64_t>& sizes, std::span<const int64_t> offsets,
           std::span<const int32_t> variables, const std::optional<Array<double>>& weights,
           size_t threads) { return count_scopes<State>({columns, sizes}, offsets, variables, weights, threads); },
        nb::arg("columns"), nb::arg("sizes"), nb::arg("offsets"), nb::arg("variables"), nb::arg("weights").none(),
        nb::arg("threads"), without_lock,
        "How many rows (or what weight) each cell has, for the tables of several scopes, one after the other.");
    m.def(
        "mutual_information",
        [](const std::vector<Array<State>>& columns, const Array<int64_t>& sizes, size_t threads) {
            return mutual_information<State>({columns, sizes}, threads);
        },
        nb::arg("columns"), nb::arg("sizes"), nb::arg("threads"), without_lock,
        "Rows times the mutual information of all pairs of columns, in nats; the diagonal is rows times the entropy.");
}

}  // namespace

void bind_graphs(nb::module_& m) {
    bind_counting_of<uint8_t>(m);
    bind_counting_of<int32_t>(m);
    m.def("count_bytes", &count_bytes, nb::arg("bytes"), without_lock, "How often each byte occurs.");
    m.def("pack_bytes", &pack_bytes, nb::arg("numbers"), without_lock, "The numbers as bytes, None if one is not from 0 to 255.");
}
