// Binds native/graphs: counting the cells of tables.

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "graphs/cell_counts.h"

namespace {

template <typename State>
StateColumns<State> checked(const std::vector<In<State>>& given, const In<int64_t>& sizes) {
    StateColumns<State> data{{}, view(sizes)};
    for (const In<State>& column : given) data.columns.emplace_back(column.data(), column.shape(0));
    unlocked([&] { data.check(); });
    return data;
}

// The tables of several scopes, one after the other.
template <typename State>
Out<double> bound_count_scopes(const std::vector<In<State>>& columns, const In<int64_t>& sizes, const In<int64_t>& offsets,
                               const In<int32_t>& variables, const std::optional<In<double>>& weights, size_t threads) {
    const StateColumns<State> data = checked(columns, sizes);
    std::span<const double> given;
    if (weights) given = {weights->data(), weights->shape(0)};
    if (weights && given.size() != data.rows()) throw nb::value_error("rows and weights disagree in number");
    return to_numpy(unlocked([&] { return count_scopes(data, view(offsets), view(variables), given, threads); }));
}

template <typename State>
Out2<double> information(const std::vector<In<State>>& columns, const In<int64_t>& sizes, size_t threads) {
    const StateColumns<State> data = checked(columns, sizes);
    return to_numpy(unlocked([&] { return mutual_information(data, threads); }), columns.size(), columns.size());
}

template <typename State>
void bind_counting_of(nb::module_& m) {
    m.def("count_scopes", &bound_count_scopes<State>, nb::arg("columns"), nb::arg("sizes"), nb::arg("offsets"),
          nb::arg("variables"), nb::arg("weights").none(), nb::arg("threads"),
          "How many rows (or what weight) each cell has, for the tables of several scopes, one after the other.");
    m.def("mutual_information", &information<State>, nb::arg("columns"), nb::arg("sizes"), nb::arg("threads"),
          "Rows times the mutual information of all pairs of columns, in nats; the diagonal is rows times the entropy.");
}

}  // namespace

void bind_graphs(nb::module_& m) {
    bind_counting_of<uint8_t>(m);
    bind_counting_of<int32_t>(m);
    m.def(
        "count_bytes",
        [](const In<uint8_t>& bytes) {
            std::vector<int64_t> counts(256, 0);
            unlocked([&] { count_bytes(bytes.data(), bytes.shape(0), counts.data()); });
            return to_numpy(std::move(counts));
        },
        nb::arg("bytes"), "How often each byte occurs.");
    m.def(
        "pack_bytes",
        [](const In<int64_t>& numbers) -> nb::object {
            std::vector<uint8_t> bytes(numbers.shape(0));
            if (!unlocked([&] { return pack_bytes(numbers.data(), bytes.size(), bytes.data()); })) return nb::none();
            return nb::cast(to_numpy(std::move(bytes)));
        },
        nb::arg("numbers"), "The numbers as bytes, None if one is not from 0 to 255.");
}
